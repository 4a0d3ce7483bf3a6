//! What a run leaves behind while it goes: numbers in `metrics.jsonl`, and the same as TensorBoard
//! events.
//!
//! `metrics.jsonl` is the truth. One line is one [`Row`]; a line is written at once, so that a
//! killed run leaves at most one torn line, the last, which reading ignores and resuming removes.
//! The events are derived: a resumed run writes them anew from the rows it keeps.

mod crc32c;
mod events;
mod metrics;
mod row;

use std::path::Path;

pub use events::{Events, EventsError};
pub use metrics::{FILE_NAME, Known, Metrics, RecordError, read};
pub use row::{Kind, Row};

use events::remove_old;

/// Writes rows to both places.
#[derive(Debug)]
pub struct Recorder {
    metrics: Metrics,
    events: Events,
}

impl Recorder {
    /// Starts the record of a new run in its directory.
    ///
    /// # Errors
    /// If there is a record already, or the directory cannot be written to.
    pub fn begin(directory: impl AsRef<Path>) -> Result<Self, RecordError> {
        let directory = directory.as_ref();
        let metrics = Metrics::begin(directory)?;
        Ok(Self { metrics, events: Events::create(directory)? })
    }

    /// Goes on with the record of a run that is resumed: rows that its checkpoint does not know are removed. Also returns the
    /// rows that stay.
    ///
    /// # Errors
    /// If the record cannot be read or is not one.
    pub fn resume(
        directory: impl AsRef<Path>,
        known: Known,
    ) -> Result<(Self, Vec<Row>), RecordError> {
        let directory = directory.as_ref();
        let (metrics, rows) = Metrics::resume(directory, known)?;
        remove_old(directory)?;
        let mut events = Events::create(directory)?;
        rows.iter().try_for_each(|row| events.append(row))?;
        Ok((Self { metrics, events }, rows))
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, row: &Row) -> Result<(), RecordError> {
        self.metrics.append(row)?;
        Ok(self.events.append(row)?)
    }
}

#[cfg(test)]
mod tests;
