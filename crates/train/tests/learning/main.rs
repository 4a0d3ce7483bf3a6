//! Whole runs on made-up data: they learn, they go on after an interruption, they refuse what they should.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod confidence;
mod fixture;
mod models;
mod resuming;
mod rivals;
mod selection;
mod small;
mod spelling;
mod stopping;
