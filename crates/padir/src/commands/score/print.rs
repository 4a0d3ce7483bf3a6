//! Prints scores as sacrebleu prints them: lines, tables, JSON.

use std::io::Write;

use anyhow::Result;
use padir_score::report::{Table, align, json_text, systems_json, verdict_json};
use padir_score::{
    Bootstrap, Comparison, Metric, PairedTest, ReferenceCount, Score, Signature, SignatureForm,
    Statistics,
};
use serde_json::{Map, Value};

use crate::console::Console;

#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Layout {
    /// Decimals.
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=17))]
    width: u8,

    /// Print the numbers only.
    #[arg(long, short = 'b')]
    score_only: bool,

    /// Print signatures with short keys.
    #[arg(long)]
    short: bool,
}

/// A metric and the statistics of all systems.
pub(super) struct Measured<'m> {
    pub(super) metric: &'m dyn Metric,
    pub(super) statistics: Vec<Statistics>,
}

/// Where and how to print.
pub(super) struct Page<'a> {
    pub(super) console: &'a Console,
    pub(super) layout: &'a Layout,
    pub(super) names: &'a [String],
    pub(super) count: ReferenceCount,
}

impl Page<'_> {
    /// All metrics of the only system.
    pub(super) fn one_system(
        &self,
        measured: &[Measured<'_>],
        bootstrap: Option<Bootstrap>,
    ) -> Result<()> {
        let scores: Vec<(Score, Signature)> =
            measured.iter().map(|m| self.score(m, 0, bootstrap)).collect();
        if self.console.wants_json() {
            let objects: Vec<String> = scores
                .iter()
                .map(|(score, signature)| json_text(&score.json(self.width(), signature).into(), 1))
                .collect();
            // One object alone, several in a list.
            let is_one = objects.len() == 1;
            let objects = objects.join(",\n");
            return self.write(&[if is_one { objects } else { format!("[\n{objects}\n]") }]);
        }
        let lines: Vec<String> =
            scores.iter().map(|(s, signature)| self.line(s, signature)).collect();
        self.write(&if self.layout.score_only { lines } else { align(&lines) })
    }

    /// A table of several systems.
    pub(super) fn systems(
        &self,
        measured: &[Measured<'_>],
        bootstrap: Option<Bootstrap>,
    ) -> Result<()> {
        let mut table = Table::new(self.names.to_vec());
        let mut columns = Vec::new();
        let mut signatures = Vec::new();
        for one in measured {
            let scores: Vec<(Score, Signature)> =
                (0..self.names.len()).map(|system| self.score(one, system, bootstrap)).collect();
            let cells: Vec<String> = scores.iter().map(|(s, _)| s.number(self.width())).collect();
            table.push(one.metric.name(), &cells);
            columns.push((one.metric.name(), cells.into_iter().map(Value::from).collect()));
            signatures.extend(scores.into_iter().next().map(|(score, sig)| (score.name, sig)));
        }
        self.table(&table, &columns, &signatures)
    }

    /// A table of several systems, each compared with the first.
    pub(super) fn comparison(
        &self,
        comparison: &Comparison,
        measured: &[Measured<'_>],
    ) -> Result<()> {
        let mut table = Table::new(self.names.to_vec());
        let mut columns = Vec::new();
        let mut signatures = Vec::new();
        for one in measured {
            let name = one.metric.name();
            let verdicts = comparison.run(one.metric, &one.statistics);
            table.push_verdicts(&name, &verdicts, self.width());
            columns.push((name.clone(), verdicts.iter().map(verdict_json).collect()));
            let mut signature = one.metric.signature(self.count);
            signature.set_seed(comparison.seed);
            match comparison.test {
                PairedTest::Bootstrap => signature.set_bootstrap(comparison.samples),
                PairedTest::Randomization => signature.set_randomization(comparison.samples),
            }
            if let Some(samples) = comparison.interval_samples {
                signature.set_bootstrap(samples);
            }
            signatures.push((name, signature));
        }
        self.table(&table, &columns, &signatures)?;
        if !self.console.wants_json() {
            self.explain(comparison);
        }
        Ok(())
    }

    /// Every segment: sacrebleu's line for one metric of one system, else tab-separated columns.
    pub(super) fn sentences(&self, measured: &[Measured<'_>]) -> Result<()> {
        let mut out = self.console.out();
        let segments = measured.first().map_or(0, |m| m.statistics[0].len());
        let is_plain = measured.len() == 1 && self.names.len() == 1;
        let signatures: Vec<Signature> =
            measured.iter().map(|m| m.metric.signature(self.count)).collect();
        if self.console.wants_json() {
            writeln!(out, "[")?;
        } else if !is_plain {
            let titles: Vec<String> = measured.iter().map(|m| m.metric.name()).collect();
            writeln!(out, "segment\tsystem\t{}", titles.join("\t"))?;
        }
        for segment in 0..segments {
            for (system, name) in self.names.iter().enumerate() {
                let scores: Vec<Score> = measured
                    .iter()
                    .map(|m| m.metric.score(m.statistics[system].row(segment)))
                    .collect();
                if self.console.wants_json() {
                    let is_last = segment + 1 == segments && system + 1 == self.names.len();
                    let object = self.sentence_json(segment + 1, name, &scores);
                    writeln!(out, "{object}{}", if is_last { "" } else { "," })?;
                } else if is_plain {
                    writeln!(out, "{}", self.line(&scores[0], &signatures[0]))?;
                } else {
                    let cells: Vec<String> =
                        scores.iter().map(|s| s.number(self.width())).collect();
                    writeln!(out, "{}\t{name}\t{}", segment + 1, cells.join("\t"))?;
                }
            }
        }
        if self.console.wants_json() {
            writeln!(out, "]")?;
        }
        Ok(out.flush()?)
    }

    fn sentence_json(&self, segment: usize, system: &str, scores: &[Score]) -> Value {
        let mut object = Map::new();
        object.insert("segment".into(), segment.into());
        object.insert("system".into(), system.into());
        for score in scores {
            object.insert(score.name.clone(), score.rounded(self.width()).into());
        }
        Value::Object(object)
    }

    fn score(
        &self,
        measured: &Measured<'_>,
        system: usize,
        bootstrap: Option<Bootstrap>,
    ) -> (Score, Signature) {
        let statistics = &measured.statistics[system];
        let mut score = measured.metric.score(&statistics.totals());
        let mut signature = measured.metric.signature(self.count);
        if let Some(bootstrap) = bootstrap {
            score.confidence = Some(bootstrap.confidence(measured.metric, statistics));
            signature.set_bootstrap(bootstrap.samples);
            signature.set_seed(bootstrap.seed);
        }
        (score, signature)
    }

    fn line(&self, score: &Score, signature: &Signature) -> String {
        if self.layout.score_only {
            return score.number(self.width());
        }
        score.line(self.width(), &signature.format(self.form()))
    }

    fn table(
        &self,
        table: &Table,
        columns: &[(String, Vec<Value>)],
        signatures: &[(String, Signature)],
    ) -> Result<()> {
        if self.console.wants_json() {
            return self.write(&[json_text(&systems_json(self.names, columns), 4)]);
        }
        let title = "Metric signatures";
        let rule = "-".repeat(title.len());
        let mut lines = vec![table.draw(), String::new(), rule.clone(), title.to_owned(), rule];
        for (name, signature) in signatures {
            lines.push(format!(" - {name:<10} {}", signature.format(self.form())));
        }
        self.write(&lines)
    }

    fn explain(&self, comparison: &Comparison) {
        let Comparison { samples, .. } = comparison;
        let test = match comparison.test {
            PairedTest::Bootstrap => format!("Paired bootstrap with {samples} samples"),
            PairedTest::Randomization => format!("Approximate randomisation with {samples} trials"),
        };
        self.console.note(format_args!(
            "\n{test}. p is the probability of a difference from the baseline as large as this \
             one,\nif both systems were equally good; a star marks p ≤ 0.05. It says that the \
             systems differ,\nnot which one is better."
        ));
    }

    fn write(&self, lines: &[String]) -> Result<()> {
        let mut out = self.console.out();
        for line in lines {
            writeln!(out, "{line}")?;
        }
        Ok(out.flush()?)
    }

    fn width(&self) -> usize {
        usize::from(self.layout.width)
    }

    fn form(&self) -> SignatureForm {
        if self.layout.short { SignatureForm::Short } else { SignatureForm::Long }
    }
}
