//! `padir vocab inspect`: what a vocabulary holds, and how well it fits a text.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use padir_base::TokenId;
use padir_base::hash::Sha256;
use padir_text::lines::LINE_LIMIT;
use padir_text::vocab::Vocabulary;
use serde::Serialize;

use super::VocabArg;
use crate::console::Console;
use crate::lines::TextFiles;

/// Show the content of a vocabulary, and how it segments a text.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir vocab inspect --vocab vocab
  padir vocab inspect --vocab vocab --text dev.de --json")]
pub(crate) struct Inspect {
    #[command(flatten)]
    vocab: VocabArg,

    /// A text to measure the vocabulary on; may be given several times.
    #[arg(long, value_name = "FILE")]
    text: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Summary {
    size: usize,
    pieces: usize,
    sentinels: u32,
    mask: Option<TokenId>,
    length: Option<TokenId>,
    house_ids: bool,
    byte_fallback: bool,
    kinds: BTreeMap<String, usize>,
    longest_piece: String,
    hash: Sha256,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Fit>,
}

/// How a vocabulary fits a text.
#[derive(Default, Serialize)]
struct Fit {
    lines: u64,
    characters: u64,
    words: u64,
    tokens: u64,
    unknown: u64,
    pieces_used: usize,
    tokens_per_line: f64,
    tokens_per_word: f64,
    characters_per_token: f64,
    unknown_share: f64,
}

impl Inspect {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let vocabulary = self.vocab.load()?;
        let mut summary = summarise(&vocabulary);
        if !self.text.is_empty() {
            let files = TextFiles { files: self.text, max_line: LINE_LIMIT };
            summary.text = Some(measure(&vocabulary, &files)?);
        }
        if console.wants_json() { console.print_json(&summary) } else { print(console, &summary) }
    }
}

fn summarise(vocabulary: &Vocabulary) -> Summary {
    let ids = || (0..vocabulary.pieces() as u32).map(TokenId);
    let mut kinds = BTreeMap::new();
    for kind in ids().filter_map(|id| vocabulary.kind(id)) {
        *kinds.entry(format!("{kind:?}").to_lowercase()).or_default() += 1;
    }
    let longest = ids().filter_map(|id| vocabulary.piece(id)).max_by_key(|p| p.chars().count());
    Summary {
        size: vocabulary.size(),
        pieces: vocabulary.pieces(),
        sentinels: vocabulary.sentinels(),
        mask: vocabulary.mask(),
        length: vocabulary.length(),
        house_ids: vocabulary.has_house_ids(),
        byte_fallback: vocabulary.has_byte_fallback(),
        kinds,
        longest_piece: longest.unwrap_or_default().into_owned(),
        hash: vocabulary.hash(),
        text: None,
    }
}

fn measure(vocabulary: &Vocabulary, files: &TextFiles) -> Result<Fit> {
    let mut fit = Fit::default();
    let mut used = vec![false; vocabulary.size()];
    let mut encoder = vocabulary.encoder();
    let mut ids = Vec::new();
    files.for_each(|line| {
        encoder.encode_into(line, &mut ids);
        fit.lines += 1;
        fit.characters += line.chars().count() as u64;
        fit.words += line.split_whitespace().count() as u64;
        fit.tokens += ids.len() as u64;
        fit.unknown += ids.iter().filter(|&&id| id == vocabulary.unknown()).count() as u64;
        for id in &ids {
            used[id.index()] = true;
        }
        Ok(())
    })?;
    let ratio = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
    fit.pieces_used = used.iter().filter(|&&used| used).count();
    fit.tokens_per_line = ratio(fit.tokens, fit.lines);
    fit.tokens_per_word = ratio(fit.tokens, fit.words);
    fit.characters_per_token = ratio(fit.characters, fit.tokens);
    fit.unknown_share = ratio(fit.unknown, fit.tokens);
    Ok(fit)
}

fn print(console: &Console, summary: &Summary) -> Result<()> {
    let mut out = console.out();
    let id = |id: Option<TokenId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
    let kinds: Vec<String> = summary.kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let yes_no = |yes| if yes { "yes" } else { "no" };
    let mut rows = vec![
        ("ids", summary.size.to_string()),
        ("pieces", format!("{} ({})", summary.pieces, kinds.join(", "))),
        ("sentinels", summary.sentinels.to_string()),
        ("mask, length", format!("{}, {}", id(summary.mask), id(summary.length))),
        ("pad/eos/unk/bos = 0/1/2/3", yes_no(summary.house_ids).to_owned()),
        ("byte fallback", yes_no(summary.byte_fallback).to_owned()),
        ("longest piece", summary.longest_piece.clone()),
        ("hash", summary.hash.to_string()),
    ];
    if let Some(fit) = &summary.text {
        rows.extend([
            ("lines of text", fit.lines.to_string()),
            ("tokens", fit.tokens.to_string()),
            ("tokens per line", format!("{:.2}", fit.tokens_per_line)),
            ("tokens per word", format!("{:.3}", fit.tokens_per_word)),
            ("characters per token", format!("{:.3}", fit.characters_per_token)),
            ("unknown tokens", format!("{} ({:.4}%)", fit.unknown, 100.0 * fit.unknown_share)),
            ("pieces used", fit.pieces_used.to_string()),
        ]);
    }
    for (name, value) in rows {
        writeln!(out, "{name:<26} {value}")?;
    }
    Ok(out.flush()?)
}
