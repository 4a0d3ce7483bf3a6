//! What a model can be. All faults of a configuration are reported together.
//!
//! The bounds are far above anything trainable here. They exist so that a damaged or hostile
//! `config.json` is refused before a number of it sizes an allocation.

use thiserror::Error;

use super::{
    Decoder, Family, InitialTokens, LengthPredictor, Marian, ModelConfig, ParallelDecoder,
    RelativeBias, Symbols, marian,
};
use padir_base::{ParallelTraining, TokenId};

/// Most parameters: 80 GB of f32.
pub const MAX_PARAMETERS: u64 = 20_000_000_000;
/// Most rows of the embedding table; ids fit into 31 bits.
pub const MAX_VOCABULARY: usize = 1 << 24;
/// Largest width of any layer.
pub const MAX_WIDTH: usize = 1 << 20;
/// Most layers of a stack.
pub const MAX_LAYERS: usize = 1024;
/// Most heads of an attention.
pub const MAX_HEADS: usize = 4096;
/// Most relative position buckets.
pub const MAX_BUCKETS: usize = 1 << 16;
/// Most rows of the position table.
pub const MAX_POSITIONS: usize = 1 << 20;
/// Most classes of a length predictor.
pub const MAX_CLASSES: usize = 1 << 20;
/// Most hidden layers of a length predictor.
pub const MAX_LENGTH_LAYERS: usize = 8;
/// Most slots per source token.
pub const MAX_UPSAMPLING: usize = 64;

/// Ids below this one are padding, end and unknown.
const FIRST_FREE_ID: usize = 4;

/// Something a model cannot be. Keys are those of `config.json`.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ConfigProblem {
    /// A count outside its bounds.
    #[error("`{key}` is {value}; it must be between {low} and {high}")]
    Count {
        /// The key.
        key: &'static str,
        /// What it is.
        value: usize,
        /// Its least value.
        low: usize,
        /// Its largest value.
        high: usize,
    },
    /// A real number outside its range.
    #[error("`{key}` is {value}; it must be {wanted}")]
    Real {
        /// The key.
        key: &'static str,
        /// What it is.
        value: f64,
        /// What it must be.
        wanted: &'static str,
    },
    /// Heads of different widths.
    #[error("`{key}` is {heads}; it must divide `d_model`, which is {d_model}")]
    Heads {
        /// The key.
        key: &'static str,
        /// The number of heads.
        heads: usize,
        /// The width of the model.
        d_model: usize,
    },
    /// A reserved id that is another in models of this family.
    #[error("`{key}` is {id}; it must be {wanted} in a T5")]
    ReservedId {
        /// The key.
        key: &'static str,
        /// The id.
        id: u32,
        /// What it must be.
        wanted: u32,
    },
    /// A decoder that models of this family do not have.
    #[error("`padir.decoder` is \"parallel\"; it must be \"causal\" in a Marian model")]
    ParallelMarian,
    /// Half of the buckets belong to either direction.
    #[error("`relative_attention_num_buckets` is {0}; it must be even")]
    OddBuckets(usize),
    /// The logarithmic buckets begin beyond their end.
    #[error(
        "`relative_attention_max_distance` is {distance}; \
         it must exceed half of the {buckets} buckets"
    )]
    ShortDistance {
        /// The distance.
        distance: usize,
        /// The number of buckets.
        buckets: usize,
    },
    /// An id no row of the embedding table belongs to.
    #[error("`{key}` is {id}, but `vocab_size` is {vocab_size}")]
    Id {
        /// The key.
        key: &'static str,
        /// The id.
        id: u32,
        /// The rows of the table.
        vocab_size: usize,
    },
    /// An id another setting needs.
    #[error("`{key}` is missing; {needed_by} needs it")]
    NoId {
        /// The key.
        key: &'static str,
        /// The setting.
        needed_by: &'static str,
    },
    /// No masks by position.
    #[error(
        "`padir.initial` is \"numbered-mask\", but between the pieces and `padir.mask_token_id` there \
         are no sentinels for positions, or `padir.length_token_id` is one of them: a vocabulary needs \
         at least four sentinels"
    )]
    NoNumberedMask,
    /// One id for two meanings.
    #[error("`padir.blank_token_id` and `padir.mask_token_id` are the same id")]
    BlankIsMask,
    /// A start from something else than hidden slots.
    #[error(
        "`padir.initial` must be \"mask\" where `padir.length.predictor` is \"upsample\": slots are hidden at first"
    )]
    AlignmentStart,
    /// Random tokens out of nothing.
    #[error("`padir.random_from` is {from} and `padir.random_to` is {to}: no id lies between")]
    NothingRandom {
        /// First id.
        from: u32,
        /// First id beyond.
        to: u32,
    },
    /// Lengths without positions.
    #[error(
        "`padir.length.classes` is {classes}, but `padir.max_positions` is {positions}: \
         the longest targets would have no position"
    )]
    LengthsBeyondPositions {
        /// Longest length predicted.
        classes: usize,
        /// Rows of the position table.
        positions: usize,
    },
    /// A query stream without positions to start from, or with an attention that would show it everything.
    #[error(
        "`padir.objective` is \"disco\", which needs `padir.learned_positions` and no \
         `padir.positional_attention`"
    )]
    DiscoPositions,
    /// More parameters than any memory holds.
    #[error("the model would have {parameters} parameters; at most {MAX_PARAMETERS} are possible")]
    TooLarge {
        /// Their number.
        parameters: u128,
    },
}

