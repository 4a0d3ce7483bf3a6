//! Candidates of the first step, on a model that does as it is told about who competes.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use std::collections::BTreeMap;

use common::Table;
use padir_base::TokenId;
use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
use padir_decode::padir::{Sentence, Settings, StopRule, Symbols, refine};
use padir_decode::{Event, Hypothesis};

/// A table that does as it is told about who competes, or not.
struct Restricted {
    table: Table,
    obeys: bool,
    allowed: BTreeMap<usize, Vec<TokenId>>,
    /// What it was told, one after the other: who competed, `None` for all again.
    told: Vec<(usize, Option<Vec<TokenId>>)>,
}

impl Restricted {
    fn new(obeys: bool) -> Self {
        Self { table: Table::new(9, 30, 2.0), obeys, allowed: BTreeMap::new(), told: Vec::new() }
    }
}

impl Denoiser for Restricted {
    type Error = std::convert::Infallible;

    fn vocabulary_size(&self) -> usize {
        self.table.vocabulary_size
    }

    fn set_candidates(
        &mut self,
        context: usize,
        tokens: Option<&[TokenId]>,
    ) -> Result<bool, Self::Error> {
        let sorted = tokens.is_none_or(|tokens| tokens.is_sorted_by(|a, b| a < b));
        assert!(sorted, "each once, in order");
        self.told.push((context, tokens.map(<[_]>::to_vec)));
        match tokens.filter(|_| self.obeys) {
            Some(tokens) => drop(self.allowed.insert(context, tokens.to_vec())),
            None => drop(self.allowed.remove(&context)),
        }
        Ok(tokens.is_some() && self.obeys)
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Self::Error> {
        let mut all = Answers::default();
        all.prepare(query, self.table.vocabulary_size);
        self.table.denoise(query, &mut all)?;
        self.table.calls.last_mut().unwrap().depth = answers.depth();
        for row in (0..query.rows()).map(|r| query.row(r)) {
            for at in row.start..row.start + row.tokens.len() {
                let Some(slots) = answers.at_mut(at) else { continue };
                let allowed = self.allowed.get(&row.context);
                let competes = |t: &TokenId| allowed.is_none_or(|all| all.contains(t));
                let found: Vec<_> =
                    all.at(at).unwrap().iter().filter(|c| competes(&c.token)).collect();
                let share: f64 = found.iter().map(|c| c.log_prob.exp()).sum();
                for (slot, found) in slots.iter_mut().zip(found) {
                    *slot = Candidate { log_prob: found.log_prob - share.ln(), ..*found };
                }
            }
        }
        Ok(())
    }
}

fn two_sentences() -> [Sentence; 2] {
    let lengths = vec![(6, -0.5), (8, -1.0)];
    [3, 5].map(|context| Sentence { number: context as u64, context, lengths: lengths.clone() })
}

#[test]
fn candidates_of_the_first_step_compete_in_the_others() {
    let symbols = Symbols::new(2..3, None);
    let run = |obeys, candidates| {
        let mut model = Restricted::new(obeys);
        let settings = Settings { candidates, stop: StopRule::Never, ..Settings::default() };
        let mut trace: Vec<Event> = Vec::new();
        let lists = refine(&mut model, &settings, &symbols, &two_sentences(), &mut trace).unwrap();
        (lists, model, trace)
    };
    let (plain, model, _) = run(true, None);
    assert!(model.told.is_empty());
    assert_eq!(run(false, Some(1)).0, plain, "who does not restrict is not held to it");
    let (all, model, _) = run(true, Some(30));
    for (a, b) in all.iter().flatten().zip(plain.iter().flatten()) {
        assert_eq!((&a.tokens, a.steps), (&b.tokens, b.steps), "everybody is a candidate");
        assert!((a.score - b.score).abs() < 1e-9);
    }
    let depths: Vec<usize> = model.table.calls.iter().map(|call| call.depth).collect();
    assert!(depths[0] == 30 && depths[1..].iter().all(|&depth| depth < 30), "{depths:?}");

    let (few, model, trace) = run(true, Some(1));
    let tokens = |lists: &[Vec<Hypothesis>]| -> Vec<Vec<TokenId>> {
        lists.iter().flatten().map(|one| one.tokens.clone()).collect()
    };
    assert_ne!(tokens(&few), tokens(&plain), "somebody else would have won");
    assert!(model.allowed.is_empty(), "all compete again in the end");
    let told: Vec<usize> = model.told.iter().map(|(context, _)| *context).collect();
    assert_eq!(told, [3, 5, 3, 5]);
    let listed = |at: usize| model.told[at].1.clone().unwrap();
    assert_ne!(listed(0), listed(1), "each sentence has its own");
    for event in trace.iter().filter(|event| event.step > 1) {
        let list = listed(usize::from(event.job == 1));
        assert!(list.len() <= 14, "one of each position");
        for (i, token) in event.tokens.iter().enumerate() {
            let rejected = event.rejected.contains(&i);
            assert!(rejected || list.contains(token), "{event:?}");
        }
    }
}

/// What all others keep where the first step was surest is set aside in later ones.
#[test]
fn restricted_steps_leave_others_their_share() {
    let symbols = Symbols::new(2..3, None);
    let sentences = &two_sentences()[..1];
    let run = |candidates| {
        let mut model = Restricted::new(true);
        let settings = Settings { candidates, stop: StopRule::Never, ..Settings::default() };
        let mut trace: Vec<Event> = Vec::new();
        refine(&mut model, &settings, &symbols, sentences, &mut trace).unwrap();
        (model, trace)
    };
    let (model, trace) = run(Some(2));
    let list = model.told[0].1.clone().unwrap();
    let table = Table::new(9, 30, 2.0);
    let dist = |row: &[u32], i: usize| {
        let seen: Vec<Option<u32>> = row.iter().map(|&t| Some(t)).collect();
        table.log_probs(3, &seen, i)
    };
    let two = |log_probs: &[f64]| {
        let mut sorted: Vec<f64> = log_probs.iter().map(|l| l.exp()).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[28] + sorted[29]
    };
    let first = &model.table.calls[0].rows;
    let positions = first.iter().flat_map(|row| (0..row.len()).map(move |i| two(&dist(row, i))));
    let share = positions.fold(0.0, f64::max).ln();
    assert!(share < -1e-3, "somebody is left something: {share}");
    // The second step of the first hypothesis, by definition.
    let read = &model.table.calls[1].rows[0];
    let second = trace.iter().find(|e| e.step == 2 && e.hypothesis == 0).unwrap();
    for i in (0..read.len()).filter(|i| !second.rejected.contains(i)) {
        let log_probs = dist(read, i);
        let of = |t: &TokenId| log_probs[t.index()];
        let total: f64 = list.iter().map(|t| of(t).exp()).sum();
        let expected = of(&second.tokens[i]) - total.ln() + share;
        assert!((second.log_probs[i] - expected).abs() < 1e-9, "position {i}");
    }
}

#[test]
fn lengths_that_waited_begin_among_all_tokens() {
    let symbols = Symbols::new(2..3, None);
    let mut model = Restricted::new(true);
    let settings = Settings { candidates: Some(1), early_exit: Some(0.0), ..Settings::default() };
    refine(&mut model, &settings, &symbols, &two_sentences(), &mut ()).unwrap();
    let told: Vec<(usize, bool)> = model.told.iter().map(|(c, t)| (*c, t.is_some())).collect();
    let turn = [(3, true), (5, true), (3, false), (5, false)];
    assert_eq!(told, [turn, turn].concat(), "each turn has lists of its own");
}
