//! Reading little-endian bytes, never beyond their end.

use super::error::ImportFault;

/// Bytes that are still to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(all: &'a [u8]) -> Self {
        Self { all, at: 0 }
    }

    /// Where the next byte lies.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn left(&self) -> usize {
        self.all.len() - self.at
    }

    /// The next bytes.
    pub(super) fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], ImportFault> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.all.len());
        let Some(end) = end else {
            let (left, at) = (self.left(), self.at);
            let message = format!(
                "{what} of {count} bytes begins at byte {at}, and only {left} bytes follow"
            );
            return Err(ImportFault::Damaged(message));
        };
        let taken = &self.all[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ImportFault> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self, what: &str) -> Result<u8, ImportFault> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(super) fn u16(&mut self, what: &str) -> Result<u16, ImportFault> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, ImportFault> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, ImportFault> {
        self.array(what).map(u64::from_le_bytes)
    }
}
