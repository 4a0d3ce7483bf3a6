//! Latencies.

use serde::{Deserialize, Serialize};

/// What `padir bench decode --json` prints, as far as it is used.
#[derive(Serialize, Deserialize)]
pub(super) struct Latencies {
    pub(super) work: String,
    /// The processor.
    #[serde(default)]
    pub(super) machine: Option<String>,
    #[serde(rename = "latencies")]
    pub(super) systems: Vec<Latency>,
}

/// Milliseconds of one system.
#[derive(Serialize, Deserialize)]
pub(super) struct Latency {
    pub(super) system: String,
    pub(super) threads: usize,
    pub(super) p50: f64,
    pub(super) p90: f64,
    pub(super) p99: f64,
    /// Refinement steps or tokens, on average.
    pub(super) steps: Option<f64>,
}

impl Latencies {
    /// The system that others are compared with: beam search with the least median.
    pub(super) fn yardstick(&self) -> Option<&Latency> {
        let beams = self.systems.iter().filter(|l| l.system.contains("beam"));
        beams.min_by(|a, b| a.p50.total_cmp(&b.p50))
    }
}
