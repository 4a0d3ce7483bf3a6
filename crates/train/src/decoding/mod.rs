//! Plain decoders for dev sets: correct and without any cleverness.
//!
//! Every step runs the decoder over whole sentences.

mod beam;
mod refine;

use padir_checkpoint::DecoderKind;
use padir_model::{Network, Sentences};

use crate::config::DecodeConfig;

/// Sentences that are decoded together.
const TOGETHER: usize = 64;

/// How to decode.
#[derive(Clone, Copy, Debug)]
pub struct Decoding {
    /// Steps, lengths, width of the beam.
    pub settings: DecodeConfig,
    /// Whether layers are single operations.
    pub fused: bool,
}

/// Translates sources, each with its end. References are only asked for their length, by models that cannot
/// foretell it. The outputs come without ends.
pub fn translate(
    network: &Network,
    how: Decoding,
    sources: &[Vec<u32>],
    references: &[Vec<u32>],
) -> Vec<Vec<u32>> {
    // Like lengths together; the results return to their places.
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|&i| sources[i].len());
    let mut outputs = vec![Vec::new(); sources.len()];
    for group in order.chunks(TOGETHER) {
        let chosen = Sentences::new(group.iter().map(|&i| sources[i].as_slice()));
        let translated = match network.config().decoder_kind() {
            DecoderKind::Causal => beam::search(network, how, &chosen),
            DecoderKind::Parallel => {
                let lengths: Vec<usize> =
                    group.iter().map(|&i| references.get(i).map_or(1, Vec::len)).collect();
                refine::refine(network, how, &chosen, group, &lengths)
            }
        };
        for (&i, output) in group.iter().zip(translated) {
            outputs[i] = output;
        }
    }
    outputs
}
