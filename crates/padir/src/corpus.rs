//! How a corpus is named on the command line, for every command that reads or writes one.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use padir_pipeline::corpora::{self, all_empty};
use padir_text::columnar::Languages;
use padir_text::corpus::{Corpus, Pairs, Reading};
use padir_text::defect::OnBad;
use padir_text::lines::LINE_LIMIT;
use padir_text::origin::Origin;
use padir_text::pair::{CorpusError, Pair};
use padir_text::tsv::Columns;
use padir_text::writer::{Destination, Form, PairWriter, WriteError};

use crate::console::Console;
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// Which corpora to read. Several are read one after the other.
#[derive(clap::Args)]
#[command(next_help_heading = "Corpus")]
pub(crate) struct CorpusArgs {
    /// Two aligned files, source and target; or a .tsv or a .parquet file; or `-` for stdin.
    ///
    /// Files may be gzip, zstd or xz; this is found out from their content. More files name more
    /// corpora.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The source of an aligned corpus; needs --target.
    #[arg(long, short, value_name = "FILE")]
    source: Vec<PathBuf>,

    /// The target of an aligned corpus; needs --source.
    #[arg(long, short, value_name = "FILE")]
    target: Vec<PathBuf>,

    /// A file with tabs between its columns, whatever its name; :S,T chooses two of them.
    #[arg(long, value_name = "FILE[:S,T]")]
    tsv: Vec<TsvFile>,

    /// A parquet file in the Hugging Face layout, whatever its name.
    #[arg(long, value_name = "FILE")]
    parquet: Vec<PathBuf>,

    /// The two columns of parquet files, such as en,de; needed if there are more than two.
    #[arg(long, value_name = "SRC,TGT")]
    langs: Option<Languages>,

    /// What to do with lines that are not UTF-8, contain NUL, are too long or incomplete.
    #[arg(long, value_enum, default_value_t = OnBadArg::Fail, value_name = "WHAT")]
    on_bad: OnBadArg,

    /// The longest line allowed, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = LINE_LIMIT)]
    max_line: usize,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum OnBadArg {
    /// Stop with an error that names file and line.
    Fail,
    /// Leave the pair out and count it.
    Skip,
}

/// `FILE` or `FILE:1,2`.
#[derive(Clone, Debug)]
struct TsvFile {
    path: PathBuf,
    columns: Columns,
}

impl FromStr for TsvFile {
    type Err = padir_text::tsv::ColumnsError;

    /// What follows the last colon is taken for columns if it looks like them, so that names
    /// with colons work.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_columns = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == ',' || c == ' ')
        };
        match text.rsplit_once(':') {
            Some((path, columns)) if is_columns(columns) => {
                Ok(Self { path: path.into(), columns: columns.parse()? })
            }
            _ => Ok(Self { path: text.into(), columns: Columns::default() }),
        }
    }
}

impl CorpusArgs {
    /// How strictly to read.
    pub(crate) fn reading(&self) -> Reading {
        let on_bad = match self.on_bad {
            OnBadArg::Fail => OnBad::Fail,
            OnBadArg::Skip => OnBad::Skip,
        };
        Reading { on_bad, limit: self.max_line }
    }

    /// All corpora named; at least one.
    pub(crate) fn all(&self) -> Result<Vec<Corpus>> {
        let mut corpora = corpora_of_names(&self.files, self.langs())?;
        ensure!(
            self.source.len() == self.target.len(),
            "--source is given {} times, but --target {}",
            self.source.len(),
            self.target.len()
        );
        for (source, target) in self.source.iter().zip(&self.target) {
            corpora.push(aligned(source, target));
        }
        for TsvFile { path, columns } in &self.tsv {
            corpora.push(Corpus::Tsv { file: Origin::new(path), columns: *columns });
        }
        for path in &self.parquet {
            corpora.push(parquet(path, self.langs()));
        }
        if corpora.is_empty() {
            return Err(anyhow::anyhow!("no corpus is named")).hint(
                "name two aligned files, a .tsv or a .parquet file, or `-` for TSV on stdin",
            );
        }
        let stdins = corpora.iter().flat_map(Corpus::files).filter(|file| file.is_stdin()).count();
        ensure!(stdins <= 1, "stdin is named {stdins} times, but can be read once");
        Ok(corpora)
    }

