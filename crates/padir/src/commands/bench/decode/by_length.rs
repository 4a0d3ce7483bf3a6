//! Latency of one sentence against its length, of all systems side by side.
//!
//! An autoregressive decoder takes a step for each token, a parallel one a fixed number of them: the longer the sentence, the more it gains.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use padir_base::file::write_atomically;
use padir_plot::{Axis, Corner, Figure, Panel, Series};
use serde::Serialize;

use super::report::percentile;
use super::system::System;
use super::work::{Task, Work};
use crate::console::Console;

/// Random sentences of each length.
const SENTENCES: u32 = 7;
/// What is written for a plot.
pub(super) const FORMS: [&str; 3] = ["svg", "png", "csv"];

/// The latency of a system at a length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Point {
    pub(super) system: String,
    precision: String,
    /// The number that suits this length best.
    threads: usize,
    /// Source tokens, on average.
    tokens: f64,
    sentences: usize,
    /// The median.
    milliseconds: f64,
}

/// Latencies at these lengths: random sentences are made and translated, texts were translated before and are grouped.
pub(super) fn measure(
    console: &Console,
    work: &Work,
    systems: &mut [&mut System],
    lengths: &[usize],
) -> Result<Vec<Point>> {
    match work.task {
        Task::Texts(_) => {
            let tokens: Vec<usize> = work.sources.iter().map(Vec::len).collect();
            Ok(systems.iter().flat_map(|system| grouped(system, &tokens, lengths)).collect())
        }
        Task::Fixed { .. } => translate(console, work, systems, lengths),
    }
}

/// Systems take turns of one sentence.
fn translate(
    console: &Console,
    work: &Work,
    systems: &mut [&mut System],
    lengths: &[usize],
) -> Result<Vec<Point>> {
    let mut points = Vec::new();
    let bar = console.progress("lengths", (lengths.len() * systems.len()) as u64);
    for &length in lengths {
        let work = work.with_length(length, SENTENCES);
        let mut threads = Vec::with_capacity(systems.len());
        for system in &mut *systems {
            threads.push(system.suit(&work, 1)?);
        }
        let mut seconds = vec![Vec::new(); systems.len()];
        for sentence in 0..work.len() {
            for (seconds, system) in seconds.iter_mut().zip(&mut *systems) {
                // Another one first, so that threads are awake and caches warm.
                system.time_one(&work, (sentence + 1) % work.len())?;
                seconds.push(system.time_one(&work, sentence)?);
            }
        }
        for ((seconds, threads), system) in seconds.into_iter().zip(threads).zip(&*systems) {
            points.extend(point(system, threads, length as f64, seconds));
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(points)
}

/// What was measured of texts, by the number of their tokens: up to the first bound, up to the next, and so on.
fn grouped(system: &System, tokens: &[usize], bounds: &[usize]) -> Vec<Point> {
    let groups = groups(tokens, bounds);
    let groups = groups.into_iter().filter_map(|group| {
        let seconds: Vec<f64> =
            group.iter().filter_map(|&at| system.seconds.get(at).copied()).collect();
        let sum: usize = group.iter().map(|&at| tokens[at]).sum();
        point(system, system.threads, sum as f64 / group.len() as f64, seconds)
    });
    groups.collect()
}

/// The sentences of each group.
fn groups(tokens: &[usize], bounds: &[usize]) -> Vec<Vec<usize>> {
    let mut groups = vec![Vec::new(); bounds.len()];
    for (at, &count) in tokens.iter().enumerate() {
        if let Some(group) = groups.get_mut(bounds.partition_point(|&bound| bound < count)) {
            group.push(at);
        }
    }
    groups
}

/// None if nothing was measured.
fn point(system: &System, threads: usize, tokens: f64, mut seconds: Vec<f64>) -> Option<Point> {
    seconds.sort_by(f64::total_cmp);
    Some(Point {
        system: system.name(),
        precision: system.precision().to_string(),
        threads,
        tokens,
        sentences: seconds.len(),
        milliseconds: 1e3 * percentile(&seconds, 50)?,
    })
}

/// The curves of the systems, in the order of their first points.
fn curves(points: &[Point]) -> Vec<(&str, Vec<&Point>)> {
    let mut curves: Vec<(&str, Vec<&Point>)> = Vec::new();
    for point in points {
        match curves.iter_mut().find(|(system, _)| *system == point.system) {
            Some((_, curve)) => curve.push(point),
            None => curves.push((&point.system, vec![point])),
        }
    }
    curves
}

/// One row per system, one column per length.
pub(super) fn write(points: &[Point], out: &mut impl Write) -> Result<()> {
    if points.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nmedian ms of one sentence at so many source tokens")?;
    for (system, curve) in curves(points) {
        let cell = |point: &&Point| format!("{:.0}: {:.2}", point.tokens, point.milliseconds);
        let cells: Vec<String> = curve.iter().map(cell).collect();
        writeln!(out, "  {system:<24} {}", cells.join("  "))?;
    }
    Ok(())
}

/// Draws latency against length, a panel for each precision, as SVG and PNG with a CSV beside them.
pub(super) fn draw(path: &Path, points: &[Point]) -> Result<()> {
    let mut csv = "system,threads,tokens,sentences,milliseconds\n".to_owned();
    for Point { system, threads, tokens, sentences, milliseconds, .. } in points {
        let _ = writeln!(csv, "{system},{threads},{tokens},{sentences},{milliseconds}");
    }
    let mut precisions: Vec<&str> = points.iter().map(|point| point.precision.as_str()).collect();
    precisions.sort_unstable();
    precisions.dedup();
    let mut figure = Figure::new();
    for precision in precisions {
        let mut panel = Panel::new(Axis::linear("source tokens"), Axis::linear("median ms"))
            .title(precision)
            .legend(Corner::Outside);
        let here = |(_, curve): &(&str, Vec<&Point>)| curve[0].precision == precision;
        for (system, curve) in curves(points).into_iter().filter(here) {
            let line = curve.iter().map(|point| (point.tokens, point.milliseconds));
            panel = panel.with(Series::line(system, line));
        }
        figure = figure.panel(panel);
    }
    let scene = figure.draw();
    write_atomically(path.with_extension("svg"), scene.to_svg().as_bytes())?;
    let picture = scene.to_png(2.0).context("cannot draw the figure")?;
    write_atomically(path.with_extension("png"), &picture)?;
    write_atomically(path.with_extension("csv"), csv.as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fall_into_groups_by_their_tokens() {
        let found = groups(&[3, 10, 11, 200, 20, 1], &[10, 20, 128]);
        assert_eq!(found, [vec![0, 1, 5], vec![2, 4], vec![]]);
        assert!(groups(&[3], &[]).is_empty());
    }
}
