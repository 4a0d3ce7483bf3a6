//! Pictures of a study, with the numbers behind them.

use padir_lab::conditionals::Split;
use padir_lab::figure::Drawing;
use padir_plot::{Axis, Color, Corner, Figure, Panel, Series, Style};

use super::study::{Outcome, Study};

/// Colours that can be told apart side by side.
const COLORS: [Color; 8] = [
    Color::new(0x00, 0x72, 0xb2),
    Color::new(0xe6, 0x9f, 0x00),
    Color::new(0x00, 0x9e, 0x73),
    Color::new(0xcc, 0x79, 0xa7),
    Color::new(0x56, 0xb4, 0xe9),
    Color::new(0x8c, 0x56, 0x4b),
    Color::new(0x6a, 0x3d, 0x9a),
    Color::new(0x33, 0x33, 0x33),
];

/// The figures of a study: errors of conditionals, errors of chains, and what networks look at.
pub fn figures(study: &Study, outcomes: &[Outcome], couplings: &[Vec<f64>]) -> Vec<Drawing> {
    let view = View { study, outcomes };
    let mut drawings = vec![view.conditionals(), view.chains()];
    if outcomes.iter().all(|outcome| outcome.couplings.is_some()) {
        drawings.push(view.couplings(couplings));
    }
    drawings
}

/// One of the chains of a network.
type Chain = fn(&Outcome) -> &[Split];

struct View<'a> {
    study: &'a Study,
    outcomes: &'a [Outcome],
}