    /// The languages, if they can be told: from --langs, or from the ends of aligned files' names.
    pub(crate) fn languages(&self, corpora: &[Corpus]) -> Option<Languages> {
        if self.langs.is_some() {
            return self.langs.clone();
        }
        let Corpus::Aligned { source, target } = corpora.first()? else { return None };
        let (source, target) = (language(source.path())?, language(target.path())?);
        (source != target).then_some(Languages { source, target })
    }

    /// The columns named for parquet files.
    pub(crate) fn langs(&self) -> Option<&Languages> {
        self.langs.as_ref()
    }
}

/// The corpora that file names alone stand for: .tsv and .parquet files, and aligned files in
/// twos.
pub(crate) fn corpora_of_names(
    files: &[PathBuf],
    langs: Option<&Languages>,
) -> Result<Vec<Corpus>> {
    let mut corpora = Vec::new();
    let mut rest = files.iter();
    while let Some(file) = rest.next() {
        corpora.push(match Form::of_name(file) {
            // `-` alone is TSV; before another file it is the source of an aligned corpus.
            Some(Form::Tsv) if files.len() == 1 || file.as_os_str() != "-" => {
                Corpus::Tsv { file: Origin::new(file), columns: Columns::default() }
            }
            Some(Form::Parquet) => parquet(file, langs),
            _ => {
                let Some(target) = rest.next() else {
                    return Err(anyhow::anyhow!("{} has no partner", file.display())).hint(
                        "aligned files come in twos, source and target; for one file with \
                         columns use --tsv or --parquet",
                    );
                };
                aligned(file, target)
            }
        });
    }
    Ok(corpora)
}

fn parquet(path: &Path, langs: Option<&Languages>) -> Corpus {
    Corpus::Parquet { file: Origin::new(path), languages: langs.cloned() }
}

fn aligned(source: &Path, target: &Path) -> Corpus {
    Corpus::Aligned { source: Origin::new(source), target: Origin::new(target) }
}

/// `de` of `train.de.gz`.
fn language(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let name = [".gz", ".zst", ".zstd", ".xz"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    let (_, end) = name.rsplit_once('.')?;
    let short = (2..=8).contains(&end.len()) && end != "txt";
    (short && end.chars().all(|c| c.is_ascii_alphanumeric())).then(|| end.to_owned())
}

/// Where to write pairs.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write here: twice for aligned files, once for .tsv or .parquet; `-` is TSV on stdout, where that can be. A
    /// name that ends in .gz, .zst or .xz is compressed.
    #[arg(long, short, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,

    /// The names of the two columns in parquet; by default those of the input, or the ends of
    /// its file names.
    #[arg(long, value_name = "SRC,TGT")]
    out_langs: Option<Languages>,

    #[command(flatten)]
    force: Force,
}

impl OutputArgs {
    /// Refuses outputs that would overwrite a corpus that is read, each other, or what exists.
    pub(crate) fn check(&self, corpora: &[Corpus]) -> Result<()> {
        let inputs = corpora.iter().flat_map(Corpus::files).map(Origin::path);
        Places::default().reads(inputs).writes(&self.output).check(self.force)
    }

    /// Whether existing files may be replaced.
    pub(crate) fn force(&self) -> Force {
        self.force
    }

    /// The files named.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.output
    }

    /// The form that their names ask for; parquet columns are called like `languages` unless the
    /// user has said otherwise.
    pub(crate) fn destination(&self, languages: Option<Languages>) -> Result<Destination> {
        let languages = self.out_langs.clone().or(languages).unwrap_or_else(default_languages);
        Destination::of_names(&self.output, &languages).map_err(explain_write)
    }

    /// Starts the files. JSON and pairs cannot both go to stdout.
    pub(crate) fn create(
        &self,
        console: &Console,
        languages: Option<Languages>,
    ) -> Result<PairWriter> {
        let to_stdout = self.output.iter().any(|file| file.as_os_str() == "-");
        ensure!(
            !(to_stdout && console.wants_json()),
            "--json and --output - both want to write to stdout"
        );
        self.destination(languages)?.create().map_err(explain_write)
    }
}

/// What parquet columns are called when nothing is known.
pub(crate) fn default_languages() -> Languages {
    Languages { source: "source".to_owned(), target: "target".to_owned() }
}

