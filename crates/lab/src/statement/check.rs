//! What each statement comes to on a model.

#![expect(clippy::unnecessary_wraps, reason = "all checks have one signature")]

use padir_base::mask::{Case, MaskLaw};

use super::Verdict;
use crate::asymptotics::{
    AsymptoticError, BlockSize, LawVariance, by_block_size, dirichlet_hessian, of_law,
    score_covariance,
};
use crate::bound::{Assumption, ModeFast, ModeSlow, PopulationLoss, Separation, Strength};
use crate::chain::{BlockOperator, Blocks, ChainError, Matrix, block_matrix};
use crate::distribution::Distribution;
use crate::entropy;
use crate::hitting::{Update, clique_escape, clique_hitting};
use crate::inequality::{Inequality, upper_bound};
use crate::model::{Clique, Family, Model};
use crate::product::Projection;
use crate::wide::Wide;

type Found = Result<Verdict, AsymptoticError>;

/// What rounding may leave of an equality between numbers of order one.
const ROUNDING: f64 = 1e-10;

/// δ and M of the bounds on modes.
const DELTA: f64 = 0.1;
const STEPS: f64 = 100.0;

/// A model with what the checks share.
pub struct Subject {
    p: Distribution,
    family: Option<Family>,
    clique: Option<Clique>,
    /// Γᵏ, constants and orders for every k.
    rows: Vec<BlockSize>,
    /// A law that looks at the state: sets of all sizes are hidden in one state, single sites in the
    /// others, so that every state can still be left.
    adaptive: MaskLaw,
    adaptive_found: Option<LawVariance>,
}

impl Subject {
    /// Analyses a model.
    ///
    /// # Errors
    /// If it is too large or cannot be analysed.
    pub fn new(model: &Model) -> Result<Self, AsymptoticError> {
        let p = model
            .enumerate()
            .ok()
            .filter(|p| p.space().size() <= 256)
            .ok_or(ChainError::Unfit("statements are checked on up to 256 states"))?;
        let family = model.family();
        let sizes: Vec<usize> = (1..=p.space().sites()).collect();
        let rows = by_block_size(&p, family.as_ref(), &sizes, || ())?;
        let all_sizes = MaskLaw::UniformCount { least: 1, spare: 0 };
        let adaptive = MaskLaw::Adaptive {
            cases: vec![Case { when: p.space().tokens_of(0), then: all_sizes }],
            otherwise: Box::new(MaskLaw::Exactly { k: 1 }),
        };
        let adaptive_found =
            family.as_ref().map(|family| of_law(&p, family, &adaptive)).transpose()?;
        let clique = match &model {
            Model::Ising(ising) => ising.as_clique(),
            _ => None,
        };
        Ok(Self { p, family, clique, rows, adaptive, adaptive_found })
    }

    fn blocks(&self, law: &MaskLaw) -> Result<Blocks, ChainError> {
        Blocks::of(law, self.p.space())
    }
}

const NO_PARAMETERS: Verdict = Verdict::DoesNotApply("a table has no parameters");
const NO_CLIQUE: Verdict = Verdict::DoesNotApply("not a clique model");

fn smallest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

pub(super) fn monotone(subject: &Subject) -> Found {
    if subject.family.is_none() {
        return Ok(NO_PARAMETERS);
    }
    let orders = subject.rows.iter().filter_map(|row| row.mono);
    let value = smallest(orders.map(|order| order.relative));
    Ok(Verdict::checked(value > -ROUNDING, value, "smallest μ of Γᵏ − Γᵏ⁺¹"))
}

pub(super) fn variance(subject: &Subject) -> Found {
    if subject.family.is_none() {
        return Ok(NO_PARAMETERS);
    }
    let orders = subject.rows.iter().filter_map(|row| row.bound);
    let value = smallest(orders.map(|order| order.relative));
    Ok(Verdict::checked(value > -ROUNDING, value, "smallest μ of C·I⁻¹ − Γᵏ"))
}

pub(super) fn information(subject: &Subject) -> Found {
    let Some(family) = &subject.family else { return Ok(NO_PARAMETERS) };
    let law = MaskLaw::Exactly { k: 1 };
    let covariance = score_covariance(&subject.p, family, &subject.blocks(&law)?)?;
    let hessian = dirichlet_hessian(&subject.p, family, &law)?;
    let rows = (0..hessian.size()).flat_map(|i| covariance.row(i).iter().zip(hessian.row(i)));
    let value = rows.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    Ok(Verdict::checked(value < ROUNDING, value, "largest |Hessian − covariance of the score|"))
}

pub(super) fn adaptive_variance(subject: &Subject) -> Found {
    Ok(subject.adaptive_found.as_ref().map_or(NO_PARAMETERS, |found| {
        let value = found.bound.relative;
        Verdict::checked(value > -ROUNDING, value, "smallest μ of C·I⁻¹ − Γ")
    }))
}

