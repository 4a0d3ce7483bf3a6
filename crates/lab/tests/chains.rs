//! Chains over random models: rows sum to one, detailed balance, fast twins against slow ones.

mod common;

use padir_base::mask::MaskLaw;
use padir_lab::chain::{
    BlockOperator, Blocks, Matrix, block_matrix, parallel_matrix, symmetric_matrix,
};
use padir_lab::distribution::Distribution;
use padir_lab::graph::Shape;
use padir_lab::gth;
use padir_lab::model::{Clique, Ising, Model};
use padir_lab::spectrum::{Method, SpectrumError, lanczos, poincare};
use padir_lab::wide::Wide;
use proptest::prelude::*;

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// A test function without symmetries.
fn bumpy(size: usize, phase: f64) -> Vec<f64> {
    (0..size).map(|x| (x as f64 * 1.7 + phase).sin()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn block_dynamics_are_stochastic_and_reversible(model in common::model()) {
        let p = model.enumerate().unwrap();
        for (name, law) in common::laws(model.sites(), model.symbols()) {
            let blocks = Blocks::of(&law, p.space()).unwrap();
            let matrix: Matrix<f64> = block_matrix(&p, &blocks).unwrap();
            let probs = p.probs();
            for x in 0..p.space().size() {
                let sum: f64 = matrix.row(x).iter().sum();
                prop_assert!(close(sum, 1.0, 1e-13), "{name}: row {x} sums to {sum}");
                for y in 0..x {
                    let (there, back) = (probs[x] * matrix.at(x, y), probs[y] * matrix.at(y, x));
                    prop_assert!(close(there, back, 1e-14), "{name}: {x} and {y}");
                }
            }
        }
    }

    #[test]
    fn the_operator_is_the_matrix(model in common::model()) {
        let p = model.enumerate().unwrap();
        let size = p.space().size();
        let mut laws = common::laws(model.sites(), model.symbols());
        laws.extend((1..=model.sites()).map(|k| ("k", MaskLaw::Exactly { k })));
        for (name, law) in laws {
            let blocks = Blocks::of(&law, p.space()).unwrap();
            let dense: Matrix<f64> = block_matrix(&p, &blocks).unwrap();
            let symmetric = symmetric_matrix(&p, &blocks).unwrap();
            let operator = BlockOperator::new(&p, &law).unwrap();
            let f = bumpy(size, 0.3);
            let pairs = [
                (dense.pull(&f), operator.pull(&f)),
                (dense.push(&f), operator.push(&f)),
                (symmetric.pull(&f), operator.symmetric(&f)),
            ];
            for (face, (slow, fast)) in pairs.iter().enumerate() {
                for (a, b) in slow.iter().zip(fast) {
                    prop_assert!(close(*a, *b, 1e-12), "{name} face {face}: {a} {b}");
                }
            }
        }
    }

    /// E(f, g) = ½ Σ p(x) P(x, y) (f(x) − f(y)) (g(x) − g(y)).
    #[test]
    fn dirichlet_forms_agree(model in common::model()) {
        let p = model.enumerate().unwrap();
        let size = p.space().size();
        let (f, g) = (bumpy(size, 0.1), bumpy(size, 2.0));
        for (name, law) in common::laws(model.sites(), model.symbols()) {
            let blocks = Blocks::of(&law, p.space()).unwrap();
            let matrix: Matrix<f64> = block_matrix(&p, &blocks).unwrap();
            let mut sum = 0.0;
            for x in 0..size {
                for y in 0..size {
                    let flow = p.log_prob(x).exp() * matrix.at(x, y) / 2.0;
                    sum += flow * (f[x] - f[y]) * (g[x] - g[y]);
                }
            }
            let fast = BlockOperator::new(&p, &law).unwrap().dirichlet(&f, &g);
            prop_assert!(close(sum, fast, 1e-12), "{name}: {sum} {fast}");
        }
    }

    /// Flipping a site's symbol names (h → −h, J → −J at its edges) changes no spectrum.
    #[test]
    fn spectra_do_not_see_gauge(model in common::ising(5), site in 0..5_usize) {
        let site = site % model.sites();
        let mut h = model.fields().to_vec();
        h[site] = -h[site];
        let flip = |e: &padir_lab::graph::Edge| if e.0 == site || e.1 == site { -1.0 } else { 1.0 };
        let j = model.edges().iter().zip(model.couplings()).map(|(e, j)| flip(e) * j).collect();
        let flipped = Ising::new(h, model.edges().to_vec(), j).unwrap();
        let constant = |m: &Ising| {
            let p = Model::Ising(m.clone()).enumerate().unwrap();
            poincare(&p, &MaskLaw::Exactly { k: 1 }, || ()).unwrap().constant()
        };
        prop_assert!(close(constant(&model), constant(&flipped), 1e-9));
    }

    /// Larger blocks mix faster.
    #[test]
    fn poincare_constants_fall_with_k(model in common::ising(5)) {
        let p = Model::Ising(model.clone()).enumerate().unwrap();
        let constants: Vec<f64> = (1..=model.sites())
            .map(|k| poincare(&p, &MaskLaw::Exactly { k }, || ()).unwrap().constant())
            .collect();
        for pair in constants.windows(2) {
            prop_assert!(pair[1] <= pair[0] * (1.0 + 1e-10), "{constants:?}");
        }
        prop_assert!(close(constants[constants.len() - 1], 1.0, 1e-12));
    }

    /// For symmetric couplings the stationary law of parallel updates is known (Peretto 1984):
    /// π(x) ∝ Πᵢ 2 cosh(hᵢ + Σⱼ Jᵢⱼ xⱼ) · e^{h·x}.
    #[test]
    fn the_parallel_chain_has_perettos_law(model in common::ising(5)) {
        let p = Model::Ising(model.clone()).enumerate().unwrap();
        let matrix: Matrix<Wide> = parallel_matrix(&p).unwrap();
        let found = gth::stationary(&matrix).unwrap();
        let weights: Vec<f64> = (0..p.space().size())
            .map(|x| {
                let s = |i: usize| if x >> i & 1 == 1 { 1.0 } else { -1.0 };
                (0..model.sites())
                    .map(|i| {
                        let coupled: f64 = model.neighbours(i).iter().map(|&(j, c)| c * s(j)).sum();
                        let field = model.fields()[i] + coupled;
                        (2.0 * field.cosh()).ln() + model.fields()[i] * s(i)
                    })
                    .sum()
            })
            .collect();
        let expected = Distribution::from_log_weights(p.space(), weights);
        for (x, log) in found.iter().enumerate() {
            prop_assert!(close(*log, expected.log_prob(x), 1e-11), "state {x}");
        }
    }
}

/// On a product measure the gap of k-Gibbs is exactly k/N.
#[test]
fn product_measures_have_the_known_gap() {
    for h in [0.0, 0.7] {
        let model = Ising::uniform(6, &Shape::Independent, h, 0.0).unwrap();
        let p = Model::Ising(model).enumerate().unwrap();
        for k in 1..=6 {
            let found = poincare(&p, &MaskLaw::Exactly { k }, || ()).unwrap();
            assert!(close(found.constant(), 6.0 / k as f64, 1e-12), "k = {k}: {found:?}");
        }
    }
}

/// Two spins with coupling J: the slow mode of 1-Gibbs has λ₂ = (1 + tanh J) / 2.
#[test]
fn two_spins_have_the_known_gap() {
    for j in [0.0, 0.3, 2.0, 5.0, 12.0, 40.0, 300.0] {
        let model = Ising::uniform(2, &Shape::Chain { periodic: false }, 0.0, j).unwrap();
        let p = Model::Ising(model).enumerate().unwrap();
        let found = poincare(&p, &MaskLaw::Exactly { k: 1 }, || ()).unwrap();
        // 2 / (1 − tanh J) = 1 + e^{2J}.
        let expected = if j < 20.0 { (2.0 * j).exp().ln_1p() } else { 2.0 * j };
        let error = (found.constant.ln() - expected).abs();
        assert!(error < 1e-10, "J = {j}: {error:e} by {:?}", found.method);
        assert_eq!(found.method == Method::Inverse, j > 10.0, "J = {j}");
    }
}

#[test]
fn lanczos_is_the_dense_solver() {
    let shape = Shape::Grid { rows: 2, columns: 4, periodic: false };
    let p = Model::Ising(Ising::uniform(8, &shape, 0.1, 0.4).unwrap()).enumerate().unwrap();
    for k in [1, 3, 8] {
        let law = MaskLaw::Exactly { k };
        let dense = poincare(&p, &law, || ()).unwrap().constant();
        let iterative = lanczos(&BlockOperator::new(&p, &law).unwrap(), || ()).unwrap();
        assert!(close(dense, iterative.constant(), 1e-9), "k = {k}: {dense} {iterative:?}");
    }
}

/// Gaps far below the rounding of 1, matrix-free: as the subtraction-free elimination finds them.
#[test]
fn lanczos_resolves_small_gaps() {
    let ring = Shape::Chain { periodic: true };
    let clique = Shape::Clique { size: Some(4) };
    for (shape, n, h, j, k) in
        [(&ring, 7, 0.0, 4.0, 1), (&ring, 7, 0.2, 7.5, 2), (&clique, 6, 5.0, 6.5, 1)]
    {
        let p = Model::Ising(Ising::uniform(n, shape, h, j).unwrap()).enumerate().unwrap();
        let law = MaskLaw::Exactly { k };
        let exact = poincare(&p, &law, || ()).unwrap();
        assert_eq!(exact.method, Method::Inverse);
        let found = lanczos(&BlockOperator::new(&p, &law).unwrap(), || ()).unwrap();
        let error = (found.constant.ln() - exact.constant.ln()).abs();
        assert!(error < 1e-6 && error < 2.0 * found.error + 1e-11, "J = {j}: {error:e} {found:?}");
    }
}

/// What cannot be resolved is not called infinite.
#[test]
fn a_hopeless_gap_is_not_called_infinite() {
    let shape = Shape::Chain { periodic: true };
    let p = Model::Ising(Ising::uniform(6, &shape, 0.0, 30.0).unwrap()).enumerate().unwrap();
    let operator = BlockOperator::new(&p, &MaskLaw::Exactly { k: 1 }).unwrap();
    let error = lanczos(&operator, || ());
    assert!(!matches!(error, Err(SpectrumError::NotErgodic)), "{error:?}");
}

/// Leaving independent sites out changes nothing.
#[test]
fn free_vertices_are_left_out_exactly() {
    for k in [1, 2, 5] {
        let law = MaskLaw::Exactly { k };
        let large = Clique::uniform(11, 4, 0.4, 0.9).unwrap().to_ising();
        let p = Model::Ising(large).enumerate().unwrap();
        let fast = poincare(&p, &law, || ()).unwrap();
        let slow = lanczos(&BlockOperator::new(&p, &law).unwrap(), || ()).unwrap();
        assert_eq!((fast.method, slow.method), (Method::Dense, Method::Lanczos));
        assert!(close(fast.constant(), slow.constant(), 1e-9), "k = {k}: {fast:?} {slow:?}");
    }
}

#[test]
fn a_chain_that_never_moves_a_site_has_no_constant() {
    let model = Ising::uniform(3, &Shape::Chain { periodic: false }, 0.0, 0.5).unwrap();
    let p = Model::Ising(model).enumerate().unwrap();
    let blocks = vec![padir_base::mask::Block { positions: vec![0, 1], weight: 1.0 }];
    let error = poincare(&p, &MaskLaw::Blocks { blocks }, || ()).unwrap_err();
    assert!(error.to_string().contains("not ergodic"), "{error}");
}

#[test]
fn too_large_a_matrix_is_refused_with_its_memory() {
    let model = Ising::uniform(16, &Shape::Chain { periodic: false }, 0.0, 0.5).unwrap();
    let p = Model::Ising(model).enumerate().unwrap();
    let blocks = Blocks::of(&MaskLaw::Exactly { k: 1 }, p.space()).unwrap();
    let error = block_matrix::<f64>(&p, &blocks).unwrap_err().to_string();
    assert_eq!(
        error,
        "a dense transition matrix over 65536 states needs 34.4 GB; the limit is 2.0 GB"
    );
}
