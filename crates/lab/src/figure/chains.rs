//! Figures that need no randomness: variances, gaps, stationary laws, slack.

use padir_base::mask::MaskLaw;
use padir_plot::{Axis, Color, Corner, Figure, Marker, Panel, Series, Style};

use super::{Drawing, FigureError, columns, distinct};
use crate::asymptotics::by_block_size;
use crate::bound::{ModeFast, ModeSlow};
use crate::chain::{Chain, ChainError, parallel_matrix};
use crate::decay::{chi_squared_bound, decay, distance, kullback_leibler_bound, point_mass};
use crate::gth;
use crate::hitting::{Update, clique_escape, clique_hitting};
use crate::inequality::{SearchSettings, tensorisation};
use crate::model::{Clique, Model};
use crate::spectrum::poincare;
use crate::wide::Wide;

/// tr Γᵏ against k beside the bound C·tr I⁻¹, for two couplings.
///
/// # Errors
/// If a variance does not exist.
pub fn variance(sites: usize, couplings: &[f64]) -> Result<Drawing, FigureError> {
    let all: Vec<usize> = (1..=sites).collect();
    let mut figure = Figure::new();
    let mut rows = Vec::new();
    for &j in couplings {
        let model = Model::Ising(Clique::uniform(sites, sites, 0.0, j)?.to_ising());
        let found = by_block_size(&model.enumerate()?, model.family().as_ref(), &all, || ())?;
        let best = found[sites - 1].trace.unwrap_or(f64::NAN);
        let of_k = |value: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
            (0..sites).map(|i| ((i + 1) as f64, value(i))).collect()
        };
        let trace = of_k(&|i| found[i].trace.unwrap_or(f64::NAN));
        let bound = of_k(&|i| found[i].poincare.constant() * best);
        for i in 0..sites {
            rows.push(vec![j, (i + 1) as f64, trace[i].1, bound[i].1, best]);
        }
        let dots = trace.iter().map(|&(x, y)| (x, y, 0.0)).collect::<Vec<_>>();
        let panel = Panel::new(Axis::linear("block size k"), Axis::log("asymptotic variance"))
            .title(format!("N = |C| = {sites}, h = 0, J = {j}"))
            .with(Series::line("", trace).color(Color::of(0)))
            .with(Series::points("tr Γᵏ", dots).color(Color::of(0)))
            .with(Series::line("bound C·tr I⁻¹", bound).style(Style::Dashed).color(Color::of(1)))
            .with(
                Series::line("tr I⁻¹", [(1.0, best), (sites as f64, best)])
                    .style(Style::Dashed)
                    .color(Color::of(7)),
            );
        figure = figure.panel(panel);
    }
    let columns = columns(["j", "k", "trace", "bound", "fisher_trace"]);
    let caption = format!(
        "Asymptotic variance tr Γᵏ of k-pseudolikelihoods on a clique of N = {sites} spins with h = 0, beside the bound \
         C·tr I⁻¹ by the Poincaré constant C of k-Gibbs and the optimum tr I⁻¹. All values are exact."
    );
    Ok(Drawing { name: "variance".to_owned(), figure, columns, rows, caption })
}

/// The spectral gap of k-Gibbs against k, for several couplings.
///
/// # Errors
/// If a spectrum cannot be found.
pub fn gap(sites: usize, couplings: &[f64]) -> Result<Drawing, FigureError> {
    let mut panel = Panel::new(Axis::linear("block size k"), Axis::log("spectral gap 1/C"))
        .title(format!("k-Gibbs, N = |C| = {sites}, h = 0"))
        .legend(Corner::Outside);
    let mut rows = Vec::new();
    for (i, &j) in couplings.iter().enumerate() {
        let p = Model::Ising(Clique::uniform(sites, sites, 0.0, j)?.to_ising()).enumerate()?;
        let mut points = Vec::new();
        for k in 1..=sites {
            let constant = poincare(&p, &MaskLaw::Exactly { k }, || ())?.constant();
            points.push((k as f64, 1.0 / constant));
            rows.push(vec![j, k as f64, 1.0 / constant, k as f64 / sites as f64]);
        }
        let color = distinct(i);
        let dots = points.iter().map(|&(x, y)| (x, y, 0.0)).collect::<Vec<_>>();
        panel = panel
            .with(Series::line("", points).color(color))
            .with(Series::points(format!("J = {j}"), dots).color(color).marker(Marker::of(i)));
    }
    let product: Vec<(f64, f64)> =
        (1..=sites).map(|k| (k as f64, k as f64 / sites as f64)).collect();
    let guide = Series::line("k/N (independent)", product)
        .style(Style::Dashed)
        .color(Color::new(0x99, 0x99, 0x99));
    Ok(Drawing {
        name: "gap".to_owned(),
        figure: Figure::new().panel(panel.with(guide)),
        columns: columns(["j", "k", "gap", "independent"]),
        rows,
        caption: format!(
            "Spectral gap of k-Gibbs on a clique of N = {sites} spins with h = 0, for several couplings; dashed: k/N, the gap \
             of independent spins. All values are exact."
        ),
    })
}

