//! Gibbs sampling of translations, one position at a time (Wang & Cho 2019).
//!
//! ```text
//! masks → fill position after position, each from p(xᵢ | what is filled) → sweep again: hide one position, draw it anew
//! ```
//!
//! The first sweep fills every position once, in whatever order: by the chain rule that is a draw from the model's joint law, if its
//! conditionals have one. Later sweeps leave this law as it is, if the order does not depend on the tokens. The temperature falls linearly
//! from the first step to the last, so that a chain can begin as a sampler and end as a search. A step is one call of the denoiser
//! for all chains together; a chain of n positions takes n of them a sweep.

use std::collections::BTreeMap;

use padir_base::TokenId;
use padir_base::denoise::{Answers, Denoiser};
use padir_base::mask::{MaskContext, MaskLaw};
use padir_base::random::Seed;
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::chance::{Chance, ChanceError, Streams};
use crate::event::{Event, Observer, Status};
use crate::hypothesis::{Hypothesis, normalise, sort};
use crate::padir::{self, Initial, Sentence, Start, Symbols, plan};
use crate::sampling::{Picker, Sampling};
use crate::settings::{SettingsError, bounded, counted};
use crate::step::{Asked, DecodeError, ask};

/// Most sweeps.
const MAX_SWEEPS: usize = 1000;

/// How to sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GibbsChain {
    /// How often every position is visited on average.
    pub sweeps: usize,
    /// In which order positions are visited.
    pub order: VisitOrder,
    /// The temperature of the first step.
    pub temperature: f64,
    /// The temperature of the last step; 0 takes the most probable token.
    pub final_temperature: f64,
    /// Sample from this many of the most probable tokens only.
    pub top_k: Option<usize>,
    /// How many of the most probable lengths are tried.
    pub lengths: usize,
    /// How many chains each length gets.
    pub samples: usize,
    /// Longest target, its end included.
    pub max_length: usize,
    /// α of [`normalise`](crate::normalise); none means the plain sum of log-probabilities.
    pub length_penalty: Option<f64>,
    /// Where positions and tokens come from.
    pub seed: Seed,
}

/// In which order positions are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VisitOrder {
    /// Uniformly at random; in the first sweep those that are still masked.
    #[default]
    Random,
    /// The masked position of the most probable token; once all are filled, that of the least probable token.
    EasyFirst,
    /// One after the other.
    LeftToRight,
}

impl Default for GibbsChain {
    fn default() -> Self {
        Self {
            sweeps: 4,
            order: VisitOrder::Random,
            temperature: 1.0,
            final_temperature: 0.0,
            top_k: None,
            lengths: 5,
            samples: 1,
            max_length: 128,
            length_penalty: Some(1.0),
            seed: Seed(0),
        }
    }
}

impl GibbsChain {
    /// Whether the settings make sense.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), SettingsError> {
        counted("sweeps", self.sweeps, MAX_SWEEPS, "from 1 to 1000")?;
        let last = self.final_temperature;
        bounded("final_temperature", last, (0.0..=1e6).contains(&last), "from 0 to 1000000")?;
        self.start().check()
    }

    /// Where chains start. Warm, so that several from masks are not the same.
    fn start(&self) -> padir::Settings {
        padir::Settings {
            lengths: self.lengths,
            parallel_decodes: self.samples,
            max_length: self.max_length,
            length_penalty: self.length_penalty,
            temperature: self.temperature,
            top_k: self.top_k,
            initial: Initial::Mask,
            seed: self.seed,
            ..padir::Settings::default()
        }
    }

    /// How the step of a chain draws, of so many.
    fn sampling(&self, step: usize, steps: usize) -> Sampling {
        let share = if steps > 1 { step as f64 / (steps - 1) as f64 } else { 0.0 };
        let temperature = self.temperature + share * (self.final_temperature - self.temperature);
        Sampling { temperature, top_k: self.top_k, top_p: None }
    }
}

/// Runs chains: for each sentence its hypotheses, best first, and none if it was cancelled.
///
/// The result of a sentence does not depend on the others.
///
/// # Errors
/// If the settings make no sense or the denoiser fails.
pub fn gibbs_each<D: Denoiser, O: Observer>(
    denoiser: &mut D,
    settings: &[&GibbsChain],
    symbols: &Symbols,
    sentences: &[Sentence],
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
    let chains = begin(settings, symbols, sentences)?;
    let keys = chains.iter().map(|chain| (chain.how.seed, chain.start.stream));
    let mut chance = Streams::keyed(keys);
    let run = Run { denoiser, symbols, sentences, chains };
    run.finish(&mut chance, observer)
}

