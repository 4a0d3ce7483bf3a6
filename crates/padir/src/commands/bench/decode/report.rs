//! What was measured, as a table, as JSON and as a picture.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use padir_base::file::write_atomically;
use padir_plot::{Axis, Corner, Figure, Panel, Series};
use serde::Serialize;

use super::limits::Limits;
use super::peer::PeerSystem;
use super::step::Step;
use super::system::System;
use super::work::Work;
use crate::commands::data::table::Table;
use crate::commands::train::peak_memory;
use crate::console::Console;

/// All results.
#[derive(Serialize)]
pub(super) struct Report {
    work: String,
    limits: Limits,
    steps: Vec<Step>,
    latencies: Vec<Latency>,
    pub(super) throughput: Vec<Throughput>,
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
    pub(super) batch: usize,
    pub(super) tokens_per_second: f64,
}

/// Where a decoder from left to right becomes the faster one.
#[derive(Serialize)]
struct Crossing {
    left_to_right: String,
    parallel: String,
    /// The size of batches.
    batch: f64,
}

impl Report {
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
            limits,
            steps,
            latencies: ours.chain(theirs).collect(),
            throughput: Vec::new(),
            peak_memory: peak_memory(),
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
        writeln!(
            out,
            "{}\n{threads} threads read {read_gigabytes:.1} GB/s and multiply and add {f32_gigaops:.0} \
             (f32) and {int8_gigaops:.0} (int8) times 10⁹ a second{memory}\n",
            self.work
        )?;
        self.write_steps(&mut out)?;
        self.write_latencies(&mut out)?;
        self.write_throughput(&mut out)?;
        Ok(out.flush()?)
    }

    fn write_steps(&self, out: &mut impl Write) -> Result<()> {
        let mut table = Table::default();
        table.row(["one step", "threads", "ms", "10⁹/s", "of limit", "GB/s", "of limit"]);
        let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.1}"));
        let share =
            |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{:.0} %", 100.0 * x));
        for step in &self.steps {
            table.row([
                &step.system,
                &step.threads.to_string(),
                &format!("{:.3}", step.milliseconds),
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
        writeln!(out, "\ntarget tokens per second at batches of")?;
        for (system, points) in self.curves() {
            let points: Vec<String> =
                points.iter().map(|(batch, speed)| format!("{batch}: {speed:.0}")).collect();
            writeln!(out, "  {system:<24} {}", points.join("  "))?;
        }
        for Crossing { left_to_right, parallel, batch } in self.crossings() {
            writeln!(out, "{left_to_right} overtakes {parallel} at batches of {batch:.1}")?;
        }
        Ok(())
    }

    /// Where the decoders from left to right overtake the parallel ones of their precision.
    fn crossings(&self) -> Vec<Crossing> {
        let curves = self.curves();
        let mut crossings = Vec::new();
        for (slow, ar) in curves.iter().filter(|(name, _)| name.starts_with("AR")) {
            for (fast, padir) in curves.iter().filter(|(name, _)| name.starts_with("PaDIR")) {
                let precision = |name: &str| name.rsplit(' ').next().map(str::to_owned);
                if precision(slow) == precision(fast)
                    && let Some((batch, _)) = crossing(padir, ar)
                {
                    crossings.push(Crossing {
                        left_to_right: (*slow).to_owned(),
                        parallel: (*fast).to_owned(),
                        batch,
                    });
                }
            }
        }
        crossings
    }

    fn curves(&self) -> Vec<(&str, Vec<(usize, f64)>)> {
        let mut curves: Vec<(&str, Vec<(usize, f64)>)> = Vec::new();
        for Throughput { system, batch, tokens_per_second } in &self.throughput {
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
        let curves = self.curves();
        let curve = |name: &str| curves.iter().find(|(n, _)| *n == name).map(|(_, points)| points);
        let marks = self.crossings().into_iter().filter_map(|c| {
            let (batch, speed) = crossing(curve(&c.parallel)?, curve(&c.left_to_right)?)?;
            Some((batch, speed, 0.0))
        });
        panel = panel.with(Series::points("AR overtakes", marks));
        let scene = Figure::new().panel(panel).draw();
        let picture = match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => scene.to_svg().into_bytes(),
            Some("png") => scene.to_png(2.0).context("cannot draw the figure")?,
            _ => bail!("{} is neither .svg nor .png", path.display()),
        };
        write_atomically(path, &picture)?;
        write_atomically(path.with_extension("csv"), csv.as_bytes())?;
        Ok(())
    }
}

/// Where one curve first exceeds another that was above it, between two sizes by their logarithms.
fn crossing(above: &[(usize, f64)], below: &[(usize, f64)]) -> Option<(f64, f64)> {
    let both: Vec<(f64, f64, f64)> =
        above.iter().zip(below).map(|(a, b)| ((a.0 as f64).ln(), a.1.ln(), b.1.ln())).collect();
    both.windows(2).find_map(|pair| {
        let [(x, a, b), (next_x, next_a, next_b)] = [pair[0], pair[1]];
        let share = (a - b) / ((a - b) - (next_a - next_b));
        (a > b && next_a <= next_b)
            .then(|| ((x + share * (next_x - x)).exp(), (a + share * (next_a - a)).exp()))
    })
}

impl Latency {
    fn of(system: String, threads: usize, seconds: &[f64]) -> Self {
        let mut sorted: Vec<f64> = seconds.iter().map(|s| 1e3 * s).collect();
        sorted.sort_by(f64::total_cmp);
        // The smallest that so large a share does not exceed.
        let at = |share: f64| {
            let rank = (share * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
        };
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        let (p50, p90, p99) = (at(0.5), at(0.9), at(0.99));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_cross_where_they_are_equal() {
        let flat = [(1, 100.0), (4, 100.0), (16, 100.0)];
        let steep = [(1, 25.0), (4, 100.0 / 2.0_f64.sqrt()), (16, 200.0)];
        // From 2^-1/2 to 2 in two doublings of the size: a third of the way by logarithms.
        let (batch, speed) = crossing(&flat, &steep).unwrap();
        assert!((batch - 4.0 * 4.0_f64.powf(1.0 / 3.0)).abs() < 1e-9, "{batch}");
        assert!((speed - 100.0).abs() < 1e-9, "{speed}");
        assert_eq!(crossing(&steep, &flat), None, "it was never above");
        assert_eq!(crossing(&flat, &flat), None);
    }
}
