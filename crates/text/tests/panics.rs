//! The panic hook belongs to the program: a library that catches panics does not touch it.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};

use padir_base::caught;
use padir_text::corpus::{Corpus, Reading};
use padir_text::origin::Origin;

static EXPECTED: AtomicUsize = AtomicUsize::new(0);
static UNEXPECTED: AtomicUsize = AtomicUsize::new(0);

fn read(bytes: &[u8]) -> Result<usize, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let corpus = Corpus::Parquet { file: Origin::new(file.path()), languages: None };
    let pairs = corpus.open(Reading::default()).map_err(|error| error.to_string())?;
    pairs.map(|pair| pair.map(drop).map_err(|error| error.to_string())).try_fold(0, |n, pair| {
        pair?;
        Ok(n + 1)
    })
}

/// One test, since all tests of a process share its hook.
#[test]
fn the_hook_of_the_program_hears_of_every_panic_and_whether_it_is_expected() {
    panic::set_hook(Box::new(|_| {
        let heard = if caught::is_expected() { &EXPECTED } else { &UNEXPECTED };
        heard.fetch_add(1, Ordering::Relaxed);
    }));
    let whole: &[u8] = include_bytes!("../src/columnar/golden/none.parquet");
    assert_eq!(read(whole), Ok(60));
    // Some damage makes the decoder of that format panic; which one depends on its version.
    let mut found = None;
    for at in 0..whole.len() {
        let mut damaged = whole.to_vec();
        damaged[at] = 0xff;
        let outcome = read(&damaged);
        if EXPECTED.load(Ordering::Relaxed) > 0 {
            found = Some((at, outcome));
            break;
        }
    }
    let (at, outcome) = found.unwrap();
    eprintln!("byte {at}: {outcome:?}");
    assert!(outcome.as_ref().is_err_and(|error| error.contains("contradict")), "{outcome:?}");
    assert_eq!(UNEXPECTED.load(Ordering::Relaxed), 0);
    // Where nobody waits for a panic, nothing has changed.
    assert!(panic::catch_unwind(|| panic!("really")).is_err());
    assert_eq!(UNEXPECTED.load(Ordering::Relaxed), 1);
}
