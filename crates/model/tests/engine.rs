//! The engine against the networks: the same checkpoint, the same answers.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::collections::HashMap;

use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
use padir_base::random::{Purpose, Seed, Stream};
use padir_base::{ParallelTraining, TokenId};
use padir_checkpoint::layers::Activation;
use padir_checkpoint::{
    Checkpoint, Decoder, DecoderKind, Extras, Family, InitialTokens, LengthPredictor, Marian,
    ModelConfig, PooledLength, Preset, save,
};
use padir_engine::{Engine, Precision, Session, Threads};
use padir_model::{Device, Network, Pass, Sentences};
use proptest::prelude::*;

/// Few tokens, and as many as the engine searches in 8 bits first.
const VOCABULARIES: [usize; 2] = [150, 1100];
/// Candidates that are compared.
const DEPTH: usize = 10;

fn configs() -> impl Strategy<Value = ModelConfig> {
    let length = prop_oneof![
        Just(LengthPredictor::Token { classes: 12 }),
        Just(LengthPredictor::Offset { classes: 12 }),
        Just(LengthPredictor::Affine),
        Just(LengthPredictor::Fertility { max_fertility: 2 }),
        any::<bool>().prop_map(|relative| LengthPredictor::Pooled(PooledLength {
            classes: 12,
            relative,
            queries: 3,
            hidden: 14,
            hidden_layers: 2,
        })),
        Just(LengthPredictor::Oracle),
        Just(LengthPredictor::Upsample { factor: 2, min_slots: 5 }),
    ];
    let vocabulary = prop::sample::select(&VOCABULARIES[..]);
    (any::<[bool; 6]>(), length, vocabulary, 1..3_usize, 1..3_usize).prop_map(
        |(
            [parallel, positional, learned, tied, confidence, disco],
            length,
            vocabulary,
            encoder,
            decoder,
        )| {
            let kind = if parallel { DecoderKind::Parallel } else { DecoderKind::Causal };
            let mut config = ModelConfig::preset(Preset::Tiny, vocabulary, kind);
            (config.d_model, config.d_kv, config.num_heads, config.d_ff) = (24, 10, 3, 40);
            (config.num_layers, config.num_decoder_layers) = (encoder, decoder);
            config.tie_word_embeddings = tied;
            if let Decoder::Parallel(parallel) = &mut config.decoder {
                parallel.positional_attention = positional;
                parallel.learned_positions = learned;
                parallel.max_positions = 40;
                if disco && learned && !length.is_upsampled() {
                    parallel.training = ParallelTraining::Disco;
                    parallel.positional_attention = false;
                }
                parallel.length = length;
                if length.is_upsampled() {
                    config.symbols = config.symbols.with_blank();
                    parallel.initial = InitialTokens::Mask;
                }
                parallel.confidence_head = confidence;
            }
            config
        },
    )
}

fn marians() -> impl Strategy<Value = ModelConfig> {
    let activation = prop::sample::select(vec![
        Activation::Relu,
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::Swish,
    ]);
    let vocabulary = prop::sample::select(&VOCABULARIES[..]);
    (any::<[bool; 3]>(), activation, vocabulary, 1..3_usize, 1..3_usize).prop_map(
        |([scaled, shared, tied], activation, vocabulary, encoder, decoder)| {
            let mut config = ModelConfig::preset(Preset::Tiny, vocabulary, DecoderKind::Causal);
            (config.d_model, config.d_kv, config.num_heads, config.d_ff) = (24, 8, 3, 40);
            (config.num_layers, config.num_decoder_layers) = (encoder, decoder);
            config.layer_norm_epsilon = 1e-5;
            config.tie_word_embeddings = tied;
            config.family = Family::Marian(Marian {
                activation,
                scale_embedding: scaled,
                max_positions: 40,
                decoder_heads: 2,
                decoder_d_ff: 33,
                source_vocab_size: (!shared).then_some(vocabulary + 13),
                attention_dropout: 0.0,
                activation_dropout: 0.0,
                init_std: 0.3,
            });
            config
        },
    )
}

