//! Lines of bytes from a reader, with bounded memory.
//!
//! A line ends at `\n` or `\r\n` and nowhere else: U+0085, U+2028, `\x0b` and `\x0c` are text.
//! The last line may lack its end. A byte order mark at the very start is dropped. A line over
//! the limit is read past without being kept.
//!
//! Cost: one `memchr` per line; lines inside one buffer of the reader are not copied.

use std::io::{self, BufRead, Read};

use memchr::memchr;

use crate::defect::{Defect, check};

/// What a line may weigh unless the user says otherwise: 1 MiB. The longest sentence of Europarl
/// has a few kilobytes; a whole book in one line is a mistake.
pub const LINE_LIMIT: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Splits a reader into lines.
pub struct Lines {
    source: Box<dyn BufRead + Send>,
    limit: usize,
    started: bool,
    number: u64,
    /// Bytes of `source`'s buffer that the line given out last still occupies.
    lent: usize,
    /// Bytes of `source`'s buffer behind that line.
    left: usize,
    /// A line that lies across two buffers.
    joined: Vec<u8>,
}

/// Where a line's bytes are, found before they are borrowed.
enum Place {
    End,
    /// The first bytes of the reader's buffer.
    Buffer(usize),
    Joined,
    TooLong,
}

impl Lines {
    /// Lines of at most `limit` bytes, their end not counted.
    pub fn new(source: Box<dyn BufRead + Send>, limit: usize) -> Self {
        Self { source, limit, started: false, number: 0, lent: 0, left: 0, joined: Vec::new() }
    }

    /// The number of the line given out last, from 1; at the end, how many lines there were.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line as text, or what is wrong with it; `None` at the end.
    ///
    /// # Errors
    /// When the reader fails.
    pub fn next_line(&mut self) -> io::Result<Option<Result<&str, Defect>>> {
        Ok(self.next_bytes()?.map(|line| line.and_then(check)))
    }

    /// The next line as bytes, or [`Defect::TooLong`]; `None` at the end.
    ///
    /// # Errors
    /// When the reader fails.
    pub fn next_bytes(&mut self) -> io::Result<Option<Result<&[u8], Defect>>> {
        self.advance()?;
        let place = self.find()?;
        if matches!(place, Place::End) {
            return Ok(None);
        }
        self.number += 1;
        let line = match place {
            Place::Buffer(length) => trim(&self.source.fill_buf()?[..length]),
            Place::Joined => trim(&self.joined),
            Place::End | Place::TooLong => {
                return Ok(Some(Err(Defect::TooLong { limit: self.limit })));
            }
        };
        if line.len() > self.limit {
            return Ok(Some(Err(Defect::TooLong { limit: self.limit })));
        }
        Ok(Some(Ok(line)))
    }

    /// Reads the rest without looking at it, and gives the number of lines of the whole.
    ///
    /// # Errors
    /// When the reader fails.
    pub fn count_rest(&mut self) -> io::Result<u64> {
        self.advance()?;
        let mut open = false;
        loop {
            let buffer = retry(self.source.as_mut())?;
            let Some(last) = buffer.last() else { break };
            open = *last != b'\n';
            self.number += memchr::memchr_iter(b'\n', buffer).count() as u64;
            let length = buffer.len();
            self.source.consume(length);
        }
        self.number += u64::from(open);
        Ok(self.number)
    }

    /// Gives the last line back to the reader; at the start, drops a byte order mark.
    fn advance(&mut self) -> io::Result<()> {
        self.source.consume(std::mem::take(&mut self.lent));
        if self.started {
            return Ok(());
        }
        self.started = true;
        let head = self.read_mark()?;
        if head != BYTE_ORDER_MARK {
            let rest = std::mem::replace(&mut self.source, Box::new(io::empty()));
            self.source = Box::new(io::Cursor::new(head).chain(rest));
        }
        Ok(())
    }

