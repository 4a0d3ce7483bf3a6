//! Are the regularity conditions met? What the theorem on M-estimators asks for, as numbers.

use padir_base::mask::MaskLaw;
use padir_base::random::{Purpose, Seed};

use crate::chain::{Blocks, ChainError, Matrix};
use crate::distribution::Distribution;
use crate::entropy::kullback_leibler;
use crate::estimate::{EnumeratedLoss, Loss};
use crate::linalg;
use crate::model::Family;

/// The conditions one by one.
#[derive(Clone, Debug)]
pub struct Regularity {
    /// d.
    pub dimension: usize,
    /// The rank of T − E T on the possible states: d iff different parameters are different distributions.
    pub rank: usize,
    /// Directions along which the distribution does not change.
    pub silent: Vec<Vec<f64>>,
    /// Parameters whose sites the law never hides.
    pub untouched: Vec<usize>,
    /// KL(p ‖ pθ*): realisability.
    pub divergence: f64,
    /// max |∇L(θ*)|: θ* minimises the loss.
    pub gradient: f64,
    /// The eigenvalues of ∇²L(θ*), smallest first; positive: the minimum is unique.
    pub curvature: Vec<f64>,
    /// max ‖T(x) − T(y)‖₂ over states that the loss compares: no gradient of log `pθ(x_K` | x₋ₖ, K) is longer, at any θ,
    /// and no Hessian larger than a quarter of its square.
    pub lipschitz: f64,
    /// Whether every state is possible.
    pub positive: bool,
    /// The smallest eigenvalue of ∇²L, relative to the largest, at random parameters: not negative iff convex there.
    pub convexity: f64,
    /// The largest L((a + b)/2) − (L(a) + L(b))/2 between them, relative to |L|: not positive iff convex.
    pub midpoint: f64,
}

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub struct RegularitySettings {
    /// Random parameters lie in [−R, R].
    pub radius: f64,
    /// How many are tried.
    pub points: usize,
    /// The seed.
    pub seed: u64,
}

impl Default for RegularitySettings {
    fn default() -> Self {
        Self { radius: 2.0, points: 16, seed: 0 }
    }
}

/// Eigenvalues below this fraction of the largest are rounding.
const RANK: f64 = 1e-10;

impl Regularity {
    /// Whether all conditions of asymptotic normality are met: realisable, with a unique minimum.
    pub fn holds(&self) -> bool {
        let largest = self.curvature.last().copied().unwrap_or(0.0);
        let smallest = self.curvature.first().copied().unwrap_or(0.0);
        self.rank == self.dimension
            && self.untouched.is_empty()
            && self.divergence < 1e-12
            && smallest > 1e-14 * largest
    }

    /// Checks a family at its parameters θ* under a law.
    ///
    /// # Errors
    /// If the law cannot be analysed.
    pub fn of(
        p: &Distribution,
        family: &Family,
        parameters: &[f64],
        law: &MaskLaw,
        settings: &RegularitySettings,
    ) -> Result<Self, ChainError> {
        let space = p.space();
        let blocks = Blocks::of(law, space)?;
        let d = family.dimension();
        let probs = p.probs();
        let loss = EnumeratedLoss::from_frequencies(family, &blocks, &probs);
        let mut gradient = vec![0.0; d];
        loss.gradient(parameters, &mut gradient);
        let whole = Blocks::of(&MaskLaw::All, space)?;
        let fisher = super::score_covariance(p, family, &whole)?;
        let silent = silent_directions(&fisher);
        let curvature = linalg::eigen(&loss.hessian(parameters)).map_or_else(Vec::new, |e| e.0);
        let (convexity, midpoint) = convexity(&loss, settings);
        Ok(Self {
            dimension: d,
            rank: d - silent.len(),
            silent,
            untouched: loss.untouched(),
            divergence: kullback_leibler(&probs, &family.distribution(space, parameters)),
            gradient: gradient.iter().fold(0.0, |m, g| m.max(g.abs())),
            curvature,
            lipschitz: lipschitz(family, &blocks),
            positive: p.log_probs().iter().all(|l| l.is_finite()),
            convexity,
            midpoint,
        })
    }
}

/// The null vectors of a covariance of statistics, scaled to unit diagonal first.
fn silent_directions(covariance: &Matrix<f64>) -> Vec<Vec<f64>> {
    let d = covariance.size();
    let scale: Vec<f64> = (0..d)
        .map(|i| covariance.at(i, i).sqrt())
        .map(|s| if s > 0.0 { 1.0 / s } else { 1.0 })
        .collect();
    let mut scaled = Matrix::zero(d);
    for i in 0..d {
        for j in 0..d {
            scaled.set(i, j, covariance.at(i, j) * scale[i] * scale[j]);
        }
    }
    let Some((values, vectors)) = linalg::eigen(&scaled) else { return Vec::new() };
    let largest = values.last().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
    let null = (0..d).filter(|&k| values[k] <= RANK * largest);
    null.map(|k| (0..d).map(|i| vectors.at(i, k) * scale[i]).collect()).collect()
}

