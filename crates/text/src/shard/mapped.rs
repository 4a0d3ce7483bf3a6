//! One shard, memory-mapped.
//!
//! A mapped file must not be shortened while it is in use: the system then ends the process with
//! `SIGBUS`, which no program can turn into an error. padir itself never changes a shard that
//! stands (it writes beside and renames), and the size is checked against the header before
//! every mapping; do not truncate shards under a running training. If the bytes change without
//! the file becoming shorter, tokens may be wrong, but every access stays within bounds.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use padir_base::TokenId;
use padir_base::hash::{Sha256, hash_bytes};

use super::error::{Fault, ShardError};
use super::header::{BYTES, Header, MAGIC, PairLengths, Width, foreign};

/// An offset is kept for every so many pairs.
const BLOCK: usize = 64;

/// A shard whose header and lengths were found in order. Clones share the mapping.
#[derive(Clone, Debug)]
pub(super) struct Shard {
    path: PathBuf,
    file: Arc<File>,
    map: Arc<Mmap>,
    header: Header,
    checksum: Sha256,
    /// The index of the first token of every 64th pair.
    offsets: Arc<[u64]>,
}

impl Shard {
    /// Opens, maps and checks a shard: all but its tokens.
    pub(super) fn open(path: &Path) -> Result<Self, ShardError> {
        Self::examine(path).map_err(|fault| ShardError::new(path, fault))
    }

