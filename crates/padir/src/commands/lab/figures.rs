//! `padir lab figures`: the paper's figures, and those the theory asks for.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use padir_base::file::AtomicFile;
use padir_lab::data::write_csv;
use padir_lab::figure::{self, Drawing, ErrorSettings, HittingSettings, estimation_error};
use serde::Serialize;

use crate::console::Console;
use crate::places::{Force, Places};

/// Draw the figures: SVG and PNG, with their numbers as CSV and the command that made them.
///
/// error-flat and error-peaky are the paper's first figure, hitting its second; variance, gap,
/// parallel and slack show what the theory says about them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab figures --out figures
  padir lab figures hitting gap --out figures --repeats 50
  padir lab figures --out figures --dpi 600 --json")]
pub(crate) struct Figures {
    /// Which figures [default: all].
    #[arg(value_enum)]
    names: Vec<Name>,

    /// The directory to write to; it is made if it does not exist.
    #[arg(long, value_name = "DIR", default_value = "figures")]
    out: PathBuf,

    /// Repetitions of simulations and fits.
    #[arg(long, value_name = "R", default_value_t = 10)]
    repeats: usize,

    /// The budget of a simulated chain, in steps.
    #[arg(long, value_name = "STEPS", default_value_t = 1000)]
    budget: u64,

    /// The seed.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,

    /// The resolution of the PNG.
    #[arg(long, value_name = "DPI", default_value_t = 200.0)]
    dpi: f64,

    #[command(flatten)]
    force: Force,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Name {
    /// Squared error against n, J = 0.05.
    ErrorFlat,
    /// Squared error against n, J = 0.3.
    ErrorPeaky,
    /// Steps from R₋₁ to R₁ against J.
    Hitting,
    /// tr Γᵏ against k with its bound.
    Variance,
    /// The spectral gap against k.
    Gap,
    /// The stationary law of independent parallel beside p.
    Parallel,
    /// The slack of the bounds.
    Slack,
}

const ALL: [Name; 7] = [
    Name::ErrorFlat,
    Name::ErrorPeaky,
    Name::Hitting,
    Name::Variance,
    Name::Gap,
    Name::Parallel,
    Name::Slack,
];

#[derive(Serialize)]
struct Made {
    name: String,
    svg: PathBuf,
    png: PathBuf,
    csv: PathBuf,
}

impl Figures {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        ensure!(self.repeats > 0, "--repeats 0 leaves nothing to average");
        ensure!(
            (30.0..=2400.0).contains(&self.dpi),
            "--dpi {} is not between 30 and 2400",
            self.dpi
        );
        let names = if self.names.is_empty() { ALL.to_vec() } else { self.names.clone() };
        let stems = names.iter().filter_map(clap::ValueEnum::to_possible_value);
        let file = |stem: &str, form| self.out.join(format!("{stem}.{form}"));
        let files =
            stems.flat_map(|stem| ["svg", "png", "csv"].map(|form| file(stem.get_name(), form)));
        Places::default().writes(files).check(self.force)?;
        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("cannot make {}", self.out.display()))?;
        let mut made = Vec::new();
        for name in names {
            let drawing = self.draw(console, name)?;
            made.push(self.save(&drawing)?);
        }
        if console.wants_json() {
            return console.print_json(&made);
        }
        let mut out = console.out();
        for figure in &made {
            writeln!(out, "{}", figure.svg.display())?;
            writeln!(out, "{}", figure.png.display())?;
            writeln!(out, "{}", figure.csv.display())?;
        }
        Ok(out.flush()?)
    }

    fn draw(&self, console: &Console, name: Name) -> Result<Drawing> {
        let error = |name: &str, coupling: f64| -> Result<Drawing> {
            let sizes = vec![100, 200, 500, 1000, 2000, 5000, 10_000, 20_000];
            let progress = console.progress("Fitting", (sizes.len() * self.repeats) as u64);
            let settings = ErrorSettings {
                name: name.to_owned(),
                sites: 4,
                coupling,
                sizes,
                repeats: self.repeats,
                seed: self.seed,
            };
            let drawing = estimation_error(&settings, || progress.inc(1))?;
            progress.finish_and_clear();
            Ok(drawing)
        };
        Ok(match name {
            Name::ErrorFlat => error("error-flat", 0.05)?,
            Name::ErrorPeaky => error("error-peaky", 0.3)?,
            Name::Hitting => self.hitting(console)?,
            Name::Variance => figure::variance(6, [0.05, 0.2])?,
            Name::Gap => figure::gap(8, &[0.0, 0.1, 0.2, 0.4, 0.8])?,
            Name::Parallel => figure::parallel(6, 0.05, [0.1, 0.4])?,
            Name::Slack => figure::slack()?,
        })
    }

    /// At J ≤ 2 independent parallel does reach R₁; the grid shows where that ends.
    fn hitting(&self, console: &Console) -> Result<Drawing> {
        let simulated: Vec<f64> = (0..=16).map(|i| f64::from(i) * 0.5).collect();
        let progress = console.progress("Simulating", simulated.len() as u64 * 11);
        let settings = HittingSettings {
            sites: 10,
            clique: 4,
            field: 5.0,
            couplings: (0..=160).map(|i| f64::from(i) * 0.05).collect(),
            simulated,
            budget: self.budget,
            repeats: self.repeats,
            seed: self.seed,
        };
        let drawing = figure::hitting(&settings, || progress.inc(1))?;
        progress.finish_and_clear();
        Ok(drawing)
    }

    fn save(&self, drawing: &Drawing) -> Result<Made> {
        let path = |extension: &str| self.out.join(format!("{}.{extension}", drawing.name));
        let command = format!(
            "padir lab figures {} --repeats {} --budget {} --seed {}",
            drawing.name, self.repeats, self.budget, self.seed
        );
        let scene = drawing.figure.draw().described(format!("made by: {command}"));
        write(&path("svg"), scene.to_svg().as_bytes())?;
        write(&path("png"), &scene.to_png(self.dpi / 72.0)?)?;
        let cell = |v: &f64| if v.is_nan() { String::new() } else { format!("{v:?}") };
        let rows = drawing.rows.iter().map(|row| row.iter().map(cell).collect());
        write_csv(&path("csv"), &[command], &drawing.columns, rows)?;
        Ok(Made {
            name: drawing.name.clone(),
            svg: path("svg"),
            png: path("png"),
            csv: path("csv"),
        })
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    Ok(file.commit()?)
}
