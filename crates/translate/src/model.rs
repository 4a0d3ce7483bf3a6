//! What a translator asks of a model: the engine answers, or a network in training.

use padir_base::TokenId;
use padir_base::causal::CausalModel;
use padir_base::denoise::Denoiser;
use padir_checkpoint::{Decoder, Family, InitialTokens, LengthPredictor, ModelConfig};
use padir_decode::{Abilities, Order, autoregression, ctc, padir};
use padir_engine::{EngineError, Session};

/// An encoder-decoder. Sources are encoded first; source i is then context i of whatever is decoded.
///
/// Of the two decoders it needs to be only the one that its configuration names; as the other one it fails.
pub trait Model: Denoiser + CausalModel<Error = <Self as Denoiser>::Error> {
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
    let Decoder::Parallel(parallel) = &config.decoder else {
        let positions = match &config.family {
            Family::Marian(family) => Some(family.max_positions),
            Family::T5 => None,
        };
        return Abilities { positions, ..Abilities::autoregressive() };
    };
    let positions = parallel.max_positions;
    let order = if parallel.length.is_upsampled() { Order::Alignment } else { Order::Parallel };
    let positions = match parallel.length {
        // Targets are hardly longer than their sources, of which each token has so many slots.
        LengthPredictor::Upsample { factor, .. } => (positions / factor.max(1)).max(2),
        _ => positions,
    };
    let longest = parallel.length.longest().map_or(positions, |classes| classes.min(positions));
    Abilities {
        order,
        training: parallel.training,
        max_length: Some(longest),
        positions: Some(positions),
        initial: match parallel.initial {
            InitialTokens::Random => padir::Initial::Random,
            InitialTokens::Mask => padir::Initial::Mask,
            InitialTokens::NumberedMask => padir::Initial::NumberedMask,
        },
        mask: config.symbols.mask.is_some(),
        numbered_masks: !config.symbols.numbered_masks().is_empty(),
        confidence_head: parallel.confidence_head,
    }
}

/// The symbols of a model, as refinement knows them.
pub fn symbols_of(config: &ModelConfig) -> padir::Symbols {
    let symbols = &config.symbols;
    let numbered = symbols.numbered_masks();
    padir::Symbols { numbered, ..padir::Symbols::new(symbols.random.clone(), symbols.mask) }
}

/// The symbols of a model, as decoding of alignments knows them; none if it predicts no alignments.
pub fn ctc_symbols_of(config: &ModelConfig) -> Option<ctc::Symbols> {
    let symbols = &config.symbols;
    let silent = vec![symbols.pad, symbols.eos];
    let (blank, mask) = symbols.blank.zip(symbols.mask)?;
    Some(ctc::Symbols { blank, mask, silent })
}

/// The symbols of a model, as autoregressive search knows them.
pub(crate) fn causal_symbols_of(config: &ModelConfig) -> autoregression::Symbols {
    let symbols = &config.symbols;
    autoregression::Symbols { start: symbols.start, eos: symbols.eos, never: vec![symbols.pad] }
}
