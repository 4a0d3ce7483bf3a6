//! A model, packed for inference.

use std::fmt;
use std::sync::Arc;

use padir_checkpoint::layers::{self, Sublayer, Wiring};
use padir_checkpoint::{Checkpoint, DecoderKind, ModelConfig};
use padir_kernels::packed::best::OutputLayer;
use padir_kernels::packed::{Isa, Packed, Threads};

use crate::error::EngineError;
use crate::load::Loader;
use crate::positional::{Known, Positional};
use crate::session::Session;
use crate::weights::Weights;

/// How weights are kept and multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Single precision.
    F32,
    /// int8 weights, one scale per output, and int8 inputs, one scale per row.
    Int8,
}

impl Precision {
    /// Of a weight.
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::Int8 => 1,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::Int8 => "int8",
        })
    }
}

/// A model, packed once and never changed; clones share it.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub config: ModelConfig,
    /// The layers that follow from it.
    pub layers: layers::Network,
    pub precision: Precision,
    pub isa: Isa,
    pub weights: Weights,
    pub known: Known,
}

impl Engine {
    /// Packs the weights of a checkpoint, for the processor that is found. Costs about one pass over them, and over
    /// those of a parallel decoder's layers in f32 another one: low-precision steps read them in int8.
    ///
    /// # Errors
    /// If a layer cannot be computed yet, or weights cannot be read or kept in this precision.
    pub fn load(checkpoint: &Checkpoint, precision: Precision) -> Result<Self, EngineError> {
        Self::load_for(checkpoint, precision, Isa::detect())
    }

    /// The same for some processor; the portable one where it is not that.
    ///
    /// # Errors
    /// As [`Engine::load`].
    pub fn load_for(
        checkpoint: &Checkpoint,
        precision: Precision,
        isa: Isa,
    ) -> Result<Self, EngineError> {
        let config = checkpoint.config().clone();
        let layers = config.layers();
        let weights = Loader { checkpoint, layers: &layers, precision, isa }.weights()?;
        let positional = weights.decoder.blocks.first().and_then(|block| block.positional.as_ref());
        let known = Known::new(positional.map_or(0, Positional::longest));
        Ok(Self { inner: Arc::new(Inner { config, layers, precision, isa, weights, known }) })
    }

    /// The model's shape.
    pub fn config(&self) -> &ModelConfig {
        &self.inner.config
    }

    /// How weights are kept.
    pub fn precision(&self) -> Precision {
        self.inner.precision
    }

    /// The instructions it runs on.
    pub fn isa(&self) -> Isa {
        self.inner.isa
    }

    /// Bytes of the packed weights.
    pub fn bytes(&self) -> usize {
        self.inner.weights.bytes()
    }

    /// Weights that a step of the decoder multiplies, and how they are kept: those of its layers, then those of the output layer,
    /// of which in f32 too nearly all are read in int8. Embeddings are looked up, and what depends on positions alone is known.
    pub fn decoder_weights(&self) -> [(usize, Precision); 2] {
        let decoder = self.inner.layers.decoder.as_ref();
        let sublayers = decoder.iter().flat_map(|decoder| decoder.stack.sublayers());
        let layers = sublayers.map(multiplied).sum();
        let table = self.inner.output().weight;
        let output = match table {
            Packed::Single(_) => Precision::F32,
            Packed::Byte(_) | Packed::Screened(_) => Precision::Int8,
        };
        [(layers, self.precision()), (table.inputs() * table.outputs(), output)]
    }

    /// Somebody who translates with this model, with buffers of their own.
    pub fn session(&self, threads: Threads) -> Session {
        Session::new(self.clone(), threads)
    }
}

impl Inner {
    /// The output layer.
    pub(crate) fn output(&self) -> OutputLayer<'_> {
        let weight = self.weights.output.as_ref().unwrap_or_else(|| self.weights.target_tokens());
        let scale = self.layers.output.as_ref().map_or(1.0, |output| output.scale);
        OutputLayer { weight, bias: &self.weights.output_bias, scale }
    }

    /// Whether the decoder's stream starts from positions and has visibility by query.
    pub(crate) fn has_query_stream(&self) -> bool {
        let decoder = self.layers.decoder.as_ref();
        decoder.is_some_and(|decoder| decoder.input == layers::DecoderInput::Positions)
    }

    /// Tokens of the target.
    pub(crate) fn vocabulary(&self) -> usize {
        self.config.symbols.vocab_size
    }

    /// Refuses a token that the target does not have.
    pub(crate) fn check_token(&self, token: u32) -> Result<(), EngineError> {
        check_token(token, self.vocabulary())
    }

    /// Refuses a token that the source does not have.
    pub(crate) fn check_source_token(&self, token: u32) -> Result<(), EngineError> {
        check_token(token, self.layers.embeddings.vocabulary())
    }

    pub(crate) fn check_depth(&self, depth: usize) -> Result<(), EngineError> {
        let vocabulary = self.vocabulary();
        if depth <= vocabulary { Ok(()) } else { Err(EngineError::Depth { depth, vocabulary }) }
    }

    pub(crate) fn check_decoder(&self, wanted: DecoderKind) -> Result<(), EngineError> {
        let found = self.config.decoder_kind();
        if found == wanted { Ok(()) } else { Err(EngineError::Decoder { wanted, found }) }
    }
}

fn check_token(token: u32, vocabulary: usize) -> Result<(), EngineError> {
    if (token as usize) < vocabulary {
        Ok(())
    } else {
        Err(EngineError::Token { token, vocabulary })
    }
}

/// Weights that a step multiplies in a sublayer of the decoder.
fn multiplied(sublayer: &Sublayer) -> usize {
    let linears = match sublayer {
        Sublayer::FeedForward(ffn) => vec![&ffn.inner, &ffn.outer],
        Sublayer::Attention(layer) => match layer.wiring() {
            Some(Wiring::CrossAttention) => vec![&layer.q, &layer.o],
            Some(Wiring::Positional) => vec![&layer.v, &layer.o],
            Some(Wiring::SelfAttention | Wiring::QueryStream) | None => {
                vec![&layer.q, &layer.k, &layer.v, &layer.o]
            }
        },
    };
    linears.into_iter().map(|linear| linear.weight.len()).sum()
}
