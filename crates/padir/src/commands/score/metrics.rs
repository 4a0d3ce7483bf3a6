//! The options of each metric, and the metrics they make.

use std::str::FromStr;

use anyhow::{Result, anyhow, bail, ensure};
use padir_score::{
    Bleu, Case, Chrf, ExactMatch, LengthRatio, Metric, Repetition, Smoothing, Stutter, Ter,
    TercomOptions, Tokenizer,
};

use crate::hint::WithHint;

/// A metric as the user names it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum MetricName {
    /// Word n-gram precision.
    Bleu,
    /// Character n-gram F-score.
    Chrf,
    /// chrF with words and word pairs.
    #[value(name = "chrf++")]
    ChrfPlusPlus,
    /// Edits and shifts per reference word.
    Ter,
    /// Immediately repeated words that no reference repeats, per 1000 words.
    Stutter,
    /// Length in percent of the reference.
    Length,
    /// Percentage of segments equal to a reference.
    Exact,
    /// Percentage of tokens equal to their predecessor.
    Repetition,
}

impl MetricName {
    /// Whether it depends on the tokeniser.
    pub(super) fn cuts_into_words(self) -> bool {
        matches!(self, Self::Bleu | Self::Length | Self::Repetition)
    }
}

/// `en-zh`. Only the target matters.
#[derive(Clone, Debug)]
struct LanguagePair {
    target: String,
}

impl FromStr for LanguagePair {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('-') {
            Some((source, target)) if !source.is_empty() && !target.is_empty() => {
                Ok(Self { target: target.to_lowercase() })
            }
            _ => Err("languages are written like en-zh"),
        }
    }
}

impl LanguagePair {
    /// The tokeniser that sacrebleu takes for the target, if it is here.
    fn tokenizer(&self) -> Result<Tokenizer> {
        match self.target.split(['-', '_']).next() {
            Some("zh") => Ok(Tokenizer::Zh),
            Some(language @ ("ja" | "ko")) => Err(anyhow!(
                "sacrebleu cuts {language} into words with MeCab, which is not part of padir"
            ))
            .hint("--tokenize char compares characters instead"),
            _ => Ok(Tokenizer::Mteval13a),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SmoothMethod {
    /// No smoothing.
    None,
    /// Zero counts become a small number.
    Floor,
    /// A number is added to all counts above unigrams.
    AddK,
    /// Each further zero counts half as much.
    Exp,
}

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "what is typed on a command line is switches")]
pub(super) struct MetricOptions {
    /// Tokeniser of BLEU, length and repetition [default: zh if --language-pair ends in zh, else 13a].
    #[arg(long, value_name = "NAME", help_heading = "BLEU")]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(["13a", "intl", "zh", "char", "none"]))]
    tokenize: Option<String>,

    /// The languages, which the usual tokeniser depends on, such as en-zh.
    #[arg(long, short, value_name = "SRC-TGT", help_heading = "BLEU")]
    language_pair: Option<LanguagePair>,

    /// Ignore case in BLEU and exact match.
    #[arg(long, help_heading = "BLEU")]
    lowercase: bool,

    /// What replaces precisions of zero.
    #[arg(long, value_enum, value_name = "METHOD", default_value = "exp", help_heading = "BLEU")]
    smooth_method: SmoothMethod,

    /// The number that `floor` and `add-k` use [default: 0.1 and 1].
    #[arg(long, value_name = "X", help_heading = "BLEU")]
    smooth_value: Option<f64>,

    /// Leave out orders that the output is too short for; always on with --sentence.
    #[arg(long, help_heading = "BLEU")]
    effective_order: bool,

    /// Longest character n-grams.
    #[arg(long, value_name = "N", default_value_t = 6, help_heading = "chrF")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=100))]
    chrf_char_order: u8,

    /// Longest word n-grams; 2 makes chrF++.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "chrF")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=100))]
    chrf_word_order: u8,

