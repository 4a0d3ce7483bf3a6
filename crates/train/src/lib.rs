//! Learning: objectives, schedules, the loop and its records.

pub mod config;
pub mod schedule;
