//! Search from left to right against enumeration and against plainer searches.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use std::collections::BTreeMap;

use common::{Language, START, ids};
use padir_base::TokenId;
use padir_base::random::Seed;
use padir_decode::autoregression::{
    Beam, Sample, Source, Symbols, beam, greedy, sample, sample_by,
};
use padir_decode::{
    ChanceError, DecodeError, Event, Hypothesis, Sampling, Status, exact_law, normalise,
};
use proptest::prelude::*;

const EOS: u32 = 1;

fn source(number: u64, context: usize, max_length: usize) -> Source {
    Source { number, context, max_length }
}

fn symbols() -> Symbols {
    Symbols::new(START)
}

fn search(model: &Language, how: &Beam, sources: &[Source]) -> Vec<Vec<Hypothesis>> {
    beam(&mut model.clone(), how, &symbols(), sources, &mut ()).unwrap()
}

/// All translations of at most `limit` tokens with their log-probabilities, ends included. At the limit whatever comes
/// last counts as the end.
fn enumerate(model: &Language, context: usize, limit: usize) -> Vec<(Vec<u32>, usize, f64)> {
    let mut all = Vec::new();
    let mut prefixes = vec![(Vec::new(), 0.0)];
    for length in 1..=limit {
        let mut longer = Vec::new();
        for (prefix, log_prob) in prefixes {
            let next = model.log_probs(context, &prefix);
            for (token, l) in (0..).zip(next) {
                if token == EOS || length == limit {
                    all.push((prefix.clone(), length, log_prob + l));
                } else {
                    let mut prefix = prefix.clone();
                    prefix.push(token);
                    longer.push((prefix, log_prob + l));
                }
            }
        }
        prefixes = longer;
    }
    all
}

/// Beam search as in a textbook: whole prefixes, no early stop.
fn textbook(model: &Language, how: &Beam, source: &Source) -> Option<(Vec<u32>, f64)> {
    let mut best: Option<(Vec<u32>, f64)> = None;
    let mut live = vec![(Vec::new(), 0.0)];
    for length in 1..=source.max_length {
        let mut all = Vec::new();
        for (prefix, log_prob) in &live {
            let next = model.log_probs(source.context, prefix);
            let grow = |(token, l): (u32, f64)| (prefix.clone(), token, log_prob + l);
            all.extend((0..).zip(next).map(grow));
        }
        all.sort_by(|a, b| b.2.total_cmp(&a.2));
        live.clear();
        for (rank, (prefix, token, log_prob)) in all.into_iter().enumerate() {
            let last = length == source.max_length;
            if token == EOS && rank < how.num_beams || last {
                let score = normalise(log_prob, length, Some(how.length_penalty));
                if best.as_ref().is_none_or(|(_, old)| score > *old) {
                    best = Some((prefix.clone(), score));
                }
            }
            if token != EOS && !last && live.len() < how.num_beams {
                let longer = prefix.iter().copied().chain([token]).collect();
                live.push((longer, log_prob));
            }
        }
    }
    best
}

#[test]
fn a_beam_of_everything_finds_the_best_of_all() {
    for seed in 0..30 {
        for alpha in [-0.5, 0.0, 0.6, 1.0] {
            let model = Language::new(seed, 5, 1.5);
            // 4⁴ prefixes go on at most.
            let how = Beam { num_beams: 256, length_penalty: alpha, ..Beam::default() };
            let found = &search(&model, &how, &[source(0, 7, 5)])[0];
            let score = |(_, n, l): &(Vec<u32>, usize, f64)| normalise(*l, *n, Some(alpha));
            let all = enumerate(&model, 7, 5);
            let best = all.iter().max_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
            assert_eq!(ids(&found[0].tokens), best.0, "seed {seed}, α = {alpha}");
            assert!((found[0].score - score(best)).abs() < 1e-9, "seed {seed}, α = {alpha}");
            assert!(found.is_sorted_by(|a, b| a.score >= b.score), "seed {seed}, α = {alpha}");
        }
    }
}

#[test]
fn greedy_takes_the_best_step_by_step() {
    let mut cuts = 0;
    for seed in 0..50 {
        let model = Language::new(seed, 12, 2.0);
        let mut prefix = Vec::new();
        let (mut log_prob, mut ended) = (0.0, false);
        for _ in 0..8 {
            let next = model.log_probs(2, &prefix);
            let best = (0..12).max_by(|&a, &b| next[a].total_cmp(&next[b])).unwrap();
            log_prob += next[best];
            if best as u32 == EOS {
                ended = true;
                break;
            }
            prefix.push(best as u32);
        }
        prefix.truncate(7);
        let mut counted = model.clone();
        let found = greedy(&mut counted, &symbols(), &[source(0, 2, 8)], &mut ()).unwrap();
        assert_eq!(ids(&found[0][0].tokens), prefix, "seed {seed}");
        assert!((found[0][0].log_prob - log_prob).abs() < 1e-9, "seed {seed}");
        assert_eq!(counted.calls.len(), found[0][0].steps, "seed {seed}");
        let how = Beam { num_beams: 1, ..Beam::default() };
        let narrow = &search(&model, &how, &[source(0, 2, 8)])[0][0];
        assert_eq!(narrow.tokens, found[0][0].tokens);
        assert_eq!([narrow.cut, found[0][0].cut], [!ended; 2], "seed {seed}");
        cuts += usize::from(!ended);
    }
    assert!((1..50).contains(&cuts), "{cuts} of 50 do not end by themselves");
}

