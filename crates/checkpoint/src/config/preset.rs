//! Model sizes with a name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    Decoder, DecoderKind, Family, ModelConfig, ParallelDecoder, Provenance, RelativeBias, Symbols,
};
use crate::languages::Languages;

/// Sentinels a vocabulary has unless its file says otherwise, as in the public T5 vocabularies.
const SENTINELS: usize = 100;

/// A model size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// 6 + 6 layers, 8 heads of 64, d = 512, f = 2048: T5.1.0-small. With a table of 32,128 rows
    /// and a parallel decoder it has 66,997,760 parameters, the 67M of the paper.
    Paper,
    /// 3 + 3 layers, 4 heads of 64, d = 256, f = 1024.
    Small,
    /// 2 + 2 layers, 4 heads of 32, d = 128, f = 512: learns a toy task in minutes.
    Tiny,
    /// As `paper` with 6 + 1 layers: a deep encoder and a shallow decoder.
    #[serde(rename = "paper-6-1")]
    Paper6x1,
    /// As `paper` with 6 + 2 layers.
    #[serde(rename = "paper-6-2")]
    Paper6x2,
    /// As `paper` with 12 + 1 layers.
    #[serde(rename = "paper-12-1")]
    Paper12x1,
    /// As `small` with 6 + 1 layers.
    #[serde(rename = "small-6-1")]
    Small6x1,
    /// As `small` with 6 + 2 layers.
    #[serde(rename = "small-6-2")]
    Small6x2,
    /// As `small` with 12 + 1 layers.
    #[serde(rename = "small-12-1")]
    Small12x1,
}

/// The name is no preset's.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("there is no model size {0:?}; there are {list}", list = Preset::CHOICES)]
pub struct NotAPreset(String);

impl Preset {
    /// All sizes.
    pub const ALL: [Self; 9] = [
        Self::Paper,
        Self::Small,
        Self::Tiny,
        Self::Paper6x1,
        Self::Paper6x2,
        Self::Paper12x1,
        Self::Small6x1,
        Self::Small6x2,
        Self::Small12x1,
    ];

    /// What it may be, for messages.
    pub const CHOICES: &str = "paper, small, tiny, and with a shallow decoder paper-6-1, paper-6-2, paper-12-1, small-6-1, small-6-2, \
         small-12-1";

    /// Layers of the encoder and of the decoder.
    fn depths(self) -> (usize, usize) {
        match self {
            Self::Paper => (6, 6),
            Self::Small => (3, 3),
            Self::Tiny => (2, 2),
            Self::Paper6x1 | Self::Small6x1 => (6, 1),
            Self::Paper6x2 | Self::Small6x2 => (6, 2),
            Self::Paper12x1 | Self::Small12x1 => (12, 1),
        }
    }

    /// Heads h, their width k, d and f.
    fn widths(self) -> [usize; 4] {
        match self {
            Self::Paper | Self::Paper6x1 | Self::Paper6x2 | Self::Paper12x1 => [8, 64, 512, 2048],
            Self::Small | Self::Small6x1 | Self::Small6x2 | Self::Small12x1 => [4, 64, 256, 1024],
            Self::Tiny => [4, 32, 128, 512],
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Paper => "paper",
            Self::Small => "small",
            Self::Tiny => "tiny",
            Self::Paper6x1 => "paper-6-1",
            Self::Paper6x2 => "paper-6-2",
            Self::Paper12x1 => "paper-12-1",
            Self::Small6x1 => "small-6-1",
            Self::Small6x2 => "small-6-2",
            Self::Small12x1 => "small-12-1",
        })
    }
}

impl FromStr for Preset {
    type Err = NotAPreset;

    fn from_str(name: &str) -> Result<Self, NotAPreset> {
        let found = Self::ALL.into_iter().find(|preset| preset.to_string() == name);
        found.ok_or_else(|| NotAPreset(name.chars().take(80).collect()))
    }
}

impl ModelConfig {
    /// A model of a named size with tied embeddings and the paper's settings.
    ///
    /// `vocab_size` is taken for pieces and 100 sentinels; set [`ModelConfig::symbols`] for any
    /// other division of the ids.
    pub fn preset(preset: Preset, vocab_size: usize, decoder: DecoderKind) -> Self {
        let [num_heads, d_kv, d_model, d_ff] = preset.widths();
        let (num_layers, num_decoder_layers) = preset.depths();
        let sentinels = if vocab_size > 2 * SENTINELS { SENTINELS } else { 3 };
        Self {
            family: Family::T5,
            symbols: Symbols::of_vocabulary(vocab_size, vocab_size.saturating_sub(sentinels)),
            d_model,
            d_kv,
            d_ff,
            num_layers,
            num_decoder_layers,
            num_heads,
            relative_bias: RelativeBias::default(),
            dropout_rate: 0.1,
            layer_norm_epsilon: 1e-6,
            initializer_factor: 1.0,
            tie_word_embeddings: true,
            decoder: match decoder {
                DecoderKind::Causal => Decoder::Causal,
                DecoderKind::Parallel => Decoder::Parallel(ParallelDecoder::default()),
            },
            provenance: Provenance::default(),
            languages: Languages::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_and_goes_by_its_name() {
        for preset in Preset::ALL {
            assert_eq!(preset.to_string().parse(), Ok(preset));
            let json = serde_json::to_value(preset).unwrap();
            assert_eq!(json, preset.to_string(), "one name everywhere");
            assert!(Preset::CHOICES.contains(&preset.to_string()));
            for decoder in [DecoderKind::Causal, DecoderKind::Parallel] {
                for vocab_size in [60, 200, 8_100, 32_128] {
                    let config = ModelConfig::preset(preset, vocab_size, decoder);
                    assert_eq!(config.validate(), Ok(()), "{preset} {decoder} {vocab_size}");
                }
            }
        }
        assert_eq!("huge".parse::<Preset>(), Err(NotAPreset("huge".to_owned())));
    }

    #[test]
    fn symbols_are_those_of_the_vocabularies() {
        let symbols = Symbols::of_vocabulary(32_100, 32_000);
        assert_eq!(symbols.mask.unwrap().0, 32_099);
        assert_eq!(symbols.numbered_masks(), 32_000..32_097);
        assert_eq!(symbols.length.unwrap().0, 32_097);
        assert_eq!(symbols.random, 3..32_100);
        assert_eq!(Symbols::of_vocabulary(50, 50).mask, None);
    }
}
