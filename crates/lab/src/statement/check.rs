//! What each statement comes to on a model.

#![expect(clippy::unnecessary_wraps, reason = "all checks have one signature")]

use std::cell::OnceCell;

use padir_base::mask::{Case, MaskLaw};

use super::Verdict;
use crate::asymptotics::{
    AsymptoticError, BlockSize, LawVariance, Regularity, RegularitySettings, by_block_size,
    information_gap, of_law,
};
use crate::bound::{Assumption, ModeFast, ModeSlow, PopulationLoss, Separation, Strength};
use crate::chain::{BlockOperator, Blocks, ChainError, Matrix, block_matrix, parallel_matrix};
use crate::conditioning::{Effect, effects, marginalisation_gap};
use crate::distribution::Distribution;
use crate::entropy;
use crate::estimate::{EnumeratedLoss, Loss};
use crate::experiment::{
    Concentration, ConcentrationSettings, ExperimentError, NormalitySettings, concentration,
    normality,
};
use crate::hitting::{Update, clique_escape, clique_hitting};
use crate::inequality::{Inequality, SearchSettings, tensorisation, upper_bound};
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
    model: Model,
    p: Distribution,
    family: Option<Family>,
    /// θ*.
    parameters: Vec<f64>,
    /// The lemmas beside data, once they are asked for.
    concentration: OnceCell<Option<Concentration>>,
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
        let family = model.family().filter(|family| family.dimension() > 0);
        let sizes: Vec<usize> = (1..=p.space().sites()).collect();
        let rows = by_block_size(&p, family.as_ref(), &sizes, || ())?;
        let all_sizes = MaskLaw::UniformCount { least: 1, spare: 0 };
        let adaptive = MaskLaw::Adaptive {
            cases: vec![Case { when: p.space().tokens_of(0), then: all_sizes }],
            otherwise: Box::new(MaskLaw::Exactly { k: 1 }),
        };
        let adaptive_found =
            family.as_ref().map(|family| of_law(&p, family, &adaptive)).transpose()?;
        let clique = match model {
            Model::Ising(ising) => ising.as_clique(),
            _ => None,
        };
        Ok(Self {
            parameters: model.parameters(),
            model: model.clone(),
            concentration: OnceCell::new(),
            p,
            family,
            clique,
            rows,
            adaptive,
            adaptive_found,
        })
    }

    /// k-Gibbs for every k.
    fn sizes(&self) -> Vec<MaskLaw> {
        (1..=self.p.space().sites()).map(|k| MaskLaw::Exactly { k }).collect()
    }

    fn blocks(&self, law: &MaskLaw) -> Result<Blocks, ChainError> {
        Blocks::of(law, self.p.space())
    }
}

const NO_PARAMETERS: Verdict = Verdict::DoesNotApply("a point mass has no parameters");
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

/// ∇²L = Cov(score) for some laws: the largest relative difference.
fn information_of(subject: &Subject, laws: &[MaskLaw]) -> Found {
    let Some(family) = &subject.family else { return Ok(NO_PARAMETERS) };
    let mut value = 0.0_f64;
    for law in laws {
        value = value.max(information_gap(&subject.p, family, &subject.parameters, law)?);
    }
    Ok(Verdict::checked(
        value < 1e-9,
        value,
        "largest relative |Hessian − covariance of the score|",
    ))
}

pub(super) fn information(subject: &Subject) -> Found {
    information_of(subject, &subject.sizes())
}

/// k = N: Cov(∇ log p) = −E ∇² log p.
pub(super) fn fisher(subject: &Subject) -> Found {
    information_of(subject, &[MaskLaw::All])
}

/// The loss of some laws is stationary at the truth: the largest |∇L(θ*)|.
fn stationary_of(subject: &Subject, laws: &[MaskLaw]) -> Found {
    let Some(family) = &subject.family else { return Ok(NO_PARAMETERS) };
    let mut value = 0.0_f64;
    for law in laws {
        let blocks = subject.blocks(law)?;
        let loss = EnumeratedLoss::from_frequencies(family, &blocks, &subject.p.probs());
        let mut gradient = vec![0.0; family.dimension()];
        loss.gradient(&subject.parameters, &mut gradient);
        value = gradient.iter().fold(value, |most, g| most.max(g.abs()));
    }
    Ok(Verdict::checked(value < ROUNDING, value, "largest |∇L(θ*)|: the truth minimises"))
}

