//! From an alignment to its target: repeats are merged, then blanks dropped.

use padir_base::TokenId;
use padir_base::denoise::Candidate;

use super::Symbols;

/// The tokens of an alignment with the largest ln p among the slots of each.
pub(super) fn collapse(slots: impl IntoIterator<Item = Candidate>, symbols: &Symbols) -> Tokens {
    let mut found = Tokens::default();
    let mut before = None;
    for Candidate { token, log_prob } in slots {
        let token = (!symbols.is_silent(token)).then_some(token);
        match (token, found.log_probs.last_mut()) {
            (Some(_), Some(last)) if before == token => *last = last.max(log_prob),
            (Some(token), _) => {
                found.tokens.push(token);
                found.log_probs.push(log_prob);
            }
            (None, _) => {}
        }
        before = token;
    }
    found
}

/// A target, or the beginning of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tokens {
    pub(super) tokens: Vec<TokenId>,
    pub(super) log_probs: Vec<f64>,
}

impl Tokens {
    /// Drops phrases of at most so many tokens that repeat what stands right before them, short ones first.
    pub(super) fn drop_stutter(&mut self, phrase: usize) {
        for length in 1..=phrase.min(self.tokens.len() / 2) {
            let mut kept = Self::default();
            let mut at = 0;
            while at < self.tokens.len() {
                let next = self.tokens.get(at..at + length);
                if next.is_some_and(|next| kept.tokens.ends_with(next)) {
                    at += length;
                } else {
                    kept.tokens.push(self.tokens[at]);
                    kept.log_probs.push(self.log_probs[at]);
                    at += 1;
                }
            }
            *self = kept;
        }
    }

    /// Keeps at most so many tokens; says whether there were more.
    pub(super) fn cut(&mut self, most: usize) -> bool {
        let cut = self.tokens.len() > most;
        self.tokens.truncate(most);
        self.log_probs.truncate(most);
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols() -> Symbols {
        Symbols { blank: TokenId(9), mask: TokenId(8), silent: vec![TokenId::PAD, TokenId::EOS] }
    }

    fn collapsed(ids: &[u32]) -> Vec<u32> {
        let slots = ids.iter().map(|&id| Candidate { token: TokenId(id), log_prob: -0.1 });
        collapse(slots, &symbols()).tokens.iter().map(|token| token.0).collect()
    }

    #[test]
    fn repeats_are_merged_and_blanks_dropped() {
        let cases: [(&[u32], &[u32]); 7] = [
            (&[], &[]),
            (&[9, 9, 9], &[]),
            (&[5, 5, 9, 6, 6], &[5, 6]),
            (&[5, 9, 5], &[5, 5]),
            (&[9, 5, 6, 5, 9], &[5, 6, 5]),
            (&[5, 0, 5, 1], &[5, 5]),
            (&[9, 8, 3, 9], &[3]),
        ];
        for (slots, expected) in cases {
            assert_eq!(collapsed(slots), expected, "{slots:?}");
        }
    }

    #[test]
    fn a_token_is_as_sure_as_the_surest_of_its_slots() {
        let slots = [(5, -1.0), (5, -0.5), (9, -0.1), (5, -2.0)];
        let slots = slots.map(|(id, log_prob)| Candidate { token: TokenId(id), log_prob });
        assert_eq!(collapse(slots, &symbols()).log_probs, [-0.5, -2.0]);
    }

    #[test]
    fn stutter_is_dropped_up_to_a_length() {
        let cases: [(usize, &[u32], &[u32]); 6] = [
            (0, &[5, 5, 6], &[5, 5, 6]),
            (1, &[5, 5, 6, 6, 6], &[5, 6]),
            (1, &[5, 6, 5, 6], &[5, 6, 5, 6]),
            (2, &[5, 6, 5, 6, 7], &[5, 6, 7]),
            (3, &[4, 5, 6, 4, 5, 6, 4, 5], &[4, 5, 6, 4, 5]),
            (9, &[5], &[5]),
        ];
        for (phrase, given, expected) in cases {
            let tokens: Vec<TokenId> = given.iter().copied().map(TokenId).collect();
            let mut found = Tokens { log_probs: vec![-1.0; tokens.len()], tokens };
            found.drop_stutter(phrase);
            let ids: Vec<u32> = found.tokens.iter().map(|token| token.0).collect();
            assert_eq!(ids, expected, "{phrase}: {given:?}");
            assert_eq!(found.log_probs.len(), ids.len());
        }
    }
}
