//! Directories that are taken, locked, changed and left behind.

use padir_base::hash::hash_bytes;
use padir_base::manifest::DataFile;

use super::*;
use crate::record::{Kind, Recorder, Row};

struct Fixture {
    home: tempfile::TempDir,
    config: Config,
}

/// Data and a configuration; the vocabulary is no real one, which only reading would notice.
fn fixture() -> Fixture {
    let home = tempfile::tempdir().unwrap();
    for name in ["v.model", "a.en", "a.de", "d.en", "d.de"] {
        fs::write(home.path().join(name), name).unwrap();
    }
    let at = |name: &str| home.path().join(name).display().to_string();
    let text = format!(
        "[data]\nvocabulary = {:?}\ntrain = {{ source = {:?}, target = {:?} }}\n\
         dev.dev = {{ source = {:?}, target = {:?} }}\n[run]\ndir = {:?}\n",
        at("v.model"),
        at("a.en"),
        at("a.de"),
        at("d.en"),
        at("d.de"),
        at("run"),
    );
    let path = home.path().join("c.toml");
    fs::write(&path, text).unwrap();
    let config = Config::recall(path).unwrap();
    Fixture { home, config }
}

impl Fixture {
    fn manifest(&self) -> Manifest {
        manifest_of(&self.config).unwrap()
    }

    fn resume(&self) -> Result<(RunDir, Vec<Difference>), RunDirError> {
        RunDir::resume(&self.config, &self.manifest(), Changes::Refused)
    }
}

#[test]
fn a_run_is_begun_once_and_resumed() {
    let mut fixture = fixture();
    let manifest = fixture.manifest();
    assert!(matches!(fixture.resume(), Err(RunDirError::Absent(_))));
    let run = RunDir::begin(&fixture.config, &manifest).unwrap();
    assert_eq!(Config::recall(run.path().join(CONFIG)).unwrap(), fixture.config);
    drop(run);
    // It died before its first line, while text was encoded.
    fs::create_dir(fixture.config.run.dir.join("data")).unwrap();
    let run = RunDir::begin(&fixture.config, &manifest).unwrap();
    assert!(!run.path().join("data").exists());
    fs::write(run.path().join(crate::record::FILE_NAME), "").unwrap();
    drop(run);
    assert!(matches!(RunDir::begin(&fixture.config, &manifest), Err(RunDirError::Taken(_))));
    fixture.config.run.max_steps = 5;
    let (run, changes) = fixture.resume().unwrap();
    assert!(changes.is_empty(), "budgets are free");
    run.describe(&fixture.config, &manifest).unwrap();
    assert_eq!(Config::recall(run.path().join(CONFIG)).unwrap().run.max_steps, 5);
}

#[test]
fn two_trainers_do_not_share_a_directory() {
    let fixture = fixture();
    let run = RunDir::begin(&fixture.config, &fixture.manifest()).unwrap();
    assert_eq!(holder(run.path()), Some(std::process::id()));
    let error = fixture.resume().unwrap_err().to_string();
    assert!(error.starts_with("another trainer works in "), "{error}");
    assert!(error.contains(&format!("(process {})", std::process::id())), "{error}");
    drop(run);
    assert_eq!(holder(&fixture.config.run.dir), None);
    assert!(fixture.resume().is_ok());
}

#[test]
fn what_changed_is_named() {
    let mut fixture = fixture();
    let path = RunDir::begin(&fixture.config, &fixture.manifest()).unwrap().path().to_owned();
    fs::write(fixture.home.path().join("v.model"), "another").unwrap();
    fs::write(fixture.home.path().join("a.de"), "longer than before").unwrap();
    fs::write(fixture.home.path().join("d.de"), "dev sets may change").unwrap();
    fixture.config.optimiser.clip_norm = 1.0;
    let error = fixture.resume().unwrap_err().to_string();
    let expected = [
        format!("the run in {} was begun differently:", path.display()),
        "`optimiser.clip_norm` was 0.0 and is 1.0".to_owned(),
        "the vocabulary ".to_owned(),
        "the training data ".to_owned(),
    ];
    assert_eq!(error.lines().count(), 4, "{error}");
    for (line, expected) in error.lines().zip(expected) {
        assert!(line.trim_start().starts_with(&expected), "{expected:?}: {error}");
    }
    assert!(error.contains("a.de had 4 bytes with the hash "), "{error}");
}

