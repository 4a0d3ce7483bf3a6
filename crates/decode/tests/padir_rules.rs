//! Every rule of refinement on a model that does as it is told.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use std::collections::BTreeMap;

use common::{Scripted, Table, ids, tokens};
use padir_base::TokenId;
use padir_base::denoise::{Answers, Denoiser, Query, Row};
use padir_base::mask::MaskLaw;
use padir_decode::padir::{
    Counted, Initial, Procedure, Prune, RemaskRule, Replacement, Sentence, Settings, StopRule,
    Symbols, Wanted, refine, refine_by,
};
use padir_decode::{ChanceError, DecodeError, Event, Hypothesis, MaskPredict, Status, exact_law};

/// All random starts are sevens.
fn sevens() -> Symbols {
    Symbols::new(7..8, Some(TokenId(7)))
}

fn sentence(lengths: &[usize]) -> Sentence {
    let lengths = lengths.iter().map(|&n| (n, -1.0)).collect();
    Sentence { number: 0, context: 0, lengths }
}

type Answer = Vec<(u32, f64)>;

fn run<F: Fn(&Row<'_>, usize) -> Answer>(
    script: F,
    settings: &Settings,
    lengths: &[usize],
) -> (Vec<Hypothesis>, Scripted<F>, Vec<Event>) {
    let mut model = Scripted::new(script);
    let mut trace = Vec::new();
    let symbols = Symbols { mask: None, ..sevens() };
    let symbols = if settings.initial == Initial::Mask { sevens() } else { symbols };
    let lists = refine(&mut model, settings, &symbols, &[sentence(lengths)], &mut trace).unwrap();
    (lists.into_iter().next().unwrap(), model, trace)
}

/// Always predicts the same, each token with probability p.
fn says(target: &[u32], p: f64) -> impl Fn(&Row<'_>, usize) -> Answer {
    move |_, i| vec![(target[i], p)]
}

fn paper() -> Settings {
    Settings::default().exactly_as_in_the_paper()
}

/// The name, what is predicted, how; what remains, and how many positions are counted.
type Case<'a> = (&'a str, &'a [u32], Settings, &'a [u32], usize);

#[test]
fn what_is_kept_and_counted() {
    let default = Settings::default;
    let with = |replacement| Settings { replacement, ..default() };
    let cases: [Case<'_>; 15] = [
        ("a plain sentence", &[5, 8, 6, 1], default(), &[5, 8, 6], 4),
        ("a plain sentence, paper", &[5, 8, 6, 1], paper(), &[5, 8, 6], 3),
        ("a token like its start", &[5, 7, 6, 1], default(), &[5, 7, 6], 4),
        ("a token like its start, paper", &[5, 7, 6, 1], paper(), &[5, 6], 2),
        (
            "nothing dropped, paper",
            &[5, 7, 6, 1],
            Settings { drop_unchanged: false, ..paper() },
            &[5, 7, 6],
            4,
        ),
        ("stutter", &[5, 5, 5, 1], default(), &[5], 2),
        ("stutter, paper", &[5, 5, 5, 1], paper(), &[5], 1),
        ("all counted", &[5, 5, 5, 1], Settings { counted: Counted::Every, ..default() }, &[5], 4),
        (
            "stutter never replaced but by its start",
            &[5, 5, 5, 1],
            with(Replacement::Previous),
            &[5],
            2,
        ),
        (
            "stutter that all steps agree on",
            &[5, 5, 5, 1],
            with(Replacement::Accumulated),
            &[5, 5, 5],
            4,
        ),
        (
            "stutter allowed",
            &[5, 5, 5, 1],
            Settings { remask_stutter: false, ..default() },
            &[5, 5, 5],
            4,
        ),
        ("the first is not compared with the last", &[5, 6, 5], default(), &[5, 6, 5], 3),
        ("ends are no text but count", &[5, 1, 6, 1], default(), &[5, 6], 4),
        ("ends are no text, paper", &[5, 1, 6, 1], paper(), &[5, 6], 3),
        ("an end rewritten", &[5, 8, 6, 9], default(), &[5, 8, 6, 9], 4),
    ];
    for (name, predicted, settings, expected, counted) in cases {
        let (list, ..) = run(says(predicted, 0.9), &settings, &[predicted.len()]);
        assert_eq!(ids(&list[0].tokens), expected, "{name}");
        assert_eq!(list[0].log_probs.len(), expected.len(), "{name}");
        let score = counted as f64 * 0.9_f64.ln();
        assert!((list[0].score - score).abs() < 1e-12, "{name}: {}", list[0].score);
        assert_eq!(list[0].length.unwrap().length, predicted.len(), "{name}");
    }
}

