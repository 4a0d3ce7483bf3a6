//! Where tests live.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use padir_base::random::Seed;
use padir_checkpoint::{DecoderKind, Extras, ModelConfig, Preset, save};
use padir_text::vocab::Vocabulary;
use tempfile::TempDir;

pub(crate) const SENTENCES: &str =
    "one two three\nfour\n\n  five six  \nseven eight nine ten\none two three\n";

/// A directory with a vocabulary and a random model of each kind.
pub(crate) struct House {
    pub(crate) directory: TempDir,
}

impl House {
    pub(crate) fn build() -> Self {
        let directory = TempDir::new().unwrap();
        let corpus = directory.path().join("corpus");
        let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
        let line = |i: usize| {
            (0..6).map(|j| words[(i * 7 + j * j * 3) % 10]).collect::<Vec<_>>().join(" ")
        };
        fs::write(&corpus, (0..300).map(|i| line(i) + "\n").collect::<String>()).unwrap();
        let house = Self { directory };
        let made =
            house.run_any(&["vocab", "train", "corpus", "--size", "28", "--output", "vocab"], b"");
        assert!(made.status.success(), "{}", text(&made.stderr));
        for (name, kind) in [("ar", DecoderKind::Causal), ("padir", DecoderKind::Parallel)] {
            house.make_model(name, kind);
        }
        house
    }

    pub(crate) fn make_model(&self, name: &str, kind: DecoderKind) {
        let vocabulary = Vocabulary::load(self.path("vocab/spiece.model")).unwrap();
        let config = ModelConfig::preset(Preset::Tiny, vocabulary.size(), kind);
        self.save_model(name, config, &vocabulary);
    }

    pub(crate) fn save_model(&self, name: &str, mut config: ModelConfig, vocabulary: &Vocabulary) {
        config.provenance.vocabulary = Some(vocabulary.hash());
        let weights: HashMap<String, Vec<f32>> = config.initial(Seed(5)).collect();
        let extras = Extras::default();
        save(self.path(name), &config, |p| weights.get(&p.name).map(Into::into), &extras).unwrap();
        for file in ["spiece.model", "tokenizer.json"] {
            fs::copy(self.path("vocab").join(file), self.path(name).join(file)).unwrap();
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn run_any(&self, arguments: &[&str], stdin: &[u8]) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_padir"))
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        // A command that fails early does not read its input.
        let writer = std::thread::spawn(move || drop(input.write_all(&stdin)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    pub(crate) fn translate(&self, arguments: &[&str], stdin: &str) -> String {
        let arguments: Vec<&str> = ["translate"].iter().chain(arguments).copied().collect();
        let output = self.run_any(&arguments, stdin.as_bytes());
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    pub(crate) fn fail(&self, arguments: &[&str], stdin: &[u8]) -> (String, String) {
        let arguments: Vec<&str> = ["translate"].iter().chain(arguments).copied().collect();
        let output = self.run_any(&arguments, stdin);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
