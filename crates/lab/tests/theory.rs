//! Tensorisation, decay and asymptotics against what theory says about random models.

mod common;

use padir_base::TokenId;
use padir_base::mask::{Block, Case, MaskLaw};
use padir_base::random::{Purpose, Seed};
use padir_lab::asymptotics::by_block_size;
use padir_lab::chain::{Blocks, Chain, Matrix, block_matrix};
use padir_lab::decay::{chi_squared_bound, decay, kullback_leibler_bound, point_mass};
use padir_lab::graph::Shape;
use padir_lab::inequality::{Inequality, SearchSettings, constant, ratio_of, tensorisation};
use padir_lab::model::{Ising, Model, Table};
use padir_lab::sample::{AnyBlocks, CliqueBlocks, Kernel, Parallel, Plan, SingleSite, Start, run};
use padir_lab::space::Space;
use padir_lab::spectrum::poincare;
use padir_lab::wide::Wide;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Γᵏ⁺¹ ⪯ Γᵏ, Γᵏ ⪯ C·I⁻¹ and Γᴺ = I⁻¹.
    #[test]
    fn masking_more_is_better(model in common::ising(4)) {
        let model = Model::Ising(model);
        let p = model.enumerate().unwrap();
        let all: Vec<usize> = (1..=p.space().sites()).collect();
        let rows = by_block_size(&p, model.family().as_ref(), &all, || ()).unwrap();
        for row in &rows {
            let trace = row.trace.unwrap();
            if let Some(order) = row.mono {
                prop_assert!(order.absolute > -1e-12 * trace, "k = {}: {order:?}", row.k);
                prop_assert!((-1e-12..1.0).contains(&order.relative), "k = {}: {order:?}", row.k);
            }
            let (scale, order) = (trace * row.poincare.constant(), row.bound.unwrap());
            prop_assert!(order.absolute > -1e-10 * scale, "k = {}: {order:?}", row.k);
            prop_assert!((-1e-10..1.0).contains(&order.relative), "k = {}: {order:?}", row.k);
        }
        let last = rows.last().unwrap().bound.unwrap();
        prop_assert!(last.absolute.abs() < 1e-9 * rows[0].trace.unwrap());
    }

    /// χ² and KL stay below their bounds at every step, from every corner.
    #[test]
    fn decay_respects_its_bounds(model in common::ising(3), corner in 0..8_usize) {
        let p = Model::Ising(model.clone()).enumerate().unwrap();
        let law = MaskLaw::Exactly { k: 1 };
        let start = point_mass(p.space().size(), corner % p.space().size());
        let curve = decay(&p, &Chain::Blocks(law.clone()), &start, 12, || ()).unwrap();
        let constant = poincare(&p, &law, || ()).unwrap().constant();
        let settings = SearchSettings { starts: 2, iterations: 60, seed: Seed(0) };
        let found = tensorisation(&p, &law, &settings, || ()).unwrap();
        let tensor = found.upper.unwrap().value;
        for d in &curve {
            let chi = chi_squared_bound(constant, curve[0].chi_squared, d.step);
            prop_assert!(d.chi_squared <= chi * (1.0 + 1e-9) + 1e-15, "χ² at {}", d.step);
            let kl = kullback_leibler_bound(tensor, curve[0].kullback_leibler, d.step);
            prop_assert!(d.kullback_leibler <= kl * (1.0 + 1e-9) + 1e-15, "KL at {}", d.step);
        }
        prop_assert!(found.lower >= constant && tensor >= found.lower * (1.0 - 1e-9));
    }

    /// `C_MLS` ≤ `C_AT` ≤ `C_LS`, each between its limit, what was found and what is proven.
    #[test]
    fn constants_stand_in_order(model in common::model(), k in 1..=3_usize) {
        let p = model.enumerate().unwrap();
        let law = MaskLaw::Exactly { k: k.min(model.sites()) };
        let settings = SearchSettings { starts: 1, iterations: 40, seed: Seed(0) };
        let find = |inequality| constant(inequality, &p, &law, &settings, || ()).unwrap();
        let tensor = find(Inequality::Tensorisation);
        let (full, modified) = (find(Inequality::LogSobolev), find(Inequality::ModifiedLogSobolev));
        for found in [&tensor, &full, &modified] {
            prop_assert!(found.lower <= found.upper.unwrap().value * (1.0 + 1e-9), "{found:?}");
        }
        prop_assert!(modified.lower <= tensor.upper.unwrap().value * (1.0 + 1e-9));
        // The density that is worst for one inequality is a density for the next.
        let blocks = Blocks::of(&law, p.space()).unwrap();
        let ratio = ratio_of(Inequality::LogSobolev, &p, &blocks, &tensor.log_certificate);
        prop_assert!(ratio >= tensor.certified * (1.0 - 1e-9), "{ratio} {}", tensor.certified);
    }
}