impl ModelConfig {
    /// Whether this can be a model.
    ///
    /// # Errors
    /// All problems at once.
    pub fn validate(&self) -> Result<(), Vec<ConfigProblem>> {
        let mut problems = Problems::default();
        match &self.family {
            Family::T5 => problems.t5(self),
            Family::Marian(family) => problems.marian(self, family),
        }
        problems.symbols(&self.symbols);
        if let Some(parallel) = self.parallel() {
            problems.parallel(parallel, &self.symbols);
        }
        problems.size(self.exact_parameter_count());
        if problems.0.is_empty() { Ok(()) } else { Err(problems.0) }
    }
}

#[derive(Default)]
struct Problems(Vec<ConfigProblem>);

impl Problems {
    fn count(&mut self, key: &'static str, value: usize, low: usize, high: usize) {
        if !(low..=high).contains(&value) {
            self.0.push(ConfigProblem::Count { key, value, low, high });
        }
    }

    fn real(&mut self, key: &'static str, value: f64, good: bool, wanted: &'static str) {
        if !good {
            self.0.push(ConfigProblem::Real { key, value, wanted });
        }
    }

    fn id(&mut self, key: &'static str, id: u32, vocab_size: usize) {
        if id as usize >= vocab_size {
            self.0.push(ConfigProblem::Id { key, id, vocab_size });
        }
    }

    fn t5(&mut self, config: &ModelConfig) {
        self.count("d_model", config.d_model, 1, MAX_WIDTH);
        self.count("d_kv", config.d_kv, 1, MAX_WIDTH);
        self.count("d_ff", config.d_ff, 1, MAX_WIDTH);
        self.count("num_layers", config.num_layers, 1, MAX_LAYERS);
        self.count("num_decoder_layers", config.num_decoder_layers, 1, MAX_LAYERS);
        self.count("num_heads", config.num_heads, 1, MAX_HEADS);
        self.relative_bias(config.relative_bias);
        self.rate("dropout_rate", config.dropout_rate);
        let epsilon = config.layer_norm_epsilon;
        let small = epsilon > 0.0 && epsilon < 1.0;
        self.real("layer_norm_epsilon", epsilon, small, "above 0 and below 1");
        let factor = config.initializer_factor;
        let usual = factor > 0.0 && factor <= 1e3;
        self.real("initializer_factor", factor, usual, "above 0 and at most 1000");
        // Corpora, shards and objectives know the reserved ids.
        let symbols = &config.symbols;
        self.reserved("pad_token_id", symbols.pad, TokenId::PAD);
        self.reserved("eos_token_id", symbols.eos, TokenId::EOS);
        self.reserved("unk_token_id", symbols.unk, TokenId::UNK);
    }

