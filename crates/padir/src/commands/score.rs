//! `padir score`: how good are these outputs, and how sure is that?

mod habits;
mod lines;
mod metrics;
mod print;

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use padir_score::{Bootstrap, Comparison, DEFAULT_SEED, PairedTest, References, measure};
use padir_text::input::{display_name, is_stdin};

use super::misfit::note_misfit;
use crate::console::Console;
use crate::hint::WithHint;
pub(crate) use habits::accept as accept_habits;
use lines::{Text, read_all};
use metrics::{MetricName, MetricOptions};
use print::{Layout, Measured};

/// Score translations against references: BLEU, chrF, TER, stutter and more.
///
/// Numbers, signatures and JSON keys are those of sacrebleu.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir score ref.de out.de
  padir score ref.de out.de --metrics bleu,chrf,ter,stutter --confidence
  padir score ref.zh.gz out.zh --tokenize zh --json
  padir score ref1.de --ref ref2.de out.de --sentence > per-segment.txt
  padir score ref.de baseline.de new.de newer.de --paired bs --metrics bleu,chrf
  padir score ref.zh -i out.zh -l en-zh -m bleu chrf -lc    # as sacrebleu is used to it
  translate < src.en | padir score ref.de -")]
pub(crate) struct Score {
    /// References, one segment per line; plain, gzip, zstd or xz; `-` is stdin.
    #[arg(value_name = "REF")]
    reference: PathBuf,

    /// Outputs to score, one file for each system [default: stdin].
    #[arg(value_name = "HYP")]
    hypotheses: Vec<PathBuf>,

    /// Outputs to score; then all files before are references, as for sacrebleu.
    #[arg(long, short, value_name = "HYP", num_args = 1..)]
    input: Vec<PathBuf>,

    /// Another file of references; may be given again.
    #[arg(long = "ref", short = 'r', value_name = "FILE")]
    more_references: Vec<PathBuf>,

    /// REF holds this many references on each line, between tabs.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "more_references")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    num_refs: u16,

    /// What to measure, between commas.
    #[arg(long, short, value_enum, value_delimiter = ',', default_value = "bleu")]
    metrics: Vec<MetricName>,

    /// Score each segment instead of the whole.
    #[arg(long, conflicts_with_all = ["confidence", "paired"])]
    sentence: bool,

    #[command(flatten)]
    options: MetricOptions,

    #[command(flatten)]
    significance: SignificanceOptions,

    #[command(flatten)]
    layout: Layout,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Significance")]
struct SignificanceOptions {
    /// Estimate 95 % confidence intervals by bootstrap.
    #[arg(long)]
    confidence: bool,

    /// Compare every system with the first: paired bootstrap or approximate randomisation.
    #[arg(long, value_enum, value_name = "TEST")]
    paired: Option<Paired>,

    /// Bootstrap samples or randomisation trials [default: 1000, for `ar` 10000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    samples: Option<u32>,

    /// Seed of the samples; the same seed draws the same segments as sacrebleu does.
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Paired {
    /// Paired bootstrap resampling.
    Bs,
    /// Approximate randomisation.
    Ar,
}

impl SignificanceOptions {
    fn bootstrap(&self) -> Option<Bootstrap> {
        let samples = self.samples.unwrap_or(Bootstrap::default().samples);
        self.confidence.then_some(Bootstrap { samples, seed: self.seed })
    }

    fn comparison(&self) -> Option<Comparison> {
        let test = match self.paired? {
            Paired::Bs => PairedTest::Bootstrap,
            Paired::Ar => PairedTest::Randomization,
        };
        let samples = self.samples.unwrap_or(test.usual_samples());
        let wants_intervals = self.confidence && test == PairedTest::Randomization;
        let interval_samples = wants_intervals.then_some(Bootstrap::default().samples);
        Some(Comparison { test, samples, seed: self.seed, interval_samples })
    }
}

impl Score {
    pub(crate) fn run(mut self, console: &Console) -> Result<()> {
        self.settle_inputs()?;
        self.settle_systems(console)?;
        let metrics = self.options.metrics(&self.metrics, self.sentence)?;
        let paths: Vec<PathBuf> = std::iter::once(&self.reference)
            .chain(&self.more_references)
            .chain(&self.hypotheses)
            .cloned()
            .collect();
        let texts = read_all(&paths)?;
        let (reference_texts, system_texts) = texts.split_at(1 + self.more_references.len());
        let streams = self.reference_streams(reference_texts)?;
        let systems: Vec<Vec<&str>> = system_texts.iter().map(Text::lines).collect();
        check_lengths(&texts, &streams, &systems)?;
        warn_of_oddities(console, &texts, &systems, self.options.scores_tokenized_text());
        if self.metrics.iter().any(|metric| metric.cuts_into_words()) {
            let references = streams.iter().flatten().copied();
            note_misfit(console, &texts[0].name, references, self.options.tokenizer()?);
        }
        let references = References::new(&streams)?;
        let measured = metrics
            .iter()
            .map(|metric| {
                let statistics = measure(&**metric, &references, &systems)?;
                Ok(Measured { metric: &**metric, statistics })
            })
            .collect::<Result<Vec<Measured<'_>>>>()?;
        let names = self.system_names();
        self.print(console, &names, &references, measured)
    }

