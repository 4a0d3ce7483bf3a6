//! How dev sets are translated, as decoding defaults that travel with a model.

use padir_checkpoint::{BeamSearch, GenerationConfig, Method, ModelConfig, Refinement};

use super::DecodeConfig;
use crate::decoding::ALPHA;

impl DecodeConfig {
    /// What a model that was judged by these settings should decode with.
    ///
    /// The refiner of dev sets drops repetitions once, at the end, and keeps positions that never changed. Where repetitions are
    /// dropped, the general decoder does so by rejecting them and dropping what stayed rejected.
    pub fn generation(&self, model: &ModelConfig) -> GenerationConfig {
        let usual = GenerationConfig::default_of(model);
        let most = self.max_length as usize;
        match usual.method {
            Method::Beam(_) => {
                let beam = BeamSearch {
                    num_beams: self.beam.max(1) as usize,
                    length_penalty: self.length_penalty.unwrap_or(ALPHA),
                };
                GenerationConfig { max_length: most, method: Method::Beam(beam) }
            }
            Method::Refine(refinement) => {
                let refinement = Refinement {
                    steps: self.steps.max(1) as usize,
                    lengths: self.lengths.max(1) as usize,
                    remask_stutter: self.drop_repeats,
                    drop_unchanged: self.drop_repeats,
                    length_penalty: self.length_penalty.or(refinement.length_penalty),
                    ..refinement
                };
                let max_length = most.min(usual.max_length);
                GenerationConfig { max_length, method: Method::Refine(refinement) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use padir_checkpoint::{DecoderKind, Preset};

    use super::*;

    #[test]
    fn settings_arrive_and_the_file_is_read_again() {
        let settings = DecodeConfig {
            lines: 9,
            steps: 7,
            lengths: 3,
            beam: 2,
            max_length: 1000,
            length_penalty: Some(2.5),
            drop_repeats: false,
            tokenize: padir_score::Tokenizer::Zh,
        };
        for kind in [DecoderKind::Causal, DecoderKind::Parallel] {
            let model = ModelConfig::preset(Preset::Tiny, 500, kind);
            let found = settings.generation(&model);
            match found.method {
                Method::Beam(beam) => {
                    assert_eq!((found.max_length, beam.num_beams), (1000, 2));
                    assert_eq!(Some(beam.length_penalty), settings.length_penalty);
                }
                Method::Refine(refine) => {
                    assert_eq!((found.max_length, refine.steps, refine.lengths), (128, 7, 3));
                    assert!(!refine.remask_stutter && !refine.drop_unchanged);
                    assert_eq!(refine.length_penalty, settings.length_penalty);
                }
            }
            let again = GenerationConfig::from_json(&found.to_json(&model), &model);
            assert_eq!(again, Ok(found), "{kind:?}");
        }
    }
}
