//! Texts as sentences, and back.
//!
//! Line breaks and the white space around lines stay as they are; lines are cut into sentences. A sentence without any letter or digit is
//! not translated: there is nothing to say about 😀 or `---`. O(n).

use padir_translate::seam;
use padir_translate::sentence::sentences;
use padir_translate::split::Part;

/// A text and its sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    /// White space before the first sentence.
    lead: String,
    sentences: Vec<Sentence>,
    /// White space after the last one, the line break included.
    trail: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Sentence {
    text: String,
    gap: String,
}

impl Sentence {
    fn is_translated(&self) -> bool {
        self.text.chars().any(char::is_alphanumeric)
    }
}

impl Layout {
    /// The sentences of a text.
    pub(crate) fn of(text: &str) -> Self {
        Self { lines: text.split_inclusive('\n').map(Line::of).collect() }
    }

    /// A text that stays as it is.
    pub(crate) fn kept(text: &str) -> Self {
        let line = Line { lead: text.to_owned(), sentences: Vec::new(), trail: String::new() };
        Self { lines: vec![line] }
    }

    /// The sentences that are to be translated, in order.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = &str> {
        let all = self.lines.iter().flat_map(|line| &line.sentences);
        all.filter(|sentence| sentence.is_translated()).map(|sentence| sentence.text.as_str())
    }

    /// The text with each of these sentences replaced by the next translation; by itself if there is none.
    pub(crate) fn join<'t>(&self, translations: impl IntoIterator<Item = &'t str>) -> String {
        let mut translations = translations.into_iter();
        let mut whole = String::new();
        for line in &self.lines {
            whole.push_str(&line.lead);
            let start = whole.len();
            let mut before: Option<&Sentence> = None;
            for sentence in &line.sentences {
                let translated = sentence.is_translated().then(|| translations.next()).flatten();
                let text = translated.unwrap_or(&sentence.text);
                if let Some(before) = before {
                    let part = Part { text: &before.text, gap: &before.gap };
                    let seam = seam(part, &whole[start..], text).to_owned();
                    whole.push_str(&seam);
                }
                whole.push_str(text);
                before = Some(sentence);
            }
            // Emoji after the last sentence.
            whole.push_str(before.map_or("", |last| &last.gap));
            whole.push_str(&line.trail);
        }
        whole
    }
}

impl Line {
    fn of(line: &str) -> Self {
        let body = line.trim();
        let start = line.len() - line.trim_start().len();
        let (lead, trail) = if body.is_empty() {
            (line, "")
        } else {
            (&line[..start], &line[start + body.len()..])
        };
        let sentence =
            |part: Part<'_>| Sentence { text: part.text.to_owned(), gap: part.gap.to_owned() };
        let sentences = sentences(body).into_iter().map(sentence).collect();
        Self { lead: lead.to_owned(), sentences, trail: trail.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_what_says_nothing_stay() {
        let cases = [
            ("one sentence", "Hello.", vec!["Hello."], "HELLO."),
            ("two", "One.  Two!", vec!["One.", "Two!"], "ONE.  TWO!"),
            ("lines", " a b\r\n\n\tc d \n", vec!["a b", "c d"], " A B\r\n\n\tC D \n"),
            ("nothing", "", vec![], ""),
            ("white space", " \n ", vec![], " \n "),
            ("no words", "😀 --- …", vec![], "😀 --- …"),
            ("emoji around", "👋 hi! 😀 you 👋", vec!["hi!", "you"], "👋 HI! 😀 YOU 👋"),
            ("some words", "😀\nyes\n!!!", vec!["yes"], "😀\nYES\n!!!"),
        ];
        for (name, text, expected, joined) in cases {
            let layout = Layout::of(text);
            let sentences: Vec<&str> = layout.sentences().collect();
            assert_eq!(sentences, expected, "{name}");
            let upper: Vec<String> = sentences.iter().map(|s| s.to_uppercase()).collect();
            assert_eq!(layout.join(upper.iter().map(String::as_str)), joined, "{name}");
            assert_eq!(layout.join([]), text, "{name}: as it was");
        }
    }
}
