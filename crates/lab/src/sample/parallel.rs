//! Independent parallel: every site at once, each given the old others.

use padir_base::random::Stream;

use super::{Kernel, Local};
use crate::chance::Coin;
use crate::model::Ising;

/// The independent parallel chain of a model.
#[derive(Clone, Debug)]
pub struct Parallel {
    model: Ising,
}

impl Parallel {
    /// The chain of a model.
    pub fn new(model: &Ising) -> Self {
        Self { model: model.clone() }
    }
}

impl Kernel for Parallel {
    fn sites(&self) -> usize {
        self.model.sites()
    }

    fn advance(&self, spins: &mut [u8], stream: &mut Stream, steps: u64) {
        let mut old = spins.to_vec();
        for _ in 0..steps {
            old.copy_from_slice(spins);
            for (i, spin) in spins.iter_mut().enumerate() {
                let coupled = self.model.neighbours(i).iter();
                let coupled: f64 = coupled.map(|&(j, c)| if old[j] == 1 { c } else { -c }).sum();
                let odds = 2.0 * (self.model.fields()[i] + coupled);
                *spin = u8::from(Coin::from_log_odds(odds).toss(stream));
            }
        }
    }
}

/// The independent parallel chain of any model.
#[derive(Clone, Debug)]
pub struct AnyParallel<M> {
    model: M,
}

impl<M: Local> AnyParallel<M> {
    /// The chain of a model.
    pub fn new(model: M) -> Self {
        Self { model }
    }
}

impl<M: Local> Kernel for AnyParallel<M> {
    fn sites(&self) -> usize {
        self.model.sites()
    }

    fn symbols(&self) -> usize {
        self.model.symbols()
    }

    fn advance(&self, state: &mut [u8], stream: &mut Stream, steps: u64) {
        let mut scratch = Vec::new();
        for _ in 0..steps {
            let old = state.to_vec();
            let mut one = old.clone();
            for (i, symbol) in state.iter_mut().enumerate() {
                self.model.fill(&mut one, &[i], &mut scratch, stream);
                *symbol = one[i];
                one[i] = old[i];
            }
        }
    }
}
