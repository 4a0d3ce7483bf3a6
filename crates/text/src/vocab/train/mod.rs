//! Finding the pieces of a vocabulary.
//!
//! The unigram trainer (Kudo, *Subword regularization*, ACL 2018), in the variant of the
//! reference implementation:
//!
//! 1. `sample`: lines are kept, all of them or a uniform sample that fits the memory given;
//! 2. `words`: they are normalised and counted as distinct words;
//! 3. `seed`: the substrings that cover most text become the first pieces;
//! 4. `em`: expectation and maximisation give the pieces their probabilities;
//! 5. `prune`: the pieces that the text misses least are removed; back to 4 until few remain;
//! 6. the best pieces, with all characters of the alphabet, are the vocabulary.
//!
//! Symbols: w a distinct word with count n(w), v a piece with probability p(v).
//! Cost: one sort of the suffixes of the distinct words, then about thirty passes over the edges
//! (piece occurrences) of the distinct words, in parallel. The result does not depend on the
//! number of threads.

mod edges;
mod em;
mod options;
mod pieces;
mod prune;
mod sample;
mod seed;
mod words;

use padir_base::TokenId;
use thiserror::Error;

use super::charsmap::CharsMap;
use super::normalizer::{Normalizer, Spaces};
use super::proto::{ModelKind, ModelProto, NormalizerSpec, PieceKind, PieceProto, TrainerSpec};
use super::vocabulary::{Vocabulary, byte_piece};
use super::{VocabError, nmt_nfkc};

pub use options::TrainOptions;
pub use sample::LineSample;

use pieces::Pieces;

/// Training did not lead to a vocabulary.
#[derive(Debug, Error)]
pub enum TrainError {
    /// An option that makes no sense.
    #[error("{name} must lie between {low} and {high}, not {found}")]
    Option {
        /// Its name.
        name: &'static str,
        /// The least value.
        low: f64,
        /// The largest value.
        high: f64,
        /// The value given.
        found: f64,
    },
    /// Nothing to learn from.
    #[error("there is no text to learn a vocabulary from")]
    NoText,
    /// The alphabet alone is larger than the vocabulary.
    #[error("{size} pieces cannot hold {reserved} reserved ids and an alphabet of {alphabet}")]
    TooSmall {
        /// The size asked for.
        size: usize,
        /// The number of reserved pieces.
        reserved: usize,
        /// The number of characters that must be pieces.
        alphabet: usize,
    },
    /// The text does not contain enough different substrings.
    #[error("the text yields only {found} pieces, {size} were asked for")]
    TooLarge {
        /// The size asked for.
        size: usize,
        /// The largest possible size.
        found: usize,
    },
    /// The result is not a usable vocabulary.
    #[error("the pieces found do not make a vocabulary")]
    Unusable(#[from] VocabError),
}

/// What a training has seen and done.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TrainReport {
    /// Lines offered.
    pub lines_read: u64,
    /// Lines learnt from.
    pub lines_used: u64,
    /// Lines left out because they were longer than the limit.
    pub lines_too_long: u64,
    /// Bytes learnt from.
    pub bytes_used: u64,
    /// Different words.
    pub words: usize,
    /// Characters in the alphabet.
    pub alphabet: usize,
    /// Character occurrences outside of the alphabet, as a share.
    pub uncovered: f64,
    /// Substrings the search started from.
    pub seeds: usize,
    /// Rounds of pruning.
    pub rounds: usize,
    /// Tokens in the text learnt from, under the final pieces.
    pub tokens: u64,
}

/// Where a training stands, for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Counting words.
    Words,
    /// Looking for frequent substrings.
    Seeds,
    /// Estimating; so many pieces are left.
    Estimating {
        /// The number of pieces.
        pieces: usize,
    },
}

