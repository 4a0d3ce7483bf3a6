//! Bad calls are answered with an error, and the session goes on.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use common::{Model, Row, VOCABULARY, session, tokens, try_ask};
use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::{Decoder, DecoderKind, ModelConfig, Preset};
use padir_engine::{Engine, Precision, Session, Target};

fn config(kind: DecoderKind) -> ModelConfig {
    let mut config = ModelConfig::preset(Preset::Tiny, VOCABULARY, kind);
    config.d_model = 16;
    config.d_ff = 16;
    config
}

fn row(length: usize) -> Row {
    let mut stream = Seed(1).stream(Purpose::Synthesis, 0);
    let tokens = tokens(&mut stream, length);
    Row { tokens, hidden: vec![false; length], wanted: vec![true; length], context: 0 }
}

#[test]
fn queries_a_parallel_decoder_cannot_answer() {
    let model = Model::random(&config(DecoderKind::Parallel), 1);
    let mut unmasked = config(DecoderKind::Parallel);
    unmasked.symbols.mask = None;
    let unmasked = Model::random(&unmasked, 1);
    let cases: [(&str, Row, usize, &str); 6] = [
        ("no context", Row { context: 1, ..row(3) }, 1, "there is no context 1; 1 are encoded"),
        (
            "token",
            Row { tokens: vec![TokenId(150)], ..row(1) },
            1,
            "token 150 lies outside of the vocabulary of 150",
        ),
        ("long", row(257), 1, "a row has 257 tokens; the model has 256 positions"),
        ("deep", row(2), 151, "151 candidates are wanted of a vocabulary of 150"),
        ("fits", row(256), 1, ""),
        ("empty", row(0), 1, ""),
    ];
    for engine in [model.engine(Precision::F32), model.engine(Precision::Int8)] {
        let mut session = session(&engine, 1, &[vec![TokenId::EOS]]);
        for (name, row, depth, expected) in &cases {
            let found = try_ask(&mut session, std::slice::from_ref(row), *depth);
            assert_eq!(found.err().map_or(String::new(), |e| e.to_string()), *expected, "{name}");
        }
    }
    let mut session = session(&unmasked.engine(Precision::F32), 1, &[vec![TokenId::EOS]]);
    let hidden = Row { hidden: vec![true], ..row(1) };
    let error = try_ask(&mut session, &[hidden], 1).unwrap_err();
    assert_eq!(error.to_string(), "a token is hidden, but the model has no MASK token");
}

#[test]
fn each_decoder_refuses_the_calls_of_the_other() {
    let causal = Model::random(&config(DecoderKind::Causal), 1).engine(Precision::F32);
    let parallel = Model::random(&config(DecoderKind::Parallel), 1).engine(Precision::F32);
    let error = try_ask(&mut session(&causal, 1, &[vec![]]), &[row(1)], 1).unwrap_err();
    assert_eq!(error.to_string(), "this needs a parallel decoder; the model's is causal");
    let error = session(&parallel, 1, &[vec![]]).begin(&[0]).unwrap_err();
    assert_eq!(error.to_string(), "this needs a causal decoder; the model's is parallel");
    assert_eq!(session(&causal, 1, &[vec![]]).lengths(0, 5), []);
}