    fn marian(&mut self, config: &ModelConfig, family: &Marian) {
        let d_model = config.d_model;
        self.count("d_model", d_model, 1, MAX_WIDTH);
        self.count("encoder_ffn_dim", config.d_ff, 1, MAX_WIDTH);
        self.count("decoder_ffn_dim", family.decoder_d_ff, 1, MAX_WIDTH);
        self.count("encoder_layers", config.num_layers, 1, MAX_LAYERS);
        self.count("decoder_layers", config.num_decoder_layers, 1, MAX_LAYERS);
        self.count("max_position_embeddings", family.max_positions, 1, MAX_POSITIONS);
        self.heads("encoder_attention_heads", config.num_heads, d_model);
        self.heads("decoder_attention_heads", family.decoder_heads, d_model);
        let rate = config.dropout_rate;
        self.rate("dropout", rate);
        #[expect(clippy::float_cmp, reason = "both are read from the same file")]
        for (key, other) in [
            ("attention_dropout", family.attention_dropout),
            ("activation_dropout", family.activation_dropout),
        ] {
            self.real(key, other, other == 0.0 || other == rate, "0 or that of `dropout`");
        }
        // The format has no key for it.
        let usual = config.layer_norm_epsilon == marian::EPSILON;
        self.real("layer_norm_epsilon", config.layer_norm_epsilon, usual, "1e-5 in a Marian model");
        let std = family.init_std;
        self.real("init_std", std, std > 0.0 && std <= 1e3, "above 0 and at most 1000");
        if let Some(size) = family.source_vocab_size {
            self.count("vocab_size", size, FIRST_FREE_ID, MAX_VOCABULARY);
            self.id("pad_token_id", config.symbols.pad.0, size);
            self.id("eos_token_id", config.symbols.eos.0, size);
        }
        if !matches!(config.decoder, Decoder::Causal) {
            self.0.push(ConfigProblem::ParallelMarian);
        }
    }

    fn heads(&mut self, key: &'static str, heads: usize, d_model: usize) {
        self.count(key, heads, 1, MAX_HEADS);
        if heads > 0 && !d_model.is_multiple_of(heads) {
            self.0.push(ConfigProblem::Heads { key, heads, d_model });
        }
    }

    fn rate(&mut self, key: &'static str, rate: f64) {
        self.real(key, rate, (0.0..1.0).contains(&rate), "at least 0 and below 1");
    }

    fn reserved(&mut self, key: &'static str, id: TokenId, wanted: TokenId) {
        if id != wanted {
            self.0.push(ConfigProblem::ReservedId { key, id: id.0, wanted: wanted.0 });
        }
    }

    fn relative_bias(&mut self, bias: RelativeBias) {
        let RelativeBias { num_buckets: buckets, max_distance: distance } = bias;
        self.count("relative_attention_num_buckets", buckets, 4, MAX_BUCKETS);
        if buckets % 2 == 1 {
            self.0.push(ConfigProblem::OddBuckets(buckets));
        }
        self.count("relative_attention_max_distance", distance, 1, MAX_POSITIONS);
        if distance <= buckets / 2 {
            self.0.push(ConfigProblem::ShortDistance { distance, buckets });
        }
    }

    fn symbols(&mut self, symbols: &Symbols) {
        let size = symbols.vocab_size;
        self.count("vocab_size", size, FIRST_FREE_ID, MAX_VOCABULARY);
        self.count("padir.pieces", symbols.pieces, FIRST_FREE_ID, size.max(FIRST_FREE_ID));
        self.id("decoder_start_token_id", symbols.start.0, size);
        self.id("pad_token_id", symbols.pad.0, size);
        self.id("eos_token_id", symbols.eos.0, size);
        self.id("unk_token_id", symbols.unk.0, size);
        if let Some(mask) = symbols.mask {
            self.id("padir.mask_token_id", mask.0, size);
        }
        if let Some(length) = symbols.length {
            self.id("padir.length_token_id", length.0, size);
        }
        if let Some(blank) = symbols.blank {
            self.id("padir.blank_token_id", blank.0, size);
        }
        let (from, to) = (symbols.random.start, symbols.random.end);
        if from >= to {
            self.0.push(ConfigProblem::NothingRandom { from, to });
        } else {
            self.id("padir.random_to", to - 1, size);
        }
    }

