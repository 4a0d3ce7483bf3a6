//! Reading the weights that a description names, and packing them.

use std::borrow::Cow;
use std::sync::Arc;

use padir_base::byte::Scale;
use padir_checkpoint::layers::{
    self, Activation as Named, Feature, LengthHead, NormKind, Positions, Sublayer, Unsupported,
    Wiring,
};
use padir_checkpoint::{Checkpoint, Parameter};
use padir_kernels::attention::position::Buckets;
use padir_kernels::packed::activation::Activation;
use padir_kernels::packed::byte::{self, Byte};
use padir_kernels::packed::screened::Screened;
use padir_kernels::packed::single::Single;
use padir_kernels::packed::{Isa, Packed};

use crate::Precision;
use crate::bias::Distances;
use crate::error::EngineError;
use crate::length_pool::LengthPool;
use crate::positional::{Factors, Positional};
use crate::weights::{
    CrossAttention, CrossKeysValues, DecoderBlock, EncoderBlock, FeedForward, Heads, Linear, Norm,
    SelfAttention, Stack, Weights,
};

/// Tokens from which on the best are [searched](padir_kernels::packed::best::screen) in int8 first, in f32 too.
const MANY: usize = 1024;

/// Reads weights and packs them.
#[derive(Clone, Copy)]
pub(crate) struct Loader<'a> {
    pub checkpoint: &'a Checkpoint,
    pub layers: &'a layers::Network,
    pub precision: Precision,
    pub isa: Isa,
}

/// The sublayers of a decoder's block.
struct DecoderParts<'a> {
    self_attn: &'a layers::Attention,
    positional: Option<&'a layers::Attention>,
    cross_attn: &'a layers::Attention,
    ffn: &'a layers::FeedForward,
}

impl<'a> Loader<'a> {
    pub(crate) fn weights(&self) -> Result<Weights, EngineError> {
        let network = self.layers;
        network.check_translator()?;
        self.check_widths()?;
        let refuse = |feature| Unsupported { part: "model", feature };
        let decoder = network.decoder.as_ref().ok_or_else(|| refuse(Feature::NoDecoder))?;
        let output = network.output.as_ref().ok_or_else(|| refuse(Feature::NoOutput))?;
        let (source, target) = (&network.embeddings.tokens, &decoder.embeddings.tokens);
        let stack = self.decoder(&decoder.stack)?;
        let int8_blocks = self.int8_blocks(&decoder.stack, &stack.blocks)?;
        let optional = |table: Option<&Parameter>| table.map(|table| self.table(table)).transpose();
        let (length, length_bias) = self.length()?;
        let length_pool = match &network.heads.length {
            Some(LengthHead::Pooled(layout)) => Some(LengthPool::load(self, layout)?),
            _ => None,
        };
        Ok(Weights {
            tokens: self.table(source)?,
            target_tokens: optional(Some(target).filter(|t| t.name != source.name))?,
            output: optional(
                Some(&output.table).filter(|o| ![&source.name, &target.name].contains(&&o.name)),
            )?,
            output_bias: self.optional_vector(output.bias.as_ref())?,
            encoder: self.encoder()?,
            decoder: stack,
            cross_kv: self.cross_kv(&decoder.stack)?,
            int8_blocks,
            learned: match &decoder.embeddings.positions {
                Positions::Learned(table) => Some(self.vector(table)?),
                Positions::None | Positions::Sinusoidal { .. } => None,
            },
            length,
            length_bias,
            length_pool,
            confidence: match &network.heads.confidence {
                Some(table) => Some(self.single(table, table.shape[1])?),
                None => None,
            },
        })
    }

    /// Sums of bytes have a limit.
    fn check_widths(&self) -> Result<(), EngineError> {
        let matrices = self.layers.parameters().into_iter().filter(|parameter| parameter.int8);
        let width = matrices.map(|matrix| matrix.shape[1]).max().unwrap_or(0);
        if self.precision == Precision::Int8 && width > byte::MAX_INPUTS {
            return Err(EngineError::TooWide { width, limit: byte::MAX_INPUTS });
        }
        Ok(())
    }

    fn encoder(&self) -> Result<Stack<EncoderBlock>, EngineError> {
        let stack = &self.layers.encoder;
        let block = |block: &layers::Block| match &block.sublayers[..] {
            [Sublayer::Attention(self_attn), Sublayer::FeedForward(ffn)] => {
                Ok(EncoderBlock { self_attn: self.self_attn(self_attn)?, ffn: self.ffn(ffn)? })
            }
            _ => Err(Unsupported { part: "encoder", feature: Feature::BlockOrder }.into()),
        };
        let blocks: Result<_, EngineError> = stack.blocks.iter().map(block).collect();
        self.stack(stack, blocks?)
    }

    fn decoder(&self, stack: &layers::Stack) -> Result<Stack<DecoderBlock>, EngineError> {
        let block = |block: &layers::Block| {
            let parts = DecoderParts::of(block)?;
            let factors = parts
                .positional
                .zip(stack.position_table.as_ref())
                .map(|(layer, table)| Factors::load(self, layer, table).map(Arc::new));
            self.decoder_block(&parts, factors.transpose()?)
        };
        let blocks: Result<_, EngineError> = stack.blocks.iter().map(block).collect();
        self.stack(stack, blocks?)
    }

