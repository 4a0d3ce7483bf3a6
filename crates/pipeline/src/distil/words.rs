//! Words as tokens, where there is no vocabulary: each different word has a number of its own.

use std::collections::HashMap;

use padir_base::TokenId;

/// Numbers of words, given as they come. They begin after those with a meaning of their own.
#[derive(Debug, Default)]
pub(super) struct WordNumbers(HashMap<String, u32>);

impl WordNumbers {
    const FIRST: usize = 4;

    /// The numbers of a text's words.
    pub(super) fn encode(&mut self, text: &str) -> Vec<TokenId> {
        let mut ids = Vec::new();
        for word in text.split_whitespace() {
            let next = (Self::FIRST + self.0.len()) as u32;
            let id = match self.0.get(word) {
                Some(&id) => id,
                None => *self.0.entry(word.to_owned()).or_insert(next),
            };
            ids.push(TokenId(id));
        }
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_words_have_equal_numbers() {
        let mut words = WordNumbers::default();
        assert_eq!(words.encode("a b  a"), [4, 5, 4].map(TokenId));
        assert_eq!(words.encode("c b"), [6, 5].map(TokenId));
        assert_eq!(words.encode(" "), []);
    }
}
