//! Reaching the mode: k-Gibbs fast, independent parallel slowly, and the gap between them.
//!
//! Symbols: c = |C|, `h_G` = `Σ_C` hᵢ, J₀ = J − ‖h‖₁.

use crate::model::Clique;
use crate::wide::Wide;

/// A condition with the numbers it compares.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumption {
    /// What is asked, as a formula.
    pub condition: &'static str,
    /// The left side.
    pub left: f64,
    /// The right side.
    pub right: f64,
    /// Whether it holds.
    pub holds: bool,
}

impl Assumption {
    fn at_least(condition: &'static str, left: f64, right: f64) -> Self {
        Self { condition, left, right, holds: left >= right }
    }

    fn more(condition: &'static str, left: f64, right: f64) -> Self {
        Self { condition, left, right, holds: left > right }
    }
}

/// How strongly ferromagnetic a clique model is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// J₀ = J − ‖h‖₁, the largest that the assumption allows.
    pub j0: f64,
    /// `h_G` = Σ over the clique of hᵢ.
    pub h_g: f64,
}

impl Strength {
    /// The strength of a model.
    pub fn of(model: &Clique) -> Self {
        let norm: f64 = model.fields().iter().map(|h| h.abs()).sum();
        Self { j0: model.coupling() - norm, h_g: model.total_field() }
    }

    /// The assumption of a strongly ferromagnetic model.
    pub fn assumptions(model: &Clique) -> Vec<Assumption> {
        let strength = Self::of(model);
        let free: f64 = model.fields()[model.size()..].iter().map(|h| h.abs()).sum();
        vec![
            Assumption::more("h_G > 0", strength.h_g, 0.0),
            Assumption::more("h_G > Σ_{i∉C} |h_i|", strength.h_g, free),
            Assumption::more("J − ‖h‖₁ > 0", strength.j0, 0.0),
        ]
    }
}

/// The modes of a clique model: how much more probable they are than anything else.
///
/// Exact at any N: free vertices add ± Σ |hᵢ|, and among states with m clique spins up the most probable has those of the
/// largest fields up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeRatios {
    /// The smallest ln p(x)/p(y), x ∈ R₁ and y ∈ R₋₁; positive for strongly ferromagnetic models.
    pub up_over_down: f64,
    /// The smallest ln p(y)/p(z), y ∈ R₋₁ and z in neither; at least 2J₀.
    pub down_over_other: f64,
    /// ln P(R₁)/P(R₋₁), which is 2`h_G`: the bijection that turns the clique.
    pub masses: f64,
}

impl ModeRatios {
    /// The ratios of a model.
    pub fn of(model: &Clique) -> Self {
        let (c, j) = (model.size(), model.coupling());
        let free: f64 = model.fields()[c..].iter().map(|h| h.abs()).sum();
        let mut fields = model.fields()[..c].to_vec();
        fields.sort_by(|a, b| b.total_cmp(a));
        let couplings = |up: usize| {
            let sum = 2.0 * up as f64 - c as f64;
            j * (sum * sum - c as f64) / 2.0
        };
        // The most probable clique state with so many spins up.
        let best = |up: usize| {
            let (raised, lowered) = fields.split_at(up);
            raised.iter().sum::<f64>() - lowered.iter().sum::<f64>() + couplings(up)
        };
        let others = (1..c).map(best).fold(f64::NEG_INFINITY, f64::max);
        Self {
            up_over_down: best(c) - best(0) - 2.0 * free,
            down_over_other: best(0) - others - 2.0 * free,
            masses: best(c) - best(0),
        }
    }
}

/// k-Gibbs reaches R₁ within T = ⌈`log_c` δ⌉ steps with probability 1 − δ, from anywhere, k ≥ |C|.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeFast {
    /// 1 − c: a lower bound on the chance of a single step.
    pub success: f64,
    /// T; none if k < |C|, where the proposition says nothing.
    pub steps: Option<f64>,
    /// What is assumed.
    pub assumptions: Vec<Assumption>,
}

impl ModeFast {
    /// The bound for blocks of k and confidence 1 − δ.
    pub fn new(model: &Clique, k: usize, delta: f64) -> Self {
        let (n, c) = (model.sites(), model.size());
        let Strength { j0, h_g } = Strength::of(model);
        let mut assumptions = Strength::assumptions(model);
        assumptions.push(Assumption::at_least("k ≥ |C|", k as f64, c as f64));
        // e^{2(J₀+h_G)} / (e^{2(J₀+h_G)} + e^{2J₀} + 2^c − 2), divided by its numerator.
        let others = (-2.0 * h_g).exp() + (2_f64.powi(c as i32) - 2.0) * (-2.0 * (j0 + h_g)).exp();
        let success = if k >= c { covering(n, c, k) / (1.0 + others) } else { 0.0 };
        let steps = if success >= 1.0 {
            Some(1.0)
        } else {
            (success > 0.0).then(|| (delta.ln() / (-success).ln_1p()).ceil().max(1.0))
        };
        Self { success, steps, assumptions }
    }
}

