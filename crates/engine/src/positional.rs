//! Attention by position: x + A·(x·Wᵥ)·Wₒ, where the weights A depend on the length of a row alone.
//!
//! Queries and keys are norms of the position table, the same for every sentence and step: they are computed at loading. For the lengths that
//! occur, A is computed once and kept, up to a bound on memory; beyond it A is computed from queries and keys, with
//! the same result to the bit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use padir_kernels::packed::attention::{self, Bias};
use padir_kernels::packed::single::Single;
use padir_kernels::packed::{Finish, Isa, Packed, Threads, Tools, row};

use crate::error::EngineError;
use crate::weights::{DecoderBlock, Loader};

/// The name of the position table.
pub(crate) const TABLE: &str = "decoder.position_embedding.weight";
/// Most bytes of attention weights that are kept.
const KEPT: usize = 64 << 20;

/// The attention by position of one layer.
#[derive(Debug)]
pub(crate) struct Positional {
    /// What A is made of; the same for drafts.
    pub factors: Arc<Factors>,
    pub v: Packed,
    pub o: Packed,
}

/// Queries and keys of all positions in one layer.
#[derive(Debug)]
pub(crate) struct Factors {
    /// One row per position.
    pub queries: Vec<f32>,
    /// Keys, packed.
    pub panels: Vec<f32>,
}

/// The names of a layer and of its matrices.
fn names(block: usize) -> (String, impl Fn(&str) -> String) {
    let layer = format!("decoder.block.{block}.positional");
    let attention = format!("{layer}.PositionalAttention");
    (layer, move |part: &str| format!("{attention}.{part}.weight"))
}

impl Positional {
    pub(crate) fn load(
        loader: &Loader<'_>,
        block: usize,
        factors: Arc<Factors>,
    ) -> Result<Self, EngineError> {
        let (d, inner) = (loader.config().d_model, loader.config().inner_width());
        let (_, part) = names(block);
        let (v, o) = (loader.pack(&[part("v")], d)?, loader.pack(&[part("o")], inner)?);
        Ok(Self { factors, v, o })
    }

    /// Without what is shared.
    pub(crate) fn bytes(&self) -> usize {
        self.v.bytes() + self.o.bytes()
    }
}

impl Factors {
    pub(crate) fn load(loader: &Loader<'_>, block: usize) -> Result<Self, EngineError> {
        let config = loader.config();
        let (d, inner) = (config.d_model, config.inner_width());
        let (layer, part) = names(block);
        let table = loader.numbers(TABLE)?;
        let positions = table.len() / d;
        let mut tools = Tools::new(Threads::default());
        let mut normed = vec![0.0; table.len()];
        let scale = loader.numbers(&format!("{layer}.layer_norm.weight"))?;
        let epsilon = config.layer_norm_epsilon as f32;
        row::normalise(&tools.threads, &mut normed, &table, &scale, epsilon);
        let mut project = |name: &str| -> Result<Vec<f32>, EngineError> {
            let weight = loader.rounded(&part(name), d)?;
            let weight = Packed::Single(Single::pack(loader.isa, &[&weight], d));
            let mut out = vec![0.0; positions * inner];
            weight.product(&mut tools, &normed, 0..inner, &mut out, inner, Finish::Store);
            Ok(out)
        };
        let (queries, keys) = (project("q")?, project("k")?);
        let (heads, width) = (config.num_heads, config.d_kv);
        let mut panels = vec![0.0; attention::packed_len(heads, width, positions)];
        attention::pack_keys(&mut panels, &keys, inner, positions, heads, width);
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
    pub heads: usize,
    pub width: usize,
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
        let Sizes { isa, heads, width, longest } = sizes;
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
