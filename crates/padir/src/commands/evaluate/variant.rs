//! The settings to try.

use std::fmt::Write;

use anyhow::Result;
use padir_decode::Abilities;
use padir_pipeline::evaluate::Variant;
use padir_translate::Decoding;

use super::DecodingArgs;
use crate::commands::translate::{Counts, change};

impl DecodingArgs {
    /// Every combination of what the user listed, on top of the model's own settings.
    pub(super) fn variants(&self, own: &Decoding, model: &Abilities) -> Result<Vec<Variant>> {
        let mut variants = Vec::new();
        for steps in choices(&self.steps) {
            for lengths in choices(&self.lengths) {
                for beam in choices(&self.beam) {
                    let counts = Counts { steps, lengths, beam };
                    for penalty in choices(&self.length_penalty) {
                        self.beside(own, model, counts, penalty, &mut variants)?;
                    }
                }
            }
        }
        Ok(variants)
    }

    /// One combination as it is, and with each of the changes that are tried, too.
    fn beside(
        &self,
        own: &Decoding,
        model: &Abilities,
        counts: Counts,
        penalty: Option<f64>,
        variants: &mut Vec<Variant>,
    ) -> Result<()> {
        let mut set = self.set.clone();
        set.extend(penalty.map(|penalty| format!("length_penalty={penalty}")));
        let decoding = self.shortcuts.resolve(own, model, counts, &set)?;
        let mut name = name(&decoding);
        if let Some(penalty) = penalty.filter(|_| self.length_penalty.len() > 1) {
            let _ = write!(name, ".penalty{penalty}");
        }
        variants.push(Variant { name: name.clone(), decoding: decoding.clone() });
        for also in &self.also {
            let changes: Vec<String> = also.split(',').map(str::to_owned).collect();
            let decoding = change(&decoding, model, Counts::default(), &changes)?;
            variants.push(Variant { name: format!("{name}+{also}"), decoding });
        }
        Ok(())
    }
}

/// What is listed, or what there is anyway.
fn choices<T: Copy>(list: &[T]) -> Vec<Option<T>> {
    if list.is_empty() { vec![None] } else { list.iter().copied().map(Some).collect() }
}

fn name(decoding: &Decoding) -> String {
    match decoding {
        Decoding::Refine(settings) => {
            format!("steps{}.lengths{}", settings.steps, settings.lengths)
        }
        Decoding::MaskPredict(how) => format!("mask-predict{}.lengths{}", how.steps, how.lengths),
        Decoding::EasyFirst(how) => format!("easy-first{}.lengths{}", how.steps, how.lengths),
        Decoding::Sundae(how) => format!("sundae{}.samples{}", how.steps, how.samples),
        Decoding::Gibbs(how) => format!("gibbs{}.lengths{}", how.sweeps, how.lengths),
        Decoding::Beam(beam) => format!("beam{}", beam.num_beams),
        Decoding::Sample(_) => "sample".to_owned(),
        Decoding::Ctc(how) => format!("ctc.steps{}.beam{}", how.steps, how.num_beams),
    }
}
