//! CPU inference without a framework.
//!
//! An [`Engine`] is a checkpoint with its weights packed for the processor, in f32 or 8 bits. A [`Session`] has the buffers: it
//! [encodes](Session::encode) sources and then answers as a [`Denoiser`](padir_base::denoise::Denoiser), if the model's decoder
//! is parallel, or as a [`Continuer`](padir_base::continuation::Continuer), if it is causal; then it also
//! [judges](Session::judge) what others said.
//!
//! - Batches are ragged and rows that share a source share its keys and values.
//! - A row's answer does not depend, to the bit, on the rows beside it, their order, or the number of threads; with the same precision it is the
//!   same on every processor, up to the libraries' logarithm.
//! - Once its buffers have grown, a session allocates nothing between two sentences.
//!
//! ```
//! use padir_base::continuation::{Advance, Continuer};
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
//! session.advance(&[Advance { parent: 0, token: config.symbols.start }], 5, &mut best)?;
//! assert_eq!(best.len(), 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bias;
mod causal;
mod cross_kv;
mod embed;
mod engine;
mod error;
mod head;
mod judge;
mod layers;
mod length;
mod load;
mod parallel;
mod positional;
mod session;
mod weights;

pub use engine::{Engine, Precision};
pub use error::EngineError;
pub use judge::Target;
pub use padir_kernels::packed::limit::multiply_adds;
pub use padir_kernels::packed::{Isa, Threads};
pub use session::Session;