#[test]
fn samples_have_the_law_of_the_model() {
    let model = Language::new(5, 4, 1.0);
    let how = Sample::default();
    let exact = exact_law(
        0.0,
        |replay| {
            let mut model = model.clone();
            let found =
                sample_by(&mut model, &how, &symbols(), &[source(0, 1, 4)], replay, &mut ())?;
            Ok::<_, DecodeError<_>>(ids(&found[0][0].tokens))
        },
        DecodeError::is_cut,
    )
    .unwrap();
    let mut expected: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    for (tokens, _, log_prob) in enumerate(&model, 1, 4) {
        *expected.entry(tokens).or_default() += log_prob.exp();
    }
    assert_eq!(exact.outcomes.len(), expected.len());
    for (tokens, p) in &expected {
        assert!((exact.outcomes[tokens] - p).abs() < 1e-12, "{tokens:?}");
    }
    // And so have draws from real streams.
    let how = Sample { samples: 1000, seed: Seed(3), ..how };
    let sources: Vec<Source> = (0..10).map(|number| source(number, 1, 4)).collect();
    let lists = sample(&mut model.clone(), &how, &symbols(), &sources, &mut ()).unwrap();
    let mut counts: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    for hypothesis in lists.iter().flatten() {
        *counts.entry(ids(&hypothesis.tokens)).or_default() += 1.0;
    }
    let likely = expected.iter().filter(|(_, p)| **p > 1e-3);
    let gap = |(tokens, p): (&Vec<u32>, &f64)| {
        let count = counts.get(tokens).copied().unwrap_or(0.0);
        (count - 1e4 * p).abs() / (1e4 * p * (1.0 - p)).sqrt()
    };
    let worst = likely.map(gap).fold(0.0, f64::max);
    assert!(worst < 5.0, "{worst} standard deviations");
}

#[test]
fn groups_say_different_things() {
    let mut model = Language::new(11, 30, 1.0);
    let sources = [source(0, 0, 6)];
    let how = Beam { num_beams: 4, groups: 4, diversity: 100.0, ..Beam::default() };
    let mut trace: Vec<Event> = Vec::new();
    let list = beam(&mut model, &how, &symbols(), &sources, &mut trace).unwrap().remove(0);
    // A price that nobody pays: in no step do two groups choose the same token.
    let live = |step| trace.iter().filter(move |e| e.step == step && e.status != Status::Finished);
    for step in 1..=6 {
        let mut last: Vec<TokenId> = live(step).filter_map(|e| e.tokens.last().copied()).collect();
        let all = last.len();
        last.sort();
        last.dedup();
        assert_eq!(last.len(), all, "step {step}");
    }
    assert!(list.len() > 1);
    // Scores are those of the model nevertheless.
    for hypothesis in &list {
        let mut sum: f64 = hypothesis.log_probs.iter().sum();
        let next = model.log_probs(0, &ids(&hypothesis.tokens));
        sum += if hypothesis.steps < 6 { next[1] } else { hypothesis.log_prob - sum };
        assert!((hypothesis.log_prob - sum).abs() < 1e-9);
    }
    // One group, or one that costs nothing, is plain search.
    let plain = Beam { num_beams: 4, ..Beam::default() };
    let one = Beam { diversity: 9.0, ..plain };
    assert_eq!(search(&model, &plain, &sources), search(&model, &one, &sources));
    let free = Beam { groups: 2, diversity: 0.0, ..plain };
    let half = Beam { num_beams: 2, ..plain };
    assert_eq!(
        search(&model, &free, &sources)[0][0].tokens,
        search(&model, &half, &sources)[0][0].tokens
    );
}

#[test]
fn what_is_forbidden_is_not_said() {
    let model = Language::new(3, 6, 1.0);
    let never = vec![TokenId(0), TokenId(4)];
    let symbols = Symbols { never: never.clone(), ..symbols() };
    let sources = [source(0, 0, 6)];
    let warm = Sample { samples: 50, ..Sample::default() };
    let lists = [
        greedy(&mut model.clone(), &symbols, &sources, &mut ()).unwrap(),
        beam(&mut model.clone(), &Beam::default(), &symbols, &sources, &mut ()).unwrap(),
        sample(&mut model.clone(), &warm, &symbols, &sources, &mut ()).unwrap(),
    ];
    for hypothesis in lists.iter().flatten().flatten() {
        assert!(hypothesis.tokens.iter().all(|t| !never.contains(t)));
    }
    let all = (0..6).map(TokenId).collect();
    let mute = Symbols { never: all, ..Symbols::new(START) };
    let error = greedy(&mut model.clone(), &mute, &sources, &mut ()).unwrap_err();
    assert!(matches!(error, DecodeError::Chance(ChanceError::NoCandidate(0))));
}

