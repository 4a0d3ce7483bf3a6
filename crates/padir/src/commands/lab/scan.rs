//! In which order blocks are updated.

use anyhow::Result;
use padir_base::mask::MaskLaw;
use padir_lab::chain::Scan;
use padir_lab::model::Model;

use crate::hint::WithHint;

/// The order of updates.
#[derive(clap::Args, Clone, Copy)]
#[command(next_help_heading = "Mask law")]
pub(crate) struct ScanArgs {
    /// The order of updates: a random block at every step, blocks one after the other, or classes of sites
    /// that are independent given the others.
    #[arg(long, value_enum, default_value = "random")]
    scan: ScanName,
}

/// A scan as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ScanName {
    /// A random block at every step.
    Random,
    /// Blocks one after the other: k sites each, or those of a law of blocks.
    Systematic,
    /// Colour classes one after the other, all sites of a class at once.
    Colour,
}

impl ScanName {
    /// What it means.
    pub(crate) fn scan(self) -> Scan {
        match self {
            Self::Random => Scan::Random,
            Self::Systematic => Scan::Systematic,
            Self::Colour => Scan::Colour,
        }
    }
}

impl ScanArgs {
    /// What it means.
    pub(crate) fn scan(self) -> Scan {
        self.scan.scan()
    }

    /// The blocks of a sweep; none for a random scan.
    pub(crate) fn sweep(self, model: &Model, law: &MaskLaw) -> Result<Option<Vec<Vec<usize>>>> {
        sweep(self.scan(), model, law)
    }
}

/// The blocks of a sweep; none for a random scan.
pub(crate) fn sweep(scan: Scan, model: &Model, law: &MaskLaw) -> Result<Option<Vec<Vec<usize>>>> {
    scan.sweep(model, law)
        .hint("--scan systematic takes --k or a law of blocks, --scan colour neither")
}
