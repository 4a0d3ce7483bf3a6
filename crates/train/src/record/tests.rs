//! Records that are cut, torn and foreign.

use std::fs;

use super::*;

fn row(step: u64, loss: f64) -> Row {
    let kind = if step.is_multiple_of(4) { Kind::Eval } else { Kind::Train };
    let name = if kind == Kind::Eval { "dev.loss" } else { "loss" };
    Row { time: 1_700_000_000.5, ..Row::now(kind, step, 1.5 * step as f64, 100 * step) }
        .with(name, loss)
}

fn record(directory: &Path, steps: u64) {
    let mut recorder = Recorder::begin(directory).unwrap();
    for step in 1..=steps {
        recorder.append(&row(step, 1.0 / step as f64)).unwrap();
    }
}

fn event_files(directory: &Path) -> Vec<Vec<u8>> {
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.to_string_lossy().contains("tfevents"))
        .map(|path| fs::read(path).unwrap())
        .collect()
}

/// The data of all records of an event file, as the framing gives them.
fn unframe(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<8>() {
        let (check, rest) = rest.split_first_chunk::<4>().unwrap();
        assert_eq!(u32::from_le_bytes(*check), crc32c::masked(length));
        let (data, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
        let (check, rest) = rest.split_first_chunk::<4>().unwrap();
        assert_eq!(u32::from_le_bytes(*check), crc32c::masked(data));
        records.push(data.to_vec());
        bytes = rest;
    }
    records
}

#[test]
fn lines_are_flat_and_what_is_not_finite_is_null() {
    let directory = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::begin(directory.path()).unwrap();
    recorder.append(&row(4, f64::NAN)).unwrap();
    let text = fs::read_to_string(directory.path().join(FILE_NAME)).unwrap();
    let expected = r#"{"step":4,"kind":"eval","time":1700000000.5,"seconds":6.0,"tokens":400,"dev.loss":null}"#;
    assert_eq!(text.trim_end(), expected);
    assert!(read(directory.path()).unwrap()[0].values["dev.loss"].is_nan());
}

#[test]
fn a_new_run_does_not_write_over_a_record() {
    let directory = tempfile::tempdir().unwrap();
    record(directory.path(), 3);
    let error = Recorder::begin(directory.path()).unwrap_err();
    assert!(error.to_string().ends_with(FILE_NAME), "{error}");
    assert_eq!(read(directory.path()).unwrap().len(), 3);
}

#[test]
fn a_resumed_record_is_that_of_an_unbroken_run() {
    let whole = tempfile::tempdir().unwrap();
    record(whole.path(), 9);
    let expected = fs::read(whole.path().join(FILE_NAME)).unwrap();
    for (name, torn) in [
        ("nothing torn", &b""[..]),
        ("half a line", b"{\"step\":8,\"ki"),
        (
            "a whole line without its end",
            br#"{"step":6,"kind":"train","time":0,"seconds":1,"tokens":1}"#,
        ),
        ("zeros of a power cut", &[0; 300]),
        ("a line that is none", b"\0\0\n"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        record(directory.path(), 7);
        let path = directory.path().join(FILE_NAME);
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(torn);
        fs::write(&path, bytes).unwrap();
        assert_eq!(read(directory.path()).unwrap().len(), 7, "{name}");
        let (mut recorder, rows) =
            Recorder::resume(directory.path(), Known { step: 5, evaluated: 4 }).unwrap();
        assert_eq!(rows.len(), 5, "{name}");
        for step in 6..=9 {
            recorder.append(&row(step, 1.0 / step as f64)).unwrap();
        }
        assert_eq!(fs::read(&path).unwrap(), expected, "{name}");
        let events = event_files(directory.path());
        assert_eq!(events.len(), 1, "{name}");
        assert_eq!(unframe(&events[0])[1..], unframe(&event_files(whole.path())[0])[1..], "{name}");
    }
}

#[test]
fn an_evaluation_that_no_checkpoint_knows_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    record(directory.path(), 8);
    for (evaluated, last) in [(8, 8), (4, 7)] {
        let (_, rows) = Recorder::resume(directory.path(), Known { step: 8, evaluated }).unwrap();
        assert_eq!(rows.last().unwrap().step, last, "evaluated {evaluated}");
    }
}

#[test]
fn changes_are_words_in_the_record() {
    let directory = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::begin(directory.path()).unwrap();
    let mut change = Row::now(Kind::Change, 4, 6.0, 400);
    change.changes = vec!["`a` was 1 and is 2".to_owned()];
    recorder.append(&change).unwrap();
    let text = fs::read_to_string(directory.path().join(FILE_NAME)).unwrap();
    assert!(text.contains(r#""kind":"change""#) && text.contains("`a` was 1"), "{text}");
    assert_eq!(read(directory.path()).unwrap(), [change]);
    assert_eq!(unframe(&event_files(directory.path())[0]).len(), 1, "only the version");
}

#[test]
fn a_foreign_line_is_named() {
    let directory = tempfile::tempdir().unwrap();
    record(directory.path(), 2);
    let path = directory.path().join(FILE_NAME);
    let text = fs::read_to_string(&path).unwrap().replacen("\"step\":1", "\"stop\":1", 1);
    fs::write(&path, text).unwrap();
    for error in [
        read(directory.path()).unwrap_err(),
        Recorder::resume(directory.path(), Known { step: 9, evaluated: 8 }).unwrap_err(),
    ] {
        assert!(error.to_string().ends_with("metrics.jsonl:1 is not a row of a record"), "{error}");
    }
}

/// The bytes that `reference/train/events.py` prints for `train/loss` 0.5 at step 3, time 2.
#[test]
fn events_are_the_bytes_tensorboard_writes() {
    let directory = tempfile::tempdir().unwrap();
    let mut events = Events::create(directory.path()).unwrap();
    let row = Row { time: 2.0, ..Row::now(Kind::Train, 3, 0.0, 0) }.with("loss", 0.5);
    events.append(&row).unwrap();
    let bytes = event_files(directory.path()).remove(0);
    let record = unframe(&bytes).pop().unwrap();
    let framed = &bytes[bytes.len() - record.len() - 16..];
    let framed: Vec<String> = framed.iter().map(|byte| format!("{byte:02x}")).collect();
    let golden = include_str!("../../../../reference/train/event.hex");
    assert_eq!(framed.concat(), golden.trim());
}

proptest::proptest! {
    /// A resumed run compares its best with what it read.
    #[test]
    fn numbers_are_read_to_the_last_bit(value in proptest::num::f64::NORMAL) {
        let line = serde_json::to_string(&row(1, value)).unwrap();
        let read: Row = serde_json::from_str(&line).unwrap();
        proptest::prop_assert_eq!(read.values["loss"].to_bits(), value.to_bits());
    }
}
