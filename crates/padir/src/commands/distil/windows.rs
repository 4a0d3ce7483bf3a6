//! Corpora, part by part.

use anyhow::Result;
use padir_text::corpus::Reading;
use padir_text::{Corpus, Pair};

use crate::corpus::{explain, open};

/// Calls back with every part, in order: its number from 0 and its pairs, `size` of them or what is left. Memory: one part.
pub(super) fn for_each_part(
    corpora: &[Corpus],
    reading: Reading,
    size: usize,
    mut visit: impl FnMut(usize, &[Pair]) -> Result<()>,
) -> Result<()> {
    let mut window: Vec<Pair> = Vec::new();
    let mut filled = 0;
    let mut number = 0;
    for corpus in corpora {
        let mut pairs = open(corpus, reading)?;
        loop {
            if filled == window.len() {
                window.push(Pair::default());
            }
            if !pairs.read(&mut window[filled]).map_err(explain)? {
                break;
            }
            filled += 1;
            if filled == size {
                visit(number, &window[..filled])?;
                number += 1;
                filled = 0;
            }
        }
    }
    if filled > 0 {
        visit(number, &window[..filled])?;
    }
    Ok(())
}
