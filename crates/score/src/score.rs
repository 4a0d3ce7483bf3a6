//! A score that formats itself, as text or as JSON, with sacrebleu's words and keys.

use serde_json::{Map, Value};

use crate::signature::{Signature, SignatureForm};

/// A number with a name and what there is to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// What it is called: `BLEU`, `chrF2`, `TER`, `stutter`.
    pub name: String,
    /// The number.
    pub value: f64,
    /// What follows the number: precisions, lengths. May be empty.
    pub verbose: String,
    /// Further numbers, which only JSON shows.
    pub extra: Vec<(&'static str, f64)>,
    /// The bootstrap estimate, if one was made.
    pub confidence: Option<Confidence>,
}

/// A bootstrap estimate of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    /// The mean over all samples.
    pub mean: f64,
    /// Half the width of the interval that holds 95 % of the samples.
    pub half_width: f64,
}

impl Score {
    /// A bare number.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        let (name, verbose) = (name.into(), String::new());
        Self { name, value, verbose, extra: Vec::new(), confidence: None }
    }

    /// The number with `decimals` decimals, and its interval if there is one.
    ///
    /// ```
    /// assert_eq!(padir_score::Score::new("TER", 50.25).number(1), "50.2");
    /// ```
    pub fn number(&self, decimals: usize) -> String {
        let number = format!("{:.decimals$}", self.value);
        match self.confidence_text(decimals) {
            Some(confidence) => format!("{number} ({confidence})"),
            None => number,
        }
    }

    /// The number as [`Score::number`] prints it, without its interval.
    pub fn rounded(&self, decimals: usize) -> f64 {
        round(self.value, decimals)
    }

    /// The score on one line: `NAME|SIGNATURE = NUMBER WORDS`.
    pub fn line(&self, decimals: usize, signature: &str) -> String {
        let mut line = self.name.clone();
        if !signature.is_empty() {
            line.push('|');
            line.push_str(signature);
        }
        line.push_str(" = ");
        line.push_str(&self.number(decimals));
        if !self.verbose.is_empty() {
            line.push(' ');
            line.push_str(&self.verbose);
        }
        line
    }

    /// The score as a JSON object with sacrebleu's keys in sacrebleu's order.
    pub fn json(&self, decimals: usize, signature: &Signature) -> Map<String, Value> {
        let rounded = |number: f64| Value::from(round(number, decimals));
        let mut object = Map::new();
        object.insert("name".into(), self.name.clone().into());
        object.insert("score".into(), rounded(self.value));
        object.insert("signature".into(), signature.to_string().into());
        if let (Some(confidence), Some(text)) = (self.confidence, self.confidence_text(decimals)) {
            object.insert("confidence_mean".into(), rounded(confidence.mean));
            object.insert("confidence_var".into(), rounded(confidence.half_width));
            object.insert("confidence".into(), text.into());
        }
        if !self.verbose.is_empty() {
            object.insert("verbose_score".into(), self.verbose.clone().into());
        }
        for &(key, number) in &self.extra {
            object.insert(key.into(), number.into());
        }
        for (key, value) in signature.pairs(SignatureForm::Long) {
            object.insert(key.into(), value.into());
        }
        object
    }

    /// `μ = 37.6 ± 2.3`; nothing for a mean of zero, like sacrebleu.
    fn confidence_text(&self, decimals: usize) -> Option<String> {
        let Confidence { mean, half_width } = self.confidence.filter(|c| c.mean > 0.0)?;
        Some(format!("μ = {mean:.decimals$} ± {half_width:.decimals$}"))
    }
}

/// The double nearest to the number as printed.
fn round(number: f64, decimals: usize) -> f64 {
    format!("{number:.decimals$}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::ReferenceCount;

    fn score() -> Score {
        let confidence = Some(Confidence { mean: 37.57, half_width: 2.31 });
        Score { verbose: "(words)".into(), confidence, ..Score::new("BLEU", 37.62) }
    }

    #[test]
    fn a_line_has_name_signature_number_interval_and_words() {
        assert_eq!(score().line(1, "nrefs:1"), "BLEU|nrefs:1 = 37.6 (μ = 37.6 ± 2.3) (words)");
        assert_eq!(Score::new("TER", 0.0).line(2, ""), "TER = 0.00");
    }

    #[test]
    fn json_keys_come_in_order() {
        let signature = Signature::new(ReferenceCount::Variable).with_switch("eff", "e", true);
        let object = score().json(1, &signature);
        let keys: Vec<&str> = object.keys().map(String::as_str).collect();
        let expected = [
            "name",
            "score",
            "signature",
            "confidence_mean",
            "confidence_var",
            "confidence",
            "verbose_score",
            "nrefs",
            "eff",
            "version",
        ];
        assert_eq!(keys, expected);
        assert_eq!(object["score"], 37.6);
        assert_eq!(object["nrefs"], "var");
    }
}
