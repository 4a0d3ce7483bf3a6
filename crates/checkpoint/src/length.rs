//! Length candidates: which lengths of a target are tried, by what a length predictor says of its source.

use crate::config::LengthPredictor;

impl LengthPredictor {
    /// The likeliest lengths with their log-probabilities, the best first, from the logits of all classes for a source of so many tokens.
    pub fn candidates(self, logits: &[f32], source: usize, most: usize) -> Vec<(usize, f64)> {
        let top = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let log_z = top + logits.iter().map(|&z| (f64::from(z) - top).exp()).sum::<f64>().ln();
        let length = |(class, &z): (usize, &f32)| {
            Some((self.length_of(class, source)?, f64::from(z) - log_z))
        };
        best(logits.iter().enumerate().filter_map(length).collect(), most)
    }
}

/// Whole lengths by their distance from an expected one, which counts as their log-probability, the nearest first.
pub fn candidates_around(length: f64, most: usize) -> Vec<(usize, f64)> {
    let centre = length.round().clamp(1.0, 1e6) as usize;
    let first = centre.saturating_sub(most).max(1);
    let candidates = first..=centre.saturating_add(most);
    best(candidates.map(|n| (n, -(n as f64 - length).abs())).collect(), most)
}

/// The best so many; of two that are equally good the shorter first.
fn best(mut lengths: Vec<(usize, f64)>, most: usize) -> Vec<(usize, f64)> {
    lengths.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    lengths.truncate(most);
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(candidates: &[(usize, f64)]) -> Vec<usize> {
        candidates.iter().map(|(length, _)| *length).collect()
    }

    #[test]
    fn classes_are_lengths_by_their_probability() {
        let logits = [0.0, 2.0_f32.ln(), 0.0, 4.0_f32.ln()];
        let token = LengthPredictor::Token { classes: 4 };
        let all = token.candidates(&logits, 9, 4);
        assert_eq!(lengths(&all), [4, 2, 1, 3]);
        for ((_, log_p), p) in all.iter().zip([0.5, 0.25, 0.125, 0.125_f64]) {
            assert!((log_p - p.ln()).abs() < 1e-7, "{log_p} {p}");
        }
        // Class c of 4 means n + c − 2; lengths below 1 do not exist.
        let offset = LengthPredictor::Offset { classes: 4 };
        assert_eq!(lengths(&offset.candidates(&logits, 9, 2)), [10, 8]);
        assert_eq!(lengths(&offset.candidates(&logits, 1, 4)), [2, 1]);
    }

    #[test]
    fn expected_lengths_are_tried_first() {
        let cases: [(f64, usize, &[usize]); 5] = [
            (7.2, 3, &[7, 8, 6]),
            (7.5, 2, &[7, 8]),
            (0.3, 3, &[1, 2, 3]),
            (-4.0, 1, &[1]),
            (3.0, 0, &[]),
        ];
        for (length, most, expected) in cases {
            assert_eq!(lengths(&candidates_around(length, most)), expected, "{length}");
        }
    }
}
