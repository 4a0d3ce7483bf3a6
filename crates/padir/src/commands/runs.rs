//! `padir runs`: training runs side by side, as a table or as curves.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use padir_base::file::write_atomically;
use padir_pipeline::numbers::{duration, short};
use padir_plot::{Axis, Corner, Figure, Panel, Series};
use padir_train::rundir::{Best, Summary, find};
use serde::Serialize;

use super::data::table::Table;
use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// List training runs, and plot their curves.
///
/// Shows the objective of each run, its steps, the best loss and BLEU of its dev set, the metric of model selection with its
/// best value and step, and its state. Directories are searched for runs below them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir runs
  padir runs runs/multi30k other/run-7
  padir runs runs --plot curves.svg --metric dev.bleu
  padir runs runs --plot curves.png --metric loss --against minutes
  padir runs --json | jq '.[] | {name, steps, best}'")]
pub(crate) struct Runs {
    /// Runs, or directories with runs below them.
    #[arg(value_name = "DIR", default_value = "runs")]
    directories: Vec<PathBuf>,

    /// Draw the curves of a metric to a .svg or .png file, and write its numbers to a .csv beside.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    force: Force,

    /// What to draw: dev.loss, dev.bleu, or a number of training such as loss
    /// [default: the metric the first run watches].
    #[arg(long, value_name = "NAME", requires = "plot")]
    metric: Option<String>,

    /// What to draw it against.
    #[arg(long, value_enum, default_value_t = Against::Steps, requires = "plot")]
    against: Against,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Against {
    /// Steps of the optimiser.
    Steps,
    /// Target tokens learnt from.
    Tokens,
    /// Minutes of training.
    Minutes,
}

/// A run and how the table calls it.
#[derive(Serialize)]
struct Listed {
    label: String,
    #[serde(flatten)]
    summary: Summary,
}

/// One point of a curve.
struct Point {
    step: u64,
    tokens: u64,
    minutes: f64,
    value: f64,
}

impl Runs {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        if let Some(path) = &self.plot {
            Places::default().writes([path, &path.with_extension("csv")]).check(self.force)?;
        }
        let runs = self.read(console)?;
        if let Some(path) = &self.plot {
            self.draw(console, path, &runs)?;
        }
        if console.wants_json() { console.print_json(&runs) } else { print(console, &runs) }
    }

    /// All runs that can be read; the others are told of.
    fn read(&self, console: &Console) -> Result<Vec<Listed>> {
        let mut runs = Vec::new();
        let mut seen = BTreeSet::new();
        for directory in &self.directories {
            let paths = find(directory).hint("name a run, or a directory with runs below it")?;
            for path in paths {
                if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
                    continue;
                }
                match Summary::read(&path) {
                    Ok(summary) => {
                        runs.push(Listed { label: label(directory, &summary), summary });
                    }
                    Err(error) => {
                        let error = anyhow::Error::from(error);
                        console.note(format!("left out {}: {error:#}", path.display()));
                    }
                }
            }
        }
        let searched: Vec<String> =
            self.directories.iter().map(|d| d.display().to_string()).collect();
        ensure!(!seen.is_empty(), "there are no runs in {}", searched.join(", "));
        Ok(runs)
    }

    fn draw(&self, console: &Console, path: &Path, runs: &[Listed]) -> Result<()> {
        let watched = || runs.iter().find_map(|run| Some(run.summary.metric.as_ref()?.to_string()));
        let metric = self.metric.clone().or_else(watched).unwrap_or_else(|| "loss".to_owned());
        let curves: Vec<(&str, Vec<Point>)> = runs
            .iter()
            .map(|run| (run.label.as_str(), curve(&run.summary, &metric)))
            .filter(|(_, points)| !points.is_empty())
            .collect();
        if curves.is_empty() {
            return Err(anyhow::anyhow!("no run has the metric {metric}"))
                .hint(format!("there are: {}", names(runs).join(", ")));
        }
        let axis = match self.against {
            Against::Steps => "steps",
            Against::Tokens => "target tokens",
            Against::Minutes => "minutes",
        };
        let mut panel =
            Panel::new(Axis::linear(axis), Axis::linear(&metric)).legend(Corner::Outside);
        for (label, points) in &curves {
            let points = points.iter().map(|point| (self.against.of(point), point.value));
            panel = panel.with(Series::line(*label, points));
        }
        let scene = Figure::divided(panel).draw();
        let picture = match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => scene.to_svg().into_bytes(),
            Some("png") => scene.to_png(2.0).context("cannot draw the figure")?,
            _ => bail!("{} is neither .svg nor .png", path.display()),
        };
        write_atomically(path, &picture)?;
        let numbers = path.with_extension("csv");
        write_atomically(&numbers, csv(&metric, &curves).as_bytes())?;
        console.note(format!("wrote {} and {}", path.display(), numbers.display()));
        Ok(())
    }
}

