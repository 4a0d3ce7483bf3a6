//! The numbers of a tensor as bytes, little-endian.

use std::borrow::Cow;

/// How numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16: 5 bits of exponent.
    F16,
    /// The upper half of an F32: 8 bits of exponent.
    Bf16,
    /// Whole numbers, to be multiplied by a scale for each row.
    I8,
}

/// Numbers looked at together.
const CHUNK: usize = 1 << 14;

impl Dtype {
    /// By its name in a header.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        match name {
            "F32" => Some(Self::F32),
            "F16" => Some(Self::F16),
            "BF16" => Some(Self::Bf16),
            "I8" => Some(Self::I8),
            _ => None,
        }
    }

    /// Its name in a header.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
            Self::I8 => "I8",
        }
    }

    /// Bytes of one number.
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }
}

/// The numbers; borrowed if they lie as this machine would store them.
pub(crate) fn decode(bytes: &[u8], dtype: Dtype) -> Cow<'_, [f32]> {
    match dtype {
        Dtype::F32 if cfg!(target_endian = "little") => match bytemuck::try_cast_slice(bytes) {
            Ok(numbers) => Cow::Borrowed(numbers),
            Err(_) => Cow::Owned(convert(bytes, f32::from_le_bytes)),
        },
        Dtype::F32 => Cow::Owned(convert(bytes, f32::from_le_bytes)),
        Dtype::F16 => Cow::Owned(convert(bytes, |two| from_f16(u16::from_le_bytes(two)))),
        Dtype::Bf16 => Cow::Owned(convert(bytes, |two| {
            f32::from_bits(u32::from(u16::from_le_bytes(two)) << 16)
        })),
        Dtype::I8 => Cow::Owned(convert(bytes, |one| f32::from(i8::from_le_bytes(one)))),
    }
}

fn convert<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| number(bytes)).collect()
}

/// sign 1 · exponent 5 (bias 15) · fraction 10; exactly representable in f32.
fn from_f16(bits: u16) -> f32 {
    let fraction = f32::from(bits & 0x3ff);
    let magnitude = match bits >> 10 & 0x1f {
        0 => fraction * 2_f32.powi(-24),
        0x1f if fraction == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        exponent => (1024.0 + fraction) * 2_f32.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

/// The bytes of numbers; the numbers themselves if they lie as the format wants them.
pub(super) fn encode(numbers: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(numbers))
    } else {
        Cow::Owned(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }
}

/// Where the first NaN or infinity stands. Vectorises: about the speed of memory.
pub(crate) fn first_not_finite(numbers: &[f32]) -> Option<usize> {
    for (chunk, part) in numbers.chunks(CHUNK).enumerate() {
        let all_finite = part.iter().fold(true, |good, number| good & number.is_finite());
        if !all_finite {
            let place = part.iter().position(|number| !number.is_finite())?;
            return Some(chunk * CHUNK + place);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IEEE 754-2019, binary16: the extremes of each kind.
    #[test]
    fn half_precision_is_exact() {
        let cases = [
            (0x0000, 0.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
            (0x3555, 0.333_251_95),
            (0x3c00, 1.0),
            (0x3c01, 1.000_976_6),
            (0x7bff, 65_504.0),
            (0xc000, -2.0),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, expected) in cases {
            assert_eq!(from_f16(bits).to_bits(), f32::to_bits(expected), "{bits:#06x}");
        }
        assert!(from_f16(0x7e00).is_nan());
        assert_eq!(from_f16(0x8000).to_bits(), (-0.0_f32).to_bits());
    }

    #[test]
    fn the_first_bad_number_is_found_anywhere() {
        for place in [0, 1, CHUNK - 1, CHUNK, 2 * CHUNK + 5] {
            let mut numbers = vec![1.0; 2 * CHUNK + 9];
            assert_eq!(first_not_finite(&numbers), None);
            numbers[place] = f32::NAN;
            *numbers.last_mut().unwrap() = f32::INFINITY;
            assert_eq!(first_not_finite(&numbers), Some(place));
        }
    }
}
