//! The paper's propositions on Transformers, executed: networks whose weights are written down are saved, opened by the engine, and
//! run the chain that they were written for.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use padir_base::mask::MaskLaw;
use padir_base::random::{Purpose, Seed};
use padir_lab::chain::{Blocks, Matrix, block_matrix};
use padir_lab::graph::Shape;
use padir_lab::model::{Ising, Model};
use padir_lab::product::Projection;
use padir_lab::space::Space;
use padir_lab::wide::Wide;
use padir_pipeline::learn::construct::LOWEST;
use padir_pipeline::learn::{Constructed, Executed, ProductChain};

/// What single precision leaves of a probability.
const PRECISION: f64 = 1e-5;

/// The engine on the checkpoint of a constructed network.
fn engine(chain: &ProductChain, space: Space) -> Executed {
    let directory = tempfile::tempdir().unwrap();
    Executed::new(&Constructed::new(chain), space, &directory.path().join("model")).unwrap()
}

fn random_chain(space: Space, seed: u64) -> ProductChain {
    ProductChain::new(space, |x, i| {
        let mut stream = Seed(seed).stream(Purpose::Test, (x * space.sites() + i) as u64);
        let weights: Vec<f64> =
            (0..space.symbols()).map(|_| (6.0 * stream.uniform() - 3.0).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    })
}

#[test]
fn any_product_transitions_are_run() {
    for (sites, symbols) in [(1, 2), (2, 2), (3, 2), (2, 3), (1, 5)] {
        let space = Space::new(sites, symbols).unwrap();
        let chain = random_chain(space, 7);
        let mut engine = engine(&chain, space);
        for x in 0..space.size() {
            for (y, found) in engine.transitions(x).unwrap().into_iter().enumerate() {
                let error = (found - chain.transition(x, y)).abs();
                assert!(error < PRECISION, "{symbols}^{sites}, {x} → {y}: {error:e}");
            }
        }
    }
}

/// 2-Gibbs has no product transitions. What the network runs is the nearest chain that has, as `padir lab product` computes it, and
/// not 2-Gibbs.
#[test]
fn of_gibbs_the_nearest_products_are_run() {
    let shape = Shape::Chain { periodic: false };
    let p = Model::Ising(Ising::uniform(3, &shape, 0.2, 0.9).unwrap()).enumerate().unwrap();
    let space = p.space();
    let blocks = Blocks::of(&MaskLaw::Exactly { k: 2 }, space).unwrap();
    let gibbs: Matrix<Wide> = block_matrix(&p, &blocks).unwrap();
    let projection = Projection::of(space, &gibbs).unwrap();
    let mut engine = engine(&ProductChain::of_marginals(space, &gibbs), space);
    let mut farthest = 0.0_f64;
    for x in 0..space.size() {
        for (y, found) in engine.transitions(x).unwrap().into_iter().enumerate() {
            let error = (found - projection.matrix.at(x, y).to_f64()).abs();
            assert!(error < PRECISION, "{x} → {y}: {error:e}");
            farthest = farthest.max((found - gibbs.at(x, y).to_f64()).abs());
        }
    }
    assert!(farthest > 0.05, "{farthest}");
}

/// Any function of states, iterated as often as one likes, by argmax.
#[test]
fn deterministic_chains_are_run_by_argmax() {
    let space = Space::new(3, 2).unwrap();
    for seed in 0..4 {
        let mut stream = Seed(seed).stream(Purpose::Test, 0);
        let next: Vec<usize> = (0..8).map(|_| stream.below(8) as usize).collect();
        let chain = ProductChain::deterministic(space, |x| next[x]);
        let mut engine = engine(&chain, space);
        for start in 0..8 {
            let mut expected = start;
            for (step, found) in engine.argmax(start, 10).unwrap().into_iter().enumerate() {
                expected = next[expected];
                assert_eq!(found, expected, "f = {next:?}, step {} from {start}", step + 1);
            }
        }
        // Sampled, it is the chain up to what a softmax leaves to zeros.
        let mass = engine.transitions(0).unwrap()[next[0]];
        assert!(mass > 1.0 - 10.0 * LOWEST.exp() && mass <= 1.0 + 1e-12, "{mass}");
    }
}
