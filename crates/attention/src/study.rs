//! Collecting the pairs of a model's translations.
//!
//! A pass of the decoder reads the tokens of the step before and predicts those of its own step. A pair of neighbours is what was *predicted* at positions i
//! and i + 1, and its attention weights are those of the pass that predicted it. Ends, padding and masks are no part of a pair.
//!
//! Decoders that do not refine whole sentences are measured in one pass over their output: autoregressive models by forced decoding, in which query i predicts
//! token i and sees what stands before it; easy-first and Gibbs decoding as one more step would read it.
//!
//! Memory: 4·(16 + 3·heads)·layers bytes for a pair of a last step, 4·(16 + 3·heads) for one of any other; sentences beyond [`MEMORY`] are counted, not measured.

use std::collections::HashMap;

use padir_base::TokenId;
use padir_checkpoint::ModelConfig;
use padir_decode::{Decoding, Event, Input, padir};
use padir_engine::{AttentionRow, Session};
use padir_translate::{
    Decoded, Place, Text, TranslateError, Translation, Translator, Watcher, symbols_of,
};
use serde::Serialize;
use thiserror::Error;

use crate::measure::Pair;
use crate::table::{Label, Table};

/// Bytes of measured pairs that are kept.
pub const MEMORY: usize = 1 << 29;

/// A study that cannot be made.
#[derive(Debug, Error)]
pub enum StudyError {
    /// A model whose positions are slots of an alignment.
    #[error(
        "a CTC model predicts an alignment with blanks; its neighbouring slots are no neighbouring words"
    )]
    Alignment,
    /// The translator fails.
    #[error(transparent)]
    Translate(#[from] TranslateError),
}

/// How sentences are decoded before they are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Stutter is left alone: neither remasked between steps nor dropped at the end. Only refinement knows the difference.
    #[default]
    StutterLeftAlone,
    /// The paper's: stutter is remasked after each step, and what is left of it is dropped. Pairs are what was predicted before that.
    Paper,
    /// As the model decodes: methods that do nothing about stutter.
    AsDecoded,
}

impl Condition {
    /// What it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::StutterLeftAlone => "stutter is neither remasked nor dropped",
            Self::Paper => "stutter is remasked after each step and dropped at the end",
            Self::AsDecoded => "as the model decodes; its method does nothing about stutter",
        }
    }

    /// The settings under this condition, and the condition that holds then.
    pub fn apply(self, decoding: &Decoding) -> (Decoding, Self) {
        let Decoding::Refine(settings) = decoding else {
            return (decoding.clone(), Self::AsDecoded);
        };
        let mut settings = settings.clone();
        let remedied = self == Self::Paper;
        settings.remask_stutter = remedied;
        settings.drop_unchanged = remedied;
        settings.stutter_phrase = 1;
        let condition = if remedied { self } else { Self::StutterLeftAlone };
        (Decoding::Refine(settings), condition)
    }
}

/// Which pass of the decoder is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pass {
    /// The pass of the last refinement step, which predicted the output.
    LastStep,
    /// A pass that reads the output.
    Output,
    /// Forced decoding of the output. Self-attention is causal: only that of the later position to the earlier one exists.
    ForcedDecoding,
}

/// All pairs of some translations.
pub struct Study {
    pub(crate) condition: Condition,
    pub(crate) pass: Pass,
    /// How steps follow each other, if sentences are refined.
    settings: Option<padir::Settings>,
    /// Pairs of last steps, in all layers.
    pub(crate) last: Table,
    /// Pairs of all steps, in the last layer.
    pub(crate) steps: Table,
    pub(crate) heads: usize,
    pub(crate) layers: usize,
    pub(crate) sentences: u32,
    pub(crate) without_pairs: usize,
    pub(crate) beyond_memory: usize,
    memory: usize,
}

/// One step of the hypothesis that won.
struct Step {
    number: u32,
    read: Vec<TokenId>,
    hidden: Vec<bool>,
    /// What was predicted; none where it is not known or no text.
    predicted: Vec<Option<TokenId>>,
}

