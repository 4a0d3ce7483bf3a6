//! Statements about Transformers, checked by running one.

use anyhow::Result;
use padir_lab::chain::{Matrix, parallel_matrix};
use padir_lab::distribution::Distribution;
use padir_lab::model::Model;
use padir_lab::statement::Verdict;
use padir_pipeline::learn::{Constructed, Executed, ProductChain};

/// What single precision leaves of a probability.
const PRECISION: f64 = 1e-5;

/// The largest space that a network is written down for here.
const MOST_STATES: usize = 64;

/// Steps of a deterministic chain.
const STEPS: usize = 5;

/// What a statement comes to by running a network; `None` if it is not about one.
pub(super) fn verdict(label: &str, model: &Model) -> Result<Option<Verdict>> {
    let check: fn(&Distribution) -> Result<Verdict> = match label {
        "prop:transformer_deterministic_mc" => deterministic,
        "prop:transformer_general_mc" => general,
        _ => return Ok(None),
    };
    let p = model.enumerate()?;
    if p.space().size() > MOST_STATES {
        return Ok(Some(Verdict::DoesNotApply("networks are written down for up to 64 states")));
    }
    check(&p).map(Some)
}

/// All sites at once move to the mode of their conditional: a function of the state.
fn deterministic(p: &Distribution) -> Result<Verdict> {
    let space = p.space();
    let next = |x: usize| {
        space.state_of((0..space.sites()).map(|site| {
            let here = space.symbol(x, site);
            let logs = p.log_conditional(x, 1 << site).unwrap_or_default();
            let better = |best: usize, s: usize| if logs[s] > logs[best] { s } else { best };
            // Nowhere to go from an impossible context.
            (0..logs.len()).fold(here, better)
        }))
    };
    let mut engine = open(&ProductChain::deterministic(space, next), p)?;
    let mut wrong = 0;
    for start in 0..space.size() {
        let mut x = start;
        for found in engine.argmax(start, STEPS)? {
            x = next(x);
            wrong += u32::from(found != x);
        }
    }
    let what = "wrong states of a constructed network, 5 steps from every state";
    Ok(Verdict::Checked { holds: wrong == 0, value: f64::from(wrong), what })
}

/// Independent parallel has product transitions.
fn general(p: &Distribution) -> Result<Verdict> {
    let space = p.space();
    let parallel: Matrix<f64> = parallel_matrix(p)?;
    let chain = ProductChain::of_marginals(space, &parallel);
    let mut engine = open(&chain, p)?;
    let mut value = 0.0_f64;
    for x in 0..space.size() {
        for (y, found) in engine.transitions(x)?.into_iter().enumerate() {
            value = value.max((found - parallel.at(x, y)).abs());
        }
    }
    let what = "largest |engine − independent parallel|, constructed network";
    Ok(Verdict::Checked { holds: value < PRECISION, value, what })
}

fn open(chain: &ProductChain, p: &Distribution) -> Result<Executed> {
    let aside = tempfile::tempdir()?;
    let network = Constructed::new(chain);
    Ok(Executed::new(&network, p.space(), &aside.path().join("model"))?)
}
