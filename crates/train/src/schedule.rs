//! The learning rate of every step.
//!
//! Steps t are counted from 1. All schedules begin with a linear warm-up of W steps from `start`
//! towards `peak`, which step W reaches:
//!
//! ```text
//! t < W      start + (peak − start) · t / W
//! t ≥ W      constant           peak
//!            inverse-sqrt       peak · √(W / t), W taken as at least 1
//!            cosine             end + (peak − end) · (1 + cos(π · (t − W) / (T − W))) / 2
//! t ≥ T      cosine             end
//! ```

use std::f64::consts::PI;

use serde::Serialize;

/// How the learning rate changes over a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Schedule {
    /// The shape after the warm-up.
    #[serde(flatten)]
    pub decay: Decay,
    /// The largest rate.
    pub peak: f64,
    /// W, the steps of the warm-up; 0 means none.
    pub warmup: u64,
    /// The rate the warm-up starts from.
    pub start: f64,
}

/// What follows the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Decay {
    /// The rate stays at its peak.
    Constant,
    /// The rate falls as 1/√t.
    InverseSqrt,
    /// The rate falls along half a cosine.
    Cosine {
        /// The last rate, and that of all steps beyond.
        end: f64,
        /// T, the step that reaches it.
        steps: u64,
    },
}

impl Schedule {
    /// The paper's: 1e-5 to 0.003 over 10,000 steps, then by cosine to 1e-5 at step 500,000.
    pub const PAPER: Self = Self {
        decay: Decay::Cosine { end: 1e-5, steps: 500_000 },
        peak: 0.003,
        warmup: 10_000,
        start: 1e-5,
    };

    /// The rate of a step.
    pub fn rate(&self, step: u64) -> f64 {
        let Self { decay, peak, warmup, start } = *self;
        if step < warmup {
            return start + (peak - start) * (step as f64 / warmup as f64);
        }
        match decay {
            Decay::Constant => peak,
            Decay::InverseSqrt => {
                let warmup = warmup.max(1) as f64;
                peak * (warmup / step.max(1) as f64).sqrt()
            }
            Decay::Cosine { end, steps } if step >= steps => end,
            Decay::Cosine { end, steps } => {
                let progress = (step - warmup) as f64 / (steps - warmup) as f64;
                end + (peak - end) * f64::midpoint(1.0, (PI * progress).cos())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(decay: Decay, warmup: u64) -> Schedule {
        Schedule { decay, peak: 0.8, warmup, start: 0.2 }
    }

    #[test]
    fn rates_are_those_of_the_formulas() {
        let cosine = Decay::Cosine { end: 0.4, steps: 30 };
        let cases = [
            ("warm-up, quarter", schedule(Decay::Constant, 20), 5, 0.35),
            ("warm-up, last", schedule(cosine, 20), 19, 0.2 + 0.6 * 0.95),
            ("constant, peak", schedule(Decay::Constant, 20), 20, 0.8),
            ("constant, later", schedule(Decay::Constant, 20), 9_999, 0.8),
            ("constant, no warm-up", schedule(Decay::Constant, 0), 1, 0.8),
            ("root, peak", schedule(Decay::InverseSqrt, 20), 20, 0.8),
            ("root, fourfold", schedule(Decay::InverseSqrt, 20), 80, 0.4),
            ("root, no warm-up", schedule(Decay::InverseSqrt, 0), 16, 0.2),
            ("cosine, peak", schedule(cosine, 10), 10, 0.8),
            ("cosine, half way", schedule(cosine, 10), 20, 0.6),
            ("cosine, a third", schedule(Decay::Cosine { end: 0.4, steps: 40 }, 10), 20, 0.7),
            ("cosine, end", schedule(cosine, 10), 30, 0.4),
            ("cosine, beyond", schedule(cosine, 10), 31, 0.4),
            ("cosine, nothing but warm-up", schedule(cosine, 30), 30, 0.4),
            ("paper, start", Schedule::PAPER, 0, 1e-5),
            ("paper, warm-up", Schedule::PAPER, 5_000, 0.001_505),
            ("paper, peak", Schedule::PAPER, 10_000, 0.003),
            ("paper, half way", Schedule::PAPER, 255_000, 0.001_505),
            ("paper, end", Schedule::PAPER, 500_000, 1e-5),
        ];
        for (name, schedule, step, expected) in cases {
            let rate = schedule.rate(step);
            assert!((rate - expected).abs() < 1e-12, "{name}: {rate} is not {expected}");
        }
    }

    #[test]
    fn rates_never_leave_their_bounds() {
        for step in 0..600_000 {
            let rate = Schedule::PAPER.rate(step);
            assert!((1e-5..=0.003).contains(&rate), "step {step}: {rate}");
        }
    }
}
