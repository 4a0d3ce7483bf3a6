//! A model on disk: its shape, its parameters' names, its files.
//!
//! [`ModelConfig`] is the shape of a network and what its symbols mean; [`layers`] describes the
//! layers that follow from it, and [`inventory`] lists their parameters, each with its name, shape
//! and initial law. Trainer and engine build on these, so names, shapes and wiring are written down
//! once.
//!
//! [`Checkpoint`] reads a directory with such a model and [`save`] writes one, in the format of
//! public T5 checkpoints: the autoregressive twin opens unchanged wherever T5 does. Marian models
//! (OPUS-MT) are read and written in the format of `transformers`. What only
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
mod generation;
pub mod import;
pub mod inventory;
mod keys;
mod languages;
pub mod layers;
mod length;
mod normal;
mod quantise;
mod save;
pub mod tensors;

pub use card::{CardScore, ModelCard};
pub use checkpoint::{
    CARD, CONFIG, Checkpoint, GENERATION, MODEL, SENTENCEPIECE, TOKENIZER, languages,
};
pub use config::{
    ConfigError, ConfigProblem, Decoder, DecoderKind, Family, InitialTokens, LengthPredictor,
    Marian, ModelConfig, ParallelDecoder, PooledLength, Preset, Provenance, RelativeBias, Symbols,
};
pub use error::CheckpointError;
pub use generation::GenerationConfig;
pub use inventory::{Init, Parameter};
pub use languages::{Language, Languages, NotALanguage};
pub use length::candidates_around;
pub use save::{CheckpointWriter, Extras, attach, save};
pub use tensors::{TensorError, TensorFault, TensorFile, TensorWriter};
