//! Refinement against a slow twin that follows the description of the algorithm one hypothesis at a time.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use common::{Table, ids};
use padir_base::TokenId;
use padir_base::random::Seed;
use padir_decode::normalise;
use padir_decode::padir::{
    Initial, Procedure, Prune, RemaskRule, Replacement, Sentence, Settings, StopRule, Symbols,
    Wanted, refine,
};
use proptest::prelude::*;

const ALPHABET: usize = 8;
const MASK: TokenId = TokenId(7);
/// Masks by position.
const NUMBERED: std::ops::Range<u32> = 5..7;

/// What the twin returns: tokens, score and steps.
type Outcome = (Vec<u32>, f64, usize);

/// The description, step by step.
fn twin(table: &Table, settings: &Settings, context: usize, initial: &[u32]) -> Outcome {
    let n = initial.len();
    let paper = settings.procedure == Procedure::Paper;
    let mut current = initial.to_vec();
    // Whether a position holds its initial token because nothing was accepted there.
    let mut is_initial = vec![true; n];
    let mut sums = vec![vec![0.0; ALPHABET]; n];
    let total = settings.steps;
    for t in 0..total {
        // A full pass.
        let seen: Vec<Option<u32>> = current.iter().map(|&x| Some(x)).collect();
        let rows: Vec<Vec<f64>> = (0..n).map(|i| table.log_probs(context, &seen, i)).collect();
        for (sum, row) in sums.iter_mut().zip(&rows) {
            sum.iter_mut().zip(row).for_each(|(s, l)| *s += l);
        }
        // The best but padding.
        let best = |row: &[f64]| (1..ALPHABET).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let predicted: Vec<u32> = rows.iter().map(|row| best(row) as u32).collect();
        let log_p: Vec<f64> = rows.iter().zip(&predicted).map(|(r, &p)| r[p as usize]).collect();
        let top = |row: &Vec<f64>| row.iter().copied().fold(f64::MIN, f64::max);
        let confidence: Vec<f64> =
            if paper { rows.iter().map(top).collect() } else { log_p.clone() };
        // Rejections: the lowest k.
        let k = match &settings.remask {
            RemaskRule::Linear => (n * (total - t - 1) / total).max(1),
            RemaskRule::Count { count } => (*count).min(n),
            RemaskRule::Share { share } => ((share * n as f64) as usize).max(1),
            _ => 0,
        };
        let mut sorted = confidence.clone();
        sorted.sort_by(f64::total_cmp);
        let doubted = |i: usize| match settings.remask {
            RemaskRule::Confidence { below } => table.confidence(context, &seen, i) < below,
            _ => false,
        };
        let low = |i: usize| k > 0 && confidence[i] <= sorted[k - 1] || doubted(i);
        let said_twice = |i: usize| {
            (1..=settings.stutter_phrase.min(n / 2)).any(|p| {
                (0..=n - 2 * p).any(|start| {
                    let (once, again) = (&predicted[start..start + p], &predicted[start + p..]);
                    (start + p..start + 2 * p).contains(&i) && once == &again[..p]
                })
            })
        };
        let stutters = |i: usize| settings.remask_stutter && said_twice(i);
        let replace = |rejected: &dyn Fn(usize) -> bool| -> (Vec<u32>, Vec<bool>) {
            (0..n)
                .map(|i| match settings.replacement {
                    _ if !rejected(i) => (predicted[i], false),
                    Replacement::Initial => (initial[i], true),
                    Replacement::Previous => (current[i], is_initial[i]),
                    Replacement::Accumulated => (best(&sums[i]) as u32, false),
                })
                .unzip()
        };
        let last = t + 1 == total;
        let (ending, ending_initial) = replace(&stutters);
        let (next, next_initial) = replace(&|i| stutters(i) || !last && low(i));
        let unchanged = if paper { next == current } else { ending == current };
        if last || unchanged {
            let (end, held) = if paper { (next, next_initial) } else { (ending, ending_initial) };
            let unkept = |i: usize| if paper { end[i] == initial[i] } else { held[i] };
            let kept: Vec<usize> =
                (0..n).filter(|&i| !(settings.drop_unchanged && unkept(i))).collect();
            let sum: f64 = kept.iter().map(|&i| log_p[i]).sum();
            let score = normalise(sum, kept.len(), settings.length_penalty);
            let no_text = |t: u32| t <= 1 || !paper && (t == MASK.0 || NUMBERED.contains(&t));
            let output = kept.iter().map(|&i| end[i]).filter(|&t| !no_text(t)).collect();
            return (output, score, t + 1);
        }
        current = next;
        is_initial = next_initial;
    }
    unreachable!("the last step returns")
}

fn remask_rules() -> impl Strategy<Value = RemaskRule> {
    prop_oneof![
        Just(RemaskRule::Nothing),
        Just(RemaskRule::Linear),
        (1_usize..4).prop_map(|count| RemaskRule::Count { count }),
        (0.0..1.0).prop_map(|share| RemaskRule::Share { share }),
        (0.0..1.0).prop_map(|below| RemaskRule::Confidence { below }),
    ]
}