    fn print(
        &self,
        console: &Console,
        names: &[String],
        references: &References<'_>,
        mut measured: Vec<Measured<'_>>,
    ) -> Result<()> {
        let page = print::Page { console, layout: &self.layout, names, count: references.count() };
        if self.sentence {
            return page.sentences(&measured);
        }
        if let Some(comparison) = self.significance.comparison() {
            return page.comparison(&comparison, &measured);
        }
        // sacrebleu sorts metrics by name, except in paired tests.
        measured.sort_by_key(|m| m.metric.name().to_uppercase());
        let bootstrap = self.significance.bootstrap();
        if names.len() == 1 {
            page.one_system(&measured, bootstrap)
        } else {
            page.systems(&measured, bootstrap)
        }
    }

    /// With `--input`, what stands in the place of outputs are references.
    fn settle_inputs(&mut self) -> Result<()> {
        if self.input.is_empty() {
            return Ok(());
        }
        let references = std::mem::replace(&mut self.hypotheses, std::mem::take(&mut self.input));
        ensure!(
            references.is_empty() || self.num_refs == 1,
            "--num-refs {} is about one file of references; there are more",
            self.num_refs
        );
        self.more_references.splice(..0, references);
        Ok(())
    }

    /// Fills in stdin, refuses to read it twice, and refuses systems of the same name.
    fn settle_systems(&mut self, console: &Console) -> Result<()> {
        if self.hypotheses.is_empty() {
            self.hypotheses.push(PathBuf::from("-"));
        }
        let all = std::iter::once(&self.reference).chain(&self.more_references);
        let from_stdin = all.chain(&self.hypotheses).filter(|path| is_stdin(path)).count();
        ensure!(from_stdin <= 1, "only one of the files can be read from stdin");
        let mut seen: Vec<PathBuf> = Vec::new();
        for path in std::mem::take(&mut self.hypotheses) {
            let name = display_name(&path);
            if !seen.contains(&path) {
                seen.push(path);
            } else if self.significance.paired.is_some() && path == seen[0] {
                console.note(format_args!("{name} is the baseline; its second mention is ignored"));
            } else {
                bail!("{name} is given twice");
            }
        }
        self.hypotheses = seen;
        if self.significance.paired.is_some() && self.hypotheses.len() < 2 {
            return Err(anyhow::anyhow!("a paired test needs two systems, there is one"))
                .hint("name the baseline first and the other systems after it");
        }
        Ok(())
    }

    fn system_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.hypotheses.iter().map(|p| display_name(p)).collect();
        if self.significance.paired.is_some() {
            names[0] = format!("Baseline: {}", names[0]);
        }
        names
    }

    /// One stream for each reference file, or for each column of the only one.
    fn reference_streams<'t>(&self, texts: &'t [Text]) -> Result<Vec<Vec<&'t str>>> {
        if self.num_refs == 1 {
            return Ok(texts.iter().map(Text::lines).collect());
        }
        let columns = usize::from(self.num_refs);
        let mut streams = vec![Vec::new(); columns];
        for (index, line) in texts[0].lines().into_iter().enumerate() {
            let fields: Vec<&str> = line.splitn(columns, '\t').collect();
            if fields.len() != columns {
                let (name, line) = (&texts[0].name, index + 1);
                let found = fields.len();
                bail!("{name}, line {line}: expected {columns} references, found {found}");
            }
            streams.iter_mut().zip(fields).for_each(|(stream, field)| stream.push(field));
        }
        Ok(streams)
    }
}

/// Every file must have as many lines as the first.
fn check_lengths(texts: &[Text], streams: &[Vec<&str>], systems: &[Vec<&str>]) -> Result<()> {
    let references = texts.len() - systems.len();
    let lengths = streams[..references.min(streams.len())].iter().chain(systems).map(Vec::len);
    let expected = streams[0].len();
    for (text, found) in texts.iter().zip(lengths) {
        if found != expected {
            let first = &texts[0].name;
            let name = &text.name;
            return Err(anyhow::anyhow!("{first} has {expected} lines, but {name} has {found}"))
                .hint("line n of every file must belong to the same segment");
        }
    }
    ensure!(expected > 0, "{} is empty: there is nothing to score", texts[0].name);
    Ok(())
}

/// Says what is legal but probably not meant.
fn warn_of_oddities(console: &Console, texts: &[Text], systems: &[Vec<&str>], is_tokenized: bool) {
    for text in texts.iter().filter(|text| text.starts_with_bom()) {
        console.note(format_args!(
            "note: {} begins with a byte order mark, which counts as a character of its first line",
            text.name
        ));
    }
    let names = texts[texts.len() - systems.len()..].iter().map(|text| &text.name);
    for (name, system) in names.zip(systems).filter(|_| !is_tokenized) {
        let count = system.iter().filter(|line| line.ends_with(" .")).count();
        if count >= 100 {
            console.note(format_args!(
                "note: {count} lines of {name} end in a separate period; \
                 BLEU is comparable only on text that is not tokenised"
            ));
        }
    }
}
