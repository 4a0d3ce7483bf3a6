//! Every compression, whole, doubled, cut and damaged; sniffing; names in errors.

use std::io::{Read, Write};
use std::num::NonZeroU64;

use proptest::prelude::*;

use super::*;

const KINDS: [Compression; 4] =
    [Compression::None, Compression::Gzip, Compression::Zstd, Compression::Xz];

pub(crate) fn compress(kind: Compression, data: &[u8]) -> Vec<u8> {
    match kind {
        Compression::None => data.to_vec(),
        Compression::Gzip => {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zstd => {
            ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
        }
        Compression::Xz => {
            let mut options = lzma_rust2::XzOptions::with_preset(0);
            options.set_block_size(NonZeroU64::new(1 << 16));
            let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
    }
}

fn read_all(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let mut reader = decode("a file".to_owned(), Cursor::new(bytes)).map_err(|e| e.to_string())?;
    let mut data = Vec::new();
    reader.read_to_end(&mut data).map_err(|e| e.to_string())?;
    Ok(data)
}

fn sample() -> Vec<u8> {
    (0..30_000_u32).flat_map(|i| format!("line {} of many\n", i * i % 977).into_bytes()).collect()
}

#[test]
fn whole_and_concatenated_data_is_read_to_the_end() {
    for kind in KINDS {
        let once = compress(kind, &sample());
        let twice = [once.clone(), compress(kind, b"and more")].concat();
        assert!(read_all(once).unwrap() == sample(), "{kind:?}");
        assert!(read_all(twice).unwrap() == [sample(), b"and more".to_vec()].concat(), "{kind:?}");
        assert_eq!(read_all(compress(kind, b"")).unwrap(), b"", "{kind:?}, empty");
    }
}

#[test]
fn every_cut_is_an_error_that_names_the_file() {
    for kind in [Compression::Gzip, Compression::Zstd, Compression::Xz] {
        let whole = compress(kind, b"a short line\nand another line, and another line\n");
        // The magic number itself must be there, or the file is plain bytes.
        for cut in 6..whole.len() {
            let error = read_all(whole[..cut].to_vec()).unwrap_err();
            assert!(error.contains("a file"), "{kind:?} cut at {cut}: {error}");
            assert!(error.contains("truncated"), "{kind:?} cut at {cut}: {error}");
        }
        // A second member that is cut is an error as well.
        for cut in 1..whole.len() {
            let error = read_all([&whole[..], &whole[..cut]].concat()).unwrap_err();
            assert!(error.contains("a file"), "{kind:?} second cut at {cut}: {error}");
        }
    }
}

#[test]
fn a_changed_byte_is_noticed() {
    for kind in [Compression::Gzip, Compression::Zstd, Compression::Xz] {
        let data: Vec<u8> = (0..4000_u32).map(|i| (i * i % 251) as u8).collect();
        let mut bytes = compress(kind, &data);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x10;
        let error = read_all(bytes).unwrap_err();
        assert!(error.contains("a file") && error.contains("damaged"), "{kind:?}: {error}");
    }
}

#[test]
fn rubbish_after_the_end_is_noticed() {
    for kind in [Compression::Gzip, Compression::Zstd, Compression::Xz] {
        let bytes = [compress(kind, b"data"), b"rubbish!".to_vec()].concat();
        assert!(read_all(bytes).unwrap_err().contains("a file"), "{kind:?}");
    }
}

#[test]
fn skippable_frames_are_skipped() {
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
    let frame = compress(Compression::Zstd, b"kept");
    let bytes = [&skippable[..], &frame, &skippable, &frame, &skippable].concat();
    assert_eq!(read_all(bytes).unwrap(), b"keptkept");
    let cut = [&frame[..], &skippable[..9]].concat();
    assert!(read_all(cut).unwrap_err().contains("truncated"));
}

#[test]
fn greedy_windows_are_refused() {
    // Window descriptor 0xff: exponent 31, mantissa 7, or 3.75 TiB.
    for descriptor in [0xff, 0xa0] {
        let error = read_all(vec![0x28, 0xb5, 0x2f, 0xfd, 0, descriptor, 1, 0, 0]).unwrap_err();
        assert!(error.contains("more than 128 MiB"), "{descriptor:x}: {error}");
    }
    // As `xz --lzma2=dict=1GiB` writes.
    let mut options = lzma_rust2::XzOptions::with_preset(0);
    options.lzma_options.dict_size = 1 << 30;
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(b"x").unwrap();
    let error = read_all(encoder.finish().unwrap()).unwrap_err();
    assert!(error.contains("more than 128 MiB"), "{error}");
}

#[test]
fn formats_known_by_sight_are_named() {
    let cases: [(&str, &[u8]); 2] =
        [("bzip2", b"BZh91AY&SY\0\0\0\0"), ("zip", b"PK\x03\x04\x14\0\0\0")];
    for (name, bytes) in cases {
        let error = read_all(bytes.to_vec()).unwrap_err();
        assert!(error.contains("a file") && error.contains(name), "{name}: {error}");
    }
}

#[test]
fn text_that_resembles_a_magic_number_stays_text() {
    for text in ["", "B", "BZh is a word", "P", "PK", "(", "\u{fd}7zX"] {
        assert_eq!(read_all(text.as_bytes().to_vec()).unwrap(), text.as_bytes(), "{text:?}");
    }
}

#[test]
fn a_missing_file_and_a_directory_are_named() {
    let missing = Path::new("no/such/file.gz");
    assert!(open(missing).err().unwrap().to_string().contains("no/such/file.gz"));
    let directory = tempfile::tempdir().unwrap();
    let error = open(directory.path()).err().unwrap().to_string();
    assert!(error.contains(directory.path().to_str().unwrap()), "{error}");
}

#[test]
fn names_ask_for_compressions() {
    let cases = [
        ("a.gz", Compression::Gzip),
        ("a.en.GZ", Compression::Gzip),
        ("a.zst", Compression::Zstd),
        ("a.xz", Compression::Xz),
        ("a.txt", Compression::None),
        ("gz", Compression::None),
        ("-", Compression::None),
    ];
    for (name, expected) in cases {
        assert_eq!(Compression::of_name(Path::new(name)), expected, "{name}");
    }
}

proptest! {
    #[test]
    fn any_bytes_survive(data in prop::collection::vec(any::<u8>(), 0..5000)) {
        for kind in KINDS.into_iter().skip(1) {
            prop_assert_eq!(&read_all(compress(kind, &data)).unwrap(), &data);
        }
    }

    #[test]
    fn damaged_bytes_never_panic(
        data in prop::collection::vec(any::<u8>(), 0..300),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        for kind in KINDS {
            let mut bytes = compress(kind, &data);
            for (at, value) in &flips {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = *value;
                }
            }
            let _ = read_all(bytes);
        }
    }
}

/// Gives one piece at each reading, and counts them.
struct Pieces {
    pieces: std::vec::IntoIter<&'static str>,
    readings: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.readings.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let piece = self.pieces.next().unwrap_or_default().as_bytes();
        assert!(piece.len() <= buffer.len(), "a piece is lost");
        buffer[..piece.len()].copy_from_slice(piece);
        Ok(piece.len())
    }
}