pub(super) fn weighted_loss(subject: &Subject) -> Found {
    stationary_of(subject, &[MaskLaw::UniformCount { least: 1, spare: 0 }])
}

pub(super) fn block_losses(subject: &Subject) -> Found {
    stationary_of(subject, &subject.sizes())
}

pub(super) fn adaptive_loss(subject: &Subject) -> Found {
    stationary_of(subject, std::slice::from_ref(&subject.adaptive))
}

/// p(x) P(x, y) = p(y) P(y, x): the largest difference, and so p is stationary.
fn reversible_of(subject: &Subject, laws: &[MaskLaw]) -> Found {
    let probs = subject.p.probs();
    let mut value = 0.0_f64;
    for law in laws {
        let matrix: Matrix<f64> = block_matrix(&subject.p, &subject.blocks(law)?)?;
        for x in 0..probs.len() {
            for y in 0..x {
                let flow = probs[x] * matrix.at(x, y) - probs[y] * matrix.at(y, x);
                value = value.max(flow.abs());
            }
        }
    }
    Ok(Verdict::checked(value < ROUNDING, value, "largest |p(x)P(x,y) − p(y)P(y,x)|"))
}

pub(super) fn weighted_dynamics(subject: &Subject) -> Found {
    reversible_of(subject, &[MaskLaw::UniformCount { least: 1, spare: 0 }])
}

pub(super) fn gibbs(subject: &Subject) -> Found {
    reversible_of(subject, &subject.sizes())
}

pub(super) fn adaptive_dynamics(subject: &Subject) -> Found {
    reversible_of(subject, std::slice::from_ref(&subject.adaptive))
}

/// Independent parallel has product transitions.
pub(super) fn parallel(subject: &Subject) -> Found {
    let matrix: Matrix<Wide> = parallel_matrix(&subject.p)?;
    let (_, value) = Projection::of(subject.p.space(), &matrix)?.distances(&subject.p);
    Ok(Verdict::checked(value < ROUNDING, value, "largest total correlation of a transition"))
}

/// ln p(+)/p(−) given the others is 2(hᵢ + Σ Jᵢⱼxⱼ), each edge once.
pub(super) fn ising(subject: &Subject) -> Found {
    let Model::Ising(model) = &subject.model else {
        return Ok(Verdict::DoesNotApply("not an Ising model"));
    };
    let mut value = 0.0_f64;
    for x in 0..subject.p.space().size() {
        for i in (0..model.sites()).filter(|i| x >> i & 1 == 0) {
            let spin = |j: usize| if x >> j & 1 == 1 { 1.0 } else { -1.0 };
            let coupled: f64 = model.neighbours(i).iter().map(|&(j, c)| c * spin(j)).sum();
            let odds = subject.p.log_prob(x | 1 << i) - subject.p.log_prob(x);
            value = value.max((odds - 2.0 * (model.fields()[i] + coupled)).abs());
        }
    }
    Ok(Verdict::checked(value < 1e-9, value, "largest error of the log-odds 2(h + Σ Jx)"))
}

/// C · E(f, f) ≥ Var f for the values of the sites, k = 1.
pub(super) fn poincare_inequality(subject: &Subject) -> Found {
    let law = MaskLaw::Exactly { k: 1 };
    let constant = subject.rows[0].poincare.constant();
    let operator = BlockOperator::new(&subject.p, &law)?;
    let space = subject.p.space();
    let mut value = f64::INFINITY;
    for site in 0..space.sites() {
        let f: Vec<f64> = (0..space.size()).map(|x| space.symbol(x, site) as f64).collect();
        let mean = subject.p.mean(|x| f[x]);
        let variance = subject.p.mean(|x| (f[x] - mean).powi(2));
        let form = operator.dirichlet_form(&[product_with(&f, operator.root())]).at(0, 0);
        if variance > 0.0 {
            value = value.min(constant * form / variance);
        }
    }
    if value.is_infinite() {
        return Ok(Verdict::DoesNotApply("no site varies"));
    }
    Ok(Verdict::checked(value > 1.0 - 1e-9, value, "smallest C·E(f,f)/Var f of a site, k = 1"))
}

