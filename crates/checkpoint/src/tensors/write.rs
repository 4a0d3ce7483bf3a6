//! Writing tensors one after the other: none is held longer than it takes to write it.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::numbers::Dtype;
use super::{TensorError, TensorFault, checksum, numbers};

/// The data begins at a multiple of this, so that a map can be read in place.
const ALIGNMENT: usize = 64;
const BUFFER: usize = 1 << 16;
/// Bytes before the header.
const PREFIX: usize = 8;

/// A tensor that is to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// Its name.
    pub name: String,
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// How its numbers are stored: [`Dtype::F32`] or [`Dtype::I8`].
    pub dtype: Dtype,
}

impl From<(String, Vec<usize>)> for Announced {
    /// Of f32.
    fn from((name, shape): (String, Vec<usize>)) -> Self {
        Self { name, shape, dtype: Dtype::F32 }
    }
}

/// A file of tensors under construction. Names and shapes are announced first; the numbers
/// follow in the same order.
#[derive(Debug)]
pub struct TensorWriter<W: Write + Seek = BufWriter<File>> {
    path: PathBuf,
    out: W,
    /// What is still to be written, in reverse.
    expected: Vec<Announced>,
    /// Of what is written.
    checksums: Vec<u64>,
    /// Where they will stand in the file.
    checksums_at: u64,
}

impl TensorWriter {
    /// Begins a file. `metadata` is kept beside the tensors, for [`super::TensorFile::metadata`].
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(
        path: impl AsRef<Path>,
        tensors: impl IntoIterator<Item = impl Into<Announced>>,
        metadata: &[(&str, &str)],
    ) -> Result<Self, TensorError> {
        let path = path.as_ref();
        let fault = |error| TensorError { path: path.into(), fault: TensorFault::Write(error) };
        let out = BufWriter::with_capacity(BUFFER, File::create(path).map_err(fault)?);
        Self::begin(path, out, tensors, metadata)
    }

    /// Ends the file, once all tensors are written, and forces it to the disk.
    ///
    /// # Errors
    /// If a tensor is missing, or the disk is full.
    pub fn finish(mut self) -> Result<(), TensorError> {
        self.complete()?;
        let Self { path, out, .. } = self;
        let fault = |error| TensorError { path: path.clone(), fault: TensorFault::Write(error) };
        let file = out.into_inner().map_err(|error| fault(error.into_error()))?;
        file.sync_all().map_err(fault)
    }
}

impl<W: Write + Seek> TensorWriter<W> {
    fn begin(
        path: &Path,
        mut out: W,
        tensors: impl IntoIterator<Item = impl Into<Announced>>,
        metadata: &[(&str, &str)],
    ) -> Result<Self, TensorError> {
        let mut expected: Vec<Announced> = tensors.into_iter().map(Into::into).collect();
        let (header, checksums_at) = header_of(&expected, metadata);
        expected.reverse();
        let fault = |error| TensorError { path: path.into(), fault: TensorFault::Write(error) };
        out.write_all(&(header.len() as u64).to_le_bytes()).map_err(fault)?;
        out.write_all(&header).map_err(fault)?;
        let path = path.to_owned();
        Ok(Self { path, out, expected, checksums: Vec::new(), checksums_at })
    }

    /// Writes the next of the announced tensors.
    ///
    /// # Errors
    /// If it has not as many numbers as was announced, if one of them is not finite, or if the
    /// disk is full.
    pub fn push(&mut self, numbers: &[f32]) -> Result<(), TensorError> {
        let name = self.next(numbers.len(), Dtype::F32)?;
        if let Some(index) = numbers::first_not_finite(numbers) {
            let value = numbers[index];
            return Err(self.error(TensorFault::NotFinite { name, index, value }));
        }
        self.write(&name, &numbers::encode(numbers))
    }

    /// Writes the next of the announced tensors, one of [`Dtype::I8`].
    ///
    /// # Errors
    /// As [`TensorWriter::push`].
    pub fn push_bytes(&mut self, numbers: &[i8]) -> Result<(), TensorError> {
        let name = self.next(numbers.len(), Dtype::I8)?;
        self.write(&name, bytemuck::cast_slice(numbers))
    }

    /// The name of the next tensor, if it is such a one.
    fn next(&mut self, found: usize, dtype: Dtype) -> Result<String, TensorError> {
        match self.expected.pop() {
            Some(Announced { name, shape, dtype: announced })
                if announced == dtype && shape.iter().product::<usize>() == found =>
            {
                Ok(name)
            }
            Some(Announced { name, shape, .. }) => {
                Err(self.error(TensorFault::Length { name, shape, found }))
            }
            None => Err(self.error(TensorFault::Unannounced { found })),
        }
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), TensorError> {
        self.checksums.push(checksum::of_tensor(name, bytes));
        self.out.write_all(bytes).map_err(|error| self.error(TensorFault::Write(error)))
    }

    /// All tensors are there; their checksums go into the place that the header keeps for them.
    fn complete(&mut self) -> Result<(), TensorError> {
        let count = self.expected.len();
        if count == 0 {
            let text = checksum::join(&self.checksums);
            let place = SeekFrom::Start(self.checksums_at);
            let written = (self.out.seek(place)).and_then(|_| self.out.write_all(text.as_bytes()));
            return written.map_err(|error| self.error(TensorFault::Write(error)));
        }
        let names = self.expected.iter().rev().map(|tensor| tensor.name.clone());
        let names = names.take(super::fault::NAMES).collect();
        Err(self.error(TensorFault::Missing { names, count }))
    }