    fn examine(path: &Path) -> Result<Self, Fault> {
        // Asked before opening: opening a pipe would wait for its writer.
        if !fs::metadata(path).map_err(Fault::Read)?.is_file() {
            return Err(Fault::Irregular);
        }
        let mut file = File::open(path).map_err(Fault::Read)?;
        let (header, checksum) = read_header(&mut file)?;
        let map = Arc::new(map_file(&file, &header)?);
        let lengths = lengths_of(&map, &header);
        if hash_bytes(lengths) != header.lengths_hash {
            return Err(Fault::Damaged("lengths"));
        }
        let offsets = sum_up(lengths, &header)?.into();
        let path = path.to_owned();
        Ok(Self { path, file: Arc::new(file), map, header, checksum, offsets })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// The checksum of the header, which names the shard and all before it.
    pub(super) fn checksum(&self) -> Sha256 {
        self.checksum
    }

    pub(super) fn pairs(&self) -> usize {
        self.header.pairs as usize
    }

    /// Appends the lengths of some pairs. The range must lie within the shard.
    pub(super) fn read_lengths(&self, pairs: Range<usize>, into: &mut Vec<PairLengths>) {
        let bytes = &lengths_of(&self.map, &self.header)[4 * pairs.start..4 * pairs.end];
        into.extend(bytes.as_chunks().0.iter().copied().map(parse_lengths));
    }

    /// Appends the tokens of a pair; `first` is the number of the shard's first pair in its set,
    /// for messages.
    pub(super) fn read_pair(
        &self,
        pair: usize,
        first: u64,
        source: &mut Vec<TokenId>,
        target: &mut Vec<TokenId>,
    ) -> Result<(), ShardError> {
        let (start, lengths) = self.locate(pair);
        let middle = start + usize::from(lengths.source);
        let end = middle + usize::from(lengths.target);
        for (range, into) in [(start..middle, source), (middle..end, target)] {
            self.read_tokens(range, into).map_err(|token| {
                let (pair, size) = (first + pair as u64, self.header.lexicon.size);
                let fault = match token {
                    Bad::Outside(token) => Fault::Token { pair, token, size },
                    Bad::Endless => Fault::Endless { pair },
                    Bad::Changed => Fault::Sums("source and target"),
                };
                ShardError::new(&self.path, fault)
            })?;
        }
        Ok(())
    }

    /// The index of the first token of a pair, and its lengths.
    fn locate(&self, pair: usize) -> (usize, PairLengths) {
        let block = pair / BLOCK;
        let lengths = lengths_of(&self.map, &self.header);
        let before = &lengths[4 * BLOCK * block..4 * pair];
        let inside: u32 = before.as_chunks().0.iter().map(|&l| parse_lengths(l).sum()).sum();
        let own = &lengths[4 * pair..4 * pair + 4];
        let own = parse_lengths(std::array::from_fn(|i| own[i]));
        (self.offsets[block] as usize + inside as usize, own)
    }

    fn read_tokens(&self, range: Range<usize>, into: &mut Vec<TokenId>) -> Result<(), Bad> {
        let width = self.header.lexicon.width();
        // The lengths were checked when the file was opened, but somebody may have changed it.
        let bytes = tokens_of(&self.map, &self.header)
            .get(range.start * width.bytes()..range.end * width.bytes())
            .ok_or(Bad::Changed)?;
        let start = into.len();
        match width {
            Width::Two => {
                into.extend(
                    bytes.as_chunks().0.iter().map(|&b| TokenId(u16::from_le_bytes(b).into())),
                );
            }
            Width::Four => {
                into.extend(bytes.as_chunks().0.iter().map(|&b| TokenId(u32::from_le_bytes(b))));
            }
        }
        let tokens = &into[start..];
        let largest = tokens.iter().map(|token| token.0).max().unwrap_or(0);
        if largest >= self.header.lexicon.size {
            return Err(Bad::Outside(largest));
        }
        if tokens.last() == Some(&TokenId::EOS) { Ok(()) } else { Err(Bad::Endless) }
    }

    /// Checks the tokens against their checksum.
    pub(super) fn verify(&self) -> Result<(), ShardError> {
        if hash_bytes(tokens_of(&self.map, &self.header)) == self.header.tokens_hash {
            Ok(())
        } else {
            Err(ShardError::new(&self.path, Fault::Damaged("tokens")))
        }
    }

    /// Tells the system that these pairs will be read soon. A wish, so failure is no error.
    pub(super) fn expect_reading(&self, pairs: Range<usize>) {
        #[cfg(unix)]
        if !pairs.is_empty() {
            let width = self.header.lexicon.width().bytes();
            let start = self.locate(pairs.start).0 * width;
            let (last, lengths) = self.locate(pairs.end - 1);
            let end = (last + lengths.sum() as usize) * width;
            let base = BYTES + 4 * self.pairs();
            let length = end.saturating_sub(start);
            let _ = self.map.advise_range(memmap2::Advice::WillNeed, base + start, length);
        }
        #[cfg(not(unix))]
        drop(pairs);
    }

    /// Gives the pages read so far back to the system, by mapping the file anew.
    pub(super) fn release(&mut self) -> Result<(), ShardError> {
        let map = map_file(&self.file, &self.header)
            .map_err(|fault| ShardError::new(&self.path, fault))?;
        self.map = Arc::new(map);
        Ok(())
    }
}

enum Bad {
    Outside(u32),
    Endless,
    Changed,
}

fn read_header(file: &mut File) -> Result<(Header, Sha256), Fault> {
    let mut head = Vec::with_capacity(BYTES);
    file.by_ref().take(BYTES as u64).read_to_end(&mut head).map_err(Fault::Read)?;
    match <&[u8; BYTES]>::try_from(head.as_slice()) {
        Ok(bytes) => Header::decode(bytes),
        Err(_) if !head.is_empty() && !head.starts_with(&MAGIC[..head.len().min(8)]) => {
            Err(foreign(&head))
        }
        Err(_) => Err(Fault::Truncated { expected: BYTES as u64, found: head.len() as u64 }),
    }
}

/// Maps a file that is exactly as large as its header says.
#[expect(unsafe_code, reason = "a memory map is only as constant as the file below it")]
fn map_file(file: &File, header: &Header) -> Result<Mmap, Fault> {
    let found = file.metadata().map_err(Fault::Read)?.len();
    let expected = header.file_bytes().unwrap_or(u64::MAX);
    if found < expected {
        return Err(Fault::Truncated { expected, found });
    }
    if found > expected {
        return Err(Fault::Oversized { expected, found });
    }
    // SAFETY: the map is read-only and its bytes are only ever copied out as plain integers, for
    // which every bit pattern is valid; no reference to them outlives a call. Shards are written
    // beside and renamed into place, never changed where they stand. What remains is a foreign
    // process that truncates the file: see the head of this file.
    unsafe { Mmap::map(file) }.map_err(Fault::Read)
}

/// The file size was checked, so these two slices are within bounds and the products fit.
fn lengths_of<'a>(map: &'a Mmap, header: &Header) -> &'a [u8] {
    &map[BYTES..BYTES + 4 * header.pairs as usize]
}

fn tokens_of<'a>(map: &'a Mmap, header: &Header) -> &'a [u8] {
    &map[BYTES + 4 * header.pairs as usize..]
}

/// Checks the lengths against the counts of the header; gives the offset of every 64th pair.
fn sum_up(lengths: &[u8], header: &Header) -> Result<Vec<u64>, Fault> {
    let mut offsets = Vec::with_capacity(lengths.len() / (4 * BLOCK) + 1);
    let (mut source, mut target) = (0_u64, 0_u64);
    for block in lengths.as_chunks::<4>().0.chunks(BLOCK) {
        offsets.push(source + target);
        for lengths in block.iter().copied().map(parse_lengths) {
            if lengths.source == 0 || lengths.target == 0 {
                return Err(Fault::HeaderAbsurd("a sentence has no tokens, not even its end"));
            }
            source += u64::from(lengths.source);
            target += u64::from(lengths.target);
        }
    }
    if source != header.source_tokens {
        return Err(Fault::Sums("source"));
    }
    if target != header.target_tokens {
        return Err(Fault::Sums("target"));
    }
    Ok(offsets)
}

#[inline]
fn parse_lengths(bytes: [u8; 4]) -> PairLengths {
    let [a, b, c, d] = bytes;
    PairLengths { source: u16::from_le_bytes([a, b]), target: u16::from_le_bytes([c, d]) }
}
