//! Whole runs on made-up data: they learn, they go on after an interruption, they refuse what they should.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use padir_base::random::Seed;
use padir_text::vocab::train::{self as vocab, LineSample, TrainOptions};
use padir_train::config::Config;
use padir_train::devset::Evaluation;
use padir_train::record;
use padir_train::trainer::{Ending, Moment, Observer, TrainError, train};

/// Remembers the losses it is shown, and may stop the run.
#[derive(Default)]
struct Witness<'a> {
    losses: Vec<(u64, f64)>,
    exact: Vec<f64>,
    stop_at: Option<(u64, &'a AtomicBool)>,
}

impl Observer for Witness<'_> {
    fn note(&mut self, _: &str) {}

    fn stepped(&mut self, moment: &Moment) {
        if moment.recorded {
            self.losses.push((moment.step, moment.loss));
        }
        if let Some((step, stop)) = self.stop_at
            && moment.step >= step
        {
            stop.store(true, Ordering::Relaxed);
        }
    }

    fn evaluated(&mut self, _: u64, _: &str, evaluation: &Evaluation) {
        let exact = evaluation.scores.iter().find(|(name, _)| *name == "exact_match");
        self.exact.extend(exact.map(|(_, value)| *value));
    }
}

/// Numbers in figures and, digit by digit, in words of another language. No digit stands beside its like: decoders
/// take a word that comes twice for a slip.
fn write_corpus(folder: &Path) {
    let words = ["zero", "um", "dois", "tres", "quatro", "cinco", "seis", "sete", "oito", "nove"];
    let spell = |n: usize| {
        let digits = n.to_string();
        digits.bytes().map(|d| words[usize::from(d - b'0')]).collect::<Vec<_>>().join(" ")
    };
    let figures = |n: usize| n.to_string().chars().map(String::from).collect::<Vec<_>>().join(" ");
    let (mut train, mut dev) = ((String::new(), String::new()), (String::new(), String::new()));
    let slips = |n: usize| n.to_string().as_bytes().windows(2).any(|two| two[0] == two[1]);
    for (i, n) in (0..6000).map(|i| i * 6173 % 10_000).filter(|&n| !slips(n)).enumerate() {
        let (source, target) =
            if i % 40 == 39 { (&mut dev.0, &mut dev.1) } else { (&mut train.0, &mut train.1) };
        *source += &(figures(n) + "\n");
        *target += &(spell(n) + "\n");
    }
    for (name, text) in
        [("train.x", &train.0), ("train.y", &train.1), ("dev.x", &dev.0), ("dev.y", &dev.1)]
    {
        fs::write(folder.join(name), text).unwrap();
    }
    let text = [train.0, train.1].concat();
    let mut sample = LineSample::new(1 << 20, Seed(1));
    text.lines().for_each(|line| sample.offer(line));
    let options = TrainOptions { size: 58, sentinels: 4, ..TrainOptions::default() };
    let (vocabulary, _) = vocab::train(&sample, &options, |_| ()).unwrap();
    vocabulary.save_model(folder.join("vocab.model")).unwrap();
}

fn config(folder: &Path, kind: &str, more: &[&str]) -> Config {
    let at = |name: &str| folder.join(name).display().to_string();
    let text = format!(
        "[data]\nvocabulary = {:?}\n[data.train]\nsource = {:?}\ntarget = {:?}\n\
         [data.dev.dev]\nsource = {:?}\ntarget = {:?}\n\
         [model]\npreset = \"tiny\"\nd_model = 64\nd_kv = 16\nd_ff = 128\nnum_heads = 4\n\
         [objective]\nkind = {kind:?}\n\
         [optimiser]\nclip_norm = 1.0\n\
         [optimiser.schedule]\npeak = 0.02\nwarmup = 30\nsteps = 2000\n\
         [batch]\ntokens = 500\n\
         [run]\ndir = {:?}\nlog_every = 7\nsave_every = 10\neval_every = 1000\n",
        at("vocab.model"),
        at("train.x"),
        at("train.y"),
        at("dev.x"),
        at("dev.y"),
        at("run"),
    );
    let path = folder.join("config.toml");
    fs::write(&path, text).unwrap();
    let flags: Vec<String> = more.iter().map(|&flag| flag.to_owned()).collect();
    Config::read(&path, &flags).unwrap()
}

