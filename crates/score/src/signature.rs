//! How a score was computed, in one line that another program can read.
//!
//! The keys, their order and their short forms are sacrebleu's; the `version` names padir, because
//! padir computed the score.

use std::fmt;

use crate::corpus::ReferenceCount;

/// The value of `version` in every signature.
pub const VERSION: &str = concat!("padir-", env!("CARGO_PKG_VERSION"));

/// A list of keys and values, `key:value|key:value`.
///
/// ```
/// use padir_score::{Bleu, Metric, ReferenceCount};
///
/// let signature = Bleu::default().signature(ReferenceCount::Fixed(1));
/// let text = signature.to_string();
/// assert!(text.starts_with("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:padir-"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    nrefs: String,
    bootstrap: Option<u32>,
    randomization: Option<u32>,
    seed: Option<String>,
    own: Vec<Entry>,
}

/// A key of one metric.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    key: &'static str,
    short: &'static str,
    value: String,
}

impl Signature {
    /// A signature that says only how many references there were.
    pub fn new(references: ReferenceCount) -> Self {
        Self {
            nrefs: references.to_string(),
            bootstrap: None,
            randomization: None,
            seed: None,
            own: Vec::new(),
        }
    }

    /// Adds what one metric has to say.
    #[must_use]
    pub fn with(
        mut self,
        key: &'static str,
        short: &'static str,
        value: impl fmt::Display,
    ) -> Self {
        let value = format!("{value}");
        self.own.push(Entry { key, short, value });
        self
    }

    /// Adds a yes or no.
    #[must_use]
    pub fn with_switch(self, key: &'static str, short: &'static str, on: bool) -> Self {
        self.with(key, short, if on { "yes" } else { "no" })
    }

    /// Says that intervals come from this many bootstrap samples.
    pub fn set_bootstrap(&mut self, samples: u32) {
        self.bootstrap = Some(samples);
    }

    /// Says that p-values come from this many random permutations.
    pub fn set_randomization(&mut self, trials: u32) {
        self.randomization = Some(trials);
    }

    /// Says which seed the samples or permutations had.
    pub fn set_seed(&mut self, seed: u64) {
        self.seed = Some(seed.to_string());
    }

    /// The keys and values in order, with short or long keys.
    pub fn pairs(&self, form: SignatureForm) -> Vec<(&'static str, String)> {
        let general = [
            ("nrefs", "#", Some(self.nrefs.clone())),
            ("bs", "bs", self.bootstrap.map(|n| n.to_string())),
            ("ar", "ar", self.randomization.map(|n| n.to_string())),
            ("seed", "rs", self.seed.clone()),
        ];
        let own = self.own.iter().map(|e| (e.key, e.short, Some(e.value.clone())));
        let version = ("version", "v", Some(VERSION.to_owned()));
        general
            .into_iter()
            .chain(own)
            .chain([version])
            .filter_map(|(key, short, value)| {
                Some((if form == SignatureForm::Short { short } else { key }, value?))
            })
            .collect()
    }

    /// The signature with short or long keys.
    pub fn format(&self, form: SignatureForm) -> String {
        let pairs: Vec<String> =
            self.pairs(form).iter().map(|(key, value)| format!("{key}:{value}")).collect();
        pairs.join("|")
    }
}

/// Whether keys are spelt out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignatureForm {
    /// `nrefs:1|case:mixed`
    #[default]
    Long,
    /// `#:1|c:mixed`
    Short,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format(SignatureForm::Long))
    }
}