#[test]
fn padding_is_never_predicted() {
    let script = |_: &Row<'_>, i: usize| match i {
        1 => vec![(0, 0.6), (8, 0.3)],
        3 => vec![(1, 0.9)],
        _ => vec![(5 + i as u32, 0.9)],
    };
    let settings = Settings { steps: 1, ..Settings::default() };
    let (list, model, _) = run(script, &settings, &[4]);
    assert_eq!(ids(&list[0].tokens), [5, 8, 7]);
    assert!((list[0].log_probs[1] - 0.3_f64.ln()).abs() < 1e-12);
    // The engine is asked for the second best only where it must be.
    let calls: Vec<_> = model.calls.iter().map(|c| (c.wanted, c.depth)).collect();
    assert_eq!(calls, [(4, 1), (1, 2)]);

    let symbols = Symbols { never: tokens(&[0, 8]), ..sevens() };
    let mut model = Scripted::new(script);
    let error = refine(&mut model, &settings, &symbols, &[sentence(&[4])], &mut ()).unwrap_err();
    assert!(matches!(error, DecodeError::Chance(ChanceError::NoCandidate(0))));
}

#[test]
fn the_best_score_wins_and_ties_keep_their_order() {
    let by_length = |row: &Row<'_>, i: usize| {
        let n = row.tokens.len();
        let token = if i + 1 == n { 1 } else { 10 + i as u32 };
        vec![(token, if n == 3 { 0.5 } else { 0.6 })]
    };
    let first = |length_penalty, lengths: &[usize]| {
        let settings = Settings { length_penalty, ..Settings::default() };
        let (list, ..) = run(by_length, &settings, lengths);
        list.iter().map(|h| h.length.unwrap().length).collect::<Vec<_>>()
    };
    assert_eq!(first(None, &[6, 3]), [3, 6]);
    assert_eq!(first(Some(2.0), &[3, 6]), [6, 3]);
    let sure = |_: &Row<'_>, i: usize| vec![(10 + i as u32, 1.0)];
    let (list, ..) = run(sure, &Settings::default(), &[4, 3, 5]);
    assert_eq!(list.iter().map(|h| h.number).collect::<Vec<_>>(), [0, 1, 2]);
}

/// Repairs stutter as soon as it sees that something is missing.
fn repairs(row: &Row<'_>, i: usize) -> Answer {
    let seen = |i: usize| row.tokens[i].0;
    let second = if seen(0) == 5 && seen(1) != 5 { 6 } else { 5 };
    vec![([5, second, 1][i], 0.9)]
}

/// Step, tokens, what changed, what was rejected, status.
type Told<'a> = (usize, &'a [u32], &'a [usize], &'a [usize], Status);

#[test]
fn rejected_stutter_can_be_repaired_and_is_told() {
    let (list, _, trace) = run(repairs, &Settings::default(), &[3]);
    assert_eq!(ids(&list[0].tokens), [5, 6]);
    assert_eq!(list[0].steps, 3);
    let expected: [Told<'_>; 3] = [
        (1, &[5, 7, 1], &[0], &[1], Status::Live),
        (2, &[5, 6, 1], &[1], &[], Status::Live),
        (3, &[5, 6, 1], &[], &[], Status::Finished),
    ];
    assert_eq!(trace.len(), 3);
    for (event, (step, tokens, changed, rejected, status)) in trace.iter().zip(expected) {
        assert_eq!((event.job, event.hypothesis, event.step), (0, 0, step));
        assert_eq!(ids(&event.tokens), tokens, "step {step}");
        assert_eq!((&event.changed[..], &event.rejected[..]), (changed, rejected), "step {step}");
        assert_eq!(event.status, status, "step {step}");
        assert_eq!(event.log_probs.len(), 3);
    }
    let left = Settings { remask_stutter: false, ..Settings::default() };
    assert_eq!(ids(&run(repairs, &left, &[3]).0[0].tokens), [5, 5]);
}

