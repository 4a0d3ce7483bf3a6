//! The scores of models, with repeated trainings put together.

use std::fmt::Write;
use std::path::Path;

use padir_translate::Decoding;
use serde::Serialize;
use serde_json::Value;

use crate::evaluate::{Evaluation, Figures, Row};

/// An evaluation, and what it was for.
#[derive(Serialize)]
pub(super) struct Scored {
    #[serde(flatten)]
    pub(super) evaluation: Evaluation,
    /// Whether it is what settings were chosen by, and not what they are worth: a file below `dev`.
    #[serde(skip)]
    pub(super) is_choice: bool,
}

/// What the model is called: `padir` if it is `padir/best`, and `padir/final` as it is; and whether its name told a seed, which is
/// left out.
fn label(evaluation: &Evaluation) -> (String, bool) {
    let full = evaluation.model.name();
    let mut label = without_seed(&full);
    let is_seeded = label != full;
    if evaluation.shortlist {
        label.push_str(", shortlist");
    }
    if let Some(reranker) = &evaluation.reranker {
        let (full, alpha) = (reranker.model.name(), reranker.length_penalty);
        let name = if is_seeded { without_seed(&full) } else { full };
        // Writing to a string cannot fail.
        let _ = write!(label, ", reranked by {name} with α {alpha}");
    }
    (label, is_seeded)
}

/// A setting of a model, over all its trainings.
pub(super) struct Group<'a> {
    pub(super) label: String,
    pub(super) setting: &'a str,
    pub(super) figures: Vec<&'a Figures>,
    first: &'a Evaluation,
    is_choice: bool,
    decoding: Value,
    is_seeded: bool,
    models: Vec<&'a Path>,
}

/// Settings of models in the order in which they come. One are those of models whose names differ in `-seedN` only and which
/// were asked for the same in the same way.
pub(super) fn groups(evaluations: &[Scored]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for Scored { evaluation, is_choice } in evaluations {
        let (label, is_seeded) = label(evaluation);
        let model = evaluation.model.directory.as_path();
        for Row { name, decoding, figures } in &evaluation.rows {
            let decoding = complete(decoding);
            let same = |group: &&mut Group<'_>| {
                (is_seeded && group.is_seeded)
                    && group.label == label
                    && group.decoding == decoding
                    && group.first.precision == evaluation.precision
                    && group.first.corpus == evaluation.corpus
                    && group.first.signatures == evaluation.signatures
                    && !group.models.contains(&model)
            };
            if let Some(group) = groups.iter_mut().find(same) {
                group.figures.push(figures);
                group.models.push(model);
            } else {
                groups.push(Group {
                    label: label.clone(),
                    setting: name,
                    figures: vec![figures],
                    first: evaluation,
                    is_choice: *is_choice,
                    decoding,
                    is_seeded,
                    models: vec![model],
                });
            }
        }
    }
    groups
}

/// Settings as today's program would write them: what an older one did not know has its default.
pub(super) fn complete(decoding: &Value) -> Value {
    let known = serde_json::from_value::<Decoding>(decoding.clone());
    known
        .ok()
        .and_then(|known| serde_json::to_value(known).ok())
        .unwrap_or_else(|| decoding.clone())
}

/// What tells settings of the same name apart: `prune.rule=keep`, say, for each that another has not. What most rows of the model
/// have goes without saying.
pub(super) fn peculiarities(group: &Group<'_>, all: &[&Group<'_>]) -> Vec<String> {
    let own = flat(&group.decoding);
    let others = all.iter().filter(|other| {
        other.label == group.label
            && other.setting == group.setting
            && other.decoding != group.decoding
    });
    let mut found: Vec<String> = others
        .flat_map(|other| {
            let theirs = flat(&other.decoding);
            own.iter().filter(|entry| !theirs.contains(*entry)).cloned().collect::<Vec<_>>()
        })
        .collect();
    found.sort();
    found.dedup();
    let rows: Vec<Vec<String>> = all
        .iter()
        .filter(|other| other.label == group.label)
        .map(|other| flat(&other.decoding))
        .collect();
    found.retain(|entry| 2 * rows.iter().filter(|row| row.contains(entry)).count() <= rows.len());
    found
}

/// The leaves of an object as `key.key=value`.
pub(super) fn flat(value: &Value) -> Vec<String> {
    match value {
        Value::Object(object) => object
            .iter()
            .flat_map(|(key, below)| {
                let join = |rest: String| match rest.strip_prefix('=') {
                    Some(_) => format!("{key}{rest}"),
                    None => format!("{key}.{rest}"),
                };
                flat(below).into_iter().map(join).collect::<Vec<_>>()
            })
            .collect(),
        Value::String(text) => vec![format!("={text}")],
        other => vec![format!("={other}")],
    }
}

/// `base` of `base-seed2`, `base/final` of `base-seed2/final`.
pub(super) fn without_seed(label: &str) -> String {
    let Some((stem, rest)) = label.rsplit_once("-seed") else { return label.to_owned() };
    let (number, place) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    if number.parse::<u64>().is_ok() { format!("{stem}{place}") } else { label.to_owned() }
}

