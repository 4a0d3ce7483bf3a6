//! Laws that change from step to step.

use padir_base::mask::{Block, Case, MaskLaw};

use super::ChainError;

/// The number of steps after which a law's schedule ends; none if it is the same at every step.
pub fn schedule_length(law: &MaskLaw) -> Option<usize> {
    match law {
        MaskLaw::Linear { steps, .. } => Some(*steps),
        MaskLaw::Adaptive { cases, otherwise } => cases
            .iter()
            .map(|case| &case.then)
            .chain([&**otherwise])
            .filter_map(schedule_length)
            .min(),
        _ => None,
    }
}

/// The law of every step of a schedule; the law itself, once, if it has none.
///
/// # Errors
/// If a schedule has no steps.
pub fn schedule(law: &MaskLaw, sites: usize) -> Result<Vec<MaskLaw>, ChainError> {
    match schedule_length(law) {
        None => Ok(vec![law.clone()]),
        Some(0) => Err(padir_base::mask::LawError::NoSteps.into()),
        Some(steps) => Ok((0..steps).map(|step| at_step(law, sites, step)).collect()),
    }
}

/// What a law is at a step before its schedule ends.
fn at_step(law: &MaskLaw, sites: usize, step: usize) -> MaskLaw {
    match law {
        MaskLaw::Linear { steps, least } => {
            // In u128 the product cannot overflow.
            let scheduled = (sites as u128 * (steps - step) as u128 / *steps as u128) as usize;
            match scheduled.max(*least).min(sites) {
                0 => block(Vec::new()),
                k => MaskLaw::Exactly { k },
            }
        }
        MaskLaw::Adaptive { cases, otherwise } => MaskLaw::Adaptive {
            cases: cases
                .iter()
                .map(|c| Case { when: c.when.clone(), then: at_step(&c.then, sites, step) })
                .collect(),
            otherwise: Box::new(at_step(otherwise, sites, step)),
        },
        other => other.clone(),
    }
}

/// One block, certainly.
pub fn block(positions: Vec<usize>) -> MaskLaw {
    MaskLaw::Blocks { blocks: vec![Block { positions, weight: 1.0 }] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use padir_base::mask::MaskContext;

    /// Step by step the same sets as the law itself says.
    #[test]
    fn stages_are_the_law_at_each_step() {
        for (sites, steps, least) in [(5, 3, 0), (4, 4, 1), (3, 7, 0), (6, 2, 2)] {
            let law = MaskLaw::Linear { steps, least };
            let stages = schedule(&law, sites).unwrap();
            assert_eq!(stages.len(), steps);
            for (step, stage) in stages.iter().enumerate() {
                let context = MaskContext::of_length(sites).at_step(step);
                let wanted: Vec<_> = law.enumerate(&context).unwrap().collect();
                let found: Vec<_> =
                    stage.enumerate(&MaskContext::of_length(sites)).unwrap().collect();
                assert_eq!(found, wanted, "N = {sites}, T = {steps}, step {step}");
            }
        }
        assert!(schedule(&MaskLaw::Linear { steps: 0, least: 1 }, 3).is_err());
    }
}
