//! Zip archives, read from memory: Argos packages and files of PyTorch.
//!
//! Only the central directory is believed, and only after it was compared with the bytes that are there. An entry is unpacked no further
//! than its stated size, which the caller bounds; its checksum is compared. Nothing is ever written to the disk.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::bytes::Bytes;
use super::error::{ImportError, ImportFault};

const END: u32 = 0x0605_4b50;
const END64: u32 = 0x0606_4b50;
const LOCATOR64: u32 = 0x0706_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const LOCAL: u32 = 0x0403_4b50;
/// Bytes of the end record without its comment, and the longest comment.
const END_BYTES: usize = 22;
const LONGEST_COMMENT: usize = 1 << 16;
/// Bytes of the locator of the 64-bit end record.
const LOCATOR_BYTES: usize = 20;
/// Most entries.
const MOST: u64 = 1 << 16;
/// The extra field with 64-bit sizes.
const WIDE: u16 = 1;

/// An archive in memory.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    bytes: Vec<u8>,
    entries: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    method: u16,
    checksum: u32,
    /// Where the packed bytes lie.
    range: Range<usize>,
    size: u64,
}

impl Archive {
    /// Whether bytes begin like an archive.
    pub(super) fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(b"PK\x03\x04")
    }

    /// Reads the central directory of an archive.
    ///
    /// # Errors
    /// If it is damaged, encrypted, or an entry has a name that leads out of a directory.
    pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, ImportError> {
        let entries = directory(&bytes).map_err(|fault| fault.at(path))?;
        Ok(Self { path: path.to_owned(), bytes, entries })
    }

    /// Reads a file; none if it is no archive.
    pub(super) fn parse_file(path: &Path) -> Result<Option<Self>, ImportError> {
        let bytes = super::package::read_weights(path)?;
        if Self::is_one(&bytes) { Self::parse(path, bytes).map(Some) } else { Ok(None) }
    }

    /// The whole file, alone.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The names of all entries, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The content of an entry of at most `limit` bytes; none if there is no such entry.
    ///
    /// # Errors
    /// If it is longer, packed in a way that is not known, or damaged.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Cow<'_, [u8]>>, ImportError> {
        let Some(entry) = self.entries.get(name) else { return Ok(None) };
        let read = self.unpack(name, entry, limit).map_err(|fault| fault.at(&self.path))?;
        Ok(Some(read))
    }

    /// Where the bytes of an entry lie that is not packed.
    ///
    /// # Errors
    /// If it is packed.
    pub fn stored(&self, name: &str) -> Result<Option<Range<usize>>, ImportError> {
        match self.entries.get(name) {
            None => Ok(None),
            Some(entry) if entry.method == 0 && entry.range.len() as u64 == entry.size => {
                Ok(Some(entry.range.clone()))
            }
            Some(_) => Err(fault(name, "is packed, but tensors must not be").at(&self.path)),
        }
    }

    fn unpack(&self, name: &str, entry: &Entry, limit: u64) -> Result<Cow<'_, [u8]>, ImportFault> {
        if entry.size > limit {
            return Err(ImportFault::TooLong { bytes: entry.size, limit });
        }
        let packed = &self.bytes[entry.range.clone()];
        let content = match entry.method {
            0 => Cow::Borrowed(packed),
            8 => {
                let mut content = Vec::new();
                let mut unpacked = DeflateDecoder::new(packed).take(entry.size + 1);
                let read = unpacked.read_to_end(&mut content);
                read.map_err(|_| fault(name, "cannot be unpacked"))?;
                Cow::Owned(content)
            }
            _ => return Err(fault(name, "is packed in a way that is not known")),
        };
        if content.len() as u64 != entry.size {
            return Err(fault(name, "is not as long as the archive says"));
        }
        let mut checksum = Crc::new();
        checksum.update(&content);
        if checksum.sum() != entry.checksum {
            return Err(fault(name, "is damaged: its checksum is wrong"));
        }
        Ok(content)
    }
}

/// All entries but directories.
fn directory(bytes: &[u8]) -> Result<BTreeMap<String, Entry>, ImportFault> {
    let (count, begin) = end(bytes)?;
    if count > MOST {
        return Err(ImportFault::Damaged(format!("it would hold {count} entries")));
    }
    let begin = usize::try_from(begin).ok().filter(|&begin| begin <= bytes.len());
    let begin = begin.ok_or_else(|| ImportFault::damaged("its directory lies beyond its end"))?;
    let mut rest = Bytes::new(&bytes[begin..]);
    let mut entries = BTreeMap::new();
    for _ in 0..count {
        let (name, entry) = central(&mut rest, bytes)?;
        if name.ends_with('/') {
            continue;
        }
        if entries.contains_key(&name) {
            return Err(fault(&name, "occurs twice"));
        }
        entries.insert(name, entry);
    }
    Ok(entries)
}

