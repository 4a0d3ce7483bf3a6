//! Finished translations and their order.

use std::cmp::Ordering;
use std::collections::HashSet;

use padir_base::TokenId;
use serde::{Deserialize, Serialize};

/// A finished translation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// Its tokens, without an end.
    pub tokens: Vec<TokenId>,
    /// ln p of each of them when it was last predicted, or by the reranker.
    pub log_probs: Vec<f64>,
    /// Σ ln p over all that is counted, the end included where it is predicted.
    pub log_prob: f64,
    /// What hypotheses are ordered by: `log_prob`, normalised by length if that was wanted.
    pub score: f64,
    /// How many steps it took.
    pub steps: usize,
    /// Its number among the hypotheses of its sentence, as in the trace.
    pub number: usize,
    /// The length candidate it came from; none where the length was not predicted.
    #[serde(alias = "guess")]
    pub length: Option<LengthCandidate>,
    /// Whether it did not end by itself, but where the longest that was allowed was reached.
    pub cut: bool,
}

/// A predicted length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LengthCandidate {
    /// The number of positions, the end included.
    pub length: usize,
    /// ln p of the length; of the one it was widened from, if it was.
    pub log_prob: f64,
    /// Which of the starts of this length it is, from 0.
    pub decode: usize,
}

/// `log_prob` / ((5 + n)/6)^α (Wu et al. 2016); without an α as it is.
pub fn normalise(log_prob: f64, length: usize, alpha: Option<f64>) -> f64 {
    alpha.map_or(log_prob, |alpha| log_prob / ((5.0 + length as f64) / 6.0).powf(alpha))
}

/// Larger scores first; what is not a number comes last.
pub(crate) fn by_score(a: f64, b: f64) -> Ordering {
    let key = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
    key(b).total_cmp(&key(a))
}

/// Best first; equal scores keep their order.
pub fn sort(hypotheses: &mut [Hypothesis]) {
    hypotheses.sort_by(|a, b| by_score(a.score, b.score));
}

/// Keeps the first of the hypotheses that say the same.
pub fn distinct(hypotheses: &mut Vec<Hypothesis>) {
    let mut seen = HashSet::new();
    hypotheses.retain(|hypothesis| seen.insert(hypothesis.tokens.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hypothesis(number: usize, token: u32, score: f64) -> Hypothesis {
        let tokens = vec![TokenId(token)];
        let log_probs = vec![score];
        Hypothesis {
            tokens,
            log_probs,
            log_prob: score,
            score,
            steps: 1,
            number,
            length: None,
            cut: false,
        }
    }

    #[test]
    fn the_best_come_first_and_once() {
        let mut list = vec![
            hypothesis(0, 5, f64::NAN),
            hypothesis(1, 6, -2.0),
            hypothesis(2, 7, -1.0),
            hypothesis(3, 6, -1.0),
        ];
        sort(&mut list);
        let numbers = |list: &[Hypothesis]| list.iter().map(|h| h.number).collect::<Vec<_>>();
        assert_eq!(numbers(&list), [2, 3, 1, 0]);
        distinct(&mut list);
        assert_eq!(numbers(&list), [2, 3, 0]);
    }

    #[test]
    fn normalisation_is_the_published_formula() {
        // ((5 + 7)/6)^α = 2^α
        let cases = [(None, -3.0), (Some(0.0), -3.0), (Some(1.0), -1.5), (Some(-1.0), -6.0)];
        for (alpha, expected) in cases {
            assert!((normalise(-3.0, 7, alpha) - expected).abs() < 1e-12, "α = {alpha:?}");
        }
    }
}
