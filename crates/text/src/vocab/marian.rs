//! Vocabularies of Marian models: two SentencePiece models for segmentation, and lists that give pieces their ids.
//!
//! | file | what it says |
//! |---|---|
//! | `source.spm` | how sources are normalised and segmented |
//! | `target.spm` | how pieces of targets become text |
//! | `vocab.json` | the id of each piece, of both languages or of sources alone |
//! | `target_vocab.json` | the id of each piece of targets, if they have ids of their own |
//!
//! A piece of a source that has no id is unknown. A run of characters that `source.spm` does not know is looked up, too: it may be a
//! piece of the target. A language tag `>>xyz<<` before a source is one token, if it has an id.
//!
//! One lookup per piece; memory for two lists of strings.

use std::path::Path;

use padir_base::TokenId;
use padir_base::hash::Hasher;
use prost::Message;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::error::VocabError;
use super::file::read_bounded;
use super::proto::{ModelProto, PieceKind};
use super::vocabulary::{LARGEST_FILE, Vocabulary};

/// The segmentation of sources.
pub const SOURCE_SPM: &str = "source.spm";
/// The pieces of targets.
pub const TARGET_SPM: &str = "target.spm";
/// The ids of pieces.
pub const VOCAB_JSON: &str = "vocab.json";
/// The ids of the pieces of targets, if they have their own.
pub const TARGET_VOCAB_JSON: &str = "target_vocab.json";
/// All files of such a vocabulary; the last may be missing.
pub const MARIAN_FILES: [&str; 4] = [SOURCE_SPM, TARGET_SPM, VOCAB_JSON, TARGET_VOCAB_JSON];

/// What stands for unknown text.
const UNKNOWN: &str = "<unk>";
/// Pieces without text.
const MARKS: [&str; 5] = ["</s>", "<s>", "<pad>", "<blank>", "<blk>"];

/// The contents of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarianFiles {
    /// [`SOURCE_SPM`].
    pub source_spm: Vec<u8>,
    /// [`TARGET_SPM`].
    pub target_spm: Vec<u8>,
    /// [`VOCAB_JSON`].
    pub vocab: Vec<u8>,
    /// [`TARGET_VOCAB_JSON`].
    pub target_vocab: Option<Vec<u8>>,
}

impl MarianFiles {
    /// Reads the files of a directory.
    ///
    /// # Errors
    /// If one is missing or too large.
    pub fn load(directory: &Path) -> Result<Self, VocabError> {
        let read = |name: &str| read_bounded(&directory.join(name), LARGEST_FILE);
        let separate = directory.join(TARGET_VOCAB_JSON).is_file();
        Ok(Self {
            source_spm: read(SOURCE_SPM)?,
            target_spm: read(TARGET_SPM)?,
            vocab: read(VOCAB_JSON)?,
            target_vocab: separate.then(|| read(TARGET_VOCAB_JSON)).transpose()?,
        })
    }

    /// Names and contents.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        let own = [
            (SOURCE_SPM, self.source_spm.as_slice()),
            (TARGET_SPM, &self.target_spm),
            (VOCAB_JSON, &self.vocab),
        ];
        let separate = self.target_vocab.as_deref().map(|vocab| (TARGET_VOCAB_JSON, vocab));
        own.into_iter().chain(separate)
    }
}

/// The content of a `vocab.json` with these pieces, the first having id 0.
pub fn vocab_json<S: AsRef<str>>(pieces: &[S]) -> String {
    let ids = pieces.iter().enumerate().map(|(id, piece)| (piece.as_ref().to_owned(), id.into()));
    format!("{:#}\n", Value::Object(ids.collect::<Map<_, _>>()))
}

/// Ids that do not follow from a SentencePiece model.
#[derive(Clone, Debug)]
pub(super) struct PieceIds {
    /// The id of each piece of sources.
    source: FxHashMap<Box<str>, TokenId>,
    source_unknown: TokenId,
    /// The pieces of targets by their ids.
    target: Vec<Box<str>>,
    kinds: Vec<PieceKind>,
    unknown: TokenId,
    target_model: ModelProto,
}

impl PieceIds {
    /// Whether a directory holds such a vocabulary.
    pub(super) fn are_in(directory: &Path) -> bool {
        [SOURCE_SPM, VOCAB_JSON].iter().all(|name| directory.join(name).is_file())
    }

