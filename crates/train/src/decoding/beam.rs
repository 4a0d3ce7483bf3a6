//! Beam search from left to right; a width of 1 is greedy.
//!
//! A hypothesis of n tokens, its end included, has score log p / ((5 + n)/6)^α.

use std::sync::Arc;

use padir_base::TokenId;
use padir_model::{Encoded, Network, Pass, Sentences, ops};

use super::{Decoding, Translation, normalised};

/// The exponent of the length penalty if nothing else is asked for.
pub(crate) const ALPHA: f64 = 0.6;

/// A beginning of a translation.
#[derive(Clone, Debug)]
struct Prefix {
    tokens: Vec<u32>,
    log_p: f32,
}

/// What is known of one sentence.
#[derive(Clone, Debug)]
struct Search {
    live: Vec<Prefix>,
    best: Option<(f32, Vec<u32>)>,
    ended: usize,
    /// The most tokens, the end included.
    limit: usize,
    /// The exponent of the length penalty.
    alpha: f64,
}

/// Nothing if the work was stopped.
pub(super) fn search(
    network: &Network,
    how: Decoding<'_>,
    sources: &Sentences,
) -> Option<Vec<Translation>> {
    let pass = Pass::evaluation(how.fused);
    let encoded = network.encode(&pass, sources);
    let width = how.settings.beam.max(1) as usize;
    let empty = Prefix { tokens: Vec::new(), log_p: 0.0 };
    let most = how.settings.max_length as usize;
    let alpha = how.settings.length_penalty.unwrap_or(ALPHA);
    let start = |length: usize| {
        // Models that know little yet do not know where to end.
        let limit = most.min(2 * length + 10);
        Search { live: vec![empty.clone()], best: None, ended: 0, limit, alpha }
    };
    let mut searches: Vec<Search> = sources.rows.lengths().map(start).collect();
    for length in 1..=most {
        if how.is_stopped() {
            return None;
        }
        let live: Vec<(usize, &Prefix)> = searches
            .iter()
            .enumerate()
            .flat_map(|(s, search)| search.live.iter().map(move |p| (s, p)))
            .collect();
        if live.is_empty() {
            break;
        }
        let next = continuations(network, &pass, &encoded, &live, 2 * width);
        let mut next = next.into_iter();
        for search in &mut searches {
            let choices: Vec<_> = next.by_ref().take(search.live.len()).collect();
            search.advance(&choices, width, length);
        }
    }
    let outputs = searches.into_iter().map(|search| {
        let raw = search.best.map_or_else(Vec::new, |(_, tokens)| tokens);
        Translation { tokens: raw.clone(), raw }
    });
    Some(outputs.collect())
}

/// The likeliest next tokens of every prefix.
fn continuations(
    network: &Network,
    pass: &Pass,
    encoded: &Encoded,
    live: &[(usize, &Prefix)],
    most: usize,
) -> Vec<Vec<(u32, f32)>> {
    let start = network.config().symbols.start.0;
    let inputs: Vec<Vec<u32>> = live
        .iter()
        .map(|(_, p)| std::iter::once(start).chain(p.tokens.iter().copied()).collect())
        .collect();
    let inputs = Sentences::new(inputs.iter().map(Vec::as_slice));
    let sentences: Vec<usize> = live.iter().map(|&(s, _)| s).collect();
    let states = network.decode(pass, &inputs, &encoded.choose(pass, &sentences));
    let ends = inputs.rows.ranges().map(|range| range.end as u32 - 1).collect();
    network.top(&ops::pick(pass, &states, &Arc::new(ends)), most)
}

impl Search {
    fn advance(&mut self, choices: &[Vec<(u32, f32)>], width: usize, length: usize) {
        let last = length >= self.limit;
        let mut candidates: Vec<(f32, usize, u32)> = Vec::new();
        for (from, (prefix, choices)) in self.live.iter().zip(choices).enumerate() {
            candidates
                .extend(choices.iter().map(|&(token, log_p)| (prefix.log_p + log_p, from, token)));
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut live = Vec::new();
        for (rank, (log_p, from, token)) in candidates.into_iter().enumerate() {
            let ends = token == TokenId::EOS.0;
            if ends && rank < width || last {
                self.end(&self.live[from].tokens.clone(), log_p, length);
            }
            if !ends && !last && live.len() < width {
                let mut tokens = self.live[from].tokens.clone();
                tokens.push(token);
                live.push(Prefix { tokens, log_p });
            }
        }
        self.live = live;
        // Log-probabilities only fall, and the penalty favours length: nothing better can come than the best
        // prefix as it is, at the greatest length. Greedy search ends with its first end.
        let length = if width == 1 { length } else { self.limit };
        let hope = self
            .live
            .first()
            .map_or(f32::NEG_INFINITY, |prefix| normalised(prefix.log_p, length, self.alpha));
        if self.ended >= width && self.best.as_ref().is_some_and(|(score, _)| *score >= hope) {
            self.live.clear();
        }
    }

    fn end(&mut self, tokens: &[u32], log_p: f32, length: usize) {
        self.ended += 1;
        let score = normalised(log_p, length, self.alpha);
        if self.best.as_ref().is_none_or(|(best, _)| score > *best) {
            self.best = Some((score, tokens.to_vec()));
        }
    }
}
