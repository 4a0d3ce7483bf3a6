//! Int8 matrices: W ≈ s∘q, with whole numbers q and a [`Scale`] s for each row.
//!
//! An engine that quantises what is read from such a file finds the same numbers again, to the bit.

use padir_base::byte::Scale;

use crate::inventory::Parameter;
use crate::tensors::{Announced, Dtype, scale_of};

/// Whether a parameter is kept in int8.
pub(crate) fn applies_to(parameter: &Parameter) -> bool {
    parameter.int8
}

/// The tensors that a parameter becomes.
pub(crate) fn announce(parameter: &Parameter) -> Vec<Announced> {
    let Parameter { name, shape, .. } = parameter;
    if !applies_to(parameter) {
        return vec![(name.clone(), shape.clone()).into()];
    }
    let matrix = Announced { name: name.clone(), shape: shape.clone(), dtype: Dtype::I8 };
    vec![matrix, (scale_of(name), vec![shape[0]]).into()]
}

/// Whole numbers and scales of rows of so many columns.
pub(crate) fn quantise(numbers: &[f32], columns: usize) -> (Vec<i8>, Vec<f32>) {
    let mut bytes = Vec::with_capacity(numbers.len());
    let mut scales = Vec::with_capacity(numbers.len() / columns.max(1));
    for row in numbers.chunks_exact(columns.max(1)) {
        let scale = Scale::of(row);
        bytes.extend(row.iter().map(|&number| scale.quantise(number)));
        scales.push(scale.step);
    }
    (bytes, scales)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantising_twice_changes_nothing_more() {
        let rows: Vec<f32> = (0..600)
            .map(|i| ((i * 7919 % 1009) as f32 - 500.0) * 1.3e-3 * (1 + i / 100) as f32)
            .collect();
        let (bytes, scales) = quantise(&rows, 100);
        let restored: Vec<f32> = bytes
            .chunks_exact(100)
            .zip(&scales)
            .flat_map(|(row, scale)| row.iter().map(move |&q| f32::from(q) * scale))
            .collect();
        for (a, b) in rows.iter().zip(&restored) {
            assert!((a - b).abs() <= 0.51 * scales.iter().copied().fold(0.0, f32::max), "{a} {b}");
        }
        assert_eq!(quantise(&restored, 100), (bytes, scales));
        assert_eq!(quantise(&[0.0; 4], 4), (vec![0; 4], vec![0.0]));
    }
}