#[test]
fn what_is_finished_is_not_computed_again() {
    // Rows of five never settle: the first token goes up and up.
    let restless = |row: &Row<'_>, i: usize| {
        let next =
            if row.tokens.len() == 5 && i == 0 { row.tokens[0].0 + 1 } else { 30 + i as u32 };
        vec![(next, 0.9)]
    };
    let (list, model, _) = run(restless, &Settings::default(), &[3, 5, 4]);
    let rows: Vec<usize> = model.calls.iter().map(|c| c.rows.len()).collect();
    assert_eq!(rows, [3, 3, 1, 1]);
    let steps: BTreeMap<usize, usize> = list.iter().map(|h| (h.number, h.steps)).collect();
    assert_eq!(steps, BTreeMap::from([(0, 2), (1, 4), (2, 2)]));
}

#[test]
fn hypotheses_far_behind_are_given_up() {
    // Scores after a step: 3 ln 0.9 = −0.32, 5 ln 0.5 = −3.47, 4 ln 0.7 = −1.43.
    let script = |row: &Row<'_>, i: usize| {
        let p = [0.9, 0.7, 0.5][row.tokens.len() - 3];
        vec![(row.tokens[i].0 % 90 + 10 + i as u32, p)]
    };
    let cases = [
        ("never", Prune::Never, vec![3, 3, 3, 3], vec![0, 2, 1]),
        ("the best", Prune::Keep { most: 1 }, vec![3, 1, 1, 1], vec![0]),
        ("two", Prune::Keep { most: 2 }, vec![3, 2, 2, 2], vec![0, 2]),
        ("half of them each time", Prune::Share { share: 0.5 }, vec![3, 2, 1, 1], vec![0]),
        ("within 1 nat", Prune::Margin { nats: 1.0 }, vec![3, 1, 1, 1], vec![0]),
        ("within 2 nats", Prune::Margin { nats: 2.0 }, vec![3, 2, 2, 2], vec![0, 2]),
        ("within 4 nats", Prune::Margin { nats: 4.0 }, vec![3, 3, 3, 3], vec![0, 2, 1]),
    ];
    for (name, prune, rows, numbers) in cases {
        let settings = Settings { prune, ..Settings::default() };
        let (list, model, trace) = run(script, &settings, &[3, 5, 4]);
        let asked: Vec<usize> = model.calls.iter().map(|c| c.rows.len()).collect();
        assert_eq!(asked, rows, "{name}");
        assert_eq!(list.iter().map(|h| h.number).collect::<Vec<_>>(), numbers, "{name}");
        let dropped = trace.iter().filter(|e| e.status == Status::Dropped).count();
        assert_eq!(dropped, 3 - numbers.len(), "{name}");
    }
}

#[test]
fn another_penalty_decides_what_is_given_up() {
    // Sums after a step: 3 ln 0.5 = −2.08, 5 ln 0.6 = −2.55. With α = 2 they are −1.17 and −0.92.
    let script = |row: &Row<'_>, i: usize| {
        let p = if row.tokens.len() == 3 { 0.5 } else { 0.6 };
        vec![(row.tokens[i].0 % 90 + 10 + i as u32, p)]
    };
    for (prune_penalty, kept) in [(None, 0), (Some(2.0), 1)] {
        let settings =
            Settings { prune: Prune::Keep { most: 1 }, prune_penalty, ..Settings::default() };
        let (list, ..) = run(script, &settings, &[3, 5]);
        assert_eq!(list.iter().map(|h| h.number).collect::<Vec<_>>(), [kept], "{prune_penalty:?}");
        // The score itself is as ever.
        assert!((list[0].score - list[0].log_prob).abs() < 1e-12);
    }
}