pub(super) fn adaptive_information(subject: &Subject) -> Found {
    Ok(subject.adaptive_found.as_ref().map_or(NO_PARAMETERS, |found| {
        let value = found.information_gap;
        Verdict::checked(value < ROUNDING, value, "largest |Hessian − covariance of the score|")
    }))
}

/// ⟨f, (1 − P) f⟩ against ½ Σ p P (f − f)² for a function without symmetries.
pub(super) fn dirichlet(subject: &Subject) -> Found {
    let p = &subject.p;
    let f: Vec<f64> = (0..p.space().size()).map(|x| (1.7 * x as f64 + 0.3).sin()).collect();
    let matrix: Matrix<f64> = block_matrix(p, &subject.blocks(&subject.adaptive)?)?;
    let mut sum = 0.0;
    for x in 0..f.len() {
        for y in 0..f.len() {
            sum += p.log_prob(x).exp() * matrix.at(x, y) * (f[x] - f[y]).powi(2) / 2.0;
        }
    }
    let value = (sum - BlockOperator::new(p, &subject.adaptive)?.dirichlet(&f, &f)).abs();
    Ok(Verdict::checked(value < ROUNDING, value, "difference of the two forms"))
}

/// The largest |`p(x_K` | x₋ₖ, K) − `p(x_K` | x₋ₖ)|: conditioning on K matters if it is not zero.
pub(super) fn conditioning(subject: &Subject) -> Found {
    let mut value = 0.0_f64;
    each_conditional(subject, |given, plain| value = value.max((given - plain).abs()))?;
    Ok(Verdict::checked(value > ROUNDING, value, "largest effect of conditioning on K"))
}

/// Calls with `p(x_K` | x₋ₖ, K) and `p(x_K` | x₋ₖ) for every state and block of the adaptive law.
fn each_conditional(
    subject: &Subject,
    mut visit: impl FnMut(f64, f64),
) -> Result<(), AsymptoticError> {
    let (p, space) = (&subject.p, subject.p.space());
    for entry in subject.blocks(&subject.adaptive)?.entries() {
        let fillings = space.fillings(entry.block);
        for group in space.groups(entry.block) {
            let mass = |f: &usize| p.log_prob(group + f).exp();
            let joint = |f: &usize| mass(f) * entry.weight.of(group + f);
            let (total, held): (f64, f64) =
                (fillings.iter().map(mass).sum(), fillings.iter().map(joint).sum());
            if total > 0.0 && held > 0.0 {
                for f in &fillings {
                    visit(joint(f) / held, mass(f) / total);
                }
            }
        }
    }
    Ok(())
}

/// `p(x_K` | x₋ₖ) = Σ over K′ of p(K′ | x₋ₖ) `p(x_K` | x₋ₖ, K′), for single sites K.
pub(super) fn marginalisation(subject: &Subject) -> Found {
    let (p, space) = (&subject.p, subject.p.space());
    let blocks = subject.blocks(&subject.adaptive)?;
    let mut value = 0.0_f64;
    for site in 0..space.sites() {
        let fillings = space.fillings(1 << site);
        for group in space.groups(1 << site) {
            let mass = |f: &usize| p.log_prob(group + f).exp();
            let total: f64 = fillings.iter().map(mass).sum();
            if total <= 0.0 {
                continue;
            }
            for f in &fillings {
                // Every K′ that the law may draw, given what is outside of the site.
                let mixed: f64 = blocks
                    .entries()
                    .iter()
                    .map(|entry| {
                        let joint = |g: &usize| mass(g) * entry.weight.of(group + g);
                        let held: f64 = fillings.iter().map(joint).sum();
                        if held > 0.0 { held / total * (joint(f) / held) } else { 0.0 }
                    })
                    .sum();
                value = value.max((mixed - mass(f) / total).abs());
            }
        }
    }
    Ok(Verdict::checked(value < ROUNDING, value, "largest difference"))
}

/// A model near p: p with all odds taken to the power 0.8.
fn tempered(p: &Distribution) -> Distribution {
    let weights = p.log_probs().iter().map(|l| 0.8 * l).collect();
    Distribution::from_log_weights(p.space(), weights)
}

pub(super) fn conditional_to_joint(subject: &Subject) -> Found {
    let model = tempered(&subject.p);
    let law = MaskLaw::Exactly { k: 1 };
    let blocks = subject.blocks(&law)?;
    let poincare = crate::spectrum::poincare(&model, &law, || ())?;
    let Some(upper) = upper_bound(Inequality::Tensorisation, &model, &blocks, &poincare)? else {
        return Ok(Verdict::DoesNotApply("no upper bound of C_AT is known"));
    };
    let joint = entropy::kullback_leibler(&subject.p.probs(), &model);
    let loss = PopulationLoss::of(&subject.p, &model, &blocks);
    let value = joint / (upper.value * loss.divergence);
    Ok(Verdict::checked(value <= 1.0 + ROUNDING, value, "KL / (C_AT · expected KL), model p^0.8"))
}