    fn parse(files: &MarianFiles) -> Result<Self, VocabError> {
        let source = read_ids(&files.vocab).map_err(|e| e.in_file(Path::new(VOCAB_JSON)))?;
        let target = match &files.target_vocab {
            Some(own) => read_ids(own).map_err(|e| e.in_file(Path::new(TARGET_VOCAB_JSON)))?,
            None => source.clone(),
        };
        // Checked like any other, though it never segments.
        let target_model = Vocabulary::parse(&files.target_spm)
            .map_err(|error| error.in_file(Path::new(TARGET_SPM)))?
            .model()
            .clone();
        let unknown_of = |pieces: &[Box<str>]| {
            let place = pieces.iter().position(|piece| &**piece == UNKNOWN);
            place.map(|id| TokenId(id as u32)).ok_or(VocabError::NoUnknown)
        };
        let (source_unknown, unknown) = (unknown_of(&source)?, unknown_of(&target)?);
        let marks: FxHashMap<&str, PieceKind> = target_model
            .pieces
            .iter()
            .filter(|piece| matches!(piece.kind(), PieceKind::Control | PieceKind::Byte))
            .map(|piece| (piece.piece(), piece.kind()))
            .chain(MARKS.map(|mark| (mark, PieceKind::Control)))
            .chain([(UNKNOWN, PieceKind::Unknown)])
            .collect();
        let kind = |piece: &str| marks.get(piece).copied().unwrap_or(PieceKind::Normal);
        let kinds = target.iter().map(|piece| kind(piece)).collect();
        let source = (0..).map(TokenId).zip(source).map(|(id, piece)| (piece, id)).collect();
        Ok(Self { source, source_unknown, target, kinds, unknown, target_model })
    }

    pub(super) fn source_size(&self) -> usize {
        self.source.len()
    }

    pub(super) fn target_size(&self) -> usize {
        self.target.len()
    }

    pub(super) fn unknown(&self) -> TokenId {
        self.unknown
    }

    pub(super) fn piece(&self, id: TokenId) -> Option<&str> {
        self.target.get(id.index()).map(|piece| &**piece)
    }

    pub(super) fn kind(&self, id: TokenId) -> Option<PieceKind> {
        self.kinds.get(id.index()).copied()
    }

    /// How pieces of targets become text.
    pub(super) fn target_model(&self) -> &ModelProto {
        &self.target_model
    }

    /// The id of a piece of a source.
    pub(super) fn id_of(&self, piece: &str) -> TokenId {
        self.source.get(piece).copied().unwrap_or(self.source_unknown)
    }

    /// The language tag before a text, if it has an id, and the text behind it.
    pub(super) fn tag<'t>(&self, text: &'t str) -> Option<(TokenId, &'t str)> {
        let inner = text.strip_prefix(">>")?.find("<<")?;
        let (tag, rest) = text.split_at(inner + 4);
        self.source.get(tag).map(|&id| (id, rest))
    }

    /// Adds what decides about ids.
    pub(super) fn hash(&self, hasher: &mut Hasher) {
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(b"marian");
        add(&self.target_model.encode_to_vec());
        let mut source: Vec<(TokenId, &str)> =
            self.source.iter().map(|(piece, &id)| (id, &**piece)).collect();
        source.sort_unstable();
        for (_, piece) in source {
            add(piece.as_bytes());
        }
        add(b"target");
        for piece in &self.target {
            add(piece.as_bytes());
        }
    }
}

impl Vocabulary {
    /// The vocabulary of a Marian model.
    ///
    /// # Errors
    /// If one of the files is foreign or damaged.
    pub fn from_marian(files: &MarianFiles) -> Result<Self, VocabError> {
        let source = Self::parse(&files.source_spm);
        let source = source.map_err(|error| error.in_file(Path::new(SOURCE_SPM)))?;
        Ok(source.with_ids(PieceIds::parse(files)?))
    }
}

