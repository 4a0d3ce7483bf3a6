//! Which states count as arrived.

use anyhow::{Context, Result, ensure};
use padir_lab::model::Model;
use padir_lab::space::Space;

/// The target.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Target")]
pub(crate) struct TargetArgs {
    /// The sites that must all have the last symbol, +1 of spins [default: the clique, or all].
    #[arg(long, value_name = "I,…", value_delimiter = ',', allow_negative_numbers = true)]
    set: Vec<usize>,

    /// What must hold, site=symbol: `0=1,3=2`, of spins also `0=+,3=-`. Given more than once, any of them
    /// counts.
    #[arg(long, value_name = "I=S,…", conflicts_with = "set")]
    target: Vec<String>,
}

/// A set of states: all pairs (site, symbol) of one of the lists.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target(Vec<Vec<(usize, u8)>>);

impl TargetArgs {
    /// Whether the user named a target.
    pub(crate) fn is_given(&self) -> bool {
        !self.set.is_empty() || !self.target.is_empty()
    }

    /// The target, `usual` if none was named.
    pub(crate) fn build(
        &self,
        model: &Model,
        usual: impl Iterator<Item = usize>,
    ) -> Result<Target> {
        let (sites, symbols) = (model.sites(), model.symbols());
        let last = (symbols - 1).min(255) as u8;
        if self.target.is_empty() {
            let set: Vec<usize> =
                if self.set.is_empty() { usual.collect() } else { self.set.clone() };
            if let Some(site) = set.iter().find(|site| **site >= sites) {
                anyhow::bail!("--set names site {site}, but the sites are 0 to {}", sites - 1);
            }
            return Ok(Target(vec![set.into_iter().map(|site| (site, last)).collect()]));
        }
        let list = |text: &String| -> Result<Vec<(usize, u8)>> {
            text.split(',').map(|part| pair(part, sites, symbols)).collect()
        };
        Ok(Target(self.target.iter().map(list).collect::<Result<_>>()?))
    }
}

fn pair(part: &str, sites: usize, symbols: usize) -> Result<(usize, u8)> {
    let form = || format!("--target {part} is not of the form site=symbol, like 0=1");
    let (site, symbol) = part.split_once('=').with_context(form)?;
    let site: usize = site.trim().parse().with_context(form)?;
    ensure!(site < sites, "--target names site {site}, but the sites are 0 to {}", sites - 1);
    let symbol: usize = match symbol.trim() {
        "+" if symbols == 2 => 1,
        "-" | "−" if symbols == 2 => 0,
        number => number.parse().with_context(form)?,
    };
    ensure!(
        symbol < symbols.min(256),
        "--target names symbol {symbol}, but the symbols are 0 to {}",
        symbols - 1
    );
    Ok((site, symbol as u8))
}

impl Target {
    /// Whether a state counts.
    pub(crate) fn holds(&self, state: &[u8]) -> bool {
        self.0.iter().any(|list| list.iter().all(|&(site, symbol)| state[site] == symbol))
    }

    /// One flag for every state of a space.
    pub(crate) fn flags(&self, space: Space) -> Vec<bool> {
        let state = |x: usize| space.symbols_of(x).map(|s| s as u8).collect::<Vec<u8>>();
        (0..space.size()).map(|x| self.holds(&state(x))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_and_mistakes_named() {
        assert_eq!(pair("0=+", 2, 2).unwrap(), (0, 1));
        assert_eq!(pair("1=-", 2, 2).unwrap(), (1, 0));
        assert_eq!(pair("3=2", 4, 3).unwrap(), (3, 2));
        for (text, message) in [
            ("3", "--target 3 is not of the form site=symbol, like 0=1"),
            ("4=1", "--target names site 4, but the sites are 0 to 3"),
            ("1=3", "--target names symbol 3, but the symbols are 0 to 2"),
            ("1=+", "--target 1=+ is not of the form site=symbol, like 0=1"),
        ] {
            assert_eq!(pair(text, 4, 3).unwrap_err().to_string(), message);
        }
        let target = Target(vec![vec![(0, 1), (1, 1)], vec![(2, 0)]]);
        assert!(target.holds(&[1, 1, 1]) && target.holds(&[0, 0, 0]) && !target.holds(&[0, 1, 1]));
    }
}
