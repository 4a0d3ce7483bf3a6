//! Plain decoders for dev sets: correct and without any cleverness.
//!
//! Every step runs the decoder over whole sentences. Between steps they look whether they are to stop.

mod beam;
mod refine;

use std::sync::atomic::{AtomicBool, Ordering};

use padir_checkpoint::DecoderKind;
use padir_model::{Network, Sentences};

use crate::config::DecodeConfig;

pub(crate) use beam::ALPHA;

/// Sentences that are decoded together.
const TOGETHER: usize = 64;

/// How to decode.
#[derive(Clone, Copy, Debug)]
pub struct Decoding<'a> {
    /// Steps, lengths, width of the beam.
    pub settings: DecodeConfig,
    /// Whether layers are single operations.
    pub fused: bool,
    /// Ends the work when it is set.
    pub stop: &'a AtomicBool,
}

impl Decoding<'_> {
    /// Whether the work is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A log-probability, made comparable with those of other lengths.
fn normalised(log_p: f32, length: usize, alpha: f64) -> f32 {
    log_p / ((5.0 + length as f32) / 6.0).powf(alpha as f32)
}

/// What came of a sentence, without ends and padding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// The tokens as the decoder gave them.
    pub raw: Vec<u32>,
    /// What is left of them: the output.
    pub tokens: Vec<u32>,
}

/// Translates sources, each with its end. References are only asked for their length, by models that cannot
/// foretell it. Nothing if the work was stopped.
pub fn translate(
    network: &Network,
    how: Decoding<'_>,
    sources: &[Vec<u32>],
    references: &[Vec<u32>],
) -> Option<Vec<Translation>> {
    // Like lengths together; the results return to their places.
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|&i| sources[i].len());
    let mut outputs = vec![Translation::default(); sources.len()];
    for group in order.chunks(TOGETHER) {
        let chosen = Sentences::new(group.iter().map(|&i| sources[i].as_slice()));
        let translated = match network.config().decoder_kind() {
            DecoderKind::Causal => beam::search(network, how, &chosen)?,
            DecoderKind::Parallel => {
                let lengths: Vec<usize> =
                    group.iter().map(|&i| references.get(i).map_or(1, Vec::len)).collect();
                refine::refine(network, how, &chosen, group, &lengths)?
            }
        };
        for (&i, output) in group.iter().zip(translated) {
            outputs[i] = output;
        }
    }
    Some(outputs)
}
