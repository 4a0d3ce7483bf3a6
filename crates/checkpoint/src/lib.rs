//! A model on disk: its shape, its parameters' names, its files.
//!
//! [`ModelConfig`] is the shape of a network and what its symbols mean; [`inventory`] lists the
//! parameters that follow from it, each with its name, shape and initial law. Trainer and engine
//! both build on these two, so a name or a shape is written down once.
//!
//! [`Checkpoint`] reads a directory with such a model and [`save`] writes one, in the format of
//! public T5 checkpoints: the autoregressive twin opens unchanged wherever T5 does. What only
//! padir knows stands beside it, under names of its own. `docs/checkpoints.md` describes the files.
//!
//! ```
//! use padir_checkpoint::{Checkpoint, DecoderKind, Extras, Init, ModelConfig, Preset, save};
//! use padir_base::random::Seed;
//!
//! let config = ModelConfig::preset(Preset::Tiny, 300, DecoderKind::Parallel);
//! let weights: std::collections::HashMap<_, _> = config.initial(Seed(7)).collect();
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path().join("model");
//! save(&directory, &config, |p| weights.get(&p.name).map(Into::into), &Extras::default())?;
//!
//! let checkpoint = Checkpoint::open(&directory)?;
//! assert_eq!(checkpoint.config(), &config);
//! assert_eq!(*checkpoint.tensor("shared.weight")?, weights["shared.weight"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod card;
mod checkpoint;
pub mod config;
mod error;
pub mod generation;
pub mod inventory;
mod keys;
mod normal;
mod quantise;
mod save;
mod swap;
pub mod tensors;

pub use card::{CardScore, ModelCard};
pub use checkpoint::{CARD, CONFIG, Checkpoint, GENERATION, MODEL, SENTENCEPIECE, TOKENIZER};
pub use config::{
    ConfigError, ConfigProblem, Decoder, DecoderKind, InitialTokens, LengthPredictor, ModelConfig,
    ParallelDecoder, Preset, Provenance, RelativeBias, Symbols,
};
pub use error::CheckpointError;
pub use generation::{BeamSearch, GenerationConfig, Method, Refinement, Rejecter, Replacement};
pub use inventory::{Init, Parameter};
pub use save::{CheckpointWriter, Extras, attach, save};
pub use tensors::{TensorError, TensorFault, TensorFile, TensorWriter};
