//! The weights of a model, packed.
//!
//! What is 8 bits wide in [`Precision::Int8`]: all linear layers and the table of tokens, which is read from its packed rows
//! both as embedding and as output, so that it is kept once. What stays f32: norms, biases by position, learned positions, the attention by position (computed at
//! loading from the rounded weights), the length predictor, whose answer decides a whole sentence, and the rejecter.
//!
//! A parallel decoder in f32 has its layers in 8 bits as well, for drafts.

use std::borrow::Cow;
use std::sync::Arc;

use padir_base::byte::Scale;
use padir_checkpoint::{Checkpoint, ModelConfig};
use padir_kernels::attention::position::Buckets;
use padir_kernels::packed::byte::{self, Byte};
use padir_kernels::packed::screened::Screened;
use padir_kernels::packed::single::Single;
use padir_kernels::packed::{Isa, Packed};

use crate::bias::Distances;
use crate::error::EngineError;
use crate::positional::{Factors, Positional};
use crate::{Precision, positional};

/// Tokens from which on the best are [searched](padir_kernels::packed::best::screen) in 8 bits first, in f32 too.
const MANY: usize = 1024;

/// Attention over the row itself.
#[derive(Debug)]
pub(crate) struct OwnAttention {
    pub norm: Vec<f32>,
    /// Queries, keys and values, one below the other.
    pub qkv: Packed,
    pub o: Packed,
}

/// Attention over the encoded source, whose keys and values are computed when it is encoded.
#[derive(Debug)]
pub(crate) struct MemoryAttention {
    pub norm: Vec<f32>,
    pub q: Packed,
    pub o: Packed,
}

#[derive(Debug)]
pub(crate) struct FeedForward {
    pub norm: Vec<f32>,
    pub inner: Packed,
    pub outer: Packed,
}

#[derive(Debug)]
pub(crate) struct EncoderBlock {
    pub own: OwnAttention,
    pub feed: FeedForward,
}

#[derive(Debug)]
pub(crate) struct DecoderBlock {
    pub own: OwnAttention,
    pub positional: Option<Positional>,
    pub memory: MemoryAttention,
    pub feed: FeedForward,
}

/// A stack of blocks with what they share.
#[derive(Debug)]
pub(crate) struct Stack<B> {
    pub blocks: Vec<B>,
    pub bias: Distances,
    pub norm: Vec<f32>,
}

/// All weights.
#[derive(Debug)]
pub(crate) struct Weights {
    /// One row per token.
    pub table: Packed,
    /// The output layer, unless it is the table.
    pub head: Option<Packed>,
    pub encoder: Stack<EncoderBlock>,
    pub decoder: Stack<DecoderBlock>,
    /// What makes keys and values, one below the other, of encoded sources, for each layer of the decoder.
    pub memory: Vec<Packed>,
    /// The layers of a parallel decoder in 8 bits, if they are f32: drafts are computed with them.
    pub drafts: Option<Vec<DecoderBlock>>,
    /// What is added to the embeddings of a target, position after position.
    pub learned: Option<Vec<f32>>,
    /// Of the length predictor, always f32.
    pub length: Option<Packed>,
    pub length_bias: f32,
    /// Wrong and right, if the model has learnt to tell; always f32.
    pub rejecter: Option<Packed>,
}

/// Reads weights and packs them.
pub(crate) struct Loader<'a> {
    pub checkpoint: &'a Checkpoint,
    pub precision: Precision,
    pub isa: Isa,
}

