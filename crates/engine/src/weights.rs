//! The weights of a model, packed.
//!
//! What is int8 in [`Precision::Int8`](crate::Precision::Int8): all linear layers and the tables of tokens, which are read from their packed
//! rows both as embedding and as output, so that a tied table is kept once. What stays f32: norms, all biases, learned positions, the
//! attention by position (computed at loading from the rounded weights), the length predictor, whose answer decides a whole sentence, and
//! the confidence head.
//!
//! A parallel decoder in f32 has its layers in int8 as well, for low-precision steps.

use std::ops::Range;

use padir_checkpoint::layers::{NormKind, NormPlace};
use padir_kernels::packed::activation::Activation;
use padir_kernels::packed::{Finish, Packed, Threads, Tools, grow, row};

use crate::bias::Distances;
use crate::length_pool::LengthPool;
use crate::positional::Positional;

/// A norm.
#[derive(Debug)]
pub(crate) struct Norm {
    pub kind: NormKind,
    pub scale: Vec<f32>,
    /// Empty if there is none.
    pub bias: Vec<f32>,
    pub epsilon: f32,
}

/// y = W·x + b.
#[derive(Debug)]
pub(crate) struct Linear {
    pub weight: Packed,
    /// Empty if there is none.
    pub bias: Vec<f32>,
}

/// The heads of an attention.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads {
    pub count: usize,
    pub width: usize,
}

/// Attention over the row itself. The scale of the scores is part of the queries.
#[derive(Debug)]
pub(crate) struct SelfAttention {
    pub norm: Norm,
    pub place: NormPlace,
    pub heads: Heads,
    /// Whether the relative position bias of the stack is added.
    pub relative_bias: bool,
    /// Queries, keys and values, one below the other.
    pub qkv: Linear,
    pub o: Linear,
}

/// Attention over the encoder's output, whose keys and values are computed when a source is encoded.
#[derive(Debug)]
pub(crate) struct CrossAttention {
    pub norm: Norm,
    pub place: NormPlace,
    pub heads: Heads,
    pub q: Linear,
    pub o: Linear,
}

/// What makes keys and values, one below the other, of the encoder's output, for a layer of the decoder.
#[derive(Debug)]
pub(crate) struct CrossKeysValues {
    pub heads: Heads,
    pub kv: Linear,
}

#[derive(Debug)]
pub(crate) struct FeedForward {
    pub norm: Norm,
    pub place: NormPlace,
    pub inner: Linear,
    pub outer: Linear,
    pub activation: Activation,
}

#[derive(Debug)]
pub(crate) struct EncoderBlock {
    pub self_attn: SelfAttention,
    pub ffn: FeedForward,
}

#[derive(Debug)]
pub(crate) struct DecoderBlock {
    pub self_attn: SelfAttention,
    pub positional: Option<Positional>,
    pub cross_attn: CrossAttention,
    pub ffn: FeedForward,
}

/// A stack of blocks with what they share.
#[derive(Debug)]
pub(crate) struct Stack<B> {
    pub blocks: Vec<B>,
    pub relative_bias: Option<Distances>,
    pub final_norm: Option<Norm>,
}

/// All weights.
#[derive(Debug)]
pub(crate) struct Weights {
    /// One row per token of the source.
    pub tokens: Packed,
    /// One row per token of the target, unless the source's are its, too.
    pub target_tokens: Option<Packed>,
    /// The output layer, unless it is the table of the target's tokens.
    pub output: Option<Packed>,
    /// One number per token, or none.
    pub output_bias: Vec<f32>,
    pub encoder: Stack<EncoderBlock>,
    pub decoder: Stack<DecoderBlock>,
    /// Of each layer of the decoder.
    pub cross_kv: Vec<CrossKeysValues>,
    /// The layers of a parallel decoder in int8, if they are f32: low-precision steps are computed with them.
    pub int8_blocks: Option<Vec<DecoderBlock>>,
    /// What is added to the embeddings of a target, position after position.
    pub learned: Option<Vec<f32>>,
    /// Of the length predictor, always f32.
    pub length: Option<Packed>,
    pub length_bias: f32,
    /// The pooled length predictor, always f32.
    pub length_pool: Option<LengthPool>,
    /// Wrong and right, if the model has learnt to tell; always f32.
    pub confidence: Option<Packed>,
}