/// The longest T(x) − T(y) of states in one group.
fn lipschitz(family: &Family, blocks: &Blocks) -> f64 {
    let space = blocks.space();
    let d = family.dimension();
    let statistic =
        |x: usize| -> Vec<f64> { (0..d).map(|i| family.statistic(&space, x, i)).collect() };
    let all: Vec<Vec<f64>> = (0..space.size()).map(statistic).collect();
    let mut longest = 0.0_f64;
    for entry in blocks.entries() {
        let fillings = space.fillings(entry.block);
        for group in space.groups(entry.block) {
            let states = || fillings.iter().map(|f| group + f).filter(|&x| family.allows(x));
            for x in states() {
                for y in states().take_while(|&y| y < x) {
                    let square: f64 =
                        all[x].iter().zip(&all[y]).map(|(a, b)| (a - b).powi(2)).sum();
                    longest = longest.max(square);
                }
            }
        }
    }
    longest.sqrt()
}

/// The smallest relative curvature and the largest excess at midpoints, over random parameters.
fn convexity(loss: &EnumeratedLoss, settings: &RegularitySettings) -> (f64, f64) {
    let d = loss.dimension();
    let mut stream = Seed(settings.seed).stream(Purpose::Search, 1);
    let mut draw = || -> Vec<f64> {
        (0..d).map(|_| settings.radius * 2.0_f64.mul_add(stream.uniform(), -1.0)).collect()
    };
    let mut scratch = vec![0.0; d];
    let mut value = |at: &[f64]| loss.gradient(at, &mut scratch);
    let (mut smallest, mut excess) = (f64::INFINITY, f64::NEG_INFINITY);
    for _ in 0..settings.points.max(1) {
        let (a, b) = (draw(), draw());
        let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| f64::midpoint(*a, *b)).collect();
        let (left, right, between) = (value(&a), value(&b), value(&middle));
        let scale = left.abs().max(right.abs()).max(f64::MIN_POSITIVE);
        excess = excess.max((between - f64::midpoint(left, right)) / scale);
        if let Some((values, _)) = linalg::eigen(&loss.hessian(&a)) {
            let largest = values.last().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
            smallest = smallest.min(values.first().copied().unwrap_or(0.0) / largest);
        }
    }
    (smallest, excess)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Edge, Shape};
    use crate::model::{Ising, Model, Potts};

    #[test]
    fn an_ising_model_is_regular() {
        let model =
            Model::Ising(Ising::uniform(4, &Shape::Chain { periodic: true }, 0.3, 0.5).unwrap());
        let (p, family) = (model.enumerate().unwrap(), model.family().unwrap());
        for k in 1..=4 {
            let law = MaskLaw::Exactly { k };
            let settings = RegularitySettings::default();
            let found = Regularity::of(&p, &family, &model.parameters(), &law, &settings).unwrap();
            assert!(found.holds(), "k = {k}: {found:?}");
            assert!(found.gradient < 1e-14 && found.divergence < 1e-20, "k = {k}: {found:?}");
            assert!(found.convexity > -1e-12 && found.midpoint < 1e-12, "k = {k}: {found:?}");
            // One spin of a ring moves its field and two couplings, by 2 each.
            if k == 1 {
                assert!((found.lipschitz - 12_f64.sqrt()).abs() < 1e-12, "{}", found.lipschitz);
            }
        }
    }

    /// A law that never hides site 1 says nothing about its field; a table with one possible state per
    /// group says nothing at all.
    #[test]
    fn what_is_not_identified_is_named() {
        let model = Model::Ising(Ising::uniform(3, &Shape::Independent, 0.3, 0.0).unwrap());
        let (p, family) = (model.enumerate().unwrap(), model.family().unwrap());
        let law = crate::chain::block(vec![0, 2]);
        let settings = RegularitySettings::default();
        let found = Regularity::of(&p, &family, &model.parameters(), &law, &settings).unwrap();
        assert_eq!((found.untouched.clone(), found.rank), (vec![1], 3));
        assert!(!found.holds());
    }

    /// Three sites of two symbols, every pair coupled: agreement of 0-1, 1-2 and 0-2 are dependent only
    /// through the states, not linearly; a doubled statistic is.
    #[test]
    fn parameters_that_do_not_matter_are_found() {
        let fields = vec![vec![0.0, 0.4]; 2];
        let model = Model::Potts(Potts::new(2, fields, vec![Edge(0, 1)], vec![0.7]).unwrap());
        let (p, family) = (model.enumerate().unwrap(), model.family().unwrap());
        let settings = RegularitySettings::default();
        let found =
            Regularity::of(&p, &family, &model.parameters(), &MaskLaw::All, &settings).unwrap();
        assert!(found.silent.is_empty() && found.holds());
        // A point mass: nothing varies, so every direction is silent.
        let covariance = Matrix::zero(2);
        assert_eq!(silent_directions(&covariance).len(), 2);
    }
}
