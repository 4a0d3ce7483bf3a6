//! `padir evaluate`: what a model is worth, under every setting of its decoder that matters.

pub(super) mod figures;
mod lengths;
mod variant;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use padir_base::file::write_atomically;
use padir_base::hash::Sha256;
use padir_engine::Precision;
use padir_score::Tokenizer;
use padir_text::origin::Origin;
use padir_text::{Corpus, Pair};
use padir_translate::{Decoding, Segmentation, Text, Translator, abilities_of};
use serde_json::json;

use super::arithmetic::Arithmetic;
use super::data::table::{Table, pairs};
use super::distil::batches::{batches, source_lengths};
use super::distil::part::one_line;
use super::distil::task::hash_model;
use super::misfit::note_misfit;
use super::rerank::{RerankArgs, RerankerRecord};
use super::translate::{Shortcuts, some_decoder};
use crate::console::Console;
use crate::corpus::{CorpusArgs, for_each_pair, require_pairs};
use crate::places::{Force, Places};
use figures::{Figures, Scores};
use lengths::Foretold;
use variant::Variant;

/// Translate a test set under several settings and score it.
///
/// Reports for each setting BLEU, chrF, length, exact matches and stutter as `padir score` would, how often the length was
/// foretold, after how many steps translations stood still, and the time. Lists make one setting of every combination, changes named by
/// --also another one each.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir evaluate --model runs/padir/best test.en test.de
  padir evaluate --model runs/padir/best test.en test.de --steps 1,2,4,10 --lengths 1,5 --int8 --json > padir.json
  padir evaluate --model runs/teacher/best test.en test.de --beam 1,5 --outputs teacher-outputs
  padir evaluate --model runs/padir/best dev.en dev.de --lengths 3,5 --length-penalty 1,2,3,4,5    # to choose by
  padir evaluate --model runs/padir/best test.en test.de --length-penalty 3 --fast
  padir evaluate --model runs/padir/best test.en test.de --rerank runs/ar/best --rerank-penalty 1.2
  padir evaluate --model runs/padir/best dev.en dev.de --also prune.rule=share,prune.share=0.5 --also prune.rule=keep,prune.most=1    # what they cost")]
pub(crate) struct Evaluate {
    /// The model's directory.
    #[arg(long, short, value_name = "DIR")]
    model: PathBuf,

    #[command(flatten)]
    arithmetic: Arithmetic,

    /// What BLEU and the length count: 13a, intl, zh, char or none.
    #[arg(long, value_name = "NAME", default_value = "13a")]
    tokenize: Tokenizer,

    /// Write the translations of each setting to a file in this directory.
    #[arg(long, value_name = "DIR")]
    outputs: Option<PathBuf>,

    #[command(flatten)]
    force: Force,

    /// Most texts that are translated together. It changes the speed, not the result.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,

    // Last, because headings in the help extend to what follows.
    #[command(flatten)]
    decoding: DecodingArgs,

    #[command(flatten)]
    rerank: RerankArgs,

    #[command(flatten)]
    corpus: CorpusArgs,
}

/// Settings of the decoder; of lists, every combination.
#[derive(clap::Args)]
#[command(next_help_heading = "Decoding")]
struct DecodingArgs {
    /// Most refinement steps; several between commas.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    steps: Vec<usize>,

    /// How many lengths are tried; several between commas.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    lengths: Vec<usize>,

    /// Widths of the beam of an autoregressive model; several between commas.
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    beam: Vec<usize>,

    /// How much longer translations are favoured: α of the length penalty; several between commas.
    #[arg(long, value_name = "α,…", value_delimiter = ',')]
    length_penalty: Vec<f64>,

    /// Change any other setting of the decoder.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Try this change, too, beside doing without it; may be repeated.
    #[arg(long, value_name = "KEY=VALUE,…")]
    also: Vec<String>,

    #[command(flatten)]
    shortcuts: Shortcuts,
}

impl Evaluate {
    /// The shortlist it reads, if it does.
    pub(super) fn shortlist(&self) -> Option<PathBuf> {
        self.arithmetic.shortlist_of(&self.model)
    }