    /// How much more recall weighs than precision.
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "chrF")]
    chrf_beta: u16,

    /// Ignore case in chrF.
    #[arg(long, help_heading = "chrF")]
    chrf_lowercase: bool,

    /// Count white space as characters.
    #[arg(long, help_heading = "chrF")]
    chrf_whitespace: bool,

    /// Smooth as chrF++.py, NLTK and Moses do.
    #[arg(long, help_heading = "chrF")]
    chrf_eps_smoothing: bool,

    /// Normalise and tokenise first.
    #[arg(long, help_heading = "TER")]
    ter_normalized: bool,

    /// Remove punctuation.
    #[arg(long, help_heading = "TER")]
    ter_no_punct: bool,

    /// Treat CJK characters apart, together with the two options above.
    #[arg(long, help_heading = "TER")]
    ter_asian_support: bool,

    /// Do not ignore case.
    #[arg(long, help_heading = "TER")]
    ter_case_sensitive: bool,

    /// Do not ignore case.
    #[arg(long, help_heading = "Stutter")]
    stutter_case_sensitive: bool,
}

impl MetricOptions {
    /// Whether the user says that the text is already tokenised.
    pub(super) fn scores_tokenized_text(&self) -> bool {
        self.tokenize.as_deref() == Some("none")
    }

    /// How BLEU cuts segments.
    pub(super) fn tokenizer(&self) -> Result<Tokenizer> {
        match (&self.tokenize, &self.language_pair) {
            (Some(name), _) => Ok(name.parse()?),
            (None, Some(languages)) => languages.tokenizer(),
            (None, None) => Ok(Tokenizer::default()),
        }
    }

    /// The metrics in the order given.
    pub(super) fn metrics(
        &self,
        names: &[MetricName],
        sentence: bool,
    ) -> Result<Vec<Box<dyn Metric>>> {
        let mut metrics: Vec<Box<dyn Metric>> = Vec::new();
        for &name in names {
            let metric = self.metric(name, sentence)?;
            let is_new = metrics.iter().all(|other| other.name() != metric.name());
            ensure!(is_new, "{} is asked for twice", metric.name());
            metrics.push(metric);
        }
        Ok(metrics)
    }

    fn metric(&self, name: MetricName, sentence: bool) -> Result<Box<dyn Metric>> {
        let tokenizer = self.tokenizer()?;
        let case = Case::lower_if(self.lowercase);
        Ok(match name {
            MetricName::Bleu => Box::new(Bleu {
                tokenizer,
                case,
                smoothing: self.smoothing()?,
                effective_order: self.effective_order || sentence,
                ..Bleu::default()
            }),
            MetricName::Chrf => Box::new(self.chrf(usize::from(self.chrf_word_order))?),
            MetricName::ChrfPlusPlus => Box::new(self.chrf(2)?),
            MetricName::Ter => Box::new(Ter { options: self.tercom() }),
            MetricName::Stutter => {
                Box::new(Stutter { case: Case::lower_if(!self.stutter_case_sensitive) })
            }
            MetricName::Length => Box::new(LengthRatio { tokenizer }),
            MetricName::Exact => Box::new(ExactMatch { case }),
            MetricName::Repetition => Box::new(Repetition { tokenizer }),
        })
    }

    fn smoothing(&self) -> Result<Smoothing> {
        let value = self.smooth_value;
        if value.is_some_and(|v| !v.is_finite() || v < 0.0) {
            bail!("--smooth-value must be a number not below zero");
        }
        Ok(match self.smooth_method {
            SmoothMethod::Floor => {
                value.map_or(Smoothing::FLOOR, |value| Smoothing::Floor { value })
            }
            SmoothMethod::AddK => value.map_or(Smoothing::ADD_K, |value| Smoothing::AddK { value }),
            _ if value.is_some() => {
                bail!("--smooth-value has a meaning only with --smooth-method floor or add-k")
            }
            SmoothMethod::None => Smoothing::None,
            SmoothMethod::Exp => Smoothing::Exp,
        })
    }

    fn chrf(&self, word_order: usize) -> Result<Chrf> {
        let char_order = usize::from(self.chrf_char_order);
        ensure!(char_order + word_order > 0, "chrF needs a character or a word order above zero");
        Ok(Chrf {
            char_order,
            word_order,
            beta: u32::from(self.chrf_beta),
            case: Case::lower_if(self.chrf_lowercase),
            whitespace: self.chrf_whitespace,
            eps_smoothing: self.chrf_eps_smoothing,
        })
    }

    fn tercom(&self) -> TercomOptions {
        TercomOptions {
            normalized: self.ter_normalized,
            no_punct: self.ter_no_punct,
            asian_support: self.ter_asian_support,
            case_sensitive: self.ter_case_sensitive,
        }
    }
}
