//! Decoders of other systems on an exact denoiser: their laws and trajectories are enumerated.
//!
//! The denoiser knows a joint law of two tokens before the end; what it answers are its exact conditionals given what is visible.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use std::collections::BTreeMap;
use std::convert::Infallible;

use common::{Scripted, ids};
use padir_base::TokenId;
use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
use padir_base::random::Seed;
use padir_decode::padir::{Sentence, Symbols, refine, refine_by};
use padir_decode::{
    DecodeError, EasyFirst, Event, GibbsChain, MaskPredict, Repredict, Sundae, SundaeMode,
    VisitOrder, easy_first_each, exact_law, gibbs_by, gibbs_each,
};

/// Tokens 4, 5 and 6 at two positions, row by row; they depend on each other.
const JOINT: [[f64; 3]; 3] = [[0.30, 0.02, 0.08], [0.05, 0.20, 0.05], [0.01, 0.09, 0.20]];
const FIRST: u32 = 4;
const MASK: u32 = 9;
const SIZE: usize = 10;

/// The exact conditionals of [`JOINT`] given the visible tokens; padding and the end have none.
struct Exact;

impl Exact {
    /// p(token at i | the other one, if it is visible).
    fn conditional(i: usize, other: Option<u32>) -> [f64; 3] {
        let mut p = [0.0; 3];
        for (a, row) in JOINT.iter().enumerate() {
            for (b, joint) in row.iter().enumerate() {
                let (own, others) = if i == 0 { (a, b) } else { (b, a) };
                if other.is_none_or(|other| other == FIRST + others as u32) {
                    p[own] += joint;
                }
            }
        }
        let total: f64 = p.iter().sum();
        p.map(|x| x / total)
    }
}

impl Denoiser for Exact {
    type Error = Infallible;

