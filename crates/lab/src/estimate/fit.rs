//! From samples to parameters: which loss, which method, and whether there is an answer.

use padir_base::mask::{MaskContext, MaskLaw};
use padir_base::random::{Purpose, Seed};
use thiserror::Error;

use super::existence::{Separation, find_separation, is_suspicious};
use super::ising::{IsingLoss, Masks};
use super::minimise::{Method, Minimum, Settings, minimise};
use super::{EnumeratedLoss, Loss, Samples};
use crate::chain::{Blocks, ChainError, Matrix, schedule_length};
use crate::linalg;
use crate::model::Model;
use crate::space::Space;

/// How to fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FitOptions {
    /// Which masks the loss compares.
    pub law: MaskLaw,
    /// The method; by default what suits the size.
    pub method: Option<Method>,
    /// When to stop.
    pub settings: Settings,
    /// Draw this many masks for every sample instead of averaging over all of them. One is the
    /// estimator whose variance is Γ/n; averaging does better.
    pub sampled_masks: Option<usize>,
    /// The seed of sampled masks.
    pub seed: u64,
}

/// What became of a fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The minimum was found.
    Found,
    /// There is none: θ runs off to infinity along a direction.
    DoesNotExist(Separation),
    /// Some parameters do not matter to the loss, so the minimum is not unique.
    NotUnique,
    /// No mask ever hides a site of these parameters: the data say nothing about them. The
    /// others are at their minimum.
    NotIdentified(Vec<usize>),
    /// The iterations ran out.
    Unfinished,
}

/// A fit.
#[derive(Clone, Debug)]
pub struct Fit {
    /// What became of it.
    pub verdict: Verdict,
    /// Where the search ended; an estimate only if the verdict says so.
    pub minimum: Minimum,
    /// The method used.
    pub method: Method,
    /// Asymptotic standard errors √(H⁻¹ᵢᵢ / n) of one mask per sample, for a found minimum; an
    /// upper bound where masks are averaged over.
    pub standard_errors: Option<Vec<f64>>,
    /// The sandwich √((H⁻¹VH⁻¹)ᵢᵢ / n), V from the samples' own scores: right for averaged masks too, and
    /// where the family does not contain the truth. None where the scores would take too long.
    pub robust_errors: Option<Vec<f64>>,
}

/// A fit that cannot be started.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FitError {
    /// The law makes no sense here.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A table has no parameters.
    #[error("a table of more than {} states is not fitted", crate::model::LARGEST_SATURATED)]
    NoFamily,
    /// A sample that the family excludes.
    #[error("a sample has probability zero in the table that is fitted")]
    Impossible,
    /// The space is too large for this model or law.
    #[error("{0}")]
    TooLarge(String),
}

/// The most blocks that are averaged over exactly, counted as rows × fillings.
const MOST_FILLINGS: f64 = 5e8;

/// The largest space whose general losses are enumerated.
const LARGEST_SPACE: usize = 1 << 14;

/// Fits a model's family to samples.
///
/// # Errors
/// If the law makes no sense or the problem is too large.
pub fn fit(model: &Model, samples: &Samples, options: &FitOptions) -> Result<Fit, FitError> {
    let loss = loss_of(model, samples, options)?;
    let method = options.method.unwrap_or_else(|| suitable(model, &options.law, loss.as_ref()));
    let settings = Settings { method, ..options.settings };
    let minimum = minimise(loss.as_ref(), vec![0.0; loss.dimension()], &settings);
    let verdict = verdict_of(loss.as_ref(), &minimum);
    let inverse = (verdict == Verdict::Found)
        .then(|| linalg::inverse(&loss.hessian(&minimum.parameters)))
        .flatten();
    let errors = |variance: &Matrix<f64>| -> Vec<f64> {
        (0..variance.size()).map(|i| (variance.at(i, i) / samples.total()).sqrt()).collect()
    };
    let masks = options.sampled_masks.unwrap_or(1);
    let robust_errors = inverse.as_ref().and_then(|inverse| {
        let spread = loss.score_covariance(&minimum.parameters, masks)?;
        Some(errors(&linalg::sandwich(inverse, &spread)))
    });
    let standard_errors = inverse.as_ref().map(errors);
    Ok(Fit { verdict, minimum, method, standard_errors, robust_errors })
}

/// What became of a search for a minimum.
pub fn verdict_of(loss: &dyn Loss, minimum: &Minimum) -> Verdict {
    let untouched = loss.untouched();
    if !untouched.is_empty() && minimum.converged {
        return Verdict::NotIdentified(untouched);
    }
    let curvature = loss.preconditioner(&minimum.parameters);
    let unique = curvature.and_then(|h| linalg::inverse(&h)).is_some();
    if (is_suspicious(minimum) || !unique)
        && let Some(separation) = find_separation(loss, minimum)
    {
        return Verdict::DoesNotExist(separation);
    }
    match (minimum.converged, unique) {
        (false, _) => Verdict::Unfinished,
        (true, false) => Verdict::NotUnique,
        (true, true) => Verdict::Found,
    }
}

