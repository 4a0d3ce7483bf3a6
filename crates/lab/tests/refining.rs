//! The translator's decoder on an exact model: sampled refinement is the independent parallel chain.

use padir_base::TokenId;
use padir_decode::padir::{Initial, Sentence, Settings, StopRule, Symbols, refine_by};
use padir_decode::{DecodeError, Event, exact_law};
use padir_lab::chain::{Matrix, parallel_matrix};
use padir_lab::denoise::ExactDenoiser;
use padir_lab::graph::Shape;
use padir_lab::model::{Ising, Model};

#[test]
fn sampled_refinement_is_the_parallel_chain() {
    let shape = Shape::Clique { size: Some(3) };
    let p = Model::Ising(Ising::uniform(3, &shape, 0.3, 0.9).unwrap()).enumerate().unwrap();
    let state = |tokens: &[TokenId]| p.space().state_of(tokens.iter().map(|t| t.index()));
    // Spins are tokens 0 and 1. The start is all 0 but its last, where a sentence has its end.
    let symbols = Symbols { never: vec![], ..Symbols::new(0..0, Some(TokenId(0))) };
    let sentence = Sentence { number: 0, context: 0, lengths: vec![(3, 0.0)] };
    let matrix: Matrix<f64> = parallel_matrix(&p).unwrap();
    let mut expected = vec![0.0; 8];
    expected[state(&[TokenId(0), TokenId(0), TokenId(1)])] = 1.0;
    for steps in 1..=2 {
        expected = matrix.push(&expected);
        let settings = Settings {
            steps,
            initial: Initial::Mask,
            temperature: 1.0,
            stop: StopRule::Never,
            remask_stutter: false,
            ..Settings::default()
        };
        let law = exact_law(
            0.0,
            |replay| {
                let mut trace: Vec<Event> = Vec::new();
                let sentences = std::slice::from_ref(&sentence);
                let mut model = ExactDenoiser::new(&p);
                refine_by(&mut model, &settings, &symbols, sentences, replay, &mut trace)?;
                Ok(state(&trace[steps - 1].tokens))
            },
            DecodeError::is_cut,
        )
        .unwrap();
        for (x, p) in expected.iter().enumerate() {
            assert!((law.outcomes[&x] - p).abs() < 1e-13, "state {x} after {steps} steps");
        }
    }
}
