//! `padir data split`: training, development and test sets.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use padir_base::random::Seed;
use padir_pipeline::corpora::require_pairs;
use padir_text::columnar::Languages;
use padir_text::origin::Origin;
use padir_text::split::{By, Chooser, Placement, Sizes};
use padir_text::writer::{Destination, PairWriter};
use padir_text::{Corpus, Pair};
use serde_json::json;

use super::table::grouped;
use crate::console::Console;
use crate::corpus::{
    CorpusArgs, default_languages, explain, explain_write, for_each_pair, make_directory,
};
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Split a corpus into training, development and test sets.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir data split all.en all.de --dev 1000 --test 2000 --out-dir corpus
  padir data split all.parquet --dev 500 --by head --format parquet --out-dir corpus
  padir data split all.tsv --test 3000 --disjoint --seed 7 --compress zst --out-dir corpus

The corpus is read twice; from stdin it is copied to a temporary file first. The order of the
pairs stays as it was.")]
pub(crate) struct Split {
    #[command(flatten)]
    corpus: CorpusArgs,

    /// Pairs for development.
    #[arg(long, value_name = "N", default_value_t = 0)]
    dev: usize,

    /// Pairs for the test.
    #[arg(long, value_name = "N", default_value_t = 0)]
    test: usize,

    /// How to choose them.
    #[arg(long, value_enum, default_value_t = ByArg::Random, value_name = "HOW")]
    by: ByArg,

    /// The seed of the random choice.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// Let no sentence be in two sets: pairs that share one with a held-out pair are dropped.
    #[arg(long)]
    disjoint: bool,

    #[command(flatten)]
    folder: FolderArgs,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ByArg {
    /// At random, by --seed.
    Random,
    /// The first pairs: development, then test.
    Head,
}

/// A directory with a corpus for each split.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct FolderArgs {
    /// The directory for train, dev and test; made if need be.
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,

    /// The form of the files.
    #[arg(long, value_enum, default_value_t = FormatArg::Aligned)]
    format: FormatArg,

    /// The compression of the files.
    #[arg(long, value_enum, default_value_t = CompressArg::None)]
    compress: CompressArg,

    /// What the two sides are called in file names and parquet columns; by default as the input.
    #[arg(long, value_name = "SRC,TGT")]
    out_langs: Option<Languages>,

    #[command(flatten)]
    force: Force,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum FormatArg {
    /// train.en and train.de.
    Aligned,
    /// train.tsv.
    Tsv,
    /// train.parquet.
    Parquet,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum CompressArg {
    None,
    Gz,
    Zst,
    Xz,
}

impl FolderArgs {
    pub(super) fn directory(&self) -> Option<&Path> {
        self.out_dir.as_deref()
    }

    /// Whether existing files may be replaced.
    pub(super) fn force(&self) -> Force {
        self.force
    }

    /// Refuses splits, named with their sizes, that would overwrite a corpus that is read, each other, or what exists.
    pub(super) fn check(
        &self,
        corpora: &[Corpus],
        splits: [(&str, usize); 3],
        languages: Option<&Languages>,
    ) -> Result<()> {
        let inputs = corpora.iter().flat_map(Corpus::files).map(Origin::path);
        let mut places = Places::default().reads(inputs);
        for (name, _) in splits.into_iter().filter(|(_, size)| *size > 0) {
            places = places.writes(self.destination(name, languages.cloned()).files());
        }
        places.check(self.force)
    }

    /// Starts the files of one split.
    pub(super) fn create(&self, name: &str, languages: Option<Languages>) -> Result<PairWriter> {
        self.destination(name, languages).create().map_err(explain_write)
    }

    /// The files of one split.
    fn destination(&self, name: &str, languages: Option<Languages>) -> Destination {
        let directory = self.out_dir.as_deref().unwrap_or(Path::new("."));
        let languages = self.out_langs.clone().or(languages).unwrap_or_else(default_languages);
        let end = match self.compress {
            CompressArg::None => "",
            CompressArg::Gz => ".gz",
            CompressArg::Zst => ".zst",
            CompressArg::Xz => ".xz",
        };
        let path = |form: &str| directory.join(format!("{name}.{form}{end}"));
        match self.format {
            FormatArg::Aligned => Destination::Aligned {
                source: path(&languages.source),
                target: path(&languages.target),
            },
            FormatArg::Tsv => Destination::Tsv(path("tsv")),
            FormatArg::Parquet => Destination::Parquet { file: path("parquet"), languages },
        }
    }

    /// Writes one split that is in memory.
    pub(super) fn write(
        &self,
        name: &str,
        languages: Option<Languages>,
        pairs: &[Pair],
    ) -> Result<()> {
        if pairs.is_empty() {
            return Ok(());
        }
        let mut writer = self.create(name, languages)?;
        for pair in pairs {
            writer.write(pair).map_err(explain_write)?;
        }
        writer.finish().map_err(explain_write)
    }
}

impl Split {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        ensure!(self.dev + self.test > 0, "nothing to hold out: give --dev, --test or both");
        let Some(directory) = self.folder.directory() else {
            bail!("give --out-dir, the directory for train, dev and test");
        };
        let corpora = self.corpus.all()?;
        let languages = self.corpus.languages(&corpora);
        // What is not held out is train, and there are files of it even if that is nothing.
        let splits = [("train", 1), ("dev", self.dev), ("test", self.test)];
        self.folder.check(&corpora, splits, languages.as_ref())?;
        let corpora = corpora
            .into_iter()
            .map(|corpus| corpus.repeatable().map_err(explain))
            .collect::<Result<Vec<Corpus>>>()?;
        let by = match self.by {
            ByArg::Random => By::Random(Seed(self.seed)),
            ByArg::Head => By::Head,
        };
        let sizes = Sizes { dev: self.dev, test: self.test };
        let mut chooser = Chooser::new(by, sizes, self.disjoint);
        let (pairs, _) = for_each_pair(console, &corpora, self.corpus.reading(), |pair| {
            chooser.add(pair);
            Ok(())
        })?;
        require_pairs(&corpora, pairs)?;
        let mut split = chooser.finish().hint("hold out fewer pairs, or go without --disjoint")?;
        make_directory(directory)?;
        let mut writer = self.folder.create("train", languages.clone())?;
        let (mut train, mut dropped) = (0, 0);
        for corpus in &corpora {
            for pair in crate::corpus::open(corpus, self.corpus.reading())? {
                let pair = pair.map_err(explain)?;
                match split.place(&pair) {
                    Placement::Train => {
                        writer.write(&pair).map_err(explain_write)?;
                        train += 1;
                    }
                    Placement::HeldOut => {}
                    Placement::Dropped => dropped += 1,
                }
            }
        }
        self.folder.write("dev", languages.clone(), &split.dev)?;
        self.folder.write("test", languages, &split.test)?;
        writer.finish().map_err(explain_write)?;
        self.report(console, train, dropped)
    }

    fn report(&self, console: &Console, train: u64, dropped: u64) -> Result<()> {
        if console.wants_json() {
            return console.print_json(&json!({
                "train": train, "dev": self.dev, "test": self.test, "dropped": dropped,
            }));
        }
        let [train, dev, test] = [train, self.dev as u64, self.test as u64].map(grouped);
        console.note(format!("train {train}, dev {dev}, test {test}"));
        if dropped > 0 {
            console.note(format!(
                "dropped {} pairs that share a sentence with dev or test",
                grouped(dropped)
            ));
        }
        Ok(())
    }
}