fn product_with(f: &[f64], root: &[f64]) -> Vec<f64> {
    f.iter().zip(root).map(|(f, r)| f * r).collect()
}

/// The certificate's ratio is at most what is proven.
pub(super) fn tensorises(subject: &Subject) -> Found {
    if subject.p.space().size() > 64 {
        return Ok(Verdict::DoesNotApply("the constant is searched for on up to 64 states"));
    }
    let law = MaskLaw::Exactly { k: 1 };
    let found = tensorisation(&subject.p, &law, &SearchSettings::default(), || ())?;
    let Some(upper) = found.upper else {
        return Ok(Verdict::DoesNotApply("no upper bound of C_AT is known"));
    };
    let value = found.lower / upper.value;
    Ok(Verdict::checked(value <= 1.0 + ROUNDING, value, "C_AT found / C_AT proven, k = 1"))
}

/// The two formulas of the Dirichlet form, k = 1.
pub(super) fn dirichlet_definition(subject: &Subject) -> Found {
    dirichlet_of(subject, &MaskLaw::Exactly { k: 1 })
}

/// The loss is convex: no negative curvature at random parameters, k = 1 and 2.
pub(super) fn convex(subject: &Subject) -> Found {
    let Some(family) = &subject.family else { return Ok(NO_PARAMETERS) };
    let mut value = f64::INFINITY;
    for law in subject.sizes().iter().take(2) {
        let settings = RegularitySettings { points: 6, ..RegularitySettings::default() };
        let found = Regularity::of(&subject.p, family, &subject.parameters, law, &settings)?;
        value = value.min(found.convexity).min(-found.midpoint);
    }
    Ok(Verdict::checked(value > -ROUNDING, value, "smallest relative curvature, random θ"))
}

/// Fits with more parameters than this take too long to be repeated.
const MOST_REPEATED: usize = 40;

/// Repeated fits against their normal law: KS distance over its critical value.
fn normal_of(subject: &Subject, law: &MaskLaw) -> Found {
    let Some(family) = &subject.family else { return Ok(NO_PARAMETERS) };
    if family.dimension() > MOST_REPEATED {
        return Ok(Verdict::DoesNotApply("checked on up to 40 parameters"));
    }
    let settings = NormalitySettings { samples: 4000, repeats: 120, masks: Some(1), seed: 0 };
    let rarest = smallest(subject.p.log_probs().iter().copied().filter(|l| l.is_finite()));
    if rarest.exp() * (settings.samples as f64) < 5.0 {
        return Ok(Verdict::DoesNotApply("a state is expected less than 5 times in n = 4000"));
    }
    match normality(&subject.p, family, law, &settings, || ()) {
        Ok(found) if found.missing == 0 => {
            let value = found.distance / found.critical;
            Ok(Verdict::checked(value < 1.0, value, "KS distance / critical, 120 fits of n = 4000"))
        }
        Ok(_) | Err(ExperimentError::NoEstimates(_)) => {
            Ok(Verdict::DoesNotApply("some estimates of n = 4000 samples do not exist"))
        }
        Err(_) => Ok(Verdict::DoesNotApply("no asymptotic variance within the reach of floats")),
    }
}

pub(super) fn normal(subject: &Subject) -> Found {
    normal_of(subject, &MaskLaw::Exactly { k: 1 })
}

pub(super) fn normal_likelihood(subject: &Subject) -> Found {
    normal_of(subject, &MaskLaw::All)
}

