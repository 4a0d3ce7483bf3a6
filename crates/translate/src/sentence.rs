//! Where sentences end.
//!
//! A mark `.`, `!` or `?`, with the quotes and brackets that close after it, ends a sentence if white space follows and then something that
//! begins one: a capital letter, a digit, a letter of a script without case, or a mark that opens. These do not end one:
//!
//! | | example |
//! |---|---|
//! | a full stop after a known abbreviation or a single letter | Dr. Meier, z. B., J. Smith |
//! | a full stop after a number of one or two digits: an ordinal | am 3. Mai |
//! | an ellipsis | Well... I see. |
//! | a full stop before a small letter, in a text that has capitals | approx. five |
//! | a quote that goes on | “Stop!” he said. |
//!
//! `。`, `！` and `？` end a sentence wherever they stand. So does an emoji before a capital letter. Emoji after a sentence, and those that a text begins
//! with, are part of the gaps, which are copied. O(n).

use crate::emoji;
use crate::split::{Part, closes};

/// Words before a full stop that is no end, in small letters. English, German, Romanian.
const ABBREVIATIONS: [&str; 67] = [
    "a.d", "a.m", "abb", "approx", "bspw", "bzw", "ca", "cf", "co", "corp", "d.h", "dept", "dl",
    "dna", "dr", "dvs", "e.g", "ed", "est", "etc", "evtl", "fig", "fr", "frl", "gen", "ggf", "hr",
    "hrsg", "i.e", "inc", "ing", "inkl", "jh", "jr", "kap", "lt", "ltd", "max", "min", "mio", "mr",
    "mrd", "mrs", "ms", "mt", "nr", "o.ä", "p.m", "prof", "rev", "s.a", "s.o", "s.u", "sen", "sog",
    "sr", "st", "str", "tel", "u.a", "u.s", "usw", "vgl", "vol", "vs", "z.b", "zzgl",
];

/// The sentences of a text, each with the white space and emoji after it. A text without anything but white space has none. Emoji at the beginning
/// follow an empty sentence.
pub fn sentences(text: &str) -> Vec<Part<'_>> {
    let text = text.trim();
    let mut parts = Vec::new();
    let mut rest = emoji::trim_start(text);
    if rest.len() < text.len() {
        parts.push(Part { text: "", gap: &text[..text.len() - rest.len()] });
    }
    while !rest.is_empty() {
        let (part, after) = rest.split_at(first_end(rest));
        let part = emoji::trim_end(part);
        let next = emoji::trim_start(after);
        parts.push(Part { text: part, gap: &rest[part.len()..rest.len() - next.len()] });
        rest = next;
    }
    parts
}

/// Where the first sentence of a trimmed text ends.
fn first_end(text: &str) -> usize {
    // Whoever types no capitals begins sentences with small letters, too.
    let has_capitals = text.chars().any(char::is_uppercase);
    let mut chars = text.char_indices().peekable();
    while let Some((place, mark)) = chars.next() {
        if emoji::is_emoji(mark) {
            let after = emoji::trim_start(&text[place..]);
            if after.starts_with(char::is_uppercase) {
                return text.len() - after.len();
            }
        }
        let wide = matches!(mark, '。' | '！' | '？');
        if !wide && !matches!(mark, '.' | '!' | '?') {
            continue;
        }
        let mut end = place + mark.len_utf8();
        let mut marks = 1;
        let mut closed = false;
        while let Some(&(at, next)) = chars.peek() {
            let more = matches!(next, '.' | '!' | '?' | '。' | '！' | '？');
            if !more && !closes(next) {
                break;
            }
            marks += usize::from(more);
            closed |= closes(next);
            end = at + next.len_utf8();
            chars.next();
        }
        let after = &text[end..];
        if wide && !after.is_empty() {
            return end;
        }
        let ends = after.starts_with(char::is_whitespace)
            && begins(emoji::trim_start(after), mark, has_capitals, closed)
            && (mark != '.' || marks == 1 && !is_abbreviated(&text[..place]));
        if ends {
            return end;
        }
    }
    text.len()
}

/// Whether something that follows a mark begins a sentence.
fn begins(next: &str, mark: char, has_capitals: bool, closed: bool) -> bool {
    let opens =
        |c: char| matches!(c, '"' | '“' | '„' | '«' | '»' | '‘' | '\'' | '(' | '[' | '¿' | '¡');
    let Some(first) = next.trim_start_matches(opens).chars().next() else { return false };
    if first.is_lowercase() {
        // “Stop!” he said. But: stop! he said no.
        return !closed && (mark != '.' || !has_capitals);
    }
    first.is_alphanumeric()
}

