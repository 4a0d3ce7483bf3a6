//! Where hypotheses start: lengths, and what the first step reads.
//!
//! A start depends on the seed, the number of its sentence and which of the starts of its length it is; not on what
//! is decoded beside it, and not on how many lengths are tried: a longer start begins like a shorter one.

use std::ops::Range;

use padir_base::TokenId;
use padir_base::random::Purpose;

use super::settings::{Initial, Settings};
use super::template::Template;
use crate::hypothesis::LengthCandidate;
use crate::settings::SettingsError;

/// A sentence to refine.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// Its number, which names it in the trace and chooses its randomness.
    pub number: u64,
    /// What the denoiser knows its source by.
    pub context: usize,
    /// Lengths, their end included, with ln p; most probable first.
    pub lengths: Vec<(usize, f64)>,
}

/// What the ids of a model mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbols {
    /// Random starts are uniform among these ids.
    pub random: Range<u32>,
    /// The mask symbol.
    pub mask: Option<TokenId>,
    /// Masks by position: that of the first position is the last of these ids.
    pub numbered: Range<u32>,
    /// What is never predicted: the next candidate is taken instead.
    pub never: Vec<TokenId>,
}

impl Symbols {
    /// The symbols of a model that never predicts padding.
    pub fn new(random: Range<u32>, mask: Option<TokenId>) -> Self {
        Self { random, mask, numbered: 0..0, never: vec![TokenId::PAD] }
    }

    /// The tokens of a row that are text, with their ln p: neither its end nor padding nor masks.
    pub(crate) fn text_of(&self, row: &[TokenId], log_probs: &[f64]) -> (Vec<TokenId>, Vec<f64>) {
        let body = row.len().saturating_sub(1);
        let is_text =
            |token: TokenId| token != TokenId::EOS && token != TokenId::PAD && !self.is_mask(token);
        let both = row[..body].iter().copied().zip(log_probs.iter().copied());
        both.filter(|&(token, _)| is_text(token)).unzip()
    }

    /// The mask of a position, counted from 0: the first ones again when there are no more.
    ///
    /// # Panics
    /// If there are none at all.
    fn numbered_mask(&self, position: usize) -> TokenId {
        let count = self.numbered.len();
        TokenId(self.numbered.end - 1 - (position % count) as u32)
    }

    /// Whether an id stands for what is not known.
    pub(crate) fn is_mask(&self, token: TokenId) -> bool {
        self.mask == Some(token) || self.numbered.contains(&token.0)
    }
}

/// The least length, its end included. An empty translation would be certain: a sum over
/// nothing is 0.
const SHORTEST: usize = 2;

/// One hypothesis before its first step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Start {
    /// The index of its sentence.
    pub(crate) sentence: usize,
    /// Its number among those of its sentence.
    pub(crate) number: usize,
    pub(crate) candidate: LengthCandidate,
    pub(crate) tokens: Vec<TokenId>,
    /// The number of its stream.
    pub(crate) stream: u64,
    /// Which of its tokens no step changes, if it starts from a template.
    pub(crate) forced: Option<Vec<bool>>,
}

/// The starts of all sentences, sentence after sentence.
pub(crate) fn plan(
    settings: &[&Settings],
    symbols: &Symbols,
    sentences: &[Sentence],
) -> Result<Vec<Start>, SettingsError> {
    assert_eq!(settings.len(), sentences.len(), "every sentence has settings");
    let mut starts = Vec::new();
    for (index, (sentence, settings)) in sentences.iter().zip(settings).enumerate() {
        can_start(settings.initial, symbols)?;
        let candidates = widen(settings, &sentence.lengths);
        let decodes = settings.parallel_decodes;
        let candidates = candidates.into_iter().flat_map(|(length, log_prob)| {
            (0..decodes).map(move |decode| LengthCandidate { length, log_prob, decode })
        });
        starts.extend(candidates.enumerate().map(|(number, candidate)| Start {
            sentence: index,
            number,
            candidate,
            tokens: initial(settings, symbols, sentence.number, candidate),
            stream: stream(sentence.number, candidate),
            forced: None,
        }));
    }
    Ok(starts)
}

/// The starts of all sentences. One with a template has a single start: the template.
pub(super) fn plan_from(
    settings: &[&Settings],
    symbols: &Symbols,
    sentences: &[Sentence],
    templates: &[Option<&Template>],
) -> Result<Vec<Start>, SettingsError> {
    assert_eq!(templates.len(), sentences.len(), "every sentence has a template or none");
    let mut starts = plan(settings, symbols, sentences)?;
    if templates.iter().all(Option::is_none) {
        return Ok(starts);
    }
    starts.retain(|start| templates[start.sentence].is_none());
    for (index, (sentence, template)) in sentences.iter().zip(templates).enumerate() {
        if let Some(template) = template {
            template.check(settings[index])?;
            starts.push(start_from(index, sentence, template));
        }
    }
    starts.sort_by_key(|start| start.sentence);
    Ok(starts)
}

