//! Pictures: how two kinds of pairs differ, and what a translation attends to.

use padir_plot::{Axis, Corner, Figure, Heatmap, Panel, Scene, Series};

use crate::alignment::{PartAttention, Unit};
use crate::report::{Contrast, LayerReport, Report};
use crate::study::Study;
use crate::table::Quantity;

/// What a curve shows of a layer.
type Of = fn(&LayerReport) -> Contrast;

/// Points of a distribution function at most: more cannot be told apart.
const POINTS: usize = 200;

/// Distribution functions of three quantities in the last layer, stuttering pairs and others, and AUCs by layer.
pub fn study(study: &Study, report: &Report) -> Scene {
    let panels = [
        (Quantity::SelfAttention(1), "self-attention to the neighbour (mean of heads)"),
        (Quantity::Tv(1), "total variation of cross-attention (mean of heads)"),
        (Quantity::Cosine(1), "cosine distance of cross-attention (mean of heads)"),
    ];
    let mut figure = Figure::new();
    for (quantity, label) in panels {
        let mut panel =
            Panel::new(Axis::linear(label), Axis::linear("share of pairs below").range(0.0, 1.0))
                .title("last layer")
                .legend(Corner::Outside);
        for (name, stutter) in [("stutter", true), ("other", false)] {
            let samples = study.last.samples(
                report.layer.unwrap_or(0),
                |label| (label.stutter == stutter).then_some(stutter),
                |row| quantity.of(row),
            );
            let values = samples.iter().map(|sample| sample.value).collect();
            panel = panel.with(Series::line(format!("{name} ({})", samples.len()), shares(values)));
        }
        figure = figure.panel(panel);
    }
    let mut panel = Panel::new(
        Axis::linear("decoder layer, from 0"),
        Axis::linear("AUC for stutter").range(0.0, 1.0),
    )
    .title("every layer")
    .legend(Corner::TopRight);
    let curves: [(&str, Of); 3] = [
        ("self-attention", |layer| layer.self_attention),
        ("total variation", |layer| layer.tv),
        ("cosine distance", |layer| layer.cosine),
    ];
    for (name, of) in curves {
        let points =
            report.layers.iter().filter_map(|layer| Some((layer.layer as f64, of(layer).auc?)));
        panel = panel.with(Series::line(name, points.collect::<Vec<_>>()));
    }
    figure.panel(panel).draw()
}

/// A distribution function as points.
fn shares(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let step = count.div_ceil(POINTS).max(1);
    let at = |i: usize| (values[i], (i + 1) as f64 / count as f64);
    let mut points: Vec<(f64, f64)> = (0..count).step_by(step).map(at).collect();
    if count > 0 && !(count - 1).is_multiple_of(step) {
        points.push(at(count - 1));
    }
    points
}

/// The cross-attention of one sentence: target pieces below each other, source pieces side by side, links framed.
pub fn sentence(part: &PartAttention, title: &str) -> Scene {
    let links = part.align(Unit::Pieces).links.into_iter().map(|(source, target)| (target, source));
    let weights = part.weights.iter().map(|&weight| f64::from(weight)).collect();
    Heatmap::new(part.target.clone(), part.source.clone(), weights)
        .title(title)
        .marks(links.collect())
        .draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_functions_end_at_one() {
        assert!(shares(vec![]).is_empty());
        assert_eq!(shares(vec![2.0, 1.0]), [(1.0, 0.5), (2.0, 1.0)]);
        let many = shares((0..1000).map(f64::from).collect());
        assert!(many.len() <= POINTS + 1);
        assert_eq!(many.last(), Some(&(999.0, 1.0)));
    }
}