    /// Whether there could be a model that decodes like this.
    pub(super) fn check(&self) -> Result<()> {
        some_decoder(|own, model| {
            let variants = self.decoding.variants(own, model)?;
            Ok(variants.iter().try_for_each(|variant| variant.decoding.check())?)
        })
    }

    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let mut translator = self.arithmetic.open(&self.model, console.threads())?;
        translator.set_segmentation(Segmentation::Lines);
        self.rerank.attach(&mut translator, console.threads())?;
        let model = abilities_of(translator.config());
        let variants = self.decoding.variants(translator.decoding(), &model)?;
        // What cannot be done should be known before hours of translating, and which model does it.
        for Variant { decoding, .. } in &variants {
            translator.set_decoding(decoding.clone())?;
        }
        let corpora = self.corpus.all()?;
        if let Some(directory) = &self.outputs {
            let files = variants.iter().map(|variant| file_of(directory, &variant.name));
            let texts = corpora.iter().flat_map(Corpus::files).map(Origin::path);
            Places::default().reads(texts).writes(files).check(self.force)?;
        }
        let models = Models {
            directory: &self.model,
            files: hash_model(&self.model, self.arithmetic.shortlist)?,
            precision: translator.engine().precision(),
            reranker: self.rerank.record(&translator)?,
        };
        let mut pairs: Vec<Pair> = Vec::new();
        for_each_pair(console, &corpora, self.corpus.reading(), |pair| {
            pairs.push(pair.clone());
            Ok(())
        })?;
        require_pairs(&corpora, pairs.len() as u64)?;
        let scores = Scores::new(&pairs, self.tokenize)?;
        let references = pairs.iter().map(|pair| pair.target.as_str());
        note_misfit(console, "the references", references, self.tokenize);
        if let Some(directory) = &self.outputs {
            fs::create_dir_all(directory)
                .with_context(|| format!("cannot make {}", directory.display()))?;
        }
        let mut rows = Vec::new();
        for Variant { name, decoding } in variants {
            translator.set_decoding(decoding.clone())?;
            let trial = self.translate(console, &mut translator, &pairs)?;
            let figures = scores.figures(&trial.texts, &trial)?;
            if let Some(directory) = &self.outputs {
                write_lines(directory, &name, &trial.texts)?;
            }
            console.note(format!("{name}: BLEU {:.2} in {:.1} s", figures.bleu, figures.seconds));
            rows.push((name, decoding, figures));
        }
        let texts: Vec<String> = corpora.iter().flat_map(Corpus::files).map(name_of).collect();
        self.show(console, &texts, &pairs, &scores, &models, &rows)
    }

    fn translate(
        &self,
        console: &Console,
        translator: &mut Translator,
        pairs: &[Pair],
    ) -> Result<Trial> {
        let lengths = source_lengths(translator.vocabulary(), pairs);
        let foretells = translator.decoding().refinement().is_some();
        let mut foretold = Foretold::new(translator.vocabulary(), pairs, foretells);
        let bar = console.progress("translating", pairs.len() as u64);
        let mut texts = vec![String::new(); pairs.len()];
        let mut steps = 0;
        let started = Instant::now();
        for batch in batches(&lengths, self.batch.into()) {
            let text = |&at: &usize| Text::new(at as u64, &pairs[at].source);
            let sources: Vec<Text<'_>> = batch.iter().map(text).collect();
            let translations = translator.translate(&sources, 1, &mut foretold)?;
            for (&at, translation) in batch.iter().zip(&translations) {
                texts[at] = one_line(translation.text());
                steps += translation.alternatives.first().map_or(0, |best| best.steps);
            }
            bar.inc(batch.len() as u64);
        }
        let seconds = started.elapsed().as_secs_f64();
        bar.finish_and_clear();
        Ok(Trial { texts, steps, seconds, foretold })
    }

    fn show(
        &self,
        console: &Console,
        texts: &[String],
        all: &[Pair],
        scores: &Scores<'_>,
        models: &Models<'_>,
        rows: &[(String, Decoding, Figures)],
    ) -> Result<()> {
        if console.wants_json() {
            let rows: Vec<_> = rows
                .iter()
                .map(|(name, decoding, figures)| json!({ "name": name, "decoding": decoding, "figures": figures }))
                .collect();
            return console.print_json(&json!({
                "model": { "directory": models.directory, "files": models.files },
                "precision": models.precision.to_string(),
                "shortlist": self.arithmetic.shortlist,
                "reranker": models.reranker,
                "pairs": all.len(),
                "texts": texts,
                "corpus": scores.hash(),
                "signatures": scores.signatures(),
                "rows": rows,
                "version": env!("CARGO_PKG_VERSION"),
            }));
        }
        let mut table = Table::default();
        table.row([
            &pairs(all.len() as u64),
            "BLEU",
            "chrF2",
            "length %",
            "exact %",
            "stutter ‰",
            "steps",
            "foretold %",
            "among %",
            "s",
        ]);
        let share = |share: Option<f64>| share.map_or(String::new(), |share| format!("{share:.1}"));
        for (name, _, figures) in rows {
            table.row([
                name,
                &format!("{:.2}", figures.bleu),
                &format!("{:.2}", figures.chrf),
                &format!("{:.1}", figures.length),
                &format!("{:.1}", figures.exact),
                &format!("{:.2}", figures.stutter),
                &format!("{:.2}", figures.steps),
                &share(figures.foretold),
                &share(figures.among),
                &format!("{:.1}", figures.seconds),
            ]);
        }
        let mut out = console.out();
        table.write(&mut out)?;
        Ok(out.flush()?)
    }
}

/// The model and its reranker as they were when the work began: a training may replace them meanwhile.
struct Models<'a> {
    directory: &'a Path,
    files: BTreeMap<&'static str, Sha256>,
    precision: Precision,
    reranker: Option<RerankerRecord>,
}

/// What translating a test set gave.
struct Trial {
    texts: Vec<String>,
    /// Of all translations together.
    steps: usize,
    seconds: f64,
    foretold: Foretold,
}

/// A file's name without its place.
fn name_of(file: &Origin) -> String {
    let path = file.path();
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Where the translations of a variant go.
fn file_of(directory: &Path, variant: &str) -> PathBuf {
    directory.join(format!("{variant}.txt"))
}

fn write_lines(directory: &Path, name: &str, lines: &[String]) -> Result<()> {
    let path = file_of(directory, name);
    let mut text = lines.join("\n");
    text.push('\n');
    Ok(write_atomically(&path, text.as_bytes())?)
}