fn start_from(index: usize, sentence: &Sentence, template: &Template) -> Start {
    let length = template.length();
    let known = sentence.lengths.iter().find(|&&(known, _)| known == length);
    // It competes with nothing, so that any finite number will do where the model has none.
    let log_prob = known.map_or(0.0, |&(_, log_prob)| log_prob);
    let candidate = LengthCandidate { length, log_prob, decode: 0 };
    let (tokens, forced) = template.start();
    Start {
        sentence: index,
        number: 0,
        candidate,
        tokens,
        stream: stream(sentence.number, candidate),
        forced: Some(forced),
    }
}

/// Whether the ids that a start needs exist.
fn can_start(initial: Initial, symbols: &Symbols) -> Result<(), SettingsError> {
    let missing = match initial {
        Initial::Mask => symbols.mask.is_none().then_some(SettingsError::NoMask),
        Initial::NumberedMask => {
            symbols.numbered.is_empty().then_some(SettingsError::NoNumberedMask)
        }
        Initial::Random => symbols.random.is_empty().then(|| {
            let Range { start, end } = symbols.random;
            SettingsError::NoRandom { start: TokenId(start), end: TokenId(end) }
        }),
    };
    missing.map_or(Ok(()), Err)
}

/// The most probable lengths, or those that are when long ones count for more, with their neighbours, each once: a length before its neighbours, near ones first.
fn widen(settings: &Settings, lengths: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let reach = settings.beam_length / 2;
    let mut widened: Vec<(usize, f64)> = Vec::new();
    let mut share = 0.0;
    let tilted =
        |&(length, log_prob): &(usize, f64)| log_prob + settings.length_tilt * length as f64;
    let mut ranked = lengths[..lengths.len().min(settings.lengths_to_know())].to_vec();
    if settings.length_tilt != 0.0 {
        ranked.sort_by(|a, b| tilted(b).total_cmp(&tilted(a)));
    }
    for &(length, log_prob) in ranked.iter().take(settings.lengths) {
        if settings.length_share < 1.0 && share >= settings.length_share {
            break;
        }
        share += log_prob.exp();
        let around = |by: usize| [length.saturating_sub(by), length.saturating_add(by)];
        for shifted in (0..=reach).flat_map(around) {
            let clipped = shifted.clamp(SHORTEST, settings.max_length);
            if widened.iter().all(|&(known, _)| known != clipped) {
                widened.push((clipped, log_prob));
            }
        }
    }
    widened
}

/// What the first step of a hypothesis reads. The symbols must have what the settings start from, as those that were decoded with have.
pub fn initial_tokens(
    settings: &Settings,
    symbols: &Symbols,
    sentence: u64,
    candidate: LengthCandidate,
) -> Vec<TokenId> {
    if candidate.length == 0 || can_start(settings.initial, symbols).is_err() {
        return Vec::new();
    }
    initial(settings, symbols, sentence, candidate)
}

fn initial(
    settings: &Settings,
    symbols: &Symbols,
    sentence: u64,
    candidate: LengthCandidate,
) -> Vec<TokenId> {
    let number = sentence ^ (candidate.decode as u64) << 48;
    let mut chance = settings.seed.stream(Purpose::Start, number);
    let Range { start, end } = symbols.random;
    let mut random = || TokenId(start + chance.below(u64::from(end - start)) as u32);
    let token = |position| match (settings.initial, symbols.mask) {
        (Initial::NumberedMask, _) => symbols.numbered_mask(position),
        (Initial::Mask, Some(mask)) => mask,
        _ => random(),
    };
    let mut tokens: Vec<TokenId> = (0..candidate.length - 1).map(token).collect();
    tokens.push(TokenId::EOS);
    tokens
}

