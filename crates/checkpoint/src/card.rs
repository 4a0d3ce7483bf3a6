//! The model card: what a model is for, what it was made of, and what it cannot do.

use std::fmt::Write as _;

use crate::config::{DecoderKind, Family, ModelConfig};

/// What stands in the `README.md` of a checkpoint besides what the model itself knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelCard {
    /// The heading.
    pub title: String,
    /// Languages, source first, as ISO codes; if there are none, those of the model.
    pub languages: Vec<String>,
    /// Where it came from, if it was not trained here.
    pub origin: String,
    /// What it was trained on.
    pub training_data: String,
    /// Whom the data is owed to, as their licences ask.
    pub attribution: String,
    /// Licence of the weights, as an SPDX name.
    pub licence: String,
    /// What it reached.
    pub scores: Vec<CardScore>,
    /// What it should not be used for.
    pub limits: String,
}

/// A score and how it was computed.
#[derive(Clone, Debug, PartialEq)]
pub struct CardScore {
    /// The test set.
    pub set: String,
    /// The metric.
    pub metric: String,
    /// The number.
    pub value: f64,
    /// How to get the same number again.
    pub signature: String,
}

impl ModelCard {
    /// The card as Markdown, headed by the fields that model hubs read.
    pub fn to_markdown(&self, config: &ModelConfig) -> String {
        let mut text = front_matter(self, config);
        let title = if self.title.trim().is_empty() { "A translation model" } else { &self.title };
        let _ = write!(text, "# {}\n\n{}\n", one_line(title), shape(config));
        section(&mut text, "Origin", &self.origin);
        section(&mut text, "Training data", &self.training_data);
        section(&mut text, "Attribution", &self.attribution);
        scores(&mut text, &self.scores);
        section(&mut text, "Limits", &self.limits);
        section(&mut text, "Licence", &self.licence);
        text
    }
}

fn front_matter(card: &ModelCard, config: &ModelConfig) -> String {
    let mut text = "---\n".to_owned();
    // JSON strings are YAML strings.
    if !card.licence.trim().is_empty() {
        let _ = writeln!(text, "license: {}", serde_json::json!(one_line(&card.licence)));
    }
    let mut languages: Vec<&str> = card.languages.iter().map(String::as_str).collect();
    if let (true, Some((source, target))) = (languages.is_empty(), config.languages.pair()) {
        languages = vec![source.code(), target.code()];
    }
    if !languages.is_empty() {
        let _ = writeln!(text, "language: {}", serde_json::json!(languages));
    }
    let library = match config.decoder_kind() {
        DecoderKind::Causal => "transformers",
        DecoderKind::Parallel => "padir",
    };
    let _ = write!(text, "library_name: {library}\ntags: [\"translation\", \"padir\"]\n---\n\n");
    text
}

fn shape(config: &ModelConfig) -> String {
    let family = match config.family {
        Family::T5 => "T5",
        Family::Marian(_) => "Marian",
    };
    let decoder = match config.decoder_kind() {
        DecoderKind::Causal => "an autoregressive decoder",
        DecoderKind::Parallel => "a parallel decoder with iterative refinement",
    };
    let mut text = format!(
        "An encoder-decoder of the {family} family with {decoder}: {} + {} layers, width {}, {} heads, \
         {} parameters.\n",
        config.num_layers,
        config.num_decoder_layers,
        config.d_model,
        config.num_heads,
        config.parameter_count(),
    );
    let hashes = [
        ("Vocabulary", config.provenance.vocabulary),
        ("Encoded training data", config.provenance.data),
    ];
    for (name, hash) in hashes {
        if let Some(hash) = hash {
            let _ = write!(text, "\n- {name} SHA-256: `{hash}`");
        }
    }
    if config.provenance.vocabulary.is_some() || config.provenance.data.is_some() {
        text.push('\n');
    }
    text
}

fn section(text: &mut String, heading: &str, body: &str) {
    if !body.trim().is_empty() {
        let _ = write!(text, "\n## {heading}\n\n{}\n", body.trim());
    }
}

fn scores(text: &mut String, scores: &[CardScore]) {
    if scores.is_empty() {
        return;
    }
    text.push_str("\n## Scores\n\n| set | metric | value | signature |\n|---|---|---|---|\n");
    for score in scores {
        let cell = |text: &str| one_line(text).replace('|', "\\|");
        let (set, metric) = (cell(&score.set), cell(&score.metric));
        let signature = cell(&score.signature);
        let _ = writeln!(text, "| {set} | {metric} | {:.2} | {signature} |", score.value);
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Preset;

    #[test]
    fn a_card_says_what_is_known_and_no_more() {
        let mut config = ModelConfig::preset(Preset::Paper, 32_128, DecoderKind::Parallel);
        let bare = ModelCard::default().to_markdown(&config);
        assert_eq!(
            bare,
            "---\nlibrary_name: padir\ntags: [\"translation\", \"padir\"]\n---\n\n\
             # A translation model\n\n\
             An encoder-decoder of the T5 family with a parallel decoder with iterative \
             refinement: 6 + 6 layers, width 512, 8 heads, 66997760 parameters.\n\n"
        );
        config.provenance.data = Some(padir_base::hash::hash_bytes(b""));
        let card = ModelCard {
            title: "English\nto German".into(),
            languages: vec!["en".into(), "de".into()],
            licence: "CC-BY-4.0: \"yes\"".into(),
            scores: vec![CardScore {
                set: "a|b".into(),
                metric: "BLEU".into(),
                value: 31.256,
                signature: "tok:13a".into(),
            }],
            limits: "Short captions only.".into(),
            origin: "Elsewhere.".into(),
            ..ModelCard::default()
        };
        let text = card.to_markdown(&config);
        let parts = [
            "license: \"CC-BY-4.0: \\\"yes\\\"\"\nlanguage: [\"en\",\"de\"]\n",
            "# English to German\n",
            "- Encoded training data SHA-256: `e3b0c442",
            "| a\\|b | BLEU | 31.26 | tok:13a |\n",
            "## Origin\n\nElsewhere.\n",
            "## Limits\n\nShort captions only.\n",
        ];
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        assert!(!text.contains("Attribution"));
        let language = |code: &str| crate::Language::try_from(code.to_owned()).ok();
        config.languages = crate::Languages { source: language("en"), target: language("fr") };
        let own = ModelCard::default().to_markdown(&config);
        assert!(own.starts_with("---\nlanguage: [\"en\",\"fr\"]\n"), "{own}");
        assert!(card.to_markdown(&config).contains("language: [\"en\",\"de\"]"));
    }
}