/// Keeps the steps of each part of a text.
#[derive(Default)]
struct Events(HashMap<(u64, usize), Vec<Event>>);

impl Watcher for Events {
    fn watch(&mut self, place: Place, event: Event) {
        self.0.entry((place.text, place.part)).or_default().push(event);
    }
}

impl Study {
    /// A study of what a translator makes of texts. The translator decodes under the condition from now on.
    ///
    /// # Errors
    /// If the model predicts alignments, or cannot be decoded like that.
    pub fn new(translator: &mut Translator, condition: Condition) -> Result<Self, StudyError> {
        let (decoding, condition) = condition.apply(translator.decoding());
        let settings = match &decoding {
            Decoding::Refine(settings) => Some((**settings).clone()),
            Decoding::MaskPredict(how) => Some(how.settings()),
            Decoding::Sundae(how) => Some(how.settings()),
            Decoding::Ctc(_) => return Err(StudyError::Alignment),
            Decoding::EasyFirst(_)
            | Decoding::Gibbs(_)
            | Decoding::Beam(_)
            | Decoding::Sample(_) => None,
        };
        let pass = match (&settings, &decoding) {
            (Some(_), _) => Pass::LastStep,
            (None, Decoding::Beam(_) | Decoding::Sample(_)) => Pass::ForcedDecoding,
            _ => Pass::Output,
        };
        translator.set_decoding(decoding)?;
        let (layers, heads) =
            (translator.model().decoder_layers(), translator.model().decoder_heads());
        Ok(Self {
            condition,
            pass,
            settings,
            last: Table::new(layers, heads),
            steps: Table::new(1, heads),
            heads,
            layers,
            sentences: 0,
            without_pairs: 0,
            beyond_memory: 0,
            memory: MEMORY,
        })
    }

