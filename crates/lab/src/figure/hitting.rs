//! Steps from R₋₁ to R₁ against J: exact curves, simulated points.

use padir_base::random::{Purpose, Seed};
use padir_plot::{Axis, Color, Corner, Figure, Marker, Panel, Series, Style};
use rayon::prelude::*;

use super::{Drawing, FigureError, beside, columns, distinct, mean_and_half_deviation};
use crate::hitting::{Update, clique_hitting};
use crate::model::Clique;
use crate::sample::{CliqueBlocks, Kernel, Parallel, steps_until};

/// What the figure shows.
#[derive(Clone, Debug)]
pub struct HittingSettings {
    /// N.
    pub sites: usize,
    /// |C|.
    pub clique: usize,
    /// h.
    pub field: f64,
    /// The couplings of the exact curves.
    pub couplings: Vec<f64>,
    /// Those that are simulated too.
    pub simulated: Vec<f64>,
    /// The budget of a simulation.
    pub budget: u64,
    /// Repetitions.
    pub repeats: usize,
    /// The seed.
    pub seed: u64,
}

/// Draws the figure. A simulation that runs out of budget counts as the budget, as in the paper.
///
/// # Errors
/// If the model makes no sense.
pub fn hitting(settings: &HittingSettings, tick: impl Fn() + Sync) -> Result<Drawing, FigureError> {
    let updates: Vec<Update> =
        (1..=settings.sites).map(Update::Gibbs).chain([Update::Parallel]).collect();
    let mut rows = Vec::new();
    let mut exact: Vec<Vec<(f64, f64)>> = vec![Vec::new(); updates.len()];
    for &j in &settings.couplings {
        let model = Clique::uniform(settings.sites, settings.clique, settings.field, j)?;
        for (i, &update) in updates.iter().enumerate() {
            let expected = clique_hitting(&model, update)?.expected()?.to_f64();
            exact[i].push((j, expected));
            rows.push(vec![code(update), j, expected, f64::NAN, f64::NAN, f64::NAN]);
        }
    }
    let mut simulated: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new(); updates.len()];
    for &j in &settings.simulated {
        let model = Clique::uniform(settings.sites, settings.clique, settings.field, j)?;
        for (i, &update) in updates.iter().enumerate() {
            let steps = simulate(&model, update, settings, (j * 1000.0) as u64)?;
            let (mean, spread) = mean_and_half_deviation(&steps);
            let failed = steps.iter().filter(|s| **s >= settings.budget as f64).count();
            simulated[i].push((j, mean, spread));
            rows.push(vec![code(update), j, f64::NAN, mean, spread, failed as f64]);
            tick();
        }
    }
    Ok(Drawing {
        name: "hitting".to_owned(),
        figure: picture(settings, &updates, &exact, &simulated),
        columns: columns([
            "k_or_0_for_parallel",
            "j",
            "expected",
            "simulated",
            "half_sd",
            "out_of_budget",
        ]),
        rows,
        caption: format!(
            "Steps from R₋₁ to R₁ against the coupling J, N = {}, |C| = {}, h = {}. Lines: exact expectations. Points: means \
             over {} simulated chains, bars ± half a standard deviation; a chain that has not arrived after {} \
             steps counts as that many (dashed grey). Points of different chains stand side by side, at the same J. \
             Right: the expectations without a budget.",
            settings.sites, settings.clique, settings.field, settings.repeats, settings.budget
        ),
    })
}

fn code(update: Update) -> f64 {
    match update {
        Update::Gibbs(k) => k as f64,
        Update::Parallel => 0.0,
    }
}

fn simulate(
    model: &Clique,
    update: Update,
    settings: &HittingSettings,
    salt: u64,
) -> Result<Vec<f64>, FigureError> {
    let kernel: Box<dyn Kernel> = match update {
        Update::Gibbs(k) => Box::new(CliqueBlocks::new(model, k)?),
        Update::Parallel => Box::new(Parallel::new(&model.to_ising())),
    };
    let size = model.size();
    Ok((0..settings.repeats as u64)
        .into_par_iter()
        .map(|repeat| {
            let index = (salt << 32) | (code(update) as u64) << 16 | repeat;
            let mut stream = Seed(settings.seed).stream(Purpose::Chain, index);
            let start = vec![0; model.sites()];
            let done = |spins: &[u8]| spins[..size].iter().all(|&s| s == 1);
            let steps = steps_until(kernel.as_ref(), start, &mut stream, settings.budget, done);
            steps.unwrap_or(settings.budget) as f64
        })
        .collect())
}

fn picture(
    settings: &HittingSettings,
    updates: &[Update],
    exact: &[Vec<(f64, f64)>],
    simulated: &[Vec<(f64, f64, f64)>],
) -> Figure {
    let budget = settings.budget as f64;
    let last = settings.couplings.iter().copied().fold(0.0, f64::max);
    let title = format!(
        "N = {}, |C| = {}, h = {}: lines exact, points simulated",
        settings.sites, settings.clique, settings.field
    );
    let mut near = Panel::new(
        Axis::linear("coupling J"),
        Axis::log("steps from R₋₁ to R₁").range(0.8, 1.6 * budget),
    )
    .title(title)
    .legend(Corner::Direct);
    let mut far = Panel::new(Axis::linear("coupling J"), Axis::log("expected steps"))
        .title("the same, without a budget")
        .legend(Corner::Direct);
    let spacing = match settings.simulated[..] {
        [first, second, ..] => 0.7 * (second - first),
        _ => 0.0,
    };
    for (i, &update) in updates.iter().enumerate() {
        let (name, color) = match update {
            Update::Gibbs(k) => (format!("k = {k}"), distinct(k - 1)),
            Update::Parallel => ("parallel".to_owned(), Color::new(0xd5, 0x1e, 0x00)),
        };
        let aside = spacing * beside(i, updates.len());
        let points: Vec<_> = simulated[i].iter().map(|&(j, y, bar)| (j + aside, y, bar)).collect();
        let style = if update == Update::Parallel { Style::Dashed } else { Style::Line };
        let curve = Series::line("", exact[i].clone()).color(color).style(style.clone());
        near = near
            .with(curve)
            .with(Series::points(name.clone(), points).color(color).marker(Marker::of(i)));
        far = far.with(Series::line(name, exact[i].clone()).color(color).style(style));
    }
    let limit = Series::line("budget", [(0.0, budget), (last, budget)])
        .style(Style::Dashed)
        .color(Color::new(0x99, 0x99, 0x99));
    Figure::new().panel(near.with(limit)).panel(far)
}
