//! What sacrebleu says, said again. The expected values and the script that asked for them lie in
//! `reference/score`.

use std::path::PathBuf;

use padir_score::{
    Bleu, Bootstrap, Chrf, Comparison, Metric, PairedTest, References, Statistics, Ter,
    TercomOptions, Tokenizer, corpus_score, measure, python,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

fn golden<T: DeserializeOwned>(name: &str) -> T {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/score").join(name);
    read(&path)
}

fn read<T: DeserializeOwned>(path: &PathBuf) -> T {
    let text = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Settings {
    Bleu(Bleu),
    Chrf(Chrf),
    Ter(Ter),
}

impl Settings {
    fn metric(&self) -> &dyn Metric {
        match self {
            Self::Bleu(metric) => metric,
            Self::Chrf(metric) => metric,
            Self::Ter(metric) => metric,
        }
    }
}

/// Sixteen hexadecimal digits of a SHA-256.
fn short_hash(digest: Sha256) -> String {
    let bytes: [u8; 8] = digest.finalize()[..8].try_into().expect("a digest has 32 bytes");
    format!("{:016x}", u64::from_be_bytes(bytes))
}

#[derive(Deserialize)]
struct Codepoints {
    chunk: u32,
    functions: Vec<(String, Vec<String>)>,
}

/// The contexts in which `golden.py` shows a character to a tokeniser.
fn context(c: char) -> String {
    format!(
        "{c} a{c}b 1{c}2 {c}{c} .{c}, x{c}.5 3.{c} A{c}\u{3a3} A\u{3a3}{c}B \u{4e2d}{c}'s \
         {c}-1{c}- end{c}"
    )
}

fn tokens_by(name: &str, text: &str) -> Vec<String> {
    match name.split_once(' ') {
        Some(("bleu", tokenizer)) => tokenizer.parse::<Tokenizer>().expect("a name").tokens(text),
        None if name == "lower" => vec![python::lower(text).into_owned()],
        _ => {
            let has = |option: &str| name.split(' ').any(|word| word == option);
            let options = TercomOptions {
                normalized: has("normalized"),
                no_punct: has("no_punct"),
                asian_support: has("asian_support"),
                case_sensitive: has("case_sensitive"),
            };
            options.words(text)
        }
    }
}

/// Planes 4 to 13 hold no characters yet.
const UNASSIGNED: std::ops::Range<u32> = 0x4_0000..0xe_0000;

#[test]
fn every_character_of_unicode_through_every_tokeniser() {
    check_codepoints(|code| !UNASSIGNED.contains(&code));
}

#[test]
#[ignore = "takes as long again, for planes without characters"]
fn every_future_character_through_every_tokeniser() {
    check_codepoints(|code| UNASSIGNED.contains(&code));
}

/// Compares the chunks whose first code is chosen.
fn check_codepoints(is_chosen: impl Fn(u32) -> bool) {
    use rayon::prelude::*;
    let golden: Codepoints = golden("codepoints.json");
    assert_eq!(golden.functions.len(), 13);
    let chunks: Vec<(&str, u32, &String)> = golden
        .functions
        .iter()
        .flat_map(|(name, hashes)| (0u32..).zip(hashes).map(move |(at, hash)| (name, at, hash)))
        .map(|(name, at, hash)| (name.as_str(), at * golden.chunk, hash))
        .filter(|&(_, start, _)| is_chosen(start))
        .collect();
    let different: Vec<String> = chunks
        .par_iter()
        .filter_map(|&(name, start, expected)| {
            let mut digest = Sha256::new();
            for c in (start..start + golden.chunk).filter_map(char::from_u32) {
                digest.update(tokens_by(name, &context(c)).join("\n"));
                digest.update(b"\0");
            }
            (short_hash(digest) != *expected).then(|| format!("{name} from U+{start:04X}"))
        })
        .collect();
    assert_eq!(different, Vec::<String>::new());
}

#[derive(Deserialize)]
struct Segments {
    metrics: Vec<Settings>,
    corpus: Vec<(f64, String)>,
    #[serde(rename = "segments")]
    rows: Vec<Segment>,
}

/// Hypothesis, references, the hash of all statistics, some scores.
type Segment = (String, Vec<String>, (String, Vec<f64>));

/// Only every seventh metric's sentence scores are stored; the statistics of all are hashed.
const STORED: usize = 7;

#[test]
fn segments() {
    let golden: Segments = match std::env::var_os("PADIR_SCORE_SEGMENTS") {
        Some(path) => read(&path.into()),
        None => golden("segments.json"),
    };
    let mut scorers: Vec<_> = golden.metrics.iter().map(|m| m.metric().scorer()).collect();
    let mut different = 0;
    for (index, (hypothesis, references, (hash, scores))) in golden.rows.iter().enumerate() {
        let references: Vec<&str> = references.iter().map(String::as_str).collect();
        let mut rows = Vec::new();
        for (at, settings) in golden.metrics.iter().enumerate() {
            let mut row = vec![0.0; settings.metric().width()];
            scorers[at].read(&references);
            scorers[at].compare(hypothesis, &mut row);
            if at % STORED == 0 {
                let (value, expected) = (settings.metric().value(&row), scores[at / STORED]);
                let is_near = (value - expected).abs() < 1e-8;
                assert!(
                    is_near,
                    "{index} {settings:?}: {value} {expected}\n{hypothesis:?}\n{references:?}"
                );
            }
            let numbers: Vec<String> = row.iter().map(f64::to_string).collect();
            rows.push(numbers.join(","));
        }
        let mut digest = Sha256::new();
        digest.update(rows.join(";"));
        if short_hash(digest) != *hash {
            different += 1;
            println!("segment {index}\n  {hypothesis:?}\n  {references:?}");
            for (settings, row) in golden.metrics.iter().zip(&rows) {
                println!("    {settings:?}: {row}");
            }
        }
    }
    assert_eq!(different, 0, "of {} segments", golden.rows.len());
}

#[test]
fn corpora_with_a_variable_number_of_references() {
    let golden: Segments = golden("segments.json");
    let hypotheses: Vec<&str> = golden.rows.iter().map(|(h, ..)| h.as_str()).collect();
    let most = golden.rows.iter().map(|(_, r, _)| r.len()).max().unwrap();
    let streams: Vec<Vec<Option<&str>>> = (0..most)
        .map(|at| golden.rows.iter().map(|(_, r, _)| r.get(at).map(String::as_str)).collect())
        .collect();
    let references = References::with_gaps(&streams).unwrap();
    for (settings, (expected, text)) in golden.metrics.iter().zip(&golden.corpus) {
        let metric = settings.metric();
        let score = corpus_score(metric, &hypotheses, &references).unwrap();
        assert!((score.value - expected).abs() < 1e-9, "{settings:?}: {} {expected}", score.value);
        let signature = metric.signature(references.count()).to_string();
        let own = score.line(4, &signature).replace(padir_score::VERSION, "2.6.0");
        assert_eq!(own, *text, "{settings:?}");
    }
}

/// Score, p-value, mean, half width.
type Row = (f64, Option<f64>, Option<f64>, Option<f64>);

#[derive(Deserialize)]
struct Significance {
    references: Vec<Vec<String>>,
    systems: Vec<Vec<String>>,
    cases: Vec<SignificanceCase>,
}

#[derive(Deserialize)]
struct SignificanceCase {
    metric: Settings,
    nrefs: usize,
    seed: u64,
    samples: u32,
    confidence: (f64, f64),
    signature: String,
    bs: Vec<Row>,
    ar: Vec<Row>,
    ar_intervals: Vec<Row>,
    bs_signature: String,
    ar_signature: String,
    ar_intervals_signature: String,
}

#[test]
fn intervals_and_p_values() {
    let golden: Significance = golden("significance.json");
    let lines = |text: &'static [String]| text.iter().map(String::as_str).collect::<Vec<_>>();
    let (references, systems) = (golden.references.leak(), golden.systems.leak());
    let systems: Vec<Vec<&str>> = systems.iter().map(|s| lines(s)).collect();
    for case in &golden.cases {
        let streams: Vec<Vec<&str>> = references[..case.nrefs].iter().map(|r| lines(r)).collect();
        let references = References::new(&streams).unwrap();
        check_significance(case, &references, &systems);
    }
}

fn check_significance(case: &SignificanceCase, references: &References<'_>, systems: &[Vec<&str>]) {
    let metric = case.metric.metric();
    let name = format!("{:?} nrefs {} seed {}", case.metric, case.nrefs, case.seed);
    let statistics = measure(metric, references, systems).expect("equal lengths");
    let bootstrap = Bootstrap { samples: case.samples, seed: case.seed };
    let own = bootstrap.confidence(metric, &statistics[0]);
    assert_near(own.mean, case.confidence.0, &name);
    assert_near(own.half_width, case.confidence.1, &name);
    let signature = |bs: Option<u32>, ar: Option<u32>| {
        let mut signature = metric.signature(references.count());
        if let Some(samples) = bs {
            signature.set_bootstrap(samples);
        }
        if let Some(trials) = ar {
            signature.set_randomization(trials);
        }
        signature.set_seed(case.seed);
        signature.to_string().rsplit_once('|').expect("a version").0.to_owned()
    };
    let samples = Some(case.samples);
    assert_eq!(signature(samples, None), case.signature);
    assert_eq!(signature(samples, None), case.bs_signature);
    assert_eq!(signature(None, samples), case.ar_signature);
    assert_eq!(signature(Some(50), samples), case.ar_intervals_signature);
    for (test, interval_samples, expected) in [
        (PairedTest::Bootstrap, None, &case.bs),
        (PairedTest::Randomization, None, &case.ar),
        (PairedTest::Randomization, Some(50), &case.ar_intervals),
    ] {
        let comparison =
            Comparison { test, samples: case.samples, seed: case.seed, interval_samples };
        check_comparison(&comparison, metric, &statistics, expected, &name);
    }
}

fn check_comparison(
    comparison: &Comparison,
    metric: &dyn Metric,
    statistics: &[Statistics],
    expected: &[Row],
    name: &str,
) {
    let verdicts = comparison.run(metric, statistics);
    assert_eq!(verdicts.len(), expected.len());
    for (own, &(score, p_value, mean, half_width)) in verdicts.iter().zip(expected) {
        let name = format!("{name} {comparison:?}");
        assert_near(own.score, score, &name);
        assert_eq!(own.p_value.is_some(), p_value.is_some(), "{name}");
        assert_near(own.p_value.unwrap_or(0.0), p_value.unwrap_or(0.0), &name);
        assert_eq!(own.confidence.is_some(), mean.is_some(), "{name}");
        if let (Some(own), Some(mean), Some(half_width)) = (own.confidence, mean, half_width) {
            assert_near(own.mean, mean, &name);
            assert_near(own.half_width, half_width, &name);
        }
    }
}

/// Equal but for the last bits: a library may sum logarithms in another order.
fn assert_near(own: f64, expected: f64, name: &str) {
    assert!((own - expected).abs() < 1e-9 * expected.abs().max(1.0), "{name}: {own} {expected}");
}