/// k = N resamples everything: the constant is 1 at any coupling, and nothing certifies more.
#[test]
fn whole_blocks_tensorise_with_one() {
    let shape = Shape::Clique { size: None };
    let p = Model::Ising(Ising::uniform(5, &shape, 3.0, 10.0).unwrap()).enumerate().unwrap();
    let found =
        tensorisation(&p, &MaskLaw::Exactly { k: 5 }, &SearchSettings::default(), || ()).unwrap();
    assert!((found.lower - 1.0).abs() < 1e-12, "{}", found.lower);
    assert!((found.upper.unwrap().value - 1.0).abs() < 1e-12, "{:?}", found.upper);
    assert!((found.certified - 1.0).abs() < 1e-9, "{}", found.certified);
}

/// A point mass has no other law absolutely continuous to it: only the limit is left.
#[test]
fn a_point_mass_has_a_constant() {
    let table = Table::new(Space::new(2, 2).unwrap(), vec![0.0, 1.0, 0.0, 0.0]).unwrap();
    let p = Model::Table(table).enumerate().unwrap();
    let law = MaskLaw::Exactly { k: 1 };
    let found = tensorisation(&p, &law, &SearchSettings::default(), || ()).unwrap();
    assert!((found.lower - 1.0).abs() < f64::EPSILON && found.starts.is_empty());
}

/// The KL of a table with a zero stays below its bound from every corner.
#[test]
fn zeros_do_not_break_the_bound() {
    for values in [[0.001, 0.07, 0.0, 0.929], [0.5, 1.0 / 6.0, 1.0 / 3.0, 0.0]] {
        let table = Table::new(Space::new(2, 2).unwrap(), values.to_vec()).unwrap();
        let p = Model::Table(table).enumerate().unwrap();
        let law = MaskLaw::Exactly { k: 1 };
        let found = tensorisation(&p, &law, &SearchSettings::default(), || ()).unwrap();
        let upper = found.upper.unwrap().value;
        for corner in (0..4).filter(|&x| values[x] > 0.0) {
            let start = point_mass(4, corner);
            let curve = decay(&p, &Chain::Blocks(law.clone()), &start, 20, || ()).unwrap();
            for d in &curve {
                let bound = kullback_leibler_bound(upper, curve[0].kullback_leibler, d.step);
                assert!(d.kullback_leibler <= bound * (1.0 + 1e-12), "{values:?} at {}", d.step);
            }
        }
    }
}

/// At strong coupling `C_AT` is not below the Poincaré constant, whatever the search found.
#[test]
fn tensorisation_is_not_below_poincare() {
    let cases =
        [(Shape::Clique { size: None }, 4, 10.0), (Shape::Chain { periodic: true }, 6, 2.0)];
    for (shape, n, j) in cases {
        let p = Model::Ising(Ising::uniform(n, &shape, 0.0, j).unwrap()).enumerate().unwrap();
        let law = MaskLaw::Exactly { k: 1 };
        let settings = SearchSettings { starts: 1, iterations: 30, seed: Seed(0) };
        let found = tensorisation(&p, &law, &settings, || ()).unwrap();
        let constant = poincare(&p, &law, || ()).unwrap().constant();
        assert!(found.lower >= constant, "{} < {constant}", found.lower);
    }
}