    fn parallel(&mut self, parallel: &ParallelDecoder, symbols: &Symbols) {
        let positions = parallel.max_positions;
        self.count("padir.max_positions", positions, 1, MAX_POSITIONS);
        if let Some(classes) = parallel.length.classes() {
            self.count("padir.length.classes", classes, 1, MAX_CLASSES);
        }
        if let LengthPredictor::Pooled(pooled) = parallel.length {
            self.count("padir.length.queries", pooled.queries, 1, MAX_HEADS);
            self.count("padir.length.hidden", pooled.hidden, 1, MAX_WIDTH);
            self.count("padir.length.hidden_layers", pooled.hidden_layers, 1, MAX_LENGTH_LAYERS);
        }
        if let Some(classes) = parallel.length.longest()
            && parallel.has_positions()
            && classes > positions
        {
            self.0.push(ConfigProblem::LengthsBeyondPositions { classes, positions });
        }
        if parallel.length.has_token() && symbols.length.is_none() {
            let needed_by = "`padir.length.predictor` \"token\" or \"offset\"";
            self.0.push(ConfigProblem::NoId { key: "padir.length_token_id", needed_by });
        }
        if let LengthPredictor::Upsample { factor, min_slots } = parallel.length {
            self.alignment(factor, min_slots, parallel, symbols);
        }
        if parallel.initial == InitialTokens::Mask && symbols.mask.is_none() {
            let needed_by = "`padir.initial` \"mask\"";
            self.0.push(ConfigProblem::NoId { key: "padir.mask_token_id", needed_by });
        }
        if parallel.training == ParallelTraining::Disco
            && (parallel.positional_attention || !parallel.learned_positions)
        {
            self.0.push(ConfigProblem::DiscoPositions);
        }
        let masks = symbols.numbered_masks();
        let taken = symbols.length.is_some_and(|length| masks.contains(&length.0));
        if parallel.initial == InitialTokens::NumberedMask && (masks.is_empty() || taken) {
            self.0.push(ConfigProblem::NoNumberedMask);
        }
    }

    fn alignment(
        &mut self,
        factor: usize,
        min_slots: usize,
        parallel: &ParallelDecoder,
        symbols: &Symbols,
    ) {
        let needed_by = "`padir.length.predictor` \"upsample\"";
        self.count("padir.length.factor", factor, 1, MAX_UPSAMPLING);
        self.count("padir.length.min_slots", min_slots, 1, parallel.max_positions.max(1));
        for (key, id) in
            [("padir.blank_token_id", symbols.blank), ("padir.mask_token_id", symbols.mask)]
        {
            if id.is_none() {
                self.0.push(ConfigProblem::NoId { key, needed_by });
            }
        }
        if symbols.blank.is_some() && symbols.blank == symbols.mask {
            self.0.push(ConfigProblem::BlankIsMask);
        }
        if parallel.initial != InitialTokens::Mask {
            self.0.push(ConfigProblem::AlignmentStart);
        }
    }