/// Whoever waits for an answer to a line sends no other one.
#[test]
fn a_line_is_given_out_before_more_is_read() {
    // (what arrives, the first line, after how many readings)
    let cases: [(&[&str], &str, usize); 9] = [
        (&["Hello!\n", "more"], "Hello!", 1),
        (&["A\n", "more"], "A", 1),
        (&["\n", "more"], "", 1),
        (&["B\n", "more"], "B", 1),
        (&["BZ\n", "more"], "BZ", 1),
        (&["P", "\n", "more"], "P", 2),
        (&["\u{feff}A\n", "more"], "A", 1),
        (&["Hel", "lo!\n", "more"], "Hello!", 2),
        (&["a longer ", "line\n", "more"], "a longer line", 2),
    ];
    for (pieces, expected, count) in cases {
        let readings = std::sync::Arc::default();
        let pieces = Pieces {
            pieces: Vec::from(pieces).into_iter(),
            readings: std::sync::Arc::clone(&readings),
        };
        let reader = decode("a pipe".to_owned(), pieces).unwrap();
        let mut lines = crate::lines::Lines::new(reader, 100);
        assert_eq!(lines.next_line().unwrap().unwrap(), Ok(expected));
        let readings = readings.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(readings, count, "{expected:?}");
    }
}

#[test]
fn magic_numbers_are_what_is_recognised() {
    for magic in MAGICS {
        assert_ne!(sniff(magic), Ok(Compression::None), "{magic:?}");
        for length in 0..magic.len() {
            assert!(is_undecided(&magic[..length]), "{magic:?}, {length} bytes");
        }
        assert!(magic.len() <= MAGIC && !is_undecided(magic), "{magic:?}");
    }
}

/// A terminal: every part is what is read until somebody presses Enter or Ctrl-D, an empty one is an end.
struct Keyboard(std::vec::IntoIter<&'static [u8]>);

impl Read for Keyboard {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let part = self.0.next().expect("nobody reads on after the end");
        buffer[..part.len()].copy_from_slice(part);
        Ok(part.len())
    }
}

#[test]
fn the_first_end_of_a_terminal_is_the_end() {
    for keys in [vec![&b"one\n"[..], b"two\n", b""], vec![b""], vec![b"no end", b""]] {
        let expected = keys.concat();
        let mut reader = decode("keyboard".to_owned(), Keyboard(keys.into_iter())).unwrap();
        let mut found = Vec::new();
        reader.read_to_end(&mut found).unwrap();
        assert_eq!(found, expected);
        assert!(reader.fill_buf().unwrap().is_empty());
        assert!(reader.fill_buf().unwrap().is_empty());
    }
}