    fn error(&self, fault: TensorFault) -> TensorError {
        TensorError { path: self.path.clone(), fault }
    }
}

/// The header, padded with spaces to the alignment, and where in the file its checksums stand.
fn header_of(tensors: &[Announced], metadata: &[(&str, &str)]) -> (Vec<u8>, u64) {
    let blank = "0".repeat(checksum::DIGITS * tensors.len());
    let mut texts: Map<String, Value> =
        metadata.iter().map(|&(key, text)| (key.to_owned(), json!(text))).collect();
    texts.insert(checksum::KEY.to_owned(), json!(blank));
    let mut entries = Map::new();
    let mut begin = 0;
    for Announced { name, shape, dtype } in tensors {
        let end = begin + dtype.bytes() * shape.iter().product::<usize>();
        let entry = json!({ "dtype": dtype.name(), "shape": shape, "data_offsets": [begin, end] });
        entries.insert(name.clone(), entry);
        begin = end;
    }
    // The metadata come first; a quote within a text is escaped, so the key is found, not a text.
    let texts = Value::Object(texts).to_string();
    let entries = Value::Object(entries).to_string();
    let comma = if tensors.is_empty() { "" } else { "," };
    let json = format!("{{\"__metadata__\":{texts}{comma}{}", &entries[1..]);
    let key = format!("\"{}\":\"", checksum::KEY);
    let place = json.find(&key).map_or(0, |place| PREFIX + place + key.len());
    let padded = (json.len() + PREFIX).next_multiple_of(ALIGNMENT) - PREFIX;
    let mut bytes = json.into_bytes();
    bytes.resize(padded, b' ');
    (bytes, place as u64)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor};

    use super::super::TensorFile;
    use super::*;

    fn plan() -> Vec<(String, Vec<usize>)> {
        vec![("b".into(), vec![2, 3]), ("a".into(), vec![1]), ("c".into(), vec![0])]
    }

    #[test]
    fn what_is_written_is_read_by_us_and_by_others() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.safetensors");
        let mut writer = TensorWriter::create(&path, plan(), &[("format", "pt")]).unwrap();
        let six = [1.0, -2.5, 3e-40, 4.0, f32::MAX, -0.0];
        for numbers in [&six[..], &[7.0], &[]] {
            writer.push(numbers).unwrap();
        }
        writer.finish().unwrap();
        let file = TensorFile::open(&path).unwrap();
        assert_eq!(*file.read("b").unwrap(), six);
        assert!(matches!(file.read("b").unwrap(), std::borrow::Cow::Borrowed(_)));
        assert_eq!(*file.read("a").unwrap(), [7.0]);
        assert_eq!(file.tensors().map(|t| t.name).collect::<Vec<_>>(), ["b", "a", "c"]);
        let bytes = std::fs::read(&path).unwrap();
        let other = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(other.tensor("b").unwrap().shape(), [2, 3]);
        assert_eq!(other.tensor("a").unwrap().data(), 7.0_f32.to_le_bytes());
    }

    #[test]
    fn wrong_tensors_are_refused() {
        let begin =
            || TensorWriter::begin(Path::new("x"), Cursor::new(Vec::new()), plan(), &[]).unwrap();
        let message = |error: TensorError| error.to_string();
        let long = begin().push(&[0.0; 7]).map_err(message);
        assert_eq!(long, Err("x: tensor \"b\" of shape [2, 3] cannot hold 7 numbers".into()));
        let nan = begin().push(&[0.0, f32::NAN, 0.0, 0.0, 0.0, 0.0]).map_err(message);
        assert_eq!(nan, Err("x: tensor \"b\" holds NaN at index 1".into()));
        let missing = begin().complete().map_err(message);
        assert_eq!(missing, Err("x: lacks the tensors \"b\", \"a\", \"c\"".into()));
        let mut writer =
            TensorWriter::begin(Path::new("x"), Cursor::new(Vec::new()), [] as [Announced; 0], &[])
                .unwrap();
        assert!(writer.push(&[]).is_err(), "nothing was announced");
    }

    /// A disk that is full after `0` bytes more.
    struct Small(usize);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let n = bytes.len().min(self.0);
            self.0 -= n;
            if n == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(n) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Small {
        fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
            Ok(0)
        }
    }

    #[test]
    fn a_full_disk_is_an_error_wherever_it_strikes() {
        let write = |room| {
            let mut writer = TensorWriter::begin(Path::new("x"), Small(room), plan(), &[])?;
            [&[1.0; 6][..], &[7.0], &[]].into_iter().try_for_each(|t| writer.push(t))?;
            writer.complete()
        };
        let needed = (0..2000).find(|&room| write(room).is_ok()).unwrap();
        assert_eq!(needed % ALIGNMENT, (28 + 3 * 16) % ALIGNMENT, "header, numbers, checksums");
        for room in 0..needed {
            let error: TensorError = write(room).expect_err("no room");
            assert!(matches!(error.fault, TensorFault::Write(_)), "{room}: {error}");
        }
    }
}