/// A product measure under uniform k-subsets: exactly N/k.
#[test]
fn product_measures_tensorise_exactly() {
    let model = Ising::new(vec![0.3, -0.8, 0.1, 1.2], vec![], vec![]).unwrap();
    let p = Model::Ising(model).enumerate().unwrap();
    let settings = SearchSettings { starts: 4, iterations: 100, seed: Seed(0) };
    for k in 1..=4 {
        let law = MaskLaw::Exactly { k };
        let found = tensorisation(&p, &law, &settings, || ()).unwrap();
        let expected = 4.0 / k as f64;
        assert!((found.lower - expected).abs() < 1e-9, "k = {k}: {}", found.lower);
        let upper = found.upper.unwrap().value;
        assert!((upper - expected).abs() < 1e-9, "k = {k}: {upper}");
        let blocks = Blocks::of(&law, p.space()).unwrap();
        let certified = ratio_of(Inequality::Tensorisation, &p, &blocks, &found.log_certificate);
        assert!(certified > expected - 1e-6, "k = {k}: certificate of {certified}");
    }
}

/// The paper's printed `e^{−2t/C_AT`} is violated by one spin, `e^{−t/C_AT`} is not. One resampling
/// at rate one: `p_t` = e^{−t} p₀ + (1 − e^{−t}) q, and `C_AT` = 1.
#[test]
fn the_printed_kl_bound_is_false() {
    let q: f64 = 1e-6;
    let start = -q.ln();
    let kl = |t: f64| {
        let mass = (-t).exp() + (1.0 - (-t).exp()) * q;
        mass * (mass / q).ln() + (1.0 - mass) * ((1.0 - mass) / (1.0 - q)).ln()
    };
    assert!(kl(1.0) > 1.5 * (-2.0_f64).exp() * start, "the printed bound would hold");
    assert!(kl(1.0) < (-1.0_f64).exp() * start);
}

/// The lemma on conditioning on K: p(x₁ = 0 | x₀ = 0, K) is not p(x₁ = 0 | x₀ = 0).
#[test]
fn the_worked_adaptive_example() {
    // State index: x₀ + 2 x₁; p(00) = 1/2, p(10) = 1/6, p(01) = 1/3, p(11) = 0.
    let space = Space::new(2, 2).unwrap();
    let table = Table::new(space, vec![1.0 / 2.0, 1.0 / 6.0, 1.0 / 3.0, 0.0]).unwrap();
    let p = Model::Table(table).enumerate().unwrap();
    let blocks = |first: f64| MaskLaw::Blocks {
        blocks: vec![
            Block { positions: vec![0], weight: first },
            Block { positions: vec![1], weight: 1.0 - first },
        ],
    };
    let case =
        |x: [u32; 2], first: f64| Case { when: x.map(TokenId).to_vec(), then: blocks(first) };
    // In the paper {0} and {1} name what stays visible in the conditional; here K is hidden, so
    // the weights of hiding site 1 are those of its set {0}.
    let law = MaskLaw::Adaptive {
        cases: vec![case([0, 0], 1.0 / 2.0), case([0, 1], 2.0 / 3.0), case([1, 0], 3.0 / 4.0)],
        otherwise: Box::new(blocks(0.5)),
    };
    let listed = Blocks::of(&law, space).unwrap();
    let hide_one = listed.entries().iter().find(|e| e.block == 0b10).unwrap();
    let weight = |x: usize| p.log_prob(x).exp() * hide_one.weight.of(x);
    let given_k = weight(0) / (weight(0) + weight(2));
    assert!((given_k - 9.0 / 13.0).abs() < 1e-15, "{given_k}");
    let plain = p.log_conditional(0, 0b10).unwrap()[0].exp();
    assert!((plain - 3.0 / 5.0).abs() < 1e-15, "{plain}");
    // Read as the definitions read them, K being hidden, the two sets give 9/17 and 6/7.
    let literal = MaskLaw::Adaptive {
        cases: vec![case([0, 0], 1.0 / 2.0), case([0, 1], 1.0 / 3.0), case([1, 0], 1.0 / 4.0)],
        otherwise: Box::new(blocks(0.5)),
    };
    let literal = Blocks::of(&literal, space).unwrap();
    for (hidden, other, expected) in [(0b10, 2, 9.0 / 17.0), (0b01, 1, 6.0 / 7.0)] {
        let entry = literal.entries().iter().find(|e| e.block == hidden).unwrap();
        let weight = |x: usize| p.log_prob(x).exp() * entry.weight.of(x);
        let found = weight(0) / (weight(0) + weight(other));
        assert!((found - expected).abs() < 1e-15, "{hidden:b}: {found} for {expected}");
    }
    // And the chain of this law still has p as its law.
    let matrix: Matrix<f64> = block_matrix(&p, &listed).unwrap();
    let after = matrix.push(&p.probs());
    for (a, b) in after.iter().zip(p.probs()) {
        assert!((a - b).abs() < 1e-15);
    }
}

