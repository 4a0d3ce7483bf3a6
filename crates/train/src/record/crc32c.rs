//! CRC-32C (Castagnoli), reflected polynomial 0x82F63B78, as record files of TensorFlow use it.

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82F6_3B78 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

/// The checksum of some bytes.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)])
}

/// The checksum as it is stored: rotated and shifted, because a checksum of data that contain
/// checksums would be weak.
pub(super) fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3720, appendix B.4, and the catalogue's check value.
    #[test]
    fn checksums_are_those_of_the_standard() {
        let ascending: Vec<u8> = (0..32).collect();
        let cases: [(&str, &[u8], u32); 4] = [
            ("zeros", &[0; 32], 0x8A91_36AA),
            ("ones", &[0xFF; 32], 0x62A8_AB43),
            ("ascending", &ascending, 0x46DD_794E),
            ("check", b"123456789", 0xE306_9283),
        ];
        for (name, bytes, expected) in cases {
            assert_eq!(crc32c(bytes), expected, "{name}");
        }
    }
}