    fn vocabulary_size(&self) -> usize {
        SIZE
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Infallible> {
        for row in (0..query.rows()).map(|r| query.row(r)) {
            for i in (0..row.tokens.len()).filter(|&i| row.wanted[i]) {
                let known = |i: usize| (FIRST..FIRST + 3).contains(&row.tokens[i].0);
                let mut list = if i == 2 {
                    vec![Candidate { token: TokenId::EOS, log_prob: 0.0 }]
                } else {
                    let other = 1 - i;
                    let visible = match row.ranks {
                        Some(_) => row.sees(i, other),
                        None => !row.hidden[other],
                    };
                    let seen = (visible && known(other)).then(|| row.tokens[other].0);
                    let p = Self::conditional(i, seen);
                    (FIRST..)
                        .zip(p)
                        .map(|(id, p)| Candidate { token: TokenId(id), log_prob: p.ln() })
                        .collect()
                };
                list.sort_by(|a, b| b.log_prob.total_cmp(&a.log_prob));
                let slots = answers.at_mut(row.start + i).unwrap();
                slots.iter_mut().zip(list).for_each(|(slot, candidate)| *slot = candidate);
            }
        }
        Ok(())
    }
}

fn symbols() -> Symbols {
    Symbols::new(FIRST..FIRST + 3, Some(TokenId(MASK)))
}

fn sentence() -> [Sentence; 1] {
    [Sentence { number: 0, context: 0, lengths: vec![(3, 0.0)] }]
}

type Law = BTreeMap<Vec<u32>, f64>;

fn assert_same(found: &Law, wanted: &Law, name: &str) {
    let keys = found.keys().chain(wanted.keys());
    for key in keys {
        let at = |law: &Law| law.get(key).copied().unwrap_or(0.0);
        let (found, wanted) = (at(found), at(wanted));
        assert!((found - wanted).abs() < 1e-12, "{name}, {key:?}: {found} instead of {wanted}");
    }
}

fn joint() -> Law {
    let pair = |a: usize, b: usize| (vec![FIRST + a as u32, FIRST + b as u32], JOINT[a][b]);
    (0..3).flat_map(|a| (0..3).map(move |b| pair(a, b))).collect()
}

/// The law of what a chain returns.
fn chain_law(settings: &GibbsChain) -> Law {
    let law = exact_law(
        0.0,
        |replay| {
            let lists = gibbs_by(&mut Exact, settings, &symbols(), &sentence(), replay, &mut ())?;
            Ok::<_, DecodeError<Infallible>>(ids(&lists[0][0].tokens))
        },
        DecodeError::is_cut,
    );
    law.unwrap().outcomes
}

#[test]
fn gibbs_draws_from_the_joint_law_and_leaves_it_invariant() {
    let plain = GibbsChain {
        lengths: 1,
        temperature: 1.0,
        final_temperature: 1.0,
        ..GibbsChain::default()
    };
    for (order, sweeps) in [
        (VisitOrder::LeftToRight, 1),
        (VisitOrder::LeftToRight, 2),
        (VisitOrder::Random, 1),
        (VisitOrder::Random, 2),
        // Later sweeps of this one look at the tokens.
        (VisitOrder::EasyFirst, 1),
    ] {
        let found = chain_law(&GibbsChain { order, sweeps, ..plain });
        assert_same(&found, &joint(), &format!("{order:?}, {sweeps} sweeps"));
    }
}

#[test]
fn an_annealed_chain_ends_where_its_conditionals_are_largest() {
    let settings = GibbsChain {
        lengths: 1,
        sweeps: 3,
        order: VisitOrder::LeftToRight,
        temperature: 0.0,
        final_temperature: 0.0,
        ..GibbsChain::default()
    };
    let mut events: Vec<Event> = Vec::new();
    let found = gibbs_each(&mut Exact, &[&settings], &symbols(), &sentence(), &mut events).unwrap();
    // The first token is most probably 4 (0.40), given which the second is 4 (0.75); so they stay.
    assert_eq!(ids(&found[0][0].tokens), [4, 4]);
    assert_eq!((found[0][0].steps, events.len()), (6, 6));
    let reads: Vec<Vec<u32>> = events.iter().take(2).map(|event| ids(&event.tokens)).collect();
    assert_eq!(reads, [[4, MASK, 1], [4, 4, 1]]);
    // The first token was last drawn given the second, 0.30/0.36, and the second given the first.
    let wanted = [(0.30_f64 / 0.36).ln(), (0.30_f64 / 0.40).ln()];
    for (found, wanted) in found[0][0].log_probs.iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-12);
    }
}

#[test]
fn easy_first_fills_the_most_certain_position_first() {
    // Positions are certain in the order 2, 0, 3, 1, whatever is visible.
    let p = [0.8, 0.5, 0.9, 0.6];
    let script = |_: &padir_base::denoise::Row<'_>, i: usize| {
        vec![(10 + i as u32, p[i.min(3)]), (50, 1.0 - p[i.min(3)])]
    };
    let mut denoiser = Scripted::new(script);
    let settings = GibbsChain {
        lengths: 1,
        sweeps: 1,
        order: VisitOrder::EasyFirst,
        temperature: 0.0,
        ..GibbsChain::default()
    };
    let sentences = [Sentence { number: 0, context: 0, lengths: vec![(5, 0.0)] }];
    let symbols = Symbols::new(3..100, Some(TokenId(99)));
    let mut events: Vec<Event> = Vec::new();
    gibbs_each(&mut denoiser, &[&settings], &symbols, &sentences, &mut events).unwrap();
    let order: Vec<usize> = events.iter().flat_map(|event| event.changed.clone()).collect();
    assert_eq!(order, [2, 0, 3, 1]);
    let hidden: Vec<usize> = denoiser.calls.iter().map(|call| call.hidden).collect();
    assert_eq!(hidden, [4, 3, 2, 1]);
}

