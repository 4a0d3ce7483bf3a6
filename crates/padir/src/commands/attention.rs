//! `padir attention`: which target positions depend on each other, as the attention of a model sees it.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use padir_attention::{
    Condition, CrossTable, Difference, LayerReport, Moments, Pass, Report, SelfTable, Spreads,
    Study, StudyError, figure,
};
use padir_base::random::Seed;
use padir_translate::{Decoding, Segmentation, Text, abilities_of};
use serde::Serialize;

use super::arithmetic::Arithmetic;
use crate::console::Console;
use crate::hint::WithHint;
use crate::lines::TextFiles;
use crate::picture;
use crate::places::{Force, Places};

/// Sentences that are decoded together.
const BATCH: usize = 64;

/// Measure what adjacent target positions attend to.
///
/// Translates a text and compares adjacent positions that stutter (equal tokens) with all other adjacent positions: the self-attention between them and
/// the distance of their cross-attention, in the last decoder layer and the pass that predicted them. These are the two tables of the paper's last experiment.
/// Differences come with 95 % intervals (bootstrap over sentences), p-values (labels permuted within sentences) and AUCs; --json also has every layer, head
/// and refinement step, and pairs that flip: whose two tokens changed in one step.
///
/// Empty lines are skipped, and a sentence that occurs twice in a batch counts once. Autoregressive models are measured by forced decoding of their output;
/// their self-attention is causal, so only that of the later position to the earlier one exists.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir attention --model models/tatoeba-en-de test.en
  padir attention --model models/tatoeba-en-de --condition paper test.en
  padir attention --model models/tatoeba-en-de --json test.en.gz > attention.json
  padir attention --model models/tatoeba-en-de --plot attention.svg --lines 500 test.en")]
pub(crate) struct Attention {
    /// The model's directory.
    #[arg(long, short, value_name = "DIR")]
    model: PathBuf,

    #[command(flatten)]
    sources: TextFiles,

    /// How sentences are decoded: `stutter-left-alone` (neither remasked nor dropped) or `paper` (remasked after each step, dropped at the end; what was
    /// predicted before that is measured). Only refinement knows the difference.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "stutter-left-alone",
        help_heading = "Decoding"
    )]
    condition: Named,

    /// Most refinement steps.
    #[arg(long, value_name = "N", help_heading = "Decoding")]
    steps: Option<usize>,

    /// Change any other decoding setting; `padir translate --manual` lists them.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Decoding")]
    set: Vec<String>,

    #[command(flatten)]
    arithmetic: Arithmetic,

    /// Each line is one sentence, as in corpora.
    #[arg(long)]
    no_split: bool,

    /// Measure only the first N lines.
    #[arg(long, value_name = "N")]
    lines: Option<usize>,

    /// Resamples of each interval, and permutations of each test.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    resamples: u32,

    /// Seed of the resamples.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Draw distributions of both kinds of pairs and AUCs by layer: .svg, .pdf or .png.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

/// Conditions that can be asked for.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Named {
    StutterLeftAlone,
    Paper,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Record<'a> {
    model: String,
    decoding: &'a Decoding,
    #[serde(flatten)]
    report: &'a Report,
}

impl Attention {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        Places::default().reads(&self.sources.files).writes(&self.plot).check(self.force)?;
        self.plot.as_deref().map_or(Ok(()), picture::check)?;
        let mut translator = self.arithmetic.open(&self.model, console.threads())?;
        if self.no_split {
            translator.set_segmentation(Segmentation::Lines);
        }
        let steps = self.steps.map(|steps| format!("steps={steps}"));
        let changes: Vec<String> = steps.into_iter().chain(self.set.clone()).collect();
        let model = abilities_of(translator.config());
        translator.set_decoding(translator.decoding().with_assignments(&changes, &model)?)?;
        let condition = match self.condition {
            Named::StutterLeftAlone => Condition::StutterLeftAlone,
            Named::Paper => Condition::Paper,
        };
        let study = Study::new(&mut translator, condition);
        let is_ctc = matches!(study, Err(StudyError::Alignment));
        let mut study = if is_ctc {
            study.hint("the study is about models that predict words: refine, mask-predict, sundae, easy-first, gibbs, beam or sample")?
        } else {
            study?
        };
        if study.pass() == Pass::ForcedDecoding {
            console.note("an autoregressive model: self-attention is causal, so only that of the later position to the earlier one is reported");
        }
        let bar = console.progress("measuring", 0);
        let mut waiting: Vec<(u64, String)> = Vec::new();
        let mut number = 0;
        let mut measure = |study: &mut Study, waiting: &mut Vec<(u64, String)>| -> Result<()> {
            let texts: Vec<Text<'_>> =
                waiting.iter().map(|(number, text)| Text::new(*number, text)).collect();
            study.translate(&mut translator, &texts)?;
            bar.inc(waiting.len() as u64);
            waiting.clear();
            Ok(())
        };
        self.sources.for_each(|line| {
            number += 1;
            if self.lines.is_none_or(|most| number <= most as u64) {
                waiting.push((number, line.to_owned()));
            }
            if waiting.len() == BATCH { measure(&mut study, &mut waiting) } else { Ok(()) }
        })?;
        measure(&mut study, &mut waiting)?;
        bar.finish_and_clear();
        let report = Report::of(&study, self.resamples as usize, Seed(self.seed));
        if let Some(path) = &self.plot {
            let description = format!("padir attention --model {}", self.model.display());
            picture::write(path, &figure::study(&study, &report).described(description))?;
        }
        if report.beyond_memory > 0 {
            console.note(format!(
                "{} sentences were not measured: memory for pairs is full",
                report.beyond_memory
            ));
        }
        if console.wants_json() {
            let model = self.model.display().to_string();
            return console.print_json(&Record {
                model,
                decoding: translator.decoding(),
                report: &report,
            });
        }
        console.print(&tables(&report))
    }
}

