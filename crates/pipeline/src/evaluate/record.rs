//! The record of an evaluation: what `padir evaluate --json` prints, and what reports and model cards are made of.

use std::collections::BTreeMap;

use padir_base::hash::Sha256;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Figures;
use crate::model::{ModelRecord, RerankerRecord};

/// A model's scores on a test set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The model as it was when the work began: a training may replace it meanwhile.
    pub model: ModelRecord,
    /// `f32` or `int8`.
    pub precision: String,
    /// Whether it used its shortlist.
    pub shortlist: bool,
    /// The reranker, if there was one.
    #[serde(default, alias = "judge")]
    pub reranker: Option<RerankerRecord>,
    /// Pairs translated.
    pub pairs: usize,
    /// The names of the files of sources and references.
    #[serde(default)]
    pub texts: Vec<String>,
    /// The hash of what was translated.
    pub corpus: Sha256,
    /// How each score is computed.
    pub signatures: BTreeMap<String, String>,
    /// The scores, a row for each setting.
    pub rows: Vec<Row>,
    /// The version of padir; the oldest records do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// One setting of the decoder, and what it is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// All settings, as they were written: another version may know more or fewer.
    pub decoding: Value,
    /// What it is worth.
    pub figures: Figures,
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use padir_base::hash::hash_bytes;
    use serde_json::json;

    use super::*;

    fn evaluation() -> Evaluation {
        let hash = hash_bytes(b"model");
        let files = BTreeMap::from([("model.safetensors".to_owned(), hash)]);
        let model = ModelRecord { directory: PathBuf::from("padir/best"), files };
        let figures = Figures {
            bleu: 0.1 + 0.2,
            chrf: 2.0,
            length: 99.5,
            exact: 1.0,
            stutter: 0.5,
            steps: 3.5,
            length_accuracy: Some(40.0),
            length_accuracy_at_k: None,
            seconds: 1.25,
        };
        let decoding = json!({ "method": "refine", "steps": 4 });
        Evaluation {
            reranker: Some(RerankerRecord { model: model.clone(), length_penalty: 1.2 }),
            model,
            precision: "int8".to_owned(),
            shortlist: true,
            pairs: 2,
            texts: vec!["test.en".to_owned()],
            corpus: hash_bytes(b"corpus"),
            signatures: BTreeMap::from([("BLEU".to_owned(), "nrefs:1".to_owned())]),
            rows: vec![Row { name: "steps4".to_owned(), decoding, figures }],
            version: Some("1".to_owned()),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let written = serde_json::to_string(&evaluation()).unwrap();
        assert_eq!(serde_json::from_str::<Evaluation>(&written).unwrap(), evaluation());
    }

    #[test]
    fn older_records_are_read() {
        let mut record = serde_json::to_value(evaluation()).unwrap();
        let fields = record.as_object_mut().unwrap();
        let reranker = fields.remove("reranker").unwrap();
        fields.insert("judge".to_owned(), reranker);
        fields.remove("version");
        fields.remove("texts");
        let figures = record["rows"][0]["figures"].as_object_mut().unwrap();
        let accuracy = figures.remove("length_accuracy").unwrap();
        figures.insert("foretold".to_owned(), accuracy);
        let expected = Evaluation { version: None, texts: Vec::new(), ..evaluation() };
        assert_eq!(serde_json::from_value::<Evaluation>(record).unwrap(), expected);
    }
}