impl Against {
    fn of(self, point: &Point) -> f64 {
        match self {
            Self::Steps => point.step as f64,
            Self::Tokens => point.tokens as f64,
            Self::Minutes => point.minutes,
        }
    }
}

/// The path of a run below the directory that was asked for, or its name if it was itself.
fn label(directory: &Path, summary: &Summary) -> String {
    match summary.path.strip_prefix(directory) {
        Ok(below) if !below.as_os_str().is_empty() => below.display().to_string(),
        _ => summary.name.clone(),
    }
}

fn curve(summary: &Summary, metric: &str) -> Vec<Point> {
    let rows = summary.rows.iter().filter_map(|row| {
        let value = *row.values.get(metric)?;
        Some(Point { step: row.step, tokens: row.tokens, minutes: row.seconds / 60.0, value })
    });
    rows.filter(|point| point.value.is_finite()).collect()
}

/// Every metric that some run has.
fn names(runs: &[Listed]) -> Vec<String> {
    let rows = runs.iter().flat_map(|run| &run.summary.rows);
    let names: BTreeSet<&String> = rows.flat_map(|row| row.values.keys()).collect();
    names.into_iter().cloned().collect()
}

fn csv(metric: &str, curves: &[(&str, Vec<Point>)]) -> String {
    let head = format!("run,step,tokens,minutes,{}\n", cell(metric));
    let lines = curves.iter().flat_map(|(label, points)| {
        let line = |Point { step, tokens, minutes, value }: &Point| {
            format!("{},{step},{tokens},{minutes},{value}\n", cell(label))
        };
        points.iter().map(line)
    });
    std::iter::once(head).chain(lines).collect()
}

/// A cell of a CSV file, quoted if it must be (RFC 4180).
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn print(console: &Console, runs: &[Listed]) -> Result<()> {
    let mut table = Table::default();
    table.row([
        "run",
        "kind",
        "parameters",
        "steps",
        "tokens",
        "dev set",
        "best loss",
        "best BLEU",
        "selected by",
        "time",
        "state",
    ]);
    for Listed { label, summary } in runs {
        let set = summary.metric.as_ref().map(|metric| metric.set.as_str());
        let best = |measure: &str, digits: usize| {
            let name = format!("{}.{measure}", set?);
            summary.best.get(&name).map(|best| format!("{:.digits$}", best.value))
        };
        let dash = || "–".to_owned();
        let selected = summary.metric.as_ref().map(|metric| {
            let name = metric.to_string();
            match summary.best.get(&name) {
                Some(Best { value, step }) => format!("{name} {value:.2} at {step}"),
                None => name,
            }
        });
        table.row([
            label,
            &summary.kind.to_string(),
            &summary.parameters.map_or_else(dash, short),
            &summary.steps.to_string(),
            &short(summary.tokens),
            &set.map_or_else(dash, str::to_owned),
            &best("loss", 3).unwrap_or_else(dash),
            &best("bleu", 2).unwrap_or_else(dash),
            &selected.unwrap_or_else(dash),
            &duration(summary.seconds),
            &summary.state.to_string(),
        ]);
    }
    let mut out = console.out();
    table.write(&mut out)?;
    Ok(out.flush()?)
}