#[test]
fn a_length_that_was_foretold_may_count() {
    // Three positions, of which people seldom speak: ln p = −3. Five: ln p = −1.
    let script = |_: &Row<'_>, i: usize| vec![(10 + i as u32, 0.7)];
    let tokens = |n: f64| n * 0.7_f64.ln();
    let cases = [(0.0, None, 0, tokens(3.0)), (1.0, None, 1, tokens(5.0) - 1.0)];
    let alpha = 2.0;
    let shrunk = (tokens(5.0) - 0.5) / (10.0_f64 / 6.0).powf(alpha);
    for (length_weight, length_penalty, first, score) in
        cases.into_iter().chain([(0.5, Some(alpha), 1, shrunk)])
    {
        let settings = Settings { length_weight, length_penalty, ..Settings::default() };
        let mut model = Scripted::new(script);
        let sentence = Sentence { number: 0, context: 0, lengths: vec![(3, -3.0), (5, -1.0)] };
        let symbols = Symbols { mask: None, ..sevens() };
        let lists = refine(&mut model, &settings, &symbols, &[sentence], &mut ()).unwrap();
        assert_eq!(lists[0][0].number, first, "{length_weight}");
        assert!((lists[0][0].score - score).abs() < 1e-9, "{}", lists[0][0].score);
    }
    // What has no probability at all is no obstacle to whoever does not ask.
    let sentence =
        || Sentence { number: 0, context: 0, lengths: vec![(3, f64::NEG_INFINITY), (5, -1.0)] };
    for (length_weight, first) in [(0.0, 0), (0.3, 1)] {
        let settings = Settings { length_weight, ..Settings::default() };
        let symbols = Symbols { mask: None, ..sevens() };
        let lists = refine(&mut Scripted::new(script), &settings, &symbols, &[sentence()], &mut ())
            .unwrap();
        assert_eq!(lists[0][0].number, first);
    }
}