pub(super) fn bounded(subject: &Subject) -> Found {
    let model = tempered(&subject.p);
    let blocks = subject.blocks(&MaskLaw::Exactly { k: 1 })?;
    let loss = PopulationLoss::of(&subject.p, &model, &blocks);
    let space = model.space();
    let conditionals = (0..space.sites()).flat_map(|site| {
        let model = &model;
        space
            .groups(1 << site)
            .into_iter()
            .filter_map(move |group| model.log_conditional(group, 1 << site))
            .flatten()
    });
    let margin = -smallest(conditionals.filter(|log| log.is_finite()));
    let value = loss.divergence / margin;
    Ok(Verdict::checked(value <= 1.0, value, "expected KL / ln 1/β, model p^0.8"))
}

pub(super) fn product(subject: &Subject) -> Found {
    let law = MaskLaw::Exactly { k: subject.p.space().sites() };
    let matrix: Matrix<Wide> = block_matrix(&subject.p, &subject.blocks(&law)?)?;
    let (value, _) = Projection::of(subject.p.space(), &matrix)?.distances(&subject.p);
    Ok(Verdict::checked(value >= 0.0, value, "total correlation of N-Gibbs, 0 for products"))
}

fn hold(assumptions: &[Assumption]) -> bool {
    assumptions.iter().all(|assumption| assumption.holds)
}

const ASSUMPTIONS: Verdict = Verdict::DoesNotApply("its assumptions fail");

pub(super) fn mode_fast(subject: &Subject) -> Found {
    let Some(clique) = &subject.clique else { return Ok(NO_CLIQUE) };
    let k = clique.sites();
    let bound = ModeFast::new(clique, k, DELTA);
    let Some(steps) = bound.steps.filter(|_| hold(&bound.assumptions)) else {
        return Ok(ASSUMPTIONS);
    };
    let exact = clique_hitting(clique, Update::Gibbs(k))?.quantiles(&[1.0 - DELTA])[0].to_f64();
    Ok(Verdict::checked(exact <= steps, exact / steps, "exact steps / bound, δ = 0.1, k = N"))
}

pub(super) fn mode_slow(subject: &Subject) -> Found {
    let Some(clique) = &subject.clique else { return Ok(NO_CLIQUE) };
    let bound = ModeSlow::new(clique, DELTA);
    if !hold(&bound.assumptions) {
        return Ok(ASSUMPTIONS);
    }
    let escapes = clique_escape(clique)?;
    let steps = smallest(escapes.iter().map(|escape| escape.safe_steps(DELTA).to_f64()));
    let holds = steps >= bound.steps.to_f64();
    Ok(Verdict::checked(holds, steps - bound.steps.to_f64(), "exact steps − bound, δ = 0.1"))
}

pub(super) fn separation(subject: &Subject) -> Found {
    let Some(clique) = &subject.clique else { return Ok(NO_CLIQUE) };
    let k = clique.sites();
    if !Separation::new(clique, k, DELTA, STEPS).applies() {
        return Ok(ASSUMPTIONS);
    }
    let fast = clique_hitting(clique, Update::Gibbs(k))?.arrival(1).to_f64();
    let slow = clique_hitting(clique, Update::Parallel)?.arrival(STEPS as usize).to_f64();
    let value = fast * (1.0 - slow);
    Ok(Verdict::checked(value >= 1.0 - DELTA, value, "probability of both, δ = 0.1, M = 100"))
}

/// p(x) > p(y) ≥ e^{2J₀} p(z) for x ∈ R₁, y ∈ R₋₁ and z in neither.
pub(super) fn modes(subject: &Subject) -> Found {
    let Some(clique) = &subject.clique else { return Ok(NO_CLIQUE) };
    if !hold(&Strength::assumptions(clique)) {
        return Ok(ASSUMPTIONS);
    }
    let all = (1_usize << clique.size()) - 1;
    let (mut up, mut down, mut low) = (f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY);
    let mut highest_down = f64::NEG_INFINITY;
    for (x, &log) in subject.p.log_probs().iter().enumerate() {
        match x & all {
            full if full == all => up = up.min(log),
            0 => (down, highest_down) = (down.min(log), highest_down.max(log)),
            _ => low = low.max(log),
        }
    }
    let value = down - low - 2.0 * Strength::of(clique).j0;
    let holds = up > highest_down && value > -ROUNDING;
    Ok(Verdict::checked(holds, value, "ln of the smallest ratio − 2J₀"))
}
