//! From tokens to the residual stream: P·n(scale·E\[token\] + position + segment).

use super::List;
use super::sublayer::{Linear, Norm};
use crate::inventory::Parameter;

/// The embeddings of a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    /// E, one row per token. Two stacks may share one.
    pub tokens: Parameter,
    /// 1, or √d.
    pub scale: f32,
    /// What is added for the position of a token.
    pub positions: Positions,
    /// What is added for the segment of a token, one row per segment.
    pub segments: Option<Parameter>,
    /// The norm of the sum.
    pub norm: Option<Norm>,
    /// P, where embeddings are narrower than the stream (factorised embeddings).
    pub projection: Option<Linear>,
}

/// What is added to an embedding for its position.
#[derive(Clone, Debug, PartialEq)]
pub enum Positions {
    /// Nothing.
    None,
    /// A row of a learned table.
    Learned(Parameter),
    /// Sines and cosines as [`sinusoid`] computes them.
    Sinusoidal {
        /// The longest sentence.
        longest: usize,
    },
}

impl Embeddings {
    /// Of tokens alone.
    pub(super) fn of_tokens(tokens: Parameter) -> Self {
        let positions = Positions::None;
        Self { tokens, scale: 1.0, positions, segments: None, norm: None, projection: None }
    }

    /// How many tokens there are.
    pub fn vocabulary(&self) -> usize {
        self.tokens.shape[0]
    }

    /// The longest sentence that has positions; none if there is no limit.
    pub fn longest(&self) -> Option<usize> {
        match &self.positions {
            Positions::None => None,
            Positions::Learned(table) => Some(table.shape[0]),
            Positions::Sinusoidal { longest } => Some(*longest),
        }
    }

    pub(super) fn list<'a>(&'a self, list: &mut List<'a>) {
        list.add(&self.tokens);
        if let Positions::Learned(table) = &self.positions {
            list.add(table);
        }
        list.add_all(&self.segments);
        if let Some(norm) = &self.norm {
            norm.list(list);
        }
        if let Some(projection) = &self.projection {
            projection.list(list);
        }
    }
}

/// The sinusoidal embedding of a position in Marian's layout: with d numbers and ωᵢ = 10000^(−2i/d), first all sin(ωᵢ·position),
/// then all cos(ωᵢ·position). (Others alternate sines and cosines.)
pub fn sinusoid(position: usize, row: &mut [f32]) {
    let width = row.len();
    let angle = |i: usize| position as f64 / 10_000_f64.powf(2.0 * i as f64 / width.max(1) as f64);
    let (sines, cosines) = row.split_at_mut(width.div_ceil(2));
    sines.iter_mut().enumerate().for_each(|(i, x)| *x = angle(i).sin() as f32);
    cosines.iter_mut().enumerate().for_each(|(i, x)| *x = angle(i).cos() as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `MarianSinusoidalPositionalEmbedding(8, 6)` and `(8, 5)` of transformers 5.23, row 3.
    #[test]
    fn sines_come_first() {
        let mut row = [0.0; 6];
        sinusoid(3, &mut row);
        let wanted = [0.141_12, 0.138_798, 0.006_463, -0.989_992, 0.990_321, 0.999_979];
        assert!(row.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{row:?}");
        let mut odd = [0.0; 5];
        sinusoid(3, &mut odd);
        let wanted = [0.141_12, 0.075_285, 0.001_893, -0.989_992, 0.997_162];
        assert!(odd.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{odd:?}");
        sinusoid(0, &mut []);
    }
}
