//! A peer of `padir bench train`: another program that trains on the same batches.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Context, Result};
use padir_train::config::{Algorithm, Config};
use serde_json::{Value, json};

use super::program::Program;
use crate::hint::WithHint;

/// Another program that trains.
pub(super) struct Peer {
    program: Program,
}

impl Peer {
    pub(super) fn start(command: &str, directory: &Path, config: &Config) -> Result<Self> {
        let optimiser = match config.optimiser.algorithm {
            Algorithm::Adafactor { .. } => "adafactor",
            Algorithm::Adamw { .. } => "adamw",
        };
        let threads = rayon::current_num_threads().to_string();
        let arguments = [
            directory.as_os_str(),
            OsStr::new("--optimizer"),
            OsStr::new(optimiser),
            OsStr::new("--threads"),
            OsStr::new(&threads),
        ];
        let program = Program::start(command, &arguments).hint(
            "--peer \"python bench/pytorch_train.py\" needs PyTorch, see the head of that file",
        )?;
        Ok(Self { program })
    }

    /// What it says of itself; its answer means that it is ready.
    pub(super) fn describe(&mut self) -> Result<Value> {
        self.program.ask(&json!({"describe": true}))
    }

    /// Tokens per second and peak memory.
    pub(super) fn run(&mut self, steps: u32) -> Result<(f64, Option<f64>)> {
        let answer = self.program.ask(&json!({"run": steps}))?;
        let number = |key: &str| answer[key].as_f64();
        let speed =
            number("tokens").zip(number("seconds")).map(|(tokens, seconds)| tokens / seconds);
        let speed = speed.with_context(|| format!("the peer answered {answer}"))?;
        Ok((speed, number("peak_rss_bytes")))
    }
}