/// Every kernel draws from the law its matrix says, after a few steps from all −1.
#[test]
fn kernels_have_their_exact_laws() {
    let clique = padir_lab::model::Clique::uniform(5, 3, 0.2, 0.6).unwrap();
    let ising = clique.to_ising();
    let p = Model::Ising(ising.clone()).enumerate().unwrap();
    let gibbs = |k| MaskLaw::Exactly { k };
    let adaptive = common::laws(5, 2).pop().unwrap().1;
    let matrix = |law: &MaskLaw| -> Matrix<f64> {
        block_matrix(&p, &Blocks::of(law, p.space()).unwrap()).unwrap()
    };
    let cases: Vec<(&str, Box<dyn Kernel>, Matrix<f64>)> = vec![
        ("single site", Box::new(SingleSite::new(&ising)), matrix(&gibbs(1))),
        ("clique", Box::new(CliqueBlocks::new(&clique, 3).unwrap()), matrix(&gibbs(3))),
        ("blocks", Box::new(AnyBlocks::new(ising.clone(), &gibbs(2)).unwrap()), matrix(&gibbs(2))),
        (
            "adaptive",
            Box::new(AnyBlocks::new(ising.clone(), &adaptive).unwrap()),
            matrix(&adaptive),
        ),
        (
            "parallel",
            Box::new(Parallel::new(&ising)),
            padir_lab::chain::parallel_matrix(&p).unwrap(),
        ),
    ];
    let chains = 20_000;
    for (name, kernel, matrix) in cases {
        let plan =
            Plan { chains, samples: 1, burn_in: 4, thin: 1, start: Start::Down, seed: Seed(8) };
        let mut expected = point_mass(32, 0);
        for _ in 0..4 {
            expected = matrix.push(&expected);
        }
        let mut counts = vec![0.0; 32];
        for row in run(kernel.as_ref(), &plan, |_| ()) {
            counts[p.space().state_of(row.iter().map(|&s| usize::from(s)))] += 1.0;
        }
        let total = chains as f64;
        let chi2: f64 = counts
            .iter()
            .zip(&expected)
            .filter(|(_, e)| **e > 0.0)
            .map(|(c, e)| (c - total * e).powi(2) / (total * e))
            .sum();
        // 31 degrees of freedom: above 75 has probability 2e-5.
        assert!(chi2 < 75.0, "{name}: χ² = {chi2}");
    }
}

/// A chain with its name, its model, and the updates of a step.
type ChainCase<'a> = (&'static str, &'a Model, Box<dyn Kernel>, Chain, usize);

