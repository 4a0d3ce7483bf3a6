//! The engine against the networks by definition, for every switch of a model.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use common::naive::Naive;
use common::{MANY, Model, Row, ask, confidences, configs, configs_of, session, tokens};
use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::Denoiser;
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::{
    DecoderKind, InitialTokens, LengthPredictor, ModelConfig, PooledLength, Preset,
};
use padir_engine::{Precision, Target};
use proptest::prelude::*;

/// Tolerances of log-probabilities.
const CLOSE: f64 = 1e-4;
/// The same in f32 where all logits are computed in 8 bits first: the sum of those that are not among the best is coarse.
const COARSE: f64 = 0.05;
/// Random networks are rough: their states are sums of rounding errors more than trained ones' are.
const LOOSE: f64 = 1.0;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn parallel_decoders_answer_by_definition(
        config in configs(DecoderKind::Parallel), seed: u64,
        sources in prop::collection::vec(0..20_usize, 1..3), rows in prop::collection::vec(0..25_usize, 1..4),
    ) {
        let model = Model::random(&config, seed);
        let naive = Naive { model: &model };
        let mut stream = Seed(seed).stream(Purpose::Synthesis, 1);
        let sources: Vec<Vec<TokenId>> = sources.iter().map(|&n| tokens(&mut stream, n)).collect();
        let rows: Vec<Row> = rows.iter().map(|&n| Row::random(&mut stream, n, sources.len())).collect();
        let encoded: Vec<_> = sources.iter().map(|source| naive.encode(source)).collect();
        for (precision, tolerance) in [(Precision::F32, CLOSE), (Precision::Int8, LOOSE)] {
            let mut session = session(&model.engine(precision), 2, &sources);
            let depth = session_alphabet(&session);
            let answers = ask(&mut session, &rows, depth);
            let rated = confidences(&mut session, &rows);
            for ((row, answers), rated) in rows.iter().zip(&answers).zip(&rated) {
                let shown = |i: usize| if row.hidden[i] { mask_of(&config, i) } else { row.tokens[i] };
                let read: Vec<TokenId> = (0..row.tokens.len()).map(shown).collect();
                let truth = naive.decode(&encoded[row.context], &read);
                let wanted: Vec<usize> = (0..read.len()).filter(|&i| row.wanted[i]).collect();
                prop_assert_eq!(wanted.len(), answers.len());
                for (&position, answers) in wanted.iter().zip(answers) {
                    for one in answers {
                        let error = (one.log_prob - truth[position][one.token.index()]).abs();
                        prop_assert!(error < tolerance, "{:?} position {}: {}", precision, position, error);
                    }
                }
                if config.parallel().unwrap().confidence_head {
                    let truth = naive.confidences(&encoded[row.context], &read);
                    prop_assert_eq!(wanted.len(), rated.len());
                    for (&position, rated) in wanted.iter().zip(rated) {
                        let error = (rated - truth[position]).abs();
                        prop_assert!(error < tolerance, "{:?} confidence_accuracy {}: {}", precision, position, error);
                    }
                } else {
                    prop_assert!(rated.is_empty());
                }
            }
            for (context, source) in encoded.iter().enumerate() {
                let truth = naive.length(source);
                let lengths = session.lengths(context, 3);
                let tolerance = if precision == Precision::F32 { CLOSE } else { 2.0 };
                match config.parallel().unwrap().length {
                    LengthPredictor::Oracle => prop_assert!(lengths.is_empty()),
                    LengthPredictor::Upsample { factor, min_slots } => {
                        let slots = (factor * source.memory.len()).max(min_slots).min(40);
                        prop_assert_eq!(lengths, vec![(slots, 0.0)]);
                    }
                    LengthPredictor::Token { classes }
                    | LengthPredictor::Pooled(PooledLength { classes, relative: false, .. }) => {
                        prop_assert_eq!(session.lengths(context, 99).len(), classes);
                        let log_z = truth.iter().map(|z| z.exp()).sum::<f64>().ln();
                        for (length, log_prob) in lengths {
                            prop_assert!((log_prob - truth[length - 1] + log_z).abs() < tolerance);
                        }
                    }
                    LengthPredictor::Offset { classes } | LengthPredictor::Pooled(PooledLength { classes, .. }) => {
                        let n = source.memory.len();
                        // Class c means n + c − C/2, and there are no lengths below 1.
                        prop_assert_eq!(session.lengths(context, 99).len(), classes.min(n + classes / 2 - 1));
                        let log_z = truth.iter().map(|z| z.exp()).sum::<f64>().ln();
                        for (length, log_prob) in lengths {
                            let class = length + classes / 2 - n;
                            prop_assert!((log_prob - truth[class] + log_z).abs() < tolerance);
                        }
                    }
                    _ => for (length, log_prob) in lengths {
                        let distance = (length as f64 - truth[0]).abs();
                        prop_assert!((log_prob + distance).abs() < tolerance * truth[0].abs().max(1.0), "{} {:?}", length, truth);
                    },
                }
            }
        }
    }

    #[test]
    fn causal_decoders_judge_by_definition(
        config in prop_oneof![2 => configs(DecoderKind::Causal), 1 => configs_of(MANY, DecoderKind::Causal)], seed: u64,
        sources in prop::collection::vec(0..20_usize, 1..3), targets in prop::collection::vec(0..20_usize, 1..5),
    ) {
        let model = Model::random(&config, seed);
        let naive = Naive { model: &model };
        let mut stream = Seed(seed).stream(Purpose::Synthesis, 1);
        let sources: Vec<Vec<TokenId>> = sources.iter().map(|&n| tokens(&mut stream, n)).collect();
        let targets: Vec<Vec<TokenId>> = targets.iter().map(|&n| tokens(&mut stream, n)).collect();
        let context = |at: usize| at * sources.len() / targets.len();
        let mut truth = Vec::new();
        for (at, target) in targets.iter().enumerate() {
            let read: Vec<TokenId> = std::iter::once(config.symbols.start).chain(target.iter().copied()).collect();
            let all = naive.decode(&naive.encode(&sources[context(at)]), &read[..target.len()]);
            truth.extend(all.iter().zip(target).map(|(all, token)| all[token.index()]));
        }
        let targets: Vec<Target<'_>> =
            targets.iter().enumerate().map(|(at, tokens)| Target { context: context(at), tokens }).collect();
        let close = if config.symbols.vocab_size == MANY { COARSE } else { CLOSE };
        for (precision, tolerance) in [(Precision::F32, close), (Precision::Int8, LOOSE)] {
            let mut session = session(&model.engine(precision), 2, &sources);
            let (mut together, mut alone) = (vec![0.0], Vec::new());
            session.score_targets(&targets, &mut together).unwrap();
            prop_assert_eq!(together.len(), truth.len());
            for (found, truth) in together.iter().zip(&truth) {
                prop_assert!((found - truth).abs() < tolerance, "{:?}: {} {}", precision, found, truth);
            }
            let mut rest = together.as_slice();
            for target in &targets {
                session.score_targets(&[*target], &mut alone).unwrap();
                prop_assert_eq!(&alone, &rest[..alone.len()], "alone and among others");
                rest = &rest[alone.len()..];
            }
        }
    }

    #[test]
    fn causal_decoders_continue_by_definition(
        config in configs(DecoderKind::Causal), seed: u64, source in 0..20_usize, target in 1..20_usize,
    ) {
        let model = Model::random(&config, seed);
        let naive = Naive { model: &model };
        let mut stream = Seed(seed).stream(Purpose::Synthesis, 1);
        let (source, target) = (tokens(&mut stream, source), tokens(&mut stream, target));
        let truth = naive.decode(&naive.encode(&source), &target);
        for (precision, tolerance) in [(Precision::F32, CLOSE), (Precision::Int8, LOOSE)] {
            let mut session = session(&model.engine(precision), 1, std::slice::from_ref(&source));
            session.begin(&[0]).unwrap();
            let mut answers = Vec::new();
            for (&token, truth) in target.iter().zip(&truth) {
                session.decode_step(&[DecodeStep { parent: 0, token }], truth.len(), &mut answers).unwrap();
                for one in &answers {
                    let error = (one.log_prob - truth[one.token.index()]).abs();
                    prop_assert!(error < tolerance, "{:?}: {}", precision, error);
                }
            }
        }
    }
}

