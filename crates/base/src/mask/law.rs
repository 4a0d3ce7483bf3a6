//! The laws themselves: checking, sampling, expected size.
//!
//! Symbols: N positions, K the hidden set, k = |K|, X the sequence, t the step of T.
//! Sampling costs O(N), O(N log N) where confidences are sorted, O(N·m) for repeated phrases of m tokens.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Enumeration, Mask, MaskContext};
use crate::TokenId;
use crate::random::Stream;

/// A probability law p(K | X) over sets of hidden positions.
///
/// As configuration: `{ law = "exactly", k = 2 }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MaskLaw {
    /// Every position is hidden: K = {0, …, N−1}.
    All,
    /// Each position is hidden independently: P(K) = rᵏ(1−r)ᴺ⁻ᵏ.
    Rate {
        /// The probability r that a position is hidden.
        rate: f64,
    },
    /// First k is uniform on `least`..=N−`spare`, then K is uniform among the sets of that size.
    ///
    /// `least = 1, spare = 0` is the law of conditional masked language models;
    /// `least = 1, spare = 1` never hides everything (Mask-Predict). A sequence too short for the
    /// range hides what it can: k = min(N, `least`).
    UniformCount {
        /// The least number of hidden positions.
        #[serde(default = "one")]
        least: usize,
        /// How many positions stay visible at least.
        #[serde(default)]
        spare: usize,
    },
    /// K is uniform among the sets of size k: k-Gibbs, k-pseudolikelihood.
    Exactly {
        /// The number of hidden positions; a shorter sequence is an error.
        k: usize,
    },
    /// One of the listed blocks, with probability proportional to its weight.
    Blocks {
        /// The blocks.
        blocks: Vec<Block>,
    },
    /// The law depends on the sequence: p(K | X) by cases.
    Adaptive {
        /// What applies to which sequence; the first match counts.
        cases: Vec<Case>,
        /// What applies to every other sequence.
        otherwise: Box<MaskLaw>,
    },
    /// A position is hidden iff its token equals the one before it, or, with a longer `phrase`, if it
    /// lies in a phrase of at most so many tokens that was said immediately before; an adaptive law
    /// without chance that hides stutter.
    Repeats {
        /// The longest phrase whose repetition is hidden.
        #[serde(default = "one")]
        phrase: usize,
    },
    /// k = max(`least`, ⌊N(T−t)/T⌋) positions at step t: those of lowest confidence where
    /// confidences are known (ties: leftmost first), else a uniformly random set of that size.
    Linear {
        /// The number of steps T.
        steps: usize,
        /// The least number of hidden positions.
        #[serde(default)]
        least: usize,
    },
    /// A position is hidden iff its confidence is below a bound; without chance. What is not a number is not sure.
    Unsure {
        /// The bound.
        below: f64,
    },
}

/// A set of positions with its weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The positions, each once.
    pub positions: Vec<usize>,
    /// Its weight; weights need not sum to one.
    #[serde(default = "unit")]
    pub weight: f64,
}

/// The law that applies to one sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The sequence X.
    pub when: Vec<TokenId>,
    /// p(· | X).
    pub then: MaskLaw,
}

fn one() -> usize {
    1
}

fn unit() -> f64 {
    1.0
}

/// A mask law that does not make sense, or not for this sequence.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LawError {
    /// A rate outside of [0, 1].
    #[error("a masking rate must lie between 0 and 1, not {0}")]
    Rate(f64),
    /// More positions asked for than there are.
    #[error("cannot hide {k} of {len} positions")]
    TooFew {
        /// The number asked for.
        k: usize,
        /// The number there is.
        len: usize,
    },
    /// A block names a position that does not exist.
    #[error("block {block} names position {position}, but there are {len} positions")]
    Position {
        /// The index of the block.
        block: usize,
        /// The position.
        position: usize,
        /// The number of positions.
        len: usize,
    },
    /// A block names a position twice.
    #[error("block {block} names position {position} twice")]
    Twice {
        /// The index of the block.
        block: usize,
        /// The position.
        position: usize,
    },
    /// A weight that is negative or not finite.
    #[error("block {block} has weight {weight}; a weight must be finite and not negative")]
    Weight {
        /// The index of the block.
        block: usize,
        /// The weight.
        weight: f64,
    },
    /// No block has a positive weight.
    #[error("no block has a positive weight")]
    NoBlock,
    /// The law depends on tokens, and none were given.
    #[error("the law depends on the tokens of the sequence, but only its length is known")]
    NoTokens,
    /// The law depends on confidences, and none were given.
    #[error("the law depends on how sure predictions are, which is not known")]
    NoConfidence,
    /// A bound that nothing is below or above.
    #[error("a bound on confidences must be a number")]
    NoBound,
    /// Repeated phrases of no tokens.
    #[error("a phrase has at least one token")]
    NoPhrase,
    /// A schedule of no steps.
    #[error("a schedule needs at least one step")]
    NoSteps,
    /// The step lies beyond the schedule.
    #[error("step {step} lies beyond a schedule of {steps} steps")]
    Step {
        /// The step.
        step: usize,
        /// The number of steps.
        steps: usize,
    },
}

