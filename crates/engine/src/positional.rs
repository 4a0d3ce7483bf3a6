//! Attention by position: x + A·(x·Wᵥ)·Wₒ, where the weights A depend on the length of a row alone.
//!
//! Queries and keys are norms of the position table, the same for every sentence and step: they are computed at loading. For the lengths that
//! occur, A is computed once and kept, up to a bound on memory; beyond it A is computed from queries and keys, with
//! the same result to the bit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use padir_checkpoint::Parameter;
use padir_checkpoint::layers;
use padir_kernels::packed::attention::{self, Bias};
use padir_kernels::packed::single::Single;
use padir_kernels::packed::{Isa, Packed, Threads, Tools};

use crate::error::EngineError;
use crate::load::{Loader, heads};
use crate::weights::{DecoderBlock, Heads, Linear};

/// Most bytes of attention weights that are kept.
const KEPT: usize = 64 << 20;

/// The attention by position of one layer.
#[derive(Debug)]
pub(crate) struct Positional {
    pub heads: Heads,
    /// What A is made of; the same in low-precision steps.
    pub factors: Arc<Factors>,
    pub v: Linear,
    pub o: Linear,
}

/// Queries and keys of all positions in one layer.
#[derive(Debug)]
pub(crate) struct Factors {
    /// One row per position.
    pub queries: Vec<f32>,
    /// Keys, packed.
    pub panels: Vec<f32>,
}

impl Positional {
    pub(crate) fn load(
        loader: &Loader<'_>,
        layer: &layers::Attention,
        factors: Arc<Factors>,
    ) -> Result<Self, EngineError> {
        let (v, o) = (loader.linear(&[(&layer.v, 1.0)])?, loader.linear(&[(&layer.o, 1.0)])?);
        Ok(Self { heads: heads(layer), factors, v, o })
    }

    /// The longest row.
    pub(crate) fn longest(&self) -> usize {
        self.factors.queries.len() / self.o.inputs()
    }

    /// Without what is shared.
    pub(crate) fn bytes(&self) -> usize {
        self.v.bytes() + self.o.bytes()
    }
}

impl Factors {
    pub(crate) fn load(
        loader: &Loader<'_>,
        layer: &layers::Attention,
        table: &Parameter,
    ) -> Result<Self, EngineError> {
        let (positions, d) = (table.shape[0], table.shape[1]);
        let table = loader.numbers(table)?;
        let mut tools = Tools::new(Threads::default());
        let mut normed = vec![0.0; table.len()];
        loader.norm(&layer.norm)?.apply(&tools.threads, &mut normed, &table);
        let mut project = |linear: &layers::Linear| -> Result<Vec<f32>, EngineError> {
            let weight = loader.rounded(&linear.weight)?;
            let weight = Packed::Single(Single::pack(loader.isa, &[&weight], d));
            let linear = Linear { weight, bias: loader.optional_vector(linear.bias.as_ref())? };
            let mut out = vec![0.0; positions * linear.outputs()];
            linear.product(&mut tools, &normed, 0..linear.outputs(), &mut out);
            Ok(out)
        };
        let (mut queries, keys) = (project(&layer.q)?, project(&layer.k)?);
        #[expect(clippy::float_cmp, reason = "a constant of the description")]
        if layer.score_scale != 1.0 {
            for x in &mut queries {
                *x *= layer.score_scale;
            }
        }
        let Heads { count: heads, width } = heads(layer);
        let mut panels = vec![0.0; attention::packed_len(heads, width, positions)];
        attention::pack_keys(&mut panels, &keys, heads * width, positions, heads, width);
        Ok(Self { queries, panels })
    }

    pub(crate) fn bytes(&self) -> usize {
        4 * (self.queries.len() + self.panels.len())
    }
}

/// Attention weights of the lengths that have occurred, of all layers.
#[derive(Debug)]
pub(crate) struct Known {
    /// By length; layer after layer.
    lengths: Vec<OnceLock<Box<[f32]>>>,
    bytes: AtomicUsize,
}

/// Of which sizes attention weights are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub isa: Isa,
    pub heads: Heads,
    pub longest: usize,
}

impl Known {
    /// For rows of up to `longest` tokens.
    pub(crate) fn new(longest: usize) -> Self {
        let lengths = (0..=longest).map(|_| OnceLock::new()).collect();
        Self { lengths, bytes: AtomicUsize::new(0) }
    }

    /// Makes the weights of a length known; false if there is no room for them.
    pub(crate) fn learn(
        &self,
        length: usize,
        blocks: &[DecoderBlock],
        sizes: Sizes,
        bias: Bias<'_>,
    ) -> bool {
        let Some(slot) = self.lengths.get(length) else { return false };
        if slot.get().is_some() {
            return true;
        }
        let Sizes { isa, heads: Heads { count: heads, width }, longest } = sizes;
        let room = length.saturating_mul(length + 1).saturating_mul(4 * heads * blocks.len());
        let taken = self.bytes.fetch_add(room, Ordering::Relaxed);
        if taken.saturating_add(room) > KEPT {
            self.bytes.fetch_sub(room, Ordering::Relaxed);
            return false;
        }
        slot.get_or_init(|| {
            let size = attention::known_len(heads, length);
            let mut all = vec![0.0; size * blocks.len()];
            let layers = blocks.iter().filter_map(|block| block.positional.as_ref());
            for (layer, out) in layers.zip(all.chunks_exact_mut(size.max(1))) {
                let Factors { queries, panels } = &*layer.factors;
                let factors = [&queries[..], &panels[..]];
                attention::weights(isa, factors, longest, [heads, width, length], bias, out);
            }
            all.into()
        });
        true
    }

    /// The weights of a length in one of so many layers, if they are known.
    pub(crate) fn get(&self, length: usize, layer: usize, layers: usize) -> &[f32] {
        let all = self.lengths.get(length).and_then(OnceLock::get);
        all.map_or(&[], |all| &all[all.len() / layers * layer..][..all.len() / layers])
    }
}
