//! The scores of models, with repeated trainings put together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::commands::evaluate::figures::Figures;

/// What `padir evaluate --json` prints, as far as it is used.
#[derive(Serialize, Deserialize)]
pub(in crate::commands) struct Evaluation {
    pub(in crate::commands) model: Model,
    pub(in crate::commands) precision: String,
    pub(in crate::commands) shortlist: bool,
    pub(in crate::commands) pairs: usize,
    pub(in crate::commands) signatures: BTreeMap<String, String>,
    pub(in crate::commands) rows: Vec<Row>,
}

/// A model.
#[derive(Serialize, Deserialize)]
pub(in crate::commands) struct Model {
    pub(in crate::commands) directory: PathBuf,
}

/// One setting.
#[derive(Serialize, Deserialize)]
pub(in crate::commands) struct Row {
    pub(in crate::commands) name: String,
    pub(in crate::commands) figures: Figures,
}

impl Evaluation {
    /// What the model is called: `padir` if it is `padir/best`.
    pub(super) fn label(&self) -> String {
        let path = &self.model.directory;
        let run = match path.file_name() {
            Some(name) if name == "best" || name == "final" => path.parent().unwrap_or(path),
            _ => path,
        };
        let mut label = last(run);
        if self.shortlist {
            label.push_str(", shortlist");
        }
        label
    }
}

fn last(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A setting of a model, over all its trainings.
pub(super) struct Group<'a> {
    pub(super) label: String,
    pub(super) setting: &'a str,
    pub(super) figures: Vec<&'a Figures>,
}

/// Settings of models in the order in which they come; those that differ in `-seedN` only are one.
pub(super) fn groups(evaluations: &[Evaluation]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for evaluation in evaluations {
        let label = without_seed(&evaluation.label()).to_owned();
        for Row { name, figures } in &evaluation.rows {
            let same = |group: &&mut Group<'_>| group.label == label && group.setting == name;
            if let Some(group) = groups.iter_mut().find(same) {
                group.figures.push(figures);
            } else {
                let (label, setting) = (label.clone(), name.as_str());
                groups.push(Group { label, setting, figures: vec![figures] });
            }
        }
    }
    groups
}

fn without_seed(label: &str) -> &str {
    match label.rsplit_once("-seed") {
        Some((stem, number)) if number.parse::<u64>().is_ok() => stem,
        _ => label,
    }
}

impl Group<'_> {
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
    use super::*;

    fn evaluation(model: &str, bleu: f64) -> Evaluation {
        let json = format!(
            r#"{{"model": {{"directory": "{model}/best"}}, "precision": "f32", "shortlist": false, "pairs": 2,
            "signatures": {{}}, "rows": [{{"name": "beam5", "figures": {{"bleu": {bleu}, "chrf": 1, "length": 100,
            "exact": 0, "stutter": 0, "steps": 3, "foretold": null, "among": null, "seconds": 1}}}}]}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn trainings_that_differ_in_their_seed_are_one() {
        let all = ["a-seed1", "b", "a-seed2", "c-seedling"];
        let all: Vec<_> = all
            .iter()
            .zip([1.0, 5.0, 3.0, 7.0])
            .map(|(name, bleu)| evaluation(name, bleu))
            .collect();
        let groups = groups(&all);
        let cells: Vec<(&str, String)> =
            groups.iter().map(|g| (g.label.as_str(), g.cell(2, |f| Some(f.bleu)))).collect();
        // The standard deviation of 1 and 3 is √2.
        let expected = [("a", "2.00 ± 1.41"), ("b", "5.00"), ("c-seedling", "7.00")];
        assert_eq!(cells, expected.map(|(name, cell)| (name, cell.to_owned())));
        assert_eq!(groups[0].cell(1, |f| f.foretold), "–");
    }
}