/// One step of SUNDAE: every position by itself, given the whole start.
#[test]
fn a_step_of_sundae_is_a_product_of_conditionals_given_the_start() {
    let settings =
        Sundae { steps: 1, samples: 1, temperature: 1.0, seed: Seed(5), ..Sundae::default() };
    let start = {
        // A step that keeps its input shows it: nothing is updated before the last.
        let mut events: Vec<Event> = Vec::new();
        let hardly = Sundae { steps: 2, update_prob: 1e-9, ..settings };
        refine(&mut Exact, &hardly.settings(), &symbols(), &sentence(), &mut events).unwrap();
        ids(&events[0].tokens)
    };
    let law = exact_law(
        0.0,
        |replay| {
            let how = settings.settings();
            let lists = refine_by(&mut Exact, &how, &symbols(), &sentence(), replay, &mut ())?;
            Ok::<_, DecodeError<Infallible>>(ids(&lists[0][0].tokens))
        },
        DecodeError::is_cut,
    );
    let (p, q) = (Exact::conditional(0, Some(start[1])), Exact::conditional(1, Some(start[0])));
    let pair = |a: usize, b: usize| (vec![FIRST + a as u32, FIRST + b as u32], p[a] * q[b]);
    let wanted: Law =
        (0..3).flat_map(|a| (0..3).map(move |b| (a, b))).map(|(a, b)| pair(a, b)).collect();
    assert_same(&law.unwrap().outcomes, &wanted, "one step");
}

/// Of positions with known confidences, the least certain ones are masked and predicted again, fewer each time.
#[test]
fn mask_predict_takes_the_known_trajectory() {
    // What is predicted depends on how many tokens are visible: certain ones stay.
    let p = [0.9, 0.5, 0.7, 0.6];
    let script = |row: &padir_base::denoise::Row<'_>, i: usize| {
        if i == 4 {
            return vec![(1, 1.0)];
        }
        let masked = (0..4).filter(|&j| row.hidden[j] || row.tokens[j].0 == 99).count() as u32;
        vec![(10 * (i as u32 + 1) + masked, p[i])]
    };
    let sentences = [Sentence { number: 0, context: 0, lengths: vec![(5, 0.0)] }];
    let symbols = Symbols::new(3..99, Some(TokenId(99)));
    let run = |repredict| {
        let mut denoiser = Scripted::new(script);
        let settings = MaskPredict { steps: 4, lengths: 1, repredict, ..MaskPredict::default() };
        let lists =
            refine(&mut denoiser, &settings.settings(), &symbols, &sentences, &mut ()).unwrap();
        let wanted: Vec<usize> = denoiser.calls.iter().map(|call| call.wanted).collect();
        (ids(&lists[0][0].tokens), wanted)
    };
    // ⌊4·3/4⌋ = 3 of 4 are masked again (1, 3, 2), then 2 (1, 3), then 1 (1).
    let (tokens, wanted) = run(Repredict::Masked);
    assert_eq!(tokens, [14, 21, 33, 42]);
    assert_eq!(wanted, [4, 3, 2, 1]);
    // All are predicted again, so that all have seen one mask at the end; the end counts among the positions of the schedule.
    let (tokens, wanted) = run(Repredict::All);
    assert_eq!(wanted, [5; 4]);
    assert_eq!(tokens, [11, 21, 31, 41]);
}

#[test]
fn argmax_unrolled_updates_uncertain_positions_only() {
    let p = [0.9, 0.5, 0.7, 0.6];
    let script = |row: &padir_base::denoise::Row<'_>, i: usize| {
        if i == 4 {
            return vec![(1, 1.0)];
        }
        // Every second step says something else.
        let odd = u32::from(row.tokens[1].0 == 20);
        vec![(10 * (i as u32 + 1) + odd, p[i])]
    };
    let mut denoiser = Scripted::new(script);
    let settings = Sundae {
        mode: SundaeMode::ArgmaxUnrolled,
        steps: 3,
        samples: 1,
        uncertain_share: 0.4,
        ..Sundae::default()
    };
    let sentences = [Sentence { number: 0, context: 0, lengths: vec![(5, 0.0)] }];
    let symbols = Symbols::new(3..10, None);
    let mut events: Vec<Event> = Vec::new();
    refine(&mut denoiser, &settings.settings(), &symbols, &sentences, &mut events).unwrap();
    let tokens: Vec<Vec<u32>> = events.iter().map(|event| ids(&event.tokens)).collect();
    // ⌈0.4·5⌉ = 2 positions: 1 and 3.
    assert_eq!(tokens, [[10, 20, 30, 40, 1], [10, 21, 30, 41, 1], [10, 20, 30, 40, 1]]);
    let wanted: Vec<usize> = denoiser.calls.iter().map(|call| call.wanted).collect();
    assert_eq!(wanted, [5, 2, 2]);
}