/// A lemma beside data: the 1 − δ quantile of its quantity over its bound.
fn lemma(subject: &Subject, label: &str) -> Found {
    let Some(family) = &subject.family else { return Ok(NO_PARAMETERS) };
    if family.dimension() > MOST_REPEATED {
        return Ok(Verdict::DoesNotApply("checked on up to 40 parameters"));
    }
    let found = subject.concentration.get_or_init(|| {
        let largest = subject.parameters.iter().fold(0.1_f64, |m, x| m.max(x.abs()));
        let settings = ConcentrationSettings {
            samples: 400,
            masks: 4,
            repeats: 60,
            points: 8,
            radius: largest,
            ..ConcentrationSettings::default()
        };
        let law = MaskLaw::Exactly { k: 1 };
        concentration(&subject.p, family, &subject.parameters, &law, &settings, || ()).ok()
    });
    let Some(found) = found else {
        return Ok(Verdict::DoesNotApply("the learned chain is not ergodic"));
    };
    Ok(found.lemmas.iter().find(|lemma| lemma.label == label).map_or(
        Verdict::DoesNotApply("no estimate of n = 400 samples exists"),
        |lemma| {
            let value = lemma.quantile / lemma.bound;
            Verdict::checked(lemma.holds(), value, "90 % quantile / bound, 60 data sets of n = 400")
        },
    ))
}

macro_rules! lemmas {
    ($($name:ident $label:literal;)*) => {
        $(pub(super) fn $name(subject: &Subject) -> Found {
            lemma(subject, $label)
        })*
    };
}

lemmas! {
    generalisation "thm:generalization_bound_joint";
    hoeffding "lem:hoeffding";
    pointwise "cor:point_wise_generalization_bound_conditional_special";
    uniform "lem:generalization_bound_conditional";
    empirical_law "lem:empirical_pmf";
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
fn dirichlet_of(subject: &Subject, law: &MaskLaw) -> Found {
    let p = &subject.p;
    let f: Vec<f64> = (0..p.space().size()).map(|x| (1.7 * x as f64 + 0.3).sin()).collect();
    let matrix: Matrix<f64> = block_matrix(p, &subject.blocks(law)?)?;
    let mut sum = 0.0;
    for x in 0..f.len() {
        for y in 0..f.len() {
            sum += p.log_prob(x).exp() * matrix.at(x, y) * (f[x] - f[y]).powi(2) / 2.0;
        }
    }
    let value = (sum - BlockOperator::new(p, law)?.dirichlet(&f, &f)).abs();
    Ok(Verdict::checked(value < ROUNDING, value, "difference of the two forms"))
}

pub(super) fn dirichlet(subject: &Subject) -> Found {
    dirichlet_of(subject, &subject.adaptive)
}

/// Conditioning on K matters if its largest effect is not zero.
pub(super) fn conditioning(subject: &Subject) -> Found {
    let found = effects(&subject.p, &subject.blocks(&subject.adaptive)?);
    let value = found.iter().map(Effect::size).fold(0.0, f64::max);
    Ok(Verdict::checked(value > ROUNDING, value, "largest effect of conditioning on K"))
}

/// `p(x_K` | x₋ₖ) = Σ over K′ of p(K′ | x₋ₖ) `p(x_K` | x₋ₖ, K′).
pub(super) fn marginalisation(subject: &Subject) -> Found {
    let value = marginalisation_gap(&subject.p, &subject.blocks(&subject.adaptive)?);
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

/// p(x) > p(y) ≥ e^{2J₀} p(z) for x ∈ R₁, y ∈ R₋₁ and z in neither, and P(R₁) = `e^{2h_G`} P(R₋₁), from all states.
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
    let strength = Strength::of(clique);
    let value = down - low - 2.0 * strength.j0;
    let masses = subject.p.log_mode(all as u64, 1) - subject.p.log_mode(all as u64, 0);
    let turned = (masses - 2.0 * strength.h_g).abs() < 1e-9;
    let holds = up > highest_down && value > -ROUNDING && turned;
    Ok(Verdict::checked(holds, value, "ln of the smallest ratio − 2J₀; P(R₁)/P(R₋₁) = e^(2h_G)"))
}