#[test]
fn one_length_may_suffice() {
    // Means of ln p: −0.11 for three positions, −0.36 for four, −0.69 for five. Nothing ever settles.
    let script = |row: &Row<'_>, i: usize| {
        let p = [0.9, 0.7, 0.5][row.tokens.len() - 3];
        vec![(row.tokens[i].0 % 90 + 10 + i as u32, p)]
    };
    let settings = Settings { early_exit: Some(-0.2), ..Settings::default() };
    let cases = [
        (vec![3, 5, 4], vec![1, 1, 1, 1], vec![0]),
        (vec![5, 3, 4], vec![1, 1, 1, 1, 2, 2, 2, 2], vec![1, 2, 0]),
        (vec![5], vec![1, 1, 1, 1], vec![0]),
    ];
    for (lengths, rows, numbers) in cases {
        let (list, model, _) = run(script, &settings, &lengths);
        let asked: Vec<usize> = model.calls.iter().map(|call| call.rows.len()).collect();
        assert_eq!(asked, rows, "{lengths:?}");
        assert_eq!(list.iter().map(|h| h.number).collect::<Vec<_>>(), numbers, "{lengths:?}");
    }
    // All starts of the first length go first.
    let twice = Settings { parallel_decodes: 2, ..settings.clone() };
    let (_, model, _) = run(script, &twice, &[3, 5]);
    assert!(model.calls.iter().all(|call| call.rows.len() == 2));
    // Those that begin later are not given up for being behind what is finished.
    let late = |row: &Row<'_>, i: usize| {
        let p = if row.tokens.len() == 5 || row.tokens[0].0 == 7 { 0.5 } else { 0.9 };
        vec![(row.tokens[i].0 % 90 + 10 + i as u32, p)]
    };
    let settings = Settings { prune: Prune::Margin { nats: 0.5 }, ..settings };
    let (list, ..) = run(late, &settings, &[5, 6]);
    assert_eq!(list.iter().map(|h| h.number).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_finished_hypothesis_is_not_given_up() {
    // The row of three settles at once, and is overtaken in the third step.
    let script = |row: &Row<'_>, i: usize| {
        if row.tokens.len() == 3 {
            return vec![(10 + i as u32, 0.5)];
        }
        let seen = row.tokens[0].0;
        vec![(if i == 0 { seen + 1 } else { 40 + i as u32 }, if seen >= 9 { 0.9 } else { 0.4 })]
    };
    let settings = Settings { prune: Prune::Margin { nats: 1.7 }, ..Settings::default() };
    let (list, ..) = run(script, &settings, &[3, 4]);
    assert_eq!(list.iter().map(|h| h.number).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn hypotheses_end_when_they_may() {
    let confident = |p: f64| StopRule::Confident { min_log_prob: p.ln() };
    let cases = [
        ("unchanged", StopRule::Unchanged, 2),
        ("confident", confident(0.85), 1),
        ("not confident early_exit", confident(0.95), 2),
        ("never", StopRule::Never, 4),
    ];
    for (name, stop, steps) in cases {
        let settings = Settings { stop, ..Settings::default() };
        let (list, model, _) = run(says(&[5, 6, 8, 1], 0.9), &settings, &[4]);
        assert_eq!((list[0].steps, model.calls.len()), (steps, steps), "{name}");
        assert_eq!(ids(&list[0].tokens), [5, 6, 8], "{name}");
    }
    // Stutter may yet be repaired, however sure it is.
    let settings = Settings { stop: confident(0.5), ..Settings::default() };
    assert_eq!(ids(&run(repairs, &settings, &[3]).0[0].tokens), [5, 6]);
}

#[test]
fn a_remasking_rule_does_not_end_a_row_too_soon() {
    // Once the first token is there, the second wants to be another one; the remask keeps it as it was.
    let script = |row: &Row<'_>, i: usize| match (i, row.tokens[0].0) {
        (1, 5) => vec![(9, 0.3)],
        _ => vec![([5, 6, 1][i], [0.9, 0.8, 0.9][i])],
    };
    let with = |settings| Settings {
        remask: RemaskRule::Count { count: 1 },
        replacement: Replacement::Previous,
        ..settings
    };
    let (list, ..) = run(script, &with(Settings::default()), &[3]);
    assert_eq!((ids(&list[0].tokens), list[0].steps), (vec![5, 9], 4));
    // To the paper's program the row has settled, with its initial seven.
    let (list, ..) = run(script, &with(paper()), &[3]);
    assert_eq!((ids(&list[0].tokens), list[0].steps), (vec![5], 2));
}

#[test]
fn only_what_is_uncertain_is_asked_for() {
    let doubtful = |doubt: Option<usize>| {
        move |_: &Row<'_>, i: usize| {
            vec![([20, 21, 22, 23, 24, 1][i], if doubt == Some(i) { 0.4 } else { 0.9 })]
        }
    };
    let cases = [
        ("nothing in doubt", None, 1, vec![6]),
        ("one and its neighbours", Some(2), 1, vec![6, 3]),
        ("at the edge", Some(0), 1, vec![6, 2]),
        ("alone", Some(3), 0, vec![6, 1]),
        ("far reach", Some(3), 9, vec![6, 6]),
    ];
    for (name, doubt, neighbours, wanted) in cases {
        let rule = Wanted::Uncertain { below: 0.5_f64.ln(), neighbours };
        let settings = Settings { wanted: rule, ..Settings::default() };
        let (list, model, _) = run(doubtful(doubt), &settings, &[6]);
        let asked: Vec<usize> = model.calls.iter().map(|c| c.wanted).collect();
        assert_eq!(asked, wanted, "{name}");
        assert_eq!(ids(&list[0].tokens), [20, 21, 22, 23, 24], "{name}");
    }
}

#[test]
fn mask_predict_hides_what_it_predicts_but_never_the_end() {
    let script = |row: &Row<'_>, i: usize| {
        assert!(!row.hidden[row.tokens.len() - 1], "the end is visible");
        vec![(20 + i as u32, 0.5 + 0.05 * i as f64)]
    };
    let (list, model, _) = run(script, &Settings::mask_predict(4), &[9]);
    let calls: Vec<_> = model.calls.iter().map(|c| (c.hidden, c.wanted)).collect();
    assert_eq!(calls, [(8, 8), (6, 6), (4, 4), (2, 2)]);
    assert_eq!(ids(&list[0].tokens), (20..28).collect::<Vec<_>>());
    let sum: f64 = (0..8).map(|i| (0.5 + 0.05 * f64::from(i)).ln()).sum();
    assert!((list[0].log_prob - sum).abs() < 1e-12);
}