impl Loader<'_> {
    pub(crate) fn weights(&self) -> Result<Weights, EngineError> {
        let config = self.config();
        self.check_widths()?;
        let d = config.d_model;
        let parallel = config.parallel();
        let learned = parallel.is_some_and(|parallel| parallel.learned_positions);
        let foretold = parallel.is_some_and(|p| p.length.classes().is_some());
        let affine =
            parallel.is_some_and(|p| p.length == padir_checkpoint::LengthPredictor::Affine);
        let tied = config.tie_word_embeddings;
        let decoder = self.decoder()?;
        let drafts = self.drafts(&decoder.blocks)?;
        Ok(Weights {
            table: if tied {
                self.output("shared.weight")?
            } else {
                self.pack(&["shared.weight".to_owned()], d)?
            },
            head: if tied { None } else { Some(self.output("lm_head.weight")?) },
            encoder: self.encoder()?,
            decoder,
            memory: (0..config.num_decoder_layers)
                .map(|i| self.sources(i))
                .collect::<Result<_, _>>()?,
            drafts,
            learned: if learned { Some(self.vector(positional::TABLE)?) } else { None },
            length: if foretold {
                let table = self.numbers("length_predictor.weight")?;
                Some(Packed::Single(Single::pack(self.isa, &[&table], d)))
            } else if affine {
                let factor = self.numbers("length_predictor.weight")?;
                Some(Packed::Single(Single::pack(self.isa, &[&factor], 1)))
            } else {
                None
            },
            length_bias: if affine { self.numbers("length_predictor.bias")?[0] } else { 0.0 },
            rejecter: if parallel.is_some_and(|parallel| parallel.rejecter) {
                let table = self.numbers("rejecter.weight")?;
                Some(Packed::Single(Single::pack(self.isa, &[&table], d)))
            } else {
                None
            },
        })
    }

    pub(crate) fn config(&self) -> &ModelConfig {
        self.checkpoint.config()
    }

    /// Sums of bytes have a limit.
    fn check_widths(&self) -> Result<(), EngineError> {
        let config = self.config();
        let width = config.d_model.max(config.d_ff).max(config.inner_width());
        if self.precision == Precision::Int8 && width > byte::MAX_INPUTS {
            return Err(EngineError::TooWide { width, limit: byte::MAX_INPUTS });
        }
        Ok(())
    }

    fn encoder(&self) -> Result<Stack<EncoderBlock>, EngineError> {
        let block = |i: usize| {
            let block = format!("encoder.block.{i}.layer");
            Ok(EncoderBlock {
                own: self.own(&format!("{block}.0"))?,
                feed: self.feed(&format!("{block}.1"))?,
            })
        };
        let blocks: Result<_, EngineError> = (0..self.config().num_layers).map(block).collect();
        self.stack("encoder", blocks?, true)
    }

    fn decoder(&self) -> Result<Stack<DecoderBlock>, EngineError> {
        let parallel = self.config().parallel();
        let positional = parallel.is_some_and(|parallel| parallel.positional_attention);
        let block = |i: usize| {
            let by_position = if positional { Some(Factors::load(self, i)?) } else { None };
            self.decoder_block(i, by_position.map(Arc::new))
        };
        let count = self.config().num_decoder_layers;
        let blocks: Result<_, EngineError> = (0..count).map(block).collect();
        self.stack("decoder", blocks?, parallel.is_some())
    }

    /// The same layers in 8 bits, where drafts can be asked for. What depends on positions alone is shared.
    fn drafts(&self, exact: &[DecoderBlock]) -> Result<Option<Vec<DecoderBlock>>, EngineError> {
        let coarse = Loader { precision: Precision::Int8, ..*self };
        let parallel = self.config().parallel().is_some();
        if self.precision == Precision::Int8 || !parallel || coarse.check_widths().is_err() {
            return Ok(None);
        }
        let block = |(i, exact): (usize, &DecoderBlock)| {
            let factors = exact.positional.as_ref().map(|layer| Arc::clone(&layer.factors));
            coarse.decoder_block(i, factors)
        };
        exact.iter().enumerate().map(block).collect::<Result<_, _>>().map(Some)
    }

    fn decoder_block(
        &self,
        i: usize,
        by_position: Option<Arc<Factors>>,
    ) -> Result<DecoderBlock, EngineError> {
        let block = format!("decoder.block.{i}.layer");
        Ok(DecoderBlock {
            own: self.own(&format!("{block}.0"))?,
            positional: by_position.map(|f| Positional::load(self, i, f)).transpose()?,
            memory: self.memory(&format!("{block}.1"))?,
            feed: self.feed(&format!("{block}.2"))?,
        })
    }

    fn stack<B>(
        &self,
        name: &str,
        blocks: Vec<B>,
        both_ways: bool,
    ) -> Result<Stack<B>, EngineError> {
        let config = self.config();
        let buckets = Buckets {
            count: config.relative_bias.num_buckets,
            most: config.relative_bias.max_distance,
            both_ways,
        };
        let table = format!("{name}.block.0.layer.0.SelfAttention.relative_attention_bias.weight");
        let bias = Distances::new(self.vector(&table)?, config.num_heads, buckets);
        Ok(Stack { blocks, bias, norm: self.vector(&format!("{name}.final_layer_norm.weight"))? })
    }

    fn own(&self, layer: &str) -> Result<OwnAttention, EngineError> {
        let part = |part: &str| format!("{layer}.SelfAttention.{part}.weight");
        let (d, inner) = (self.config().d_model, self.config().inner_width());
        Ok(OwnAttention {
            norm: self.vector(&format!("{layer}.layer_norm.weight"))?,
            qkv: self.pack(&[part("q"), part("k"), part("v")], d)?,
            o: self.pack(&[part("o")], inner)?,
        })
    }

    fn memory(&self, layer: &str) -> Result<MemoryAttention, EngineError> {
        let part = |part: &str| format!("{layer}.EncDecAttention.{part}.weight");
        let (d, inner) = (self.config().d_model, self.config().inner_width());
        Ok(MemoryAttention {
            norm: self.vector(&format!("{layer}.layer_norm.weight"))?,
            q: self.pack(&[part("q")], d)?,
            o: self.pack(&[part("o")], inner)?,
        })
    }

    /// Keys and values of encoded sources, as a layer of the decoder reads them.
    fn sources(&self, layer: usize) -> Result<Packed, EngineError> {
        let part =
            |part: &str| format!("decoder.block.{layer}.layer.1.EncDecAttention.{part}.weight");
        self.pack(&[part("k"), part("v")], self.config().d_model)
    }

    fn feed(&self, layer: &str) -> Result<FeedForward, EngineError> {
        let part = |part: &str| format!("{layer}.DenseReluDense.{part}.weight");
        let config = self.config();
        Ok(FeedForward {
            norm: self.vector(&format!("{layer}.layer_norm.weight"))?,
            inner: self.pack(&[part("wi")], config.d_model)?,
            outer: self.pack(&[part("wo")], config.d_ff)?,
        })
    }

    /// Matrices of `inputs` columns, one below the other.
    pub(crate) fn pack(&self, names: &[String], inputs: usize) -> Result<Packed, EngineError> {
        let tensors: Result<Vec<_>, _> = names.iter().map(|name| self.numbers(name)).collect();
        let tensors = tensors?;
        let parts: Vec<&[f32]> = tensors.iter().map(|tensor| &**tensor).collect();
        Ok(match self.precision {
            Precision::F32 => Packed::Single(Single::pack(self.isa, &parts, inputs)),
            Precision::Int8 => Packed::Byte(Byte::pack(self.isa, &parts, inputs)),
        })
    }

    /// The matrix of the output layer: one row per token.
    fn output(&self, name: &str) -> Result<Packed, EngineError> {
        let config = self.config();
        let (d, tokens) = (config.d_model, config.symbols.vocab_size);
        if self.precision == Precision::F32 && tokens >= MANY && d <= byte::MAX_INPUTS {
            let table = self.numbers(name)?;
            return Ok(Packed::Screened(Screened::pack(self.isa, &[&table], d)));
        }
        self.pack(&[name.to_owned()], d)
    }

    /// A matrix as the precision keeps it, for products in f32: so that a model that was quantised on disk is the same.
    pub(crate) fn rounded(
        &self,
        name: &str,
        columns: usize,
    ) -> Result<Cow<'_, [f32]>, EngineError> {
        let mut numbers = self.numbers(name)?;
        if self.precision == Precision::Int8 {
            for row in numbers.to_mut().chunks_exact_mut(columns) {
                let scale = Scale::of(row);
                for x in row {
                    *x = f32::from(scale.quantise(*x)) * scale.step;
                }
            }
        }
        Ok(numbers)
    }

    pub(crate) fn vector(&self, name: &str) -> Result<Vec<f32>, EngineError> {
        Ok(self.numbers(name)?.into_owned())
    }

    pub(crate) fn numbers(&self, name: &str) -> Result<Cow<'_, [f32]>, EngineError> {
        Ok(self.checkpoint.tensor(name)?)
    }
}

impl Weights {
    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let feed = |feed: &FeedForward| feed.inner.bytes() + feed.outer.bytes();
        let own = |own: &OwnAttention| own.qkv.bytes() + own.o.bytes();
        let encoder = self.encoder.blocks.iter().map(|b| own(&b.own) + feed(&b.feed));
        let drafts = self.drafts.iter().flatten();
        let decoder = self.decoder.blocks.iter().chain(drafts).map(|b| {
            let memory = b.memory.q.bytes() + b.memory.o.bytes();
            own(&b.own)
                + memory
                + feed(&b.feed)
                + b.positional.as_ref().map_or(0, Positional::bytes)
        });
        let positions = self.decoder.blocks.iter().filter_map(|b| b.positional.as_ref());
        let factors: usize = positions.map(|layer| layer.factors.bytes()).sum();
        let others = [&self.head, &self.length, &self.rejecter];
        let others = others.into_iter().flatten().chain(&self.memory);
        let others = others.map(Packed::bytes);
        let learned = self.learned.as_ref().map_or(0, |table| 4 * table.len());
        self.table.bytes() + learned + factors + others.chain(encoder).chain(decoder).sum::<usize>()
    }
}
