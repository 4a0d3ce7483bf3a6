//! The page, as Markdown.

use std::fmt::Write;
use std::path::Path;

use serde_json::json;

use super::chapter::Chapter;
use super::figures::Gallery;
use super::groups::{Group, complete, flat, groups, peculiarities, without_seed};
use super::latency::Latencies;
use super::paper::Paper;
use super::samples::Samples;
use super::training::Training;
use crate::Error;
use crate::distil::{OnEmpty, Profile, Report as Distillation};
use crate::numbers::{duration, grouped, short};

/// A page that grows.
pub(super) struct Page(String);

impl Page {
    /// A page that says by which command it is made.
    pub(super) fn new(command: &str) -> Self {
        Self(format!(
            "# Results\n\nMade by `{command}` from the files of runs; change those, not this.\n"
        ))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn chapter(&mut self, chapter: &Chapter, gallery: &Gallery) -> Result<(), Error> {
        self.line(&format!("\n## {}", chapter.name));
        self.trainings(&chapter.trainings);
        self.picture("Dev scores while learning", gallery.learning(chapter)?);
        chapter.distillations.iter().for_each(|d| self.distillation(d));
        self.scores(chapter);
        self.picture("BLEU by steps", gallery.steps(chapter)?);
        chapter.latencies.iter().for_each(|latencies| self.latencies(latencies));
        chapter.samples.iter().for_each(|samples| self.samples(samples));
        self.configurations(&chapter.trainings);
        Ok(())
    }

    /// The paper's numbers, for comparison.
    pub(super) fn paper(&mut self) -> Result<(), toml::de::Error> {
        let paper = Paper::read()?;
        self.line("\n## The paper's\n");
        self.line(&format!("{}.\n", paper.source));
        let tasks = paper.tasks.iter().map(String::as_str);
        let head: Vec<&str> = std::iter::once("BLEU").chain(tasks).collect();
        let rows = paper.systems.iter().map(|system| {
            let scores = system.bleu.iter().map(|score| format!("{score:.2}"));
            std::iter::once(system.name.clone()).chain(scores).collect()
        });
        self.table(&head, rows);
        self.line("\nIt also finds that");
        for claim in &paper.claims {
            self.line(&format!("- {claim}"));
        }
        Ok(())
    }

    fn trainings(&mut self, trainings: &[Training]) {
        if trainings.is_empty() {
            return;
        }
        self.line("\n### Trainings\n");
        let head = [
            "model",
            "kind",
            "parameters",
            "seed",
            "steps",
            "target tokens",
            "time",
            "best dev",
            "state",
        ];
        let rows = trainings.iter().map(|training| {
            let summary = &training.summary;
            let best = training.best();
            vec![
                training.name.clone(),
                summary.kind.to_string(),
                summary.parameters.map_or_else(dash, short),
                training.seed.map_or_else(dash, |seed| seed.0.to_string()),
                grouped(summary.steps),
                short(summary.tokens),
                duration(summary.seconds),
                best.map_or_else(dash, |(name, value)| format!("{name} {value:.2}")),
                summary.state.to_string(),
            ]
        });
        self.table(&head, rows);
    }

    fn distillation(&mut self, report: &Distillation) {
        let findings = &report.findings;
        let (before, after) = (&findings.reference, &findings.distilled);
        self.line("\n### Distillation\n");
        let pair = |name: &str, of: &dyn Fn(&Profile) -> f64| {
            vec![name.to_owned(), format!("{:.3}", of(before)), format!("{:.3}", of(after))]
        };
        let rows = [
            pair("target tokens per source token", &|p| p.length_ratio),
            pair("stutter per 1000 words", &|p| p.stutter),
            pair("H(token), bits", &|p| p.entropy.unigram),
            pair("H(token given the one before), bits", &|p| p.entropy.bigram),
            pair("H(token given a source token), bits", &|p| p.entropy.lexical),
        ];
        self.table(&["", "people", "teacher"], rows.into_iter());
        self.line(&format!(
            "\n{} pairs, {} of them changed; the teacher's own translations score {:.2} BLEU and {:.2} chrF2 on them. {} target \
             tokens a second.{}",
            grouped(report.pairs),
            grouped(findings.changed),
            findings.bleu.score,
            findings.chrf.score,
            grouped(report.tokens_per_second.round() as u64),
            gaps(
                report.on_empty,
                [
                    findings.empty_sources,
                    findings.empty_translations,
                    findings.cut_translations.unwrap_or(0),
                    report.skipped,
                ],
            ),
        ));
    }

    fn scores(&mut self, chapter: &Chapter) {
        if chapter.evaluations.is_empty() {
            return;
        }
        self.line("\n### Scores");
        let all = groups(&chapter.evaluations);
        let mut corpora: Vec<String> = Vec::new();
        for group in &all {
            if !corpora.contains(&group.corpus()) {
                corpora.push(group.corpus());
            }
        }
        for corpus in corpora {
            let alike: Vec<&Group<'_>> = all.iter().filter(|g| g.corpus() == corpus).collect();
            self.scores_on(&corpus, &alike);
        }
        self.line(
            "\nSteps are those until nothing changed, or tokens from left to right, on average; seconds are those of the whole set, in batches.\n",
        );
        let mut signatures: Vec<&String> =
            chapter.evaluations.iter().flat_map(|e| e.evaluation.signatures.values()).collect();
        signatures.sort();
        signatures.dedup();
        for signature in signatures {
            self.line(&format!("- `{signature}`"));
        }
    }

    /// What models make of one test set; folded if it is what settings were chosen by.
    fn scores_on(&mut self, corpus: &str, alike: &[&Group<'_>]) {
        let is_choice = alike.iter().all(|group| group.is_choice());
        let (texts, pairs) = alike.first().map_or((&[][..], 0), |g| (g.texts(), g.pairs()));
        let names: Vec<String> = texts.iter().map(|name| format!("{name}, ")).collect();
        let pairs = grouped(pairs as u64);
        let title = format!("{}{pairs} pairs", names.concat());
        if is_choice {
            self.line(&format!(
                "\n<details><summary>{title} (<code>{corpus}…</code>): what settings were chosen by</summary>\n"
            ));
        } else {
            self.line(&format!("\n#### {title} (`{corpus}…`)\n"));
        }
        let head = [
            "model",
            "setting",
            "numbers",
            "BLEU",
            "chrF2",
            "length %",
            "exact %",
            "stutter ‰",
            "steps",
            "length accuracy %",
            "length accuracy@k %",
            "s",
        ];
        let rows = alike.iter().map(|group| {
            vec![
                group.label.clone(),
                std::iter::once(setting(group.setting))
                    .chain(peculiarities(group, alike))
                    .collect::<Vec<_>>()
                    .join(", "),
                group.precision().to_owned(),
                group.cell(2, |f| Some(f.bleu)),
                group.cell(2, |f| Some(f.chrf)),
                group.cell(1, |f| Some(f.length)),
                group.cell(1, |f| Some(f.exact)),
                group.cell(2, |f| Some(f.stutter)),
                group.cell(2, |f| Some(f.steps)),
                group.cell(1, |f| f.length_accuracy),
                group.cell(1, |f| f.length_accuracy_at_k),
                group.cell(1, |f| Some(f.seconds)),
            ]
        });
        self.table(&head, rows);
        let common = common(alike);
        if !common.is_empty() {
            self.line(&format!("\nSettings that are not the defaults: {}.", common.join("; ")));
        }
        if is_choice {
            self.line("\n</details>");
        }
    }

    fn latencies(&mut self, latencies: &Latencies) {
        self.line("\n### Latency\n");
        let base = latencies.yardstick();
        let head = [
            "one at a time, ms",
            "threads",
            "p50",
            "p90",
            "p99",
            "steps",
            "beam search ÷ it, p50",
            "p99",
        ];
        let rows = latencies.systems.iter().map(|latency| {
            let ratio =
                |base: Option<f64>, own: f64| base.map_or_else(dash, |b| format!("{:.2}", b / own));
            vec![
                latency.system.clone(),
                latency.threads.to_string(),
                format!("{:.2}", latency.p50),
                format!("{:.2}", latency.p90),
                format!("{:.2}", latency.p99),
                latency.steps.map_or_else(dash, |steps| format!("{steps:.1}")),
                ratio(base.map(|base| base.p50), latency.p50),
                ratio(base.map(|base| base.p99), latency.p99),
            ]
        });
        self.table(&head, rows);
        let on = latencies.machine.as_ref().map_or_else(String::new, |m| format!("; {m}"));
        self.line(&format!("\n{}{on}.", latencies.work));
    }

    /// Texts, and how their translations came about.
    fn samples(&mut self, samples: &Samples) {
        self.line("\n### Samples\n");
        self.line(&format!(
            "What {} makes of some texts, step by step; a dot is a prediction that was rejected.\n\n```text",
            samples.model
        ));
        for (at, sample) in samples.texts.iter().enumerate() {
            if at > 0 {
                self.line("");
            }
            self.line(&sample.source);
            for (step, text) in sample.refinement.iter().enumerate() {
                self.line(&format!("{:>3}  {text}", step + 1));
            }
            self.line(&format!("  →  {}", sample.text));
        }
        self.line("```");
    }

    fn configurations(&mut self, trainings: &[Training]) {
        if trainings.is_empty() {
            return;
        }
        self.line("\n### Configurations");
        for (at, training) in trainings.iter().enumerate() {
            let twin = trainings[..at].iter().find(|earlier| is_twin(earlier, training));
            if let Some(twin) = twin {
                let (name, seed) = (&training.name, training.seed.map_or(0, |seed| seed.0));
                self.line(&format!("\n{name}: as {}, but for `seed = {seed}`", twin.name));
                continue;
            }
            self.line(&format!("\n<details><summary>{}</summary>\n\n```toml", training.name));
            self.line(without_places(&training.config).trim_end());
            self.line("```\n\n| data | bytes | SHA-256 |\n|---|---|---|");
            for file in &training.data {
                let name = base_name(&file.path);
                self.line(&format!("| {name} | {} | `{}` |", grouped(file.bytes), file.sha256));
            }
            self.line("\n</details>");
        }
    }

    fn picture(&mut self, caption: &str, link: Option<String>) {
        if let Some(link) = link {
            self.line(&format!("\n![{caption}]({link})"));
        }
    }

    fn table(&mut self, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        self.line(&format!("| {} |", head.join(" | ")));
        self.line(&format!("|{}", "---|".repeat(head.len())));
        rows.for_each(|row| self.line(&format!("| {} |", row.join(" | "))));
    }

    fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

/// What rows of a model have in common, their names do not say, and is no default.
fn common(alike: &[&Group<'_>]) -> Vec<String> {
    let is_said = |entry: &String| {
        ["method=", "steps=", "lengths=", "num_beams="].iter().any(|key| entry.starts_with(key))
    };
    let mut labels: Vec<&str> = alike.iter().map(|group| group.label.as_str()).collect();
    labels.dedup();
    let mut found: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    for label in labels {
        let mut decodings =
            alike.iter().filter(|group| group.label == label).map(|group| flat(group.decoding()));
        let mut common = decodings.next().unwrap_or_default();
        let method = common.iter().find_map(|entry| entry.strip_prefix("method="));
        let usual = flat(&complete(&json!({ "method": method })));
        common.retain(|entry| !is_said(entry) && !usual.contains(entry));
        decodings.for_each(|other| common.retain(|entry| other.contains(entry)));
        match found.iter_mut().find(|(settings, _)| *settings == common) {
            _ if common.is_empty() => {}
            Some((_, labels)) if labels.contains(&label) => {}
            Some((_, labels)) => labels.push(label),
            None => found.push((common, vec![label])),
        }
    }
    let words = |(settings, labels): &(Vec<String>, Vec<&str>)| {
        let settings: Vec<String> = settings.iter().map(|entry| format!("`{entry}`")).collect();
        format!("{} ({})", settings.join(", "), labels.join(", "))
    };
    found.iter().map(words).collect()
}

fn dash() -> String {
    "–".to_owned()
}

/// How many pairs the teacher did not translate or not to an end, and how many could not be read; nothing if there are none.
fn gaps(on_empty: OnEmpty, [empty, failed, cut, unreadable]: [u64; 4]) -> String {
    let fate = match on_empty {
        OnEmpty::KeepReference => "keep their targets",
        OnEmpty::Empty => "have empty targets",
        OnEmpty::Drop => "are left out",
    };
    let mut gaps = Vec::new();
    if empty > 0 || failed > 0 {
        let (empty, failed) = (grouped(empty), grouped(failed));
        gaps.push(format!(
            " Empty sources: {empty}; others without a translation: {failed}; such pairs {fate}."
        ));
    }
    if cut > 0 {
        gaps.push(format!(" Translations that were cut at the longest allowed: {}.", grouped(cut)));
    }
    if unreadable > 0 {
        gaps.push(format!(" Unreadable pairs, left out: {}.", grouped(unreadable)));
    }
    gaps.concat()
}

/// The last part of a path.
fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether trainings differ in nothing but their seed, and the directory that is called after it.
fn is_twin(a: &Training, b: &Training) -> bool {
    let essence = |training: &Training| {
        let own = |line: &&str| !line.starts_with("seed = ") && !line.starts_with("dir = ");
        training.config.lines().filter(own).map(str::to_owned).collect::<Vec<_>>()
    };
    let data =
        |training: &Training| -> Vec<_> { training.data.iter().map(|file| file.sha256).collect() };
    a.seed != b.seed
        && without_seed(&a.name) == without_seed(&b.name)
        && essence(a) == essence(b)
        && data(a) == data(b)
}

/// A configuration in which absolute paths are names: where files lay on some machine is nobody's business.
pub(super) fn without_places(config: &str) -> String {
    let quoted = config.split('"').enumerate().map(|(at, part)| match at % 2 {
        1 if Path::new(part).is_absolute() => base_name(part),
        _ => part,
    });
    quoted.collect::<Vec<_>>().join("\"")
}

/// `steps4.lengths5.penalty3+enough=-0.1` in words.
fn setting(name: &str) -> String {
    if let Some((counts, also)) = name.split_once('+') {
        return format!("{}, {also}", setting(counts));
    }
    let words =
        [("steps", "steps "), (".lengths", ", lengths "), ("beam", "beam "), (".penalty", ", α ")];
    words.iter().fold(name.to_owned(), |name, (from, to)| name.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_translated_is_told() {
        let cases = [
            (OnEmpty::Drop, [0; 4], ""),
            (
                OnEmpty::KeepReference,
                [1, 2000, 0, 0],
                " Empty sources: 1; others without a translation: 2,000; such pairs keep their targets.",
            ),
            (
                OnEmpty::Drop,
                [0, 1, 4, 3],
                " Empty sources: 0; others without a translation: 1; such pairs are left out. \
                 Translations that were cut at the longest allowed: 4. Unreadable pairs, left out: 3.",
            ),
        ];
        for (on_empty, counts, expected) in cases {
            assert_eq!(gaps(on_empty, counts), expected);
        }
    }

    #[test]
    fn places_are_not_told() {
        let config = "source = [\"/home/me/data/a.en\", \"b/c.en\"]\nkind = \"padir\"\n";
        let expected = "source = [\"a.en\", \"b/c.en\"]\nkind = \"padir\"\n";
        assert_eq!(without_places(config), expected);
    }
}
