//! What no section can know alone: whether settings fit each other and the vocabulary.

use padir_checkpoint::{ConfigProblem, InitialTokens, ModelConfig};
use padir_text::shard::ShardSet;
use padir_text::vocab::Vocabulary;

use super::section::{Files, Report};
use super::{Config, LengthSettings, Objective, TrainData};

/// Notes everything that does not fit together.
pub(super) fn check(config: &Config, report: &Report) {
    check_end(config, report);
    check_metric(config, report);
    check_lengths(config, report);
    check_start(config, report);
    check_noise(config, report);
    check_alignment(config, report);
    if report.files == Files::Required && config.data.vocabulary.is_file() {
        match Vocabulary::load(&config.data.vocabulary) {
            Ok(vocabulary) => {
                check_vocabulary(config, &vocabulary, report);
                check_shards(config, &vocabulary, report);
            }
            Err(error) => {
                report.complain("data.vocabulary", with_cause(&error));
            }
        }
    } else {
        // Any vocabulary shows whether the shape is possible.
        check_model(&config.model.to_config(32_100, 32_000), report);
    }
}

fn with_cause(error: &dyn std::error::Error) -> String {
    let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

fn check_end(config: &Config, report: &Report) {
    let run = &config.run;
    let endless = run.max_steps == 0 && run.max_minutes == 0.0 && run.max_epochs == 0;
    if endless && run.patience == 0 {
        report.complain(
            "run.max_steps",
            "nothing ends the run: set `run.max_steps`, `run.max_minutes`, `run.max_epochs` or \
             `run.patience`",
        );
    }
}

fn check_metric(config: &Config, report: &Report) {
    let run = &config.run;
    match &run.metric {
        None if run.patience > 0 => {
            report.complain("run.patience", "`run.patience` is set, but there is no dev set");
        }
        Some(metric) if !config.data.dev.contains_key(&metric.set) => report.complain(
            "run.metric",
            format!("`run.metric` is \"{metric}\", but there is no `data.dev.{}`", metric.set),
        ),
        Some(metric) if metric.measure.needs_decoding() && run.decode.lines == 0 => report
            .complain(
                "run.metric",
                format!("`run.metric` is \"{metric}\", but `run.decode.lines` is 0"),
            ),
        Some(metric) if metric.measure.needs_lengths() && !config.model.predicts_lengths() => {
            report.complain(
                "run.metric",
                format!("`run.metric` is \"{metric}\", but this model predicts no lengths"),
            );
        }
        _ => {}
    }
}

fn check_lengths(config: &Config, report: &Report) {
    let batch = &config.batch;
    if u32::from(batch.max_target).max(batch.max_source.into()) > batch.tokens {
        report.complain(
            "batch.tokens",
            format!(
                "`batch.tokens` is {}, too few for a sentence of `max_source` or `max_target`",
                batch.tokens
            ),
        );
    }
    let Some(parallel) = config.model.parallel else { return };
    let longest = usize::from(batch.max_target);
    if parallel.length.longest().is_some_and(|classes| classes < longest) {
        report.complain(
            "batch.max_target",
            format!(
                "`batch.max_target` is {longest}, but the longest length that \
                 `model.length.classes` predicts is shorter"
            ),
        );
    }
    let has_positions = parallel.positional_attention || parallel.learned_positions;
    let slots = config.model.is_alignment();
    if has_positions && !slots && parallel.max_positions < longest {
        report.complain(
            "batch.max_target",
            format!(
                "`batch.max_target` is {longest}, but `model.max_positions` is {}",
                parallel.max_positions
            ),
        );
    }
}

/// What decoding starts from must have been seen.
fn check_start(config: &Config, report: &Report) {
    let (Some(parallel), kind) = (config.model.parallel, &config.objective.kind) else { return };
    let from_masks = parallel.initial != InitialTokens::Random;
    if from_masks && matches!(kind, Objective::Sundae(_)) {
        report.complain(
            "model.initial",
            "decoding is to start from masks, but the objective \"sundae\" makes none: leave `initial` at \"random\"",
        );
    } else if !from_masks && parallel.training.starts_from_masks() {
        let name = kind.name();
        report.complain(
            "model.initial",
            format!(
                "decoding is to start from random tokens, but the objective \"{name}\" shows none: use \"mask\" or \
                 \"numbered-mask\""
            ),
        );
    } else if from_masks && !kind.masks() {
        report.complain(
            "model.initial",
            "decoding is to start from masks, but `objective.corruption` makes none: lower its \
             `random_prob`, and what is neither kept nor random is masked",
        );
    }
}

/// Alignments belong to one objective, and must have room for targets.
fn check_alignment(config: &Config, report: &Report) {
    let is_ctc = matches!(config.objective.kind, Objective::Ctc(_));
    let Some(parallel) = config.model.parallel else { return };
    let LengthSettings::Upsample { factor, min_slots } = parallel.length else {
        if is_ctc {
            report.complain(
                "model.length.predictor",
                "the objective \"ctc\" predicts no lengths: `model.length.predictor` must be \"upsample\"",
            );
        }
        return;
    };
    if !is_ctc {
        report.complain(
            "model.length.predictor",
            "`model.length.predictor` is \"upsample\", which only the objective \"ctc\" can train",
        );
    }
    let most = usize::from(config.batch.max_source).saturating_mul(factor).max(min_slots);
    if most > parallel.max_positions {
        report.complain(
            "model.max_positions",
            format!(
                "`batch.max_source` is {}, which makes {most} slots, but `model.max_positions` is {}",
                config.batch.max_source, parallel.max_positions
            ),
        );
    }
}

/// A law that needs what no training has, or hides more than there is, is impossible for every target.
fn check_noise(config: &Config, report: &Report) {
    let Objective::Padir(padir) = &config.objective.kind else { return };
    // The end of a target is never under noise.
    let longest = usize::from(config.batch.max_target).saturating_sub(1);
    if let Err(error) = padir.corruption.noise.check(longest) {
        report.complain(
            "objective.corruption.noise",
            format!(
                "`objective.corruption.noise` is impossible for targets of up to {longest} tokens: {error}"
            ),
        );
    }
}

fn check_vocabulary(config: &Config, vocabulary: &Vocabulary, report: &Report) {
    let size = vocabulary.size();
    if !vocabulary.has_house_ids() {
        report.complain(
            "data.vocabulary",
            format!(
                "the vocabulary {} does not have padding, end, unknown and beginning as ids 0 to 3",
                config.data.vocabulary.display()
            ),
        );
    }
    let rows = config.model.vocab_size;
    if rows != 0 && rows < size {
        report.complain(
            "model.vocab_size",
            format!("`model.vocab_size` is {rows}, but the vocabulary has {size} ids"),
        );
    }
    if config.objective.kind.masks() && vocabulary.mask().is_none() {
        let key = match config.objective.kind {
            Objective::Padir(_) => "objective.corruption",
            _ => "objective.kind",
        };
        report.complain(key, "some tokens become MASK, for which the vocabulary has no sentinel");
    }
    check_model(&config.model_config(vocabulary), report);
}

/// Shards must have been encoded with the vocabulary.
fn check_shards(config: &Config, vocabulary: &Vocabulary, report: &Report) {
    let TrainData::Shards { shards } = &config.data.train else { return };
    if !shards.is_dir() {
        return;
    }
    let opened = ShardSet::open(shards).and_then(|set| set.require_vocabulary(vocabulary));
    if let Err(error) = opened {
        report.complain("data.train.shards", with_cause(&error));
    }
}

fn check_model(model: &ModelConfig, report: &Report) {
    for problem in model.validate().err().unwrap_or_default() {
        let key = match &problem {
            ConfigProblem::Count { key, .. }
            | ConfigProblem::Real { key, .. }
            | ConfigProblem::Heads { key, .. }
            | ConfigProblem::ReservedId { key, .. }
            | ConfigProblem::Id { key, .. }
            | ConfigProblem::NoId { key, .. } => key,
            ConfigProblem::OddBuckets(_) => "relative_attention_num_buckets",
            ConfigProblem::ShortDistance { .. } => "relative_attention_max_distance",
            ConfigProblem::LengthsBeyondPositions { .. } => "padir.length.classes",
            ConfigProblem::NoNumberedMask | ConfigProblem::AlignmentStart => "padir.initial",
            ConfigProblem::DiscoPositions => "padir.learned_positions",
            ConfigProblem::ParallelMarian
            | ConfigProblem::BlankIsMask
            | ConfigProblem::NothingRandom { .. }
            | ConfigProblem::TooLarge { .. } => "",
        };
        let key = format!("model.{}", key.trim_start_matches("padir."));
        let message = problem.to_string().replace("`padir.", "`");
        report.complain(key.trim_end_matches('.'), message);
    }
}