/// P(C ⊂ K) = C(N−c, k−c) / C(N, k) for a uniform k-subset.
pub(crate) fn covering(n: usize, c: usize, k: usize) -> f64 {
    (0..c).map(|i| (k - i) as f64 / (n - i) as f64).product()
}

/// Independent parallel stays at `Σ_C` xᵢ ≤ −2 for T = ⌊(δ/2) `e^{c_stuck`}⌋ steps with
/// probability 1 − δ, if it starts there.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeSlow {
    /// The exponent.
    pub c_stuck: f64,
    /// T, as a number that may be astronomically large.
    pub steps: Wide,
    /// What is assumed.
    pub assumptions: Vec<Assumption>,
}

impl ModeSlow {
    /// The bound for confidence 1 − δ.
    pub fn new(model: &Clique, delta: f64) -> Self {
        let c = model.size() as f64;
        let Strength { j0, .. } = Strength::of(model);
        // (1 − e^{−2J₀}) / (1 + e^{−2J₀}) = tanh J₀.
        let r = j0.tanh() * c / 2.0 - 1.0;
        let c_stuck = 2.0 * r * r / c;
        let mut assumptions = Strength::assumptions(model);
        // The proof applies Hoeffding with deviation r, which must be positive.
        assumptions.push(Assumption::more("tanh(J₀)·|C|/2 > 1", j0.tanh() * c / 2.0, 1.0));
        let steps = Wide::new(delta / 2.0) * Wide::exp(c_stuck);
        let floored = steps.to_f64().floor();
        let steps = if floored < 9e15 { Wide::new(floored) } else { steps };
        Self { c_stuck, steps, assumptions }
    }
}

/// The separation: k-Gibbs reaches R₁ in one step, independent parallel not within M, both with
/// probability 1 − δ together.
#[derive(Clone, Debug, PartialEq)]
pub struct Separation {
    /// The strongly ferromagnetic model.
    pub ferromagnetic: Vec<Assumption>,
    /// The strong interactions.
    pub interactions: Vec<Assumption>,
    /// The large coordinate set.
    pub large_k: Vec<Assumption>,
}

impl Separation {
    /// Checks the corollary's assumptions for blocks of k, confidence 1 − δ and M steps.
    pub fn new(model: &Clique, k: usize, delta: f64, m: f64) -> Self {
        let (n, c) = (model.sites() as f64, model.size() as f64);
        let Strength { j0, h_g } = Strength::of(model);
        let interactions = vec![
            Assumption::at_least("|C| ≥ 8 (1 + ln(4M/δ))", c, 8.0 * (1.0 + (4.0 * m / delta).ln())),
            Assumption::at_least(
                "h_G ≥ ½ ln(2(4−δ)/δ)",
                h_g,
                0.5 * (2.0 * (4.0 - delta) / delta).ln(),
            ),
            Assumption::at_least("J₀ ≥ ½ |C| ln 2", j0, 0.5 * c * 2_f64.ln()),
        ];
        let least = c.max(n - delta * (n + 1.0) / ((4.0 - delta) * c + delta));
        let large_k =
            vec![Assumption::at_least("k ≥ max(|C|, N − δ(N+1)/((4−δ)|C|+δ))", k as f64, least)];
        Self { ferromagnetic: Strength::assumptions(model), interactions, large_k }
    }

