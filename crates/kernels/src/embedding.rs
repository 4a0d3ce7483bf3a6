//! Rows of a table, dropped out.

use rayon::prelude::*;

use crate::dropout::{Dropout, apply};
use crate::slot::Slot;
use padir_base::ragged::Ragged;

/// Columns that one task adds up; fixed by the width alone.
const COLUMNS: usize = 64;

/// drop(table\[ids\]).
///
/// # Panics
/// If an id is outside of the table.
pub fn forward(table: &[f32], width: usize, ids: &[u32], rows: &Ragged, drop: Dropout) -> Vec<f32> {
    let mut out = Vec::with_capacity(ids.len() * width);
    for &id in ids {
        out.extend_from_slice(&table[id as usize * width..][..width]);
    }
    if let Some(masks) = drop.masks(rows, width) {
        let rows = out.chunks_exact_mut(width).enumerate();
        rows.for_each(|(token, row)| apply(Some(&masks), token, 0, row));
    }
    out
}

/// Adds the rows of `dy` to the rows of the table's gradient that they came from.
pub fn backward(
    width: usize,
    ids: &[u32],
    rows: &Ragged,
    drop: Dropout,
    dy: &[f32],
    dtable: &mut Slot<'_>,
) {
    let masks = drop.masks(rows, width);
    let masks = masks.as_ref();
    // Rows in the order of their ids: each row of the table belongs to one task, which
    // adds to it in the order of the tokens.
    let mut order: Vec<u32> = (0..ids.len() as u32).collect();
    order.sort_by_key(|&token| ids[token as usize]);
    let sum = dtable.sum();
    let mut pieces = Vec::new();
    let mut rest = &mut *sum;
    let mut first = 0;
    let runs: Vec<&[u32]> = order.chunk_by(|&a, &b| ids[a as usize] == ids[b as usize]).collect();
    for group in runs.chunks(COLUMNS) {
        let from = ids[group[0][0] as usize] as usize;
        let to = ids[group[group.len() - 1][0] as usize] as usize + 1;
        let (_, tail) = std::mem::take(&mut rest).split_at_mut((from - first) * width);
        let (piece, tail) = tail.split_at_mut((to - from) * width);
        pieces.push((group, from, piece));
        (rest, first) = (tail, to);
    }
    pieces.into_par_iter().for_each(|(group, from, piece)| {
        let mut row = vec![0.0; width];
        for &token in group.iter().copied().flatten() {
            let token = token as usize;
            row.copy_from_slice(&dy[token * width..][..width]);
            apply(masks, token, 0, &mut row);
            let into = &mut piece[(ids[token] as usize - from) * width..][..width];
            into.iter_mut().zip(&row).for_each(|(sum, x)| *sum += x);
        }
    });
}
