//! Tables of conditionals: exact ones give back the theory's chains, wrong ones the chains that `decode` runs.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use std::convert::Infallible;

use padir_base::TokenId;
use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
use padir_base::mask::{Block, Case, MaskLaw};
use padir_base::random::{Purpose, Seed};
use padir_decode::{Batch, DecodeError, Gibbs, Input, Pick, Refinement, Refiner, exact_law};
use padir_lab::chain::{Blocks, Matrix, block_matrix};
use padir_lab::conditionals::{Conditionals, ConditionalsError, Sampler, split};
use padir_lab::decay::point_mass;
use padir_lab::denoise::ExactDenoiser;
use padir_lab::distribution::Distribution;
use padir_lab::graph::Shape;
use padir_lab::model::{Ising, Model};
use padir_lab::space::Space;
use proptest::prelude::*;

fn ising(n: usize, h: f64, j: f64) -> Distribution {
    let shape = Shape::Chain { periodic: false };
    Model::Ising(Ising::uniform(n, &shape, h, j).unwrap()).enumerate().unwrap()
}

/// Positive conditionals that fit no joint: a law of its own for every context and site.
struct Anything(usize);

impl Denoiser for Anything {
    type Error = Infallible;

    fn vocabulary_size(&self) -> usize {
        self.0
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Infallible> {
        for row in (0..query.rows()).map(|row| query.row(row)) {
            let seen = row.tokens.iter().zip(row.hidden);
            let seen = seen.map(|(t, &hidden)| if hidden { 9 } else { u64::from(t.0) });
            let name = seen.fold(1, |name, digit| name * 10 + digit);
            for site in (0..row.tokens.len()).filter(|&site| row.wanted[site]) {
                let mut stream = Seed(name).stream(Purpose::Test, site as u64);
                let weights: Vec<f64> = (0..self.0).map(|_| 0.1 + stream.uniform()).collect();
                let total: f64 = weights.iter().sum();
                let slots = answers.at_mut(row.start + site).unwrap();
                for (token, (slot, weight)) in (0..).zip(slots.iter_mut().zip(weights)) {
                    *slot = Candidate { token: TokenId(token), log_prob: (weight / total).ln() };
                }
            }
        }
        Ok(())
    }
}

/// Row x of the chain that a sampler of `decode` runs, by running it through all outcomes, and what was cut off: rejections of adaptive
/// laws have no certain end.
fn decoded_row(space: Space, law: &MaskLaw, sampler: Sampler, x: usize) -> (Vec<f64>, f64) {
    let pick = Pick::Sample { temperature: 1.0 };
    let how = Refinement { law: law.clone(), input: Input::Hidden, pick };
    let cutoff = if law.is_adaptive() { 1e-5 } else { 0.0 };
    let found = exact_law(
        cutoff,
        |replay| {
            let mut denoiser = Anything(space.symbols());
            let start = Batch::new([(0, space.tokens_of(x))]);
            let step = match sampler {
                Sampler::Unmasking => Gibbs::new(&mut denoiser, law, start, replay).next(),
                Sampler::Parallel => Refiner::new(&mut denoiser, &how, start, replay).next(),
            };
            step.unwrap().map(|step| space.state_of(step.tokens.iter().map(|t| t.index())))
        },
        DecodeError::is_cut,
    );
    let found = found.unwrap();
    let row = (0..space.size()).map(|y| found.outcomes.get(&y).copied().unwrap_or(0.0));
    (row.collect(), found.cut)
}

/// Two blocks whose weights depend on the state, alike enough that rejections end soon.
fn two_blocks(space: Space) -> MaskLaw {
    let law = |first: f64| MaskLaw::Blocks {
        blocks: vec![
            Block { positions: vec![0], weight: first },
            Block { positions: vec![0, 1], weight: 1.0 - first },
        ],
    };
    MaskLaw::Adaptive {
        cases: vec![Case { when: space.tokens_of(1), then: law(0.7) }],
        otherwise: Box::new(law(0.4)),
    }
}

#[test]
fn chains_are_those_of_the_samplers() {
    for (sites, symbols) in [(3, 2), (2, 3)] {
        let space = Space::new(sites, symbols).unwrap();
        let table = Conditionals::of(&mut Anything(symbols), space).unwrap();
        let laws = common::laws(sites, symbols).into_iter().filter(|(_, law)| !law.is_adaptive());
        for (name, law) in laws.chain([("two blocks, adaptive", two_blocks(space))]) {
            for sampler in [Sampler::Unmasking, Sampler::Parallel] {
                let matrix = table.transitions(&Blocks::of(&law, space).unwrap(), sampler);
                for x in 0..space.size() {
                    let (expected, cut) = decoded_row(space, &law, sampler, x);
                    assert!(cut < 0.1, "{name}, {sampler:?}: {cut} is cut off");
                    for (y, expected) in expected.iter().enumerate() {
                        let found = matrix.at(x, y);
                        let close = (found - expected).abs() < cut + 1e-12;
                        assert!(close, "{name}, {sampler:?}, {x} → {y}: {found} and {expected}");
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn exact_conditionals_are_consistent_and_make_gibbs(model in common::model()) {
        let p = model.enumerate().unwrap();
        let space = p.space();
        let exact = Conditionals::exact(&p);
        let table = Conditionals::of(&mut ExactDenoiser::new(&p), space).unwrap();
        for error in table.errors(&exact, &p) {
            prop_assert!(error.largest < 1e-12 && error.divergence < 1e-12, "{error:?}");
        }
        let best = table.best_joint(&p);
        prop_assert!(best.divergence < 1e-12 && best.total_variation < 1e-9, "{best:?}");
        for x in 0..space.size() {
            prop_assert!((best.joint.log_prob(x) - p.log_prob(x)).abs() < 1e-6, "state {x}");
        }
        for (name, law) in common::laws(space.sites(), space.symbols()) {
            let blocks = Blocks::of(&law, space).unwrap();
            let expected: Matrix<f64> = block_matrix(&p, &blocks).unwrap();
            let found = table.transitions(&blocks, Sampler::Unmasking);
            for x in 0..space.size() {
                for (a, b) in found.row(x).iter().zip(expected.row(x)) {
                    prop_assert!((a - b).abs() < 1e-12, "{name}, row {x}");
                }
            }
        }
    }
}

/// Of two fair spins one says "equal" with probability a, the other with b. The nearest joint says (a + b)/2, and what is left
/// is the Jensen-Shannon divergence of the two coins.
#[test]
fn what_no_joint_can_say_is_inconsistency() {
    struct Coins(f64, f64);
    impl Denoiser for Coins {
        type Error = Infallible;
        fn vocabulary_size(&self) -> usize {
            2
        }
        fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Infallible> {
            for row in (0..query.rows()).map(|row| query.row(row)) {
                for site in (0..2).filter(|&site| row.wanted[site]) {
                    let other = 1 - site;
                    let equal = if site == 0 { self.0 } else { self.1 };
                    let equal = if row.hidden[other] { 0.5 } else { equal };
                    let slots = answers.at_mut(row.start + site).unwrap();
                    for (token, slot) in (0..).zip(slots) {
                        let says = TokenId(token) == row.tokens[other];
                        let p = if says { equal } else { 1.0 - equal };
                        *slot = Candidate { token: TokenId(token), log_prob: p.ln() };
                    }
                }
            }
            Ok(())
        }
    }
    let p = ising(2, 0.0, 0.0);
    let (a, b) = (0.9, 0.6);
    let best = Conditionals::of(&mut Coins(a, b), p.space()).unwrap().best_joint(&p);
    let c = f64::midpoint(a, b);
    let kl = |a: f64| a * (a / c).ln() + (1.0 - a) * ((1.0 - a) / (1.0 - c)).ln();
    assert!((best.divergence - f64::midpoint(kl(a), kl(b))).abs() < 1e-12, "{best:?}");
    assert!((best.total_variation - (a - c)).abs() < 1e-9, "{best:?}");
    assert!((best.joint.log_prob(0).exp() - c / 2.0).abs() < 1e-9, "{best:?}");
}

#[test]
fn couplings_of_spins_are_read_off_conditionals() {
    let p = ising(4, 0.3, -0.7);
    let found = Conditionals::exact(&p).couplings(&p).unwrap();
    for i in 0..4_usize {
        for j in (0..4).filter(|&j| j != i) {
            let expected = if i.abs_diff(j) == 1 { -0.7 } else { 0.0 };
            assert!((found.at(i, j) - expected).abs() < 1e-12, "{i}, {j}");
        }
    }
}

/// The exact denoiser makes no error of its own, and unmasking makes none in the limit; independent predictions do.
#[test]
fn errors_are_split_between_denoiser_and_sampler() {
    let p = ising(4, 0.1, 0.8);
    let blocks = Blocks::of(&MaskLaw::Exactly { k: 3 }, p.space()).unwrap();
    let exact = Conditionals::exact(&p);
    let wrong = Conditionals::of(&mut Anything(2), p.space()).unwrap();
    let start = point_mass(16, 0);
    for sampler in [Sampler::Unmasking, Sampler::Parallel] {
        let ideal = exact.transitions(&blocks, sampler);
        let last = *split(&p, &ideal, &ideal, &start, 60).last().unwrap();
        assert!(last.denoiser.abs() < 1e-14 && (last.total - last.sampler).abs() < 1e-14);
        assert_eq!(last.sampler < 1e-6, sampler == Sampler::Unmasking, "{last:?}");
        for split in split(&p, &wrong.transitions(&blocks, sampler), &ideal, &start, 60) {
            assert!(split.total <= split.denoiser + split.sampler + 1e-12, "{split:?}");
        }
    }
}

#[test]
fn impossible_contexts_have_no_conditionals() {
    let space = Space::new(2, 2).unwrap();
    let weights = vec![0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    let p = Distribution::from_log_weights(space, weights);
    let exact = Conditionals::exact(&p);
    assert!(exact.at(0, 1, 0).is_some() && exact.at(2, 1, 0).is_none());
    let blocks = Blocks::of(&MaskLaw::Exactly { k: 1 }, space).unwrap();
    let matrix = exact.transitions(&blocks, Sampler::Unmasking);
    assert!((matrix.at(3, 3) - 1.0).abs() < 1e-15, "nowhere to go");
    let best = exact.best_joint(&p);
    assert!(best.joint.log_prob(0) > -1e-6, "{best:?}");
}

/// A denoiser that says nothing.
struct Silent;

impl Denoiser for Silent {
    type Error = Infallible;
    fn vocabulary_size(&self) -> usize {
        2
    }
    fn denoise(&mut self, _: &Query<'_>, _: &mut Answers) -> Result<(), Infallible> {
        Ok(())
    }
}

#[test]
fn what_cannot_be_tabulated_is_refused() {
    let refused = |symbols: usize, space: Space| {
        Conditionals::of(&mut Anything(symbols), space).map(drop).unwrap_err().to_string()
    };
    let large = refused(2, Space::new(9, 2).unwrap());
    assert_eq!(large, "512 states are too many for a table of conditionals; the limit is 256");
    let other = refused(3, Space::new(2, 2).unwrap());
    assert_eq!(other, "the denoiser has 3 symbols, the space 2");
    let silent = Conditionals::of(&mut Silent, Space::new(2, 2).unwrap());
    assert!(matches!(silent, Err(ConditionalsError::Answer { site: 0 })));
}
