//! What a translator computes of all that a description can say, and what not yet.
//!
//! | stack | sublayers of a block |
//! |---|---|
//! | encoder | self-attention, feed-forward |
//! | decoder | self-attention, positional attention or none, cross-attention, feed-forward |
//! | decoder of positions | attention of a query stream, cross-attention, feed-forward |

use std::fmt;

use thiserror::Error;

use super::{
    Attention, Block, Decoder, DecoderInput, Embeddings, Network, NormPlace, Positions, Source,
    Stack, Sublayer, Visibility,
};

/// How an attention is wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// Queries, keys and values from the residual stream.
    SelfAttention,
    /// Keys and values from the encoder's output.
    CrossAttention,
    /// Queries and keys from positions, values from the residual stream.
    Positional,
    /// Queries from the residual stream, keys and values from the embeddings of tokens (`DisCo`).
    QueryStream,
}

/// Something that a description can say and a translator cannot compute yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// An encoder alone.
    NoDecoder,
    /// A decoder without an output layer.
    NoOutput,
    /// Embeddings of segments.
    Segments,
    /// A norm of the embeddings.
    EmbeddingNorm,
    /// Embeddings that are narrower than the stream.
    FactorisedEmbeddings,
    /// A pooler or a classifier.
    Pooler,
    /// A decoder that reads positions alone.
    PositionInput,
    /// Visibility by query.
    PerQueryVisibility,
    /// An attention that is wired in none of the three ways.
    Wiring,
    /// An attention that sees other keys than usual: causal only in self-attention of the decoder, and there in all blocks or none.
    Visibility,
    /// An attention that reads a table of positions, or of relative positions, that the stack does not have.
    NoPositionTable,
    /// Attentions of one stack with different numbers or widths of heads.
    UnevenHeads,
    /// A block with other sublayers, or in another order.
    BlockOrder,
    /// Learned positions in the encoder, or others than the position table of the decoder.
    LearnedPositions,
}

/// A network that a translator cannot compute yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the {part} has {feature}, which is not supported yet")]
pub struct Unsupported {
    /// Which part of the network.
    pub part: &'static str,
    /// What it has.
    pub feature: Feature,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoDecoder => "no decoder",
            Self::NoOutput => "no output layer",
            Self::Segments => "segment embeddings",
            Self::EmbeddingNorm => "a norm of its embeddings",
            Self::FactorisedEmbeddings => "factorised embeddings",
            Self::Pooler => "a pooler or a classifier",
            Self::PositionInput => "positions alone as its input",
            Self::PerQueryVisibility => "an attention with visibility by query",
            Self::Wiring => "an attention with other queries, keys or values than self-, cross- and positional attention",
            Self::Visibility => "an attention with unusual visibility",
            Self::NoPositionTable => "an attention by position without a table of positions",
            Self::UnevenHeads => "attentions with different heads",
            Self::BlockOrder => "a block with other sublayers, or in another order",
            Self::LearnedPositions => "learned positions of its own",
        })
    }
}

impl Attention {
    /// How it is wired, if in one of the known ways.
    pub fn wiring(&self) -> Option<Wiring> {
        use Source::{Embeddings, EncoderOutput, Positions, Stream};
        let pre = self.place == NormPlace::Pre;
        let inputs = [self.queries, self.keys, self.values];
        let known = |from: [Source; 3], normed: [bool; 3]| {
            inputs.map(|input| input.from) == from && inputs.map(|input| input.normed) == normed
        };
        if known([Stream; 3], [pre; 3]) {
            Some(Wiring::SelfAttention)
        } else if !self.relative_bias
            && known([Stream, EncoderOutput, EncoderOutput], [pre, false, false])
        {
            Some(Wiring::CrossAttention)
        } else if pre
            && self.relative_bias
            && known([Positions, Positions, Stream], [true, true, false])
        {
            Some(Wiring::Positional)
        } else if pre && known([Stream, Embeddings, Embeddings], [true; 3]) {
            Some(Wiring::QueryStream)
        } else {
            None
        }
    }
}

impl Network {
    /// Whether a translator can compute it.
    ///
    /// # Errors
    /// The first thing that it cannot.
    pub fn check_translator(&self) -> Result<(), Unsupported> {
        let refuse = |part, feature| Err(Unsupported { part, feature });
        self.embeddings.check("encoder")?;
        if matches!(self.embeddings.positions, Positions::Learned(_)) {
            return refuse("encoder", Feature::LearnedPositions);
        }
        self.encoder.check("encoder", &[&[Some(Wiring::SelfAttention), None]])?;
        let Some(decoder) = &self.decoder else { return refuse("model", Feature::NoDecoder) };
        decoder.check()?;
        if self.output.is_none() {
            return refuse("decoder", Feature::NoOutput);
        }
        if self.heads.pooler.is_some() || self.heads.classifier.is_some() {
            return refuse("model", Feature::Pooler);
        }
        Ok(())
    }
}

