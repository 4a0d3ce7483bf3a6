//! Runs that were interrupted go on to the bit; what was begun otherwise is refused, or accepted and noted.

use std::fs;

use padir_train::record::{self, Kind};
use padir_train::state;
use padir_train::trainer::{Ending, Start, TrainError};

use crate::fixture::{RESUME, RESUME_CHANGED, config, folder, model, rows, run, run_until};

#[test]
fn an_interrupted_run_goes_on_to_the_bit() {
    for kind in ["ar", "padir"] {
        let (whole, broken) = (folder(), folder());
        let flags = ["run.max_steps=35", "optimiser.ema=0.9", "optimiser.accumulate=2"];
        run(&config(whole.path(), kind, &flags), Start::Begin).unwrap();

        let settings = config(broken.path(), kind, &flags);
        assert_eq!(run_until(&settings, Start::Begin, 18), Ending::Stopped);
        // As if it had been killed a little later: what was saved last is older than the record.
        fs::remove_dir_all(broken.path().join("run/checkpoints/step-0000000018")).unwrap();
        assert_eq!(run(&settings, RESUME).unwrap(), Ending::Steps);

        assert_eq!(rows(whole.path()), rows(broken.path()), "{kind}");
        let equal = model(whole.path(), "final") == model(broken.path(), "final");
        assert!(equal, "{kind}: the models differ");
    }
}

#[test]
fn a_run_is_not_begun_twice_nor_resumed_differently() {
    let folder = folder();
    let settings = config(folder.path(), "ar", &["run.max_steps=2"]);
    let refuse = |result: Result<Ending, TrainError>| result.unwrap_err().to_string();
    assert!(refuse(run(&settings, RESUME)).contains("there is no run"));
    run(&settings, Start::Begin).unwrap();
    assert!(refuse(run(&settings, Start::Begin)).contains("there is a run"));
    let other = config(folder.path(), "ar", &["run.max_steps=4", "optimiser.schedule.peak=0.5"]);
    assert!(refuse(run(&other, RESUME)).contains("peak"));
    let other = config(folder.path(), "ar", &["run.max_steps=4", "run.seed=5"]);
    assert!(refuse(run(&other, RESUME_CHANGED)).contains("seed"));
    let longer = config(folder.path(), "ar", &["run.max_steps=4"]);
    assert_eq!(run(&longer, RESUME).unwrap(), Ending::Steps);
}

/// A rate that ruins any network at once.
const RUIN: [&str; 4] = [
    "run.max_steps=200",
    "optimiser.schedule.peak=1e30",
    "optimiser.schedule.warmup=0",
    "optimiser.clip_norm=0",
];

#[test]
fn a_loss_without_number_stops_with_the_last_good_state() {
    let folder = folder();
    let error = run(&config(folder.path(), "ar", &RUIN), Start::Begin).unwrap_err();
    let TrainError::NotFinite { found, batch } = error else { panic!("{error}") };
    assert!(batch.is_file(), "{found}");
    assert!(!state::steps(&folder.path().join("run")).is_empty());
}

#[test]
fn a_ruined_run_goes_back_and_on_with_other_settings() {
    let (whole, ruined) = (folder(), folder());
    let good = |folder: &tempfile::TempDir, steps: &str| config(folder.path(), "ar", &[steps]);
    run(&good(&whole, "run.max_steps=16"), Start::Begin).unwrap();

    let longer = good(&ruined, "run.max_steps=16");
    assert_eq!(run_until(&longer, Start::Begin, 10), Ending::Stopped);
    let ruin = config(ruined.path(), "ar", &RUIN);
    assert!(matches!(run(&ruin, RESUME), Err(TrainError::RunDir(_))), "it is not asked for");
    assert!(matches!(run(&ruin, RESUME_CHANGED), Err(TrainError::NotFinite { .. })));
    let place = ruined.path().join("run");
    for step in state::steps(&place).into_iter().filter(|&step| step > 10) {
        fs::remove_dir_all(place.join(format!("checkpoints/step-{step:010}"))).unwrap();
    }
    assert!(matches!(run(&longer, RESUME), Err(TrainError::RunDir(_))), "it is a change, too");
    assert_eq!(run(&longer, RESUME_CHANGED).unwrap(), Ending::Steps);

    let found = record::read(&place).unwrap();
    let changes: Vec<_> = found.iter().filter(|row| row.kind == Kind::Change).collect();
    let peaks = ["`optimiser.schedule.peak` was 0.02 and is 10000", "00.0 and is 0.02"];
    assert_eq!(changes.len(), 2, "{found:?}");
    for (row, expected) in changes.iter().zip(peaks) {
        assert_eq!(row.step, 10);
        assert!(row.changes.iter().any(|change| change.contains(expected)), "{row:?}");
    }
    // Back where it was and with the settings it had, it is the run it would have been.
    let mut left = rows(ruined.path());
    left.retain(|row| row.kind != Kind::Change);
    assert_eq!(left, rows(whole.path()));
    assert!(model(ruined.path(), "final") == model(whole.path(), "final"), "the models differ");
}
