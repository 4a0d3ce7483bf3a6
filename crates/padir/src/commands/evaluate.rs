//! `padir evaluate`: what a model is worth, under every setting of its decoder that matters.

mod variant;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use padir_pipeline::evaluate::{Evaluation, Evaluator, Models, Row, TestSet, Variant};
use padir_pipeline::model::ModelRecord;
use padir_pipeline::recipe::{Description, Fault};
use padir_score::Tokenizer;
use padir_text::Corpus;
use padir_text::origin::Origin;
use padir_translate::{Segmentation, abilities_of};

use super::arithmetic::Arithmetic;
use super::data::table::{Table, pairs};
use super::misfit::note_misfit;
use super::rerank::RerankArgs;
use super::translate::{Shortcuts, some_decoder};
use crate::advice::advise;
use crate::console::Console;
use crate::corpus::CorpusArgs;
use crate::places::{Force, Places};

/// Translate a test set under several settings and score it.
///
/// Reports for each setting BLEU, chrF, length, exact matches and stutter as `padir score` would, how often the length was
/// predicted, after how many steps translations stood still, and the time. Lists make one setting of every combination, changes named by
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
    /// What a recipe wants to know of it.
    pub(super) fn describe(&self) -> Description {
        let fault = self.check().err().map(|error| Fault::Command(error.to_string()));
        Description {
            reads: self.arithmetic.shortlist_of(&self.model),
            faults: fault.into_iter().collect(),
            ..Description::default()
        }
    }

    /// Whether there could be a model that decodes like this.
    fn check(&self) -> Result<()> {
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
        let (tokenizer, batch) = (self.tokenize, self.batch.into());
        let evaluator = Evaluator { tokenizer, batch, outputs: self.outputs.clone() };
        let files = variants.iter().filter_map(|variant| evaluator.file_of(variant));
        let texts = corpora.iter().flat_map(Corpus::files).map(Origin::path);
        Places::default().reads(texts).writes(files).check(self.force)?;
        let shortlist = self.arithmetic.shortlist;
        let models = Models {
            model: ModelRecord::of(&self.model, shortlist)?,
            shortlist,
            reranker: self.rerank.record(&translator)?,
        };
        let set = TestSet::read(&corpora, self.corpus.reading(), console).map_err(advise)?;
        note_misfit(console, "the references", set.references(), self.tokenize);
        let evaluation = evaluator
            .evaluate(&mut translator, models, &variants, &set, console)
            .map_err(advise)?;
        show(console, &evaluation)
    }
}

fn show(console: &Console, evaluation: &Evaluation) -> Result<()> {
    if console.wants_json() {
        return console.print_json(evaluation);
    }
    let mut table = Table::default();
    table.row([
        &pairs(evaluation.pairs as u64),
        "BLEU",
        "chrF2",
        "length %",
        "exact %",
        "stutter ‰",
        "steps",
        "length acc. %",
        "length acc.@k %",
        "s",
    ]);
    let share = |share: Option<f64>| share.map_or(String::new(), |share| format!("{share:.1}"));
    for Row { name, figures, .. } in &evaluation.rows {
        table.row([
            name,
            &format!("{:.2}", figures.bleu),
            &format!("{:.2}", figures.chrf),
            &format!("{:.1}", figures.length),
            &format!("{:.1}", figures.exact),
            &format!("{:.2}", figures.stutter),
            &format!("{:.2}", figures.steps),
            &share(figures.length_accuracy),
            &share(figures.length_accuracy_at_k),
            &format!("{:.1}", figures.seconds),
        ]);
    }
    let mut out = console.out();
    table.write(&mut out)?;
    Ok(out.flush()?)
}