#[test]
fn any_mask_law_is_a_remasking_rule() {
    // Everything is rejected, always: each step starts over, and only the last counts.
    let settings = Settings {
        remask: RemaskRule::Law { law: MaskLaw::All },
        stop: StopRule::Never,
        ..Settings::default()
    };
    let (list, model, _) = run(says(&[5, 6, 1], 0.9), &settings, &[3]);
    assert!(model.calls.iter().all(|call| call.rows == [[7, 7, 1]]));
    assert_eq!(ids(&list[0].tokens), [5, 6]);
    // A law that does not fit says so.
    let law = MaskLaw::Exactly { k: 9 };
    let settings = Settings { remask: RemaskRule::Law { law }, ..Settings::default() };
    let mut model = Scripted::new(says(&[5, 6, 1], 0.9));
    let error = refine(&mut model, &settings, &sevens(), &[sentence(&[3])], &mut ()).unwrap_err();
    assert_eq!(error.to_string(), "cannot hide 9 of 3 positions");
}

#[test]
fn nothing_comes_of_nothing() {
    let mut model = Scripted::new(says(&[5, 6, 1], 0.9));
    let settings = Settings::default();
    let mut run = |sentences: &[Sentence]| {
        refine(&mut model, &settings, &sevens(), sentences, &mut ()).unwrap()
    };
    assert!(run(&[]).is_empty());
    let lists = run(&[sentence(&[]), sentence(&[3])]);
    assert_eq!((lists[0].len(), lists[1].len()), (0, 1));
    let wrong = Settings { steps: 0, ..Settings::default() };
    let error = refine(&mut model, &wrong, &sevens(), &[], &mut ()).unwrap_err();
    assert_eq!(error.to_string(), "`steps` is 0; it must be from 1 to 10000");
}

/// Two sampled steps from masks: the law of the tokens is a sum over the tokens between them.
#[test]
fn sampled_refinement_has_its_exact_law() {
    let table = Table::new(4, 5, 1.0);
    let allowed = [2_u32, 3, 4];
    let symbols = Symbols { never: tokens(&[0, 1]), ..Symbols::new(0..0, Some(TokenId(2))) };
    let cases = [
        ("all positions", RemaskRule::Nothing),
        // Half of the predictions do not count: the other half is what remains.
        ("half of them", RemaskRule::Law { law: MaskLaw::Rate { rate: 0.5 } }),
    ];
    // p(y | x) of one pass, over what may be said.
    let pass = |x: &[u32], y: &[u32]| -> f64 {
        let seen: Vec<Option<u32>> = x.iter().map(|&t| Some(t)).collect();
        let at = |(i, &t): (usize, &u32)| {
            let logs = table.log_probs(0, &seen, i);
            let total: f64 = allowed.iter().map(|&a| logs[a as usize].exp()).sum();
            logs[t as usize].exp() / total
        };
        y.iter().enumerate().map(at).product()
    };
    let mut all = Vec::new();
    for &a in &allowed {
        all.extend(allowed.map(|b| vec![a, b]));
    }
    for (name, remask) in cases {
        let rate = if remask == RemaskRule::Nothing { 0.0 } else { 0.5 };
        let settings = Settings {
            remask,
            replacement: Replacement::Previous,
            initial: Initial::Mask,
            steps: 2,
            temperature: 1.0,
            stop: StopRule::Never,
            remask_stutter: false,
            ..Settings::default()
        };
        let found = exact_law(
            0.0,
            |replay| {
                let mut trace: Vec<Event> = Vec::new();
                let mut table = table.clone();
                refine_by(&mut table, &settings, &symbols, &[sentence(&[2])], replay, &mut trace)?;
                Ok::<_, DecodeError<_>>(ids(&trace[1].tokens))
            },
            DecodeError::is_cut,
        )
        .unwrap();
        let start = [2, 1];
        let mut expected: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for predicted in &all {
            for kept in 0..4_u32 {
                let weight = |i: u32| if kept >> i & 1 == 1 { 1.0 - rate } else { rate };
                let take = |i: usize| if kept >> i & 1 == 1 { predicted[i] } else { start[i] };
                let between = [take(0), take(1)];
                let p = pass(&start, predicted) * weight(0) * weight(1);
                for end in &all {
                    *expected.entry(end.clone()).or_default() += p * pass(&between, end);
                }
            }
        }
        assert_eq!(found.outcomes.len(), 9, "{name}");
        for (tokens, p) in &expected {
            assert!((found.outcomes[tokens] - p).abs() < 1e-12, "{name}: {tokens:?}");
        }
    }
}