/// Learns a vocabulary from lines.
///
/// # Errors
/// If the options make no sense or the text is too small for them.
pub fn train(
    sample: &LineSample,
    options: &TrainOptions,
    mut watch: impl FnMut(Stage),
) -> Result<(Vocabulary, TrainReport), TrainError> {
    options.check()?;
    let rule = CharsMap::compile(&nmt_nfkc::rule());
    watch(Stage::Words);
    let normalizer = Normalizer::new(Some(rule.clone()), vec![], Spaces::default());
    let words = words::count(sample, &normalizer, options);
    if words.is_empty() {
        return Err(TrainError::NoText);
    }
    let wanted = check_room(options, words.alphabet().len())?;
    watch(Stage::Seeds);
    let mut pieces = seed::find(&words, options);
    let seeds = pieces.len();
    let mut edges = edges::Edges::of(&words, &pieces);
    let mut rounds = 0;
    loop {
        for _ in 0..options.em_steps {
            watch(Stage::Estimating { pieces: pieces.alive() });
            em::step(&mut pieces, &edges, &words);
        }
        if pieces.alive() <= wanted + wanted / 10 {
            break;
        }
        rounds += 1;
        prune::prune(&mut pieces, &edges, &words, wanted + wanted / 10, options.shrink);
        edges.keep_alive(&mut pieces);
    }
    let found = finish(&pieces, wanted);
    let reserved = options.size - wanted;
    if found.len() < wanted {
        return Err(TrainError::TooLarge { size: options.size, found: found.len() + reserved });
    }
    let vocabulary = assemble(&found, &rule, options)?;
    let report = TrainReport {
        lines_read: sample.lines_read(),
        lines_used: sample.len() as u64,
        lines_too_long: words.lines_too_long(),
        bytes_used: sample.bytes() as u64,
        words: words.len(),
        alphabet: words.alphabet().len(),
        uncovered: words.uncovered(),
        seeds,
        rounds,
        tokens: edges.tokens(&pieces, &words),
    };
    Ok((vocabulary, report))
}

/// The number of pieces to find, reserved ones not counted.
fn check_room(options: &TrainOptions, alphabet: usize) -> Result<usize, TrainError> {
    let reserved = RESERVED.len() + if options.byte_fallback { 256 } else { 0 };
    let TrainOptions { size, .. } = *options;
    match size.checked_sub(reserved) {
        Some(wanted) if wanted > alphabet => Ok(wanted),
        _ => Err(TrainError::TooSmall { size, reserved, alphabet }),
    }
}

const RESERVED: [(&str, PieceKind); 4] = [
    ("<pad>", PieceKind::Control),
    ("</s>", PieceKind::Control),
    ("<unk>", PieceKind::Unknown),
    ("<s>", PieceKind::Control),
];

/// The final pieces with their scores, best first: the whole alphabet, then the most probable.
fn finish(pieces: &Pieces<'_>, wanted: usize) -> Vec<(String, f32)> {
    let mut scored: Vec<(&str, f64)> = pieces.living().collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let is_character = |text: &str| text.chars().nth(1).is_none();
    let characters = scored.iter().filter(|(text, _)| is_character(text));
    let mut found: Vec<(String, f32)> =
        characters.map(|&(text, score)| (text.to_owned(), score as f32)).collect();
    let room = wanted.saturating_sub(found.len());
    let others = scored.iter().filter(|(text, _)| !is_character(text)).take(room);
    found.extend(others.map(|&(text, score)| (text.to_owned(), score as f32)));
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found
}

fn assemble(
    found: &[(String, f32)],
    rule: &CharsMap,
    options: &TrainOptions,
) -> Result<Vocabulary, VocabError> {
    let piece = |text: &str, score: f32, kind: PieceKind| PieceProto {
        piece: Some(text.to_owned()),
        score: Some(score),
        kind: (kind != PieceKind::Normal).then_some(kind as i32),
    };
    let mut pieces: Vec<PieceProto> =
        RESERVED.iter().map(|&(text, kind)| piece(text, 0.0, kind)).collect();
    if options.byte_fallback {
        pieces.extend((0..=255).map(|byte| piece(&byte_piece(byte), 0.0, PieceKind::Byte)));
    }
    pieces.extend(found.iter().map(|(text, score)| piece(text, *score, PieceKind::Normal)));
    let id = |id: TokenId| Some(id.0 as i32);
    let trainer_spec = TrainerSpec {
        model_type: Some(ModelKind::Unigram as i32),
        vocab_size: Some(pieces.len() as i32),
        character_coverage: Some(options.coverage as f32),
        seed_sentencepiece_size: Some(options.seed_size as i32),
        shrinking_factor: Some(options.shrink as f32),
        num_sub_iterations: Some(options.em_steps as i32),
        max_sentence_length: Some(options.longest_line as i32),
        max_sentencepiece_length: Some(options.longest_piece as i32),
        byte_fallback: Some(options.byte_fallback),
        unk_id: id(TokenId::UNK),
        bos_id: id(TokenId::BOS),
        eos_id: id(TokenId::EOS),
        pad_id: id(TokenId::PAD),
        ..TrainerSpec::default()
    };
    let normalizer_spec = NormalizerSpec {
        name: Some(nmt_nfkc::NAME.to_owned()),
        precompiled_charsmap: Some(rule.to_bytes()),
        add_dummy_prefix: Some(true),
        remove_extra_whitespaces: Some(true),
        escape_whitespaces: Some(true),
    };
    let model = ModelProto {
        pieces,
        trainer_spec: Some(trainer_spec),
        normalizer_spec: Some(normalizer_spec),
    };
    Vocabulary::from_model(model, options.sentinels)
}