impl Norm {
    /// out ← n(x).
    pub(crate) fn apply(&self, threads: &Threads, out: &mut [f32], x: &[f32]) {
        match self.kind {
            NormKind::Rms => {
                row::normalise(threads, out, x, &self.scale, self.epsilon);
                if !self.bias.is_empty() {
                    row::add(threads, out, &self.bias);
                }
            }
            NormKind::Layer => {
                out.copy_from_slice(x);
                row::layer_normalise(threads, out, &self.scale, &self.bias, self.epsilon);
            }
        }
    }

    /// x ← n(x).
    pub(crate) fn apply_in_place(&self, threads: &Threads, spare: &mut Vec<f32>, x: &mut [f32]) {
        match self.kind {
            NormKind::Layer => {
                row::layer_normalise(threads, x, &self.scale, &self.bias, self.epsilon);
            }
            NormKind::Rms => {
                let out = grow(spare, x.len());
                self.apply(threads, out, x);
                x.copy_from_slice(out);
            }
        }
    }
}

impl Linear {
    /// k.
    pub(crate) fn inputs(&self) -> usize {
        self.weight.inputs()
    }

    /// n.
    pub(crate) fn outputs(&self) -> usize {
        self.weight.outputs()
    }

    /// out ← some columns of x·Wᵀ + b, row after row.
    pub(crate) fn product(
        &self,
        tools: &mut Tools,
        x: &[f32],
        columns: Range<usize>,
        out: &mut [f32],
    ) {
        let stride = columns.len();
        self.weight.product(tools, x, columns.clone(), out, stride, Finish::Store);
        if !self.bias.is_empty() {
            let len = x.len() / self.inputs() * stride;
            row::add(&tools.threads, &mut out[..len], &self.bias[columns]);
        }
    }

    /// x ← x + y·Wᵀ + b.
    pub(crate) fn add_product(&self, tools: &mut Tools, y: &[f32], x: &mut [f32]) {
        let d = self.outputs();
        self.weight.product(tools, y, 0..d, x, d, Finish::Add);
        if !self.bias.is_empty() {
            row::add(&tools.threads, x, &self.bias);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.weight.bytes() + 4 * self.bias.len()
    }
}

impl SelfAttention {
    fn bytes(&self) -> usize {
        self.qkv.bytes() + self.o.bytes()
    }
}

impl FeedForward {
    fn bytes(&self) -> usize {
        self.inner.bytes() + self.outer.bytes()
    }
}

impl DecoderBlock {
    fn bytes(&self) -> usize {
        let cross_attn = self.cross_attn.q.bytes() + self.cross_attn.o.bytes();
        let positional = self.positional.as_ref().map_or(0, Positional::bytes);
        self.self_attn.bytes() + cross_attn + self.ffn.bytes() + positional
    }
}

impl Weights {
    /// The table of the target's tokens.
    pub(crate) fn target_tokens(&self) -> &Packed {
        self.target_tokens.as_ref().unwrap_or(&self.tokens)
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let encoder = self.encoder.blocks.iter().map(|b| b.self_attn.bytes() + b.ffn.bytes());
        let int8 = self.int8_blocks.iter().flatten();
        let decoder = self.decoder.blocks.iter().chain(int8).map(DecoderBlock::bytes);
        let positions = self.decoder.blocks.iter().filter_map(|b| b.positional.as_ref());
        let factors: usize = positions.map(|layer| layer.factors.bytes()).sum();
        let cross_kv = self.cross_kv.iter().map(|layer| layer.kv.bytes());
        let others = [&self.target_tokens, &self.output, &self.length, &self.confidence];
        let others = others.into_iter().flatten().map(Packed::bytes);
        let vectors = self.learned.as_ref().map_or(0, Vec::len) + self.output_bias.len();
        let pool = self.length_pool.as_ref().map_or(0, LengthPool::bytes);
        let layers: usize = encoder.chain(decoder).chain(cross_kv).chain(others).sum();
        self.tokens.bytes() + 4 * vectors + factors + pool + layers
    }
}
