//! Small random models for the tests.
#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod naive;

use std::collections::HashMap;
use std::ops::Range;

use padir_base::TokenId;
use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
use padir_base::random::{Purpose, Seed, Stream};
use padir_checkpoint::{
    Checkpoint, Decoder, DecoderKind, Extras, InitialTokens, LengthPredictor, ModelConfig,
    PooledLength, Preset, save,
};
use padir_engine::{Engine, EngineError, Isa, Precision, Session, Threads};
use proptest::prelude::*;

pub(crate) const VOCABULARY: usize = 150;
/// So many that the best are searched in 8 bits first.
pub(crate) const MANY: usize = 1100;

/// A model on disk, with the numbers that were written.
pub(crate) struct Model {
    pub config: ModelConfig,
    pub weights: HashMap<String, Vec<f32>>,
    pub checkpoint: Checkpoint,
    _directory: tempfile::TempDir,
}

impl Model {
    /// Random weights; scales of norms are random too, lest their places be confused.
    pub(crate) fn random(config: &ModelConfig, seed: u64) -> Self {
        let mut stream = Seed(seed).stream(Purpose::Synthesis, 0);
        let mut weights: HashMap<String, Vec<f32>> = config.initial(Seed(seed)).collect();
        let mut names: Vec<String> = weights.keys().cloned().collect();
        names.sort();
        for name in names {
            if name.ends_with("layer_norm.weight") || name.starts_with("length_predictor") {
                let numbers = weights.get_mut(&name).unwrap();
                for x in numbers {
                    *x *= 0.7 + 0.6 * stream.uniform() as f32;
                }
            }
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model");
        save(&path, config, |p| weights.get(&p.name).map(Into::into), &Extras::default()).unwrap();
        let checkpoint = Checkpoint::open(&path).unwrap();
        Self { config: config.clone(), weights, checkpoint, _directory: directory }
    }

    pub(crate) fn engine(&self, precision: Precision) -> Engine {
        Engine::load(&self.checkpoint, precision).unwrap()
    }

    pub(crate) fn engine_for(&self, precision: Precision, isa: Isa) -> Engine {
        Engine::load_for(&self.checkpoint, precision, isa).unwrap()
    }
}

/// Every switch of a model, small and of odd widths.
pub(crate) fn configs(kind: DecoderKind) -> impl Strategy<Value = ModelConfig> {
    configs_of(VOCABULARY, kind)
}

/// The same with so many tokens.
pub(crate) fn configs_of(
    vocabulary: usize,
    kind: DecoderKind,
) -> impl Strategy<Value = ModelConfig> {
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
    let widths = prop_oneof![Just((24, 10, 3, 40)), Just((32, 16, 2, 64)), Just((7, 3, 1, 9))];
    (any::<[bool; 5]>(), length, 1..3_usize, 1..3_usize, widths).prop_map(
        move |(flags, length, encoder, decoder, (d, k, h, f))| {
            let [positional, learned, tied, confidence, numbered] = flags;
            let mut config = ModelConfig::preset(Preset::Tiny, vocabulary, kind);
            (config.d_model, config.d_kv, config.num_heads, config.d_ff) = (d, k, h, f);
            (config.num_layers, config.num_decoder_layers) = (encoder, decoder);
            config.tie_word_embeddings = tied;
            if let Decoder::Parallel(parallel) = &mut config.decoder {
                parallel.positional_attention = positional;
                parallel.learned_positions = learned;
                parallel.max_positions = 40;
                parallel.length = length;
                parallel.confidence_head = confidence;
                if length.is_upsampled() {
                    config.symbols = config.symbols.with_blank();
                    parallel.initial = InitialTokens::Mask;
                } else if numbered {
                    // Of twelve sentinels nine are masks by position: fewer than positions.
                    config.symbols.pieces = vocabulary - 12;
                    parallel.initial = InitialTokens::NumberedMask;
                }
            }
            config
        },
    )
}

pub(crate) fn tokens(stream: &mut Stream, count: usize) -> Vec<TokenId> {
    (0..count).map(|_| TokenId(stream.below(VOCABULARY as u64) as u32)).collect()
}

/// A row of a query.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub tokens: Vec<TokenId>,
    pub hidden: Vec<bool>,
    pub wanted: Vec<bool>,
    pub context: usize,
}

impl Row {
    pub(crate) fn random(stream: &mut Stream, length: usize, contexts: usize) -> Self {
        let mut coins = |p: f64| (0..length).map(|_| stream.chance(p)).collect::<Vec<bool>>();
        let (hidden, wanted) = (coins(0.3), coins(0.6));
        let context = stream.below(contexts as u64) as usize;
        Self { tokens: tokens(stream, length), hidden, wanted, context }
    }
}

/// The candidates at wanted positions, row by row.
pub(crate) fn ask(session: &mut Session, rows: &[Row], depth: usize) -> Vec<Vec<Vec<Candidate>>> {
    try_ask(session, rows, depth).unwrap()
}

pub(crate) fn try_ask(
    session: &mut Session,
    rows: &[Row],
    depth: usize,
) -> Result<Vec<Vec<Vec<Candidate>>>, EngineError> {
    ask_as(session, rows, depth, false)
}

/// The same, of which a low-precision answer may do.
pub(crate) fn ask_as(
    session: &mut Session,
    rows: &[Row],
    depth: usize,
    low_precision: bool,
) -> Result<Vec<Vec<Vec<Candidate>>>, EngineError> {
    let row = |answers: &Answers, places: Range<usize>| {
        places.filter_map(|place| answers.at(place).map(<[_]>::to_vec)).collect()
    };
    ask_for(session, rows, depth, low_precision, row)
}

/// ln p at wanted positions that the answer is right, row by row.
pub(crate) fn confidences(session: &mut Session, rows: &[Row]) -> Vec<Vec<f64>> {
    let row = |answers: &Answers, places: Range<usize>| {
        places.filter_map(|place| answers.confidence(place)).collect()
    };
    ask_for(session, rows, 1, false, row).unwrap()
}

/// Asks, and reads the answers of each row.
fn ask_for<T>(
    session: &mut Session,
    rows: &[Row],
    depth: usize,
    low_precision: bool,
    read: impl Fn(&Answers, Range<usize>) -> T,
) -> Result<Vec<T>, EngineError> {
    let tokens: Vec<TokenId> = rows.iter().flat_map(|row| row.tokens.clone()).collect();
    let hidden: Vec<bool> = rows.iter().flat_map(|row| row.hidden.clone()).collect();
    let wanted: Vec<bool> = rows.iter().flat_map(|row| row.wanted.clone()).collect();
    let contexts: Vec<usize> = rows.iter().map(|row| row.context).collect();
    let mut end = 0;
    let ends: Vec<usize> = rows
        .iter()
        .map(|row| {
            end += row.tokens.len();
            end
        })
        .collect();
    let query = Query::new(&tokens, &ends, &contexts, &hidden, &wanted).unwrap();
    let query = query.at_low_precision(low_precision);
    let mut answers = Answers::default();
    answers.prepare(&query, depth);
    session.denoise(&query, &mut answers)?;
    let row = |row: usize| {
        let row = query.row(row);
        read(&answers, row.start..row.start + row.tokens.len())
    };
    Ok((0..rows.len()).map(row).collect())
}

/// A session that has encoded sources.
pub(crate) fn session(engine: &Engine, threads: usize, sources: &[Vec<TokenId>]) -> Session {
    let mut session = engine.session(Threads::new(threads));
    let sources: Vec<&[TokenId]> = sources.iter().map(Vec::as_slice).collect();
    session.encode(&sources).unwrap();
    session
}
