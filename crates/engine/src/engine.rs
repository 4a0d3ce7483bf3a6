//! A model, packed for inference.

use std::fmt;
use std::sync::Arc;

use padir_checkpoint::{Checkpoint, DecoderKind, ModelConfig};
use padir_kernels::packed::{Isa, Packed, Threads};

use crate::error::EngineError;
use crate::positional::Known;
use crate::session::Session;
use crate::weights::{Loader, Weights};

/// How weights are kept and multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Single precision.
    F32,
    /// 8-bit weights, one scale per output, and 8-bit inputs, one scale per row.
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
    pub precision: Precision,
    pub isa: Isa,
    pub weights: Weights,
    pub known: Known,
}

impl Engine {
    /// Packs the weights of a checkpoint, for the processor that is found. Costs about one pass over them, and over
    /// those of a parallel decoder's layers in f32 another one: drafts read them in 8 bits.
    ///
    /// # Errors
    /// If weights cannot be read, or cannot be kept in this precision.
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
        let weights = Loader { checkpoint, precision, isa }.weights()?;
        let config = checkpoint.config().clone();
        let positional = config.parallel().filter(|parallel| parallel.positional_attention);
        let known = Known::new(positional.map_or(0, |parallel| parallel.max_positions));
        Ok(Self { inner: Arc::new(Inner { config, precision, isa, weights, known }) })
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
    /// of which in f32 too nearly all are read in 8 bits. Embeddings are looked up, and what depends on positions alone is known.
    pub fn decoder_weights(&self) -> [(usize, Precision); 2] {
        let config = self.config();
        let (d, inner) = (config.d_model, config.inner_width());
        let positional = config.parallel().is_some_and(|p| p.positional_attention);
        // q, k, v, o; q and o over the source; v and o by position.
        let attention = d * inner * (4 + 2 + if positional { 2 } else { 0 });
        let layers = config.num_decoder_layers * (attention + 2 * d * config.d_ff);
        let output = match self.inner.head().0 {
            Packed::Single(_) => Precision::F32,
            Packed::Byte(_) | Packed::Screened(_) => Precision::Int8,
        };
        [(layers, self.precision()), (d * config.symbols.vocab_size, output)]
    }

    /// Somebody who translates with this model, with buffers of their own.
    pub fn session(&self, threads: Threads) -> Session {
        Session::new(self.clone(), threads)
    }
}

impl Inner {
    pub(crate) fn epsilon(&self) -> f32 {
        self.config.layer_norm_epsilon as f32
    }

    /// The output layer and what its products are multiplied by.
    pub(crate) fn head(&self) -> (&Packed, f32) {
        match &self.weights.head {
            Some(head) => (head, 1.0),
            None => (&self.weights.table, 1.0 / (self.config.d_model as f32).sqrt()),
        }
    }

    pub(crate) fn vocabulary(&self) -> usize {
        self.config.symbols.vocab_size
    }

    pub(crate) fn check_token(&self, token: u32) -> Result<(), EngineError> {
        let vocabulary = self.vocabulary();
        if (token as usize) < vocabulary {
            Ok(())
        } else {
            Err(EngineError::Token { token, vocabulary })
        }
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