prop_compose! {
    fn settings()(
        steps in 1_usize..6,
        lengths in 1_usize..4,
        beam_length in prop_oneof![Just(1_usize), Just(3)],
        decodes in 1_usize..3,
        paper: bool,
        initial in prop_oneof![
            Just(Initial::Random), Just(Initial::Mask), Just(Initial::NumberedMask)
        ],
        remask in remask_rules(),
        replacement in prop_oneof![
            Just(Replacement::Initial), Just(Replacement::Previous), Just(Replacement::Accumulated)
        ],
        remask_stutter: bool,
        stutter_phrase in 1_usize..4,
        drop_unchanged: bool,
        length_penalty in proptest::option::of(0.0..1.5),
        seed in 0_u64..1000,
    ) -> Settings {
        Settings {
            procedure: if paper { Procedure::Paper } else { Procedure::Corrected },
            initial,
            parallel_decodes: if initial == Initial::Random { decodes } else { 1 },
            steps, lengths, beam_length, remask, replacement, remask_stutter, drop_unchanged,
            stutter_phrase: if paper { 1 } else { stutter_phrase },
            length_penalty,
            max_length: 9,
            seed: Seed(seed),
            ..Settings::default()
        }
    }
}

fn symbols() -> Symbols {
    Symbols { numbered: NUMBERED, ..Symbols::new(3..ALPHABET as u32, Some(MASK)) }
}

fn sentence() -> impl Strategy<Value = Sentence> {
    let lengths = proptest::collection::vec((1_usize..12, -5.0..0.0), 1..5);
    (0_u64..50, 0_usize..5, lengths).prop_map(|(number, context, lengths)| Sentence {
        number,
        context,
        lengths,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn refinement_equals_its_slow_twin(
        settings in settings(),
        sentence in sentence(),
        seed in 0_u64..1000,
        sharpness in 0.5..3.0,
    ) {
        let mut table = Table::new(seed, ALPHABET, sharpness);
        let lists = refine(
            &mut table, &settings, &symbols(), std::slice::from_ref(&sentence), &mut (),
        ).unwrap();
        let starts = table.calls[0].rows.clone();
        prop_assert_eq!(lists[0].len(), starts.len());
        for hypothesis in &lists[0] {
            let start = &starts[hypothesis.number];
            let (tokens, score, steps) = twin(&table, &settings, sentence.context, start);
            prop_assert_eq!(ids(&hypothesis.tokens), tokens);
            prop_assert_eq!(hypothesis.steps, steps);
            prop_assert!((hypothesis.score - score).abs() < 1e-9);
        }
        prop_assert!(lists[0].is_sorted_by(|a, b| a.score >= b.score));
    }

    /// Rules whose numbers make them rules about nothing.
    #[test]
    fn empty_rules_change_nothing(
        settings in settings(), sentence in sentence(), seed in 0_u64..1000,
    ) {
        let plain = Settings { procedure: Procedure::Corrected, ..settings };
        let run = |settings: &Settings| {
            let mut table = Table::new(seed, ALPHABET, 2.0);
            refine(&mut table, settings, &symbols(), std::slice::from_ref(&sentence), &mut ()).unwrap()
        };
        let expected = run(&plain);
        let idle = [
            Settings { prune: Prune::Margin { nats: f64::INFINITY }, ..plain.clone() },
            Settings { prune: Prune::Keep { most: 1000 }, ..plain.clone() },
            Settings { early_exit: Some(0.1), ..plain.clone() },
            Settings { stop: StopRule::Confident { min_log_prob: 0.1 }, ..plain.clone() },
            Settings { wanted: Wanted::Uncertain { below: 0.1, neighbours: 0 }, ..plain.clone() },
            Settings { wanted: Wanted::Uncertain { below: -0.5, neighbours: 99 }, steps: 1, ..plain.clone() },
        ];
        for (number, settings) in idle.iter().enumerate() {
            let one = Settings { steps: 1, ..plain.clone() };
            let expected = if settings.steps == 1 { run(&one) } else { expected.clone() };
            prop_assert_eq!(run(settings), expected, "rule {}", number);
        }
    }

    /// All rules at once: still nothing depends on what is decoded beside a sentence.
    #[test]
    fn sentences_do_not_depend_on_each_other(
        settings in settings(),
        sentences in proptest::collection::vec(sentence(), 1..5),
        temperature in prop_oneof![Just(0.0), Just(1.0)],
        rules: bool,
        seed in 0_u64..1000,
    ) {
        let mut settings = Settings { temperature, top_k: Some(5), ..settings };
        if rules {
            settings.procedure = Procedure::Corrected;
            settings.prune = Prune::Keep { most: 2 };
            settings.stop = StopRule::Confident { min_log_prob: -0.7 };
            settings.wanted = Wanted::Uncertain { below: -0.5, neighbours: 1 };
            settings.early_exit = Some(-0.6);
        }
        let run = |sentences: &[Sentence]| {
            let mut table = Table::new(seed, ALPHABET, 2.0);
            refine(&mut table, &settings, &symbols(), sentences, &mut ()).unwrap()
        };
        let together = run(&sentences);
        for (sentence, list) in sentences.iter().zip(&together) {
            prop_assert_eq!(&run(std::slice::from_ref(sentence))[0], list);
        }
        let reversed: Vec<Sentence> = sentences.iter().rev().cloned().collect();
        let mut backwards = run(&reversed);
        backwards.reverse();
        prop_assert_eq!(backwards, together);
    }
}