    /// Keeps at most so many bytes of pairs.
    #[must_use]
    pub fn within(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// The condition.
    pub fn condition(&self) -> Condition {
        self.condition
    }

    /// The pass that is measured.
    pub fn pass(&self) -> Pass {
        self.pass
    }

    /// Pairs of last steps so far.
    pub fn pairs(&self) -> usize {
        self.last.len()
    }

    /// Translates texts and measures their pairs. A sentence that occurs twice among them counts once.
    ///
    /// # Errors
    /// If the translator fails.
    pub fn translate(
        &mut self,
        translator: &mut Translator,
        texts: &[Text<'_>],
    ) -> Result<Vec<Translation>, StudyError> {
        let mut events = Events::default();
        let translations =
            translator.translate_with(texts, 1, &mut events, &mut |session, events, decoded| {
                decoded.iter().try_for_each(|one| self.add(session, one, events))
            })?;
        Ok(translations)
    }

    /// Measures one sentence.
    fn add(
        &mut self,
        session: &mut Session,
        decoded: &Decoded<'_>,
        events: &Events,
    ) -> Result<(), TranslateError> {
        let Some(best) = decoded.hypotheses.first() else { return Ok(()) };
        let config = session.engine().config().clone();
        let steps = match &self.settings {
            Some(settings) => {
                let place = decoded.places.first().map(|place| (place.text, place.part));
                let all = place.and_then(|place| events.0.get(&place));
                let mut own: Vec<&Event> =
                    all.into_iter().flatten().filter(|e| e.hypothesis == best.number).collect();
                own.sort_by_key(|event| event.step);
                refined(settings, &config, decoded.number, &own)
            }
            None => vec![output(&config, &best.tokens)],
        };
        let pairs = |step: &Step| step.predicted.len().saturating_sub(1);
        let Some((last, before)) = steps.split_last() else { return Ok(()) };
        self.sentences += 1;
        let needed = self.last.bytes(self.last.len() + pairs(last))
            + self.steps.bytes(self.steps.len() + steps.iter().map(pairs).sum::<usize>());
        if needed > self.memory {
            self.beyond_memory += 1;
            return Ok(());
        }
        let layers: Vec<usize> = (0..self.layers).collect();
        let top = [self.layers.saturating_sub(1)];
        let causal = self.pass == Pass::ForcedDecoding;
        let mut earlier: Option<&Step> = None;
        for step in before.iter().chain([last]) {
            let is_last = std::ptr::eq(step, last);
            let labels = labels(self.sentences - 1, step, earlier);
            if is_last && labels.is_empty() {
                self.without_pairs += 1;
            }
            let firsts = (self.last.len(), self.steps.len());
            for &(_, label) in &labels {
                self.steps.push(label);
                if is_last {
                    self.last.push(label);
                }
            }
            let row =
                AttentionRow { context: decoded.context, tokens: &step.read, hidden: &step.hidden };
            let wanted = if is_last { layers.as_slice() } else { &top };
            if !labels.is_empty() {
                session.attention(&[row], wanted, &mut |shown| {
                    for (number, (position, _)) in labels.iter().enumerate() {
                        let pair = Pair::of(&shown, *position, causal);
                        if is_last {
                            self.last.set(firsts.0 + number, shown.layer, &pair);
                        }
                        if [shown.layer] == top {
                            self.steps.set(firsts.1 + number, 0, &pair);
                        }
                    }
                })?;
            }
            earlier = Some(step);
        }
        Ok(())
    }
}

/// The pairs of a step: their first positions and labels.
fn labels(sentence: u32, step: &Step, earlier: Option<&Step>) -> Vec<(usize, Label)> {
    let token = |step: &Step, i: usize| step.predicted.get(i).copied().flatten();
    let pair = |i: usize| {
        let (a, b) = (token(step, i)?, token(step, i + 1)?);
        let changed = |earlier: &Step, i: usize| Some(token(earlier, i)? != token(step, i)?);
        let flip = earlier.and_then(|e| Some(changed(e, i)? && changed(e, i + 1)?));
        Some((i, Label { sentence, step: step.number, stutter: a == b, flip }))
    };
    (0..step.predicted.len().saturating_sub(1)).filter_map(pair).collect()
}

/// The steps of a refined hypothesis.
fn refined(
    settings: &padir::Settings,
    config: &ModelConfig,
    number: u64,
    events: &[&Event],
) -> Vec<Step> {
    let symbols = symbols_of(config);
    let Some(candidate) = events.first().and_then(|event| event.length) else { return Vec::new() };
    let mut read = padir::initial_tokens(settings, &symbols, number, candidate);
    let mut hidden = Vec::new();
    let mut steps = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let is_last = at + 1 == events.len();
        let predicted = predicted(settings, event, is_last);
        let text = |token: Option<TokenId>| token.filter(|&token| is_text(config, token));
        steps.push(Step {
            number: event.step as u32,
            read: std::mem::replace(&mut read, event.tokens.clone()),
            hidden: std::mem::take(&mut hidden),
            predicted: predicted.into_iter().map(text).collect(),
        });
        if settings.input == Input::Hidden && !event.rejected.is_empty() {
            hidden = vec![false; event.tokens.len()];
            event.rejected.iter().for_each(|&i| hidden[i] = true);
        }
    }
    steps
}

/// What a step predicted, before anything of it was rejected; none where that cannot be told from what came of it.
fn predicted(settings: &padir::Settings, event: &Event, is_last: bool) -> Vec<Option<TokenId>> {
    let mut tokens: Vec<Option<TokenId>> = event.tokens.iter().copied().map(Some).collect();
    if settings.input == Input::Hidden {
        return tokens;
    }
    // Where only stutter is rejected, a rejected token was its left neighbour's.
    let only_stutter = settings.remask_stutter
        && settings.stutter_phrase == 1
        && (is_last || settings.remask == padir::RemaskRule::Nothing);
    for &i in &event.rejected {
        tokens[i] = i.checked_sub(1).filter(|_| only_stutter).and_then(|left| tokens[left]);
    }
    tokens
}

/// An output as a step that reads it.
fn output(config: &ModelConfig, tokens: &[TokenId]) -> Step {
    let text = |&token: &TokenId| Some(token).filter(|&token| is_text(config, token));
    Step {
        number: 1,
        read: [tokens, &[config.symbols.eos]].concat(),
        hidden: Vec::new(),
        predicted: tokens.iter().map(text).collect(),
    }
}

fn is_text(config: &ModelConfig, token: TokenId) -> bool {
    let symbols = &config.symbols;
    let special = [Some(symbols.eos), Some(symbols.pad), symbols.mask].contains(&Some(token));
    !special && !symbols.numbered_masks().contains(&token.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use padir_checkpoint::{DecoderKind, Preset};
    use padir_decode::{LengthCandidate, Status};

    fn event(step: usize, tokens: &[u32], rejected: &[usize]) -> Event {
        Event {
            job: 0,
            hypothesis: 0,
            step,
            max_steps: 4,
            tokens: tokens.iter().copied().map(TokenId).collect(),
            log_probs: vec![0.0; tokens.len()],
            changed: Vec::new(),
            rejected: rejected.to_vec(),
            score: 0.0,
            status: Status::Live,
            length: Some(LengthCandidate { length: tokens.len(), log_prob: 0.0, decode: 0 }),
        }
    }

    fn config() -> ModelConfig {
        ModelConfig::preset(Preset::Tiny, 100, DecoderKind::Parallel)
    }

    #[test]
    fn rejected_stutter_is_read_back() {
        let settings = padir::Settings { initial: padir::Initial::Mask, ..Default::default() };
        let mask = config().symbols.mask.unwrap();
        let events =
            [event(1, &[7, mask.0, mask.0, 9, 1], &[1, 2]), event(2, &[7, 8, 8, 9, 1], &[])];
        let steps = refined(&settings, &config(), 3, &events.iter().collect::<Vec<_>>());
        let ids = |step: &Step| -> Vec<u32> {
            step.predicted.iter().map(|token| token.map_or(0, |token| token.0)).collect()
        };
        assert_eq!(steps[0].read, [mask, mask, mask, mask, TokenId::EOS]);
        assert_eq!(ids(&steps[0]), [7, 7, 7, 9, 0], "the end is no text");
        assert_eq!(steps[1].read, events[0].tokens);
        let first = labels(0, &steps[0], None);
        let stutter =
            |all: &[(usize, Label)]| all.iter().map(|(_, l)| l.stutter).collect::<Vec<_>>();
        assert_eq!(stutter(&first), [true, true, false]);
        let second = labels(0, &steps[1], Some(&steps[0]));
        assert_eq!(stutter(&second), [false, true, false]);
        let flips: Vec<Option<bool>> = second.iter().map(|(_, label)| label.flip).collect();
        assert_eq!(flips, [Some(false), Some(true), Some(false)], "both must change");
    }

    #[test]
    fn what_other_rules_rejected_is_not_guessed() {
        let settings = padir::Settings { remask: padir::RemaskRule::Linear, ..Default::default() };
        let tokens = predicted(&settings, &event(1, &[7, 5, 9, 1], &[1]), false);
        assert_eq!(tokens[1], None);
        assert_eq!(predicted(&settings, &event(4, &[7, 5, 9, 1], &[1]), true)[1], Some(TokenId(7)));
        let hidden = padir::Settings { input: Input::Hidden, ..settings };
        let kept = predicted(&hidden, &event(1, &[7, 5, 9, 1], &[1]), false);
        assert_eq!(kept[1], Some(TokenId(5)), "hidden input keeps what was predicted");
    }

    #[test]
    fn short_outputs_have_no_pairs() {
        for tokens in [&[][..], &[TokenId(7)]] {
            assert!(labels(0, &output(&config(), tokens), None).is_empty());
        }
        assert_eq!(labels(0, &output(&config(), &[TokenId(7), TokenId(7)]), None).len(), 1);
    }
}