/// What a hidden token looks like: of twelve sentinels those before the last three are masks by position.
fn mask_of(config: &ModelConfig, position: usize) -> TokenId {
    let last = config.symbols.vocab_size - 1;
    let back = match config.parallel().unwrap().initial {
        InitialTokens::NumberedMask => 3 + position % 9,
        _ => 0,
    };
    TokenId((last - back) as u32)
}

#[test]
fn nothing_is_judged_as_nothing() {
    let model = Model::random(&ModelConfig::preset(Preset::Tiny, 150, DecoderKind::Causal), 1);
    let sources = [vec![TokenId(7)], vec![TokenId(8)]];
    let said = [TokenId(9), TokenId::EOS];
    let mut session = session(&model.engine(Precision::F32), 1, &sources);
    let mut log_probs = vec![1.0];
    session.score_targets(&[], &mut log_probs).unwrap();
    assert!(log_probs.is_empty());
    let targets: [(usize, &[TokenId]); 3] = [(0, &[]), (1, &said), (0, &[])];
    let targets = targets.map(|(context, tokens)| Target { context, tokens });
    session.score_targets(&targets, &mut log_probs).unwrap();
    let beside = log_probs.clone();
    session.score_targets(&targets[1..2], &mut log_probs).unwrap();
    assert_eq!(beside, log_probs);
    // More than are compared at a time.
    let long: Vec<TokenId> = (0..300).map(|i| TokenId(3 + i % 100)).collect();
    session.score_targets(&[Target { context: 0, tokens: &long }], &mut log_probs).unwrap();
    assert_eq!(log_probs.len(), 300);
    let whole = log_probs.clone();
    session.score_targets(&[Target { context: 0, tokens: &long[..130] }], &mut log_probs).unwrap();
    assert_eq!(log_probs, whole[..130], "nobody looks ahead");
}

fn session_alphabet(session: &padir_engine::Session) -> usize {
    Denoiser::vocabulary_size(session)
}
