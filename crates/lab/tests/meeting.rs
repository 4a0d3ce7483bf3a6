//! Where theory and decoding meet: the samplers of `decode`, unchanged, on an exact model, and
//! their exact transition laws.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use std::collections::BTreeMap;

use padir_base::TokenId;
use padir_base::mask::{Block, Case, MaskLaw};
use padir_base::random::Seed;
use padir_decode::{Batch, ExactLaw, Gibbs, Refinement, Refiner, Streams, exact_law};
use padir_lab::chain::{Blocks, Matrix, block_matrix, parallel_matrix};
use padir_lab::denoise::ExactDenoiser;
use padir_lab::distribution::Distribution;
use padir_lab::graph::Shape;
use padir_lab::model::{Ising, Model, Potts};

fn example() -> Distribution {
    let shape = Shape::Clique { size: Some(3) };
    Model::Ising(Ising::uniform(3, &shape, 0.3, 0.9).unwrap()).enumerate().unwrap()
}

fn potts() -> Distribution {
    let edges = Shape::Chain { periodic: false }.edges(2).unwrap();
    let model = Potts::new(3, vec![vec![0.0, 0.5, -0.2]; 2], edges, vec![1.1]).unwrap();
    Model::Potts(model).enumerate().unwrap()
}

fn batch(p: &Distribution, state: usize) -> Batch {
    Batch::new([(0, p.space().tokens_of(state))])
}

fn state(p: &Distribution, tokens: &[TokenId]) -> usize {
    p.space().state_of(tokens.iter().map(|t| t.index()))
}

/// Row x of the transition matrix of decode's Gibbs sampler, by running it through all outcomes.
fn gibbs_row(p: &Distribution, law: &MaskLaw, x: usize, cutoff: f64) -> ExactLaw<usize> {
    exact_law(
        cutoff,
        |replay| {
            let mut denoiser = ExactDenoiser::new(p);
            let mut gibbs = Gibbs::new(&mut denoiser, law, batch(p, x), &mut *replay);
            gibbs.next().unwrap().map(|step| state(p, &step.tokens))
        },
        padir_decode::DecodeError::is_cut,
    )
    .unwrap()
}

fn parallel_row(p: &Distribution, x: usize) -> BTreeMap<usize, f64> {
    let how = Refinement::independent_parallel();
    let exact = exact_law(
        0.0,
        |replay| {
            let mut denoiser = ExactDenoiser::new(p);
            let mut refiner = Refiner::new(&mut denoiser, &how, batch(p, x), &mut *replay);
            refiner.next().unwrap().map(|step| state(p, &step.tokens))
        },
        padir_decode::DecodeError::is_cut,
    )
    .unwrap();
    exact.outcomes
}

/// Single sites, the first of them more often where all symbols are 0.
fn gentle(sites: usize) -> MaskLaw {
    let blocks = (0..sites)
        .map(|i| Block { positions: vec![i], weight: if i == 0 { 3.0 } else { 1.0 } })
        .collect();
    MaskLaw::Adaptive {
        cases: vec![Case { when: vec![TokenId(0); sites], then: MaskLaw::Blocks { blocks } }],
        otherwise: Box::new(MaskLaw::Exactly { k: 1 }),
    }
}

/// How far one step of a chain moves p.
fn drift(p: &Distribution, rows: &[BTreeMap<usize, f64>]) -> f64 {
    let mut after = vec![0.0; rows.len()];
    for (x, row) in rows.iter().enumerate() {
        for (&y, q) in row {
            after[y] += p.log_prob(x).exp() * q;
        }
    }
    let moved = after.iter().enumerate().map(|(x, a)| (a - p.log_prob(x).exp()).abs());
    moved.sum::<f64>() / 2.0
}