/// Chains on Potts models and tables, scans and schedules: the law after three steps from all symbols 0.
#[test]
fn chains_of_any_model_have_their_exact_laws() {
    use padir_lab::chain::{Scan, schedule};
    use padir_lab::model::Potts;
    use padir_lab::sample::{AnyParallel, BlockSweep, SiteSweep, local};
    let edges = Shape::Chain { periodic: false }.edges(3).unwrap();
    let fields = vec![vec![0.2, 0.0, -0.3], vec![0.0, 0.5, 0.1], vec![0.0; 3]];
    let potts = Model::Potts(Potts::new(3, fields, edges, vec![0.8, -0.4]).unwrap());
    let table = vec![0.1, 0.2, 0.05, 0.0, 0.15, 0.2, 0.1, 0.2];
    let table = Model::Table(Table::new(Space::new(3, 2).unwrap(), table).unwrap());
    let ring = Ising::uniform(4, &Shape::Chain { periodic: true }, 0.2, 0.6).unwrap();
    let spins = Model::Ising(ring.clone());
    let gibbs = |k| MaskLaw::Exactly { k };
    let linear = MaskLaw::Linear { steps: 3, least: 1 };
    let sweep = |scan: Scan, model: &Model, k| scan.sweep(model, &gibbs(k)).unwrap().unwrap();
    let own = |model: &Model| local(model).unwrap();
    let colours = sweep(Scan::Colour, &spins, 1);
    let pairs = sweep(Scan::Systematic, &potts, 2);
    let potts_colours = sweep(Scan::Colour, &potts, 1);
    let cases: Vec<ChainCase<'_>> = vec![
        (
            "Potts, 2-Gibbs",
            &potts,
            Box::new(AnyBlocks::new(own(&potts), &gibbs(2)).unwrap()),
            Chain::gibbs(2),
            1,
        ),
        ("Potts, parallel", &potts, Box::new(AnyParallel::new(own(&potts))), Chain::Parallel, 1),
        (
            "Potts, pairs in order",
            &potts,
            Box::new(BlockSweep::new(own(&potts), pairs.clone())),
            Chain::sweep(&pairs),
            2,
        ),
        (
            "Potts, colours",
            &potts,
            Box::new(BlockSweep::coloured(own(&potts), &potts_colours)),
            Chain::sweep(&potts_colours),
            2,
        ),
        (
            "table, 1-Gibbs",
            &table,
            Box::new(AnyBlocks::new(own(&table), &gibbs(1)).unwrap()),
            Chain::gibbs(1),
            1,
        ),
        ("table, parallel", &table, Box::new(AnyParallel::new(own(&table))), Chain::Parallel, 1),
        (
            "ring, colours",
            &spins,
            Box::new(SiteSweep::new(SingleSite::new(&ring), colours.concat())),
            Chain::sweep(&colours),
            2,
        ),
        (
            "ring, schedule",
            &spins,
            Box::new(AnyBlocks::new(ring.clone(), &linear).unwrap()),
            Chain::Cycle(schedule(&linear, 4).unwrap()),
            3,
        ),
    ];
    let chains = 20_000;
    for (name, model, kernel, chain, updates) in cases {
        let p = model.enumerate().unwrap();
        let plan =
            Plan { chains, samples: 1, burn_in: 3, thin: 1, start: Start::Down, seed: Seed(9) };
        let expected = law_after(&p, &chain, 3 * updates);
        let mut counts = vec![0.0; p.space().size()];
        for row in run(kernel.as_ref(), &plan, |_| ()) {
            counts[p.space().state_of(row.iter().map(|&s| usize::from(s)))] += 1.0;
        }
        let total = chains as f64;
        let possible = counts.iter().zip(&expected).filter(|(_, e)| **e > 0.0);
        let chi2: f64 = possible.map(|(c, e)| (c - total * e).powi(2) / (total * e)).sum();
        let impossible = counts.iter().zip(&expected).any(|(c, e)| *e <= 0.0 && *c > 0.0);
        // At most 26 degrees of freedom: above 68 has probability 2e-5.
        assert!(chi2 < 68.0 && !impossible, "{name}: χ² = {chi2}");
    }
}

