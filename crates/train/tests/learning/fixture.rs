//! A corpus of made-up numbers, configurations for it, and somebody who watches.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use padir_base::random::Seed;
use padir_text::vocab::train::{self as vocab, LineSample, TrainOptions};
use padir_train::config::Config;
use padir_train::devset::Evaluation;
use padir_train::record::{self, Row};
use padir_train::rundir::Changes;
use padir_train::state;
use padir_train::trainer::{Ending, Moment, Observer, Start, TrainError, train};

pub(crate) const RESUME: Start = Start::Resume(Changes::Refused);
pub(crate) const RESUME_CHANGED: Start = Start::Resume(Changes::Accepted);

/// Remembers what it is shown, and may stop the run.
#[derive(Default)]
pub(crate) struct Witness<'a> {
    pub(crate) losses: Vec<(u64, f64)>,
    pub(crate) exact: Vec<f64>,
    /// Of each evaluation, its translations and scores.
    pub(crate) evaluations: Vec<Evaluation>,
    pub(crate) stop_at: Option<(u64, &'a AtomicBool)>,
    /// A run whose checkpoints are looked at after every step, and what was found.
    pub(crate) watched: Option<PathBuf>,
    pub(crate) saved: Vec<Vec<u64>>,
}

impl Observer for Witness<'_> {
    fn note(&mut self, _: &str) {}

    fn stepped(&mut self, moment: &Moment) {
        if moment.recorded {
            self.losses.push((moment.step, moment.loss));
        }
        self.saved.extend(self.watched.as_deref().map(state::steps));
        if let Some((step, stop)) = self.stop_at
            && moment.step >= step
        {
            stop.store(true, Ordering::Relaxed);
        }
    }

    fn evaluated(&mut self, _: u64, _: &str, evaluation: &Evaluation) {
        let exact = evaluation.scores.iter().find(|(name, _)| *name == "exact_match");
        self.exact.extend(exact.map(|(_, value)| *value));
        self.evaluations.push(evaluation.clone());
    }
}

/// Trains without anybody who watches or stops.
pub(crate) fn run(config: &Config, start: Start) -> Result<Ending, TrainError> {
    train(config, start, &mut Witness::default(), &AtomicBool::new(false))
}

/// Trains until after a step, where the run is stopped.
pub(crate) fn run_until(config: &Config, start: Start, step: u64) -> Ending {
    let stop = AtomicBool::new(false);
    let mut witness = Witness { stop_at: Some((step, &stop)), ..Witness::default() };
    train(config, start, &mut witness, &stop).unwrap()
}

/// A folder with a corpus of its own.
pub(crate) fn folder() -> tempfile::TempDir {
    // Learning the vocabulary takes longer than most runs.
    static CORPUS: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        write_corpus(folder.path());
        folder
    });
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(CORPUS.path()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
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

pub(crate) fn config(folder: &Path, kind: &str, more: &[&str]) -> Config {
    let at = |name: &str| folder.join(name).display().to_string();
    let text = format!(
        "[data]\nvocabulary = {:?}\n[data.train]\nsource = {:?}\ntarget = {:?}\n\
         [data.dev.dev]\nsource = {:?}\ntarget = {:?}\n\
         [model]\npreset = \"tiny\"\nd_model = 64\nd_kv = 16\nd_ff = 128\nnum_heads = 4\n\
         [objective]\nkind = {kind:?}\n\
         [optimiser]\nclip_norm = 1.0\n\
         [optimiser.schedule]\npeak = 0.02\nwarmup = 30\nsteps = 2000\n\
         [batch]\ntokens = 500\n\
         [run]\ndir = {:?}\nlog_every = 7\nsave_every = 10\neval_every = 1000\n\
         decode = {{ lines = 5, max_length = 20 }}\n",
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

/// All that a run recorded, without what depends on the clock.
pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    let mut rows = record::read(folder.join("run")).unwrap();
    for row in &mut rows {
        (row.time, row.seconds) = (0.0, 0.0);
        row.values.remove("tokens_per_second");
    }
    rows
}

/// The bytes of a model that a run left.
pub(crate) fn model(folder: &Path, place: &str) -> Vec<u8> {
    fs::read(folder.join("run").join(place).join("model.safetensors")).unwrap()
}