#[test]
fn what_is_negotiable_is_accepted_on_request() {
    let mut fixture = fixture();
    let path = RunDir::begin(&fixture.config, &fixture.manifest()).unwrap().path().to_owned();
    let begun = fs::read(path.join(CONFIG)).unwrap();
    fixture.config.optimiser.clip_norm = 1.0;
    fixture.config.optimiser.schedule.peak /= 2.0;
    assert!(matches!(fixture.resume(), Err(RunDirError::Different { .. })));
    let accept =
        |config: &Config| RunDir::resume(config, &manifest_of(config).unwrap(), Changes::Accepted);
    let (_, accepted) = accept(&fixture.config).unwrap();
    let accepted: Vec<String> = accepted.iter().map(ToString::to_string).collect();
    assert_eq!(accepted.len(), 2, "{accepted:?}");
    assert_eq!(accepted[0], "`optimiser.clip_norm` was 0.0 and is 1.0");
    assert_eq!(fs::read(path.join(CONFIG)).unwrap(), begun, "nothing is written yet");
    fixture.config.batch.tokens += 1;
    let refused = accept(&fixture.config).unwrap_err();
    assert!(
        matches!(refused, RunDirError::Different { differences, .. } if differences.len() == 3)
    );
}

#[test]
fn more_training_data_are_other_training_data() {
    let fixture = fixture();
    RunDir::begin(&fixture.config, &fixture.manifest()).unwrap();
    let mut manifest = fixture.manifest();
    manifest.config["data"]["train"]["source"].as_array_mut().unwrap().push("b".into());
    manifest.data.insert(1, DataFile { path: "b".into(), bytes: 1, sha256: hash_bytes(b"b") });
    let error = RunDir::resume(&fixture.config, &manifest, Changes::Accepted);
    let error = error.unwrap_err().to_string();
    assert!(error.ends_with("there were 2 files of training data and are 3"), "{error}");
}

#[test]
fn a_run_is_summed_up() {
    let fixture = fixture();
    let path = fixture.config.run.dir.clone();
    assert!(matches!(Summary::read(&path), Err(RunDirError::Absent(_))));
    let run = RunDir::begin(&fixture.config, &fixture.manifest()).unwrap();
    assert_eq!(Summary::read(&path).unwrap().state, RunState::Running);
    let mut recorder = Recorder::begin(&path).unwrap();
    for (step, loss, bleu) in [(10, 3.0, 1.0), (20, 2.0, f64::NAN), (30, 2.5, 7.0)] {
        recorder.append(&Row::now(Kind::Train, step, 1.0, 9).with("loss", 0.1)).unwrap();
        let row = Row::now(Kind::Eval, step, 60.0, 900 * step).with("dev.loss", loss);
        recorder.append(&row.with("dev.bleu", bleu)).unwrap();
    }
    let status = Status { state: RunState::Running, parameters: 7, reason: None };
    run.set_status(&status).unwrap();
    drop(run);
    let summary = Summary::read(&path).unwrap();
    assert_eq!(
        (summary.name.as_str(), summary.kind),
        ("run", RunKind::Parallel(padir_base::ParallelTraining::Padir))
    );
    assert_eq!((summary.steps, summary.tokens, summary.parameters), (30, 27_000, Some(7)));
    assert_eq!(summary.state, RunState::Stopped, "its process is gone");
    assert_eq!((summary.best["dev.loss"].step, summary.best["dev.bleu"].step), (20, 30));
    assert_eq!(summary.curve("dev.bleu"), [(10, 1.0), (30, 7.0)]);
    assert_eq!(find(fixture.home.path()).unwrap(), [path]);
}
