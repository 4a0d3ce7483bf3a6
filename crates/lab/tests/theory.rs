//! Tensorisation, decay and asymptotics against what theory says about random models.

mod common;

use padir_base::TokenId;
use padir_base::mask::{Block, Case, MaskLaw};
use padir_base::random::Seed;
use padir_lab::asymptotics::by_block_size;
use padir_lab::chain::{Blocks, Chain, Matrix, block_matrix};
use padir_lab::decay::{chi_squared_bound, decay, kullback_leibler_bound, point_mass};
use padir_lab::graph::Shape;
use padir_lab::model::{Ising, Model, Table};
use padir_lab::sample::{AnyBlocks, CliqueBlocks, Kernel, Parallel, Plan, SingleSite, Start, run};
use padir_lab::space::Space;
use padir_lab::spectrum::poincare;
use padir_lab::tensor::{TensorSettings, ratio_of, tensorisation};
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
            if let Some(smallest) = row.mono_min_eig {
                prop_assert!(smallest > -1e-10 * trace, "k = {}: {smallest}", row.k);
            }
            let scale = trace * row.poincare.constant();
            prop_assert!(row.bound_min_eig.unwrap() > -1e-10 * scale, "k = {}", row.k);
        }
        prop_assert!(rows.last().unwrap().bound_min_eig.unwrap().abs() < 1e-9 * rows[0].trace.unwrap());
    }

    /// χ² and KL stay below their bounds at every step, from every corner.
    #[test]
    fn decay_respects_its_bounds(model in common::ising(3), corner in 0..8_usize) {
        let p = Model::Ising(model.clone()).enumerate().unwrap();
        let law = MaskLaw::Exactly { k: 1 };
        let start = point_mass(p.space().size(), corner % p.space().size());
        let curve = decay(&p, &Chain::Blocks(law.clone()), &start, 12, || ()).unwrap();
        let constant = poincare(&p, &law, || ()).unwrap().constant();
        let blocks = Blocks::of(&law, p.space()).unwrap();
        let settings = TensorSettings { starts: 4, iterations: 150, seed: Seed(0) };
        let tensor = tensorisation(&p, &blocks, &settings, || ()).unwrap().constant;
        for d in &curve {
            let chi = chi_squared_bound(constant, curve[0].chi_squared, d.step);
            prop_assert!(d.chi_squared <= chi * (1.0 + 1e-9) + 1e-15, "χ² at {}", d.step);
            let kl = kullback_leibler_bound(tensor, curve[0].kullback_leibler, d.step);
            prop_assert!(d.kullback_leibler <= kl * (1.0 + 1e-9) + 1e-15, "KL at {}", d.step);
        }
        prop_assert!(tensor >= constant * (1.0 - 1e-9));
    }
}

/// A product measure under uniform k-subsets: exactly N/k.
#[test]
fn product_measures_tensorise_exactly() {
    let model = Ising::new(vec![0.3, -0.8, 0.1, 1.2], vec![], vec![]).unwrap();
    let p = Model::Ising(model).enumerate().unwrap();
    let settings = TensorSettings { starts: 4, iterations: 100, seed: Seed(0) };
    for k in 1..=4 {
        let blocks = Blocks::of(&MaskLaw::Exactly { k }, p.space()).unwrap();
        let found = tensorisation(&p, &blocks, &settings, || ()).unwrap();
        let expected = 4.0 / k as f64;
        assert!((found.constant - expected).abs() < 1e-6, "k = {k}: {}", found.constant);
        let certified = ratio_of(&p, &blocks, &found.log_certificate);
        assert!(certified > expected - 1e-3, "k = {k}: certificate of {certified}");
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
        ("blocks", Box::new(AnyBlocks::new(&ising, &gibbs(2)).unwrap()), matrix(&gibbs(2))),
        ("adaptive", Box::new(AnyBlocks::new(&ising, &adaptive).unwrap()), matrix(&adaptive)),
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
