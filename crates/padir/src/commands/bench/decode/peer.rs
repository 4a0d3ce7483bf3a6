//! Another engine on the same autoregressive model and sentences.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use padir_checkpoint::Checkpoint;
use padir_translate::{Decoding, decoding_of};
use serde_json::{Value, json};

use super::work::{Task, Work};
use crate::commands::bench::program::Program;

/// A peer with a precision and a beam.
pub(super) struct PeerSystem {
    peer: Rc<RefCell<Program>>,
    pub(super) name: String,
    pub(super) threads: usize,
    settings: Value,
    pub(super) seconds: Vec<f64>,
}

/// Starts the program, finds its best numbers of threads, and warms it up.
pub(super) fn start(command: &str, model: &Path, work: &Work) -> Result<Vec<PeerSystem>> {
    let checkpoint = Checkpoint::open(model)?;
    let Decoding::Beam(own) = decoding_of(&checkpoint)? else {
        bail!("{} is not autoregressive", model.display());
    };
    let mut peer = Program::start(command, &[model.as_os_str()])?;
    let described = peer.ask(&json!({"describe": true}))?;
    let who = described["name"].as_str().unwrap_or("peer").to_owned();
    let peer = Rc::new(RefCell::new(peer));
    let mut systems = Vec::new();
    for (precision, short) in [("float32", "f32"), ("int8", "int8")] {
        for beam in [1, 5] {
            let mut settings = json!({
                "precision": precision,
                "beam": beam,
                "length_penalty": own.length_penalty,
                "batch": 1,
            });
            if let Task::Fixed { length } = work.task {
                settings["min_length"] = json!(length);
                settings["max_length"] = json!(length);
            } else {
                settings["max_length"] = json!(128);
            }
            let mut trial = settings.clone();
            trial["sources"] = json!(&work.sources[..work.len().min(3)]);
            let answer = peer.borrow_mut().ask(&json!({"best_threads": trial}))?;
            let threads = answer["threads"]
                .as_u64()
                .with_context(|| format!("the peer answered {answer}"))?;
            // What it found, as it calls it.
            for key in ["threads", "inter_threads", "backend"] {
                if let Some(found) = answer.get(key) {
                    settings[key] = found.clone();
                }
            }
            let way = if beam == 1 { "greedy".to_owned() } else { format!("beam {beam}") };
            systems.push(PeerSystem {
                peer: Rc::clone(&peer),
                name: format!("{who} {way} {short}"),
                threads: threads as usize,
                settings,
                seconds: Vec::new(),
            });
        }
    }
    Ok(systems)
}

impl PeerSystem {
    /// Translates one sentence; the peer takes the time itself.
    pub(super) fn translate_one(&mut self, work: &Work, sentence: usize) -> Result<()> {
        let mut command = self.settings.clone();
        command["sources"] = json!([&work.sources[sentence]]);
        let answer = self.peer.borrow_mut().ask(&json!({"translate": command}))?;
        let seconds = answer["seconds"][0].as_f64();
        self.seconds.push(seconds.with_context(|| format!("the peer answered {answer}"))?);
        Ok(())
    }
}