/// A random checkpoint; the scales of norms and all biases are random too.
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
    for name in names.iter().filter(|name| name.ends_with("bias")) {
        let numbers = weights.get_mut(name).unwrap();
        for x in numbers {
            *x += stream.uniform() as f32 - 0.5;
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model");
    save(&path, config, |p| weights.get(&p.name).map(Into::into), &Extras::default()).unwrap();
    let checkpoint = Checkpoint::open(path).unwrap();
    (directory, checkpoint)
}

fn sentences(stream: &mut Stream, vocabulary: usize, lengths: &[usize]) -> Vec<Vec<u32>> {
    let token = |stream: &mut Stream| stream.below(vocabulary as u64) as u32;
    lengths.iter().map(|&n| (0..n).map(|_| token(stream)).collect()).collect()
}

fn ids(row: &[u32]) -> Vec<TokenId> {
    row.iter().map(|&id| TokenId(id)).collect()
}

/// The engine's answers at all positions of all rows, one row per source.
fn engine_answers(
    session: &mut Session,
    rows: &[Vec<u32>],
    parallel: bool,
) -> (Vec<Vec<Candidate>>, Vec<f64>) {
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
        let all = (0..tokens.len()).map(|at| answers.at(at).unwrap().to_vec()).collect();
        return (all, (0..tokens.len()).filter_map(|at| answers.confidence(at)).collect());
    }
    let mut all = Vec::new();
    for (context, row) in rows.iter().enumerate() {
        session.begin(&[context]).unwrap();
        for &token in row {
            let mut answers = Vec::new();
            let next = DecodeStep { parent: 0, token: TokenId(token) };
            session.decode_step(&[next], DEPTH, &mut answers).unwrap();
            all.push(answers);
        }
    }
    (all, Vec::new())
}

/// Compares what both say of sentences, up to an error of ln p.
fn compare(
    checkpoint: &Checkpoint,
    seed: u64,
    lengths: &[(usize, usize)],
    precisions: &[(Precision, f64)],
) {
    let config = checkpoint.config();
    let vocabulary = config.symbols.vocab_size;
    let network = Network::build(config, &Device::flex(), |_, parameter| {
        checkpoint.tensor(&parameter.name).unwrap().into_owned()
    })
    .unwrap();
    let mut stream = Seed(seed).stream(Purpose::Synthesis, 1);
    let (sources, targets): (Vec<usize>, Vec<usize>) = lengths.iter().copied().unzip();
    let sources = sentences(&mut stream, vocabulary, &sources);
    let targets = sentences(&mut stream, vocabulary, &targets);
    let pass = Pass::evaluation(true);
    let encoded = network.encode(&pass, &Sentences::new(sources.iter().map(Vec::as_slice)));
    let read = Sentences::new(targets.iter().map(Vec::as_slice));
    let states = network.decode(&pass, &read, &encoded);
    let whole = network.top(&states, vocabulary);
    let rated = network.confidences(&states).unwrap_or_default();
    let predicted = network.predict_lengths(&encoded, 4);

    for &(precision, tolerance) in precisions {
        let engine = Engine::load(checkpoint, precision).unwrap();
        let mut session = engine.session(Threads::new(2));
        let given: Vec<Vec<TokenId>> = sources.iter().map(|row| ids(row)).collect();
        session.encode(&given.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
        let parallel = config.parallel().is_some();
        let (answers, confidences) = engine_answers(&mut session, &targets, parallel);
        assert_eq!((answers.len(), confidences.len()), (whole.len(), rated.len()));
        for (ours, &theirs) in confidences.iter().zip(&rated) {
            let error = (ours - f64::from(theirs)).abs();
            assert!(error < tolerance, "{precision:?} confidence_accuracy: {ours} {theirs}");
        }
        for (answers, whole) in answers.iter().zip(&whole) {
            for (rank, one) in answers.iter().enumerate() {
                let truth = whole.iter().find(|(token, _)| *token == one.token.0).unwrap().1;
                let error = (one.log_prob - f64::from(truth)).abs();
                assert!(error < tolerance, "{precision:?} {rank}: {one:?} {truth}");
                let error = (one.log_prob - f64::from(whole[rank].1)).abs();
                assert!(error < tolerance, "{precision:?} rank {rank}");
            }
        }
        for (context, predicted) in predicted.iter().enumerate() {
            let lengths = session.lengths(context, 4);
            assert_eq!(lengths.len(), predicted.len());
            if precision == Precision::F32 {
                for (ours, theirs) in lengths.iter().zip(predicted) {
                    let error = (ours.1 - theirs.1).abs();
                    assert!(error < 1e-3, "{lengths:?} {predicted:?}");
                }
            }
        }
    }
}

/// The translator in the box, as everybody has it.
#[test]
fn the_engine_answers_as_a_network_that_has_learnt() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tatoeba-en-de");
    let checkpoint = Checkpoint::open(path).unwrap();
    let lengths = [(1, 2), (9, 10), (14, 12), (5, 3)];
    compare(&checkpoint, 1, &lengths, &[(Precision::F32, 0.02)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_engine_answers_as_the_network(
        config in prop_oneof![3 => configs(), 1 => marians()], seed: u64, lengths in prop::collection::vec((1..9_usize, 1..11_usize), 1..5),
    ) {
        let (_directory, checkpoint) = checkpoint(&config, seed);
        // Of many tokens, the improbable ones enter the normalising sum in 8 bits only.
        let many = config.symbols.vocab_size == VOCABULARIES[1];
        let tolerance = if many { 0.02 } else { 1e-4 };
        compare(&checkpoint, seed, &lengths, &[(Precision::F32, tolerance), (Precision::Int8, 1.0)]);
    }
}
