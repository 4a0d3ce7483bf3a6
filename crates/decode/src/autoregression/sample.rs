//! Autoregressive sampling; greedy is sampling at temperature 0.
//!
//! Each sample draws from a stream of its own, named by the seed, the number of the sentence and its own number.

use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::Candidate;
use padir_base::random::Seed;
use serde::{Deserialize, Serialize};

use super::drive::{Search, by_depth, drive};
use super::{Source, Symbols};
use crate::chance::{Chance, ChanceError, Streams};
use crate::event::{Event, Observer, Status};
use crate::hypothesis::{Hypothesis, normalise, sort};
use crate::sampling::{Picker, Sampling};
use crate::settings::{MAX_HYPOTHESES, MAX_LENGTH, SettingsError, bounded, counted};
use crate::step::DecodeError;

/// How to sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sample {
    /// How many translations are drawn for each sentence.
    pub samples: usize,
    /// How tokens are picked.
    pub sampling: Sampling,
    /// α of [`normalise`]; none means the plain sum of log-probabilities.
    pub length_penalty: Option<f64>,
    /// Longest target, its end included.
    pub max_length: usize,
    /// Where samples come from.
    pub seed: Seed,
}

impl Default for Sample {
    fn default() -> Self {
        let sampling = Sampling { temperature: 1.0, ..Sampling::cold() };
        Self { samples: 1, sampling, length_penalty: None, max_length: 256, seed: Seed(0) }
    }
}

impl Sample {
    /// Always the most probable token.
    pub fn greedy() -> Self {
        Self { sampling: Sampling::cold(), ..Self::default() }
    }

    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        counted("samples", self.samples, MAX_HYPOTHESES, "from 1 to 1024")?;
        counted("max_length", self.max_length, MAX_LENGTH, "from 1 to 65536")?;
        self.sampling.check()?;
        let differ = self.samples == 1 || !self.sampling.is_cold();
        bounded(
            "samples",
            self.samples as f64,
            differ,
            "1 at temperature 0: all would be the same",
        )?;
        let alpha = self.length_penalty.unwrap_or(0.0);
        bounded("length_penalty", alpha, alpha.is_finite(), "finite")
    }
}

