//! Weights so large that the network overflows: an error, and not an empty translation.

use padir_base::random::Seed;
use padir_checkpoint::{DecoderKind, Extras, ModelConfig, Preset, save};
use padir_text::vocab::Vocabulary;

use crate::house::House;

/// A random model with every weight multiplied.
fn scaled(house: &House, kind: DecoderKind, factor: f32) {
    let vocabulary = Vocabulary::load(house.path("vocab/spiece.model")).unwrap();
    let mut config = ModelConfig::preset(Preset::Tiny, vocabulary.size(), kind);
    config.provenance.vocabulary = Some(vocabulary.hash());
    let mut weights: std::collections::HashMap<String, Vec<f32>> =
        config.initial(Seed(5)).collect();
    weights.values_mut().flatten().for_each(|weight| *weight *= factor);
    let weights = |name: &str| weights.get(name).map(Into::into);
    save(house.path("loud"), &config, |p| weights(&p.name), &Extras::default()).unwrap();
    std::fs::copy(house.path("vocab/spiece.model"), house.path("loud/spiece.model")).unwrap();
}

#[test]
fn weights_that_overflow_are_refused() {
    let house = House::build();
    for kind in [DecoderKind::Causal, DecoderKind::Parallel] {
        for factor in [1e8, 1e15, 1e30] {
            scaled(&house, kind, factor);
            for precision in ["--f32", "--int8"] {
                let (said, error) =
                    house.fail(&["--model", "loud", precision, "one two three"], b"");
                let case = format!("{kind} × {factor} {precision}: {said:?} {error}");
                assert!(said.is_empty(), "{case}");
                assert!(error.contains("its weights are too large or damaged"), "{case}");
            }
        }
    }
}
