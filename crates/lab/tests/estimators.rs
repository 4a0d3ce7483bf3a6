//! Estimators: derivatives against differences, losses against each other, known answers.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use padir_base::mask::{Block, MaskLaw};
use padir_base::random::{Purpose, Seed};
use padir_lab::asymptotics::{dirichlet_hessian, hessian, of_law};
use padir_lab::chain::Blocks;
use padir_lab::estimate::{
    EnumeratedLoss, FitOptions, IsingLoss, Loss, Masks, Method, Samples, Settings, Verdict, fit,
    minimise,
};
use padir_lab::graph::Shape;
use padir_lab::model::{Ising, Model};
use proptest::prelude::*;

fn draws(model: &Ising, count: usize, seed: u64) -> Samples {
    let p = Model::Ising(model.clone()).enumerate().unwrap();
    let sampler = p.sampler();
    let mut stream = Seed(seed).stream(Purpose::Test, 0);
    let rows: Vec<Vec<u8>> = (0..count)
        .map(|_| p.space().symbols_of(sampler.draw(&mut stream)).map(|s| s as u8).collect())
        .collect();
    Samples::new(model.sites(), 2, rows).unwrap()
}

fn options(law: MaskLaw) -> FitOptions {
    FitOptions { law, method: None, settings: Settings::default(), sampled_masks: None, seed: 0 }
}

/// Every block of a law, as the Ising loss lists them.
fn listed(law: &MaskLaw, sites: usize) -> Masks {
    let context = padir_base::mask::MaskContext::of_length(sites);
    let sets = law.enumerate(&context).unwrap();
    Masks::Blocks(sets.map(|(set, p)| (set.positions().collect(), p)).collect())
}

