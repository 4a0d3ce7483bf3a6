//! A whole server over loopback, with the models of the repository.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod bounds;
mod house;
mod libre;
mod native;
mod operation;
mod turns;