/// The pieces of a `vocab.json`, by their ids.
fn read_ids(bytes: &[u8]) -> Result<Vec<Box<str>>, VocabError> {
    let ids: FxHashMap<String, u64> =
        serde_json::from_slice(bytes).map_err(VocabError::NotAVocabJson)?;
    let mut pieces: Vec<Option<Box<str>>> = vec![None; ids.len()];
    for (piece, id) in ids {
        let place = usize::try_from(id).ok().and_then(|id| pieces.get_mut(id));
        match place {
            Some(place @ None) => *place = Some(piece.into_boxed_str()),
            Some(Some(other)) => {
                let pieces = [other.to_string(), piece];
                return Err(VocabError::TwiceId { id, pieces });
            }
            None => return Err(VocabError::PieceId { piece, id, size: pieces.len() }),
        }
    }
    // As many places as pieces, each taken once: none is empty.
    Ok(pieces.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::super::proto::{PieceProto, TrainerSpec};
    use super::*;

    fn spm(pieces: &[(&str, f32)]) -> Vec<u8> {
        let piece = |(text, score): &(&str, f32)| PieceProto {
            piece: Some((*text).to_owned()),
            score: Some(*score),
            kind: Some(match *text {
                "<unk>" => PieceKind::Unknown as i32,
                "<s>" | "</s>" => PieceKind::Control as i32,
                _ => PieceKind::Normal as i32,
            }),
        };
        let marks = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0)];
        let pieces = marks.iter().chain(pieces).map(piece).collect();
        let trainer_spec = Some(TrainerSpec::default());
        ModelProto { pieces, trainer_spec, normalizer_spec: None }.encode_to_vec()
    }

    fn files() -> MarianFiles {
        MarianFiles {
            source_spm: spm(&[("▁", -3.0), ("▁ein", -2.0), ("e", -4.0), ("x", -5.0)]),
            target_spm: spm(&[("▁one", -2.0), ("ß", -3.0)]),
            vocab: vocab_json(&["</s>", "<unk>", "▁ein", "▁one", "ß", "e", ">>en<<", "▁", "<pad>"])
                .into_bytes(),
            target_vocab: None,
        }
    }

    fn ids(vocabulary: &Vocabulary, text: &str) -> Vec<u32> {
        vocabulary.encode(text).into_iter().map(|id| id.0).collect()
    }

    #[test]
    fn pieces_have_the_ids_of_the_list() {
        let vocabulary = Vocabulary::from_marian(&files()).unwrap();
        assert_eq!(
            (vocabulary.size(), vocabulary.source_size(), vocabulary.sentinels()),
            (9, 9, 0)
        );
        assert_eq!(vocabulary.unknown(), TokenId(1));
        assert!(!vocabulary.has_house_ids());
        let cases: [(&str, &[u32]); 6] = [
            ("ein e", &[2, 7, 5]),
            // In source.spm, but not in the list.
            ("einx", &[2, 1]),
            // Not in source.spm, but in the list.
            ("ein ß", &[2, 7, 4]),
            ("einßß", &[2, 1]),
            (">>en<< ein", &[6, 2]),
            (">>fr<<", &[7, 1]),
        ];
        for (text, expected) in cases {
            assert_eq!(ids(&vocabulary, text), expected, "{text}");
        }
        let text =
            |ids: &[u32]| vocabulary.decode(&ids.iter().copied().map(TokenId).collect::<Vec<_>>());
        assert_eq!(text(&[3, 4, 3, 0, 8]), "oneß one");
        assert_eq!(text(&[3, 1]), "one \u{2047} ");
        assert_eq!(vocabulary.piece(TokenId(8)).as_deref(), Some("<pad>"));
        assert_eq!(vocabulary.piece(TokenId(9)), None);
    }

    #[test]
    fn targets_may_have_ids_of_their_own() {
        let shared = Vocabulary::from_marian(&files()).unwrap();
        let own = vocab_json(&["</s>", "▁one", "<unk>", "<pad>"]).into_bytes();
        let files = MarianFiles { target_vocab: Some(own), ..files() };
        let vocabulary = Vocabulary::from_marian(&files).unwrap();
        assert_eq!((vocabulary.size(), vocabulary.source_size()), (4, 9));
        assert_eq!(vocabulary.unknown(), TokenId(2));
        assert_eq!(ids(&vocabulary, "ein"), [2]);
        assert_eq!(vocabulary.decode(&[TokenId(1)]), "one");
        assert_ne!(vocabulary.hash(), shared.hash());
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in files.files() {
            std::fs::write(directory.path().join(name), content).unwrap();
        }
        let again = Vocabulary::load(directory.path()).unwrap();
        assert!(again.is_known_as(vocabulary.hash()));
    }

    #[test]
    fn lists_that_are_none_are_refused() {
        let cases = [
            ("", "not a vocab.json"),
            ("[]", "not a vocab.json"),
            (r#"{"a": -1}"#, "not a vocab.json"),
            (r#"{"a": 1}"#, "piece \"a\" has the id 1; the ids of 1 pieces are below 1"),
            (r#"{"a": 18446744073709551615, "b": 0}"#, "has the id 18446744073709551615"),
            (r#"{"a": 0, "b": 0}"#, "both have the id 0"),
            (r#"{"a": 0}"#, "no piece for unknown text"),
        ];
        for (list, expected) in cases {
            let files = MarianFiles { vocab: list.into(), ..files() };
            let error = Vocabulary::from_marian(&files).unwrap_err();
            let source = std::error::Error::source(&error).map(ToString::to_string);
            let text = format!("{error} {}", source.unwrap_or_default());
            assert!(text.contains(expected), "{list}: {text}");
        }
        let files = MarianFiles { target_spm: b"x".to_vec(), ..files() };
        assert!(Vocabulary::from_marian(&files).is_err());
    }
}