/// The stationary law of independent parallel beside p, by the number of spins up.
///
/// # Errors
/// If the model makes no sense.
pub fn parallel(sites: usize, field: f64, couplings: &[f64]) -> Result<Drawing, FigureError> {
    let mut figure = Figure::new();
    let mut rows = Vec::new();
    for &j in couplings {
        let p = Model::Ising(Clique::uniform(sites, sites, field, j)?.to_ising()).enumerate()?;
        let logs = gth::stationary(&parallel_matrix::<Wide>(&p)?)
            .ok_or(ChainError::Unfit("the parallel chain is not irreducible"))?;
        let law: Vec<f64> = logs.iter().map(|l| l.exp()).collect();
        let tv = distance(0, &law, &p).total_variation;
        let count = |probabilities: &[f64]| -> Vec<(f64, f64)> {
            let mut sums = vec![0.0; sites + 1];
            for (x, mass) in probabilities.iter().enumerate() {
                sums[x.count_ones() as usize] += mass;
            }
            sums.into_iter().enumerate().map(|(up, mass)| (up as f64, mass)).collect()
        };
        let (target, found) = (count(&p.probs()), count(&law));
        for up in 0..=sites {
            rows.push(vec![j, up as f64, target[up].1, found[up].1, tv]);
        }
        let names = (0..=sites).map(|up| up.to_string()).collect();
        let panel = Panel::new(Axis::linear("spins up").named(names), Axis::linear("probability"))
            .title(format!("N = {sites}, h = {field}, J = {j}: TV = {tv:.3}"))
            .legend(Corner::TopLeft)
            .with(Series::line("p", target).style(Style::Bars(0, 2)))
            .with(Series::line("independent parallel", found).style(Style::Bars(1, 2)));
        figure = figure.panel(panel);
    }
    let columns = columns(["j", "spins_up", "p", "independent_parallel", "tv"]);
    let caption = format!(
        "The stationary law of independent parallel beside p by the number of spins up, on a clique of N = {sites} \
         spins with h = {field}; TV is the distance between them. All values are exact."
    );
    Ok(Drawing { name: "parallel".to_owned(), figure, columns, rows, caption })
}

/// How much the bounds give away: χ² and KL decay, and the time to the mode.
///
/// # Errors
/// If a chain cannot be analysed.
pub fn slack() -> Result<Drawing, FigureError> {
    let (decay_panel, mut rows) = decay_slack()?;
    let (fast_panel, fast_rows) = fast_slack()?;
    let (slow_panel, slow_rows) = slow_slack()?;
    rows.extend(fast_rows);
    rows.extend(slow_rows);
    Ok(Drawing {
        name: "slack".to_owned(),
        figure: Figure::new().panel(decay_panel).panel(fast_panel).panel(slow_panel),
        columns: columns(["part", "x", "exact_a", "bound_a", "exact_b", "bound_b"]),
        rows,
        caption: "What bounds give away. Left: χ² and KL along 2-Gibbs from all −1, with the bounds by the Poincaré constant and by a \
                  proven upper bound of the tensorisation constant. Middle: steps of k-Gibbs to R₁ with probability 1 − δ, δ = 0.1. \
                  Right: steps for which independent parallel keeps Σ ≤ −2 with probability 1 − δ. All values are exact."
            .to_owned(),
    })
}