#[test]
fn the_paper_is_a_procedure_not_a_mood() {
    assert_eq!(paper().procedure, Procedure::Paper);
    let mut model = Scripted::new(says(&[5, 6, 1], 0.9));
    let settings = Settings { prune: Prune::Keep { most: 1 }, ..paper() };
    let error = refine(&mut model, &settings, &sevens(), &[sentence(&[3])], &mut ()).unwrap_err();
    assert_eq!(error.to_string(), "`prune` is not part of the paper's procedure");
}

/// A model that says what it is asked for.
struct Listening<D> {
    model: D,
    able: bool,
    low_precision: Vec<bool>,
}

impl<D: Denoiser> Denoiser for Listening<D> {
    type Error = D::Error;

    fn vocabulary_size(&self) -> usize {
        self.model.vocabulary_size()
    }

    fn has_low_precision(&self) -> bool {
        self.able
    }

    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), D::Error> {
        self.low_precision.push(query.is_low_precision());
        self.model.denoise(query, answers)
    }
}

/// The sentence never changes after the first step, and is certain; yet nothing ends with a low-precision answer, and the last step is none.
#[test]
fn drafts_come_first_and_end_nothing() {
    let default = Settings::default;
    let confident =
        || Settings { stop: StopRule::Confident { min_log_prob: -1.0 }, ..Settings::default() };
    let uncertain = || Settings {
        wanted: Wanted::Uncertain { below: -1.0, neighbours: 0 },
        ..Settings::default()
    };
    let cases = [
        ("none", 0, 4, default(), vec![false, false]),
        ("one", 1, 4, default(), vec![true, false]),
        ("two", 2, 4, default(), vec![true, true, false]),
        ("too many", 9, 3, default(), vec![true, true, false]),
        ("the only step", 1, 1, default(), vec![false]),
        ("certain", 1, 4, confident(), vec![true, false]),
        ("certain at once", 0, 4, confident(), vec![false]),
        ("nothing uncertain", 1, 4, uncertain(), vec![true, false]),
        ("nothing uncertain at once", 0, 4, uncertain(), vec![false]),
    ];
    let symbols = Symbols { mask: None, ..sevens() };
    for (name, low_precision_steps, steps, settings, expected) in cases {
        let settings = Settings { low_precision_steps, steps, ..settings };
        let flags = |able| {
            let model = Scripted::new(says(&[5, 8, 6, 1], 0.9));
            let mut model = Listening { model, able, low_precision: Vec::new() };
            refine(&mut model, &settings, &symbols, &[sentence(&[4])], &mut Vec::new()).unwrap();
            model.low_precision
        };
        assert_eq!(flags(true), expected, "{name}");
        // A denoiser without low precision is not asked again.
        let plain = Settings { low_precision_steps: 0, ..settings.clone() };
        let mut model = Scripted::new(says(&[5, 8, 6, 1], 0.9));
        refine(&mut model, &plain, &symbols, &[sentence(&[4])], &mut Vec::new()).unwrap();
        assert!(flags(false).iter().all(|low_precision| !low_precision), "{name}");
        assert_eq!(flags(false).len(), model.calls.len(), "{name}");
    }
}

#[test]
fn phrases_stutter_if_they_may() {
    for (stutter_phrase, expected) in [(1, &[5, 8, 5, 8, 6][..]), (2, &[5, 8, 6])] {
        let settings = Settings { stutter_phrase, ..Settings::default() };
        let (list, ..) = run(says(&[5, 8, 5, 8, 6, 1], 0.9), &settings, &[6]);
        assert_eq!(ids(&list[0].tokens), expected, "{stutter_phrase}");
    }
}

/// Somebody who says what to say, and how far to believe it.
struct Doubting;

impl Denoiser for Doubting {
    type Error = std::convert::Infallible;

    fn vocabulary_size(&self) -> usize {
        100
    }

    fn has_confidence_head(&self) -> bool {
        true
    }

