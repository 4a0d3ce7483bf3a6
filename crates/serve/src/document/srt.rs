//! Subtitles (`SubRip`): numbers and times stay, the text of each cue is translated as one.
//!
//! The lines of a cue are joined, translated, and broken again into as many lines of about the same length. Tags like `<i>` stay as in
//! [HTML](super::html). O(n).

use super::html::Html;

/// Subtitles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Srt {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// A line that is kept, with its end.
    Kept(String),
    Cue {
        html: Html,
        lines: usize,
        /// The end of its lines, and that of the last one.
        ends: (String, String),
    },
}

impl Srt {
    /// Reads subtitles. What does not belong to a cue is kept.
    pub fn parse(text: &str) -> Self {
        let mut srt = Self::default();
        let mut cue: Option<Vec<&str>> = None;
        for line in text.split_inclusive('\n') {
            let is_time = line.contains("-->");
            match &mut cue {
                Some(lines) if !line.trim().is_empty() && !is_time => lines.push(line),
                _ => {
                    srt.cue(cue.take());
                    srt.pieces.push(Piece::Kept(line.to_owned()));
                    cue = is_time.then(Vec::new);
                }
            }
        }
        srt.cue(cue);
        srt
    }

    fn cue(&mut self, lines: Option<Vec<&str>>) {
        let Some(lines) = lines.filter(|lines| !lines.is_empty()) else { return };
        let end = |line: &str| line[line.trim_end_matches(['\r', '\n']).len()..].to_owned();
        let ends = (end(lines[0]), end(lines[lines.len() - 1]));
        let text = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        self.pieces.push(Piece::Cue { html: Html::parse(&text), lines: lines.len(), ends });
    }

    /// The texts of all cues.
    pub fn texts(&self) -> Vec<String> {
        let texts = |piece: &Piece| match piece {
            Piece::Cue { html, .. } => html.texts(),
            Piece::Kept(_) => Vec::new(),
        };
        self.pieces.iter().flat_map(texts).collect()
    }

    /// The same with other texts.
    pub fn with(&self, texts: Vec<String>) -> String {
        let mut texts = texts.into_iter();
        let mut all = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Kept(line) => all.push_str(line),
                Piece::Cue { html, lines, ends } => {
                    let own: Vec<String> = texts.by_ref().take(html.texts().len()).collect();
                    // Subtitles are no HTML: what is no tag is as it is.
                    let text = html.with(own);
                    let text =
                        text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}");
                    let text = text.replace("&shy;", "\u{ad}").replace("&amp;", "&");
                    all.push_str(&broken(&text, *lines, &ends.0));
                    all.push_str(&ends.1);
                }
            }
        }
        all
    }
}

/// Breaks a text into lines of about the same length.
fn broken(text: &str, lines: usize, end: &str) -> String {
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let total = text.chars().count();
    let mut whole = String::new();
    let (mut length, mut line) = (0, 1);
    for word in words {
        let next = word.chars().count();
        // The middle of the word is past the end of the line.
        let full = (length + next / 2) * lines >= total * line;
        if length > 0 {
            if full && line < lines {
                whole.push_str(end);
                line += 1;
            } else {
                whole.push(' ');
            }
        }
        whole.push_str(word);
        length += next + 1;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_are_translated_as_one_and_times_stay() {
        let text = "1\r\n00:00:01,000 --> 00:00:02,000\r\nHello there,\r\nhow are you?\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n<i>Fine & well.</i>";
        let srt = Srt::parse(text);
        assert_eq!(srt.texts(), ["Hello there, how are you?", "Fine & well."]);
        let upper = srt.texts().iter().map(|text| text.to_uppercase()).collect();
        assert_eq!(
            srt.with(upper),
            "1\r\n00:00:01,000 --> 00:00:02,000\r\nHELLO THERE,\r\nHOW ARE YOU?\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n<i>FINE & WELL.</i>"
        );
        for odd in ["", "\n\n", "no subtitles at all\n", "-->", "--> \n-->\nx"] {
            assert_eq!(Srt::parse(odd).with(Srt::parse(odd).texts()), odd, "{odd:?}");
        }
    }

    #[test]
    fn lines_are_broken_in_the_middle() {
        let cases = [
            ("one two", 2, "one|two"),
            ("a verylongword", 2, "a|verylongword"),
            ("one", 3, "one"),
            ("", 2, ""),
            ("a b c d e f", 3, "a b|c d|e f"),
        ];
        for (text, lines, expected) in cases {
            assert_eq!(broken(text, lines, "|"), expected, "{text}");
        }
    }
}
