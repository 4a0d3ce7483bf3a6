//! The engine against the networks: the same checkpoint, the same answers.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::collections::HashMap;

use padir_base::TokenId;
use padir_base::continuation::{Advance, Continuer};
use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
use padir_base::random::{Purpose, Seed, Stream};
use padir_checkpoint::{
    Checkpoint, Decoder, DecoderKind, Extras, LengthPredictor, ModelConfig, Preset, save,
};
use padir_engine::{Engine, Precision, Session, Threads};
use padir_model::{Device, Network, Pass, Sentences};
use proptest::prelude::*;

const VOCABULARY: usize = 150;
/// Candidates that are compared.
const DEPTH: usize = 10;

fn configs() -> impl Strategy<Value = ModelConfig> {
    let length = prop_oneof![
        Just(LengthPredictor::Token { classes: 12 }),
        Just(LengthPredictor::Offset { classes: 12 }),
        Just(LengthPredictor::Affine),
        Just(LengthPredictor::Fertility { max_fertility: 2 }),
        Just(LengthPredictor::Oracle),
    ];
    (any::<[bool; 4]>(), length, 1..3_usize, 1..3_usize).prop_map(
        |([parallel, positional, learned, tied], length, encoder, decoder)| {
            let kind = if parallel { DecoderKind::Parallel } else { DecoderKind::Causal };
            let mut config = ModelConfig::preset(Preset::Tiny, VOCABULARY, kind);
            (config.d_model, config.d_kv, config.num_heads, config.d_ff) = (24, 10, 3, 40);
            (config.num_layers, config.num_decoder_layers) = (encoder, decoder);
            config.tie_word_embeddings = tied;
            if let Decoder::Parallel(parallel) = &mut config.decoder {
                parallel.positional_attention = positional;
                parallel.learned_positions = learned;
                parallel.max_positions = 40;
                parallel.length = length;
            }
            config
        },
    )
}

/// A random checkpoint; the scales of norms are random too.
fn checkpoint(config: &ModelConfig, seed: u64) -> (tempfile::TempDir, Checkpoint) {
    let mut weights: HashMap<String, Vec<f32>> = config.initial(Seed(seed)).collect();
    let names: Vec<String> = config.parameters().into_iter().map(|p| p.name).collect();
    let mut stream = Seed(seed).stream(Purpose::Synthesis, 0);
    for name in names.iter().filter(|name| name.ends_with("norm.weight")) {
        let numbers = weights.get_mut(name).unwrap();
        for x in numbers {
            *x *= 0.7 + 0.6 * stream.uniform() as f32;
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model");
    save(&path, config, |p| weights.get(&p.name).map(Into::into), &Extras::default()).unwrap();
    let checkpoint = Checkpoint::open(path).unwrap();
    (directory, checkpoint)
}

fn sentences(stream: &mut Stream, lengths: &[usize]) -> Vec<Vec<u32>> {
    let token = |stream: &mut Stream| stream.below(VOCABULARY as u64) as u32;
    lengths.iter().map(|&n| (0..n).map(|_| token(stream)).collect()).collect()
}

fn ids(row: &[u32]) -> Vec<TokenId> {
    row.iter().map(|&id| TokenId(id)).collect()
}

/// The engine's answers at all positions of all rows, one row per source.
fn engine_answers(session: &mut Session, rows: &[Vec<u32>], parallel: bool) -> Vec<Vec<Candidate>> {
    let tokens: Vec<TokenId> = ids(&rows.concat());
    if parallel {
        let mut end = 0;
        let ends: Vec<usize> = rows
            .iter()
            .map(|row| {
                end += row.len();
                end
            })
            .collect();
        let contexts: Vec<usize> = (0..rows.len()).collect();
        let (no, yes) = (vec![false; tokens.len()], vec![true; tokens.len()]);
        let query = Query::new(&tokens, &ends, &contexts, &no, &yes).unwrap();
        let mut answers = Answers::default();
        answers.prepare(&query, DEPTH);
        session.denoise(&query, &mut answers).unwrap();
        return (0..tokens.len()).map(|at| answers.at(at).unwrap().to_vec()).collect();
    }
    let mut all = Vec::new();
    for (context, row) in rows.iter().enumerate() {
        session.begin(&[context]).unwrap();
        for &token in row {
            let mut answers = Vec::new();
            let next = Advance { parent: 0, token: TokenId(token) };
            session.advance(&[next], DEPTH, &mut answers).unwrap();
            all.push(answers);
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_engine_answers_as_the_network(
        config in configs(), seed: u64, lengths in prop::collection::vec((1..9_usize, 1..11_usize), 1..5),
    ) {
        let (_directory, checkpoint) = checkpoint(&config, seed);
        let network = Network::build(&config, &Device::flex(), |_, parameter| {
            checkpoint.tensor(&parameter.name).unwrap().into_owned()
        }).unwrap();
        let mut stream = Seed(seed).stream(Purpose::Synthesis, 1);
        let (sources, targets): (Vec<_>, Vec<_>) = lengths.into_iter().unzip();
        let (sources, targets) = (sentences(&mut stream, &sources), sentences(&mut stream, &targets));
        let pass = Pass::evaluation(true);
        let encoded = network.encode(&pass, &Sentences::new(sources.iter().map(Vec::as_slice)));
        let states = network.decode(&pass, &Sentences::new(targets.iter().map(Vec::as_slice)), &encoded);
        let whole = network.top(&states, VOCABULARY);
        let foretold = network.foretell(&encoded, 4);

        for (precision, tolerance) in [(Precision::F32, 1e-4), (Precision::Int8, 1.0)] {
            let engine = Engine::load(&checkpoint, precision).unwrap();
            let mut session = engine.session(Threads::new(2));
            let given: Vec<Vec<TokenId>> = sources.iter().map(|row| ids(row)).collect();
            session.encode(&given.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
            let answers = engine_answers(&mut session, &targets, config.parallel().is_some());
            prop_assert_eq!(answers.len(), whole.len());
            for (answers, whole) in answers.iter().zip(&whole) {
                for (rank, one) in answers.iter().enumerate() {
                    let truth = whole.iter().find(|(token, _)| *token == one.token.0).unwrap().1;
                    prop_assert!((one.log_prob - f64::from(truth)).abs() < tolerance, "{:?} {}: {:?} {}", precision, rank, one, truth);
                    let there = f64::from(whole[rank].1);
                    prop_assert!((one.log_prob - there).abs() < tolerance, "{:?} rank {}", precision, rank);
                }
            }
            for (context, foretold) in foretold.iter().enumerate() {
                let lengths = session.lengths(context, 4);
                prop_assert_eq!(lengths.len(), foretold.len());
                if precision == Precision::F32 {
                    for (ours, theirs) in lengths.iter().zip(foretold) {
                        prop_assert!((ours.1 - f64::from(theirs.1)).abs() < 1e-3, "{:?} {:?}", lengths, foretold);
                    }
                }
            }
        }
    }
}
