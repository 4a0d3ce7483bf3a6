//! How fast a run learns: tokens per second between two lines of its record, pauses left out.

use std::time::Instant;

/// Counts tokens and looks at the clock. It knows nothing of earlier sessions: theirs were other seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speedometer {
    /// When counting began, later by all pauses since.
    since: Instant,
    tokens: u64,
}

impl Speedometer {
    /// Begins to count.
    pub(super) fn start(now: Instant) -> Self {
        Self { since: now, tokens: 0 }
    }

    /// Counts the tokens of a step.
    pub(super) fn count(&mut self, tokens: u64) {
        self.tokens += tokens;
    }

    /// Leaves out what was no training.
    pub(super) fn pause(&mut self, began: Instant, ended: Instant) {
        self.since += ended.saturating_duration_since(began);
    }

    /// Tokens per second.
    pub(super) fn read(&self, now: Instant) -> f64 {
        let seconds = now.saturating_duration_since(self.since).as_secs_f64();
        self.tokens as f64 / seconds.max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn pauses_and_earlier_tokens_do_not_count() {
        let start = Instant::now();
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        let mut speed = Speedometer::start(start);
        speed.count(300);
        speed.pause(after(2), after(12));
        speed.count(100);
        assert!((speed.read(after(14)) - 100.0).abs() < 1e-9);
        speed = Speedometer::start(after(14));
        assert!(speed.read(after(15)).abs() < 1e-9);
    }
}