/// Newton where a Hessian costs little more than a gradient.
fn suitable(model: &Model, law: &MaskLaw, loss: &dyn Loss) -> Method {
    let enumerated = model.sites() <= 10;
    if *law == (MaskLaw::Exactly { k: 1 }) || (enumerated && loss.dimension() <= 80) {
        Method::Newton
    } else {
        Method::Lbfgs
    }
}

/// The loss of samples under a law: exact where that is feasible, over sampled masks else.
///
/// # Errors
/// If the law makes no sense or the problem is too large.
pub fn loss_of(
    model: &Model,
    samples: &Samples,
    options: &FitOptions,
) -> Result<Box<dyn Loss>, FitError> {
    let law = &options.law;
    let sites = model.sites();
    if let MaskLaw::Exactly { k } = *law
        && !(1..=sites).contains(&k)
    {
        return Err(ChainError::Size { k, sites }.into());
    }
    if let Some(steps) = schedule_length(law) {
        return Err(ChainError::Scheduled(steps).into());
    }
    let Model::Ising(ising) = model else {
        return enumerated(model, samples, law);
    };
    if law.is_adaptive() {
        return enumerated(model, samples, law);
    }
    let masks = match *law {
        MaskLaw::Exactly { k } if k == sites => Masks::Whole,
        _ if options.sampled_masks.is_some() => return general(model, samples, options),
        MaskLaw::Exactly { k: 1 } => Masks::Singles,
        MaskLaw::Exactly { k: 2 } => Masks::Pairs,
        MaskLaw::All => Masks::Whole,
        _ => return general(model, samples, options),
    };
    if masks == Masks::Whole && sites > 24 {
        return Err(FitError::TooLarge(format!(
            "the likelihood of {sites} spins sums 2^{sites} states at every step; it stops at 24"
        )));
    }
    Ok(Box::new(IsingLoss::new(ising, samples, masks)))
}

fn enumerated(model: &Model, samples: &Samples, law: &MaskLaw) -> Result<Box<dyn Loss>, FitError> {
    let family = model.family().ok_or(FitError::NoFamily)?;
    let space = Space::new(model.sites(), model.symbols())
        .ok()
        .filter(|space| space.size() <= LARGEST_SPACE)
        .ok_or_else(|| {
            FitError::TooLarge(format!(
                "fitting this model under this law enumerates {}^{} states; it stops at {LARGEST_SPACE}",
                model.symbols(),
                model.sites()
            ))
        })?;
    let possible =
        |i: usize| family.allows(space.state_of(samples.row(i).iter().map(|&s| usize::from(s))));
    if !(0..samples.distinct()).all(possible) {
        return Err(FitError::Impossible);
    }
    Ok(Box::new(EnumeratedLoss::new(&family, &Blocks::of(law, space)?, samples)))
}

/// Blocks listed exactly, or masks drawn for every row.
fn general(
    model: &Model,
    samples: &Samples,
    options: &FitOptions,
) -> Result<Box<dyn Loss>, FitError> {
    let Model::Ising(ising) = model else { return Err(FitError::NoFamily) };
    let law = &options.law;
    let context = MaskContext::of_length(model.sites());
    let sets = law.enumerate(&context).map_err(ChainError::from)?;
    let size = law.expected_size(&context).map_err(ChainError::from)?;
    let fillings = |sets: f64| sets * samples.distinct() as f64 * 2_f64.powf(size);
    let masks = if let Some(count) = options.sampled_masks {
        draw_masks(law, samples, count.max(1), options.seed)?
    } else if fillings(sets.support()) <= MOST_FILLINGS {
        Masks::Blocks(sets.map(|(set, p)| (set.positions().collect(), p)).collect())
    } else {
        return Err(FitError::TooLarge(format!(
            "averaging over {:.3e} masks means {:.1e} fillings at every step; sample masks instead",
            sets.support(),
            fillings(sets.support())
        )));
    };
    let widest = match &masks {
        Masks::Blocks(blocks) => blocks.iter().map(|(b, _)| b.len()).max(),
        Masks::Sampled(rows) => rows.iter().flatten().map(Vec::len).max(),
        _ => None,
    };
    if widest > Some(22) {
        return Err(FitError::TooLarge(format!(
            "a mask hides {} spins, 2^{} fillings; it stops at 22",
            widest.unwrap_or(0),
            widest.unwrap_or(0)
        )));
    }
    Ok(Box::new(IsingLoss::new(ising, samples, masks)))
}

fn draw_masks(
    law: &MaskLaw,
    samples: &Samples,
    count: usize,
    seed: u64,
) -> Result<Masks, FitError> {
    let context = MaskContext::of_length(samples.sites());
    let mut rows = Vec::with_capacity(samples.distinct());
    for row in 0..samples.distinct() {
        let mut stream = Seed(seed).stream(Purpose::Corruption, row as u64);
        let mut masks = Vec::new();
        // Equal samples draw masks of their own.
        for _ in 0..count * samples.count(row) as usize {
            let set = law.sample(&context, &mut stream).map_err(ChainError::from)?;
            masks.push(set.positions().collect());
        }
        rows.push(masks);
    }
    Ok(Masks::Sampled(rows))
}
