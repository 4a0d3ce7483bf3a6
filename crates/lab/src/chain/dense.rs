//! Transition matrices written down entry by entry.
//!
//! Block dynamics cost `Σ_K` qᴺ · q^|K| entries, independent parallel q²ᴺ.

use super::blocks::{Blocks, ChainError, check_memory};
use super::matrix::{Matrix, Number};
use crate::distribution::{Distribution, log_sum_exp};
use crate::space::Space;

/// The bytes of a dense matrix of `f64` over a space.
pub fn memory_needed(space: Space) -> f64 {
    (space.size() as f64).powi(2) * 8.0
}

/// The transition matrix of block dynamics.
///
/// A state whose surroundings are impossible under p has no conditional; it stays where it is.
///
/// # Errors
/// If the matrix does not fit into memory.
pub fn block_matrix<T: Number>(p: &Distribution, blocks: &Blocks) -> Result<Matrix<T>, ChainError> {
    let space = p.space();
    check_memory("a dense transition matrix", space.size(), memory_needed(space))?;
    let mut matrix = Matrix::zero(space.size());
    for_each_group(p, blocks, |entry, states, logs, total| {
        for &x in states {
            let here = entry.of(x);
            if here == 0.0 {
                continue;
            }
            if total == f64::NEG_INFINITY {
                matrix.add(x, x, T::of(here));
                continue;
            }
            for (&y, &log) in states.iter().zip(logs) {
                matrix.add(x, y, T::exp(here.ln() + log - total));
            }
        }
    });
    Ok(matrix)
}

/// D^½ P D^−½, symmetric, with the same eigenvalues as P; impossible states are left out by
/// zeros.
///
/// # Errors
/// If the matrix does not fit into memory.
pub fn symmetric_matrix(p: &Distribution, blocks: &Blocks) -> Result<Matrix<f64>, ChainError> {
    let space = p.space();
    check_memory("a dense transition matrix", space.size(), memory_needed(space))?;
    let mut matrix = Matrix::zero(space.size());
    for_each_group(p, blocks, |entry, states, logs, total| {
        if total == f64::NEG_INFINITY {
            return;
        }
        for (&x, &log_x) in states.iter().zip(logs) {
            let factor = entry.of(x).ln() / 2.0 + log_x / 2.0;
            for (&y, &log_y) in states.iter().zip(logs) {
                // √(w_x p_x) √(w_y p_y) √(w_x w_y) / Σ w p
                let other = entry.of(y).ln() / 2.0 + log_y / 2.0;
                let value = (factor + other - total).exp();
                if value > 0.0 {
                    matrix.add(x, y, value);
                }
            }
        }
    });
    Ok(matrix)
}

/// Calls `visit(weight, states, ln(p·w), ln Σ p·w)` for every group of states that agree outside
/// of a block.
pub(crate) fn for_each_group(
    p: &Distribution,
    blocks: &Blocks,
    mut visit: impl FnMut(&super::Weight, &[usize], &[f64], f64),
) {
    let space = p.space();
    let mut states = Vec::new();
    let mut logs = Vec::new();
    for entry in blocks.entries() {
        let fillings = space.fillings(entry.block);
        for group in space.groups(entry.block) {
            states.clear();
            states.extend(fillings.iter().map(|f| group + f));
            logs.clear();
            logs.extend(states.iter().map(|&x| p.log_prob(x) + entry.weight.of(x).ln()));
            visit(&entry.weight, &states, &logs, log_sum_exp(&logs));
        }
    }
}

/// The transition matrix of independent parallel: P(x, y) = Πᵢ p(yᵢ | x₋ᵢ).
///
/// # Errors
/// If the matrix does not fit into memory.
pub fn parallel_matrix<T: Number>(p: &Distribution) -> Result<Matrix<T>, ChainError> {
    let space = p.space();
    check_memory("a dense transition matrix", space.size(), memory_needed(space))?;
    let mut matrix = Matrix::zero(space.size());
    for (x, row) in matrix.rows_mut().enumerate() {
        row[0] = T::of(1.0);
        for site in 0..space.sites() {
            let conditional = site_conditional::<T>(p, x, site);
            let stride = space.stride(site);
            for (symbol, &factor) in conditional.iter().enumerate().rev() {
                for y in 0..stride {
                    row[symbol * stride + y] = row[y] * factor;
                }
            }
        }
    }
    Ok(matrix)
}

/// p(· | x₋ᵢ); where that is impossible the symbol stays.
fn site_conditional<T: Number>(p: &Distribution, state: usize, site: usize) -> Vec<T> {
    let space = p.space();
    match p.log_conditional(state, 1 << site) {
        Some(logs) => logs.into_iter().map(T::exp).collect(),
        None => (0..space.symbols())
            .map(|s| T::of(if s == space.symbol(state, site) { 1.0 } else { 0.0 }))
            .collect(),
    }
}
