//! CTC decoding against the enumerated law of a small model.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use std::collections::BTreeMap;

use common::Table;
use padir_base::TokenId;
use padir_base::denoise::{Answers, Denoiser, Query};
use padir_decode::ctc::{Ctc, Sentence, Symbols, decode, decode_each};
use padir_decode::{Event, Status};

const BLANK: u32 = 4;
const MASK: u32 = 3;

fn symbols() -> Symbols {
    Symbols::new(TokenId(BLANK), TokenId(MASK))
}

fn model(seed: u64, sharpness: f64) -> Table {
    Table::new(seed, 6, sharpness)
}

/// For each slot the log-probability of every token.
fn slot_laws(
    model: &mut Table,
    context: usize,
    slots: usize,
    input: &[u32],
    hidden: bool,
) -> Vec<Vec<f64>> {
    let tokens: Vec<TokenId> = input.iter().copied().map(TokenId).collect();
    let (hidden, wanted) = (vec![hidden; slots], vec![true; slots]);
    let (ends, contexts) = ([slots], [context]);
    let query = Query::new(&tokens, &ends, &contexts, &hidden, &wanted).unwrap();
    let mut answers = Answers::default();
    let size = model.vocabulary_size();
    answers.prepare(&query, size);
    model.denoise(&query, &mut answers).unwrap();
    (0..slots)
        .map(|slot| {
            let mut law = vec![0.0; size];
            for candidate in answers.at(slot).unwrap() {
                law[candidate.token.index()] = candidate.log_prob;
            }
            law
        })
        .collect()
}

/// Merges repeats and drops what is silent, without the decoder.
fn collapsed(path: &[u32]) -> Vec<u32> {
    let silent = |id: u32| [0, 1, MASK, BLANK].contains(&id);
    let mut merged: Vec<u32> = path.iter().map(|&id| if silent(id) { BLANK } else { id }).collect();
    merged.dedup();
    merged.retain(|&id| id != BLANK);
    merged
}

/// The law of targets: sums over all paths.
fn enumerate(laws: &[Vec<f64>]) -> BTreeMap<Vec<u32>, f64> {
    let size = laws[0].len() as u32;
    let mut targets = BTreeMap::new();
    for code in 0..size.pow(laws.len() as u32) {
        let path: Vec<u32> =
            (0..laws.len() as u32).map(|slot| code / size.pow(slot) % size).collect();
        let log_p: f64 = path.iter().zip(laws).map(|(&id, law)| law[id as usize]).sum();
        *targets.entry(collapsed(&path)).or_insert(0.0) += log_p.exp();
    }
    targets
}

#[test]
fn a_wide_beam_finds_the_exact_law_of_targets() {
    for (seed, slots) in [(1, 1), (2, 3), (3, 5), (4, 6)] {
        let mut model = model(seed, 1.5);
        let laws = slot_laws(&mut model, 0, slots, &vec![MASK; slots], true);
        let law = enumerate(&laws);
        let settings = Ctc { num_beams: 1024, slot_candidates: 6, ..Ctc::default() };
        let sentences = [Sentence { context: 0, slots }];
        let list =
            decode(&mut model, &settings, &symbols(), &sentences, &mut ()).unwrap().remove(0);
        assert_eq!(list.len(), law.len(), "all targets");
        for hypothesis in &list {
            let ids: Vec<u32> = hypothesis.tokens.iter().map(|token| token.0).collect();
            let (found, wanted) = (hypothesis.log_prob, law[&ids].ln());
            assert!((found - wanted).abs() < 1e-9, "{ids:?}: {found} instead of {wanted}");
        }
        let best = law.values().copied().fold(0.0, f64::max);
        assert!((list[0].log_prob - best.ln()).abs() < 1e-9, "the first is the argmax");
        // Shorter beams find less, and never more than there is.
        for num_beams in [2, 4] {
            let settings = Ctc { num_beams, ..settings };
            let list = decode(&mut model, &settings, &symbols(), &sentences, &mut ()).unwrap();
            assert!(list[0].len() <= num_beams);
            assert!(list[0][0].log_prob <= best.ln() + 1e-9);
        }
    }
}

