//! Which mask law, and with it which chain or estimator.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::model::read_config;

use crate::hint::WithHint;

/// The mask law.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Mask law")]
pub(crate) struct LawArgs {
    /// Blocks of this size, all equally likely.
    #[arg(long, value_name = "K", default_value_t = 1, allow_negative_numbers = true)]
    k: usize,

    /// Read any mask law, adaptive ones included, from a .toml or .json file instead.
    #[arg(long, value_name = "FILE", conflicts_with = "k")]
    law: Option<PathBuf>,
}

impl LawArgs {
    /// The file that is read, if there is one.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.law.as_deref().into_iter()
    }

    /// The law, for a number of sites.
    pub(crate) fn build(&self, sites: usize) -> Result<MaskLaw> {
        if let Some(path) = &self.law {
            return read_config(path).hint("a law looks like { law = \"exactly\", k = 2 }");
        }
        ensure!((1..=sites).contains(&self.k), "k = {} is not between 1 and N = {sites}", self.k);
        Ok(MaskLaw::Exactly { k: self.k })
    }
}
