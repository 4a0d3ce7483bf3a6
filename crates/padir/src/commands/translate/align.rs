//! Alignments and pictures of attention, from the decoder's cross-attention.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use padir_attention::alignment::{Aligner, Alignment, Heads, PartAttention, Unit};
use padir_attention::figure;
use padir_text::vocab::Vocabulary;
use padir_translate::{Text, Translation, Translator};

use super::Listener;
use super::sink::Pharaoh;
use super::source::Line;
use crate::picture;
use crate::places::Places;

/// What of the attention is shown.
#[derive(clap::Args)]
pub(super) struct AlignArgs {
    /// Print which source words each translation's words come of, as `text ||| 0-0 1-2` (source-target, from 0), or in JSON: each target piece is linked to the
    /// source piece it attends to most. `--align=pieces` links pieces of the vocabulary instead of words.
    #[arg(
        long,
        value_name = "UNIT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "words",
        conflicts_with = "nbest",
        help_heading = "Output"
    )]
    align: Option<UnitName>,

    /// Cross-attention heads to align by, averaged: LAYER or LAYER:HEAD, from 0, with commas between them [default: all heads of the last layer].
    #[arg(long, value_name = "HEADS", help_heading = "Output")]
    align_heads: Option<String>,

    /// Draw the cross-attention of a text of one sentence, with its links framed: .svg, .pdf or .png.
    #[arg(long, value_name = "FILE", conflicts_with = "nbest", help_heading = "Output")]
    plot_attention: Option<PathBuf>,
}

/// What is linked.
#[derive(Clone, Copy, clap::ValueEnum)]
enum UnitName {
    Words,
    Pieces,
}

/// Looks at translations as they are made.
pub(super) struct Align {
    aligner: Option<Aligner>,
    vocabulary: Arc<Vocabulary>,
    prints: bool,
    plot: Option<PathBuf>,
    /// Whether it is drawn.
    plotted: bool,
}

impl AlignArgs {
    /// Refuses what cannot be drawn; adds what is written.
    pub(super) fn check(&self, places: Places) -> Result<Places> {
        self.plot_attention.as_deref().map_or(Ok(()), picture::check)?;
        if self.align_heads.is_some() && self.align.is_none() && self.plot_attention.is_none() {
            bail!("--align-heads is about --align and --plot-attention, and neither is asked for");
        }
        Ok(places.writes(&self.plot_attention))
    }

    /// Finds the heads of a model.
    pub(super) fn open(&self, translator: &Translator) -> Result<Align> {
        let unit = match self.align {
            Some(UnitName::Pieces) => Unit::Pieces,
            _ => Unit::Words,
        };
        let prints = self.align.is_some();
        let aligner = if prints || self.plot_attention.is_some() {
            let session = translator.model();
            let heads = match &self.align_heads {
                Some(names) => Heads::parse(names, session)?,
                None => Heads::default_of(session)?,
            };
            Some(Aligner::new(heads, unit))
        } else {
            None
        };
        let vocabulary = Arc::clone(translator.vocabulary());
        Ok(Align { aligner, vocabulary, prints, plot: self.plot_attention.clone(), plotted: false })
    }
}

impl Align {
    /// Translates, and looks if anything is to be seen.
    pub(super) fn translate(
        &mut self,
        translator: &mut Translator,
        texts: &[Text<'_>],
        most: usize,
        listener: &mut Listener,
    ) -> Result<Vec<Translation>> {
        let Self { aligner, vocabulary, .. } = self;
        Ok(match aligner {
            None => translator.translate(texts, most, listener)?,
            Some(aligner) => {
                translator.translate_with(texts, most, listener, &mut |session, _, decoded| {
                    aligner.look(session, vocabulary, decoded)
                })?
            }
        })
    }

    /// The alignments of translations, if they are printed; draws the first sentence, if it is the only one.
    pub(super) fn take(
        &mut self,
        lines: &[Line],
        translations: &[Translation],
    ) -> Result<Vec<Alignment>> {
        let Some(aligner) = &mut self.aligner else { return Ok(Vec::new()) };
        let mut alignments = Vec::new();
        for (line, translation) in lines.iter().zip(translations) {
            let parts: Vec<PartAttention> = aligner.take(line.number, translation.parts);
            if let Some(path) = self.plot.as_deref().filter(|_| !parts.is_empty()) {
                let [part] = &parts[..] else {
                    bail!(
                        "line {} has {} sentences; --plot-attention draws one",
                        line.number,
                        parts.len()
                    );
                };
                if self.plotted {
                    bail!(
                        "line {} is a second text; --plot-attention draws one sentence",
                        line.number
                    );
                }
                self.plotted = true;
                picture::write(path, &figure::sentence(part, translation.text()))?;
            }
            if self.prints {
                alignments.push(aligner.align(&parts));
            }
        }
        Ok(alignments)
    }
}

impl Pharaoh for Alignment {
    fn pharaoh(&self) -> String {
        Alignment::pharaoh(self)
    }
}