    /// The same layers in int8, where low-precision steps can be asked for. What depends on positions alone is shared.
    fn int8_blocks(
        &self,
        stack: &layers::Stack,
        exact: &[DecoderBlock],
    ) -> Result<Option<Vec<DecoderBlock>>, EngineError> {
        let coarse = Loader { precision: Precision::Int8, ..*self };
        let parallel = self.checkpoint.config().parallel().is_some();
        if self.precision == Precision::Int8 || !parallel || coarse.check_widths().is_err() {
            return Ok(None);
        }
        let block = |(block, exact): (&layers::Block, &DecoderBlock)| {
            let factors = exact.positional.as_ref().map(|layer| Arc::clone(&layer.factors));
            coarse.decoder_block(&DecoderParts::of(block)?, factors)
        };
        stack.blocks.iter().zip(exact).map(block).collect::<Result<_, _>>().map(Some)
    }

    fn decoder_block(
        &self,
        parts: &DecoderParts<'_>,
        factors: Option<Arc<Factors>>,
    ) -> Result<DecoderBlock, EngineError> {
        let positional = parts.positional.zip(factors);
        Ok(DecoderBlock {
            self_attn: self.self_attn(parts.self_attn)?,
            positional: positional
                .map(|(layer, factors)| Positional::load(self, layer, factors))
                .transpose()?,
            cross_attn: self.cross_attn(parts.cross_attn)?,
            ffn: self.ffn(parts.ffn)?,
        })
    }

    fn stack<B>(&self, stack: &layers::Stack, blocks: Vec<B>) -> Result<Stack<B>, EngineError> {
        let relative_bias = match &stack.relative_bias {
            Some(relative) => {
                let buckets = Buckets {
                    count: relative.buckets.num_buckets,
                    most: relative.buckets.max_distance,
                    both_ways: relative.bidirectional,
                };
                let heads = relative.table.shape[1];
                Some(Distances::new(self.vector(&relative.table)?, heads, buckets))
            }
            None => None,
        };
        let final_norm = stack.final_norm.as_ref().map(|norm| self.norm(norm)).transpose()?;
        Ok(Stack { blocks, relative_bias, final_norm })
    }

    fn self_attn(&self, layer: &layers::Attention) -> Result<SelfAttention, EngineError> {
        Ok(SelfAttention {
            norm: self.norm(&layer.norm)?,
            place: layer.place,
            heads: heads(layer),
            relative_bias: layer.relative_bias,
            qkv: self.linear(&[(&layer.q, layer.score_scale), (&layer.k, 1.0), (&layer.v, 1.0)])?,
            o: self.linear(&[(&layer.o, 1.0)])?,
        })
    }

    fn cross_attn(&self, layer: &layers::Attention) -> Result<CrossAttention, EngineError> {
        Ok(CrossAttention {
            norm: self.norm(&layer.norm)?,
            place: layer.place,
            heads: heads(layer),
            q: self.linear(&[(&layer.q, layer.score_scale)])?,
            o: self.linear(&[(&layer.o, 1.0)])?,
        })
    }

    fn cross_kv(&self, stack: &layers::Stack) -> Result<Vec<CrossKeysValues>, EngineError> {
        let block = |block: &layers::Block| {
            let layer = DecoderParts::of(block)?.cross_attn;
            let kv = self.linear(&[(&layer.k, 1.0), (&layer.v, 1.0)])?;
            Ok(CrossKeysValues { heads: heads(layer), kv })
        };
        stack.blocks.iter().map(block).collect()
    }

    fn ffn(&self, layer: &layers::FeedForward) -> Result<FeedForward, EngineError> {
        Ok(FeedForward {
            norm: self.norm(&layer.norm)?,
            place: layer.place,
            inner: self.linear(&[(&layer.inner, 1.0)])?,
            outer: self.linear(&[(&layer.outer, 1.0)])?,
            activation: match layer.activation {
                Named::Relu => Activation::Relu,
                Named::Gelu => Activation::Gelu,
                Named::GeluTanh => Activation::GeluTanh,
                Named::Swish => Activation::Swish,
            },
        })
    }

    pub(crate) fn norm(&self, norm: &layers::Norm) -> Result<Norm, EngineError> {
        let scale = self.vector(&norm.weight)?;
        let mut bias = self.optional_vector(norm.bias.as_ref())?;
        if norm.kind == NormKind::Layer {
            bias.resize(scale.len(), 0.0);
        }
        Ok(Norm { kind: norm.kind, scale, bias, epsilon: norm.epsilon as f32 })
    }

    fn length(&self) -> Result<(Option<Packed>, f32), EngineError> {
        Ok(match &self.layers.heads.length {
            Some(LengthHead::Classes(table)) => (Some(self.single(table, table.shape[1])?), 0.0),
            Some(LengthHead::Affine { weight, bias }) => {
                (Some(self.single(weight, 1)?), self.numbers(bias)?[0])
            }
            Some(LengthHead::Pooled(_)) | None => (None, 0.0),
        })
    }

