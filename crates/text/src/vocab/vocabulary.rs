//! The vocabulary: normaliser, pieces and reserved ids as one object.
//!
//! Ids: padding 0, end of sentence 1, unknown 2, beginning of sentence 3, then the pieces, then
//! `sentinels` further ids that no text contains. As in the public T5 vocabularies the sentinels
//! are named from the end: `<extra_id_0>` is the last id. Parallel decoders use
//!
//! | sentinel | id | name |
//! |---|---|---|
//! | MASK | size − 1 | `<extra_id_0>` |
//! | START (of a target) | size − 2 | `<extra_id_1>` |
//! | LENGTH | size − 3 | `<extra_id_2>` |

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use padir_base::TokenId;
use padir_base::file::{FileError, write_atomically};
use padir_base::hash::{Hasher, Sha256, hash_bytes};
use prost::Message;

use super::charsmap::CharsMap;
use super::error::VocabError;
use super::marian::{MarianFiles, PieceIds};
use super::normalizer::{Normalizer, SPACE, Spaces};
use super::proto::{ModelKind, ModelProto, PieceKind, TrainerSpec};
use super::unigram::{Lattice, Segment, Unigram};

/// How many sentinels a vocabulary has unless its file says otherwise.
pub const SENTINELS: u32 = 100;
/// The largest model file that is read.
pub(super) const LARGEST_FILE: u64 = 1 << 30;
/// The longest piece in bytes; longer ones are certainly not from a vocabulary.
const LONGEST_PIECE: usize = 1024;

/// Text to token ids and back.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    model: ModelProto,
    normalizer: Normalizer,
    unigram: Unigram,
    kinds: Vec<PieceKind>,
    unknown: TokenId,
    byte_ids: Option<Box<[TokenId; 256]>>,
    sentinels: u32,
    /// Ids of their own, if they are not the places of the pieces.
    ids: Option<Box<PieceIds>>,
}

/// Encodes text after text, using its memory again.
#[derive(Debug)]
pub struct Encoder<'v> {
    vocabulary: &'v Vocabulary,
    normal: String,
    lattice: Lattice,
    segments: Vec<Segment>,
}

impl Vocabulary {
    /// The file that [`Vocabulary::load`] reads: the path itself, or the one in the directory.
    ///
    /// # Errors
    /// If it is a directory without a vocabulary.
    pub fn file(path: impl AsRef<Path>) -> Result<PathBuf, VocabError> {
        super::file::locate(path.as_ref())
    }

