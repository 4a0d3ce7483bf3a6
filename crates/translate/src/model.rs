//! What a translator asks of a model: the engine answers, or a network in training.

use padir_base::TokenId;
use padir_base::continuation::Continuer;
use padir_base::denoise::Denoiser;
use padir_checkpoint::{Decoder, InitialTokens, LengthPredictor, ModelConfig};
use padir_decode::{Abilities, Order, autoregression, padir};
use padir_engine::{EngineError, Session};

/// An encoder-decoder. Sources are encoded first; source i is then context i of whatever is decoded.
///
/// Of the two decoders it needs to be only the one that its configuration names; as the other one it fails.
pub trait Model: Denoiser + Continuer<Error = <Self as Denoiser>::Error> {
    /// Its shape.
    fn config(&self) -> &ModelConfig;

    /// Replaces all contexts by sources, each with its end.
    ///
    /// # Errors
    /// If a token lies outside of the vocabulary.
    fn encode(&mut self, sources: &[&[TokenId]]) -> Result<(), <Self as Denoiser>::Error>;

    /// The most probable lengths of a context's target, its end included, with their log-probabilities, the best first. None
    /// if it predicts no lengths.
    fn lengths(&self, context: usize, most: usize) -> Vec<(usize, f64)>;

    /// Only these tokens compete in a context, until it is encoded anew; all of them if `None`.
    ///
    /// # Errors
    /// If there is no such context or token, or no token at all.
    fn set_shortlist(
        &mut self,
        context: usize,
        tokens: Option<&[TokenId]>,
    ) -> Result<(), <Self as Denoiser>::Error>;
}

impl Model for Session {
    fn config(&self) -> &ModelConfig {
        self.engine().config()
    }

    fn encode(&mut self, sources: &[&[TokenId]]) -> Result<(), EngineError> {
        Session::encode(self, sources)
    }

    fn lengths(&self, context: usize, most: usize) -> Vec<(usize, f64)> {
        Session::lengths(self, context, most)
    }

    fn set_shortlist(
        &mut self,
        context: usize,
        tokens: Option<&[TokenId]>,
    ) -> Result<(), EngineError> {
        Session::set_shortlist(self, context, tokens)
    }
}

/// What a model can do, as decoding settings are checked against.
pub fn abilities_of(config: &ModelConfig) -> Abilities {
    let Decoder::Parallel(parallel) = &config.decoder else { return Abilities::autoregressive() };
    let positions = parallel.max_positions;
    let longest = match parallel.length {
        LengthPredictor::Token { classes } => classes.min(positions),
        _ => positions,
    };
    Abilities {
        order: Order::Parallel,
        max_length: Some(longest),
        positions: Some(positions),
        initial: match parallel.initial {
            InitialTokens::Random => padir::Initial::Random,
            InitialTokens::Mask => padir::Initial::Mask,
            InitialTokens::NumberedMask => padir::Initial::NumberedMask,
        },
        mask: config.symbols.mask.is_some(),
        numbered_masks: !config.symbols.numbered_masks().is_empty(),
        confidence_head: parallel.rejecter,
    }
}

/// The symbols of a model, as refinement knows them.
pub fn symbols_of(config: &ModelConfig) -> padir::Symbols {
    let symbols = &config.symbols;
    let numbered = symbols.numbered_masks();
    padir::Symbols { numbered, ..padir::Symbols::new(symbols.random.clone(), symbols.mask) }
}

/// The symbols of a model, as autoregressive search knows them.
pub(crate) fn causal_symbols_of(config: &ModelConfig) -> autoregression::Symbols {
    let symbols = &config.symbols;
    autoregression::Symbols { start: symbols.start, eos: symbols.eos, never: vec![symbols.pad] }
}
