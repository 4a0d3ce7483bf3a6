//! Learning: objectives, schedules, the loop and its records.
