//! Random models for property tests.
#![allow(clippy::unwrap_used, reason = "a panic in a test is its failure message")]
#![allow(dead_code, reason = "each test file uses its own part")]

use padir_base::TokenId;
use padir_base::mask::{Block, Case, MaskLaw};
use padir_lab::graph::{Edge, Shape};
use padir_lab::model::{Ising, Model, Potts};
use proptest::prelude::*;

/// An Ising model on a random graph of 2 to `most` vertices.
pub(crate) fn ising(most: usize) -> impl Strategy<Value = Ising> {
    (2..=most, any::<u64>(), 0.2..1.0_f64).prop_flat_map(|(n, seed, density)| {
        let edges = Shape::Random { density, seed }.edges(n).unwrap();
        let edges = if edges.is_empty() { vec![Edge(0, 1)] } else { edges };
        let count = edges.len();
        (
            prop::collection::vec(-1.0..1.0_f64, n),
            prop::collection::vec(-1.2..1.2_f64, count),
            Just(edges),
        )
            .prop_map(|(h, j, edges)| Ising::new(h, edges, j).unwrap())
    })
}

/// An Ising or a Potts model.
pub(crate) fn model() -> impl Strategy<Value = Model> {
    prop_oneof![ising(5).prop_map(Model::Ising), potts().prop_map(Model::Potts)]
}

fn potts() -> impl Strategy<Value = Potts> {
    (2..=3_usize, 3..=4_usize, any::<bool>()).prop_flat_map(|(n, q, periodic)| {
        let edges = Shape::Chain { periodic }.edges(n).unwrap();
        let count = edges.len();
        (
            prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, q), n),
            prop::collection::vec(-1.0..1.0_f64, count),
        )
            .prop_map(move |(h, j)| Potts::new(q, h, edges.clone(), j).unwrap())
    })
}

/// Laws of every kind over n sites; each hides every site with positive probability.
pub(crate) fn laws(n: usize, symbols: usize) -> Vec<(&'static str, MaskLaw)> {
    let mut blocks: Vec<Block> =
        (0..n).map(|i| Block { positions: vec![i], weight: 1.0 + i as f64 }).collect();
    blocks.push(Block { positions: (0..n).step_by(2).collect(), weight: 2.5 });
    let special: Vec<TokenId> = (0..n).map(|i| TokenId((i % symbols) as u32)).collect();
    vec![
        ("1-Gibbs", MaskLaw::Exactly { k: 1 }),
        ("2-Gibbs", MaskLaw::Exactly { k: 2.min(n) }),
        ("all", MaskLaw::All),
        ("rate", MaskLaw::Rate { rate: 0.4 }),
        ("any size", MaskLaw::UniformCount { least: 1, spare: 0 }),
        ("weighted blocks", MaskLaw::Blocks { blocks }),
        (
            "adaptive",
            MaskLaw::Adaptive {
                cases: vec![Case { when: special, then: MaskLaw::Rate { rate: 0.7 } }],
                otherwise: Box::new(MaskLaw::Exactly { k: 1 }),
            },
        ),
    ]
}
