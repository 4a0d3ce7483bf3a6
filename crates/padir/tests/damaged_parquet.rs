//! A damaged parquet file is one error on stderr, and not a panic message as well.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs::{self, File};
use std::panic;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use padir_base::caught;
use padir_text::corpus::{Corpus, Reading};
use padir_text::origin::Origin;
use parquet::data_type::{FixedLenByteArray, FixedLenByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// A file of a column that the decoder panics at.
fn write_spans(path: &Path) {
    let schema = "message s { required fixed_len_byte_array(12) a (INTERVAL); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::default());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let spans = [FixedLenByteArray::from(vec![0; 12])];
    column.typed::<FixedLenByteArrayType>().write_batch(&spans, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

/// Damages bytes of a file until reading it makes the decoder panic. Which byte that is depends on its version.
fn damage(path: &Path, read: impl Fn(&Path)) {
    let whole = fs::read(path).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] = 0xff;
        fs::write(path, damaged).unwrap();
        let before = PANICS.load(Ordering::Relaxed);
        read(path);
        if PANICS.load(Ordering::Relaxed) > before {
            return;
        }
    }
    panic!("no byte of {} makes the decoder panic", path.display());
}

fn read_pairs(path: &Path) {
    let corpus = Corpus::Parquet { file: Origin::new(path), languages: None };
    if let Ok(pairs) = corpus.open(Reading::default()) {
        // The first error ends it.
        let _ = pairs.into_iter().try_for_each(|pair| pair.map(drop));
    }
}

/// One test, since all tests of a process share its hook.
#[test]
fn the_binary_reports_damage_once() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if caught::is_expected() {
            PANICS.fetch_add(1, Ordering::Relaxed);
        } else {
            report(info);
        }
    }));
    let folder = tempfile::tempdir().unwrap();
    let pairs = folder.path().join("pairs.parquet");
    fs::write(&pairs, include_bytes!("../../text/src/columnar/golden/none.parquet")).unwrap();
    damage(&pairs, read_pairs);
    let before = PANICS.load(Ordering::Relaxed);
    let spans = folder.path().join("spans.parquet");
    write_spans(&spans);
    assert!(padir_lab::data::read_rows(&spans).is_err());
    assert!(PANICS.load(Ordering::Relaxed) > before, "the decoder does not panic any more");
    for (file, command, expected) in [
        ("pairs.parquet", "data inspect pairs.parquet", "contradict"),
        ("pairs.parquet", "data convert pairs.parquet -o pairs.tsv", "contradict"),
        ("spans.parquet", "lab fit spans.parquet", "cannot be read"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_padir"))
            .current_dir(folder.path())
            .args(command.split(' '))
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{command}: {errors}");
        assert!(errors.starts_with("error: "), "{command}: {errors}");
        let others = errors.lines().skip(1).filter(|line| !line.starts_with("hint: "));
        assert_eq!(others.count(), 0, "{command}: {errors}");
        assert!(errors.contains(file) && errors.contains(expected), "{command}: {errors}");
    }
}