/// Part 0: x is t, a is χ², b is KL.
fn decay_slack() -> Result<(Panel, Vec<Vec<f64>>), FigureError> {
    let p = Model::Ising(Clique::uniform(4, 4, 0.0, 0.3)?.to_ising()).enumerate()?;
    let law = MaskLaw::Exactly { k: 2 };
    let constant = poincare(&p, &law, || ())?.constant();
    let tensor = tensorisation(&p, &law, &SearchSettings::default(), || ())?;
    let tensor = tensor.upper.map_or(f64::INFINITY, |upper| upper.value);
    let start = point_mass(p.space().size(), 0);
    let curve = decay(&p, &Chain::Blocks(law), &start, 30, || ())?;
    let first = curve[0];
    let rows: Vec<Vec<f64>> = curve
        .iter()
        .map(|d| {
            vec![
                0.0,
                d.step as f64,
                d.chi_squared,
                chi_squared_bound(constant, first.chi_squared, d.step),
                d.kullback_leibler,
                kullback_leibler_bound(tensor, first.kullback_leibler, d.step),
            ]
        })
        .collect();
    let column = |c: usize| rows.iter().map(|r| (r[1], r[c])).collect::<Vec<_>>();
    let panel = Panel::new(Axis::linear("step t"), Axis::log("distance from p"))
        .title("2-Gibbs from all −1, N = |C| = 4, J = 0.3")
        // Every corner but this one has a line in it.
        .legend(Corner::BottomLeft)
        .with(Series::line("χ²", column(2)).color(Color::of(0)))
        .with(
            Series::line("χ² bound (1−1/C)²ᵗ", column(3)).style(Style::Dashed).color(Color::of(0)),
        )
        .with(Series::line("KL", column(4)).color(Color::of(1)))
        .with(Series::line("KL bound", column(5)).style(Style::Dashed).color(Color::of(1)));
    Ok((panel, rows))
}

/// δ of the bounds on reaching the mode.
const DELTA: f64 = 0.1;

/// Part 1: x is k, a the steps after which k-Gibbs has reached R₁ with probability 1 − δ.
fn fast_slack() -> Result<(Panel, Vec<Vec<f64>>), FigureError> {
    let model = Clique::uniform(20, 12, 0.05, 2.5)?;
    let mut rows = Vec::new();
    for k in model.size()..=model.sites() {
        let exact = clique_hitting(&model, Update::Gibbs(k))?.quantiles(&[1.0 - DELTA])[0];
        let bound = ModeFast::new(&model, k, DELTA).steps.unwrap_or(f64::NAN);
        rows.push(vec![1.0, k as f64, exact.to_f64(), bound, f64::NAN, f64::NAN]);
    }
    let column = |c: usize| rows.iter().map(|r| (r[1], r[c])).collect::<Vec<_>>();
    let panel = Panel::new(Axis::linear("block size k"), Axis::log("steps to R₁, δ = 0.1"))
        .title("k-Gibbs, N = 20, |C| = 12, h = 0.05, J = 2.5")
        .with(Series::line("exact", column(2)).color(Color::of(0)))
        .with(Series::line("bound", column(3)).style(Style::Dashed).color(Color::of(0)));
    Ok((panel, rows))
}

/// Part 2: x is |C|, a the steps for which independent parallel keeps Σ ≤ −2 with probability
/// 1 − δ, from the worst start: the event of the proposition.
fn slow_slack() -> Result<(Panel, Vec<Vec<f64>>), FigureError> {
    let mut rows = Vec::new();
    for size in 4..=20 {
        let model = Clique::uniform(size, size, 0.01, 1.5)?;
        let escapes = clique_escape(&model)?;
        let exact = escapes.last().map_or(f64::NAN, |e| e.safe_steps(DELTA).to_f64());
        let bound = ModeSlow::new(&model, DELTA).steps;
        rows.push(vec![2.0, size as f64, exact, bound.to_f64(), f64::NAN, f64::NAN]);
    }
    let column = |c: usize| rows.iter().map(|r| (r[1], r[c])).collect::<Vec<_>>();
    let panel =
        Panel::new(Axis::linear("clique size |C|"), Axis::log("steps with Σ ≤ −2, δ = 0.1"))
            .title("independent parallel, N = |C|, h = 0.01, J = 1.5")
            .legend(Corner::TopLeft)
            .with(Series::line("exact", column(2)).color(Color::of(1)))
            .with(Series::line("bound", column(3)).style(Style::Dashed).color(Color::of(1)));
    Ok((panel, rows))
}
