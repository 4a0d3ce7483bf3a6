//! Picking one token from its candidates: the most probable one, or by chance.
//!
//! ```text
//! q(v) ∝ p(v)^(1/temperature)  over the k most probable v,
//!        cut to the fewest that hold a share of at least top_p
//! ```
//!
//! O(d) for d candidates. What was picked is reported with the denoiser's own log-probability.

use padir_base::TokenId;
use padir_base::denoise::Candidate;
use serde::{Deserialize, Serialize};

use crate::chance::{Chance, ChanceError};
use crate::settings::{SettingsError, bounded};

/// Temperatures below this one mean the most probable token.
pub const COLD: f64 = 1e-4;

/// How a token is picked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sampling {
    /// 1 samples from the model's own distribution; below [`COLD`] the most probable token is taken.
    pub temperature: f64,
    /// Only this many of the most probable tokens.
    pub top_k: Option<usize>,
    /// Only the fewest most probable tokens that have this share together, at this temperature.
    pub top_p: Option<f64>,
}

impl Sampling {
    /// The most probable token.
    pub fn cold() -> Self {
        Self::default()
    }

    /// Whether nothing is left to chance.
    pub fn is_cold(&self) -> bool {
        self.temperature < COLD
    }

    /// Whether the numbers are within their bounds.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<(), SettingsError> {
        let temperature = self.temperature;
        let warm = (0.0..=1e6).contains(&temperature);
        bounded("temperature", temperature, warm, "from 0 to 1000000")?;
        if let Some(k) = self.top_k {
            bounded("top_k", k as f64, k > 0, "at least 1")?;
        }
        if let Some(p) = self.top_p {
            bounded("top_p", p, p > 0.0 && p <= 1.0, "above 0 and at most 1")?;
        }
        Ok(())
    }

    /// How many candidates are needed if as many as `never` of them may be forbidden.
    pub(crate) fn depth(&self, vocabulary_size: usize, never: usize) -> usize {
        match self.top_k {
            _ if self.is_cold() => 1 + never,
            Some(k) => k.saturating_add(never),
            None => vocabulary_size,
        }
        .min(vocabulary_size)
    }
}

/// Picks tokens; keeps the memory for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picker {
    tempered: Vec<Candidate>,
    places: Vec<usize>,
}

impl Picker {
    /// Picks one of the candidates (best first), but none that is in `never`.
    pub(crate) fn pick<C: Chance>(
        &mut self,
        how: &Sampling,
        candidates: &[Candidate],
        never: &[TokenId],
        row: usize,
        chance: &mut C,
    ) -> Result<Option<Candidate>, ChanceError> {
        if how.is_cold() {
            return Ok(candidates.iter().find(|c| may_be(c, never)).copied());
        }
        self.temper(how, candidates, never);
        if self.tempered.is_empty() {
            return Ok(None);
        }
        let chosen = chance.candidate(row, &self.tempered)?;
        Ok(Some(candidates[self.places[chosen]]))
    }

    fn temper(&mut self, how: &Sampling, candidates: &[Candidate], never: &[TokenId]) {
        self.tempered.clear();
        self.places.clear();
        let allowed = candidates.iter().enumerate().filter(|(_, c)| may_be(c, never));
        for (place, c) in allowed.take(how.top_k.unwrap_or(usize::MAX)) {
            self.places.push(place);
            self.tempered.push(Candidate { log_prob: c.log_prob / how.temperature, ..*c });
        }
        if let (Some(share), Some(first)) = (how.top_p, self.tempered.first()) {
            // Relative to the first, which is the largest, nothing overflows.
            let top = first.log_prob;
            let weight = |c: &Candidate| (c.log_prob - top).exp();
            let total: f64 = self.tempered.iter().map(weight).sum();
            let mut held = 0.0;
            let last = self.tempered.iter().position(|c| {
                held += weight(c);
                held >= share * total
            });
            self.tempered.truncate(last.map_or(usize::MAX, |last| last + 1));
        }
    }
}