    /// Reads a `.model` file, a `tokenizer.json`, or a directory that holds one of them or the [vocabulary of a Marian
    /// model](super::marian).
    ///
    /// # Errors
    /// If the file is missing, foreign or damaged.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, VocabError> {
        let path = path.as_ref();
        if PieceIds::are_in(path) {
            let files = MarianFiles::load(path)?;
            return Self::from_marian(&files).map_err(|error| error.in_file(path));
        }
        let path = &super::file::locate(path)?;
        let bytes = super::file::read_bounded(path, LARGEST_FILE)?;
        Self::parse(&bytes).map_err(|error| error.in_file(path))
    }

    /// Reads the content of a `.model` or `tokenizer.json` file.
    ///
    /// # Errors
    /// If the bytes are neither.
    pub fn parse(bytes: &[u8]) -> Result<Self, VocabError> {
        let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        if is_json {
            return super::tokenizer_json::parse(bytes);
        }
        let model = ModelProto::decode(bytes).map_err(VocabError::NotAModel)?;
        Self::from_model(model, SENTINELS)
    }

    /// Prepares a model for use.
    ///
    /// # Errors
    /// If it is not a usable unigram model.
    pub fn from_model(model: ModelProto, sentinels: u32) -> Result<Self, VocabError> {
        let kinds = check_pieces(&model)?;
        let trainer = model.trainer_spec.clone().unwrap_or_default();
        if trainer.model_type() != ModelKind::Unigram {
            return Err(VocabError::NotUnigram(trainer.model_type()));
        }
        let unknown = only_unknown(&kinds)?;
        let size = u32::try_from(model.pieces.len()).ok().and_then(|n| n.checked_add(sentinels));
        if size.is_none_or(|size| size >= 1 << 31) {
            return Err(VocabError::TooManySentinels(sentinels));
        }
        let normalizer = build_normalizer(&model, &kinds)?;
        let pieces = model.pieces.iter().zip(&kinds);
        let unigram = Unigram::new(pieces.map(|(p, &kind)| (p.piece(), p.score(), kind)), unknown);
        let byte_ids =
            if trainer.byte_fallback() { Some(find_bytes(&model, &kinds)?) } else { None };
        let ids = None;
        Ok(Self { model, normalizer, unigram, kinds, unknown, byte_ids, sentinels, ids })
    }

    /// The same segmentation with other ids.
    pub(super) fn with_ids(self, ids: PieceIds) -> Self {
        Self { sentinels: 0, ids: Some(Box::new(ids)), ..self }
    }

    /// Whether ids come from the lists of a Marian model: then no single file can hold the vocabulary.
    pub fn is_marian(&self) -> bool {
        self.ids.is_some()
    }

    /// The number of ids: pieces and sentinels.
    pub fn size(&self) -> usize {
        self.pieces() + self.sentinels as usize
    }

    /// The number of ids of sources, which is another one only where a Marian model has two lists.
    pub fn source_size(&self) -> usize {
        self.ids.as_ref().map_or(self.size(), |ids| ids.source_size())
    }

    /// The number of pieces, reserved ones included, sentinels not.
    pub fn pieces(&self) -> usize {
        self.ids.as_ref().map_or(self.model.pieces.len(), |ids| ids.target_size())
    }

    /// The number of sentinels.
    pub fn sentinels(&self) -> u32 {
        self.sentinels
    }

    /// What a hidden token looks like to a model; none in a vocabulary without sentinels.
    pub fn mask(&self) -> Option<TokenId> {
        self.sentinel(0)
    }

    /// What starts the target of an autoregressive decoder; none without enough sentinels.
    pub fn start(&self) -> Option<TokenId> {
        self.sentinel(1)
    }

    /// What asks an encoder for the length of the target; none without enough sentinels.
    pub fn length(&self) -> Option<TokenId> {
        self.sentinel(2)
    }

    /// The n-th sentinel, counted from the end.
    pub fn sentinel(&self, n: u32) -> Option<TokenId> {
        (n < self.sentinels).then(|| TokenId((self.size() - 1) as u32 - n))
    }

    /// The id of the unknown piece.
    pub fn unknown(&self) -> TokenId {
        self.ids.as_ref().map_or(self.unknown, |ids| ids.unknown())
    }

    /// Whether padding, end, unknown and beginning of sentence have the ids that models of this
    /// project expect (0, 1, 2, 3).
    pub fn has_house_ids(&self) -> bool {
        let kind = |id: TokenId| self.kinds.get(id.index()).copied();
        let is_control = |id| kind(id) == Some(PieceKind::Control);
        self.ids.is_none()
            && self.unknown == TokenId::UNK
            && [TokenId::PAD, TokenId::EOS, TokenId::BOS].into_iter().all(is_control)
    }

    /// Whether unknown characters are spelt as bytes.
    pub fn has_byte_fallback(&self) -> bool {
        self.byte_ids.is_some()
    }

    /// The text of an id as it stands in the vocabulary: `▁the`, `</s>`, `<extra_id_0>`.
    pub fn piece(&self, id: TokenId) -> Option<Cow<'_, str>> {
        if let Some(ids) = &self.ids {
            return ids.piece(id).map(Cow::Borrowed);
        }
        match self.model.pieces.get(id.index()) {
            Some(piece) => Some(Cow::Borrowed(piece.piece())),
            None if id.index() < self.size() => {
                Some(Cow::Owned(format!("<extra_id_{}>", self.size() - 1 - id.index())))
            }
            None => None,
        }
    }

    /// The kind of an id; sentinels are control marks.
    pub fn kind(&self, id: TokenId) -> Option<PieceKind> {
        if let Some(ids) = &self.ids {
            return ids.kind(id);
        }
        let sentinel = (id.index() < self.size()).then_some(PieceKind::Control);
        self.kinds.get(id.index()).copied().or(sentinel)
    }

    /// The log-probability of a piece; unknown where ids are those of a Marian model.
    pub fn score(&self, id: TokenId) -> Option<f32> {
        if self.ids.is_some() {
            return None;
        }
        self.model.pieces.get(id.index()).map(super::proto::PieceProto::score)
    }

    /// An encoder with memory of its own.
    pub fn encoder(&self) -> Encoder<'_> {
        Encoder {
            vocabulary: self,
            normal: String::new(),
            lattice: Lattice::default(),
            segments: Vec::new(),
        }
    }

    /// The ids of a text, without an end-of-sentence mark.
    pub fn encode(&self, text: &str) -> Vec<TokenId> {
        let mut ids = Vec::new();
        self.encoder().encode_into(text, &mut ids);
        ids
    }

    /// The text of ids. Reserved ids but the unknown one have none.
    pub fn decode(&self, ids: &[TokenId]) -> String {
        super::decode::decode(self, ids)
    }

    /// The text after normalisation, as it is segmented.
    pub fn normalize(&self, text: &str) -> String {
        self.normalizer.normalize(text)
    }

    /// The model as SentencePiece stores it; that of sources, if there are two.
    pub fn model(&self) -> &ModelProto {
        &self.model
    }

    /// The model that says how pieces become text.
    pub(super) fn target_model(&self) -> &ModelProto {
        self.ids.as_ref().map_or(&self.model, |ids| ids.target_model())
    }

    /// The content of a SentencePiece `.model` file.
    pub fn to_model_bytes(&self) -> Vec<u8> {
        self.model.encode_to_vec()
    }

    /// Writes a SentencePiece `.model` file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_model(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        write_atomically(path, &self.to_model_bytes())
    }

    /// The content of a `tokenizer.json` of the Hugging Face `tokenizers` library.
    pub fn to_tokenizer_json(&self) -> String {
        super::tokenizer_json::render(self)
    }

    /// Writes a `tokenizer.json` of the Hugging Face `tokenizers` library.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_tokenizer_json(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        write_atomically(path, self.to_tokenizer_json().as_bytes())
    }

    /// What identifies the vocabulary: the hash of all that decides which ids a text has. Whether it was read from a `.model` or from a
    /// `tokenizer.json` does not matter, nor how it was trained.
    pub fn hash(&self) -> Sha256 {
        let mut hasher = Hasher::default();
        let mut add = |bytes: &[u8]| {
            // With their lengths, so that no two sequences of fields look the same.
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(b"padir vocabulary");
        for (piece, &kind) in self.model.pieces.iter().zip(&self.kinds) {
            add(piece.piece().as_bytes());
            add(&piece.score().to_le_bytes());
            add(&[kind as u8]);
        }
        let spec = self.model.normalizer_spec.clone().unwrap_or_default();
        add(spec.precompiled_charsmap());
        let trainer = self.model.trainer_spec.as_ref();
        let switches = [
            spec.add_dummy_prefix(),
            spec.remove_extra_whitespaces(),
            spec.escape_whitespaces(),
            trainer.is_some_and(TrainerSpec::treat_whitespace_as_suffix),
            self.has_byte_fallback(),
        ];
        add(&switches.map(u8::from));
        add(&self.sentinels.to_le_bytes());
        if let Some(ids) = &self.ids {
            ids.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The hashes it may be known by: its own, and the one that earlier versions gave it, which depended on its file.
    pub fn hashes(&self) -> [Sha256; 2] {
        let mut file = self.to_model_bytes();
        file.extend(self.sentinels.to_le_bytes());
        [self.hash(), hash_bytes(&file)]
    }

    /// Whether a model or a set of shards that remembers this hash was made with it.
    pub fn is_known_as(&self, hash: Sha256) -> bool {
        self.hashes().contains(&hash)
    }

    pub(super) fn byte_of(&self, id: TokenId) -> Option<u8> {
        if self.kind(id) != Some(PieceKind::Byte) {
            return None;
        }
        parse_byte_piece(&self.piece(id)?)
    }
}

impl Encoder<'_> {
    /// Writes the ids of a text over `ids`.
    pub fn encode_into(&mut self, text: &str, ids: &mut Vec<TokenId>) {
        ids.clear();
        self.append(text, ids);
    }

    /// Appends the ids of a text.
    pub fn append(&mut self, text: &str, ids: &mut Vec<TokenId>) {
        let vocabulary = self.vocabulary;
        if let Some(mapped) = &vocabulary.ids {
            let tagged = mapped.tag(text);
            ids.extend(tagged.map(|(tag, _)| tag));
            let text = tagged.map_or(text, |(_, rest)| rest);
            self.segment(text);
            let pieces = self.texts();
            ids.extend(pieces.iter().map(|piece| mapped.id_of(piece)));
            return;
        }
        self.segment(text);
        let Self { normal, segments, .. } = self;
        let mut after_unknown = false;
        for segment in segments.iter() {
            let is_unknown = segment.piece == vocabulary.unknown;
            match &vocabulary.byte_ids {
                Some(byte_ids) if is_unknown => {
                    let bytes = normal[segment.start..segment.end].bytes();
                    ids.extend(bytes.map(|byte| byte_ids[usize::from(byte)]));
                }
                // A run of unknown characters is one unknown token.
                _ if is_unknown && after_unknown => {}
                _ => ids.push(segment.piece),
            }
            after_unknown = is_unknown;
        }
    }

    /// The pieces of a text as strings, unknown runs as they were written.
    pub fn pieces(&mut self, text: &str) -> Vec<String> {
        self.segment(text);
        self.texts()
    }

    fn segment(&mut self, text: &str) {
        let Self { vocabulary, normal, lattice, segments } = self;
        vocabulary.normalizer.normalize_into(text, normal);
        segments.clear();
        vocabulary.unigram.segment(normal, lattice, segments);
    }

    /// The texts of the segments.
    fn texts(&self) -> Vec<String> {
        let mut pieces: Vec<String> = Vec::with_capacity(self.segments.len());
        let mut after_unknown = false;
        for segment in &self.segments {
            let is_unknown = segment.piece == self.vocabulary.unknown;
            let text = &self.normal[segment.start..segment.end];
            match pieces.last_mut() {
                _ if is_unknown && self.vocabulary.byte_ids.is_some() => {
                    pieces.extend(text.bytes().map(byte_piece));
                }
                Some(last) if is_unknown && after_unknown => last.push_str(text),
                _ => pieces.push(text.to_owned()),
            }
            after_unknown = is_unknown;
        }
        pieces
    }
}

fn check_pieces(model: &ModelProto) -> Result<Vec<PieceKind>, VocabError> {
    if model.pieces.is_empty() {
        return Err(VocabError::NoPieces);
    }
    let mut texts = rustc_hash::FxHashSet::default();
    let mut kinds = Vec::with_capacity(model.pieces.len());
    for (id, piece) in model.pieces.iter().enumerate() {
        let text = piece.piece();
        let raw = piece.kind.unwrap_or(PieceKind::Normal as i32);
        let kind = PieceKind::try_from(raw).map_err(|_| VocabError::Kind { id, kind: raw })?;
        if text.is_empty() {
            return Err(VocabError::EmptyPiece { id });
        }
        if text.len() > LONGEST_PIECE || text.contains('\0') {
            return Err(VocabError::UnusablePiece { id });
        }
        if !texts.insert((is_text(kind), text)) {
            return Err(VocabError::TwicePiece { id, piece: text.to_owned() });
        }
        if kind == PieceKind::Normal && !piece.score().is_finite() {
            return Err(VocabError::Score { id, score: piece.score() });
        }
        kinds.push(kind);
    }
    Ok(kinds)
}

fn is_text(kind: PieceKind) -> bool {
    matches!(kind, PieceKind::Normal | PieceKind::UserDefined | PieceKind::Unused)
}

fn only_unknown(kinds: &[PieceKind]) -> Result<TokenId, VocabError> {
    let mut unknown = (0..).map(TokenId).zip(kinds).filter(|(_, k)| **k == PieceKind::Unknown);
    match (unknown.next(), unknown.next()) {
        (Some((id, _)), None) => Ok(id),
        (None, _) => Err(VocabError::NoUnknown),
        (Some((first, _)), Some((second, _))) => Err(VocabError::TwoUnknowns { first, second }),
    }
}

fn build_normalizer(model: &ModelProto, kinds: &[PieceKind]) -> Result<Normalizer, VocabError> {
    let spec = model.normalizer_spec.clone().unwrap_or_default();
    let rule = match spec.precompiled_charsmap() {
        [] => None,
        blob => Some(CharsMap::parse(blob).map_err(VocabError::Rule)?),
    };
    let fixed = model.pieces.iter().zip(kinds);
    let fixed = fixed.filter(|(_, kind)| **kind == PieceKind::UserDefined).map(|(p, _)| p.piece());
    let suffix = model.trainer_spec.as_ref().is_some_and(TrainerSpec::treat_whitespace_as_suffix);
    let spaces = Spaces {
        add_dummy_prefix: spec.add_dummy_prefix(),
        remove_extra: spec.remove_extra_whitespaces(),
        escape: spec.escape_whitespaces(),
        as_suffix: suffix,
    };
    Ok(Normalizer::new(rule, fixed.collect(), spaces))
}

fn find_bytes(model: &ModelProto, kinds: &[PieceKind]) -> Result<Box<[TokenId; 256]>, VocabError> {
    let mut ids = [None; 256];
    for (id, (piece, kind)) in (0..).map(TokenId).zip(model.pieces.iter().zip(kinds)) {
        if *kind == PieceKind::Byte
            && let Some(byte) = parse_byte_piece(piece.piece())
        {
            ids[usize::from(byte)] = Some(id);
        }
    }
    let mut found = Box::new([TokenId::UNK; 256]);
    for (byte, id) in ids.into_iter().enumerate() {
        found[byte] = id.ok_or(VocabError::NoByte(byte as u8))?;
    }
    Ok(found)
}

/// The byte of a piece like `<0x0A>`.
fn parse_byte_piece(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

/// The name of a byte piece.
pub(super) fn byte_piece(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// A piece as text: `▁` is a space.
pub(super) fn surface(piece: &str) -> String {
    piece.replace(SPACE, " ")
}
