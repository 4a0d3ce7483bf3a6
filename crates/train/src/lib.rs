//! Learning: objectives, schedules, the loop and its records.

pub mod config;
pub mod cost;
pub mod data;
pub mod devset;
pub mod learner;
pub mod network_model;
pub mod objective;
pub mod record;
pub mod rundir;
pub mod schedule;
pub mod state;
pub mod trainer;
