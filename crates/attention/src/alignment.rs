//! Word alignments by cross-attention.
//!
//! The weights of chosen heads are averaged over a pass that reads the translation (autoregressive: forced decoding, query i predicts token i). Each piece of the
//! translation is linked to the source piece that it attends to most; none if that is the source's end. Words are what stands between spaces after
//! normalisation, and are linked if any of their pieces are. O(layers) passes' worth of weights for a sentence, one decoder pass.

use std::collections::{BTreeSet, HashMap};

use padir_base::TokenId;
use padir_checkpoint::ModelConfig;
use padir_engine::{AttentionRow, Session};
use padir_text::vocab::Vocabulary;
use padir_translate::{Decoded, TranslateError};
use serde::Serialize;
use thiserror::Error;

/// A piece's mark of a space before it.
const SPACE: char = '▁';

/// What is linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Words: what stands between spaces.
    #[default]
    Words,
    /// Pieces of the vocabulary.
    Pieces,
}

/// Heads that cannot be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HeadsError {
    /// Neither LAYER nor LAYER:HEAD.
    #[error(
        "`{0}` names no heads; they are LAYER or LAYER:HEAD, counted from 0, with commas between them"
    )]
    Form(String),
    /// A layer that is not there.
    #[error("there is no decoder layer {layer}; there are {layers}, counted from 0")]
    Layer {
        /// Its number.
        layer: usize,
        /// How many there are.
        layers: usize,
    },
    /// A head that is not there.
    #[error("there is no head {head}; layers have {heads}, counted from 0")]
    Head {
        /// Its number.
        head: usize,
        /// How many there are.
        heads: usize,
    },
    /// A model whose positions are slots.
    #[error(
        "a CTC model predicts an alignment of its own; its output is not read by a decoder pass"
    )]
    Alignment,
}

/// Cross-attention heads, as (layer, head), sorted, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heads(Vec<(usize, usize)>);

impl Heads {
    /// All heads of the last layer.
    ///
    /// # Errors
    /// If the model is a CTC model.
    pub fn default_of(session: &Session) -> Result<Self, HeadsError> {
        Self::parse(&session.decoder_layers().saturating_sub(1).to_string(), session)
    }

    /// Heads by name: `2`, `2:0`, `1:3,2:0`.
    ///
    /// # Errors
    /// If they are not there, or the model is a CTC model.
    pub fn parse(names: &str, session: &Session) -> Result<Self, HeadsError> {
        if session.engine().config().is_ctc() {
            return Err(HeadsError::Alignment);
        }
        Self::among(names, session.decoder_layers(), session.decoder_heads())
    }

    fn among(names: &str, layers: usize, heads: usize) -> Result<Self, HeadsError> {
        let mut chosen = BTreeSet::new();
        for name in names.split(',') {
            let number = |text: &str| {
                text.trim().parse::<usize>().map_err(|_| HeadsError::Form(names.to_owned()))
            };
            let (layer, head) = match name.split_once(':') {
                Some((layer, head)) => (number(layer)?, Some(number(head)?)),
                None => (number(name)?, None),
            };
            if layer >= layers {
                return Err(HeadsError::Layer { layer, layers });
            }
            match head {
                Some(head) if head >= heads => return Err(HeadsError::Head { head, heads }),
                Some(head) => {
                    chosen.insert((layer, head));
                }
                None => chosen.extend((0..heads).map(|head| (layer, head))),
            }
        }
        Ok(Self(chosen.into_iter().collect()))
    }

    fn layers(&self) -> Vec<usize> {
        let layers: BTreeSet<usize> = self.0.iter().map(|&(layer, _)| layer).collect();
        layers.into_iter().collect()
    }
}

/// A sentence and its translation, aligned.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Alignment {
    /// What is linked.
    pub unit: Unit,
    /// Units of the source.
    pub source: Vec<String>,
    /// Units of the translation.
    pub target: Vec<String>,
    /// Source and target units that say the same, counted from 0, in order.
    pub links: Vec<(usize, usize)>,
}

