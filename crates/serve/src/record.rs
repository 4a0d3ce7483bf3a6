//! What a server tells of its work: one record for each request, without texts, keys or addresses.

use serde::Serialize;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Record<'a> {
    /// A request was answered.
    Request {
        /// The method.
        method: &'a str,
        /// The route, without what is variable in it.
        route: &'a str,
        /// The status.
        status: u16,
        /// From the head of the request to the head of the answer.
        milliseconds: f64,
    },
    /// Models were loaded.
    Loaded {
        /// Their names.
        models: Vec<&'a str>,
    },
    /// Models could not be loaded; those from before go on.
    LoadFailed {
        /// What is wrong.
        reason: &'a str,
    },
    /// A sentence could not be translated.
    DecodingFailed {
        /// The model.
        model: &'a str,
        /// What is wrong.
        reason: &'a str,
    },
    /// The server stops.
    Stopping,
    /// Requests did not end in time after the server was told to stop.
    Abandoned {
        /// How many connections.
        connections: usize,
    },
}

/// Who is told. It is called by several threads.
pub type Log = Box<dyn Fn(&Record<'_>) + Send + Sync>;
