//! Whether a tokeniser fits the script of a text.
//!
//! BLEU compares words. A tokeniser that expects spaces between them takes a whole Chinese clause for one word, which no
//! translation ever matches: the score is a tenth of what it should be, and nothing about it looks wrong. O(length).

use std::fmt;

use crate::tokenize::Tokenizer;

/// From this share of letters on, a text is written without spaces.
const MANY: f64 = 0.3;

/// What a text is written in, as far as tokenisers care.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Script {
    letters: u64,
    /// Of the letters, Chinese characters.
    han: u64,
    /// Of the letters, others of scripts without spaces between words: Japanese syllables, Thai, Lao, Burmese, Khmer.
    other: u64,
}

/// Why a tokeniser does not fit a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Misfit {
    /// Words are not told apart.
    Unsplit {
        /// The tokeniser.
        tokenizer: Tokenizer,
        /// The share of letters that it does not split.
        share: f64,
    },
    /// There is nothing Chinese for `zh` to split.
    NotChinese,
}

impl Script {
    /// Looks at all letters of a text.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut script = Self::default();
        for c in lines.into_iter().flat_map(str::chars).filter(|c| c.is_alphabetic()) {
            script.letters += 1;
            script.han += u64::from(is_han(c));
            script.other += u64::from(is_otherwise_unspaced(c));
        }
        script
    }

    /// Why a tokeniser does not fit the text; none if it does.
    pub fn misfit(&self, tokenizer: Tokenizer) -> Option<Misfit> {
        let unsplit = match tokenizer {
            Tokenizer::Mteval13a | Tokenizer::Intl => self.han + self.other,
            Tokenizer::Zh => self.other,
            // One splits everything, the other is told that words are split already.
            Tokenizer::Char | Tokenizer::None => 0,
        };
        let share = unsplit as f64 / self.letters.max(1) as f64;
        if share >= MANY {
            Some(Misfit::Unsplit { tokenizer, share })
        } else if tokenizer == Tokenizer::Zh && self.letters > 0 && self.han == 0 {
            Some(Misfit::NotChinese)
        } else {
            None
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsplit { tokenizer, share } => write!(
                f,
                "{:.0} % of the letters are of a script without spaces between words, which the tokeniser {tokenizer} does not split",
                100.0 * share
            ),
            Self::NotChinese => {
                write!(f, "the tokeniser is zh, but there is no Chinese character")
            }
        }
    }
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_otherwise_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_without_spaces_need_a_tokeniser_that_splits_them() {
        let cases: [(&str, &str, &[Tokenizer]); 6] = [
            ("Chinese", "我们都是好朋友。", &[Tokenizer::Mteval13a, Tokenizer::Intl]),
            ("mostly Chinese", "我买了一台 iPhone", &[Tokenizer::Mteval13a, Tokenizer::Intl]),
            (
                "Japanese",
                "わたしはがくせいです",
                &[Tokenizer::Mteval13a, Tokenizer::Intl, Tokenizer::Zh],
            ),
            ("German", "Die Straße heißt Goethestraße.", &[Tokenizer::Zh]),
            ("German about 北京", "Die Hauptstadt von China ist 北京, Peking.", &[]),
            ("no letters", "1, 2, 3 …", &[]),
        ];
        for (case, text, expected) in cases {
            let script = Script::of([text]);
            let found: Vec<Tokenizer> =
                Tokenizer::ALL.into_iter().filter(|&t| script.misfit(t).is_some()).collect();
            assert_eq!(found, expected, "{case}");
        }
        let misfit = Script::of(["我们 abcd"]).misfit(Tokenizer::Mteval13a).unwrap();
        assert!(misfit.to_string().starts_with("33 % of the letters are"), "{misfit}");
    }
}
