//! Scores by the number of steps: which points are one curve, and what tells curves apart.
//!
//! O(settings² · leaves of their decodings), which are few.

use std::collections::BTreeMap;

use serde_json::Value;

use super::groups::{Group, flat, peculiarities};

/// A curve's name, and its points.
pub(super) type Curve = (String, Vec<(f64, f64)>);

/// Scores of settings that differ in the number of steps only.
struct Line<'a> {
    /// The first of them.
    group: &'a Group<'a>,
    /// All other settings of the decoder.
    rest: Vec<String>,
    /// By steps.
    points: BTreeMap<u64, f64>,
}

/// BLEU by the most steps, from few to many, a curve for each model, test set, precision and decoding otherwise. One point is no curve,
/// and what settings were chosen by is none.
pub(super) fn curves(groups: &[Group<'_>]) -> Vec<Curve> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for group in groups.iter().filter(|group| !group.is_choice()) {
        let Some(steps) = group.decoding().get("steps").and_then(Value::as_u64) else { continue };
        let mut rest = flat(group.decoding());
        rest.retain(|entry| !entry.starts_with("steps="));
        let bleu = group.bleu();
        match lines.iter_mut().find(|line| line.continues(group, &rest)) {
            // What was asked for twice has one score.
            Some(line) => {
                line.points.entry(steps).or_insert(bleu);
            }
            None => lines.push(Line { group, rest, points: BTreeMap::from([(steps, bleu)]) }),
        }
    }
    // What is not drawn needs no telling apart.
    lines.retain(|line| line.points.len() > 1);
    let points = |line: &Line<'_>| -> Vec<(f64, f64)> {
        line.points.iter().map(|(&steps, &bleu)| (steps as f64, bleu)).collect()
    };
    lines.iter().map(|line| (line.name(&lines), points(line))).collect()
}

/// What beams reach on the test sets that curves are about, as level lines beside them: the same model in both ends of the axis.
pub(super) fn levels(groups: &[Group<'_>], curves: &[Curve]) -> Vec<Curve> {
    let steps = || curves.iter().flat_map(|(_, points)| points).map(|(steps, _)| *steps);
    let (least, most) = (steps().fold(f64::INFINITY, f64::min), steps().fold(0.0, f64::max));
    let is_refined = |group: &Group<'_>| group.decoding().get("steps").is_some();
    let drawn: Vec<String> = groups
        .iter()
        .filter(|group| is_refined(group) && !group.is_choice())
        .map(Group::corpus)
        .collect();
    let beams: Vec<&Group<'_>> = groups
        .iter()
        .filter(|group| group.decoding().get("num_beams").is_some() && !group.is_choice())
        .filter(|group| least < most && drawn.contains(&group.corpus()))
        .collect();
    let level = |group: &&Group<'_>| {
        let width = &group.decoding()["num_beams"];
        let stem = format!("{}, beam {width}, {}", group.label, group.precision());
        let words: Vec<String> =
            std::iter::once(stem).chain(peculiarities(group, &beams)).collect();
        (words.join(", "), vec![(least, group.bleu()), (most, group.bleu())])
    };
    beams.iter().map(level).collect()
}