impl Group<'_> {
    /// All settings of the decoder.
    pub(super) fn decoding(&self) -> &Value {
        &self.decoding
    }

    /// `f32` or `int8`.
    pub(super) fn precision(&self) -> &str {
        &self.first.precision
    }

    /// The names of the files of sources and references.
    pub(super) fn texts(&self) -> &[String] {
        &self.first.texts
    }

    /// Whether settings were chosen by it.
    pub(super) fn is_choice(&self) -> bool {
        self.is_choice
    }

    /// Pairs translated.
    pub(super) fn pairs(&self) -> usize {
        self.first.pairs
    }

    /// The first digits of the hash of what was translated.
    pub(super) fn corpus(&self) -> String {
        self.first.corpus.to_string().chars().take(8).collect()
    }

    /// A figure: its mean, and its standard deviation if there are several.
    pub(super) fn cell(&self, digits: usize, of: impl Fn(&Figures) -> Option<f64>) -> String {
        let values: Vec<f64> = self.figures.iter().filter_map(|figures| of(figures)).collect();
        if values.is_empty() {
            return "–".to_owned();
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        if values.len() == 1 {
            return format!("{mean:.digits$}");
        }
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        format!("{mean:.digits$} ± {:.digits$}", variance.sqrt())
    }

    /// The mean of BLEU.
    pub(super) fn bleu(&self) -> f64 {
        self.figures.iter().map(|f| f.bleu).sum::<f64>() / self.figures.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn evaluation(model: &str, precision: &str, alpha: f64, bleu: f64) -> Scored {
        let corpus = "0".repeat(64);
        let json = format!(
            r#"{{"model": {{"directory": "{model}/best", "files": {{}}}}, "precision": "{precision}", "shortlist": false, "pairs": 2,
            "corpus": "{corpus}", "signatures": {{}}, "rows": [{{"name": "beam5", "decoding": {{"a": {{"b": {alpha}}}}}, "figures":
            {{"bleu": {bleu}, "chrf": 1, "length": 100, "exact": 0, "stutter": 0, "steps": 3, "foretold": null, "among": null,
            "seconds": 1}}}}]}}"#
        );
        Scored { evaluation: serde_json::from_str(&json).unwrap(), is_choice: false }
    }

    #[test]
    fn seeds_are_put_together_if_all_else_is_the_same() {
        let seed = |name: &str| evaluation(name, "f32", 1.0, 1.0);
        let shortlist = |name: &str| {
            let mut scored = seed(name);
            scored.evaluation.shortlist = true;
            scored
        };
        let signature = |of: &str| BTreeMap::from([("BLEU".to_owned(), of.to_owned())]);
        let signed = |name: &str, of: &str| {
            let mut scored = seed(name);
            scored.evaluation.signatures = signature(of);
            scored
        };
        let settings = |name: &str, decoding: Value| {
            let mut scored = seed(name);
            scored.evaluation.rows[0].decoding = decoding;
            scored
        };
        let cases = [
            ("seeds", [seed("a-seed1"), seed("a-seed2")], 1),
            ("a name without a seed first", [seed("a"), seed("a-seed2")], 2),
            ("a name without a seed last", [seed("a-seed2"), seed("a")], 2),
            ("shortlists", [shortlist("a-seed1"), shortlist("a-seed2")], 1),
            ("one shortlist", [seed("a-seed1"), shortlist("a-seed2")], 2),
            ("tokenizers", [signed("a-seed1", "13a"), signed("a-seed2", "char")], 2),
            (
                "what an older program did not know",
                [
                    settings("a-seed1", json!({ "method": "refine", "steps": 3 })),
                    settings(
                        "a-seed2",
                        json!({ "method": "refine", "steps": 3, "low_precision_steps": 0 }),
                    ),
                ],
                1,
            ),
        ];
        for (case, all, expected) in cases {
            assert_eq!(groups(&all).len(), expected, "{case}");
        }
    }

    #[test]
    fn trainings_that_differ_in_their_seed_are_one_and_nothing_else_is() {
        let all = [
            evaluation("a-seed1", "f32", 1.0, 1.0),
            evaluation("b", "f32", 1.0, 5.0),
            evaluation("a-seed2", "f32", 1.0, 3.0),
            evaluation("c-seedling", "f32", 1.0, 7.0),
            evaluation("b", "int8", 1.0, 4.0),
            evaluation("b", "f32", 0.5, 2.0),
            evaluation("b", "f32", 1.0, 5.0),
            evaluation("elsewhere/b", "f32", 1.0, 6.0),
            evaluation("d-seed1/final", "f32", 1.0, 1.0),
            evaluation("d-seed2/final", "f32", 1.0, 1.0),
            evaluation("d-seed3/other", "f32", 1.0, 8.0),
        ];
        let groups = groups(&all);
        let cells: Vec<(&str, String)> =
            groups.iter().map(|g| (g.label.as_str(), g.cell(2, |f| Some(f.bleu)))).collect();
        // The standard deviation of 1 and 3 is √2.
        let expected = [
            ("a", "2.00 ± 1.41"),
            ("b", "5.00"),
            ("c-seedling", "7.00"),
            ("b", "4.00"),
            ("b", "2.00"),
            ("b", "5.00"),
            ("elsewhere/b", "6.00"),
            ("d/final", "1.00 ± 0.00"),
            ("d/other", "8.00"),
        ];
        assert_eq!(cells, expected.map(|(name, cell)| (name, cell.to_owned())));
        assert_eq!(groups[0].cell(1, |f| f.length_accuracy), "–");
        let groups: Vec<&Group<'_>> = groups.iter().collect();
        assert_eq!(peculiarities(groups[0], &groups), Vec::<String>::new());
        assert_eq!(peculiarities(groups[4], &groups), ["a.b=0.5"]);
        assert_eq!(peculiarities(groups[1], &groups), Vec::<String>::new(), "as most of them");
    }
}