/// The number of entries, and where the directory begins.
fn end(bytes: &[u8]) -> Result<(u64, u64), ImportFault> {
    let first = bytes.len().saturating_sub(END_BYTES + LONGEST_COMMENT);
    let is_end = |&at: &usize| bytes[at..].starts_with(&END.to_le_bytes());
    let at = (first..bytes.len().saturating_sub(END_BYTES - 1)).rev().find(is_end);
    let at = at.ok_or_else(|| ImportFault::damaged("it is a zip archive without an end"))?;
    let mut rest = Bytes::new(&bytes[at..]);
    rest.take(10, "the end")?;
    let count = rest.u16("the number of entries")?;
    rest.take(4, "the end")?;
    let begin = rest.u32("the directory")?;
    if count != u16::MAX && begin != u32::MAX {
        return Ok((u64::from(count), u64::from(begin)));
    }
    let damaged = || ImportFault::damaged("its 64-bit end is not where it should be");
    let locator = at.checked_sub(LOCATOR_BYTES).ok_or_else(damaged)?;
    let mut rest = Bytes::new(&bytes[locator..]);
    if rest.u32("the locator")? != LOCATOR64 {
        return Err(damaged());
    }
    rest.take(4, "the locator")?;
    let wide = usize::try_from(rest.u64("the locator")?).ok().filter(|&wide| wide < bytes.len());
    let mut rest = Bytes::new(&bytes[wide.ok_or_else(damaged)?..]);
    if rest.u32("the end")? != END64 {
        return Err(damaged());
    }
    rest.take(28, "the end")?;
    let count = rest.u64("the number of entries")?;
    rest.take(8, "the end")?;
    Ok((count, rest.u64("the directory")?))
}

/// The next entry of the directory.
fn central(rest: &mut Bytes<'_>, all: &[u8]) -> Result<(String, Entry), ImportFault> {
    if rest.u32("an entry")? != CENTRAL {
        return Err(ImportFault::damaged("its directory is not one"));
    }
    rest.take(4, "an entry")?;
    let flags = rest.u16("an entry")?;
    let method = rest.u16("an entry")?;
    rest.take(4, "an entry")?;
    let checksum = rest.u32("an entry")?;
    let (packed, size) = (rest.u32("an entry")?, rest.u32("an entry")?);
    let (name, extra) = (rest.u16("an entry")?, rest.u16("an entry")?);
    let comment = rest.u16("an entry")?;
    rest.take(8, "an entry")?;
    let offset = rest.u32("an entry")?;
    let name = rest.take(usize::from(name), "a name")?;
    let name = str::from_utf8(name).map_err(|_| ImportFault::damaged("a name is not text"))?;
    check_name(name)?;
    if flags & 1 != 0 {
        return Err(fault(name, "is encrypted"));
    }
    let extra = rest.take(usize::from(extra), "an entry")?;
    rest.take(usize::from(comment), "a comment")?;
    let [size, packed, offset] = wide([size, packed, offset], extra)?;
    let range = data(all, offset, packed).ok_or_else(|| fault(name, "lies beyond the end"))?;
    Ok((name.to_owned(), Entry { method, checksum, range, size }))
}

/// Sizes and offset, those that do not fit into 32 bits from the extra field.
fn wide(narrow: [u32; 3], extra: &[u8]) -> Result<[u64; 3], ImportFault> {
    let mut found = narrow.map(u64::from);
    if !narrow.contains(&u32::MAX) {
        return Ok(found);
    }
    let mut rest = Bytes::new(extra);
    while rest.left() > 0 {
        let (kind, length) = (rest.u16("an extra field")?, rest.u16("an extra field")?);
        let field = rest.take(usize::from(length), "an extra field")?;
        if kind == WIDE {
            let mut field = Bytes::new(field);
            for (found, narrow) in found.iter_mut().zip(narrow) {
                if narrow == u32::MAX {
                    *found = field.u64("a 64-bit size")?;
                }
            }
            return Ok(found);
        }
    }
    Err(ImportFault::damaged("a 64-bit size is missing"))
}

/// Where the packed bytes of an entry lie, behind its local head.
fn data(all: &[u8], offset: u64, packed: u64) -> Option<Range<usize>> {
    let head = all.get(usize::try_from(offset).ok()?..)?;
    let mut rest = Bytes::new(head);
    if rest.u32("a head").ok()? != LOCAL {
        return None;
    }
    rest.take(22, "a head").ok()?;
    let (name, extra) = (rest.u16("a head").ok()?, rest.u16("a head").ok()?);
    rest.take(usize::from(name) + usize::from(extra), "a head").ok()?;
    let begin = usize::try_from(offset).ok()?.checked_add(rest.at())?;
    let end = begin.checked_add(usize::try_from(packed).ok()?)?;
    (end <= all.len()).then_some(begin..end)
}

/// Names that lead elsewhere when unpacked are refused, though nothing is unpacked here.
fn check_name(name: &str) -> Result<(), ImportFault> {
    let strange = name.starts_with('/')
        || name.contains(['\\', '\0', ':'])
        || name.split('/').any(|part| part == "..");
    if strange { Err(fault(name, "leads out of the archive")) } else { Ok(()) }
}