impl Line<'_> {
    /// Whether a setting is one more point.
    fn continues(&self, group: &Group<'_>, rest: &[String]) -> bool {
        self.group.label == group.label
            && self.group.corpus() == group.corpus()
            && self.group.precision() == group.precision()
            && self.rest == rest
    }

    /// The model and the number of lengths, test set and precision if they are not those of all, and of all else what a curve of the
    /// same stem has not.
    fn name(&self, all: &[Self]) -> String {
        let stem = self.stem();
        let alike: Vec<&Self> = all.iter().filter(|line| line.stem() == stem).collect();
        let mut words = vec![stem];
        // Of all curves: on one axis, test sets and precisions that are not named would be taken for the same.
        if all.iter().any(|line| line.group.corpus() != self.group.corpus()) {
            words.push(self.corpus(all));
        }
        if all.iter().any(|line| line.group.precision() != self.group.precision()) {
            words.push(self.group.precision().to_owned());
        }
        let is_peculiar = |entry: &&String| alike.iter().any(|line| !line.rest.contains(*entry));
        words.extend(self.rest.iter().filter(is_peculiar).cloned());
        words.join(", ")
    }

    fn stem(&self) -> String {
        let label = &self.group.label;
        let lengths = self.group.decoding().get("lengths");
        lengths.map_or_else(|| label.clone(), |lengths| format!("{label}, lengths {lengths}"))
    }

    /// The file of the sources, unless another test set's is called the same.
    fn corpus(&self, all: &[Self]) -> String {
        let corpus = self.group.corpus();
        let file = self.group.texts().first();
        let mut others = all.iter().filter(|line| line.group.corpus() != corpus);
        let is_shared = others.any(|line| line.group.texts().first() == file);
        match file {
            Some(file) if !is_shared => file.clone(),
            _ => format!("{corpus}…"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::groups::{Scored, groups};

    /// What was asked for: a test set's file and its hash's digit, a precision, a length penalty.
    type Asked = (&'static str, &'static str, &'static str, f64);

    fn evaluation(asked: Asked, scores: &[(u64, f64)]) -> Scored {
        let (file, digit, precision, penalty) = asked;
        let row = |&(steps, bleu): &(u64, f64)| {
            json!({
                "name": format!("steps{steps}.lengths5"),
                "decoding": { "steps": steps, "lengths": 5, "length_penalty": penalty },
                "figures": {
                    "bleu": bleu, "chrf": 1.0, "length": 100.0, "exact": 0.0, "stutter": 0.0,
                    "steps": 1.0, "foretold": null, "among": null, "seconds": 1.0,
                },
            })
        };
        let rows: Vec<Value> = scores.iter().map(row).collect();
        let evaluation = json!({
            "model": { "directory": "padir/best", "files": {} }, "precision": precision,
            "shortlist": false, "pairs": 2, "texts": [file], "corpus": digit.repeat(64),
            "signatures": {}, "rows": rows,
        });
        Scored { evaluation: serde_json::from_value(evaluation).unwrap(), is_choice: false }
    }

    #[test]
    fn curves_are_told_apart_by_what_differs() {
        const TEST: Asked = ("test.en", "a", "int8", 3.0);
        let cases: [(&str, &[Asked], &[&str]); 6] = [
            ("one", &[TEST], &["padir, lengths 5"]),
            (
                "two test sets",
                &[TEST, ("dev.en", "b", "int8", 3.0)],
                &["padir, lengths 5, test.en", "padir, lengths 5, dev.en"],
            ),
            (
                "two test sets of one name",
                &[TEST, ("test.en", "b", "int8", 3.0)],
                &["padir, lengths 5, aaaaaaaa…", "padir, lengths 5, bbbbbbbb…"],
            ),
            (
                "two precisions",
                &[TEST, ("test.en", "a", "f32", 3.0)],
                &["padir, lengths 5, int8", "padir, lengths 5, f32"],
            ),
            (
                "two penalties",
                &[TEST, ("test.en", "a", "int8", 1.5)],
                &["padir, lengths 5, length_penalty=3.0", "padir, lengths 5, length_penalty=1.5"],
            ),
            (
                "two of two",
                &[TEST, ("dev.en", "b", "f32", 3.0)],
                &["padir, lengths 5, test.en, int8", "padir, lengths 5, dev.en, f32"],
            ),
        ];
        for (case, asked, expected) in cases {
            let scores = [(4, 20.0), (1, 10.0)];
            let all: Vec<Scored> = asked.iter().map(|&a| evaluation(a, &scores)).collect();
            let curves = curves(&groups(&all));
            let names: Vec<&str> = curves.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, expected, "{case}");
            for (name, points) in &curves {
                assert_eq!(points, &[(1.0, 10.0), (4.0, 20.0)], "{case}: {name}");
            }
        }
    }

    #[test]
    fn one_axis_has_no_nameless_precision_and_no_dev_set() {
        let scores = [(1, 10.0), (4, 20.0)];
        let test = evaluation(("test.en", "a", "int8", 3.0), &scores);
        let mut other = evaluation(("test.en", "a", "f32", 3.0), &scores);
        other.evaluation.rows.iter_mut().for_each(|row| row.decoding["lengths"] = json!(1));
        let mut dev = evaluation(("dev.en", "b", "int8", 3.0), &scores);
        dev.is_choice = true;
        let names: Vec<String> =
            curves(&groups(&[test, other, dev])).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["padir, lengths 5, int8", "padir, lengths 1, f32"]);
    }

    #[test]
    fn stages_add_to_a_curve_and_one_point_is_none() {
        let asked = ("test.en", "a", "int8", 3.0);
        let all = [
            evaluation(asked, &[(1, 10.0), (4, 20.0)]),
            evaluation(asked, &[(4, 20.0), (10, 21.0)]),
            evaluation(("dev.en", "b", "int8", 3.0), &[(4, 30.0)]),
        ];
        let expected = vec![(1.0, 10.0), (4.0, 20.0), (10.0, 21.0)];
        assert_eq!(curves(&groups(&all)), [("padir, lengths 5".to_owned(), expected)]);
    }
}