/// The same with decisions from elsewhere: row r of `chance` is chain r, counted over all sentences.
///
/// # Errors
/// As there, or if a decision cannot be made.
pub fn gibbs_by<D: Denoiser, C: Chance, O: Observer>(
    denoiser: &mut D,
    settings: &GibbsChain,
    symbols: &Symbols,
    sentences: &[Sentence],
    chance: &mut C,
    observer: &mut O,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
    let chains = begin(&vec![settings; sentences.len()], symbols, sentences)?;
    Run { denoiser, symbols, sentences, chains }.finish(chance, observer)
}

fn begin<'a>(
    settings: &[&'a GibbsChain],
    symbols: &Symbols,
    sentences: &[Sentence],
) -> Result<Vec<Chain<'a>>, SettingsError> {
    settings.iter().try_for_each(|settings| settings.check())?;
    let starts: Vec<padir::Settings> = settings.iter().map(|settings| settings.start()).collect();
    let starts = plan(&starts.iter().collect::<Vec<_>>(), symbols, sentences)?;
    Ok(starts.into_iter().map(|start| Chain::new(start, settings)).collect())
}

/// One chain.
struct Chain<'a> {
    how: &'a GibbsChain,
    start: Start,
    tokens: Vec<TokenId>,
    /// Which tokens have been drawn; the end stands where it is.
    filled: Vec<bool>,
    log_probs: Vec<f64>,
    step: usize,
    cancelled: bool,
}

impl<'a> Chain<'a> {
    fn new(start: Start, settings: &[&'a GibbsChain]) -> Self {
        let tokens = start.tokens.clone();
        let mut filled = vec![false; tokens.len()];
        filled[tokens.len() - 1] = true;
        let log_probs = vec![0.0; tokens.len()];
        let how = settings[start.sentence];
        Self { how, start, tokens, filled, log_probs, step: 0, cancelled: false }
    }

    /// Positions before the end.
    fn body(&self) -> usize {
        self.tokens.len() - 1
    }

    fn steps(&self) -> usize {
        self.how.sweeps * self.body()
    }

    fn is_live(&self) -> bool {
        !self.cancelled && self.step < self.steps()
    }

    fn unfilled(&self) -> Vec<usize> {
        (0..self.body()).filter(|&i| !self.filled[i]).collect()
    }

    /// The positions that this step asks for: one, or those of which the easiest will be taken.
    fn wanted<C: Chance>(&self, row: usize, chance: &mut C) -> Result<Vec<usize>, ChanceError> {
        let unfilled = self.unfilled();
        Ok(match self.how.order {
            VisitOrder::LeftToRight => vec![self.step % self.body()],
            VisitOrder::EasyFirst if !unfilled.is_empty() => unfilled,
            VisitOrder::EasyFirst => {
                let least =
                    |&a: &usize, &b: &usize| self.log_probs[a].total_cmp(&self.log_probs[b]);
                (0..self.body()).min_by(least).into_iter().collect()
            }
            VisitOrder::Random => {
                let among = if unfilled.is_empty() { (0..self.body()).collect() } else { unfilled };
                let law = MaskLaw::Exactly { k: 1 };
                let drawn = chance.mask(row, &law, &MaskContext::of_length(among.len()))?;
                drawn.positions().map(|i| among[i]).collect()
            }
        })
    }

    fn score(&self) -> f64 {
        normalise(self.log_probs.iter().sum(), self.tokens.len(), self.how.length_penalty)
    }

    fn event(&self, changed: Vec<usize>) -> Event {
        Event {
            job: self.start.sentence,
            hypothesis: self.start.number,
            step: self.step,
            max_steps: self.steps(),
            tokens: self.tokens.clone(),
            log_probs: self.log_probs.clone(),
            changed,
            rejected: Vec::new(),
            score: self.score(),
            status: if self.is_live() { Status::Live } else { Status::Finished },
            length: Some(self.start.candidate),
        }
    }

    fn finish(self, symbols: &Symbols) -> Hypothesis {
        let (tokens, log_probs) = symbols.text_of(&self.tokens, &self.log_probs);
        Hypothesis {
            tokens,
            log_probs,
            log_prob: self.log_probs.iter().sum(),
            score: self.score(),
            steps: self.step,
            number: self.start.number,
            length: Some(self.start.candidate),
            cut: false,
        }
    }
}

struct Run<'a, D> {
    denoiser: &'a mut D,
    symbols: &'a Symbols,
    sentences: &'a [Sentence],
    chains: Vec<Chain<'a>>,
}

