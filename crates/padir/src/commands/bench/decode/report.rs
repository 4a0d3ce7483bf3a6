//! What was measured, as a table, as JSON and as a picture.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use padir_base::file::write_atomically;
use padir_engine::Isa;
use padir_plot::{Axis, Corner, Figure, Panel, Series};
use serde::Serialize;

use super::by_length::{self, Point};
use super::crossing::{Crossing, crossing};
use super::limits::Limits;
use super::peer::PeerSystem;
use super::step::Step;
use super::system::System;
use super::work::Work;
use crate::commands::data::table::Table;
use crate::console::Console;
use crate::memory;

/// All results.
#[derive(Serialize)]
pub(super) struct Report {
    work: String,
    /// The processor, by its maker's name.
    machine: Option<String>,
    limits: Limits,
    steps: Vec<Step>,
    latencies: Vec<Latency>,
    pub(super) by_length: Vec<Point>,
    pub(super) throughput: Vec<Throughput>,
    /// Sizes of batches for which there were too few different sentences.
    pub(super) batches_left_out: Vec<usize>,
    peak_memory: Option<u64>,
}

/// Latencies of one system, in milliseconds.
#[derive(Serialize)]
struct Latency {
    system: String,
    threads: usize,
    p50: f64,
    p90: f64,
    p99: f64,
    mean: f64,
    /// Mean of steps: of refinement, or tokens from left to right.
    steps: Option<f64>,
    load_seconds: Option<f64>,
    weight_bytes: Option<usize>,
}

/// Speed of one system at one size of batches.
#[derive(Serialize)]
pub(super) struct Throughput {
    pub(super) system: String,
    pub(super) threads: usize,
    pub(super) batch: usize,
    pub(super) tokens_per_second: f64,
}

/// Who overtakes whom.
#[derive(Serialize)]
struct Overtaking {
    left_to_right: String,
    parallel: String,
    #[serde(flatten)]
    crossing: Crossing,
}

impl Report {
    /// What was measured one at a time. The peak of the memory is read here: nothing is to be measured after this.
    pub(super) fn new(
        work: &Work,
        limits: Limits,
        steps: Vec<Step>,
        systems: &[System],
        peers: &[PeerSystem],
    ) -> Self {
        let ours = systems.iter().map(|system| {
            let (load, bytes) = system.footprint();
            let steps = system.steps.iter().sum::<usize>() as f64 / system.steps.len() as f64;
            Latency {
                steps: Some(steps),
                load_seconds: Some(load),
                weight_bytes: Some(bytes),
                ..Latency::of(system.name(), system.threads, &system.seconds)
            }
        });
        let theirs =
            peers.iter().map(|peer| Latency::of(peer.name.clone(), peer.threads, &peer.seconds));
        Self {
            work: work.describe().unwrap_or_default(),
            machine: machine(),
            limits,
            steps,
            latencies: ours.chain(theirs).collect(),
            by_length: Vec::new(),
            throughput: Vec::new(),
            batches_left_out: Vec::new(),
            peak_memory: memory::peak(),
        }
    }

    pub(super) fn show(&self, console: &Console) -> Result<()> {
        if console.wants_json() {
            let mut report = serde_json::to_value(self)?;
            report["crossings"] = serde_json::to_value(self.crossings())?;
            return console.print_json(&report);
        }
        let mut out = console.out();
        let memory = self.peak_memory.map_or(String::new(), |m| format!(", peak {} MB", m >> 20));
        let Limits { threads, read_gigabytes, f32_gigaops, int8_gigaops } = self.limits;
        if let Some(machine) = &self.machine {
            writeln!(out, "{machine}")?;
        }
        writeln!(
            out,
            "{}\n{threads} threads read {read_gigabytes:.1} GB/s and multiply and add {f32_gigaops:.0} \
             (f32) and {int8_gigaops:.0} (int8) times 10⁹ a second{memory}\n",
            self.work
        )?;
        self.write_steps(&mut out)?;
        self.write_latencies(&mut out)?;
        by_length::write(&self.by_length, &mut out)?;
        self.write_throughput(&mut out)?;
        Ok(out.flush()?)
    }

