//! What the decoder's first dropout falls on.

use std::sync::Arc;

use burn::tensor::Device;
use padir_base::random::Seed;
use padir_checkpoint::{Decoder, DecoderKind, LengthPredictor, ModelConfig, Preset};
use padir_kernels::dropout::Sharing;
use padir_model::ops::Targets;
use padir_model::{DropoutKey, Network, Pass, Sentences};

const VOCABULARY: usize = 40;
const LENGTH: usize = 6;

/// Learned positions are added to tokens before the sum is dropped. One mask falls on a whole sentence, so the
/// features that it hides get no gradient at any position, and no gradient at any token either: the same ones.
#[test]
fn learned_positions_are_dropped_with_their_tokens() {
    let mut config = ModelConfig::preset(Preset::Tiny, VOCABULARY, DecoderKind::Parallel);
    config.tie_word_embeddings = false;
    let Decoder::Parallel(parallel) = &mut config.decoder else { panic!("it is parallel") };
    parallel.positional_attention = false;
    parallel.learned_positions = true;
    parallel.length = LengthPredictor::Oracle;
    let width = config.d_model;
    let index = |name: &str| config.parameters().iter().position(|p| p.name == name).unwrap();
    let network = Network::initialise(&config, Seed(3), &Device::flex().autodiff()).unwrap();
    // No token of the source is one of the target, whose embeddings then come from the decoder alone.
    let source = Sentences::new([&[30_u32, 31, 32][..]]);
    let input = Sentences::new([&[5_u32, 6, 7, 8, 9, 10][..]]);
    let targets = Arc::new(Targets { classes: vec![11; LENGTH], weights: vec![1.0; LENGTH] });
    for fused in [true, false] {
        let store = Arc::new(network.gradients());
        let dropout = Some(DropoutKey { rate: 0.5, key: [1, 2], sharing: Sharing::Row });
        let pass = Pass::training(fused, dropout, Arc::clone(&store));
        let encoded = network.encode(&pass, &source);
        let states = network.decode(&pass, &input, &encoded);
        let (total, _) = network.token_loss(&pass, &states, &targets, 0.0, 0.0);
        network.backward(&pass, total);
        drop((pass, states, encoded));
        let hidden = |name: &str, rows: std::ops::Range<usize>| -> Vec<usize> {
            let gradient = store.read(index(name));
            let silent =
                |column: &usize| rows.clone().all(|row| gradient[row * width + column] == 0.0);
            (0..width).filter(silent).collect()
        };
        let positions = hidden("decoder.position_embedding.weight", 0..LENGTH);
        let tokens = hidden("shared.weight", 5..5 + LENGTH);
        assert!(positions.len() > width / 4, "fused {fused}: {positions:?}");
        assert_eq!(positions, tokens, "fused {fused}");
    }
}
