//! The samplers on a denoiser whose answers are known: which calls they make, what they change.

use std::convert::Infallible;

use padir_base::TokenId;
use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
use padir_base::mask::MaskLaw;
use padir_base::random::Seed;
use padir_decode::{Batch, Gibbs, Input, Pick, Refinement, Refiner, Streams};

/// Prefers, at every position, the token after the one to its left (modulo 5); notes its calls.
#[derive(Default)]
struct Counting {
    calls: Vec<(usize, usize)>,
}

impl Denoiser for Counting {
    type Error = Infallible;

    fn vocabulary_size(&self) -> usize {
        5
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Infallible> {
        let count = |list: &[bool]| list.iter().filter(|&&x| x).count();
        let rows = (0..query.rows()).map(|r| query.row(r));
        let hidden = rows.map(|row| count(row.hidden)).sum();
        self.calls.push((hidden, count(query.wanted())));
        let depth = answers.depth();
        for row in (0..query.rows()).map(|r| query.row(r)) {
            for i in 0..row.tokens.len() {
                let left = if i == 0 { 4 } else { row.tokens[i - 1].0 };
                let Some(slots) = answers.at_mut(row.start + i) else { continue };
                for (rank, slot) in slots.iter_mut().enumerate().take(depth) {
                    let token = TokenId((left + 1 + rank as u32) % 5);
                    *slot = Candidate { token, log_prob: -(1.0 + rank as f64) };
                }
            }
        }
        Ok(())
    }
}

fn start() -> Batch {
    Batch::new([(0, vec![TokenId(3); 4]), (1, vec![TokenId(2); 2]), (2, vec![])])
}

#[test]
fn gibbs_unmasks_one_position_of_every_row_per_call() {
    let mut denoiser = Counting::default();
    let law = MaskLaw::All;
    let step =
        Gibbs::new(&mut denoiser, &law, start(), Streams::new(Seed(1), 3)).next().unwrap().unwrap();
    assert_eq!(denoiser.calls, [(6, 2), (4, 2), (2, 1), (1, 1)]);
    assert_eq!(
        step.hidden.iter().map(padir_base::mask::Mask::count).collect::<Vec<_>>(),
        [4, 2, 0]
    );
    assert_eq!(step.number, 1);
    assert!(step.log_probs.iter().all(|&l| l <= -1.0));
}

#[test]
fn argmax_refinement_reaches_its_fixed_point() {
    let mut denoiser = Counting::default();
    let how = Refinement { law: MaskLaw::All, input: Input::Visible, pick: Pick::ArgMax };
    let steps: Vec<_> = Refiner::new(&mut denoiser, &how, start(), Streams::new(Seed(1), 3))
        .take(6)
        .map(Result::unwrap)
        .collect();
    let last = &steps[5];
    let ids: Vec<u32> = last.tokens.iter().map(|t| t.0).collect();
    assert_eq!(ids, [0, 1, 2, 3, 0, 1]);
    assert_eq!(last.changed, 0);
    assert!(steps[0].changed > 0);
    assert!(denoiser.calls.iter().all(|&call| call == (0, 6)));
}

#[test]
fn mask_predict_hides_what_it_predicts() {
    let mut denoiser = Counting::default();
    let how = Refinement {
        law: MaskLaw::Linear { steps: 4, least: 0 },
        input: Input::Hidden,
        pick: Pick::ArgMax,
    };
    let batch = Batch::new([(0, vec![TokenId(0); 8])]);
    let refiner = Refiner::new(&mut denoiser, &how, batch, Streams::new(Seed(1), 1));
    assert!(refiner.take(4).all(|step| step.is_ok()));
    assert_eq!(denoiser.calls, [(8, 8), (6, 6), (4, 4), (2, 2)]);
}

#[test]
fn rows_do_not_depend_on_their_neighbours() {
    let how = Refinement::independent_parallel();
    let run = |rows: Vec<(usize, Vec<TokenId>)>| {
        let mut denoiser = Counting::default();
        let chance = Streams::new(Seed(5), rows.len());
        let mut refiner = Refiner::new(&mut denoiser, &how, Batch::new(rows), chance);
        for _ in 0..5 {
            refiner.next().unwrap().unwrap();
        }
        refiner.batch().row(0).to_vec()
    };
    let row = (0, vec![TokenId(1); 6]);
    assert_eq!(run(vec![row.clone()]), run(vec![row, (1, vec![TokenId(2); 3])]));
}

#[test]
fn a_cold_sample_is_the_argmax() {
    let pick = |pick| {
        let mut denoiser = Counting::default();
        let how = Refinement { law: MaskLaw::All, input: Input::Visible, pick };
        let chance = Streams::new(Seed(5), 3);
        let mut refiner = Refiner::new(&mut denoiser, &how, start(), chance);
        refiner.next().unwrap().unwrap().tokens
    };
    assert_eq!(pick(Pick::Sample { temperature: 1e-3 }), pick(Pick::ArgMax));
}