/// What is forbidden, impossible or not even a number is no candidate.
fn may_be(candidate: &Candidate, never: &[TokenId]) -> bool {
    candidate.log_prob > f64::NEG_INFINITY && !never.contains(&candidate.token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::exact_law;

    fn candidates() -> Vec<Candidate> {
        [(4, 0.5), (0, 0.25), (2, 0.125), (3, 0.125)]
            .map(|(token, p): (u32, f64)| Candidate { token: TokenId(token), log_prob: p.ln() })
            .to_vec()
    }

    /// The law of what is picked, by running the picker through every outcome.
    fn law(how: Sampling, never: &[TokenId]) -> Vec<(u32, f64)> {
        let law = exact_law(
            0.0,
            |replay| {
                let picked = Picker::default().pick(&how, &candidates(), never, 0, replay)?;
                Ok::<_, ChanceError>(picked.map(|c| c.token.0))
            },
            |_| false,
        );
        law.unwrap().outcomes.into_iter().map(|(t, p)| (t.unwrap(), p)).collect()
    }

    type Case<'a> = (&'a str, Sampling, &'a [TokenId], &'a [(u32, f64)]);

    #[test]
    fn what_is_picked_has_the_stated_law() {
        let warm = Sampling { temperature: 1.0, top_k: None, top_p: None };
        let pad = [TokenId::PAD];
        let cases: [Case<'_>; 9] = [
            ("cold", Sampling::cold(), &[], &[(4, 1.0)]),
            ("cold, the best forbidden", Sampling::cold(), &[TokenId(4)], &[(0, 1.0)]),
            ("warm", warm, &[], &[(0, 0.25), (2, 0.125), (3, 0.125), (4, 0.5)]),
            ("warm, one forbidden", warm, &pad, &[(2, 1.0 / 6.0), (3, 1.0 / 6.0), (4, 2.0 / 3.0)]),
            // Squares of 4:2:1:1.
            (
                "half as warm",
                Sampling { temperature: 0.5, ..warm },
                &[],
                &[(0, 4.0 / 22.0), (2, 1.0 / 22.0), (3, 1.0 / 22.0), (4, 16.0 / 22.0)],
            ),
            (
                "two best",
                Sampling { top_k: Some(2), ..warm },
                &[],
                &[(0, 1.0 / 3.0), (4, 2.0 / 3.0)],
            ),
            ("two best allowed", Sampling { top_k: Some(2), ..warm }, &pad, &[(2, 0.2), (4, 0.8)]),
            ("half the mass", Sampling { top_p: Some(0.5), ..warm }, &[], &[(4, 1.0)]),
            (
                "just above half",
                Sampling { top_p: Some(0.51), ..warm },
                &[],
                &[(0, 1.0 / 3.0), (4, 2.0 / 3.0)],
            ),
        ];
        for (name, how, never, expected) in cases {
            let found = law(how, never);
            assert_eq!(found.len(), expected.len(), "{name}: {found:?}");
            for (f, e) in found.iter().zip(expected) {
                assert!(f.0 == e.0 && (f.1 - e.1).abs() < 1e-12, "{name}: {found:?}");
            }
        }
    }

    #[test]
    fn what_is_no_number_is_no_candidate() {
        let list = [f64::NAN, f64::NEG_INFINITY, -1.0]
            .map(|log_prob| Candidate { token: TokenId(9), log_prob });
        for temperature in [0.0, 1.0] {
            let how = Sampling { temperature, top_k: Some(1), top_p: Some(0.5) };
            let pick = |list: &[Candidate]| {
                let mut chance = crate::Streams::new(padir_base::random::Seed(1), 1);
                Picker::default().pick(&how, list, &[], 0, &mut chance).unwrap()
            };
            assert_eq!(pick(&list), Some(list[2]), "temperature {temperature}");
            assert_eq!(pick(&list[..2]), None, "temperature {temperature}");
        }
    }

    #[test]
    fn bounds_are_told_by_their_key() {
        let warm = Sampling { temperature: 1.0, top_k: None, top_p: None };
        let cases = [
            (Sampling { temperature: -1.0, ..warm }, "`temperature` is -1;"),
            (Sampling { temperature: f64::NAN, ..warm }, "`temperature` is NaN;"),
            (Sampling { top_k: Some(0), ..warm }, "`top_k` is 0;"),
            (Sampling { top_p: Some(1.5), ..warm }, "`top_p` is 1.5;"),
        ];
        for (how, expected) in cases {
            let error = how.check().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(warm.check(), Ok(()));
    }

    #[test]
    fn no_more_candidates_are_asked_for_than_needed() {
        let warm = Sampling { temperature: 1.0, top_k: None, top_p: None };
        let depth = |how: Sampling| how.depth(100, 1);
        assert_eq!(depth(Sampling::cold()), 2);
        assert_eq!(depth(warm), 100);
        assert_eq!(depth(Sampling { top_k: Some(7), ..warm }), 8);
        assert_eq!(depth(Sampling { top_k: Some(usize::MAX), ..warm }), 100);
        assert_eq!(depth(Sampling { top_p: Some(0.9), ..warm }), 100);
    }
}
