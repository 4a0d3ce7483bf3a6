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

impl Report {
    pub(super) fn new(
        work: &Work,
        limits: Limits,
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
            latencies: ours.chain(theirs).collect(),
            throughput: Vec::new(),
            peak_memory: peak_memory(),
        }
    }

    pub(super) fn show(&self, console: &Console) -> Result<()> {
        if console.wants_json() {
            return console.print_json(self);
        }
        let mut out = console.out();
        let memory = self.peak_memory.map_or(String::new(), |m| format!(", peak {} MB", m >> 20));
        writeln!(
            out,
            "{}\nmemory is read at {:.1} GB/s by {} threads{memory}\n",
            self.work, self.limits.read_gigabytes, self.limits.threads
        )?;
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
        table.write(&mut out)?;
        self.write_throughput(&mut out)?;
        Ok(out.flush()?)
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
        Ok(())
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