impl Alignment {
    /// Pharaoh's form: `0-0 1-2`.
    pub fn pharaoh(&self) -> String {
        let link = |(i, j): &(usize, usize)| format!("{i}-{j}");
        self.links.iter().map(link).collect::<Vec<_>>().join(" ")
    }

    /// Goes on with the next part of a text.
    fn extend(&mut self, mut next: Self) {
        let (sources, targets) = (self.source.len(), self.target.len());
        self.links.extend(next.links.iter().map(|&(i, j)| (i + sources, j + targets)));
        self.source.append(&mut next.source);
        self.target.append(&mut next.target);
    }
}

/// The attention of one part of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct PartAttention {
    /// Source pieces, the end included.
    pub source: Vec<String>,
    /// Target pieces.
    pub target: Vec<String>,
    /// The mean of the chosen heads, target piece after target piece.
    pub weights: Vec<f32>,
}

/// Aligns what a translator decodes.
pub struct Aligner {
    heads: Heads,
    unit: Unit,
    parts: HashMap<(u64, usize), PartAttention>,
}

impl Aligner {
    /// Aligns by these heads.
    pub fn new(heads: Heads, unit: Unit) -> Self {
        Self { heads, unit, parts: HashMap::new() }
    }

    /// Looks at the best hypotheses of what was decoded.
    ///
    /// # Errors
    /// If the model fails.
    pub fn look(
        &mut self,
        session: &mut Session,
        vocabulary: &Vocabulary,
        decoded: &[Decoded<'_>],
    ) -> Result<(), TranslateError> {
        for one in decoded {
            let Some(best) = one.hypotheses.first() else { continue };
            let config = session.engine().config().clone();
            let part = self.attention(session, vocabulary, &config, one, &best.tokens)?;
            for place in one.places {
                self.parts.insert((place.text, place.part), part.clone());
            }
        }
        Ok(())
    }

    fn attention(
        &self,
        session: &mut Session,
        vocabulary: &Vocabulary,
        config: &ModelConfig,
        decoded: &Decoded<'_>,
        tokens: &[TokenId],
    ) -> Result<PartAttention, TranslateError> {
        let read = [tokens, &[config.symbols.eos]].concat();
        let (targets, sources) = (tokens.len(), decoded.source.len());
        let mut weights = vec![0.0; targets * sources];
        let row = AttentionRow { context: decoded.context, tokens: &read, hidden: &[] };
        let share = 1.0 / self.heads.0.len().max(1) as f32;
        session.attention(&[row], &self.heads.layers(), &mut |shown| {
            for &(_, head) in self.heads.0.iter().filter(|(layer, _)| *layer == shown.layer) {
                for (target, sums) in weights.chunks_exact_mut(sources.max(1)).enumerate() {
                    let own = shown.cross_attn(head, target);
                    sums.iter_mut().zip(own).for_each(|(sum, weight)| *sum += share * weight);
                }
            }
        })?;
        let piece = |&id: &TokenId| vocabulary.piece(id).unwrap_or_default().into_owned();
        Ok(PartAttention {
            source: decoded.source.iter().map(piece).collect(),
            target: tokens.iter().map(piece).collect(),
            weights,
        })
    }

    /// The attention of a text's parts, in order, which is forgotten.
    pub fn take(&mut self, text: u64, parts: usize) -> Vec<PartAttention> {
        (0..parts).filter_map(|part| self.parts.remove(&(text, part))).collect()
    }

    /// The alignment of a text of such parts.
    pub fn align(&self, parts: &[PartAttention]) -> Alignment {
        let mut whole = Alignment { unit: self.unit, ..Alignment::default() };
        for part in parts {
            whole.extend(part.align(self.unit));
        }
        whole
    }
}

impl PartAttention {
    /// Links each target unit with what its pieces attend to most.
    pub fn align(&self, unit: Unit) -> Alignment {
        let sources = self.source.len();
        let text = &self.source[..sources.saturating_sub(1)];
        let (source_words, source_of) = words(text);
        let (target_words, target_of) = words(&self.target);
        let mut links = BTreeSet::new();
        for (target, weights) in self.weights.chunks_exact(sources.max(1)).enumerate() {
            let first = |best: usize, i: usize| if weights[i] > weights[best] { i } else { best };
            let best = (0..sources).fold(0, first);
            if best < text.len() {
                links.insert(match unit {
                    Unit::Pieces => (best, target),
                    Unit::Words => (source_of[best], target_of[target]),
                });
            }
        }
        let (source, target) = match unit {
            Unit::Pieces => (text.to_vec(), self.target.clone()),
            Unit::Words => (source_words, target_words),
        };
        Alignment { unit, source, target, links: links.into_iter().collect() }
    }
}

/// The words that pieces spell, and the word of each piece. A piece that is a space alone belongs to the word that follows.
fn words(pieces: &[String]) -> (Vec<String>, Vec<usize>) {
    let mut words: Vec<String> = Vec::new();
    let mut places = Vec::with_capacity(pieces.len());
    let mut open = false;
    for piece in pieces {
        let letters = piece.trim_start_matches(SPACE);
        let begins = letters.len() < piece.len();
        if words.is_empty() || (begins && !words.last().is_some_and(String::is_empty)) || !open {
            words.push(String::new());
        }
        open = true;
        if let Some(word) = words.last_mut() {
            word.push_str(letters);
        }
        places.push(words.len() - 1);
    }
    // Spaces at the end belong to no word.
    if words.last().is_some_and(String::is_empty) {
        words.pop();
        let last = words.len().saturating_sub(1);
        for place in &mut places {
            *place = (*place).min(last);
        }
    }
    (words, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(all: &[&str]) -> Vec<String> {
        all.iter().map(|&piece| piece.to_owned()).collect()
    }

    #[test]
    fn pieces_spell_words() {
        let cases: [(&[&str], &[&str], &[usize]); 5] = [
            (&["▁a", "▁b", "c"], &["a", "bc"], &[0, 1, 1]),
            (&["▁", "a", "▁", "b"], &["a", "b"], &[0, 0, 1, 1]),
            (&["a", "b"], &["ab"], &[0, 0]),
            (&["▁a", "▁"], &["a"], &[0, 0]),
            (&[], &[], &[]),
        ];
        for (pieces, expected, places) in cases {
            let (found, of) = words(&strings(pieces));
            assert_eq!((found, of), (strings(expected), places.to_vec()), "{pieces:?}");
        }
    }

    #[test]
    fn links_go_to_the_most_attended() {
        let part = PartAttention {
            source: strings(&["▁the", "▁do", "g", "</s>"]),
            target: strings(&["▁der", "▁Hund", "▁."]),
            weights: vec![0.6, 0.2, 0.1, 0.1, 0.1, 0.2, 0.6, 0.1, 0.1, 0.1, 0.1, 0.7],
        };
        let whole = Aligner::new(Heads(vec![(0, 0)]), Unit::Words);
        let alignment = whole.align(&[part.clone(), part.clone()]);
        assert_eq!(alignment.pharaoh(), "0-0 1-1 2-3 3-4", "the end is linked to nothing");
        assert_eq!(alignment.source, strings(&["the", "dog", "the", "dog"]));
        assert_eq!(part.align(Unit::Pieces).pharaoh(), "0-0 2-1");
        assert_eq!(whole.align(&[]).pharaoh(), "");
    }

    #[test]
    fn heads_are_chosen_by_name() {
        let chosen = |names| Heads::among(names, 3, 2).map(|heads| heads.0);
        assert_eq!(chosen("2"), Ok(vec![(2, 0), (2, 1)]));
        assert_eq!(chosen("2:1, 0:0,2:1"), Ok(vec![(0, 0), (2, 1)]));
        assert_eq!(chosen("3"), Err(HeadsError::Layer { layer: 3, layers: 3 }));
        assert_eq!(chosen("0:2"), Err(HeadsError::Head { head: 2, heads: 2 }));
        for bad in ["", "x", "1:", "1;2", "-1"] {
            assert_eq!(chosen(bad), Err(HeadsError::Form(bad.to_owned())), "{bad}");
        }
    }
}
