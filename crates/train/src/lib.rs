//! Learning: objectives, schedules, the loop and its records.

pub mod schedule;