/// Sixteen bits for the length, ten for the start, the rest for the sentence.
fn stream(sentence: u64, candidate: LengthCandidate) -> u64 {
    sentence << 26 | (candidate.length as u64 - 1) << 10 | candidate.decode as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings { lengths: 2, max_length: 9, ..Settings::default() }
    }

    fn lengths(settings: &Settings, lengths: &[usize]) -> Vec<usize> {
        let lengths: Vec<(usize, f64)> = lengths.iter().map(|&n| (n, -1.0)).collect();
        widen(settings, &lengths).into_iter().map(|(n, _)| n).collect()
    }

    #[test]
    fn lengths_are_taken_widened_and_clipped() {
        let wide = |beam_length| Settings { beam_length, ..settings() };
        let some = |length_share| Settings { lengths: 4, length_share, ..settings() };
        // Each has e⁻¹ ≈ 0.37.
        let cases: [(&str, Settings, &[usize], &[usize]); 10] = [
            ("one suffices", some(0.3), &[5, 7, 6], &[5]),
            ("two are needed", some(0.5), &[5, 7, 6], &[5, 7]),
            ("all, whatever they add up to", some(1.0), &[5, 7, 6, 8], &[5, 7, 6, 8]),
            ("the best two", wide(1), &[5, 7, 6], &[5, 7]),
            ("fewer than wanted", wide(1), &[5], &[5]),
            ("none", wide(1), &[], &[]),
            ("neighbours, each once", wide(3), &[5, 6], &[5, 4, 6, 7]),
            ("too long", wide(3), &[9, 40], &[9, 8]),
            ("too short", wide(1), &[0, 1], &[2]),
            ("as long as can be", wide(5), &[usize::MAX], &[9]),
        ];
        for (name, settings, given, expected) in cases {
            assert_eq!(lengths(&settings, given), expected, "{name}");
        }
    }

    #[test]
    fn tilting_prefers_longer_ones_where_little_is_known() {
        // Of normal distributions with variances 1 and 4, cut to five lengths.
        let normal = |variance: f64| -> Vec<(usize, f64)> {
            [5, 6, 7, 4, 3].map(|n: usize| (n, -(n as f64 - 5.0).powi(2) / (2.0 * variance))).into()
        };
        let best = |tilt: f64, lengths: &[(usize, f64)]| {
            widen(&Settings { length_tilt: tilt, lengths: 1, ..settings() }, lengths)[0]
        };
        for (tilt, variance, expected) in
            [(0.0, 1.0, 5), (0.4, 1.0, 5), (0.4, 4.0, 7), (9.0, 1.0, 7), (1.0, 1.0, 6)]
        {
            assert_eq!(best(tilt, &normal(variance)).0, expected, "{tilt}, {variance}");
        }
        // How probable it was is not changed.
        assert_eq!(best(1.0, &normal(1.0)), (6, -0.5));
    }

    #[test]
    fn starts_depend_on_sentence_and_decode_only() {
        let symbols = Symbols::new(3..1000, None);
        let settings = Settings { parallel_decodes: 2, ..settings() };
        let sentence = |number, lengths: &[usize]| Sentence {
            number,
            context: 0,
            lengths: lengths.iter().map(|&n| (n, 0.0)).collect(),
        };
        let sentences = [sentence(4, &[6, 8]), sentence(5, &[6])];
        let starts = plan(&[&settings; 2], &symbols, &sentences).unwrap();
        let alone = plan(&[&settings], &symbols, &[sentence(4, &[8])]).unwrap();
        assert_eq!(starts.len(), 6);
        assert_eq!(starts[2].tokens, alone[0].tokens);
        assert_eq!(starts[2].stream, alone[0].stream);
        assert_eq!(starts[0].tokens[..5], alone[0].tokens[..5]);
        assert_ne!(starts[0].tokens, starts[1].tokens, "decodes differ");
        assert_ne!(starts[0].tokens, starts[4].tokens, "sentences differ");
        for start in &starts {
            let (end, rest) = start.tokens.split_last().unwrap();
            assert_eq!(*end, TokenId::EOS);
            assert!(rest.iter().all(|t| (3..1000).contains(&t.0)));
        }
        let mut streams: Vec<u64> = starts.iter().map(|s| s.stream).collect();
        streams.dedup();
        assert_eq!(streams.len(), 6, "every hypothesis has its own stream");
    }

    #[test]
    fn masks_and_ids_must_exist() {
        let mask = Settings { initial: Initial::Mask, ..settings() };
        let none = Symbols::new(3..3, None);
        assert_eq!(can_start(mask.initial, &none), Err(SettingsError::NoMask));
        let error = can_start(settings().initial, &none).unwrap_err();
        assert_eq!(error.to_string(), "there are no ids in 3..3 to start from");
        let numbered = Settings { initial: Initial::NumberedMask, ..settings() };
        assert_eq!(can_start(numbered.initial, &none), Err(SettingsError::NoNumberedMask));
    }

    #[test]
    fn every_position_has_its_mask_as_long_as_there_are_any() {
        let settings = Settings { initial: Initial::NumberedMask, ..settings() };
        let symbols = Symbols { numbered: 20..23, ..Symbols::new(3..9, Some(TokenId(30))) };
        let sentence = Sentence { number: 0, context: 0, lengths: vec![(6, 0.0)] };
        let starts = plan(&[&settings], &symbols, &[sentence]).unwrap();
        assert_eq!(starts[0].tokens, [22, 21, 20, 22, 21, TokenId::EOS.0].map(TokenId));
        let masks = [20, 22, 23, 30].map(|id| symbols.is_mask(TokenId(id)));
        assert_eq!(masks, [true, true, false, true]);
    }
}