    /// The first bytes as far as they are those of a byte order mark, and the first that is not: more may not be there yet.
    fn read_mark(&mut self) -> io::Result<Vec<u8>> {
        let mut head = Vec::with_capacity(BYTE_ORDER_MARK.len());
        while head.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(&head) {
            let Some(&byte) = retry(self.source.as_mut())?.first() else { break };
            self.source.consume(1);
            head.push(byte);
        }
        Ok(head)
    }

    /// Whether the next line is already in memory, so that asking for it waits for nobody.
    pub fn has_next(&mut self) -> bool {
        let (lent, left) = (self.lent, self.left);
        // Something is left in the buffer, so that this reads nothing.
        left > 0
            && self.source.fill_buf().is_ok_and(|buffer| {
                buffer.get(lent..).is_some_and(|rest| memchr(b'\n', rest).is_some())
            })
    }

    fn find(&mut self) -> io::Result<Place> {
        let buffer = retry(self.source.as_mut())?;
        if buffer.is_empty() {
            return Ok(Place::End);
        }
        if let Some(end) = memchr(b'\n', buffer) {
            self.lent = end + 1;
            self.left = buffer.len() - self.lent;
            return Ok(Place::Buffer(end + 1));
        }
        self.join()
    }

    /// Collects a line from several buffers, up to the limit.
    fn join(&mut self) -> io::Result<Place> {
        // Room for the line's end, which does not count.
        let room = self.limit.saturating_add(2);
        self.joined.clear();
        let mut fits = true;
        loop {
            let buffer = retry(self.source.as_mut())?;
            let end = memchr(b'\n', buffer);
            let part = &buffer[..end.map_or(buffer.len(), |end| end + 1)];
            fits &= self.joined.len() + part.len() <= room;
            if fits {
                self.joined.extend_from_slice(part);
            }
            let length = part.len();
            self.left = buffer.len() - length;
            self.source.consume(length);
            if end.is_some() || length == 0 {
                return Ok(if fits { Place::Joined } else { Place::TooLong });
            }
        }
    }
}

