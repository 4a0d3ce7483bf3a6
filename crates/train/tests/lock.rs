//! A trainer that is killed leaves no lock. In a process of its own: a test beside it that starts
//! programs would hand them the lock for a moment.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use padir_train::rundir::{Lock, RunDirError, holder};

const DIRECTORY: &str = "PADIR_TEST_LOCK";

/// The other trainer: takes the lock and waits to be killed.
#[test]
#[ignore = "started by the test below"]
fn hold_the_lock() {
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap());
    let _lock = Lock::take(&directory).unwrap();
    std::thread::sleep(Duration::from_mins(1));
}

#[test]
fn a_killed_trainer_leaves_no_lock() {
    let directory = tempfile::tempdir().unwrap();
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "hold_the_lock"])
        .env(DIRECTORY, directory.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while holder(directory.path()) != Some(other.id()) {
        assert!(begun.elapsed() < Duration::from_secs(30), "the lock was not taken");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = other.id();
    let refused = Lock::take(directory.path()).unwrap_err();
    assert!(matches!(refused, RunDirError::Locked { pid: Some(found), .. } if found == pid));
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(holder(directory.path()), None);
    assert!(Lock::take(directory.path()).is_ok());
}
