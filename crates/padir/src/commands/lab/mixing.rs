//! The second table of `padir lab exact`: entropy constants and mixing times.

use anyhow::{Result, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::distribution::Distribution;
use padir_lab::inequality::{Constant, Inequality, SearchSettings, constant};
use padir_lab::mixing::{self, mixing_time};
use serde::Serialize;

use super::exact::{Exact, Report};
use super::output::{finite, human, human_option, print_table};
use crate::console::Console;

/// What is known of one block size beyond its gap.
#[derive(Serialize)]
pub(crate) struct Mixing {
    tensorisation: Between,
    log_sobolev: Between,
    modified_log_sobolev: Between,
    /// ε.
    epsilon: f64,
    /// `t_mix(ε)`; none where it is not computed, or never.
    #[serde(rename = "mixing_time")]
    time: Option<f64>,
}

/// A constant from both sides.
#[derive(Serialize)]
pub(crate) struct Between {
    lower: Option<f64>,
    upper: Option<f64>,
    rule: Option<&'static str>,
}

impl From<Constant> for Between {
    fn from(found: Constant) -> Self {
        Self {
            lower: finite(found.lower),
            upper: found.upper.map(|upper| upper.value),
            rule: found.upper.map(|upper| upper.rule.name()),
        }
    }
}

/// Larger spaces take too long to search.
const LARGEST: usize = 256;

impl Exact {
    /// One entry per block size if asked for, else none.
    pub(super) fn mixing(
        &self,
        console: &Console,
        p: &Distribution,
        sizes: &[usize],
    ) -> Result<Vec<Mixing>> {
        if !self.mixing {
            return Ok(Vec::new());
        }
        ensure!(
            self.epsilon > 0.0 && self.epsilon < 1.0,
            "--epsilon {} is not between 0 and 1",
            self.epsilon
        );
        let states = p.space().size();
        ensure!(
            states <= LARGEST,
            "--mixing searches densities on {states} states; the limit is {LARGEST}"
        );
        let progress = console.progress("Climbing", 0);
        let settings = SearchSettings::default();
        let found = sizes.iter().map(|&k| {
            let law = MaskLaw::Exactly { k };
            let search = |inequality| -> Result<Between> {
                Ok(constant(inequality, p, &law, &settings, || progress.inc(1))?.into())
            };
            let short = states <= mixing::LARGEST;
            Ok(Mixing {
                tensorisation: search(Inequality::Tensorisation)?,
                log_sobolev: search(Inequality::LogSobolev)?,
                modified_log_sobolev: search(Inequality::ModifiedLogSobolev)?,
                epsilon: self.epsilon,
                time: if short { mixing_time(p, &law, self.epsilon)? } else { None },
            })
        });
        let found = found.collect();
        progress.finish_and_clear();
        found
    }
}

/// The table, if there is one.
pub(super) fn print_mixing(console: &Console, report: &Report) -> Result<()> {
    let rows: Vec<Vec<String>> = report
        .k
        .iter()
        .filter_map(|row| row.mixing.as_ref().map(|mixing| (row, mixing)))
        .map(|(row, m)| {
            let bound = |value: Option<f64>| human_option(value);
            vec![
                row.k.to_string(),
                bound(m.tensorisation.lower),
                bound(m.tensorisation.upper),
                bound(m.log_sobolev.lower),
                bound(m.log_sobolev.upper),
                bound(m.modified_log_sobolev.lower),
                bound(m.modified_log_sobolev.upper),
                m.time.map_or_else(|| "–".to_owned(), human),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let head = ["k", "C_AT ≥", "C_AT ≤", "C_LS ≥", "C_LS ≤", "C_MLS ≥", "C_MLS ≤", "t_mix"];
    print_table(console, &head, &rows)?;
    console.note(
        "constants: found (≥) and proven (≤); \
         t_mix: first t with TV ≤ ε from every start",
    );
    Ok(())
}