/// Opens a corpus; on failure says what can be done.
pub(crate) fn open(corpus: &Corpus, reading: Reading) -> Result<Pairs> {
    corpus.open(reading).map_err(explain)
}

/// Reads all pairs of all corpora in turn, with a progress bar and a remark about skipped ones;
/// gives the number of pairs read and of those left out.
pub(crate) fn for_each_pair(
    console: &Console,
    corpora: &[Corpus],
    reading: Reading,
    mut visit: impl FnMut(&Pair) -> Result<()>,
) -> Result<(u64, u64)> {
    let visit = |pair: &Pair| visit(pair).map_err(Explained);
    corpora::for_each_pair(console, corpora, reading, visit).map_err(|Explained(error)| error)
}

/// An error that says what can be done about it, if anything.
struct Explained(anyhow::Error);

impl From<CorpusError> for Explained {
    fn from(error: CorpusError) -> Self {
        Self(explain(error))
    }
}

/// Says that there is no pair, for commands that work without one.
pub(crate) fn note_empty(console: &Console, corpora: &[Corpus], pairs: u64) {
    if pairs == 0 {
        console.note(format!("note: {}", all_empty(corpora)));
    }
}

/// Adds to an error what can be done about it.
pub(crate) fn explain(error: CorpusError) -> anyhow::Error {
    let advice = match &error {
        CorpusError::Bad { .. } => "--on-bad skip leaves such pairs out and counts them",
        CorpusError::Unequal { .. } => {
            "the files must have a line for a line; find out where they drift apart before \
             cutting either"
        }
        CorpusError::NoColumn { .. } | CorpusError::WhichColumns { .. } => {
            "--langs names the two columns, source first"
        }
        CorpusError::Codec { .. } => {
            "padir reads uncompressed, snappy, gzip, zstd and lz4_raw; in Python, \
             pq.write_table(pq.read_table(\"in.parquet\"), \"out.parquet\") rewrites it"
        }
        CorpusError::Input(_) | CorpusError::Read(_) | CorpusError::Parquet { .. } => {
            return error.into();
        }
    };
    hinted(error, advice)
}

/// An error with advice.
pub(crate) fn hinted(error: impl Into<anyhow::Error>, advice: &str) -> anyhow::Error {
    match Err::<Infallible, _>(error).hint(advice) {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

/// Adds to an error of writing what can be done about it.
pub(crate) fn explain_write(error: WriteError) -> anyhow::Error {
    let advice = match &error {
        WriteError::UnknownForm(_) => {
            "give --output twice for aligned files, or a name in .tsv or .parquet"
        }
        WriteError::Tab { .. } => "write aligned files or parquet instead, which can hold tabs",
        WriteError::Files(_) => "give --output twice for aligned files, once for .tsv or .parquet",
        WriteError::Output(_) | WriteError::Parquet { .. } => return error.into(),
    };
    hinted(error, advice)
}

/// Makes sure that a directory is there.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    if path.exists() && !path.is_dir() {
        bail!("{} is not a directory", path.display());
    }
    std::fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_follow_the_last_colon() {
        let cases = [
            ("a.tsv", Some(("a.tsv", "1,2"))),
            ("a.tsv:2,3", Some(("a.tsv", "2,3"))),
            ("a:b.tsv", Some(("a:b.tsv", "1,2"))),
            ("a:b.tsv:4,1", Some(("a:b.tsv", "4,1"))),
            ("-:2,1", Some(("-", "2,1"))),
            ("a.tsv:3", None),
            ("a.tsv:0,1", None),
        ];
        for (text, expected) in cases {
            let parsed = text.parse::<TsvFile>().ok();
            let expected =
                expected.map(|(path, columns)| (PathBuf::from(path), columns.parse().unwrap()));
            assert_eq!(parsed.map(|file| (file.path, file.columns)), expected, "{text}");
        }
    }

    #[test]
    fn languages_are_read_off_names() {
        let cases = [
            ("train.de", Some("de")),
            ("a/b.en.gz", Some("en")),
            ("corpus.zh_CN", None),
            ("corpus.txt", None),
            ("corpus", None),
        ];
        for (name, expected) in cases {
            assert_eq!(language(Path::new(name)).as_deref(), expected, "{name}");
        }
    }
}