#[test]
fn decoding_by_blocks_is_block_dynamics_and_keeps_p() {
    for p in [example(), potts()] {
        let sites = p.space().sites();
        for (name, law) in common::laws(sites, p.space().symbols()) {
            let adaptive = law.is_adaptive();
            // A law whose fillings are not rejected too often for all paths to be followed.
            let law = if adaptive { gentle(sites) } else { law };
            // Rejection may go on for ever; what is cut off bounds the error.
            let cutoff = if adaptive { 1e-6 } else { 0.0 };
            let blocks = Blocks::of(&law, p.space()).unwrap();
            let matrix: Matrix<f64> = block_matrix(&p, &blocks).unwrap();
            let mut rows = Vec::new();
            let mut tolerance: f64 = 1e-13;
            for x in 0..p.space().size() {
                let ExactLaw { outcomes, cut } = gibbs_row(&p, &law, x, cutoff);
                assert!(cut < 0.02, "{name}: {cut} is cut off");
                for y in 0..p.space().size() {
                    let found = outcomes.get(&y).copied().unwrap_or(0.0);
                    let gap = (found - matrix.at(x, y)).abs();
                    assert!(gap < cut + 1e-13, "{name}: {x} → {y} is off by {gap}");
                }
                tolerance = tolerance.max(cut + 1e-13);
                rows.push(outcomes);
            }
            assert!(drift(&p, &rows) < tolerance, "{name} moves p by {}", drift(&p, &rows));
        }
    }
}

#[test]
fn independent_parallel_decoding_does_not_keep_p() {
    for p in [example(), potts()] {
        let rows: Vec<_> = (0..p.space().size()).map(|x| parallel_row(&p, x)).collect();
        let matrix: Matrix<f64> = parallel_matrix(&p).unwrap();
        for (x, row) in rows.iter().enumerate() {
            for y in 0..rows.len() {
                let found = row.get(&y).copied().unwrap_or(0.0);
                assert!((found - matrix.at(x, y)).abs() < 1e-13, "{x} → {y}");
            }
        }
        assert!(drift(&p, &rows) > 0.01, "p moves by {} only", drift(&p, &rows));
    }
}

/// On a product measure there is nothing to miss: independent parallel is exact.
#[test]
fn independent_parallel_keeps_a_product_measure() {
    let model = Ising::uniform(3, &Shape::Independent, 0.4, 0.0).unwrap();
    let p = Model::Ising(model).enumerate().unwrap();
    let rows: Vec<_> = (0..8).map(|x| parallel_row(&p, x)).collect();
    assert!(drift(&p, &rows) < 1e-14);
}

/// The same samplers with real randomness agree with the exact law after a few steps.
#[test]
fn sampled_decoding_has_the_exact_law() {
    let p = example();
    let law = MaskLaw::Exactly { k: 2 };
    let chains = 20_000;
    let start = Batch::new((0..chains).map(|_| (0, p.space().tokens_of(0))));
    let mut denoiser = ExactDenoiser::new(&p);
    let mut gibbs = Gibbs::new(&mut denoiser, &law, start, Streams::new(Seed(3), chains));
    let mut expected = vec![0.0; 8];
    expected[0] = 1.0;
    let matrix: Matrix<f64> = block_matrix(&p, &Blocks::of(&law, p.space()).unwrap()).unwrap();
    for _ in 0..2 {
        gibbs.next().unwrap().unwrap();
        expected = matrix.push(&expected);
    }
    let mut counts = [0.0; 8];
    for row in 0..chains {
        counts[state(&p, gibbs.batch().row(row))] += 1.0;
    }
    let chi2: f64 = counts
        .iter()
        .zip(&expected)
        .map(|(c, e)| (c - chains as f64 * e).powi(2) / (chains as f64 * e))
        .sum();
    assert!(chi2 < 35.0, "χ² = {chi2} with 7 degrees of freedom");
}

#[test]
fn the_denoiser_names_what_it_does_not_know() {
    use padir_base::denoise::{Answers, Denoiser, Query};
    let p = example();
    let ask = |tokens: &[TokenId]| {
        let all = vec![true; tokens.len()];
        let none = vec![false; tokens.len()];
        let ends = [tokens.len()];
        let query = Query::new(tokens, &ends, &[0], &none, &all).unwrap();
        let mut answers = Answers::default();
        answers.prepare(&query, 2);
        ExactDenoiser::new(&p).denoise(&query, &mut answers).map_err(|e| e.to_string())
    };
    assert_eq!(ask(&[TokenId(0); 3]), Ok(()));
    assert_eq!(ask(&[TokenId(0); 2]).unwrap_err(), "row 0 has 2 tokens; the model has 3 sites");
    let wrong = [TokenId(0), TokenId(5), TokenId(1)];
    assert_eq!(ask(&wrong).unwrap_err(), "token 5 at position 1 of row 0 is not in 0..2");
}
