//! Refinement of all positions at once.
//!
//! Each of the likeliest lengths starts from initial tokens and its end; a step replaces every position by its likeliest token;
//! a sentence that no longer changes is done. The length with the largest Σ log p / ((5 + n)/6)^α wins; α is 0 if it is not set.
//! Ends and padding are then dropped and, if it is asked for, immediate repetitions, which then do not count among the n either.

use padir_base::TokenId;
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::{InitialTokens, ModelConfig};
use padir_model::{Network, Pass, Sentences};

use super::{Decoding, Translation, normalised};

/// A translation of one length.
#[derive(Clone, Debug)]
struct Draft {
    sentence: usize,
    tokens: Vec<u32>,
    /// Of the tokens that count, and their number.
    log_p: f32,
    counted: usize,
    done: bool,
}

/// `numbers` are the sentences' places in the whole set: initial tokens depend on nothing else. Nothing if the work was stopped.
pub(super) fn refine(
    network: &Network,
    how: Decoding<'_>,
    sources: &Sentences,
    numbers: &[usize],
    known: &[usize],
) -> Option<Vec<Translation>> {
    let pass = Pass::evaluation(how.fused);
    let encoded = network.encode(&pass, sources);
    let foretold = network.foretell(&encoded, how.settings.lengths.max(1) as usize);
    let limit = network
        .config()
        .parallel()
        .map_or(1, |p| p.max_positions)
        .min(how.settings.max_length as usize);
    let drop_repeats = how.settings.drop_repeats;
    let mut drafts = Vec::new();
    for (sentence, lengths) in foretold.iter().enumerate() {
        let oracle = [(known[sentence].max(1), 0.0)];
        let lengths = if lengths.is_empty() { &oracle[..] } else { lengths };
        for &(length, _) in lengths {
            let tokens = initial(network.config(), numbers[sentence], length.min(limit));
            let log_p = f32::NEG_INFINITY;
            drafts.push(Draft { sentence, tokens, log_p, counted: 0, done: false });
        }
    }
    for _ in 0..how.settings.steps {
        if how.is_stopped() {
            return None;
        }
        let live: Vec<usize> = (0..drafts.len()).filter(|&i| !drafts[i].done).collect();
        if live.is_empty() {
            break;
        }
        let inputs = Sentences::new(live.iter().map(|&i| drafts[i].tokens.as_slice()));
        let sentences: Vec<usize> = live.iter().map(|&i| drafts[i].sentence).collect();
        let states = network.decode(&pass, &inputs, &encoded.choose(&pass, &sentences));
        let best = network.top(&states, 1);
        for (&i, range) in live.iter().zip(inputs.rows.ranges()) {
            let draft = &mut drafts[i];
            let chosen = &best[range];
            let tokens: Vec<u32> = chosen.iter().map(|best| best[0].0).collect();
            let repeats = |at: usize| at > 0 && tokens[at] == tokens[at - 1];
            let counts = |at: &usize| !(drop_repeats && repeats(*at));
            let counted: Vec<usize> = (0..tokens.len()).filter(counts).collect();
            draft.log_p = counted.iter().map(|&at| chosen[at][0].1).sum();
            draft.counted = counted.len();
            draft.done = tokens == draft.tokens;
            draft.tokens = tokens;
        }
    }
    let alpha = how.settings.length_penalty.unwrap_or(0.0);
    let score = |draft: &Draft| normalised(draft.log_p, draft.counted, alpha);
    let mut best: Vec<Option<&Draft>> = vec![None; sources.rows.len()];
    for draft in &drafts {
        let place = &mut best[draft.sentence];
        if place.is_none_or(|old| score(draft) > score(old)) {
            *place = Some(draft);
        }
    }
    let outputs = best.into_iter().map(|draft| {
        draft.map_or_else(Translation::default, |draft| clean(&draft.tokens, drop_repeats))
    });
    Some(outputs.collect())
}

/// What the first step reads.
fn initial(config: &ModelConfig, number: usize, length: usize) -> Vec<u32> {
    let mut chance = Seed(0).stream(Purpose::Start, number as u64);
    let range = &config.symbols.random;
    let masks = config.parallel().is_some_and(|p| p.initial != InitialTokens::Random);
    let mut tokens: Vec<u32> = (1..length)
        .map(|end| {
            let random = range.start + chance.below(u64::from(range.end - range.start)) as u32;
            config.mask_at(end - 1).filter(|_| masks).map_or(random, |mask| mask.0)
        })
        .collect();
    tokens.push(TokenId::EOS.0);
    tokens
}

/// Drops ends and padding, and immediate repetitions if they are not wanted.
fn clean(tokens: &[u32], drop_repeats: bool) -> Translation {
    let raw: Vec<u32> =
        tokens.iter().copied().filter(|&t| t != TokenId::EOS.0 && t != TokenId::PAD.0).collect();
    let mut tokens = raw.clone();
    if drop_repeats {
        tokens.dedup();
    }
    Translation { raw, tokens }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_dropped_only_on_request() {
        let (pad, end) = (TokenId::PAD.0, TokenId::EOS.0);
        let draft = [7, 7, end, 7, 9, pad, 9, 8, end];
        let raw = vec![7, 7, 7, 9, 9, 8];
        let expected = Translation { raw: raw.clone(), tokens: raw.clone() };
        assert_eq!(clean(&draft, false), expected);
        assert_eq!(clean(&draft, true), Translation { raw, tokens: vec![7, 9, 8] });
    }
}
