//! CPU inference without a framework.
//!
//! An [`Engine`] is a checkpoint with its weights packed for the processor, in f32 or int8. A [`Session`] has the buffers: it
//! [encodes](Session::encode) sources and then answers as a [`Denoiser`](padir_base::denoise::Denoiser), if the model's decoder
//! is parallel, or as a [`CausalModel`](padir_base::causal::CausalModel), if it is causal; then it also
//! [scores](Session::score_targets) given targets by forced decoding. Either way it [shows](Session::attention) the attention weights of given
//! targets to whoever asks.
//!
//! - Batches are ragged and rows that share a source share its keys and values.
//! - A row's answer does not depend, to the bit, on the rows beside it, their order, or the number of threads; with the same precision it is the
//!   same on every processor, up to the libraries' logarithm.
//! - Once its buffers have grown, a session allocates nothing between two sentences.
//!
//! ```
//! use padir_base::causal::{DecodeStep, CausalModel};
//! use padir_base::{TokenId, random::Seed};
//! use padir_checkpoint::{Checkpoint, DecoderKind, Extras, ModelConfig, Preset, save};
//! use padir_engine::{Engine, Precision, Threads};
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path().join("model");
//! let config = ModelConfig::preset(Preset::Tiny, 300, DecoderKind::Causal);
//! let weights: std::collections::HashMap<_, _> = config.initial(Seed(7)).collect();
//! save(&directory, &config, |p| weights.get(&p.name).map(Into::into), &Extras::default())?;
//!
//! let engine = Engine::load(&Checkpoint::open(&directory)?, Precision::Int8)?;
//! let mut session = engine.session(Threads::new(1));
//! session.encode(&[&[TokenId(17), TokenId(42), TokenId::EOS]])?;
//! session.begin(&[0])?;
//! let mut best = Vec::new();
//! session.decode_step(&[DecodeStep { parent: 0, token: config.symbols.start }], 5, &mut best)?;
//! assert_eq!(best.len(), 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attention;
mod bias;
mod causal;
mod cross_kv;
mod embed;
mod engine;
mod error;
mod forced;
mod head;
mod layers;
mod length;
mod length_pool;
mod load;
mod parallel;
mod positional;
mod query_stream;
mod session;
mod weights;

pub use attention::{AttentionRow, LayerAttention};
pub use engine::{Engine, Precision};
pub use error::EngineError;
pub use forced::Target;
pub use padir_kernels::packed::limit::multiply_adds;
pub use padir_kernels::packed::{Isa, Threads};
pub use session::Session;
