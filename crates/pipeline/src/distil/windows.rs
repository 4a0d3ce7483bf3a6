//! Corpora, part by part.

use padir_text::corpus::Reading;
use padir_text::{Corpus, Pair};

use crate::Error;

/// Calls back with every part, in order: its number from 0 and its pairs, `size` of them or what is left. Memory: one part.
pub(super) fn for_each_part(
    corpora: &[Corpus],
    reading: Reading,
    size: usize,
    mut visit: impl FnMut(usize, &[Pair]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut window: Vec<Pair> = Vec::new();
    let mut filled = 0;
    let mut number = 0;
    for corpus in corpora {
        let mut pairs = corpus.open(reading)?;
        loop {
            if filled == window.len() {
                window.push(Pair::default());
            }
            if !pairs.read(&mut window[filled])? {
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