    fn size(&mut self, parameters: u128) {
        if parameters > u128::from(MAX_PARAMETERS) {
            self.0.push(ConfigProblem::TooLarge { parameters });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Decoder, DecoderKind, PooledLength, Preset};
    use super::*;

    fn tiny() -> ModelConfig {
        ModelConfig::preset(Preset::Tiny, 300, DecoderKind::Parallel)
    }

    fn parallel(config: &mut ModelConfig) -> &mut ParallelDecoder {
        match &mut config.decoder {
            Decoder::Parallel(parallel) => parallel,
            Decoder::Causal => panic!("not parallel"),
        }
    }

    /// Makes it a CTC model.
    fn align(config: &mut ModelConfig, factor: usize, min_slots: usize) {
        config.symbols = config.symbols.clone().with_blank();
        parallel(config).length = LengthPredictor::Upsample { factor, min_slots };
        parallel(config).initial = InitialTokens::Mask;
    }

    #[test]
    fn each_fault_is_told_by_its_key() {
        type Spoil = fn(&mut ModelConfig);
        let cases: [(&str, Spoil); 28] = [
            ("`d_model` is 0", |c| c.d_model = 0),
            ("`d_kv` is 0", |c| c.d_kv = 0),
            ("`d_ff` is 2097152", |c| c.d_ff = 1 << 21),
            ("`num_layers` is 0", |c| c.num_layers = 0),
            ("`num_decoder_layers` is 5000", |c| c.num_decoder_layers = 5000),
            ("`num_heads` is 0", |c| c.num_heads = 0),
            ("`relative_attention_num_buckets` is 7", |c| c.relative_bias.num_buckets = 7),
            ("`relative_attention_max_distance` is 16", |c| c.relative_bias.max_distance = 16),
            ("`dropout_rate` is 1", |c| c.dropout_rate = 1.0),
            ("`dropout_rate` is NaN", |c| c.dropout_rate = f64::NAN),
            ("`layer_norm_epsilon` is 0", |c| c.layer_norm_epsilon = 0.0),
            ("`initializer_factor` is inf", |c| c.initializer_factor = f64::INFINITY),
            ("`padir.pieces` is 301", |c| c.symbols.pieces = 301),
            ("`padir.mask_token_id` is 300", |c| c.symbols.mask = Some(300.into())),
            ("`padir.length_token_id` is missing", |c| c.symbols.length = None),
            ("`padir.random_to` is 300, but", |c| c.symbols.random = 3..301),
            ("`padir.max_positions` is 0", |c| {
                parallel(c).length = LengthPredictor::Oracle;
                parallel(c).max_positions = 0;
            }),
            ("`padir.initial` is \"numbered-mask\"", |c| {
                parallel(c).initial = InitialTokens::NumberedMask;
                c.symbols.pieces = 298;
            }),
            ("`padir.objective` is \"disco\"", |c| {
                parallel(c).training = ParallelTraining::Disco;
            }),
            ("`padir.length.queries` is 0", |c| {
                parallel(c).length =
                    LengthPredictor::Pooled(PooledLength { queries: 0, ..PooledLength::default() });
            }),
            ("`padir.length.hidden_layers` is 9", |c| {
                let sizes = PooledLength { hidden_layers: 9, ..PooledLength::default() };
                parallel(c).length = LengthPredictor::Pooled(sizes);
            }),
            ("`padir.length.classes` is 300", |c| {
                let sizes =
                    PooledLength { classes: 300, relative: false, ..PooledLength::default() };
                parallel(c).length = LengthPredictor::Pooled(sizes);
            }),
            ("`padir.length.factor` is 0", |c| align(c, 0, 8)),
            ("`padir.length.min_slots` is 257", |c| align(c, 2, 257)),
            ("`padir.blank_token_id` is missing", |c| {
                align(c, 2, 8);
                c.symbols.blank = None;
            }),
            ("`padir.blank_token_id` and `padir.mask_token_id`", |c| {
                align(c, 2, 8);
                c.symbols.blank = c.symbols.mask;
            }),
            ("`padir.initial` must be \"mask\"", |c| {
                align(c, 2, 8);
                parallel(c).initial = InitialTokens::Random;
            }),
            ("`padir.length.classes` is 257", |c| {
                parallel(c).length = LengthPredictor::Token { classes: 257 };
            }),
        ];
        for (expected, spoil) in cases {
            let mut config = tiny();
            spoil(&mut config);
            let problems = config.validate().expect_err(expected);
            assert_eq!(problems.len(), 1, "{expected}: {problems:?}");
            assert!(problems[0].to_string().starts_with(expected), "{expected}: {}", problems[0]);
        }
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let mut config = tiny();
        config.d_model = 0;
        config.num_heads = 0;
        config.symbols.start = 999.into();
        parallel(&mut config).initial = InitialTokens::Mask;
        config.symbols.mask = None;
        assert_eq!(config.validate().unwrap_err().len(), 4);
    }

    #[test]
    fn absurd_sizes_do_not_overflow() {
        let mut config = tiny();
        let huge = usize::MAX;
        (config.d_model, config.d_ff, config.num_heads, config.d_kv) = (huge, huge, huge, huge);
        (config.num_layers, config.symbols.vocab_size) = (huge, huge);
        parallel(&mut config).length = LengthPredictor::Fertility { max_fertility: huge };
        let problems = config.validate().unwrap_err();
        assert!(matches!(problems.last(), Some(ConfigProblem::TooLarge { .. })), "{problems:?}");
    }

    #[test]
    fn each_size_may_be_allowed_and_their_product_not() {
        let mut config = tiny();
        (config.d_model, config.d_ff) = (1 << 17, 1 << 18);
        let problems = config.validate().unwrap_err();
        assert!(matches!(problems[..], [ConfigProblem::TooLarge { .. }]), "{problems:?}");
    }
}