/// Whether the full stop after a text belongs to its last word.
fn is_abbreviated(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '.';
    let start = text
        .rfind(|c| !is_part(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let word = &text[start..];
    let count = word.chars().count();
    if !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()) {
        return count <= 2;
    }
    // Initials, and abbreviations that are written with spaces: z. B.
    if count == 1 && word.chars().all(char::is_alphabetic) {
        return true;
    }
    let small = word.to_lowercase();
    ABBREVIATIONS.binary_search(&small.as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn abbreviations_are_in_order() {
        assert!(ABBREVIATIONS.is_sorted());
    }

    #[test]
    fn sentences_end_where_they_should() {
        let cases: [(&str, &str, &[&str]); 30] = [
            ("nothing", " \t", &[]),
            ("one", "Hello there", &["Hello there"]),
            (
                "several",
                "Hello! How are you?  I am fine.",
                &["Hello!", "How are you?", "I am fine."],
            ),
            (
                "titles",
                "Dr. Meier met Mr. and Mrs. Smith. They ate.",
                &["Dr. Meier met Mr. and Mrs. Smith.", "They ate."],
            ),
            (
                "initials",
                "J. R. R. Tolkien wrote it. I read it.",
                &["J. R. R. Tolkien wrote it.", "I read it."],
            ),
            (
                "decimals",
                "It costs 3.50. That is 4.5 times more.",
                &["It costs 3.50.", "That is 4.5 times more."],
            ),
            (
                "ordinals",
                "Am 3. Mai kam er. Am 12. Juni ging er.",
                &["Am 3. Mai kam er.", "Am 12. Juni ging er."],
            ),
            ("years", "It was 1990. He left.", &["It was 1990.", "He left."]),
            ("times", "At 5 p.m. He left.", &["At 5 p.m. He left."]),
            (
                "German",
                "Das ist z. B. so, d.h. anders, usw. Mehr nicht.",
                &["Das ist z. B. so, d.h. anders, usw. Mehr nicht."],
            ),
            (
                "ellipsis",
                "Well... I see. Hm… Das ist gut.",
                &["Well... I see.", "Hm… Das ist gut."],
            ),
            (
                "quotes",
                "She said: “Stop.” Then she left.",
                &["She said: “Stop.”", "Then she left."],
            ),
            (
                "a quote that goes on",
                "“Stop!” he said. „Halt!“ sagte er.",
                &["“Stop!” he said.", "„Halt!“ sagte er."],
            ),
            (
                "opening",
                "He came. “Hello!” (Really.) Yes.",
                &["He came.", "“Hello!”", "(Really.)", "Yes."],
            ),
            ("several marks", "What?! No!!! Yes.", &["What?!", "No!!!", "Yes."]),
            (
                "small letters",
                "hello. how are you? fine! thanks",
                &["hello.", "how are you?", "fine!", "thanks"],
            ),
            (
                "unknown abbreviations",
                "See sect. four and Chap. five. Done.",
                &["See sect. four and Chap. five.", "Done."],
            ),
            ("emoji after sentences", "Thank you! 😊 Bye! 👋", &["Thank you!", "Bye!"]),
            ("emoji as an end", "Hello 👋 How are you?", &["Hello", "How are you?"]),
            ("emoji at the beginning", "👋 Hello.", &["", "Hello."]),
            ("emoji inside of a sentence", "I ❤️ it.", &["I ❤️ it."]),
            ("nothing but emoji", "😀 😀", &[""]),
            ("figures begin", "I have two. 3 are his.", &["I have two.", "3 are his."]),
            ("Chinese", "你好！你是谁？我叫王。", &["你好！", "你是谁？", "我叫王。"]),
            ("Chinese quotes", "他说：“你好。”我走了。", &["他说：“你好。”", "我走了。"]),
            (
                "Romanian",
                "Dl. Popescu a plecat. Șeful știe. Însă nu vine.",
                &["Dl. Popescu a plecat.", "Șeful știe.", "Însă nu vine."],
            ),
            (
                "addresses",
                "Write to a.b@example.org. See www.example.org. OK.",
                &["Write to a.b@example.org.", "See www.example.org.", "OK."],
            ),
            ("marks alone", "... !!! ?", &["... !!! ?"]),
            ("without a space", "One.Two.", &["One.Two."]),
            ("at the end", "It is 5.", &["It is 5."]),
        ];
        for (name, text, expected) in cases {
            let found: Vec<&str> = sentences(text).iter().map(|part| part.text).collect();
            assert_eq!(found, expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "(\\PC|[ .!?。a-zA-Z0-9“”]){0,60}") {
            let parts = sentences(&text);
            let whole: String = parts.iter().flat_map(|part| [part.text, part.gap]).collect();
            prop_assert_eq!(whole, text.trim());
            for (number, part) in parts.iter().enumerate() {
                prop_assert_eq!(part.text.trim(), part.text);
                // Emoji at the beginning follow nothing.
                let leads = number == 0 && part.gap.contains(emoji::is_emoji);
                prop_assert!(leads || !part.text.is_empty());
                prop_assert_eq!(emoji::trim_start(part.gap), "");
            }
        }
    }
}
