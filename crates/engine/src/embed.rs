//! From tokens to the residual stream.

use padir_checkpoint::layers::{Embeddings, Positions, sinusoid};
use padir_kernels::packed::Packed;

use crate::engine::Inner;
use crate::error::EngineError;

/// Sinusoidal embeddings of positions, one row each. Grows as rows do.
#[derive(Debug, Default)]
pub(crate) struct Sinusoids {
    numbers: Vec<f32>,
    positions: usize,
}

/// Tables begin with so many positions and double.
const LEAST: usize = 64;

impl Sinusoids {
    fn up_to(&mut self, positions: usize, width: usize) -> &[f32] {
        if self.positions < positions {
            self.positions = positions.max(LEAST).next_power_of_two();
            self.numbers.resize(self.positions * width, 0.0);
            let rows = self.numbers.chunks_exact_mut(width).enumerate();
            rows.for_each(|(position, row)| sinusoid(position, row));
        }
        &self.numbers
    }
}

impl Inner {
    /// x ← the embeddings of source tokens that exist.
    pub(crate) fn embed_source(
        &self,
        tokens: &[u32],
        positions: impl IntoIterator<Item = u32>,
        sinusoids: &mut Sinusoids,
        x: &mut [f32],
    ) {
        let embeddings = &self.layers.embeddings;
        let (table, learned) = (&self.weights.tokens, None);
        embed(embeddings, table, learned, tokens, positions, sinusoids, x);
    }

    /// x ← the embeddings of target tokens that exist.
    pub(crate) fn embed_target(
        &self,
        tokens: &[u32],
        positions: impl IntoIterator<Item = u32>,
        sinusoids: &mut Sinusoids,
        x: &mut [f32],
    ) {
        let Some(decoder) = &self.layers.decoder else { return };
        let table = self.weights.target_tokens();
        let learned = self.weights.learned.as_deref();
        embed(&decoder.embeddings, table, learned, tokens, positions, sinusoids, x);
    }

    /// Refuses a source that is longer than there are positions.
    pub(crate) fn check_source_length(&self, length: usize) -> Result<(), EngineError> {
        check_length(length, self.layers.embeddings.longest())
    }

    /// Refuses a target that is longer than there are positions.
    pub(crate) fn check_target_length(&self, length: usize) -> Result<(), EngineError> {
        let Some(decoder) = &self.layers.decoder else { return Ok(()) };
        check_length(length, decoder.embeddings.longest())?;
        check_length(length, decoder.stack.position_table.as_ref().map(|table| table.shape[0]))
    }
}

fn check_length(length: usize, limit: Option<usize>) -> Result<(), EngineError> {
    match limit {
        Some(limit) if length > limit => Err(EngineError::TooLong { length, limit }),
        _ => Ok(()),
    }
}

/// x ← scale·E\[token\] + position.
fn embed(
    embeddings: &Embeddings,
    table: &Packed,
    learned: Option<&[f32]>,
    tokens: &[u32],
    positions: impl IntoIterator<Item = u32>,
    sinusoids: &mut Sinusoids,
    x: &mut [f32],
) {
    let width = table.inputs();
    let rows = x.chunks_exact_mut(width);
    rows.zip(tokens).for_each(|(x, &token)| table.copy_row(token as usize, x));
    #[expect(clippy::float_cmp, reason = "a constant of the description")]
    if embeddings.scale != 1.0 {
        for x in x.iter_mut() {
            *x *= embeddings.scale;
        }
    }
    match (&embeddings.positions, learned) {
        (Positions::Learned(_), Some(learned)) => add_rows(x, learned, width, positions),
        (Positions::Sinusoidal { .. }, _) => {
            for (x, position) in x.chunks_exact_mut(width).zip(positions) {
                let position = position as usize;
                let row = &sinusoids.up_to(position + 1, width)[position * width..][..width];
                x.iter_mut().zip(row).for_each(|(x, p)| *x += p);
            }
        }
        (Positions::None | Positions::Learned(_), _) => {}
    }
}

/// x ← x + the rows of a table.
fn add_rows(x: &mut [f32], table: &[f32], width: usize, rows: impl IntoIterator<Item = u32>) {
    for (x, row) in x.chunks_exact_mut(width).zip(rows) {
        let row = &table[row as usize * width..][..width];
        x.iter_mut().zip(row).for_each(|(x, p)| *x += p);
    }
}
