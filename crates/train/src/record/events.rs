//! TensorBoard event files: protocol buffers in the record framing of TensorFlow.
//!
//! ```text
//! record = length: u64, masked crc32c of length: u32, data, masked crc32c of data: u32
//! data   = Event { wall_time = 1, step = 2, file_version = 3, summary = 5 }
//! ```
//!
//! Numbers are little-endian; field numbers are those of the public `event.proto` and
//! `summary.proto`. `reference/train/events.py` reads such a file with TensorBoard itself.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use prost::Message;
use thiserror::Error;

use super::crc32c::masked;
use super::row::{Kind, Row};

/// What TensorBoard looks for in a file name, and what it ends with if it is ours.
const PREFIX: &str = "events.out.tfevents.";
const SUFFIX: &str = ".padir";

/// Events could not be written.
#[derive(Debug, Error)]
#[error("cannot write {}", path.display())]
pub struct EventsError {
    path: PathBuf,
    source: io::Error,
}

/// An open event file.
#[derive(Debug)]
pub struct Events {
    path: PathBuf,
    file: File,
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(string, optional, tag = "3")]
    file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    summary: Option<Summary>,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    tag: String,
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

impl Events {
    /// Creates an event file in a directory, named after the time.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(directory: &Path) -> Result<Self, EventsError> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Names sort by age, which is how TensorBoard orders the files of a run.
        let name = format!("{PREFIX}{}.{:09}{SUFFIX}", time.as_secs(), time.subsec_nanos());
        let path = directory.join(name);
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(file) => {
                let mut events = Self { path, file };
                events.write(&Event {
                    wall_time: time.as_secs_f64(),
                    step: 0,
                    file_version: Some("brain.Event:2".to_owned()),
                    summary: None,
                })?;
                Ok(events)
            }
            Err(source) => Err(EventsError { path, source }),
        }
    }

    /// Adds the numbers of a row. Those of training get a `train/` before their name; `dev.loss`
    /// becomes `dev/loss`, because TensorBoard groups by what stands before a slash.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn append(&mut self, row: &Row) -> Result<(), EventsError> {
        if row.values.is_empty() {
            return Ok(());
        }
        let value = row.values.iter().map(|(name, &value)| Value {
            tag: match row.kind {
                Kind::Train => format!("train/{name}"),
                Kind::Eval | Kind::Change => name.replacen('.', "/", 1),
            },
            simple_value: Some(value as f32),
        });
        self.write(&Event {
            wall_time: row.time,
            step: i64::try_from(row.step).unwrap_or(i64::MAX),
            file_version: None,
            summary: Some(Summary { value: value.collect() }),
        })
    }

    fn write(&mut self, event: &Event) -> Result<(), EventsError> {
        let written = self.file.write_all(&frame(&event.encode_to_vec()));
        written.map_err(|source| EventsError { path: self.path.clone(), source })
    }
}

fn frame(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(data.len() + 16);
    record.extend(length);
    record.extend(masked(&length).to_le_bytes());
    record.extend(data);
    record.extend(masked(data).to_le_bytes());
    record
}

/// Removes the event files that we wrote into a directory.
pub(super) fn remove_old(directory: &Path) -> Result<(), EventsError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        |source| EventsError { path, source }
    };
    for entry in fs::read_dir(directory).map_err(fail(directory))? {
        let path = entry.map_err(fail(directory))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            fs::remove_file(&path).map_err(fail(&path))?;
        }
    }
    Ok(())
}
