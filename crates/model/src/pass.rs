//! One run through a network: how operations are computed, what is dropped, where gradients go.

use std::cell::Cell;
use std::sync::Arc;

use padir_kernels::dropout::{Dropout, Sharing};

use crate::gradients::Gradients;

/// The randomness of a pass: equal keys drop the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropoutKey {
    /// The probability to drop.
    pub rate: f32,
    /// The seed of this step.
    pub key: [u32; 2],
    /// What shares a mask.
    pub sharing: Sharing,
}

/// A run through a network.
#[derive(Debug)]
pub struct Pass {
    fused: bool,
    dropout: Option<DropoutKey>,
    gradients: Option<Arc<Gradients>>,
    sites: Cell<u32>,
    /// Fused losses that were computed and not walked backwards yet.
    losses: Cell<u32>,
}

impl Pass {
    /// Without dropout and gradients.
    pub fn evaluation(fused: bool) -> Self {
        Self { fused, dropout: None, gradients: None, sites: Cell::new(0), losses: Cell::new(0) }
    }

    /// With gradients, which are added to what the store holds.
    pub fn training(fused: bool, dropout: Option<DropoutKey>, gradients: Arc<Gradients>) -> Self {
        let dropout = dropout.filter(|dropout| dropout.rate > 0.0);
        let gradients = Some(gradients);
        Self { fused, dropout, gradients, sites: Cell::new(0), losses: Cell::new(0) }
    }

    /// Whether operations are the fused ones of the CPU.
    pub fn is_fused(&self) -> bool {
        self.fused
    }

    /// The store of gradients, in training.
    pub fn gradients(&self) -> Option<&Arc<Gradients>> {
        self.gradients.as_ref()
    }

    /// A fused loss was computed: the gradient of its table is in the store.
    pub(crate) fn owe_loss(&self) {
        self.losses.set(self.losses.get() + 1);
    }

    /// Fused losses whose graph was not walked yet; from here on there are none.
    pub(crate) fn settle_losses(&self) -> u32 {
        self.losses.take()
    }

    /// The next dropout: each has a site of its own, numbered in the order of the calls.
    pub(crate) fn drop(&self) -> Dropout {
        let site = self.sites.replace(self.sites.get() + 1);
        self.dropout.map_or(Dropout::NONE, |DropoutKey { rate, key, sharing }| Dropout {
            rate,
            key,
            site,
            sharing,
        })
    }

    /// The next dropout, for each token by itself.
    pub(crate) fn drop_tokens(&self) -> Dropout {
        Dropout { sharing: Sharing::Token, ..self.drop() }
    }
}