/// The step, loss and norm of every line of a run's record.
fn curve(folder: &Path) -> Vec<(u64, u64, u64)> {
    let rows = record::read(folder.join("run")).unwrap();
    let train = rows.iter().filter(|row| row.kind == record::Kind::Train);
    train
        .map(|row| (row.step, row.values["loss"].to_bits(), row.values["norm"].to_bits()))
        .collect()
}

#[test]
fn an_interrupted_run_goes_on_to_the_bit() {
    for kind in ["ar", "padir"] {
        let (whole, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write_corpus(whole.path());
        write_corpus(broken.path());
        let stop = AtomicBool::new(false);
        let flags = ["run.max_steps=35", "optimiser.ema=0.9", "optimiser.accumulate=2"];
        train(&config(whole.path(), kind, &flags), false, &mut Witness::default(), &stop).unwrap();

        let settings = config(broken.path(), kind, &flags);
        let mut witness = Witness { stop_at: Some((18, &stop)), ..Witness::default() };
        assert_eq!(train(&settings, false, &mut witness, &stop).unwrap(), Ending::Stopped);
        // As if it had been killed a little later: what was saved last is older than the record.
        fs::remove_dir_all(broken.path().join("run/checkpoints/step-0000000018")).unwrap();
        stop.store(false, Ordering::Relaxed);
        assert_eq!(train(&settings, true, &mut Witness::default(), &stop).unwrap(), Ending::Steps);

        assert_eq!(curve(whole.path()), curve(broken.path()), "{kind}");
        let model = |folder: &Path| fs::read(folder.join("run/final/model.safetensors")).unwrap();
        assert!(model(whole.path()) == model(broken.path()), "{kind}: the models differ");
    }
}

#[test]
fn a_run_is_not_begun_twice_nor_resumed_differently() {
    let folder = tempfile::tempdir().unwrap();
    write_corpus(folder.path());
    let stop = AtomicBool::new(false);
    let settings = config(folder.path(), "ar", &["run.max_steps=2"]);
    let watch = &mut Witness::default();
    let refuse = |result: Result<Ending, TrainError>| result.unwrap_err().to_string();
    assert!(refuse(train(&settings, true, watch, &stop)).contains("there is no run"));
    train(&settings, false, watch, &stop).unwrap();
    assert!(refuse(train(&settings, false, watch, &stop)).contains("there is a run"));
    let other = config(folder.path(), "ar", &["run.max_steps=4", "optimiser.schedule.peak=0.5"]);
    assert!(refuse(train(&other, true, watch, &stop)).contains("peak"));
    let longer = config(folder.path(), "ar", &["run.max_steps=4"]);
    assert_eq!(train(&longer, true, watch, &stop).unwrap(), Ending::Steps);
}

#[test]
fn a_loss_without_number_stops_with_the_last_good_state() {
    let folder = tempfile::tempdir().unwrap();
    write_corpus(folder.path());
    let stop = AtomicBool::new(false);
    let flags = [
        "run.max_steps=200",
        "optimiser.schedule.peak=1e30",
        "optimiser.schedule.warmup=0",
        "optimiser.clip_norm=0",
    ];
    let settings = config(folder.path(), "ar", &flags);
    let error = train(&settings, false, &mut Witness::default(), &stop).unwrap_err();
    let TrainError::NotFinite { source, batch } = error else { panic!("{error}") };
    assert!(batch.is_file(), "{source}");
    assert!(!padir_train::state::steps(&folder.path().join("run")).is_empty());
}

/// Trains until numbers are spelled right; gives the share of exact matches at the end.
fn spell(kind: &str, steps: u32) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    write_corpus(folder.path());
    let stop = AtomicBool::new(false);
    let flags = [
        format!("run.max_steps={steps}"),
        format!("optimiser.schedule.steps={steps}"),
        "run.save_every=100000".to_owned(),
        "model.dropout_rate=0.0".to_owned(),
    ];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let mut witness = Witness::default();
    train(&config(folder.path(), kind, &flags), false, &mut witness, &stop).unwrap();
    witness.exact.last().copied().unwrap_or(f64::NAN)
}

#[test]
fn the_autoregressive_twin_learns_to_spell() {
    let exact = spell("ar", 350);
    assert!(exact >= 95.0, "{exact} % exact matches");
}

#[test]
fn refinement_learns_to_spell() {
    let exact = spell("padir", 500);
    assert!(exact >= 95.0, "{exact} % exact matches");
}