fn fault(name: &str, why: &'static str) -> ImportFault {
    ImportFault::Entry { name: name.chars().take(200).collect(), why }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// An archive of entries: name, content, and whether it is deflated.
    fn pack(entries: &[(&str, &[u8], bool)]) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, content, deflate) in entries {
            let packed = if *deflate {
                let mut encoder =
                    flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            } else {
                content.to_vec()
            };
            let mut checksum = Crc::new();
            checksum.update(content);
            let offset = bytes.len() as u32;
            let mut common = vec![20, 0, 0, 0, if *deflate { 8 } else { 0 }, 0, 0, 0, 0, 0];
            common.extend(checksum.sum().to_le_bytes());
            common.extend((packed.len() as u32).to_le_bytes());
            common.extend((content.len() as u32).to_le_bytes());
            common.extend((name.len() as u16).to_le_bytes());
            common.extend(0_u16.to_le_bytes());
            bytes.extend(LOCAL.to_le_bytes());
            bytes.extend(&common);
            bytes.extend(name.as_bytes());
            bytes.extend(&packed);
            directory.extend(CENTRAL.to_le_bytes());
            directory.extend([20, 0]);
            directory.extend(&common);
            directory.extend([0; 10]);
            directory.extend(offset.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let begin = bytes.len() as u32;
        bytes.extend(&directory);
        bytes.extend(END.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend([(entries.len() as u16).to_le_bytes(); 2].concat());
        bytes.extend((directory.len() as u32).to_le_bytes());
        bytes.extend(begin.to_le_bytes());
        bytes.extend([0; 2]);
        bytes
    }

    fn open(bytes: Vec<u8>) -> Result<Archive, String> {
        Archive::parse(Path::new("a.zip"), bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn entries_are_found_and_unpacked() {
        let long = vec![7; 5000];
        let archive =
            open(pack(&[("a/b", b"plain", false), ("c", &long, true), ("d/", b"", false)]));
        let archive = archive.unwrap();
        assert_eq!(archive.names().collect::<Vec<_>>(), ["a/b", "c"]);
        assert_eq!(archive.read("a/b", 5).unwrap().as_deref(), Some(&b"plain"[..]));
        assert_eq!(archive.read("c", 5000).unwrap().as_deref(), Some(&long[..]));
        assert_eq!(archive.read("e", 1).unwrap(), None);
        let place = archive.stored("a/b").unwrap().unwrap();
        assert_eq!(&archive.bytes()[place], b"plain");
        let error = archive.stored("c").unwrap_err().to_string();
        assert_eq!(error, "a.zip: entry \"c\" is packed, but tensors must not be");
    }

    #[test]
    fn hostile_archives_are_refused() {
        for name in ["../a", "/etc/passwd", "a/../../b", "a\\b", "C:/a", "a\0b"] {
            let error = open(pack(&[(name, b"x", false)])).expect_err(name);
            assert!(error.contains("leads out of the archive"), "{error}");
        }
        let twice = open(pack(&[("a", b"x", false), ("a", b"y", false)])).unwrap_err();
        assert!(twice.contains("occurs twice"), "{twice}");
        // A bomb: the size that it states is beyond the limit, or it is not the size that it has.
        let bomb = pack(&[("a", &vec![0; 1 << 20], true)]);
        let archive = open(bomb.clone()).unwrap();
        let error = archive.read("a", 1000).unwrap_err().to_string();
        assert!(error.contains("is 1048576 bytes long; at most 1000 are read"), "{error}");
        let mut lying = bomb;
        for (place, window) in lying.clone().windows(4).enumerate().collect::<Vec<_>>() {
            if window == (1_u32 << 20).to_le_bytes() {
                lying[place..place + 4].copy_from_slice(&500_u32.to_le_bytes());
            }
        }
        let error = open(lying).unwrap().read("a", 1000).unwrap_err().to_string();
        assert!(error.contains("is not as long as the archive says"), "{error}");
    }

    #[test]
    fn damaged_archives_are_refused_and_never_panic() {
        let whole = pack(&[("a/b", b"plain", false), ("c", &[1; 300], true)]);
        for end in 0..whole.len() {
            assert!(open(whole[..end].to_vec()).is_err(), "{end}");
        }
        for place in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[place] = value;
                if let Ok(archive) = open(bytes) {
                    for name in archive.names().map(str::to_owned).collect::<Vec<_>>() {
                        let _ = archive.read(&name, 1000);
                        let _ = archive.stored(&name);
                    }
                }
            }
        }
        let mut damaged = whole;
        let place = damaged.windows(5).position(|w| w == b"plain").unwrap();
        damaged[place] = b'P';
        let error = open(damaged).unwrap().read("a/b", 10).unwrap_err().to_string();
        assert!(error.contains("its checksum is wrong"), "{error}");
    }
}