    /// Linear layers of the same input, one below the other, each multiplied by a number.
    pub(crate) fn linear(&self, parts: &[(&layers::Linear, f32)]) -> Result<Linear, EngineError> {
        let scaled = |(part, scale): &(&layers::Linear, f32)| -> Result<_, EngineError> {
            Ok(times(self.numbers(&part.weight)?, *scale))
        };
        let tensors: Vec<Cow<'_, [f32]>> = parts.iter().map(scaled).collect::<Result<_, _>>()?;
        let inputs = parts.first().map_or(1, |(part, _)| part.inputs());
        let mut bias = Vec::new();
        if parts.iter().any(|(part, _)| part.bias.is_some()) {
            for (part, scale) in parts {
                let end = bias.len() + part.outputs();
                if let Some(own) = &part.bias {
                    bias.extend_from_slice(&times(self.numbers(own)?, *scale));
                }
                bias.resize(end, 0.0);
            }
        }
        Ok(Linear { weight: self.pack(&tensors, inputs), bias })
    }

    fn pack(&self, tensors: &[Cow<'_, [f32]>], inputs: usize) -> Packed {
        let parts: Vec<&[f32]> = tensors.iter().map(|tensor| &**tensor).collect();
        match self.precision {
            Precision::F32 => Packed::Single(Single::pack(self.isa, &parts, inputs)),
            Precision::Int8 => Packed::Byte(Byte::pack(self.isa, &parts, inputs)),
        }
    }

    /// A table of tokens; one that is the output layer can be searched.
    fn table(&self, table: &Parameter) -> Result<Packed, EngineError> {
        let (tokens, d) = (table.shape[0], table.shape[1]);
        let numbers = self.numbers(table)?;
        let output = self.layers.output.as_ref().is_some_and(|o| o.table.name == table.name);
        let screened = self.precision == Precision::F32 && output && tokens >= MANY;
        if screened && d <= byte::MAX_INPUTS {
            return Ok(Packed::Screened(Screened::pack(self.isa, &[&numbers], d)));
        }
        Ok(self.pack(&[numbers], d))
    }

    /// A matrix that is always f32.
    pub(crate) fn single(&self, matrix: &Parameter, inputs: usize) -> Result<Packed, EngineError> {
        let numbers = self.numbers(matrix)?;
        Ok(Packed::Single(Single::pack(self.isa, &[&numbers], inputs)))
    }

    /// A matrix as the precision keeps it, for products in f32: so that a model that was quantised on disk is the same.
    pub(crate) fn rounded(&self, matrix: &Parameter) -> Result<Cow<'a, [f32]>, EngineError> {
        let mut numbers = self.numbers(matrix)?;
        if self.precision == Precision::Int8 {
            for row in numbers.to_mut().chunks_exact_mut(matrix.shape[1]) {
                let scale = Scale::of(row);
                for x in row {
                    *x = f32::from(scale.quantise(*x)) * scale.step;
                }
            }
        }
        Ok(numbers)
    }

    fn vector(&self, vector: &Parameter) -> Result<Vec<f32>, EngineError> {
        Ok(self.numbers(vector)?.into_owned())
    }

    /// Empty if there is none.
    pub(crate) fn optional_vector(
        &self,
        vector: Option<&Parameter>,
    ) -> Result<Vec<f32>, EngineError> {
        vector.map_or(Ok(Vec::new()), |vector| self.vector(vector))
    }

    pub(crate) fn numbers(&self, parameter: &Parameter) -> Result<Cow<'a, [f32]>, EngineError> {
        Ok(self.checkpoint.tensor(&parameter.name)?)
    }
}

impl<'a> DecoderParts<'a> {
    fn of(block: &'a layers::Block) -> Result<Self, EngineError> {
        use Sublayer::{Attention, FeedForward};
        let (self_attn, positional, cross_attn, ffn) = match &block.sublayers[..] {
            [Attention(own), Attention(cross), FeedForward(ffn)] => (own, None, cross, ffn),
            [Attention(own), Attention(positional), Attention(cross), FeedForward(ffn)]
                if positional.wiring() == Some(Wiring::Positional) =>
            {
                (own, Some(positional), cross, ffn)
            }
            _ => return Err(Unsupported { part: "decoder", feature: Feature::BlockOrder }.into()),
        };
        Ok(Self { self_attn, positional, cross_attn, ffn })
    }
}

/// The heads of an attention.
pub(crate) fn heads(layer: &layers::Attention) -> Heads {
    Heads { count: layer.heads, width: layer.inner_width() / layer.heads.max(1) }
}

/// Numbers multiplied by another.
fn times(mut numbers: Cow<'_, [f32]>, scale: f32) -> Cow<'_, [f32]> {
    #[expect(clippy::float_cmp, reason = "a constant of the description")]
    if scale != 1.0 {
        numbers.to_mut().iter_mut().for_each(|x| *x *= scale);
    }
    numbers
}
