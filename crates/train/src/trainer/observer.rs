//! Who watches a run, and what there is to see.

use crate::devset::Evaluation;

/// Somebody who watches a run.
pub trait Observer: Send {
    /// Something worth a remark happened.
    fn note(&mut self, text: &str);
    /// A step was made.
    fn stepped(&mut self, moment: &Moment);
    /// A dev set was evaluated.
    fn evaluated(&mut self, step: u64, set: &str, evaluation: &Evaluation);
}

/// A step and where it leads.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Steps made.
    pub step: u64,
    /// The last step, if it is known.
    pub last: Option<u64>,
    /// The epoch, from 0.
    pub epoch: u32,
    /// The mean loss per token since the last line of the record.
    pub loss: f64,
    /// Target tokens per second since then, or since the run was resumed.
    pub speed: f64,
    /// The learning rate.
    pub rate: f64,
    /// Seconds of training so far.
    pub seconds: f64,
    /// Whether this goes to the record.
    pub recorded: bool,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The last step was made.
    Steps,
    /// The time is up.
    Time,
    /// The last epoch is over.
    Epochs,
    /// The metric did not improve any more.
    Patience,
    /// Somebody stopped it.
    Stopped,
}

impl Ending {
    /// In words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Steps => "all steps are made",
            Self::Time => "the time is up",
            Self::Epochs => "the last epoch is over",
            Self::Patience => "the metric does not improve any more",
            Self::Stopped => "it was stopped",
        }
    }
}