impl<D: Denoiser> Run<'_, D> {
    fn finish<C: Chance, O: Observer>(
        mut self,
        chance: &mut C,
        observer: &mut O,
    ) -> Result<Vec<Vec<Hypothesis>>, DecodeError<D::Error>> {
        let (mut answers, mut picker) = (Answers::default(), Picker::default());
        loop {
            for chain in &mut self.chains {
                chain.cancelled |= !observer.wants(chain.start.sentence);
            }
            // Chains that need as many candidates are one question.
            let mut questions: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for (row, chain) in self.chains.iter().enumerate().filter(|(_, c)| c.is_live()) {
                let sampling = chain.how.sampling(chain.step, chain.steps());
                let never = self.symbols.never.len();
                let depth = sampling.depth(self.denoiser.vocabulary_size(), never);
                questions.entry(depth).or_default().push(row);
            }
            if questions.is_empty() {
                break;
            }
            for (depth, rows) in questions {
                self.step(depth, &rows, &mut answers, &mut picker, chance, observer)?;
            }
        }
        let mut lists = vec![Vec::new(); self.sentences.len()];
        for chain in self.chains.into_iter().filter(|chain| !chain.cancelled) {
            lists[chain.start.sentence].push(chain.finish(self.symbols));
        }
        for list in &mut lists {
            sort(list);
        }
        Ok(lists)
    }

    fn step<C: Chance, O: Observer>(
        &mut self,
        depth: usize,
        rows: &[usize],
        answers: &mut Answers,
        picker: &mut Picker,
        chance: &mut C,
        observer: &mut O,
    ) -> Result<(), DecodeError<D::Error>> {
        let (mut hidden, mut wanted) = (Vec::new(), Vec::new());
        for &row in rows {
            let chain = &self.chains[row];
            let asked = chain.wanted(row, chance)?;
            let own = |i: usize| asked.contains(&i);
            wanted.extend((0..chain.tokens.len()).map(own));
            hidden.extend((0..chain.tokens.len()).map(|i| own(i) || !chain.filled[i]));
        }
        let batch = Batch::new(rows.iter().map(|&row| {
            let chain = &self.chains[row];
            (self.sentences[chain.start.sentence].context, chain.tokens.clone())
        }));
        let asked =
            Asked { batch: &batch, hidden: &hidden, wanted: &wanted, depth, low_precision: false };
        ask(self.denoiser, &asked, answers)?;
        for (place, &row) in rows.iter().enumerate() {
            let range = batch.range(place);
            let chain = &mut self.chains[row];
            // Of several the one whose best candidate is the most probable; the first of equals.
            let mut easiest: Option<(usize, f64)> = None;
            for at in range.clone().filter(|&at| wanted[at]) {
                let candidates = answers.at(at).ok_or(DecodeError::NoAnswer(at))?;
                let allowed = candidates.iter().find(|c| !self.symbols.never.contains(&c.token));
                let log_prob = allowed.map_or(f64::NEG_INFINITY, |c| c.log_prob);
                if easiest.is_none_or(|(_, best)| log_prob > best) {
                    easiest = Some((at, log_prob));
                }
            }
            let (at, _) = easiest.ok_or(ChanceError::NoCandidate(row))?;
            let sampling = chain.how.sampling(chain.step, chain.steps());
            let candidates = answers.at(at).ok_or(DecodeError::NoAnswer(at))?;
            let never = &self.symbols.never;
            let picked = picker.pick(&sampling, candidates, never, row, chance)?;
            let picked = picked.ok_or(ChanceError::NoCandidate(row))?;
            let i = at - range.start;
            let changed = chain.tokens[i] != picked.token;
            chain.tokens[i] = picked.token;
            chain.log_probs[i] = picked.log_prob;
            chain.filled[i] = true;
            chain.step += 1;
            if observer.listens() {
                observer.observe(chain.event(if changed { vec![i] } else { Vec::new() }));
            }
        }
        Ok(())
    }
}