    /// Doubts its second word as long as the first is not said.
    fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Self::Error> {
        for row in (0..query.rows()).map(|r| query.row(r)) {
            let begun = row.tokens[0] == TokenId(5);
            for (i, token) in [5, if begun { 6 } else { 9 }, 1].into_iter().enumerate() {
                answers.at_mut(row.start + i).unwrap()[0].token = TokenId(token);
                answers.at_mut(row.start + i).unwrap()[0].log_prob = -0.1;
            }
            let doubt = if begun { 0.9_f64 } else { 0.4 };
            answers.confidences_mut().copy_from_slice(&[0.9_f64.ln(), doubt.ln(), 0.99_f64.ln()]);
        }
        Ok(())
    }
}

#[test]
fn a_model_rejects_what_it_believes_to_be_wrong() {
    let trace = |settings: &Settings| {
        let mut trace: Vec<Event> = Vec::new();
        let symbols = Symbols { mask: None, ..sevens() };
        refine(&mut Doubting, settings, &symbols, &[sentence(&[3])], &mut trace).unwrap();
        trace.iter().map(|event| (ids(&event.tokens), event.rejected.clone())).collect::<Vec<_>>()
    };
    let learned =
        |below| Settings { remask: RemaskRule::Confidence { below }, ..Settings::default() };
    let found = trace(&learned(0.5));
    assert_eq!(found[0], (vec![5, 7, 1], vec![1]), "its start stands there again");
    assert_eq!(found[1], (vec![5, 6, 1], vec![]));
    assert_eq!(trace(&learned(0.3))[0], (vec![5, 9, 1], vec![]), "no longer doubtful enough");
    let paper = learned(0.5).exactly_as_in_the_paper();
    assert_eq!(trace(&paper)[0].1, [1], "the paper knows of it");
    let (script, symbols) = (says(&[5, 6, 1], 0.9), Symbols { mask: None, ..sevens() });
    let mut model = Scripted::new(script);
    let error = refine(&mut model, &learned(0.5), &symbols, &[sentence(&[3])], &mut ());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no confidence head"), "{error}");
}

/// Neighbours never change together, and a hypothesis ends only when no colour changes anything.
#[test]
fn coloured_steps_change_what_is_far_apart() {
    for colours in [2, 3] {
        let settings = Settings {
            steps: 12,
            remask_stutter: false,
            wanted: Wanted::Coloured { colours },
            ..Settings::default()
        };
        // Every position changes whenever it may.
        let restless = |row: &Row<'_>, i: usize| vec![((row.tokens[i].0 + 1) % 5 + 10, 0.5)];
        let (_, model, trace) = run(restless, &settings, &[7]);
        assert_eq!(model.calls.len(), 12);
        for event in &trace[1..] {
            assert!(!event.changed.is_empty());
            let apart = event.changed.windows(2).all(|two| two[1] - two[0] >= colours);
            assert!(apart, "{colours} colours, step {}: {:?}", event.step, event.changed);
        }
        // After the first step nothing changes any more: one quiet step for each colour.
        let (list, _, _) = run(says(&[5, 8, 6, 9, 1], 0.5), &settings, &[5]);
        assert_eq!((list[0].steps, ids(&list[0].tokens)), (1 + colours, vec![5, 8, 6, 9]));
    }
}

#[test]
fn thresholds_commit_and_stay() {
    // The more is visible, the surer the rest.
    let script = |row: &Row<'_>, i: usize| {
        let seen = row.hidden.iter().filter(|hidden| !**hidden).count();
        let p = if i == 0 { 0.95 } else { 0.3 + 0.2 * seen as f64 };
        vec![(10 + i as u32, p.min(0.99))]
    };
    let settings =
        MaskPredict { commit: Some(0.85), lengths: 1, ..MaskPredict::default() }.settings();
    let (list, _, trace) = run(script, &settings, &[5]);
    assert_eq!(ids(&list[0].tokens), [10, 11, 12, 13]);
    let left: Vec<usize> = trace.iter().map(|event| event.rejected.len()).collect();
    // The end is visible. First the sure one; then the best of equals, which is the first; then all are sure.
    assert_eq!(left, [3, 2, 0]);
}
