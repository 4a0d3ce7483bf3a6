//! `padir data inspect`: what is in a corpus.

use std::io::Write;

use anyhow::Result;
use padir_pipeline::corpora::note_skipped;
use padir_text::inspect::{
    CharacterReport, CorpusReport, Inspection, LengthReport, Overlap, Share, SideReport, inspect,
    overlaps,
};
use serde_json::json;

use super::table::{Table, grouped, percent};
use crate::console::Console;
use crate::corpus::{CorpusArgs, explain, open};

/// Statistics of a corpus: lengths, duplicates, characters; overlap of several.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir data inspect train.en.gz train.de.gz
  padir data inspect train.en train.de dev.en dev.de test.en test.de
  padir data inspect --parquet wmt.parquet --langs de,en --json
  xzcat pairs.tsv.xz | padir data inspect -

Words are separated by white space; characters are Unicode code points. Of several corpora it
is also shown which sentences of the one occur in the other. Memory: 24 bytes for each pair.")]
pub(crate) struct Inspect {
    #[command(flatten)]
    corpus: CorpusArgs,
}

impl Inspect {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let mut inspections: Vec<Inspection> = Vec::new();
        for corpus in self.corpus.all()? {
            let pairs = open(&corpus, self.corpus.reading())?;
            let bar = console.progress("pairs", 0);
            let inspection =
                inspect(corpus.to_string(), pairs, |n| bar.set_position(n)).map_err(explain)?;
            bar.finish_and_clear();
            note_skipped(console, &corpus, inspection.skipped);
            inspections.push(inspection);
        }
        let overlaps = overlaps(&inspections);
        let reports: Vec<CorpusReport> = inspections.into_iter().map(|i| i.report).collect();
        if console.wants_json() {
            return console.print_json(&json!({ "corpora": reports, "overlaps": overlaps }));
        }
        let mut out = console.out();
        for (place, report) in (1..).zip(&reports) {
            let label = if reports.len() > 1 { format!("[{place}] ") } else { String::new() };
            writeln!(out, "{label}{}", report.corpus)?;
            write_report(&mut out, report)?;
        }
        write_overlaps(&mut out, &reports, &overlaps)?;
        Ok(out.flush()?)
    }
}

fn write_report(out: &mut impl Write, report: &CorpusReport) -> Result<()> {
    let CorpusReport { source, target, .. } = report;
    counts(report).write(out)?;
    writeln!(out)?;
    let sides = [("source", source), ("target", target)];
    lengths(sides).write(out)?;
    writeln!(out)?;
    histogram("words", &source.words_per_line, &target.words_per_line).write(out)?;
    writeln!(out)?;
    histogram("characters", &source.characters_per_line, &target.characters_per_line).write(out)?;
    writeln!(out)?;
    for (name, side) in sides {
        write_alphabet(out, name, &side.alphabet)?;
    }
    for (name, side) in sides {
        writeln!(out, "longest of the {name}")?;
        for line in &side.longest {
            let start = line.start.escape_debug().to_string();
            writeln!(out, "  pair {}, {} characters: {start}", line.pair, line.characters)?;
        }
    }
    writeln!(out)?;
    Ok(())
}

fn counts(report: &CorpusReport) -> Table {
    let CorpusReport { source, target, duplicates, ratio, pairs, .. } = report;
    let of_pairs = |count: u64| format!("{} ({})", grouped(count), percent(count, *pairs));
    let mut table = Table::default();
    table.row(["", "both", "source", "target"]);
    table.row(["pairs", &grouped(*pairs), "", ""]);
    table.row(["words", "", &grouped(source.words), &grouped(target.words)]);
    table.row(["characters", "", &grouped(source.characters), &grouped(target.characters)]);
    table.row(["bytes", "", &grouped(source.bytes), &grouped(target.bytes)]);
    table.row(["empty", "", &of_pairs(source.empty), &of_pairs(target.empty)]);
    table.row([
        "repeated",
        &of_pairs(duplicates.pairs),
        &of_pairs(duplicates.sources),
        &of_pairs(duplicates.targets),
    ]);
    table.row(["identical sides", &of_pairs(report.identical_sides), "", ""]);
    table.row([
        "target/source",
        &format!("{:.2} ({:.2} to {:.2})", ratio.median, ratio.p01, ratio.p99),
        "",
        "",
    ]);
    table
}

fn lengths(sides: [(&str, &SideReport); 2]) -> Table {
    let mut table = Table::default();
    table.row(["length", "min", "mean", "median", "95 %", "99 %", "max"]);
    for (name, side) in sides {
        for (unit, r) in
            [("words", &side.words_per_line), ("characters", &side.characters_per_line)]
        {
            let [min, median, p95, p99, max] = [r.min, r.median, r.p95, r.p99, r.max].map(grouped);
            let (label, mean) = (format!("{name} {unit}"), format!("{:.1}", r.mean));
            table.row([&label, &min, &mean, &median, &p95, &p99, &max]);
        }
    }
    table
}

fn histogram(unit: &str, source: &LengthReport, target: &LengthReport) -> Table {
    let mut table = Table::default();
    table.row([unit, "source", "target"]);
    let bins = source.histogram.len().max(target.histogram.len());
    for index in 0..bins {
        let (one, other) = (source.histogram.get(index), target.histogram.get(index));
        let Some(bin) = one.or(other) else { break };
        let label = if bin.from == bin.to {
            bin.from.to_string()
        } else {
            format!("{}-{}", bin.from, bin.to)
        };
        let [one, other] = [one, other].map(|bin| grouped(bin.map_or(0, |bin| bin.count)));
        table.row([&label, &one, &other]);
    }
    table
}

fn write_alphabet(out: &mut impl Write, name: &str, alphabet: &CharacterReport) -> Result<()> {
    let total: u64 = alphabet.classes.iter().map(|share| share.count).sum();
    let list = |shares: &[Share], most: usize| {
        let shown = shares.iter().take(most);
        let mut texts: Vec<String> =
            shown.map(|s| format!("{} {}", s.name, percent(s.count, total))).collect();
        if shares.len() > most {
            texts.push(format!("and {} more", shares.len() - most));
        }
        texts.join(", ")
    };
    writeln!(out, "{name}: {} different characters", grouped(alphabet.distinct))?;
    writeln!(out, "  {}", list(&alphabet.classes, 7))?;
    writeln!(out, "  scripts: {}", list(&alphabet.scripts, 6))?;
    if !alphabet.suspicious.is_empty() {
        let shown = alphabet.suspicious.iter().take(8);
        let texts: Vec<String> = shown.map(|s| format!("{} ({})", s.name, s.count)).collect();
        writeln!(out, "  suspicious: {}", texts.join(", "))?;
    }
    Ok(())
}

fn write_overlaps(
    out: &mut impl Write,
    reports: &[CorpusReport],
    overlaps: &[Overlap],
) -> Result<()> {
    if overlaps.is_empty() {
        return Ok(());
    }
    let mut table = Table::default();
    table.row(["lines of one in another", "pairs", "sources", "targets"]);
    for overlap in overlaps {
        let lines = reports.get(overlap.of).map_or(0, |report| report.pairs);
        let cell = |count: u64| format!("{} ({})", grouped(count), percent(count, lines));
        let label = format!("[{}] in [{}]", overlap.of + 1, overlap.within + 1);
        let [pairs, sources, targets] = [overlap.pairs, overlap.sources, overlap.targets].map(cell);
        table.row([&label, &pairs, &sources, &targets]);
    }
    Ok(table.write(out)?)
}