impl View<'_> {
    /// The mean over repetitions, and half their standard deviation.
    fn mean(&self, samples: usize, law: &str, value: impl Fn(&Outcome) -> f64) -> (f64, f64) {
        let own = self.outcomes.iter().filter(|o| o.samples == samples && o.law == law);
        let values: Vec<f64> = own.map(value).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        (mean, 0.5 * variance.sqrt())
    }

    fn laws(&self) -> impl Iterator<Item = (usize, &str, Color)> {
        let names = self.study.laws.iter().enumerate();
        names.map(|(i, (name, _))| (i, name.as_str(), COLORS[i % COLORS.len()]))
    }

    fn most(&self) -> usize {
        self.study.samples.iter().copied().max().unwrap_or(0)
    }

    fn sites(&self) -> usize {
        self.outcomes.first().map_or(0, |outcome| outcome.errors.len())
    }

    /// Against the number of samples with one site hidden, and against the number of hidden sites with all samples.
    fn conditionals(&self) -> Drawing {
        let mut rows = Vec::new();
        let mut by_samples =
            Panel::new(Axis::log("training samples n"), Axis::log("mean TV, one site hidden"));
        let mut by_hidden =
            Panel::new(Axis::linear("hidden sites"), Axis::log("mean TV of a conditional"))
                .title(format!("n = {}", self.most()))
                .legend(Corner::Outside);
        for (number, law, color) in self.laws() {
            let mut points = Vec::new();
            for &n in &self.study.samples {
                for hidden in 0..self.sites() {
                    let (mean, spread) = self.mean(n, law, |o| o.errors[hidden].mean);
                    let (largest, _) = self.mean(n, law, |o| o.errors[hidden].largest);
                    rows.push(vec![
                        number as f64,
                        n as f64,
                        (hidden + 1) as f64,
                        mean,
                        spread,
                        largest,
                    ]);
                }
                let (mean, spread) = self.mean(n, law, |o| o.errors[0].mean);
                points.push((n as f64, mean, spread));
            }
            let line = points.iter().map(|&(n, mean, _)| (n, mean));
            by_samples = by_samples
                .with(Series::line("", line).color(color))
                .with(Series::points("", points).color(color));
            let curve: Vec<(f64, f64)> = (0..self.sites())
                .map(|h| ((h + 1) as f64, self.mean(self.most(), law, |o| o.errors[h].mean).0))
                .collect();
            by_hidden = by_hidden.with(Series::line(law, curve).color(color));
        }
        Drawing {
            name: "learn-conditionals".to_owned(),
            figure: Figure::new().panel(by_samples).panel(by_hidden),
            columns: ["law", "samples", "hidden", "tv_mean", "tv_half_sd", "tv_max"]
                .map(str::to_owned)
                .to_vec(),
            rows,
            caption: format!(
                "Total variation distance of learned conditionals from the exact ones, averaged over contexts drawn from p. Left: one \
                 site hidden, against the number of training samples. Right: against the number of hidden sites. Colours are \
                 the mask laws of training: {}. Means over {} networks; bars ± half a standard deviation.",
                self.law_names(),
                self.study.repeats
            ),
        }
    }

    /// Errors of both samplers step by step, with all samples.
    fn chains(&self) -> Drawing {
        let mut rows = Vec::new();
        let mut figure = Figure::new();
        let samplers: [(&str, Chain); 2] = [
            ("one site after the other", |o| &o.unmasking),
            ("all hidden sites at once", |o| &o.parallel),
        ];
        for (which, (title, of)) in samplers.into_iter().enumerate() {
            let mut panel = Panel::new(Axis::linear("steps t"), Axis::linear("TV from p"))
                .title(title)
                .legend(if which == 0 { Corner::TopRight } else { Corner::Outside });
            for (number, law, color) in self.laws() {
                let at = |t: usize, part: fn(&Split) -> f64| {
                    self.mean(self.most(), law, |o| part(&of(o)[t])).0
                };
                let (mut total, mut sampler) = (Vec::new(), Vec::new());
                for t in 0..=self.study.steps {
                    let parts = [at(t, |s| s.total), at(t, |s| s.denoiser), at(t, |s| s.sampler)];
                    rows.push(
                        [which as f64, number as f64, t as f64].into_iter().chain(parts).collect(),
                    );
                    total.push((t as f64, parts[0]));
                    sampler.push((t as f64, parts[2]));
                }
                let name = if which == 0 { "" } else { law };
                panel = panel
                    .with(Series::line(name, total).color(color))
                    .with(Series::line("", sampler).style(Style::Dashed).color(color));
            }
            figure = figure.panel(panel);
        }
        Drawing {
            name: "learn-chains".to_owned(),
            figure,
            columns: ["sampler", "law", "t", "total", "denoiser", "sampler_error"]
                .map(str::to_owned)
                .to_vec(),
            rows,
            caption: format!(
                "Total variation distance from p after t steps of the chain that hides sites by the training law and fills them from learned \
                 conditionals (solid), and of the same chain on exact ones (dashed: the sampler's own error). Left: hidden sites are \
                 filled one after the other (sampler 0 of the table); right: all at once (sampler 1). n = {}. Laws: {}.",
                self.most(),
                self.law_names()
            ),
        }
    }

    /// True couplings, those of the learned conditionals, and attention.
    fn couplings(&self, truth: &[Vec<f64>]) -> Drawing {
        let mut rows = Vec::new();
        let mut learned =
            Panel::new(Axis::linear("true coupling J"), Axis::linear("learned coupling"));
        let mut attention = Panel::new(Axis::linear("|true coupling|"), Axis::linear("attention"))
            .legend(Corner::Outside);
        let all = truth.iter().flatten().copied();
        let range = all.clone().fold(0.0, f64::max) - all.fold(0.0, f64::min);
        for (number, law, color) in self.laws() {
            let (mut of_couplings, mut of_attention) = (Vec::new(), Vec::new());
            // Side by side, so that laws do not hide each other.
            let place = (number as f64 + 0.5) / self.study.laws.len() as f64 - 0.5;
            let aside = 0.12 * range * place;
            for (i, row) in truth.iter().enumerate() {
                for (j, &coupling) in row.iter().enumerate().filter(|(j, _)| *j != i) {
                    let found = |o: &Outcome| o.couplings.as_ref().map_or(f64::NAN, |c| c.at(i, j));
                    let (found, _) = self.mean(self.most(), law, found);
                    let (looked, _) = self.mean(self.most(), law, |o| o.attention.at(i, j));
                    rows.push(vec![number as f64, i as f64, j as f64, coupling, found, looked]);
                    of_couplings.push((coupling + aside, found, 0.0));
                    of_attention.push((coupling.abs() + aside, looked, 0.0));
                }
            }
            learned = learned.with(Series::points("", of_couplings).color(color));
            attention = attention.with(Series::points(law, of_attention).color(color));
        }
        Drawing {
            name: "learn-couplings".to_owned(),
            figure: Figure::new().panel(learned).panel(attention),
            columns: ["law", "i", "j", "coupling", "learned", "attention"]
                .map(str::to_owned)
                .to_vec(),
            rows,
            caption: format!(
                "For every ordered pair of sites, against the true coupling; laws stand side by side, at the same coupling. Left: the coupling of the learned conditionals, E ¼ [ℓᵢ(xⱼ = +1) − \
                 ℓᵢ(xⱼ = −1)]. Right: the attention of site i, hidden, to site j in the first decoder layer, averaged over heads and contexts. \
                 n = {}. Laws: {}.",
                self.most(),
                self.law_names()
            ),
        }
    }

    fn law_names(&self) -> String {
        let named = self.laws().map(|(number, law, _)| format!("{number} is {law}"));
        named.collect::<Vec<_>>().join(", ")
    }
}