/// The law after so many updates from state 0, matrix by matrix.
#[expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]
fn law_after(p: &padir_lab::distribution::Distribution, chain: &Chain, updates: usize) -> Vec<f64> {
    use padir_lab::chain::parallel_matrix;
    let matrix = |law: &MaskLaw| -> Matrix<f64> {
        block_matrix(p, &Blocks::of(law, p.space()).unwrap()).unwrap()
    };
    let matrices = match chain {
        Chain::Blocks(law) => vec![matrix(law)],
        Chain::Parallel => vec![parallel_matrix(p).unwrap()],
        Chain::Cycle(laws) => laws.iter().map(matrix).collect(),
    };
    let mut law = point_mass(p.space().size(), 0);
    for step in 0..updates {
        law = matrices[step % matrices.len()].push(&law);
    }
    law
}

#[test]
fn samples_do_not_depend_on_threads() {
    let shape = Shape::Grid { rows: 4, columns: 4, periodic: true };
    let kernel = SingleSite::new(&Ising::uniform(16, &shape, 0.1, 0.3).unwrap());
    let plan =
        Plan { chains: 7, samples: 5, burn_in: 50, thin: 20, start: Start::Random, seed: Seed(1) };
    let draw = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&kernel, &plan, |_| ()))
    };
    assert_eq!(draw(1), draw(3));
}

/// "With probability 0.99 the squared error is at most tr Γ/n" does not follow from Markov's
/// inequality, which needs a factor of 100: in the limit n·|error|² is a sum of squared normals of
/// variance Γ, and on the paper's two-mode model it exceeds tr Γ almost every second time.
#[test]
fn the_trace_is_exceeded_far_more_often_than_once_in_a_hundred() {
    let model = Model::Ising(Ising::uniform(4, &Shape::Clique { size: None }, 0.0, 0.3).unwrap());
    let p = model.enumerate().unwrap();
    let rows = by_block_size(&p, model.family().as_ref(), &[1, 2, 3, 4], || ()).unwrap();
    let mut stream = Seed(5).stream(Purpose::Test, 0);
    for row in &rows {
        let (root, trace) = (cholesky(row.variance.as_ref().unwrap()), row.trace.unwrap());
        let draws = 20_000;
        let (mut within, mut far) = (0, 0);
        for _ in 0..draws {
            let normal: Vec<f64> = root.iter().map(|_| stream.normal()).collect();
            let square: f64 = root
                .iter()
                .map(|row| row.iter().zip(&normal).map(|(a, b)| a * b).sum::<f64>().powi(2))
                .sum();
            within += usize::from(square <= trace);
            far += usize::from(square > 100.0 * trace);
        }
        let share = within as f64 / f64::from(draws);
        assert!((0.5..0.7).contains(&share), "k = {}: {share}", row.k);
        assert_eq!(far, 0, "k = {}", row.k);
    }
}

/// The rows of L with L Lᵀ = A.
fn cholesky(a: &Matrix<f64>) -> Vec<Vec<f64>> {
    let n = a.size();
    let mut rows = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| rows[i][k] * rows[j][k]).sum();
            rows[i][j] =
                if i == j { (a.at(i, i) - sum).sqrt() } else { (a.at(i, j) - sum) / rows[j][j] };
        }
    }
    rows
}

/// "Parallel decoders are exactly the product transitions" needs transitions without zeros: a softmax of
/// finite logits is positive, so a transition that is certain is only approached.
#[test]
fn certain_transitions_are_only_approached() {
    for gap in [1.0, 30.0, 700.0, 5000.0] {
        // TV between a point mass and the softmax of two logits that differ by the gap.
        let weight = Wide::exp(-gap);
        let distance = weight / (Wide::ONE + weight);
        assert!(!distance.is_zero() && (distance.ln() + gap).abs() < 0.7, "{distance}");
    }
}
