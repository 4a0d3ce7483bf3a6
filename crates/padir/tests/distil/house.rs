//! A directory with teachers and a corpus, and the program to be run in it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use padir_base::random::Seed;
use padir_checkpoint::{DecoderKind, Extras, ModelConfig, Preset, save};
use padir_text::vocab::Vocabulary;
use serde_json::Value;
use tempfile::TempDir;

const WORDS: [&str; 10] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// The seed of the teachers. With this one the autoregressive teacher has words for most sources, and none for some.
const SEED: u64 = 1;

/// How many pairs the corpus has.
pub(crate) const PAIRS: usize = 23;
/// The line with an empty source, and the one with nothing but white space.
pub(crate) const EMPTY: usize = 4;
pub(crate) const BLANK: usize = 11;

/// The files of a vocabulary, which takes longer to learn than all the rest.
static VOCABULARY: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let house = House { directory: TempDir::new().unwrap() };
    let lines: Vec<String> = (0..300).map(|i| sentence(i, 6) + "\n").collect();
    house.write("corpus", &lines.concat());
    house.run(&["vocab", "train", "corpus", "--size", "28", "--output", "vocab"]);
    let files = ["spiece.model", "tokenizer.json"];
    files.map(|name| (name, fs::read(house.path("vocab").join(name)).unwrap())).into()
});

/// A directory with a vocabulary, a random teacher of each kind, and a corpus: train.en, train.de.
pub(crate) struct House {
    pub(crate) directory: TempDir,
}

impl House {
    pub(crate) fn build() -> Self {
        let house = Self { directory: TempDir::new().unwrap() };
        fs::create_dir(house.path("vocab")).unwrap();
        for (name, bytes) in VOCABULARY.iter() {
            fs::write(house.path("vocab").join(name), bytes).unwrap();
        }
        for (name, kind) in [("ar", DecoderKind::Causal), ("parallel", DecoderKind::Parallel)] {
            house.make_model(name, kind, Seed(SEED));
        }
        let sources: Vec<String> = sources().iter().map(|line| format!("{line}\n")).collect();
        house.write("train.en", &sources.concat());
        house.write("train.de", &references().concat());
        house
    }

    pub(crate) fn make_model(&self, name: &str, kind: DecoderKind, seed: Seed) {
        let vocabulary = Vocabulary::load(self.path("vocab/spiece.model")).unwrap();
        let mut config = ModelConfig::preset(Preset::Tiny, vocabulary.size(), kind);
        config.provenance.vocabulary = Some(vocabulary.hash());
        let weights: HashMap<String, Vec<f32>> = config.initial(seed).collect();
        let extras = Extras::default();
        save(self.path(name), &config, |p| weights.get(&p.name).map(Into::into), &extras).unwrap();
        for (file, bytes) in VOCABULARY.iter() {
            fs::write(self.path(name).join(file), bytes).unwrap();
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        self.read(name).lines().map(str::to_owned).collect()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_padir"));
        command.args(arguments).current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn try_run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = self.try_run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Distils train.en and train.de to NAME.en and NAME.de.
    pub(crate) fn distil(&self, model: &str, name: &str, more: &[&str]) -> String {
        self.run(&command(model, name, more).iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub(crate) fn fail(&self, model: &str, name: &str, more: &[&str]) -> String {
        let arguments = command(model, name, more);
        let output = self.try_run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        errors
    }

    /// What `padir translate` says, line by line.
    pub(crate) fn translate(&self, arguments: &[&str]) -> Vec<String> {
        let all = [&["translate", "--file", "train.en", "--model"], arguments].concat();
        self.run(&all).lines().map(str::to_owned).collect()
    }
}

/// The command that distils train.en and train.de to NAME.en and NAME.de.
pub(crate) fn command(model: &str, name: &str, more: &[&str]) -> Vec<String> {
    let fixed = format!("distil --model {model} train.en train.de -o {name}.en -o {name}.de");
    fixed.split(' ').chain(more.iter().copied()).map(str::to_owned).collect()
}

pub(crate) fn sentence(i: usize, words: usize) -> String {
    (0..words).map(|j| WORDS[(i * 7 + j * j * 3) % 10]).collect::<Vec<_>>().join(" ")
}

/// Lengths go up and down, so that sorting by them changes the order; two are the same.
fn sources() -> Vec<String> {
    let line = |i: usize| match i {
        EMPTY => String::new(),
        BLANK => "  ".to_owned(),
        20 => sentence(3, 1 + 3 * 5 % 7),
        _ => sentence(i, 1 + i * 5 % 7),
    };
    (0..PAIRS).map(line).collect()
}

fn references() -> Vec<String> {
    (0..PAIRS).map(|i| format!("{} {}\n", WORDS[i % 10], WORDS[i % 3])).collect()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn report(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The names in a directory.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn parts(directory: &Path) -> usize {
    names(directory).iter().filter(|name| name.starts_with("part-")).count()
}
