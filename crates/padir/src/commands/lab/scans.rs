//! The scans of `padir lab exact`: what replaces the gap where blocks are updated in a fixed order.

use anyhow::{Result, ensure};
use padir_base::mask::MaskLaw;
use padir_lab::chain::Scan;
use padir_lab::distribution::Distribution;
use padir_lab::model::Model;
use padir_lab::spectrum::{DENSE_STATES, poincare, sweep_spectrum};
use serde::Serialize;

use super::exact::Exact;
use super::output::{human, print_table};
use super::scan::{ScanName, sweep};
use crate::console::Console;

/// How fast a scan forgets.
#[derive(Serialize)]
pub(crate) struct ScanRow {
    scan: Scan,
    /// Updates of a sweep; one for a random scan.
    updates: usize,
    /// The sites of each, for a fixed order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<Vec<usize>>,
    /// |λ₂| of a sweep.
    second_eigenvalue: f64,
    /// σ₂²: χ² falls at least by this factor in a sweep.
    contraction: f64,
    /// 1/(1 − σ₂²), the Poincaré constant of the sweep there and back.
    reversible_constant: f64,
    /// Updates of a site until the slowest part has fallen by a factor e.
    site_updates: f64,
    /// The same in rounds, all sites of an update at once.
    rounds: f64,
}

impl Exact {
    /// The scans that were asked for, beside the random one.
    pub(super) fn scans(&self, model: &Model, p: &Distribution) -> Result<Vec<ScanRow>> {
        if self.scan.is_empty() {
            return Ok(Vec::new());
        }
        let states = p.space().size();
        ensure!(
            states <= DENSE_STATES,
            "--scan needs all eigenvalues of {states} states; the limit is {DENSE_STATES}"
        );
        let others = self.scan.iter().copied().filter(|scan| *scan != ScanName::Random);
        std::iter::once(ScanName::Random)
            .chain(others)
            .map(|scan| row(scan.scan(), model, p))
            .collect()
    }
}

fn row(scan: Scan, model: &Model, p: &Distribution) -> Result<ScanRow> {
    let law = MaskLaw::Exactly { k: 1 };
    let Some(blocks) = sweep(scan, model, &law)? else {
        let constant = poincare(p, &law, || ())?.constant();
        let steps = -1.0 / (-1.0 / constant).ln_1p();
        let second = 1.0 - 1.0 / constant;
        return Ok(ScanRow {
            scan,
            updates: 1,
            blocks: Vec::new(),
            second_eigenvalue: second,
            contraction: second * second,
            reversible_constant: 1.0 / (1.0 - second * second),
            site_updates: steps,
            rounds: steps,
        });
    };
    let found = sweep_spectrum(p, &blocks)?;
    Ok(ScanRow {
        scan,
        updates: blocks.len(),
        second_eigenvalue: found.second,
        contraction: found.contraction,
        reversible_constant: found.reversible.to_f64(),
        site_updates: found.e_fold() * model.sites() as f64,
        rounds: found.e_fold() * blocks.len() as f64,
        blocks,
    })
}

/// The table, if there is one.
pub(super) fn print_scans(console: &Console, rows: &[ScanRow]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            vec![
                r.scan.name().to_owned(),
                r.updates.to_string(),
                human(r.second_eigenvalue),
                human(r.contraction),
                human(r.site_updates),
                human(r.rounds),
            ]
        })
        .collect();
    print_table(console, &["scan", "updates", "|λ₂|", "σ₂²", "site updates", "rounds"], &cells)?;
    console.note(
        "updates: of a sweep; |λ₂|: a sweep's factor in the long run; σ₂²: χ² falls at least by it in every sweep; \
         site updates and rounds: until the slowest part has fallen by a factor e",
    );
    Ok(())
}