/// `fill_buf` that survives signals.
fn retry(source: &mut (dyn BufRead + Send)) -> io::Result<&[u8]> {
    loop {
        match source.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    source.fill_buf()
}

/// Drops `\n` or `\r\n`. Without `\n`, at the end of the file, a `\r` is dropped as well: half a
/// line end is no text.
fn trim(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    /// The slow twin: everything at once.
    fn split_all(bytes: &[u8], limit: usize) -> Vec<Result<Vec<u8>, Defect>> {
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let strip = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        let judge = |line: Vec<u8>| {
            if line.len() > limit { Err(Defect::TooLong { limit }) } else { Ok(line) }
        };
        lines.into_iter().map(strip).map(judge).collect()
    }

    fn read_all(bytes: &[u8], limit: usize, buffer: usize) -> Vec<Result<Vec<u8>, Defect>> {
        let source = io::Cursor::new(bytes.to_vec());
        let mut lines = Lines::new(Box::new(BufReader::with_capacity(buffer, source)), limit);
        let mut all = Vec::new();
        while let Some(line) = lines.next_bytes().unwrap() {
            all.push(line.map(<[u8]>::to_vec));
        }
        assert_eq!(lines.number(), all.len() as u64);
        all
    }

    const CASES: [(&str, &str, &[&str]); 12] = [
        ("nothing", "", &[]),
        ("one empty line", "\n", &[""]),
        ("two empty lines", "\n\n", &["", ""]),
        ("no end at the end", "a\nb", &["a", "b"]),
        ("windows", "a\r\nb\r\n", &["a", "b"]),
        ("carriage return inside", "a\rb\n", &["a\rb"]),
        ("two carriage returns", "a\r\r\n", &["a\r"]),
        ("byte order mark", "\u{feff}a\n\u{feff}b\n", &["a", "\u{feff}b"]),
        ("byte order mark alone", "\u{feff}", &[]),
        (
            "other line separators",
            "a\u{2028}b\u{85}c\x0bd\x0ce\u{2029}\n",
            &["a\u{2028}b\u{85}c\x0bd\x0ce\u{2029}"],
        ),
        ("file separators", "a\x1cb\x1dc\x1e\n", &["a\x1cb\x1dc\x1e"]),
        ("beyond the basic plane", "𝔘𝔫𝔦\n👩‍👩‍👧\n", &["𝔘𝔫𝔦", "👩‍👩‍👧"]),
    ];

    #[test]
    fn lines_end_at_newlines_only() {
        for (name, text, expected) in CASES {
            for buffer in [1, 2, 3, 7, 4096] {
                let lines = read_all(text.as_bytes(), LINE_LIMIT, buffer);
                let lines: Vec<_> =
                    lines.into_iter().map(|l| String::from_utf8(l.unwrap()).unwrap()).collect();
                assert_eq!(lines, expected, "{name}, buffer of {buffer}");
            }
        }
    }

    #[test]
    fn defects_are_found() {
        let cases: [(&str, &[u8], Defect); 5] = [
            ("lone continuation", b"ab\x80\n", Defect::InvalidUtf8 { byte: 3 }),
            ("overlong", b"\xc0\xaf\n", Defect::InvalidUtf8 { byte: 1 }),
            ("surrogate", b"\xed\xa0\x80\n", Defect::InvalidUtf8 { byte: 1 }),
            ("nul", b"ab\0c\n", Defect::Nul { byte: 3 }),
            ("long", b"12345678901\n", Defect::TooLong { limit: 10 }),
        ];
        for (name, bytes, expected) in cases {
            let mut lines = Lines::new(Box::new(io::Cursor::new(bytes.to_vec())), 10);
            assert_eq!(lines.next_line().unwrap(), Some(Err(expected)), "{name}");
            assert_eq!(lines.next_line().unwrap(), None, "{name}");
        }
    }

    #[test]
    fn a_huge_line_takes_little_memory() {
        let endless = io::Read::take(io::repeat(b'x'), 50 << 20);
        let mut lines = Lines::new(Box::new(BufReader::new(endless)), 1000);
        assert_eq!(lines.next_line().unwrap(), Some(Err(Defect::TooLong { limit: 1000 })));
        assert_eq!(lines.next_line().unwrap(), None);
        assert!(lines.joined.capacity() < 1 << 16, "{}", lines.joined.capacity());
    }

    #[test]
    fn lines_are_told_when_they_are_at_hand() {
        let cases: [(&str, usize, &[bool]); 4] = [
            ("a\nb\nc", 64, &[true, false, false]),
            ("a\nb\n", 2, &[false, false]),
            ("abc\nd\ne\n", 3, &[true, false, false]),
            ("", 8, &[]),
        ];
        for (text, buffer, expected) in cases {
            let source = BufReader::with_capacity(buffer, io::Cursor::new(text.as_bytes()));
            let mut lines = Lines::new(Box::new(source), LINE_LIMIT);
            // The first byte is read apart, because it may be of a byte order mark.
            assert!(!lines.has_next());
            let mut found = Vec::new();
            while lines.next_bytes().unwrap().is_some() {
                found.push(lines.has_next());
            }
            assert_eq!(found.len(), expected.len(), "{text:?}");
            for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
                // It may miss a line, but never promises one that is not there.
                assert!(expected || !found, "{text:?}, line {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn splitting_agrees_with_the_slow_twin(
            bytes in prop::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), Just(0xef_u8), Just(0xbb), Just(0xbf),
                            any::<u8>()], 0..120),
            limit in 0_usize..20,
            buffer in 1_usize..16,
        ) {
            prop_assert_eq!(read_all(&bytes, limit, buffer), split_all(&bytes, limit));
        }

        #[test]
        fn the_rest_is_counted_as_it_would_be_read(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..80),
            skip in 0_usize..10,
            buffer in 1_usize..16,
        ) {
            let source = BufReader::with_capacity(buffer, io::Cursor::new(bytes.clone()));
            let mut lines = Lines::new(Box::new(source), LINE_LIMIT);
            for _ in 0..skip {
                lines.next_bytes().unwrap();
            }
            prop_assert_eq!(lines.count_rest().unwrap(), split_all(&bytes, LINE_LIMIT).len() as u64);
        }
    }
}
