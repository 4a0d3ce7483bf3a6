//! A translation server on the translator library.
//!
//! ```text
//! connection ─► limits, keys ─► sentences ─► queue ─► batch ─► translator ─► answer
//!   (tokio)       (tokio)        (tokio)    (fair)   (one engine thread)    (tokio)
//! ```
//!
//! Two interfaces share one queue: LibreTranslate's, so that its clients work unchanged, and our own under `/v1`, with every
//! decoding setting, n-best lists, confidences and the refinement steps as server-sent events. A request is cut into
//! sentences; the queue takes turns between clients and between their requests and hands
//! batches to one engine thread, so that a request of a thousand sentences does not hold up one of a single sentence. A
//! batch is whatever waits when the engine is free: nobody waits for a batch to fill. A request whose client goes away is
//! cancelled between two steps.
//!
//! [`Server::bind`] takes models by way of a function that loads them, which is called again on [`Handle::reload`]. Requests
//! hold on to the model they were accepted with, so that none is lost when models change.

mod api;
mod app;
mod catalogue;
mod connection;
mod detect;
mod document;
mod engine;
mod error;
mod keys;
mod limits;
mod metrics;
mod order;
mod page;
mod queue;
mod record;
mod segment;
mod server;
mod store;
mod words;

pub use catalogue::{Load, LoadError, Loaded};
pub use error::ServeError;
pub use keys::{Keys, KeysError};
pub use limits::Limits;
pub use record::{Log, Record};
pub use server::{Handle, Options, Server};

/// Parsers of what clients send, for fuzzing.
pub mod parse {
    pub use crate::api::fields::{Fields, fields_of};
    pub use crate::document::html::Html;
    pub use crate::document::srt::Srt;
}