    /// Whether the corollary applies.
    pub fn applies(&self) -> bool {
        let all = [&self.ferromagnetic, &self.interactions, &self.large_k];
        all.into_iter().flatten().all(|assumption| assumption.holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hitting::{Update, clique_hitting};

    #[test]
    fn covering_is_the_ratio_of_binomials() {
        // C(6, 2) / C(10, 6) = 15 / 210.
        assert!((covering(10, 4, 6) - 15.0 / 210.0).abs() < 1e-15);
        assert!((covering(7, 3, 7) - 1.0).abs() < 1e-15);
    }

    /// The bound holds with the exact distribution: P(T > bound) ≤ δ.
    #[test]
    fn the_mode_is_reached_as_fast_as_promised() {
        let model = Clique::uniform(10, 4, 5.0, 60.0).unwrap();
        for k in 4..=10 {
            for delta in [0.5, 0.1, 0.01] {
                let bound = ModeFast::new(&model, k, delta).steps.unwrap();
                let exact = clique_hitting(&model, Update::Gibbs(k)).unwrap();
                let survival = exact.survival(bound as usize);
                let left = survival[survival.len() - 1];
                assert!(left <= delta * (1.0 + 1e-12), "k = {k}, δ = {delta}: {left}");
            }
        }
    }

    /// And the slow one: within the promised steps R₁ is reached with probability at most δ.
    #[test]
    fn the_mode_is_reached_as_slowly_as_promised() {
        for (size, j) in [(10, 30.0), (40, 30.0), (80, 90.0)] {
            let model = Clique::uniform(size, size, 0.25, j).unwrap();
            let bound = ModeSlow::new(&model, 0.5);
            let steps = bound.steps.to_f64().min(2000.0);
            let exact = clique_hitting(&model, Update::Parallel).unwrap();
            assert!(exact.arrival(steps as usize).to_f64() <= 0.5, "|C| = {size}");
        }
    }

    /// The event of the proposition is Σ ≤ −2 at every step, from any start that satisfies it: the
    /// exact number of steps is never below the bound, and one more step breaks the promise.
    #[test]
    fn the_stuck_chain_stays_exactly_as_long() {
        use crate::hitting::clique_escape;
        for (size, field, j, delta) in
            [(12, 0.01, 1.5, 0.5), (9, 0.0, 1.0, 0.3), (40, 0.25, 30.0, 0.1)]
        {
            let model = Clique::uniform(size, size, field, j).unwrap();
            let bound = ModeSlow::new(&model, delta).steps;
            for escape in clique_escape(&model).unwrap() {
                let steps = escape.safe_steps(delta);
                assert!(steps >= bound, "|C| = {size}: {steps} < {bound}");
                let steps = steps.to_f64();
                if steps < 1e5 {
                    let within = |t: f64| escape.arrival(t as usize).to_f64();
                    assert!(within(steps) < delta && within(steps + 1.0) >= delta, "|C| = {size}");
                }
            }
        }
    }

    /// Strongly ferromagnetic modes: p(y) ≥ e^{2J₀} p(z) for y ∈ R₋₁ and z in neither mode; the paper
    /// prints a strict inequality, which fails at |C| = 2, h = (0, 1), J = 2.
    #[test]
    fn the_ratio_of_modes_is_not_strict() {
        use crate::graph::Edge;
        use crate::model::{Ising, Model};
        let ising = Ising::new(vec![0.0, 1.0], vec![Edge(0, 1)], vec![2.0]).unwrap();
        let strength = Strength::of(&ising.as_clique().unwrap());
        let p = Model::Ising(ising).enumerate().unwrap();
        // y = −−, z = −+: index 0 and 2.
        let ratio = p.log_prob(0) - p.log_prob(2);
        assert!((ratio - 2.0 * strength.j0).abs() < 1e-14, "{ratio} and {}", 2.0 * strength.j0);
    }

    /// The closed forms against all states, with unequal fields of both signs.
    #[test]
    fn ratios_of_modes_are_those_of_the_states() {
        use crate::model::{Ising, Model};
        let edges = crate::graph::Shape::Clique { size: Some(3) }.edges(5).unwrap();
        let fields = vec![0.4, -0.2, 0.3, 0.1, -0.25];
        let ising = Ising::new(fields, edges, vec![1.7; 3]).unwrap();
        let found = ModeRatios::of(&ising.as_clique().unwrap());
        let p = Model::Ising(ising).enumerate().unwrap();
        let extreme = |test: &dyn Fn(usize) -> bool, largest: bool| {
            let logs = (0..32).filter(|&x| test(x & 7)).map(|x| p.log_prob(x));
            if largest {
                logs.fold(f64::NEG_INFINITY, f64::max)
            } else {
                logs.fold(f64::INFINITY, f64::min)
            }
        };
        let up = extreme(&|c| c == 7, false) - extreme(&|c| c == 0, true);
        let down = extreme(&|c| c == 0, false) - extreme(&|c| c != 0 && c != 7, true);
        assert!((found.up_over_down - up).abs() < 1e-13, "{found:?} {up}");
        assert!((found.down_over_other - down).abs() < 1e-13, "{found:?} {down}");
        let masses = p.log_mode(0b111, 1) - p.log_mode(0b111, 0);
        assert!((found.masses - masses).abs() < 1e-13 && (masses - 1.0).abs() < 1e-13);
    }

    #[test]
    fn the_separation_names_what_fails() {
        // |C| = 80 ≥ 8(1 + ln 4000) = 74.4; h_G = 16; J₀ = 50 − 16 = 34 ≥ 27.7.
        let strong = Clique::uniform(80, 80, 0.2, 50.0).unwrap();
        assert!(Separation::new(&strong, 80, 0.1, 100.0).applies());
        let small_k = Separation::new(&strong, 79, 0.1, 100.0);
        assert!(!small_k.applies() && !small_k.large_k[0].holds);
        assert!(small_k.interactions.iter().all(|a| a.holds));
        let weak = Clique::uniform(80, 80, 0.2, 30.0).unwrap();
        let separation = Separation::new(&weak, 80, 0.1, 100.0);
        let failed: Vec<&str> =
            separation.interactions.iter().filter(|a| !a.holds).map(|a| a.condition).collect();
        assert_eq!(failed, ["J₀ ≥ ½ |C| ln 2"]);
    }
}