#[test]
fn the_best_path_is_the_most_probable_alignment() {
    for seed in 0..20 {
        let mut model = model(seed, 2.0);
        let slots = 4;
        let laws = slot_laws(&mut model, 3, slots, &[MASK; 4], true);
        let size = 6_u32;
        let paths = (0..size.pow(4))
            .map(|code| -> Vec<u32> { (0..4).map(|slot| code / size.pow(slot) % size).collect() });
        let log_p = |path: &[u32]| -> f64 {
            path.iter().zip(&laws).map(|(&id, law)| law[id as usize]).sum()
        };
        let best = paths.max_by(|a, b| log_p(a).total_cmp(&log_p(b))).unwrap();
        let sentences = [Sentence { context: 3, slots }];
        let list =
            decode(&mut model, &Ctc::default(), &symbols(), &sentences, &mut ()).unwrap().remove(0);
        let ids: Vec<u32> = list[0].tokens.iter().map(|token| token.0).collect();
        assert_eq!(ids, collapsed(&best), "seed {seed}");
        assert!((list[0].log_prob - log_p(&best)).abs() < 1e-9);
        assert_eq!((list.len(), list[0].steps), (1, 1));
    }
}

/// Each pass reads the alignment before it, and the fixed point is the last.
#[test]
fn refinement_feeds_alignments_back_until_nothing_changes() {
    for seed in 0..10 {
        let mut model = model(seed, 2.0);
        let slots = 5;
        let mut alignment = vec![MASK; slots];
        let mut expected = Vec::new();
        for step in 0..4 {
            let laws = slot_laws(&mut model, 0, slots, &alignment, step == 0);
            let best = |law: &Vec<f64>| {
                (0..law.len()).max_by(|&a, &b| law[a].total_cmp(&law[b]).then(b.cmp(&a))).unwrap()
                    as u32
            };
            let next: Vec<u32> = laws.iter().map(best).collect();
            let done = next == alignment;
            alignment = next;
            expected.push(alignment.clone());
            if done {
                break;
            }
        }
        let settings = Ctc { steps: 4, ..Ctc::default() };
        let mut events: Vec<Event> = Vec::new();
        let sentences = [Sentence { context: 0, slots }];
        let list = decode(&mut model, &settings, &symbols(), &sentences, &mut events).unwrap();
        let seen: Vec<Vec<u32>> =
            events.iter().map(|event| event.tokens.iter().map(|token| token.0).collect()).collect();
        assert_eq!(seen, expected, "seed {seed}");
        assert_eq!(list[0][0].steps, expected.len());
        let last = events.last().unwrap();
        assert_eq!((last.status, last.max_steps), (Status::Finished, 4));
        let sure = Ctc { early_exit: Some(f64::MIN), ..settings };
        let list = decode(&mut model, &sure, &symbols(), &sentences, &mut ()).unwrap();
        assert_eq!(list[0][0].steps, 1, "sure enough at once");
    }
}

#[test]
fn sentences_do_not_depend_on_each_other() {
    let settings = [
        Ctc { steps: 3, ..Ctc::default() },
        Ctc { num_beams: 4, ..Ctc::default() },
        Ctc { steps: 2, num_beams: 3, slot_candidates: 2, ..Ctc::default() },
        Ctc::default(),
    ];
    let sentences: Vec<Sentence> =
        (0..4).map(|context| Sentence { context, slots: 2 * context }).collect();
    let refs: Vec<&Ctc> = settings.iter().collect();
    let together = decode_each(&mut model(7, 2.0), &refs, &symbols(), &sentences, &mut ()).unwrap();
    for (i, sentence) in sentences.iter().enumerate() {
        let alone =
            decode(&mut model(7, 2.0), &settings[i], &symbols(), &[*sentence], &mut ()).unwrap();
        assert_eq!(alone[0], together[i]);
    }
    assert_eq!(together[0][0].tokens, [], "no slots, no tokens");
}

/// What is longer than allowed is cut; a cancelled job has no hypotheses.
#[test]
fn length_and_cancellation() {
    struct Nobody;
    impl padir_decode::Observer for Nobody {
        fn observe(&mut self, _: Event) {}
        fn wants(&self, _: usize) -> bool {
            false
        }
    }
    let settings = Ctc { max_length: 2, ..Ctc::default() };
    let sentences = [Sentence { context: 0, slots: 12 }];
    let list = decode(&mut model(5, 2.0), &settings, &symbols(), &sentences, &mut ()).unwrap();
    assert!(list[0][0].tokens.len() == 1 && list[0][0].cut);
    let list = decode(&mut model(5, 2.0), &settings, &symbols(), &sentences, &mut Nobody).unwrap();
    assert!(list[0].is_empty());
    let wrong = Ctc { steps: 0, ..settings };
    assert!(decode(&mut model(5, 2.0), &wrong, &symbols(), &[], &mut ()).is_err());
}
