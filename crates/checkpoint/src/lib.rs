//! A model on disk: its shape, its parameters' names, its files.
//!
//! [`ModelConfig`] is the shape of a network and what its symbols mean; [`inventory`] lists the
//! parameters that follow from it, each with its name, shape and initial law. Trainer and engine
//! both build on these two, so a name or a shape is written down once.
//!
//! Names and keys are those of public T5 checkpoints: the autoregressive twin opens unchanged
//! wherever T5 does. What only padir knows stands beside them, under names of its own.
//!
//! ```
//! use padir_checkpoint::{DecoderKind, ModelConfig, Preset};
//! let config = ModelConfig::preset(Preset::Paper, 32_128, DecoderKind::Parallel);
//! assert_eq!(config.parameter_count(), 66_997_760);
//! assert_eq!(config.parameters()[0].name, "shared.weight");
//! ```

pub mod config;
pub mod inventory;
mod keys;
mod normal;
pub mod tensors;

pub use config::{
    ConfigError, ConfigProblem, Decoder, DecoderKind, InitialTokens, LengthPredictor, ModelConfig,
    ParallelDecoder, Preset, Provenance, RelativeBias, Symbols,
};
pub use inventory::{Init, Parameter};
