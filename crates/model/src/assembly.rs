//! From a description and named weights to a network's parts.

use std::collections::HashMap;

use burn::module::Module;
use padir_checkpoint::layers::{self, LengthHead};
use padir_checkpoint::{Parameter, layers::Network as Description};

use crate::block::{Attention, Block, FeedForward, Linear, Norm, Stack, Sublayer, Weights, parts};
use crate::length_pool::LengthPool;
use crate::weight::Weight;

/// All weights.
#[derive(Module, Debug)]
pub(crate) struct Parts {
    /// The embeddings of the source, and of the target if it has none of its own.
    pub tokens: Weight,
    /// The embeddings of the target.
    pub target_tokens: Option<Weight>,
    pub encoder: Stack,
    pub decoder: Option<Stack>,
    /// The output layer, if it is not tied to the embeddings of the target.
    pub output: Option<Weight>,
    pub output_bias: Option<Weight>,
    pub length: Option<Weight>,
    pub length_bias: Option<Weight>,
    pub length_pool: Option<LengthPool>,
    pub confidence: Option<Weight>,
}

parts!(
    Parts: tokens,
    target_tokens,
    encoder,
    decoder,
    output,
    output_bias,
    length,
    length_bias,
    length_pool,
    confidence
);

/// Puts named weights into their places.
pub(crate) struct Assembly {
    pub weights: HashMap<String, Weight>,
}

impl Assembly {
    /// The parts of a translator; each weight goes where it is used first.
    pub(crate) fn parts(mut self, network: &Description) -> Parts {
        let tokens = self.take(&network.embeddings.tokens);
        let encoder = self.stack(&network.encoder);
        let decoder = network.decoder.as_ref();
        let (mut length, mut length_bias, mut length_pool) = (None, None, None);
        match &network.heads.length {
            Some(LengthHead::Classes(table)) => length = Some(self.take(table)),
            Some(LengthHead::Affine { weight, bias }) => {
                (length, length_bias) = (Some(self.take(weight)), Some(self.take(bias)));
            }
            Some(LengthHead::Pooled(pool)) => {
                length_pool = Some(LengthPool {
                    queries: self.take(&pool.queries),
                    lengths: self.take(&pool.lengths),
                    hidden: pool.hidden.iter().map(|linear| self.linear(linear)).collect(),
                    output: self.linear(&pool.output),
                });
            }
            None => {}
        }
        Parts {
            tokens,
            target_tokens: decoder.and_then(|decoder| self.find(&decoder.embeddings.tokens)),
            encoder,
            decoder: decoder.map(|decoder| self.stack(&decoder.stack)),
            output: network.output.as_ref().and_then(|output| self.find(&output.table)),
            output_bias: network.output.as_ref().and_then(|o| self.find(o.bias.as_ref()?)),
            length,
            length_bias,
            length_pool,
            confidence: network.heads.confidence.as_ref().map(|table| self.take(table)),
        }
    }

    fn stack(&mut self, stack: &layers::Stack) -> Stack {
        Stack {
            blocks: stack.blocks.iter().map(|block| self.block(block)).collect(),
            positions: stack.position_table.as_ref().map(|table| self.take(table)),
            relative_bias: stack.relative_bias.as_ref().map(|bias| self.take(&bias.table)),
            final_norm: stack.final_norm.as_ref().map(|norm| self.norm(norm)),
        }
    }

    fn block(&mut self, block: &layers::Block) -> Block {
        let mut sublayer = |sublayer: &layers::Sublayer| match sublayer {
            layers::Sublayer::Attention(layer) => Sublayer::Attention(Attention {
                norm: self.norm(&layer.norm),
                q: self.linear(&layer.q),
                k: self.linear(&layer.k),
                v: self.linear(&layer.v),
                o: self.linear(&layer.o),
            }),
            layers::Sublayer::FeedForward(layer) => Sublayer::FeedForward(FeedForward {
                norm: self.norm(&layer.norm),
                inner: self.linear(&layer.inner),
                outer: self.linear(&layer.outer),
            }),
        };
        Block { sublayers: block.sublayers.iter().map(&mut sublayer).collect() }
    }

    fn linear(&mut self, linear: &layers::Linear) -> Linear {
        let bias = linear.bias.as_ref().map(|bias| self.take(bias));
        Linear { weight: self.take(&linear.weight), bias }
    }

    fn norm(&mut self, norm: &layers::Norm) -> Norm {
        let bias = norm.bias.as_ref().map(|bias| self.take(bias));
        Norm { weight: self.take(&norm.weight), bias }
    }

    fn take(&mut self, parameter: &Parameter) -> Weight {
        self.find(parameter).expect("the inventory lists every parameter of the description")
    }

    /// A weight that has no place yet.
    fn find(&mut self, parameter: &Parameter) -> Option<Weight> {
        self.weights.remove(&parameter.name)
    }
}