    fn write_steps(&self, out: &mut impl Write) -> Result<()> {
        let mut table = Table::default();
        table
            .row(["one step", "threads", "ms", "cold ms", "10⁹/s", "of limit", "GB/s", "of limit"]);
        let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.1}"));
        let share =
            |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{:.0} %", 100.0 * x));
        for step in &self.steps {
            table.row([
                &step.system,
                &step.threads.to_string(),
                &format!("{:.3}", step.milliseconds),
                &step.cold_milliseconds.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.3}")),
                &number(step.gigaops),
                &share(step.compute_share),
                &number(step.gigabytes),
                &share(step.memory_share),
            ]);
        }
        table.write(out)?;
        Ok(writeln!(out)?)
    }

    fn write_latencies(&self, out: &mut impl Write) -> Result<()> {
        if self.latencies.is_empty() {
            return Ok(());
        }
        let mut table = Table::default();
        table.row([
            "one at a time",
            "threads",
            "p50 ms",
            "p90 ms",
            "p99 ms",
            "steps",
            "load s",
            "MB",
        ]);
        for latency in &self.latencies {
            let or_dash = |number: Option<String>| number.unwrap_or_else(|| "–".to_owned());
            table.row([
                &latency.system,
                &latency.threads.to_string(),
                &format!("{:.2}", latency.p50),
                &format!("{:.2}", latency.p90),
                &format!("{:.2}", latency.p99),
                &or_dash(latency.steps.map(|steps| format!("{steps:.1}"))),
                &or_dash(latency.load_seconds.map(|s| format!("{s:.2}"))),
                &or_dash(latency.weight_bytes.map(|b| format!("{:.0}", b as f64 / 1e6))),
            ]);
        }
        Ok(table.write(out)?)
    }

    /// One row per system, one column per size.
    fn write_throughput(&self, out: &mut impl Write) -> Result<()> {
        if self.throughput.is_empty() {
            return Ok(());
        }
        let threads = self.limits.threads;
        writeln!(out, "\ntarget tokens per second with {threads} threads at batches of")?;
        for (system, points) in self.curves() {
            let points: Vec<String> =
                points.iter().map(|(batch, speed)| format!("{batch}: {speed:.0}")).collect();
            writeln!(out, "  {system:<24} {}", points.join("  "))?;
        }
        for Overtaking { left_to_right, parallel, crossing } in self.crossings() {
            let Crossing { batch, everywhere, .. } = crossing;
            if everywhere {
                writeln!(out, "{left_to_right} is ahead of {parallel} at all of these batches")?;
            } else {
                writeln!(out, "{left_to_right} overtakes {parallel} at batches of {batch:.1}")?;
            }
        }
        Ok(())
    }

    /// Where the decoders from left to right overtake the parallel ones of their precision.
    fn crossings(&self) -> Vec<Overtaking> {
        let curves = self.curves();
        let mut crossings = Vec::new();
        for (slow, ar) in curves.iter().filter(|(name, _)| name.starts_with("AR")) {
            for (fast, padir) in curves.iter().filter(|(name, _)| name.starts_with("PaDIR")) {
                let precision = |name: &str| name.rsplit(' ').next().map(str::to_owned);
                if precision(slow) == precision(fast)
                    && let Some(crossing) = crossing(padir, ar)
                {
                    crossings.push(Overtaking {
                        left_to_right: (*slow).to_owned(),
                        parallel: (*fast).to_owned(),
                        crossing,
                    });
                }
            }
        }
        crossings
    }

    fn curves(&self) -> Vec<(&str, Vec<(usize, f64)>)> {
        let mut curves: Vec<(&str, Vec<(usize, f64)>)> = Vec::new();
        for Throughput { system, batch, tokens_per_second, .. } in &self.throughput {
            match curves.last_mut() {
                Some((last, points)) if last == system => points.push((*batch, *tokens_per_second)),
                _ => curves.push((system, vec![(*batch, *tokens_per_second)])),
            }
        }
        curves
    }

    pub(super) fn draw(&self, path: &Path) -> Result<()> {
        let mut panel = Panel::new(Axis::log("batch"), Axis::linear("target tokens per second"))
            .legend(Corner::Outside);
        let mut csv = "system,batch,tokens_per_second\n".to_owned();
        for (system, points) in self.curves() {
            for (batch, speed) in &points {
                let _ = writeln!(csv, "{system},{batch},{speed}");
            }
            panel = panel.with(Series::line(system, points.iter().map(|&(b, s)| (b as f64, s))));
        }
        let crossings = self.crossings().into_iter().map(|overtaking| overtaking.crossing);
        let marks = crossings
            .filter(|crossing| !crossing.everywhere)
            .map(|crossing| (crossing.batch, crossing.tokens_per_second, 0.0));
        panel = panel.with(Series::points("AR overtakes", marks));
        let scene = Figure::divided(panel).draw();
        let picture = match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => scene.to_svg().into_bytes(),
            Some("png") => scene.to_png(2.0).context("cannot draw the figure")?,
            _ => bail!(no_picture(path)),
        };
        write_atomically(path, &picture)?;
        write_atomically(path.with_extension("csv"), csv.as_bytes())?;
        Ok(())
    }
}

