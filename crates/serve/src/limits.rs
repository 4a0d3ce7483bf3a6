//! What a server bears.

use std::time::Duration;

/// What a server bears. A request over a limit is answered with 413, 429 or 503 and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of a request's body, uploads included.
    pub body: usize,
    /// Characters of all texts of a request.
    pub characters: usize,
    /// Sentences of all texts of a request.
    pub sentences: usize,
    /// How long a request may take, the reading of its body included.
    pub time: Duration,
    /// Requests that are worked on at a time.
    pub requests: usize,
    /// Open connections.
    pub connections: usize,
    /// Sentences that wait for the engine.
    pub queue: usize,
    /// Sentences of one batch. A sentence that arrives waits for at most one batch before its first turn.
    pub batch: usize,
    /// Refinement steps or Gibbs sweeps that a request may ask for.
    pub steps: usize,
    /// Memory of a search, in hypotheses with few candidates, that a request may ask for.
    pub search: usize,
    /// Requests a minute of a client without a key; none for any number.
    pub rate: Option<u32>,
    /// Bytes of translated files that are kept for their download.
    pub files: usize,
    /// How long a translated file is kept.
    pub file_time: Duration,
    /// How long requests may go on after the server is told to stop.
    pub shutdown: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 2 << 20,
            characters: 200_000,
            sentences: 5_000,
            time: Duration::from_mins(1),
            requests: 256,
            connections: 1024,
            queue: 20_000,
            batch: 32,
            steps: 100,
            search: 256,
            rate: None,
            files: 64 << 20,
            file_time: Duration::from_mins(15),
            shutdown: Duration::from_secs(30),
        }
    }
}

/// Characters of one batch: long sentences make small batches, so that a turn stays short.
pub(crate) const BATCH_CHARACTERS: usize = 8 << 10;
/// Most of the best that are listed.
pub(crate) const MAX_NBEST: usize = 64;
