//! Rows of int8 numbers: w ≈ s·q, with whole numbers q within ±[`LIMIT`] and one scale s for the row.
//!
//! A model may be quantised twice: into a file, and again from what the file holds. So that nothing changes the second time,
//! to the bit, scales have 18 significant bits: then s·q is exact for |q| ≤ 63, and the largest of them gives s back.

/// Numbers lie within plus and minus this: seven bits and a sign, because engines add up two products with bytes in 16 bits.
pub const LIMIT: f32 = 63.0;

/// How a row is quantised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// s.
    pub step: f32,
    inverse: f32,
}

impl Scale {
    /// The finest that holds all numbers of a row.
    pub fn of(row: &[f32]) -> Self {
        let most = row.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        // The bits of a positive number grow with it: this rounds up to 18 significant ones.
        let step = f32::from_bits(((most / LIMIT).to_bits() + 63) & !63);
        let inverse = if step > 0.0 { 1.0 / step } else { 0.0 };
        Self { step, inverse }
    }

    /// q for one of them.
    #[inline]
    pub fn quantise(self, number: f32) -> i8 {
        (number * self.inverse).round().clamp(-LIMIT, LIMIT) as i8
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantising_twice_changes_nothing_more(
            row in prop::collection::vec(prop_oneof![-1.0_f32..1.0, -1e-3_f32..1e-3, Just(0.0)], 1..40),
            size in -20..20_i32,
        ) {
            let row: Vec<f32> = row.iter().map(|x| x * 2.0_f32.powi(size)).collect();
            let scale = Scale::of(&row);
            let bytes: Vec<i8> = row.iter().map(|&x| scale.quantise(x)).collect();
            let restored: Vec<f32> = bytes.iter().map(|&q| f32::from(q) * scale.step).collect();
            for (x, y) in row.iter().zip(&restored) {
                prop_assert!((x - y).abs() <= 0.5001 * scale.step, "{} {}", x, y);
            }
            let again = Scale::of(&restored);
            prop_assert_eq!(again.step.to_bits(), scale.step.to_bits());
            let second: Vec<i8> = restored.iter().map(|&x| again.quantise(x)).collect();
            prop_assert_eq!(second, bytes);
        }
    }

    #[test]
    fn nothing_stays_nothing() {
        let scale = Scale::of(&[0.0; 4]);
        assert_eq!((scale.step.to_bits(), scale.quantise(0.0)), (0, 0));
    }
}