#[test]
fn finished_sentences_leave_the_batch() {
    let mut model = Language::new(1, 9, 1.0);
    let sources = [source(0, 0, 2), source(1, 1, 7), source(2, 2, 4)];
    let sampling = Sampling { temperature: 1.0, ..Sampling::cold() };
    let how = Sample { samples: 3, sampling, ..Sample::default() };
    let lists = sample(&mut model, &how, &symbols(), &sources, &mut ()).unwrap();
    let live = |step| lists.iter().flatten().filter(|h| h.steps > step).count();
    let longest = lists.iter().flatten().map(|h| h.steps).max().unwrap();
    assert_eq!(model.calls, (0..longest).map(live).collect::<Vec<_>>());
    assert!(beam(&mut model, &Beam::default(), &symbols(), &[], &mut ()).unwrap().is_empty());
}

#[test]
fn steps_are_told() {
    let mut model = Language::new(21, 7, 1.0);
    let how = Beam { num_beams: 2, ..Beam::default() };
    let mut trace: Vec<Event> = Vec::new();
    let list =
        beam(&mut model, &how, &symbols(), &[source(9, 0, 6)], &mut trace).unwrap().remove(0);
    assert!(trace.iter().all(|event| event.job == 0 && event.rejected.is_empty()));
    for hypothesis in &list {
        let told = trace
            .iter()
            .find(|e| e.status == Status::Finished && e.hypothesis == hypothesis.number)
            .unwrap();
        assert_eq!(told.tokens, hypothesis.tokens);
        assert_eq!(told.step, hypothesis.steps);
        assert_eq!(told.score.to_bits(), hypothesis.score.to_bits());
    }
    for live in trace.iter().filter(|e| e.status == Status::Live) {
        assert_eq!((live.tokens.len(), &live.changed[..]), (live.step, &[live.step - 1][..]));
    }
    let last = trace.iter().map(|e| e.step).max().unwrap();
    assert!(trace.iter().all(|e| e.step < last || e.status != Status::Live));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Stopping early loses nothing.
    #[test]
    fn beam_search_equals_the_textbook(
        seed in 0_u64..10_000, width in 1_usize..7, alpha in -0.5..1.5, limit in 1_usize..8,
        sharpness in 0.5..3.0,
    ) {
        let model = Language::new(seed, 9, sharpness);
        let how = Beam { num_beams: width, length_penalty: alpha, ..Beam::default() };
        let source = source(0, 3, limit);
        let found = search(&model, &how, &[source])[0].first()
            .map(|h| (ids(&h.tokens), h.score));
        // Greedy search stops at its first end, textbooks do not.
        if width > 1 {
            let expected = textbook(&model, &how, &source);
            prop_assert_eq!(found.as_ref().map(|f| &f.0), expected.as_ref().map(|e| &e.0));
            prop_assert!((found.unwrap().1 - expected.unwrap().1).abs() < 1e-9);
        }
    }

    #[test]
    fn sentences_do_not_depend_on_each_other(
        seed in 0_u64..10_000,
        sources in proptest::collection::vec((0_u64..99, 0_usize..9, 1_usize..9), 1..6),
        groups in 1_usize..3,
    ) {
        let model = Language::new(seed, 9, 1.5);
        let sources: Vec<Source> =
            sources.into_iter().map(|(number, context, limit)| source(number, context, limit)).collect();
        let how = Beam { num_beams: 2 * groups, groups, ..Beam::default() };
        let warm = Sample { samples: 3, ..Sample::default() };
        let run = |sources: &[Source]| (
            search(&model, &how, sources),
            sample(&mut model.clone(), &warm, &symbols(), sources, &mut ()).unwrap(),
        );
        let (beams, samples) = run(&sources);
        for (i, source) in sources.iter().enumerate() {
            let (beam, sample) = run(&[*source]);
            prop_assert_eq!(&beam[0], &beams[i]);
            prop_assert_eq!(&sample[0], &samples[i]);
        }
    }
}

#[test]
fn no_target_ends_before_its_least_length() {
    for seed in 0..20 {
        let mut model = Language::new(seed, 7, 1.0);
        for num_beams in [1, 4] {
            let free = Beam { num_beams, ..Beam::default() };
            for min_length in [1, 3] {
                let how = Beam { min_length, ..free };
                let list = beam(&mut model, &how, &symbols(), &[source(0, 0, 8)], &mut ())
                    .unwrap()
                    .remove(0);
                assert!(list.iter().all(|h| h.tokens.len() >= min_length), "{seed}");
            }
            let stop = Beam { early_stopping: true, ..free };
            let sources = [source(0, 0, 8)];
            let early = beam(&mut model, &stop, &symbols(), &sources, &mut ()).unwrap().remove(0);
            let full = beam(&mut model, &free, &symbols(), &sources, &mut ()).unwrap().remove(0);
            assert!(early[0].score <= full[0].score + 1e-12, "stopping early finds nothing better");
        }
    }
}
