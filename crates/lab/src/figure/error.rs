//! Squared error of the estimates against the size of the training set, for every k.
//!
//! As in the paper's definition, each sample comes with one mask; tr Γᵏ/n is the variance of that
//! estimator. (Averaging over all masks of a sample does better than Γᵏ, most of all for small k.)

use padir_base::mask::MaskLaw;
use padir_base::random::{Purpose, Seed};
use padir_plot::{Axis, Color, Corner, Figure, Marker, Panel, Series, Style};
use rayon::prelude::*;

use super::{Drawing, FigureError, beside, columns, distinct, mean_and_half_deviation};
use crate::asymptotics::by_block_size;
use crate::estimate::{FitOptions, Samples, Settings, Verdict, fit};
use crate::model::{Clique, Model};

/// What the figure shows.
#[derive(Clone, Debug)]
pub struct ErrorSettings {
    /// Its name.
    pub name: String,
    /// N = |C|.
    pub sites: usize,
    /// J.
    pub coupling: f64,
    /// The sizes of the training set.
    pub sizes: Vec<usize>,
    /// Repetitions.
    pub repeats: usize,
    /// The seed.
    pub seed: u64,
}

/// Draws the figure. Estimates that do not exist are left out and counted in the table.
///
/// # Errors
/// If the model makes no sense.
pub fn estimation_error(
    settings: &ErrorSettings,
    tick: impl Fn() + Sync,
) -> Result<Drawing, FigureError> {
    let clique = Clique::uniform(settings.sites, settings.sites, 0.0, settings.coupling)?;
    let model = Model::Ising(clique.to_ising());
    let truth = clique.to_ising().parameters();
    let p = model.enumerate()?;
    let sampler = p.sampler();
    let all: Vec<usize> = (1..=settings.sites).collect();
    let exact = by_block_size(&p, model.family().as_ref(), &all, || ())?;
    // One training set per size and repetition, the same for every k.
    let jobs: Vec<(usize, usize)> = settings
        .sizes
        .iter()
        .flat_map(|&n| (0..settings.repeats).map(move |repeat| (n, repeat)))
        .collect();
    let results: Result<Vec<Vec<Option<f64>>>, FigureError> = jobs
        .par_iter()
        .map(|&(n, repeat)| {
            let index = (n as u64) << 20 | repeat as u64;
            let mut stream = Seed(settings.seed).stream(Purpose::Synthesis, index);
            let rows: Vec<Vec<u8>> = (0..n)
                .map(|_| p.space().symbols_of(sampler.draw(&mut stream)).map(|s| s as u8).collect())
                .collect();
            let samples = Samples::new(settings.sites, 2, rows)?;
            let errors = (1..=settings.sites)
                .map(|k| squared_error(&model, &samples, k, settings.seed ^ index, &truth));
            let errors = errors.collect::<Result<Vec<_>, _>>();
            tick();
            errors
        })
        .collect();
    let results = results?;
    let mut rows = Vec::new();
    let mut panel =
        Panel::new(Axis::log("training samples n"), Axis::log("squared error of the estimate"))
            .title(format!("N = |C| = {}, h = 0, J = {}", settings.sites, settings.coupling));
    for k in 1..=settings.sites {
        let color = distinct(k - 1);
        // Side by side on the logarithmic axis, so that k does not hide k + 1.
        let aside = (0.3 * beside(k - 1, settings.sites)).exp();
        let trace = exact[k - 1].trace.unwrap_or(f64::NAN);
        let mut points = Vec::new();
        for (i, &n) in settings.sizes.iter().enumerate() {
            let repeats = &results[i * settings.repeats..(i + 1) * settings.repeats];
            let found: Vec<f64> = repeats.iter().filter_map(|errors| errors[k - 1]).collect();
            let missing = settings.repeats - found.len();
            let (mean, spread) =
                if found.is_empty() { (f64::NAN, 0.0) } else { mean_and_half_deviation(&found) };
            points.push((aside * n as f64, mean, spread));
            rows.push(vec![k as f64, n as f64, mean, spread, missing as f64, trace / n as f64]);
        }
        let name = if k == settings.sites {
            format!("k = {k} (maximum likelihood)")
        } else {
            format!("k = {k}")
        };
        let line = settings.sizes.iter().map(|&n| (n as f64, trace / n as f64));
        panel = panel
            .with(Series::line("", line).style(Style::Dashed).color(color))
            .with(Series::points(name, points).color(color).marker(Marker::of(k - 1)));
    }
    let guide = Series::line("tr Γᵏ / n, exact", [(f64::NAN, 1.0)])
        .style(Style::Dashed)
        .color(Color::new(0x77, 0x77, 0x77));
    Ok(Drawing {
        name: settings.name.clone(),
        figure: Figure::new().panel(panel.with(guide).legend(Corner::TopRight)),
        columns: columns(["k", "n", "mean", "half_sd", "nonexistent", "asymptote"]),
        rows,
        caption: format!(
            "Squared error of the estimated parameters against the number of samples, one mask per sample, \
             for k-pseudolikelihoods of the Ising model on a clique of N = {} spins with h = 0 and J = {}. Points are means \
             over {} repetitions, bars ± half a standard deviation; points of different k stand side by side, \
             at the same n. Estimates that do not exist are left out and counted in the table. Dashed: tr Γᵏ/n, exact.",
            settings.sites, settings.coupling, settings.repeats
        ),
    })
}

fn squared_error(
    model: &Model,
    samples: &Samples,
    k: usize,
    seed: u64,
    truth: &[f64],
) -> Result<Option<f64>, FigureError> {
    let options = FitOptions {
        law: MaskLaw::Exactly { k },
        method: None,
        settings: Settings { tolerance: 1e-9, ..Settings::default() },
        sampled_masks: Some(1),
        seed,
    };
    let fitted = fit(model, samples, &options)?;
    Ok((fitted.verdict == Verdict::Found).then(|| {
        let difference = fitted.minimum.parameters.iter().zip(truth);
        difference.map(|(a, b)| (a - b).powi(2)).sum()
    }))
}
