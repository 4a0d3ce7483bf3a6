//! CTC models: BLANK always competes, and neither threads nor neighbours change an answer.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use common::{Model, Row, ask, session, tokens};
use padir_base::TokenId;
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::{
    Decoder, DecoderKind, InitialTokens, LengthPredictor, ModelConfig, ParallelDecoder, Preset,
};
use padir_engine::Precision;

fn config() -> ModelConfig {
    let mut config = ModelConfig::preset(Preset::Tiny, common::VOCABULARY, DecoderKind::Parallel);
    config.symbols = config.symbols.with_blank();
    config.num_decoder_layers = 1;
    config.decoder = Decoder::Parallel(ParallelDecoder {
        initial: InitialTokens::Mask,
        length: LengthPredictor::Upsample { factor: 2, min_slots: 7 },
        max_positions: 64,
        ..ParallelDecoder::default()
    });
    config
}

fn sources(count: usize) -> Vec<Vec<TokenId>> {
    let mut stream = Seed(3).stream(Purpose::Synthesis, 1);
    (0..count).map(|i| tokens(&mut stream, 1 + 3 * i)).collect()
}

fn first_pass(context: usize, slots: usize) -> Row {
    let all = || vec![true; slots];
    Row { tokens: vec![TokenId(0); slots], hidden: all(), wanted: all(), context }
}

#[test]
fn blank_competes_with_every_shortlist() {
    let model = Model::random(&config(), 5);
    let blank = model.config.symbols.blank.unwrap();
    for precision in [Precision::F32, Precision::Int8] {
        let mut session = session(&model.engine(precision), 1, &sources(3));
        let slots = session.lengths(2, 5)[0].0;
        assert_eq!((slots, session.lengths(0, 5)), (14, vec![(7, 0.0)]), "2·7, and at least 7");
        let row = [first_pass(2, slots)];
        let listed = [TokenId(9), TokenId(20), TokenId(31)];
        session.set_shortlist(2, Some(&listed)).unwrap();
        for candidates in &ask(&mut session, &row, 4)[0] {
            let mut found: Vec<TokenId> = candidates.iter().map(|c| c.token).collect();
            found.sort_unstable();
            assert_eq!(found, [listed[0], listed[1], listed[2], blank]);
            let total: f64 = candidates.iter().map(|c| c.log_prob.exp()).sum();
            assert!((total - 1.0).abs() < 1e-5, "{total}");
        }
    }
}

#[test]
fn batches_and_threads_leave_alignments_as_they_are() {
    let model = Model::random(&config(), 6);
    let sources = sources(5);
    for precision in [Precision::F32, Precision::Int8] {
        let engine = model.engine(precision);
        let mut together = session(&engine, 2, &sources);
        let rows: Vec<Row> = (0..5).map(|c| first_pass(c, together.lengths(c, 1)[0].0)).collect();
        let answers = ask(&mut together, &rows, 3);
        for (context, source) in sources.iter().enumerate() {
            let mut alone = session(&engine, 1, std::slice::from_ref(source));
            let row = Row { context: 0, ..rows[context].clone() };
            assert_eq!(ask(&mut alone, &[row], 3)[0], answers[context], "{precision:?}");
        }
    }
}

/// The same slots of another source say something else: the decoder reads the source, not its length alone.
#[test]
fn slots_read_their_source() {
    let model = Model::random(&config(), 7);
    let sources = vec![vec![TokenId(5); 4], vec![TokenId(6); 4]];
    let mut session = session(&model.engine(Precision::F32), 1, &sources);
    let answers = ask(&mut session, &[first_pass(0, 8), first_pass(1, 8)], 3);
    assert_ne!(answers[0], answers[1]);
}