/// A law resolved for one context: what remains is chance.
#[derive(Clone, Debug)]
pub(super) enum Resolved<'a> {
    /// One set, certainly.
    Fixed(Mask),
    /// Each position independently.
    Rate { len: usize, rate: f64 },
    /// The size uniform on a range, the set uniform given its size.
    Sizes { len: usize, low: usize, high: usize },
    /// Weighted blocks.
    Blocks { len: usize, blocks: &'a [Block], total: f64 },
}

impl MaskLaw {
    /// Whether the law makes sense for this context.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self, context: &MaskContext<'_>) -> Result<(), LawError> {
        self.resolve(context).map(drop)
    }

    /// Draws a set.
    ///
    /// # Errors
    /// If the law makes no sense for this context.
    pub fn sample(&self, context: &MaskContext<'_>, stream: &mut Stream) -> Result<Mask, LawError> {
        let mut mask = Mask::none(context.len());
        self.sample_into(context, stream, &mut mask)?;
        Ok(mask)
    }

    /// Draws a set into memory that is used again.
    ///
    /// # Errors
    /// If the law makes no sense for this context.
    pub fn sample_into(
        &self,
        context: &MaskContext<'_>,
        stream: &mut Stream,
        mask: &mut Mask,
    ) -> Result<(), LawError> {
        match self.resolve(context)? {
            Resolved::Fixed(set) => *mask = set,
            Resolved::Rate { len, rate } => {
                mask.reset(len);
                (0..len).filter(|_| stream.chance(rate)).for_each(|i| mask.hide(i));
            }
            Resolved::Sizes { len, low, high } => {
                let k = low + stream.below((high - low) as u64 + 1) as usize;
                sample_subset(len, k, stream, mask);
            }
            Resolved::Blocks { len, blocks, total } => {
                mask.reset(len);
                pick(blocks, total, stream).positions.iter().for_each(|&i| mask.hide(i));
            }
        }
        Ok(())
    }

    /// All sets of positive probability with their probabilities, each set once.
    ///
    /// The iterator is lazy; [`Enumeration::support`] tells beforehand how many there are.
    ///
    /// # Errors
    /// If the law makes no sense for this context.
    pub fn enumerate<'a>(&'a self, context: &MaskContext<'_>) -> Result<Enumeration<'a>, LawError> {
        self.resolve(context).map(Enumeration::new)
    }

    /// E|K|, the expected number of hidden positions.
    ///
    /// # Errors
    /// If the law makes no sense for this context.
    pub fn expected_size(&self, context: &MaskContext<'_>) -> Result<f64, LawError> {
        Ok(match self.resolve(context)? {
            Resolved::Fixed(set) => set.count() as f64,
            Resolved::Rate { len, rate } => len as f64 * rate,
            Resolved::Sizes { low, high, .. } => (low + high) as f64 / 2.0,
            Resolved::Blocks { blocks, total, .. } => {
                blocks.iter().map(|b| b.weight * b.positions.len() as f64).sum::<f64>() / total
            }
        })
    }

    /// Whether p(K | X) depends on the tokens of X, not only on their number.
    pub fn is_adaptive(&self) -> bool {
        matches!(self, Self::Adaptive { .. } | Self::Repeats { .. })
    }

    pub(super) fn resolve<'a>(
        &'a self,
        context: &MaskContext<'_>,
    ) -> Result<Resolved<'a>, LawError> {
        let len = context.len();
        match self {
            Self::All => Ok(Resolved::Fixed(Mask::all(len))),
            Self::Rate { rate } if (0.0..=1.0).contains(rate) => {
                Ok(Resolved::Rate { len, rate: *rate })
            }
            Self::Rate { rate } => Err(LawError::Rate(*rate)),
            Self::UniformCount { least, spare } => {
                let low = len.min(*least);
                Ok(Resolved::Sizes { len, low, high: len.saturating_sub(*spare).max(low) })
            }
            Self::Exactly { k } if *k <= len => Ok(Resolved::Sizes { len, low: *k, high: *k }),
            Self::Exactly { k } => Err(LawError::TooFew { k: *k, len }),
            Self::Blocks { blocks } => {
                check_blocks(blocks, len).map(|total| Resolved::Blocks { len, blocks, total })
            }
            Self::Adaptive { cases, otherwise } => {
                let tokens = context.tokens().ok_or(LawError::NoTokens)?;
                let case = cases.iter().find(|case| case.when == tokens);
                case.map_or(&**otherwise, |case| &case.then).resolve(context)
            }
            Self::Repeats { phrase: 0 } => Err(LawError::NoPhrase),
            Self::Repeats { phrase } => {
                let tokens = context.tokens().ok_or(LawError::NoTokens)?;
                Ok(Resolved::Fixed(repeats(tokens, *phrase)))
            }
            Self::Linear { steps, least } => resolve_linear(*steps, *least, context),
            Self::Unsure { below } if below.is_nan() => Err(LawError::NoBound),
            Self::Unsure { below } => {
                let confidence = context.confidence().ok_or(LawError::NoConfidence)?;
                let unsure = |&i: &usize| confidence[i] < *below || confidence[i].is_nan();
                Ok(Resolved::Fixed(Mask::of(len, (0..len).filter(unsure))))
            }
        }
    }
}