/// What the processor is called and which of its instructions are used, where that can be found out.
fn machine() -> Option<String> {
    let facts = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let name = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'))?.1;
    Some(format!("{}, {}", name.trim(), Isa::detect()))
}

/// Whether a picture can be drawn to a path, before anything is measured.
pub(super) fn check_picture(path: &Path) -> Result<()> {
    let is_picture =
        path.extension().is_some_and(|extension| extension == "svg" || extension == "png");
    ensure!(is_picture, no_picture(path));
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let exists = directory.is_none_or(Path::is_dir);
    ensure!(exists, "cannot draw {}: there is no such directory", path.display());
    Ok(())
}

fn no_picture(path: &Path) -> String {
    format!("{} is neither .svg nor .png", path.display())
}

impl Latency {
    fn of(system: String, threads: usize, seconds: &[f64]) -> Self {
        let mut sorted: Vec<f64> = seconds.iter().map(|s| 1e3 * s).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |percent| percentile(&sorted, percent).unwrap_or(f64::NAN);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        let (p50, p90, p99) = (at(50), at(90), at(99));
        Self {
            system,
            threads,
            p50,
            p90,
            p99,
            mean,
            steps: None,
            load_seconds: None,
            weight_bytes: None,
        }
    }
}

/// The nearest rank: of n sorted numbers the one at ⌈n·percent/100⌉, at least the first. It is the smallest that so many
/// percent of them do not exceed, and always one that was measured.
pub(super) fn percentile(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        let cases: [(&str, &[f64], usize, Option<f64>); 11] = [
            ("the lower of two in the middle", &ten, 50, Some(5.0)),
            ("exactly at a rank", &ten, 90, Some(9.0)),
            ("just above a rank", &ten, 91, Some(10.0)),
            ("rounded up", &ten, 99, Some(10.0)),
            ("all", &ten, 100, Some(10.0)),
            ("none is the first", &ten, 0, Some(1.0)),
            ("99 of 100", &hundred, 99, Some(99.0)),
            ("the middle of an odd number", &[15.0, 20.0, 35.0, 40.0, 50.0], 50, Some(35.0)),
            ("not interpolated", &[15.0, 20.0, 35.0, 40.0, 50.0], 30, Some(20.0)),
            ("one for all", &[7.0], 99, Some(7.0)),
            ("of nothing", &[], 50, None),
        ];
        for (name, sorted, percent, expected) in cases {
            assert_eq!(percentile(sorted, percent), expected, "{name}");
        }
    }

    #[test]
    fn latencies_are_sorted_and_in_milliseconds() {
        let latency = Latency::of("one".to_owned(), 1, &[0.003, 0.001, 0.002, 0.004]);
        let found = [latency.p50, latency.p90, latency.p99, latency.mean];
        for (found, expected) in found.into_iter().zip([2.0, 4.0, 4.0, 2.5]) {
            assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
        }
    }
}
