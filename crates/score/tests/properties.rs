//! What must hold for any text, whoever else computes it.

use padir_score::{
    Bleu, Bootstrap, Chrf, Comparison, ExactMatch, LengthRatio, Metric, PairedTest, References,
    Repetition, Stutter, Ter, Tokenizer, corpus_score, measure,
};
use proptest::prelude::*;

fn metrics() -> Vec<Box<dyn Metric>> {
    let mut metrics: Vec<Box<dyn Metric>> = vec![
        Box::new(Chrf::default()),
        Box::new(Chrf::plus_plus()),
        Box::new(Ter::default()),
        Box::new(Stutter::default()),
        Box::new(LengthRatio::default()),
        Box::new(ExactMatch::default()),
        Box::new(Repetition::default()),
    ];
    for tokenizer in Tokenizer::ALL {
        metrics.push(Box::new(Bleu { tokenizer, ..Bleu::default() }));
    }
    metrics
}

/// Anything at all, and sentences of few words, so that something matches.
fn text() -> impl Strategy<Value = String> {
    let words =
        prop::collection::vec(prop::sample::select(&["a", "b", "C", "中", ".", "1"][..]), 0..12);
    prop_oneof![words.prop_map(|words| words.join(" ")), any::<String>()]
}

fn corpus() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec((text(), text()), 1..8)
}

fn score(metric: &dyn Metric, corpus: &[(String, String)]) -> (f64, Vec<f64>) {
    let hypotheses: Vec<&str> = corpus.iter().map(|(h, _)| h.as_str()).collect();
    let references: Vec<&str> = corpus.iter().map(|(_, r)| r.as_str()).collect();
    let references = References::new(&[references]).expect("not empty");
    let statistics = measure(metric, &references, &[hypotheses]).expect("equal lengths");
    let totals = statistics[0].totals();
    (metric.value(&totals), totals)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn statistics_add_up(first in corpus(), second in corpus()) {
        for metric in metrics() {
            let both: Vec<_> = first.iter().chain(&second).cloned().collect();
            let (a, b) = (score(&*metric, &first).1, score(&*metric, &second).1);
            let sum: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + b).collect();
            prop_assert_eq!(score(&*metric, &both).1, sum, "{}", metric.name());
        }
    }

    #[test]
    fn the_order_of_segments_does_not_matter(corpus in corpus()) {
        for metric in metrics() {
            let reversed: Vec<_> = corpus.iter().rev().cloned().collect();
            prop_assert_eq!(score(&*metric, &corpus), score(&*metric, &reversed));
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter(corpus in corpus()) {
        let many: Vec<_> = corpus.iter().cycle().take(200).cloned().collect();
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        for metric in metrics() {
            let expected = alone.install(|| score(&*metric, &many));
            prop_assert_eq!(score(&*metric, &many), expected);
        }
    }

    #[test]
    fn scores_stay_in_their_range(corpus in corpus()) {
        for metric in metrics() {
            let (value, _) = score(&*metric, &corpus);
            let bound = match metric.name().as_str() {
                "TER" | "length" => f64::INFINITY,
                "stutter" => 1000.0,
                _ => 100.0 + 1e-9,
            };
            prop_assert!((0.0..=bound).contains(&value), "{} {value}", metric.name());
        }
    }

    #[test]
    fn a_perfect_output_is_perfect(words in prop::collection::vec("[a-z]{1,5}", 4..30)) {
        let text = words.join(" ");
        let corpus = [(text.clone(), text)];
        for metric in metrics() {
            let expected = match metric.name().as_str() {
                "TER" | "stutter" => 0.0,
                "repetition" => continue,
                _ => 100.0,
            };
            let (value, _) = score(&*metric, &corpus);
            prop_assert!((value - expected).abs() < 1e-9, "{} {value}", metric.name());
        }
    }

    #[test]
    fn another_reference_never_hurts(hypothesis in text(), first in text(), second in text()) {
        let own = [hypothesis.as_str()];
        let one = References::new(&[[first.as_str()]]).expect("one");
        let two = References::new(&[[first.as_str()], [second.as_str()]]).expect("two");
        for metric in [&Stutter::default() as &dyn Metric, &ExactMatch::default(), &Chrf::default()] {
            let value = |references| corpus_score(metric, &own, references).expect("one").value;
            let (with_one, with_two) = (value(&one), value(&two));
            if metric.name() == "stutter" {
                prop_assert!(with_two <= with_one);
            } else {
                prop_assert!(with_two >= with_one - 1e-9, "{}", metric.name());
            }
        }
    }
}

#[test]
fn a_system_does_not_differ_from_itself() {
    let segments: Vec<String> = (0..40).map(|i| format!("a b c {} d e", i % 7)).collect();
    let lines: Vec<&str> = segments.iter().map(String::as_str).collect();
    let references: Vec<&str> = lines.iter().rev().copied().collect();
    let references = References::new(&[references]).expect("not empty");
    for metric in metrics() {
        let statistics = measure(&*metric, &references, &[&lines, &lines]).expect("equal lengths");
        for test in [PairedTest::Bootstrap, PairedTest::Randomization] {
            let comparison = Comparison { samples: 100, ..Comparison::new(test) };
            let verdicts = comparison.run(&*metric, &statistics);
            // No trial can exceed a difference of zero, so only the real one counts.
            assert_eq!(verdicts[1].p_value, Some(1.0 / 101.0), "{} {test:?}", metric.name());
            assert_eq!(verdicts[0].score.to_bits(), verdicts[1].score.to_bits());
        }
    }
}

#[test]
fn a_certain_score_has_no_interval() {
    let lines = ["the same words every time"; 10];
    let references = References::new(&[lines]).expect("not empty");
    let statistics = measure(&Bleu::default(), &references, &[lines]).expect("equal lengths");
    let confidence = Bootstrap::default().confidence(&Bleu::default(), &statistics[0]);
    assert!((confidence.mean - 100.0).abs() < 1e-9 && confidence.half_width == 0.0);
}

#[test]
fn unequal_corpora_are_refused() {
    let references = References::new(&[["a", "b"]]).expect("two");
    let error = measure(&Bleu::default(), &references, &[["a"]]).expect_err("one is missing");
    assert_eq!(error.to_string(), "system 1 has 1 segments, the references have 2");
    let error = References::new(&[&["a", "b"][..], &["a"]]).expect_err("one is missing");
    assert_eq!(error.to_string(), "reference stream 2 has 1 segments, the first has 2");
    let error = References::with_gaps(&[[Some("a"), None]]).expect_err("a hole");
    assert_eq!(error.to_string(), "segment 2 has no reference");
    assert!(References::new::<[&str; 0]>(&[[]]).is_err());
    assert!(References::new::<[&str; 1]>(&[]).is_err());
}

#[test]
fn settings_refuse_misspelt_keys() {
    let error = serde_json::from_str::<Bleu>(r#"{"tokeniser": "13a"}"#).expect_err("misspelt");
    assert!(error.to_string().contains("tokeniser"), "{error}");
}