/// The second times of what is said twice in a row, phrases of up to `longest` tokens.
fn repeats(tokens: &[TokenId], longest: usize) -> Mask {
    let len = tokens.len();
    let mut mask = Mask::none(len);
    for phrase in 1..=longest.min(len / 2) {
        // Tokens in a row that equal the one a phrase before.
        let mut run = 0;
        for i in phrase..len {
            run = if tokens[i] == tokens[i - phrase] { run + 1 } else { 0 };
            if run >= phrase {
                let new = if run == phrase { phrase } else { 1 };
                (i + 1 - new..=i).for_each(|i| mask.hide(i));
            }
        }
    }
    mask
}

fn resolve_linear<'a>(
    steps: usize,
    least: usize,
    context: &MaskContext<'_>,
) -> Result<Resolved<'a>, LawError> {
    let (len, step) = (context.len(), context.step());
    if steps == 0 {
        return Err(LawError::NoSteps);
    }
    if step > steps {
        return Err(LawError::Step { step, steps });
    }
    // In u128 the product cannot overflow.
    let scheduled = (len as u128 * (steps - step) as u128 / steps as u128) as usize;
    let k = scheduled.max(least).min(len);
    Ok(match context.confidence() {
        Some(confidence) => Resolved::Fixed(Mask::of(len, least_confident(confidence, k))),
        None => Resolved::Sizes { len, low: k, high: k },
    })
}

/// The k positions of lowest confidence; ties go to the left. A NaN is the least confident.
fn least_confident(confidence: &[f64], k: usize) -> impl Iterator<Item = usize> {
    let key = |i: usize| if confidence[i].is_nan() { f64::NEG_INFINITY } else { confidence[i] };
    let mut order: Vec<usize> = (0..confidence.len()).collect();
    order.sort_by(|&i, &j| key(i).total_cmp(&key(j)));
    order.into_iter().take(k)
}

fn check_blocks(blocks: &[Block], len: usize) -> Result<f64, LawError> {
    let mut seen = Mask::none(len);
    for (block, Block { positions, weight }) in blocks.iter().enumerate() {
        if !(weight.is_finite() && *weight >= 0.0) {
            return Err(LawError::Weight { block, weight: *weight });
        }
        for &position in positions {
            if position >= len {
                return Err(LawError::Position { block, position, len });
            }
            if seen.hides(position) {
                return Err(LawError::Twice { block, position });
            }
            seen.hide(position);
        }
        for &position in positions {
            seen.show(position);
        }
    }
    let total: f64 = blocks.iter().map(|block| block.weight).sum();
    if total > 0.0 { Ok(total) } else { Err(LawError::NoBlock) }
}

fn pick<'a>(blocks: &'a [Block], total: f64, stream: &mut Stream) -> &'a Block {
    let mut rest = stream.uniform() * total;
    let mut chosen = &blocks[0];
    for block in blocks.iter().filter(|block| block.weight > 0.0) {
        chosen = block;
        if rest < block.weight {
            break;
        }
        rest -= block.weight;
    }
    chosen
}

/// A uniform subset of size k by selection sampling (Knuth, 3.4.2 S): one draw per position.
fn sample_subset(len: usize, k: usize, stream: &mut Stream, mask: &mut Mask) {
    mask.reset(len);
    let mut missing = k as u64;
    for position in 0..len {
        if missing == 0 {
            break;
        }
        if stream.below((len - position) as u64) < missing {
            mask.hide(position);
            missing -= 1;
        }
    }
}