#[test]
fn chains_do_not_depend_on_their_neighbours() {
    let settings = GibbsChain { lengths: 1, samples: 3, ..GibbsChain::default() };
    let sentence = |number| Sentence { number, context: 0, lengths: vec![(3, 0.0)] };
    let run = |sentences: &[Sentence]| {
        let hows = vec![&settings; sentences.len()];
        gibbs_each(&mut Exact, &hows, &symbols(), sentences, &mut ()).unwrap()
    };
    let alone = run(&[sentence(7)]);
    let together = run(&[sentence(3), sentence(7), sentence(4)]);
    assert_eq!(alone[0], together[1]);
    assert_eq!(alone[0].len(), 3);
}

/// Ranks are fixed by the first step; each position then sees those that are easier. The steps are known in closed form.
#[test]
fn parallel_easy_first_follows_a_known_order() {
    let mut events: Vec<Event> = Vec::new();
    let settings = EasyFirst { lengths: 1, ..EasyFirst::default() };
    let found =
        easy_first_each(&mut Exact, &[&settings], &symbols(), &sentence(), &mut events).unwrap();
    // Marginals: the first is 4 with 0.40, the second 4 with 0.36: the first is easier and stays; the second then sees it.
    let (first, second, given) = (0.40_f64, 0.36_f64, 0.30_f64 / 0.40);
    let wanted = [[first.ln(), second.ln()], [first.ln(), given.ln()]];
    for (event, wanted) in events.iter().zip(wanted) {
        assert_eq!(ids(&event.tokens), [4, 4, 1]);
        for (found, wanted) in event.log_probs.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12, "step {}: {found} {wanted}", event.step);
        }
    }
    // The second step changes no token, so that it is the last.
    assert_eq!((events.len(), found[0][0].steps), (2, 2));
}

#[test]
fn easy_first_settles_position_after_position() {
    // Position i is right once all easier ones are; they are easy in the order 2, 0, 3, 1.
    let p = [0.8, 0.5, 0.9, 0.6];
    let easier: [&[usize]; 4] = [&[2], &[0, 2, 3], &[], &[0, 2]];
    let script = |row: &padir_base::denoise::Row<'_>, i: usize| {
        let seen: Vec<usize> = (0..4).filter(|&j| row.sees(i, j)).collect();
        let done = |j: usize| row.tokens[j].0 == 10 + j as u32;
        let right = seen == easier[i] && seen.iter().all(|&j| done(j));
        // Before they have ranks nobody is seen.
        let token = if right { 10 } else { 20 } + i as u32;
        vec![(token, p[i]), (50, 1.0 - p[i])]
    };
    let mut denoiser = Scripted::new(script);
    let settings = EasyFirst { lengths: 1, ..EasyFirst::default() };
    let sentences = [Sentence { number: 0, context: 0, lengths: vec![(5, 0.0)] }];
    let symbols = Symbols::new(3..100, Some(TokenId(99)));
    let mut events: Vec<Event> = Vec::new();
    let lists =
        easy_first_each(&mut denoiser, &[&settings], &symbols, &sentences, &mut events).unwrap();
    let changed: Vec<Vec<usize>> = events.iter().map(|event| event.changed.clone()).collect();
    assert_eq!(changed, [vec![0, 1, 2, 3], vec![0], vec![3], vec![1], vec![]]);
    assert_eq!(ids(&lists[0][0].tokens), [10, 11, 12, 13]);
    let capped = EasyFirst { steps: 2, ..settings };
    let lists = easy_first_each(&mut denoiser, &[&capped], &symbols, &sentences, &mut ()).unwrap();
    assert_eq!(ids(&lists[0][0].tokens), [10, 21, 12, 23]);
    assert_eq!(lists[0][0].steps, 2);
}