/// The most probable token, step by step.
///
/// # Errors
/// If the causal model fails.
pub fn greedy<K: CausalModel, O: Observer>(
    causal_model: &mut K,
    symbols: &Symbols,
    sources: &[Source],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<K::Error>> {
    sample(causal_model, &Sample::greedy(), symbols, sources, observer)
}

/// Draws translations of sentences: for each, its samples, best first, and none if it was cancelled.
///
/// # Errors
/// If the settings make no sense or the causal model fails.
pub fn sample<K: CausalModel, O: Observer>(
    causal_model: &mut K,
    how: &Sample,
    symbols: &Symbols,
    sources: &[Source],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<K::Error>> {
    sample_each(causal_model, &vec![how; sources.len()], symbols, sources, observer)
}

/// [`sample`] with settings for each sentence.
///
/// # Errors
/// As there.
///
/// # Panics
/// If there are not as many settings as sentences.
pub fn sample_each<K: CausalModel, O: Observer>(
    causal_model: &mut K,
    hows: &[&Sample],
    symbols: &Symbols,
    sources: &[Source],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<K::Error>> {
    let streams = sources.iter().zip(hows).flat_map(|(source, how)| {
        let sentence = source.number << 10;
        let samples = 0..how.samples.min(MAX_HYPOTHESES) as u64;
        samples.map(move |sample| (how.seed, sentence | sample))
    });
    let mut chance = Streams::keyed(streams);
    draw(causal_model, hows, symbols, sources, &mut chance, observer)
}

/// [`sample`] with decisions from elsewhere: row r of `chance` is sample r, counted over all sentences.
///
/// # Errors
/// If the settings make no sense, the causal model fails or a decision cannot be made.
pub fn sample_by<K: CausalModel, C: Chance, O: Observer>(
    causal_model: &mut K,
    how: &Sample,
    symbols: &Symbols,
    sources: &[Source],
    chance: &mut C,
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<K::Error>> {
    draw(causal_model, &vec![how; sources.len()], symbols, sources, chance, observer)
}

fn draw<K: CausalModel, C: Chance, O: Observer>(
    causal_model: &mut K,
    hows: &[&Sample],
    symbols: &Symbols,
    sources: &[Source],
    chance: &mut C,
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<K::Error>> {
    assert_eq!(hows.len(), sources.len(), "every sentence has settings");
    hows.iter().try_for_each(|how| how.check())?;
    let (vocabulary_size, never) = (causal_model.vocabulary_size(), symbols.never.len());
    // Where the rows of each sentence begin.
    let firsts: Vec<usize> = hows
        .iter()
        .scan(0, |rows, how| {
            *rows += how.samples;
            Some(*rows - how.samples)
        })
        .collect();
    let mut lists = vec![Vec::new(); sources.len()];
    for (depth, jobs) in by_depth(hows.iter().map(|how| how.sampling.depth(vocabulary_size, never)))
    {
        let contexts: Vec<usize> = jobs.iter().map(|&job| sources[job].context).collect();
        let new = |&job: &usize| Walk::new(job, hows[job], symbols, &sources[job], firsts[job]);
        let mut walks: Vec<Walk<'_>> = jobs.iter().map(new).collect();
        drive(causal_model, &contexts, &mut walks, depth, chance, observer)?;
        for (job, walk) in jobs.into_iter().zip(walks) {
            lists[job] = walk.finish();
        }
    }
    Ok(lists)
}

/// The samples of one sentence.
#[derive(Debug)]
struct Walk<'a> {
    job: usize,
    how: &'a Sample,
    symbols: &'a Symbols,
    source: &'a Source,
    /// The row of `chance` of the first sample.
    first: usize,
    paths: Vec<Path>,
    /// The numbers of the live paths, in the order of the rows.
    live: Vec<usize>,
    advances: Vec<DecodeStep>,
    length: usize,
    picker: Picker,
}

/// One sample.
#[derive(Clone, Debug, Default)]
struct Path {
    tokens: Vec<TokenId>,
    log_probs: Vec<f64>,
    log_prob: f64,
    length: usize,
    cut: bool,
}

impl<'a> Walk<'a> {
    fn new(
        job: usize,
        how: &'a Sample,
        symbols: &'a Symbols,
        source: &'a Source,
        first: usize,
    ) -> Self {
        let start = DecodeStep { parent: 0, token: symbols.start };
        Self {
            job,
            how,
            symbols,
            source,
            first,
            paths: vec![Path::default(); how.samples],
            live: (0..how.samples).collect(),
            advances: vec![start; how.samples],
            length: 0,
            picker: Picker::default(),
        }
    }

    fn event(&self, number: usize, status: Status) -> Event {
        let path = &self.paths[number];
        let changed = path.tokens.len().checked_sub(1).filter(|_| status == Status::Live);
        Event {
            job: self.job,
            hypothesis: number,
            step: self.length,
            max_steps: self.source.max_length,
            tokens: path.tokens.clone(),
            log_probs: path.log_probs.clone(),
            changed: changed.into_iter().collect(),
            rejected: Vec::new(),
            score: normalise(path.log_prob, self.length, self.how.length_penalty),
            status,
            length: None,
        }
    }

    fn finish(self) -> Vec<Hypothesis> {
        let alpha = self.how.length_penalty;
        let finish = |(number, path): (usize, Path)| Hypothesis {
            score: normalise(path.log_prob, path.length, alpha),
            tokens: path.tokens,
            log_probs: path.log_probs,
            log_prob: path.log_prob,
            steps: path.length,
            number,
            length: None,
            cut: path.cut,
        };
        let mut list: Vec<Hypothesis> = self.paths.into_iter().enumerate().map(finish).collect();
        sort(&mut list);
        list
    }
}

impl Search for Walk<'_> {
    fn job(&self) -> usize {
        self.job
    }

    fn cancel(&mut self) {
        self.advances.clear();
        self.live.clear();
        self.paths.clear();
    }

    fn advances(&self) -> &[DecodeStep] {
        &self.advances
    }

    fn take<C: Chance, O: Observer>(
        &mut self,
        answers: &[Candidate],
        depth: usize,
        chance: &mut C,
        observer: &mut O,
    ) -> Result<(), ChanceError> {
        self.length += 1;
        self.advances.clear();
        let rows = std::mem::take(&mut self.live);
        for (parent, (number, candidates)) in
            rows.into_iter().zip(answers.chunks_exact(depth)).enumerate()
        {
            let row = self.first + number;
            let never = &self.symbols.never;
            let picked = self.picker.pick(&self.how.sampling, candidates, never, row, chance)?;
            let Candidate { token, log_prob } = picked.ok_or(ChanceError::NoCandidate(row))?;
            let path = &mut self.paths[number];
            path.log_prob += log_prob;
            path.length = self.length;
            path.cut = token != self.symbols.eos && self.length >= self.source.max_length;
            let ends = token == self.symbols.eos || path.cut;
            if !ends {
                path.tokens.push(token);
                path.log_probs.push(log_prob);
                self.live.push(number);
                self.advances.push(DecodeStep { parent, token });
            }
            if observer.listens() {
                let status = if ends { Status::Finished } else { Status::Live };
                observer.observe(self.event(number, status));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked_and_read() {
        let cases = [
            (Sample { samples: 0, ..Sample::default() }, "`samples` is 0"),
            (Sample { samples: 2, ..Sample::greedy() }, "`samples` is 2; it must be 1 at"),
            (Sample { length_penalty: Some(f64::NAN), ..Sample::default() }, "`length_penalty`"),
        ];
        for (how, expected) in cases {
            let error = how.check().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let error = serde_json::from_str::<Sample>(r#"{"sample": 3}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `sample`"), "{error}");
    }
}