/// A distance of the second table.
type Of = fn(&CrossTable) -> &Spreads;

/// The report for people.
fn tables(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_tables(&mut out, report);
    out
}

fn write_tables(out: &mut String, report: &Report) -> std::fmt::Result {
    let pass = match report.pass {
        Pass::LastStep => "the pass of the last step",
        Pass::Output => "a pass over the output",
        Pass::ForcedDecoding => "forced decoding of the output",
    };
    let condition = serde_json::to_value(report.condition).unwrap_or_default();
    let condition = condition.as_str().unwrap_or_default();
    writeln!(out, "condition: {condition} ({})", report.condition.meaning())?;
    let layer = report.layer.map_or_else(|| "none".to_owned(), |layer| layer.to_string());
    writeln!(out, "measured:  {pass}, decoder layer {layer} (the last, from 0)")?;
    let (stutter, other) = (&report.self_attention.stutter, &report.self_attention.other);
    writeln!(
        out,
        "sentences: {} ({} without a pair); pairs: {} stutter, {} other",
        report.sentences, report.without_pairs, stutter.pairs, other.pairs
    )?;
    if stutter.pairs == 0 || other.pairs == 0 {
        let kind = if stutter.pairs == 0 { "stuttering" } else { "other" };
        writeln!(out, "not enough {kind} pairs: there are none to compare with")?;
    }
    let directions = if report.causal { "later to earlier position" } else { "both directions" };
    writeln!(out, "\nself-attention between neighbours ({directions})")?;
    writeln!(
        out,
        "{:<9}{:>18}{:>18}{:>18}{:>9}{:>9}",
        "stutter", "min", "avg", "max", "top-1", "top-2"
    )?;
    for (name, table) in [("yes", stutter), ("no", other)] {
        let SelfTable { min, avg, max, top1, top2, .. } = table;
        write!(out, "{name:<9}")?;
        [min, avg, max]
            .into_iter()
            .try_for_each(|moments| write!(out, "{:>18}", shown(moments)))?;
        writeln!(out, "{:>9}{:>9}", share(*top1), share(*top2))?;
    }
    writeln!(out, "\ndistance of cross-attention between neighbours")?;
    let distances: [(&str, Of); 2] = [("tv", |table| &table.tv), ("cosine", |table| &table.cosine)];
    for (distance, of) in distances {
        writeln!(
            out,
            "{:<9}{:>18}{:>18}{:>18}{:>9}{:>9}",
            distance, "min", "avg", "max", "top-1", "top-2"
        )?;
        for (name, table) in [("yes", &report.cross.stutter), ("no", &report.cross.other)] {
            let spreads = of(table);
            write!(out, "{name:<9}")?;
            [&spreads.min, &spreads.avg, &spreads.max]
                .into_iter()
                .try_for_each(|moments| write!(out, "{:>18}", shown(moments)))?;
            writeln!(out, "{:>9}{:>9}", share(table.top1), share(table.top2))?;
        }
    }
    let resamples = report.resamples;
    writeln!(
        out,
        "\nstutter minus other ({resamples} resamples of sentences, {resamples} permutations)"
    )?;
    differences(out, &report.differences)?;
    let flips = &report.flips;
    if flips.flip + flips.other > 0 {
        writeln!(
            out,
            "\npairs that flip ({} of {}, all steps but the first) minus other",
            flips.flip,
            flips.flip + flips.other
        )?;
        differences(out, &flips.differences)?;
    }
    writeln!(
        out,
        "\nAUC for stutter by layer: self-attention, total variation, cosine distance (means of heads)"
    )?;
    for LayerReport { layer, self_attention, tv, cosine, .. } in &report.layers {
        let [a, b, c] = [self_attention, tv, cosine].map(|contrast| share(contrast.auc));
        writeln!(out, "layer {layer:<3}{a:>9}{b:>9}{c:>9}")?;
    }
    Ok(())
}

fn differences(out: &mut String, all: &[Difference]) -> std::fmt::Result {
    writeln!(
        out,
        "{:<18}{:>10}{:>24}{:>9}{:>9}",
        "quantity", "difference", "95 % interval", "p", "AUC"
    )?;
    for one in all {
        let difference =
            one.difference.map_or_else(|| "not enough".to_owned(), |d| format!("{d:+.4}"));
        let interval = one.interval.map_or_else(
            || "not enough".to_owned(),
            |i| format!("[{:+.4}, {:+.4}]", i.low, i.high),
        );
        let p = one.p.map_or_else(|| "–".to_owned(), |p| format!("{p:.3}"));
        writeln!(
            out,
            "{:<18}{difference:>10}{interval:>24}{p:>9}{:>9}",
            one.quantity,
            share(one.auc)
        )?;
    }
    Ok(())
}

fn shown(moments: &Moments) -> String {
    match (moments.mean, moments.sd) {
        (Some(mean), Some(sd)) => format!("{mean:.4} ± {sd:.4}"),
        _ => "not enough".to_owned(),
    }
}

fn share(number: Option<f64>) -> String {
    number.map_or_else(|| "–".to_owned(), |number| format!("{number:.3}"))
}
