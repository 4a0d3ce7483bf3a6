//! Samplers: the chains, run.
//!
//! A [`Kernel`] advances a configuration of symbols; [`run`] drives many chains over the worker
//! threads. Chain c draws segment s from its own stream, so results are the same at any number of
//! threads. Probabilities are exact however small ([`crate::chance`]).
//!
//! | kernel | a step costs |
//! |---|---|
//! | [`SingleSite`] | O(degree): one table look-up, no exponential |
//! | [`CliqueBlocks`] | O(k): the clique's spins are exchangeable |
//! | [`AnyBlocks`] | O(qᵏ k): any model, any mask law |
//! | [`Parallel`], [`AnyParallel`] | O(N + edges) |
//! | [`SiteSweep`], [`BlockSweep`] | a whole sweep: every site once |

mod blocks;
mod clique;
mod local;
mod parallel;
mod site;
mod sweep;

pub use blocks::AnyBlocks;
pub use clique::CliqueBlocks;
pub use local::{Local, LocalPotts, local};
pub use parallel::{AnyParallel, Parallel};
pub use site::SingleSite;
pub use sweep::{BlockSweep, SiteSweep};

use padir_base::random::{Purpose, Seed, Stream};
use rayon::prelude::*;

/// One Markov chain on symbols; of spins, 0 is −1 and 1 is +1.
pub trait Kernel: Sync {
    /// N.
    fn sites(&self) -> usize;

    /// q.
    fn symbols(&self) -> usize {
        2
    }

    /// Makes steps.
    fn advance(&self, state: &mut [u8], stream: &mut Stream, steps: u64);
}

/// Where chains start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// All −1, or symbol 0.
    Down,
    /// All +1, or the last symbol.
    Up,
    /// Symbols drawn independently and uniformly.
    Random,
}

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number of independent chains.
    pub chains: usize,
    /// Samples recorded from each.
    pub samples: usize,
    /// Steps before the first.
    pub burn_in: u64,
    /// Steps between one and the next; at least 1.
    pub thin: u64,
    /// Where chains start.
    pub start: Start,
    /// The seed.
    pub seed: Seed,
}

/// Runs all chains; samples come chain after chain, as rows of symbols.
pub fn run(kernel: &dyn Kernel, plan: &Plan, tick: impl Fn(u64) + Sync) -> Vec<Vec<u8>> {
    let chains: Vec<Vec<Vec<u8>>> = (0..plan.chains as u64)
        .into_par_iter()
        .map(|chain| run_chain(kernel, plan, chain, &tick))
        .collect();
    chains.into_iter().flatten().collect()
}

fn run_chain(
    kernel: &dyn Kernel,
    plan: &Plan,
    chain: u64,
    tick: &(impl Fn(u64) + Sync),
) -> Vec<Vec<u8>> {
    let mut spins = start(kernel, plan, chain);
    let mut rows = Vec::with_capacity(plan.samples);
    // A segment has a stream of its own: none is ever exhausted.
    for segment in 0..plan.samples as u64 {
        let steps = if segment == 0 { plan.burn_in.max(1) } else { plan.thin.max(1) };
        let mut stream = plan.seed.stream(Purpose::Chain, chain << 32 | segment);
        kernel.advance(&mut spins, &mut stream, steps);
        rows.push(spins.clone());
        tick(steps);
    }
    rows
}

/// Where a chain starts.
fn start(kernel: &dyn Kernel, plan: &Plan, chain: u64) -> Vec<u8> {
    let (sites, symbols) = (kernel.sites(), kernel.symbols());
    match plan.start {
        Start::Down => vec![0; sites],
        Start::Up => vec![(symbols - 1) as u8; sites],
        Start::Random => {
            let mut stream = plan.seed.stream(Purpose::Start, chain);
            let symbol = |_| match symbols {
                2 => (stream.next_u32() >> 31) as u8,
                _ => below(&mut stream, symbols as u32) as u8,
            };
            (0..sites).map(symbol).collect()
        }
    }
}

/// Steps until `done`, chain by chain, from where the plan starts them; `None` where the budget ran
/// out. A chain that starts there needs none.
pub fn run_until(
    kernel: &dyn Kernel,
    plan: &Plan,
    budget: u64,
    done: impl Fn(&[u8]) -> bool + Sync,
) -> Vec<Option<u64>> {
    (0..plan.chains as u64)
        .into_par_iter()
        .map(|chain| {
            let state = start(kernel, plan, chain);
            if done(&state) {
                return Some(0);
            }
            let mut stream = plan.seed.stream(Purpose::Chain, chain << 32);
            steps_until(kernel, state, &mut stream, budget, &done)
        })
        .collect()
}

/// Steps until `done`, at most `budget`: `None` if the budget ran out.
pub fn steps_until(
    kernel: &dyn Kernel,
    mut spins: Vec<u8>,
    stream: &mut Stream,
    budget: u64,
    done: impl Fn(&[u8]) -> bool,
) -> Option<u64> {
    (1..=budget).find(|_| {
        kernel.advance(&mut spins, stream, 1);
        done(&spins)
    })
}

/// A number below n, exactly uniform, from 32 bits (Lemire).
#[inline]
pub(crate) fn below(stream: &mut Stream, n: u32) -> u32 {
    let mut product = u64::from(stream.next_u32()) * u64::from(n);
    if (product as u32) < n {
        let threshold = n.wrapping_neg() % n;
        while (product as u32) < threshold {
            product = u64::from(stream.next_u32()) * u64::from(n);
        }
    }
    (product >> 32) as u32
}
