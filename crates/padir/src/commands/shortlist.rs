//! `padir shortlist`: which tokens a translation can be made of, learnt from pairs.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use padir_base::TokenId;
use padir_checkpoint::{Checkpoint, attach};
use padir_pipeline::corpora::require_pairs;
use padir_text::Corpus;
use padir_text::origin::Origin;
use padir_text::shortlist::{Coverage, Lexicon, SHORTLIST, Shortlist as Lists, Sizes, TokenPairs};
use padir_text::vocab::Vocabulary;
use serde_json::json;

use super::data::table::{Table, grouped, percent};
use crate::console::Console;
use crate::corpus::{CorpusArgs, for_each_pair};
use crate::hint::WithHint;
use crate::places::{Force, Places};

/// One pair in so many is not learnt from but looked up.
const HELD_OUT: u64 = 50;
/// Longer sequences have more links than they are worth.
const LONGEST: usize = 200;

/// Train a lexical shortlist: the tokens that can occur in a translation.
///
/// Writes `vmap.txt` into the model's directory. `padir translate --shortlist` reads it: only the likely translations of
/// a sentence's tokens and the most frequent tokens compete, and most of the output layer is not computed. Every 50th pair is held
/// out, and the share of their target tokens that is not covered is reported. `padir score` measures the cost in quality.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir shortlist --model runs/en-de/best train.en train.de
  padir shortlist --model runs/en-de/best train.en train.de --best 100 --frequent 500
  padir translate --model runs/en-de/best --shortlist --int8 < test.en > test.short.de
  padir score test.de test.long.de test.short.de

Memory: some 50 bytes for each pair of tokens that ever meet in a pair of sentences.")]
pub(crate) struct Shortlist {
    /// The model's directory, with its vocabulary.
    #[arg(long, short, value_name = "DIR")]
    model: PathBuf,

    #[command(flatten)]
    corpus: CorpusArgs,

    /// Translations of each source token.
    #[arg(long, value_name = "N", default_value_t = 50, help_heading = "Lists")]
    best: usize,

    /// Target tokens that always compete, the most frequent ones.
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "Lists")]
    frequent: usize,

    /// Iterations of expectation maximisation.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100), help_heading = "Lists")]
    iterations: u16,

    /// Train on the first pairs only.
    #[arg(long, value_name = "N", default_value_t = 200_000, help_heading = "Lists")]
    pairs: u64,

    #[command(flatten)]
    force: Force,
}

impl Shortlist {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        ensure!(self.frequent > 0, "--frequent is 0; something must always be listed");
        let corpora = self.corpus.all()?;
        let texts = corpora.iter().flat_map(Corpus::files).map(Origin::path);
        Places::default().reads(texts).writes([self.model.join(SHORTLIST)]).check(self.force)?;
        Checkpoint::open(&self.model)
            .hint("--model takes a directory that `padir train` writes, such as runs/en-de/best")?;
        let vocabulary = Vocabulary::load(&self.model)?;
        ensure!(
            !vocabulary.is_marian(),
            "this model has the vocabulary of a Marian model, which segments sources only: there are no shortlists for it"
        );
        let (learnt, held_out) = self.read(console, &corpora, &vocabulary)?;
        ensure!(!learnt.is_empty(), "no pair of the corpus is short enough to learn from");
        let lexicon = Lexicon::learn(&learnt, usize::from(self.iterations));
        let sizes = Sizes { best: self.best, frequent: self.frequent };
        let needed = [TokenId::EOS, vocabulary.unknown()];
        let lists = Lists::new(&lexicon, &learnt, sizes, &needed);
        // A training may have replaced the model meanwhile, or be about to.
        let path = attach(&self.model, SHORTLIST, lists.to_text(&vocabulary).as_bytes())
            .hint("the model must be there, and nobody else be writing it: try again")?;
        let (seen, unseen) = (lists.coverage(&learnt), lists.coverage(&held_out));
        if console.wants_json() {
            return console.print_json(&json!({
                "file": path,
                "vocabulary": vocabulary.size(),
                "learnt": record(seen),
                "held_out": record(unseen),
            }));
        }
        console.note(format!("wrote {}", path.display()));
        let mut table = Table::default();
        table.row(["", "pairs", "tokens a list", "target tokens listed", "whole targets listed"]);
        for (name, found) in [("learnt from", seen), ("held out", unseen)] {
            table.row([
                name,
                &grouped(found.pairs),
                &format!("{:.0} of {}", mean(found), vocabulary.size()),
                &percent(found.listed, found.tokens),
                &percent(found.whole, found.pairs),
            ]);
        }
        let mut out = console.out();
        table.write(&mut out)?;
        Ok(out.flush()?)
    }

    /// The pairs as tokens: those to learn from, and those held out.
    fn read(
        &self,
        console: &Console,
        corpora: &[Corpus],
        vocabulary: &Vocabulary,
    ) -> Result<(TokenPairs, TokenPairs)> {
        let mut encoder = vocabulary.encoder();
        let (mut source, mut target) = (Vec::new(), Vec::new());
        let (mut learnt, mut held_out) = (TokenPairs::default(), TokenPairs::default());
        let mut number = 0;
        let (pairs, _) = for_each_pair(console, corpora, self.corpus.reading(), |pair| {
            if number >= self.pairs {
                return Ok(());
            }
            encoder.encode_into(&pair.source, &mut source);
            encoder.encode_into(&pair.target, &mut target);
            if source.len() > LONGEST || target.len() > LONGEST {
                return Ok(());
            }
            source.push(TokenId::EOS);
            target.push(TokenId::EOS);
            number += 1;
            let side = if number % HELD_OUT == 0 { &mut held_out } else { &mut learnt };
            side.push(&source, &target);
            Ok(())
        })?;
        require_pairs(corpora, pairs)?;
        Ok((learnt, held_out))
    }
}

fn mean(found: Coverage) -> f64 {
    found.sizes as f64 / found.pairs.max(1) as f64
}

fn record(found: Coverage) -> serde_json::Value {
    json!({
        "pairs": found.pairs,
        "whole_targets_listed": found.whole,
        "target_tokens": found.tokens,
        "target_tokens_listed": found.listed,
        "mean_list": mean(found),
    })
}