#[test]
fn targets_that_cannot_be_judged() {
    let known = [TokenId(5), TokenId(6)];
    let cases: [(DecoderKind, usize, &[TokenId], &str); 3] = [
        (DecoderKind::Parallel, 0, &known, "this needs a causal decoder; the model's is parallel"),
        (DecoderKind::Causal, 1, &known, "there is no context 1; 1 are encoded"),
        (
            DecoderKind::Causal,
            0,
            &[TokenId(150)],
            "token 150 lies outside of the vocabulary of 150",
        ),
    ];
    for (kind, context, tokens, expected) in cases {
        let model = Model::random(&config(kind), 1);
        let mut session = session(&model.engine(Precision::F32), 1, &[known.to_vec()]);
        let mut log_probs = Vec::new();
        let error =
            session.score_targets(&[Target { context, tokens }], &mut log_probs).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn rows_that_cannot_be_continued() {
    let engine = Model::random(&config(DecoderKind::Causal), 1).engine(Precision::F32);
    let mut session = session(&engine, 1, &[vec![TokenId(5), TokenId::EOS], vec![]]);
    let mut answers = Vec::new();
    let mut advance = |session: &mut Session, parent, token, depth| {
        let row = DecodeStep { parent, token: TokenId(token) };
        let outcome = session.decode_step(&[row], depth, &mut answers);
        outcome.err().map_or(String::new(), |error| error.to_string())
    };
    assert_eq!(advance(&mut session, 0, 0, 1), "there is no row 0 to continue; there are 0");
    assert_eq!(
        session.begin(&[2]).unwrap_err().to_string(),
        "there is no context 2; 2 are encoded"
    );
    session.begin(&[0, 1]).unwrap();
    assert_eq!(advance(&mut session, 2, 0, 1), "there is no row 2 to continue; there are 2");
    assert_eq!(advance(&mut session, 0, 999, 1), "token 999 lies outside of the vocabulary of 150");
    assert_eq!(
        advance(&mut session, 0, 0, 151),
        "151 candidates are wanted of a vocabulary of 150"
    );
    assert_eq!(advance(&mut session, 1, 0, 150), "", "and a good one still works");
    session.decode_step(&[], 1, &mut answers).unwrap();
    assert!(answers.is_empty(), "no rows, no answers");
}

#[test]
fn sources_and_shortlists() {
    let engine = Model::random(&config(DecoderKind::Parallel), 1).engine(Precision::F32);
    let mut session = session(&engine, 1, &[vec![], vec![TokenId(4)]]);
    let error = session.set_shortlist(2, None).unwrap_err();
    assert_eq!(error.to_string(), "there is no context 2; 2 are encoded");
    let error = session.set_shortlist(0, Some(&[])).unwrap_err();
    assert_eq!(error.to_string(), "the shortlist of context 0 is empty");
    let error = session.set_shortlist(0, Some(&[TokenId(150)])).unwrap_err();
    assert_eq!(error.to_string(), "token 150 lies outside of the vocabulary of 150");
    let error = session.encode(&[&[TokenId(150)]]).unwrap_err();
    assert_eq!(error.to_string(), "token 150 lies outside of the vocabulary of 150");
    assert_eq!(session.contexts(), 0, "a failed call leaves no half of its sources");
    assert_eq!(session.lengths(0, 3), []);
    session.encode(&[]).unwrap();
}

#[test]
fn rows_beyond_what_is_kept_are_computed() {
    let mut long = config(DecoderKind::Parallel);
    if let Decoder::Parallel(parallel) = &mut long.decoder {
        parallel.max_positions = 4_000;
    }
    let engine = Model::random(&long, 1).engine(Precision::F32);
    let mut session = session(&engine, 2, &[vec![TokenId(4)]]);
    // The weights of this length would take more than is kept; of the other, they are known.
    let (many, few) = (row(1_700), row(5));
    let alone = try_ask(&mut session, std::slice::from_ref(&few), 2).unwrap();
    let both = try_ask(&mut session, &[many, few], 2).unwrap();
    assert_eq!(both[1], alone[0], "known or computed, the answer is the same");
}

#[test]
fn widths_that_bytes_cannot_sum_are_refused() {
    let mut wide = config(DecoderKind::Causal);
    wide.d_ff = (1 << 16) + 1;
    (wide.d_model, wide.num_layers, wide.num_decoder_layers) = (1, 1, 1);
    let model = Model::random(&wide, 1);
    let error = Engine::load(&model.checkpoint, Precision::Int8).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a layer has 65537 inputs; 8-bit weights are summed over at most 65536"
    );
}
