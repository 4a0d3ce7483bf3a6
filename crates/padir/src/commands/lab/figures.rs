//! `padir lab figures`: the paper's figures, and those the theory asks for.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use padir_base::file::AtomicFile;
use padir_lab::data::write_csv;
use padir_lab::figure::{self, Drawing, ErrorSettings, HittingSettings, estimation_error};
use serde::Serialize;

use super::output::print_report;
use crate::console::Console;
use crate::places::{Force, Places};

/// Draw the figures: SVG, PDF and PNG, with their numbers as CSV, a caption, and the command that made them.
///
/// error-flat and error-peaky are the paper's first figure, hitting its second; variance, gap,
/// parallel and slack show what the theory says about them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab figures --out figures
  padir lab figures hitting gap --out figures --repeats 50
  padir lab figures hitting --n 8 --clique 3 --h 2
  padir lab figures error-peaky --n 5 --j 0.2
  padir lab figures --out figures --dpi 600 --json")]
pub(crate) struct Figures {
    /// Which figures [default: all].
    #[arg(value_enum)]
    names: Vec<Name>,

    /// The directory to write to; it is made if it does not exist.
    #[arg(long, value_name = "DIR", default_value = "figures")]
    out: PathBuf,

    /// The number of spins N [default: each figure's own].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=12), allow_negative_numbers = true)]
    n: Option<u64>,

    /// The size of the clique, in hitting.
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u64).range(2..=12), allow_negative_numbers = true)]
    clique: Option<u64>,

    /// The field, in hitting and parallel.
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    h: Option<f64>,

    /// The couplings: one for error-flat and error-peaky, any number for variance, gap and parallel; of
    /// hitting, the largest.
    #[arg(long, value_name = "J,…", value_delimiter = ',', allow_negative_numbers = true)]
    j: Vec<f64>,

    /// Repetitions of simulations and fits.
    #[arg(long, value_name = "R", default_value_t = 10, allow_negative_numbers = true)]
    repeats: usize,

    /// The budget of a simulated chain, in steps.
    #[arg(long, value_name = "STEPS", default_value_t = 1000, allow_negative_numbers = true)]
    budget: u64,

    /// The seed.
    #[arg(long, value_name = "SEED", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,

    /// The resolution of the PNG.
    #[arg(long, value_name = "DPI", default_value_t = 200.0, allow_negative_numbers = true)]
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
struct Report {
    figures: Vec<Made>,
}

/// The files of a figure.
#[derive(Serialize)]
pub(super) struct Made {
    name: String,
    pub(super) svg: PathBuf,
    pdf: PathBuf,
    png: PathBuf,
    csv: PathBuf,
    caption: PathBuf,
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
        let files = stems.flat_map(|stem| {
            ["svg", "pdf", "png", "csv", "txt"].map(|form| file(stem.get_name(), form))
        });
        Places::default().writes(files).check(self.force)?;
        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("cannot make {}", self.out.display()))?;
        let mut made = Vec::new();
        for name in names {
            let drawing = self.draw(console, name)?;
            let command = self.command(&drawing.name);
            made.push(save(&drawing, &self.out, &command, self.dpi)?);
        }
        if console.wants_json() {
            return print_report(console, None, &Report { figures: made });
        }
        let mut out = console.out();
        for figure in &made {
            writeln!(out, "{}", figure.svg.display())?;
            writeln!(out, "{}", figure.pdf.display())?;
            writeln!(out, "{}", figure.png.display())?;
            writeln!(out, "{}", figure.csv.display())?;
            writeln!(out, "{}", figure.caption.display())?;
        }
        Ok(out.flush()?)
    }

    fn draw(&self, console: &Console, name: Name) -> Result<Drawing> {
        let error = |name: &str, coupling: f64| -> Result<Drawing> {
            let sizes = vec![100, 200, 500, 1000, 2000, 5000, 10_000, 20_000];
            let progress = console.progress("Fitting", (sizes.len() * self.repeats) as u64);
            let settings = ErrorSettings {
                name: name.to_owned(),
                sites: self.sites(4),
                coupling: self.j.first().copied().unwrap_or(coupling),
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
            Name::Variance => figure::variance(self.sites(6), self.couplings(&[0.05, 0.2]))?,
            Name::Gap => figure::gap(self.sites(8), self.couplings(&[0.0, 0.1, 0.2, 0.4, 0.8]))?,
            Name::Parallel => figure::parallel(
                self.sites(6),
                self.h.unwrap_or(0.05),
                self.couplings(&[0.1, 0.4]),
            )?,
            Name::Slack => figure::slack()?,
        })
    }

    fn sites(&self, usual: usize) -> usize {
        self.n.map_or(usual, |n| n as usize)
    }

    fn couplings<'a>(&'a self, usual: &'a [f64]) -> &'a [f64] {
        if self.j.is_empty() { usual } else { &self.j }
    }

    /// At J ≤ 2 independent parallel does reach R₁; the grid shows where that ends.
    fn hitting(&self, console: &Console) -> Result<Drawing> {
        let last = self.j.first().copied().unwrap_or(8.0);
        ensure!(last.is_finite() && last > 0.0, "--j {last} is not a positive coupling");
        let sites = self.sites(10);
        let simulated: Vec<f64> = (0..=16).map(|i| f64::from(i) * last / 16.0).collect();
        let progress = console.progress("Simulating", (simulated.len() * (sites + 1)) as u64);
        let settings = HittingSettings {
            sites,
            clique: self.clique.map_or(4, |c| c as usize),
            field: self.h.unwrap_or(5.0),
            couplings: (0..=160).map(|i| f64::from(i) * last / 160.0).collect(),
            simulated,
            budget: self.budget,
            repeats: self.repeats,
            seed: self.seed,
        };
        let drawing = figure::hitting(&settings, || progress.inc(1))?;
        progress.finish_and_clear();
        Ok(drawing)
    }

    /// The command that makes one figure again.
    fn command(&self, name: &str) -> String {
        let mut command = format!(
            "padir lab figures {name} --repeats {} --budget {} --seed {}",
            self.repeats, self.budget, self.seed
        );
        let joined = self.j.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let own = [
            self.n.map(|n| format!(" --n {n}")),
            self.clique.map(|c| format!(" --clique {c}")),
            self.h.map(|h| format!(" --h {h}")),
            (!self.j.is_empty()).then(|| format!(" --j {joined}")),
        ];
        own.into_iter().flatten().for_each(|part| command.push_str(&part));
        command
    }
}

/// Writes a figure in all its forms, with the command that made it.
pub(super) fn save(drawing: &Drawing, out: &Path, command: &str, dpi: f64) -> Result<Made> {
    let path = |extension: &str| out.join(format!("{}.{extension}", drawing.name));
    let scene = drawing.figure.draw().described(format!("made by: {command}"));
    write(&path("svg"), scene.to_svg().as_bytes())?;
    write(&path("pdf"), &scene.to_pdf())?;
    write(&path("png"), &scene.to_png(dpi / 72.0)?)?;
    let cell = |v: &f64| if v.is_nan() { String::new() } else { format!("{v:?}") };
    let rows = drawing.rows.iter().map(|row| row.iter().map(cell).collect());
    write(&path("txt"), format!("{}\n\nMade by: {command}\n", drawing.caption).as_bytes())?;
    write_csv(&path("csv"), &[command.to_owned()], &drawing.columns, rows)?;
    Ok(Made {
        name: drawing.name.clone(),
        svg: path("svg"),
        pdf: path("pdf"),
        png: path("png"),
        csv: path("csv"),
        caption: path("txt"),
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    Ok(file.commit()?)
}