fn agree(a: &dyn Loss, b: &dyn Loss, at: &[f64], name: &str) {
    let d = a.dimension();
    let (mut ga, mut gb) = (vec![0.0; d], vec![0.0; d]);
    let (va, vb) = (a.gradient(at, &mut ga), b.gradient(at, &mut gb));
    assert!((va - vb).abs() < 1e-12 * (1.0 + va.abs()), "{name}: value {va} {vb}");
    for i in 0..d {
        assert!((ga[i] - gb[i]).abs() < 1e-12, "{name}: gradient {i}: {} {}", ga[i], gb[i]);
    }
    let (ha, hb) = (a.hessian(at), b.hessian(at));
    for i in 0..d {
        for j in 0..d {
            let (x, y) = (ha.at(i, j), hb.at(i, j));
            assert!((x - y).abs() < 1e-12, "{name}: Hessian {i},{j}: {x} {y}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// The fast losses of spins are the enumerated one, at any parameters.
    #[test]
    fn fast_losses_are_the_enumerated_loss(model in common::ising(5), seed in 0..1000_u64) {
        let samples = draws(&model, 30, seed);
        let family = Model::Ising(model.clone()).family().unwrap();
        let space = padir_lab::space::Space::new(model.sites(), 2).unwrap();
        let at: Vec<f64> = model.parameters().iter().map(|p| 0.7 * p + 0.1).collect();
        let n = model.sites();
        let mut cases = vec![
            ("singles", MaskLaw::Exactly { k: 1 }, Masks::Singles),
            ("pairs", MaskLaw::Exactly { k: 2 }, Masks::Pairs),
            ("whole", MaskLaw::All, Masks::Whole),
        ];
        for law in [MaskLaw::Exactly { k: 3.min(n) }, MaskLaw::Rate { rate: 0.3 }] {
            cases.push(("listed", law.clone(), listed(&law, n)));
        }
        for (name, law, masks) in cases {
            let slow = EnumeratedLoss::new(&family, &Blocks::of(&law, space).unwrap(), &samples);
            agree(&IsingLoss::new(&model, &samples, masks), &slow, &at, name);
        }
    }

    /// Gradients and Hessians are what differences of values and gradients say.
    #[test]
    fn derivatives_are_differences(model in common::ising(4), seed in 0..1000_u64) {
        let samples = draws(&model, 20, seed);
        let family = Model::Ising(model.clone()).family().unwrap();
        let space = padir_lab::space::Space::new(model.sites(), 2).unwrap();
        let at = model.parameters();
        for (name, law) in common::laws(model.sites(), 2) {
            let loss = EnumeratedLoss::new(&family, &Blocks::of(&law, space).unwrap(), &samples);
            let d = loss.dimension();
            let (mut g, mut up, mut down) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
            loss.gradient(&at, &mut g);
            let h = loss.hessian(&at);
            let step = 1e-5;
            for i in 0..d {
                let shifted = |s: f64| {
                    let mut p = at.clone();
                    p[i] += s;
                    p
                };
                let (a, b) = (loss.gradient(&shifted(step), &mut up), loss.gradient(&shifted(-step), &mut down));
                prop_assert!(((a - b) / (2.0 * step) - g[i]).abs() < 1e-8, "{name}: gradient {i}");
                for j in 0..d {
                    let slope = (up[j] - down[j]) / (2.0 * step);
                    prop_assert!((slope - h.at(i, j)).abs() < 1e-8, "{name}: Hessian {i},{j}");
                }
            }
        }
    }

    /// Information-matrix equality, three ways: the loss's own Hessian at the truth under p, the
    /// covariance of the score, and the Dirichlet form. And Γ ⪯ C·I⁻¹ for every law.
    #[test]
    fn information_matrices_are_equal_and_bounded(model in common::ising(4)) {
        let truth = Model::Ising(model.clone());
        let p = truth.enumerate().unwrap();
        let family = truth.family().unwrap();
        for (name, law) in common::laws(model.sites(), 2) {
            let blocks = Blocks::of(&law, p.space()).unwrap();
            let loss = EnumeratedLoss::from_frequencies(&family, &blocks, &p.probs());
            let own = loss.hessian(&model.parameters());
            let covariance = hessian(&p, &family, &law).unwrap();
            let dirichlet = dirichlet_hessian(&p, &family, &law).unwrap();
            for i in 0..family.dimension() {
                for j in 0..family.dimension() {
                    let (a, b, c) = (own.at(i, j), covariance.at(i, j), dirichlet.at(i, j));
                    prop_assert!((a - b).abs() < 1e-12 && (a - c).abs() < 1e-12, "{name} {i},{j}");
                }
            }
            let found = of_law(&p, &family, &law).unwrap();
            let scale = found.poincare.constant() * found.trace;
            let bound = found.bound;
            prop_assert!(bound.absolute > -1e-10 * scale, "{name}: {bound:?}");
            prop_assert!(bound.relative > -1e-10, "{name}: {bound:?}");
            prop_assert!(found.information_gap < 1e-12, "{name}");
        }
    }
}

#[test]
fn every_method_finds_the_same_minimum() {
    let shape = Shape::Grid { rows: 2, columns: 3, periodic: false };
    let model = Ising::uniform(6, &shape, 0.2, 0.3).unwrap();
    let samples = draws(&model, 2000, 1);
    for k in [1, 2, 3, 6] {
        let at = |method, settings: Settings| {
            let options =
                FitOptions { method: Some(method), settings, ..options(MaskLaw::Exactly { k }) };
            fit(&Model::Ising(model.clone()), &samples, &options).unwrap()
        };
        let newton = at(Method::Newton, Settings::default());
        let lbfgs = at(Method::Lbfgs, Settings::default());
        let patient = Settings {
            iterations: 1500,
            tolerance: 1e-7,
            rate: 1.5 / k as f64,
            ..Settings::default()
        };
        let descent = at(Method::Descent, patient);
        for other in [&lbfgs, &descent] {
            assert_eq!(other.verdict, Verdict::Found, "k = {k}: {:?}", other.minimum);
            for (a, b) in newton.minimum.parameters.iter().zip(&other.minimum.parameters) {
                let tolerance = if other.method == Method::Descent { 1e-5 } else { 1e-9 };
                assert!((a - b).abs() < tolerance, "k = {k}: {a} {b}");
            }
        }
        assert!(newton.minimum.gradient < 1e-12 && lbfgs.minimum.gradient < 1e-11, "k = {k}");
        let errors = newton.standard_errors.unwrap();
        for ((found, truth), error) in
            newton.minimum.parameters.iter().zip(model.parameters()).zip(errors)
        {
            assert!((found - truth).abs() < 5.0 * error, "k = {k}: {found} for {truth} ± {error}");
        }
    }
}

/// One spin: the estimate is the log-odds, in closed form.
#[test]
fn a_single_spin_has_a_closed_form() {
    let model = Ising::new(vec![0.0], vec![], vec![]).unwrap();
    let rows: Vec<Vec<u8>> = (0..10).map(|i| vec![u8::from(i < 7)]).collect();
    let samples = Samples::new(1, 2, rows).unwrap();
    let fit = fit(&Model::Ising(model), &samples, &options(MaskLaw::All)).unwrap();
    let expected = 0.5 * (7.0_f64 / 3.0).ln();
    assert!((fit.minimum.parameters[0] - expected).abs() < 1e-13);
}

#[test]
fn estimates_that_do_not_exist_are_reported() {
    let model = Ising::uniform(3, &Shape::Clique { size: None }, 0.0, 0.0).unwrap();
    let cases: [(&str, &[[u8; 3]]); 3] = [
        ("a constant spin", &[[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1]]),
        ("two spins that always agree", &[[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1]]),
        ("one configuration", &[[1, 0, 1]]),
    ];
    for (name, rows) in cases {
        let samples = Samples::new(3, 2, rows).unwrap();
        for k in 1..=3 {
            let options = options(MaskLaw::Exactly { k });
            let fit = fit(&Model::Ising(model.clone()), &samples, &options).unwrap();
            let Verdict::DoesNotExist(separation) = &fit.verdict else {
                panic!("{name}, k = {k}: {:?} {:?}", fit.verdict, fit.minimum);
            };
            assert!(separation.smallest >= -1e-3, "{name}, k = {k}: {separation:?}");
            assert!(fit.standard_errors.is_none());
        }
    }
}

/// Masks drawn at random estimate the same loss.
#[test]
fn sampled_masks_approach_the_average() {
    let shape = Shape::Chain { periodic: true };
    let model = Ising::uniform(8, &shape, 0.1, 0.2).unwrap();
    let samples = draws(&model, 300, 3);
    let law = MaskLaw::Exactly { k: 3 };
    let exact = fit(&Model::Ising(model.clone()), &samples, &options(law.clone())).unwrap();
    let sampled = FitOptions { sampled_masks: Some(200), ..options(law) };
    let sampled = fit(&Model::Ising(model), &samples, &sampled).unwrap();
    for (a, b) in exact.minimum.parameters.iter().zip(&sampled.minimum.parameters) {
        assert!((a - b).abs() < 0.02, "{a} {b}");
    }
}

/// Duplicating the data or permuting it changes nothing.
#[test]
fn estimates_do_not_see_order_or_multiplicity() {
    let model = Ising::uniform(4, &Shape::Clique { size: None }, 0.1, 0.1).unwrap();
    let samples = draws(&model, 200, 4);
    let mut rows: Vec<Vec<u8>> = Vec::new();
    for i in 0..samples.distinct() {
        for _ in 0..2 * samples.count(i) as usize {
            rows.insert(0, samples.row(i).to_vec());
        }
    }
    let doubled = Samples::new(4, 2, rows).unwrap();
    let law = MaskLaw::Exactly { k: 2 };
    let fit = |samples: &Samples| {
        let loss = IsingLoss::new(&model, samples, listed(&law, 4));
        minimise(&loss, vec![0.0; loss.dimension()], &Settings::default()).parameters
    };
    for (a, b) in fit(&samples).iter().zip(fit(&doubled)) {
        assert!((a - b).abs() < 1e-12);
    }
}

/// Sums run in the same order whatever the number of threads.
#[test]
fn fits_do_not_depend_on_threads() {
    let model = Ising::uniform(8, &Shape::Chain { periodic: false }, 0.1, 0.4).unwrap();
    let samples = draws(&model, 5000, 6);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let options = options(MaskLaw::Exactly { k: 2 });
            fit(&Model::Ising(model.clone()), &samples, &options).unwrap().minimum.parameters
        })
    };
    let bits = |v: Vec<f64>| v.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(run(1)), bits(run(3)));
}

/// A law that never hides a site says nothing about its field: that is no estimate of 0.
#[test]
fn what_is_never_hidden_is_not_estimated() {
    let shape = Shape::Chain { periodic: false };
    let ising = Ising::uniform(4, &shape, 0.3, 0.5).unwrap();
    let samples = draws(&ising, 2000, 3);
    let block = |i: usize| Block { positions: vec![i], weight: 1.0 };
    let law = MaskLaw::Blocks { blocks: vec![block(0), block(1)] };
    let mut options = options(law);
    // Parameters: h0 h1 h2 h3 j01 j12 j23.
    let model = Model::Ising(ising);
    for sampled_masks in [None, Some(2)] {
        options.sampled_masks = sampled_masks;
        let found = fit(&model, &samples, &options).unwrap();
        assert_eq!(found.verdict, Verdict::NotIdentified(vec![2, 3, 6]));
        assert!((found.minimum.parameters[4] - 0.5).abs() < 0.2);
    }
}