impl Decoder {
    fn check(&self) -> Result<(), Unsupported> {
        use Wiring::{CrossAttention, Positional, QueryStream, SelfAttention};
        let refuse = |feature| Err(Unsupported { part: "decoder", feature });
        self.embeddings.check("decoder")?;
        if let Positions::Learned(table) = &self.embeddings.positions
            && self.stack.position_table.as_ref() != Some(table)
        {
            return refuse(Feature::LearnedPositions);
        }
        if self.input == DecoderInput::Positions {
            // A stream that read tokens would see what its queries may not.
            if !matches!(self.embeddings.positions, Positions::Learned(_)) {
                return refuse(Feature::PositionInput);
            }
            return self
                .stack
                .check("decoder", &[&[Some(QueryStream), Some(CrossAttention), None]]);
        }
        self.stack.check(
            "decoder",
            &[
                &[Some(SelfAttention), Some(CrossAttention), None],
                &[Some(SelfAttention), Some(Positional), Some(CrossAttention), None],
            ],
        )
    }
}

impl Embeddings {
    fn check(&self, part: &'static str) -> Result<(), Unsupported> {
        let features = [
            (self.segments.is_some(), Feature::Segments),
            (self.norm.is_some(), Feature::EmbeddingNorm),
            (self.projection.is_some(), Feature::FactorisedEmbeddings),
        ];
        match features.into_iter().find(|(has, _)| *has) {
            Some((_, feature)) => Err(Unsupported { part, feature }),
            None => Ok(()),
        }
    }
}

impl Stack {
    /// Whether self-attention is causal, by that of the first block.
    pub fn is_causal(&self) -> bool {
        let first = self.blocks.first().and_then(|block| block.sublayers.first());
        matches!(first, Some(Sublayer::Attention(first)) if first.visibility == Visibility::Causal)
    }

    fn refused(&self, attention: &Attention, causal: bool) -> Option<Feature> {
        let wiring = attention.wiring();
        if attention.visibility == Visibility::PerQuery && wiring != Some(Wiring::QueryStream) {
            return Some(Feature::PerQueryVisibility);
        }
        let Some(wiring) = wiring else { return Some(Feature::Wiring) };
        let usual = match wiring {
            Wiring::QueryStream => Visibility::PerQuery,
            Wiring::SelfAttention if causal => Visibility::Causal,
            _ => Visibility::All,
        };
        if attention.visibility != usual {
            return Some(Feature::Visibility);
        }
        let lacks_table = wiring == Wiring::Positional && self.position_table.is_none();
        let lacks_bias = attention.relative_bias && self.relative_bias.is_none();
        (lacks_table || lacks_bias).then_some(Feature::NoPositionTable)
    }

    /// All blocks are made in one of some ways: a sublayer is an attention of some wiring, or a feed-forward layer.
    fn check(&self, part: &'static str, ways: &[&[Option<Wiring>]]) -> Result<(), Unsupported> {
        let refuse = |feature| Err(Unsupported { part, feature });
        let causal = self.is_causal();
        for sublayer in self.sublayers() {
            let Sublayer::Attention(attention) = sublayer else { continue };
            if let Some(feature) = self.refused(attention, causal && part == "decoder") {
                return refuse(feature);
            }
        }
        let mut attentions = self.sublayers().filter_map(|sublayer| match sublayer {
            Sublayer::Attention(attention) => Some((attention.heads, attention.inner_width())),
            Sublayer::FeedForward(_) => None,
        });
        if let Some(first) = attentions.next()
            && attentions.any(|other| other != first)
        {
            return refuse(Feature::UnevenHeads);
        }
        let way = |block: &Block| -> Vec<Option<Wiring>> {
            let wiring = |sublayer: &Sublayer| match sublayer {
                Sublayer::Attention(attention) => attention.wiring(),
                Sublayer::FeedForward(_) => None,
            };
            block.sublayers.iter().map(wiring).collect()
        };
        if self.blocks.iter().all(|block| ways.contains(&way(block).as_slice())) {
            return Ok(());
        }
        refuse(Feature::BlockOrder)
    }
}
