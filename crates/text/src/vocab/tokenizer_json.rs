//! `tokenizer.json`, the format of the Hugging Face `tokenizers` library.
//!
//! Written so that the library gives the same ids (it appends the end-of-sentence mark, as T5
//! tokenizers do); read back where it holds a unigram model with a precompiled normaliser.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::VocabError;
use super::proto::{ModelKind, ModelProto, NormalizerSpec, PieceKind, PieceProto, TrainerSpec};
use super::vocabulary::Vocabulary;
use padir_base::TokenId;

/// The JSON text of a vocabulary.
pub(super) fn render(vocabulary: &Vocabulary) -> String {
    let model = vocabulary.model();
    let spec = model.normalizer_spec.clone().unwrap_or_default();
    let pieces: Vec<Value> =
        model.pieces.iter().map(|piece| json!([piece.piece(), piece.score()])).collect();
    let metaspace = json!({
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": if spec.add_dummy_prefix() { "always" } else { "never" },
        "split": true,
    });
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added_tokens(vocabulary),
        "normalizer": normalizer(&spec),
        "pre_tokenizer": metaspace.clone(),
        "post_processor": post_processor(vocabulary),
        "decoder": decoder(vocabulary, metaspace),
        "model": {
            "type": "Unigram",
            "unk_id": vocabulary.unknown(),
            "vocab": pieces,
            "byte_fallback": vocabulary.has_byte_fallback(),
        },
    });
    format!("{tokenizer:#}\n")
}

fn added_tokens(vocabulary: &Vocabulary) -> Vec<Value> {
    let is_special = |id: &TokenId| {
        matches!(
            vocabulary.kind(*id),
            Some(PieceKind::Control | PieceKind::Unknown | PieceKind::UserDefined)
        )
    };
    let ids = (0..vocabulary.size() as u32).map(TokenId).filter(is_special);
    ids.map(|id| {
        json!({
            "id": id,
            "content": vocabulary.piece(id),
            "single_word": false,
            "lstrip": false,
            "rstrip": false,
            "normalized": false,
            "special": vocabulary.kind(id) != Some(PieceKind::UserDefined),
        })
    })
    .collect()
}

fn normalizer(spec: &NormalizerSpec) -> Value {
    let mut steps = Vec::new();
    if !spec.precompiled_charsmap().is_empty() {
        let rule = BASE64_STANDARD.encode(spec.precompiled_charsmap());
        steps.push(json!({"type": "Precompiled", "precompiled_charsmap": rule}));
    }
    if spec.remove_extra_whitespaces() {
        steps.push(json!({"type": "Strip", "strip_left": true, "strip_right": true}));
        steps.push(json!({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}));
    }
    json!({"type": "Sequence", "normalizers": steps})
}

fn post_processor(vocabulary: &Vocabulary) -> Value {
    let Some(eos) = vocabulary.piece(TokenId::EOS).filter(|_| vocabulary.has_house_ids()) else {
        return Value::Null;
    };
    let text = |id: &str| json!({"Sequence": {"id": id, "type_id": 0}});
    let end = json!({"SpecialToken": {"id": eos, "type_id": 0}});
    json!({
        "type": "TemplateProcessing",
        "single": [text("A"), end],
        "pair": [text("A"), end, text("B"), end],
        "special_tokens": {&*eos: {"id": &*eos, "ids": [TokenId::EOS], "tokens": [&*eos]}},
    })
}

fn decoder(vocabulary: &Vocabulary, metaspace: Value) -> Value {
    if vocabulary.has_byte_fallback() {
        json!({"type": "Sequence", "decoders": [{"type": "ByteFallback"}, metaspace]})
    } else {
        metaspace
    }
}

#[derive(Deserialize)]
struct Tokenizer {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default, rename = "pre_tokenizer")]
    splitter: Value,
    model: Value,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    special: bool,
}

#[derive(Deserialize)]
struct UnigramModel {
    unk_id: Option<usize>,
    vocab: Vec<(String, f32)>,
    #[serde(default)]
    byte_fallback: bool,
}

/// Reads a `tokenizer.json`.
pub(super) fn parse(bytes: &[u8]) -> Result<Vocabulary, VocabError> {
    let tokenizer: Tokenizer = serde_json::from_slice(bytes).map_err(VocabError::NotATokenizer)?;
    expect_type("model", &tokenizer.model, "Unigram")?;
    let model: UnigramModel =
        serde_json::from_value(tokenizer.model).map_err(VocabError::NotATokenizer)?;
    let normalizer_spec = read_normalizer(&tokenizer.normalizer, &tokenizer.splitter)?;
    let mut pieces: Vec<PieceProto> = model
        .vocab
        .into_iter()
        .map(|(piece, score)| PieceProto { piece: Some(piece), score: Some(score), kind: None })
        .collect();
    let unknown = model.unk_id.ok_or(VocabError::NoUnknown)?;
    let sentinels = mark_kinds(&mut pieces, &tokenizer.added_tokens, unknown, model.byte_fallback);
    let trainer_spec = TrainerSpec {
        model_type: Some(ModelKind::Unigram as i32),
        vocab_size: i32::try_from(pieces.len()).ok(),
        byte_fallback: Some(model.byte_fallback),
        unk_id: i32::try_from(unknown).ok(),
        ..house_ids(&pieces)
    };
    let model = ModelProto {
        pieces,
        trainer_spec: Some(trainer_spec),
        normalizer_spec: Some(normalizer_spec),
    };
    Vocabulary::from_model(model, sentinels)
}

/// Gives special pieces their kind and counts the ids beyond the pieces. Trailing sentinels that
/// are listed among the pieces, as in public T5 files, are taken off.
fn mark_kinds(
    pieces: &mut Vec<PieceProto>,
    added: &[AddedToken],
    unknown: usize,
    byte_fallback: bool,
) -> u32 {
    for token in added {
        if let Some(piece) = pieces.get_mut(token.id as usize)
            && piece.piece() == token.content
        {
            let kind = if token.special { PieceKind::Control } else { PieceKind::UserDefined };
            piece.kind = Some(kind as i32);
        }
    }
    if byte_fallback {
        let is_byte = |p: &PieceProto| p.piece().len() == 6 && p.piece().starts_with("<0x");
        pieces
            .iter_mut()
            .filter(|p| is_byte(p))
            .for_each(|p| p.kind = Some(PieceKind::Byte as i32));
    }
    if let Some(piece) = pieces.get_mut(unknown) {
        piece.kind = Some(PieceKind::Unknown as i32);
    }
    let beyond = added.iter().filter(|token| token.id as usize >= pieces.len()).count();
    let listed = pieces.iter().rev().take_while(|p| p.piece().starts_with("<extra_id_")).count();
    pieces.truncate(pieces.len() - listed);
    (beyond + listed) as u32
}

fn house_ids(pieces: &[PieceProto]) -> TrainerSpec {
    let find = |name: &str| {
        let place = pieces.iter().position(|piece| piece.piece() == name);
        Some(place.and_then(|id| i32::try_from(id).ok()).unwrap_or(-1))
    };
    TrainerSpec {
        bos_id: find("<s>"),
        eos_id: find("</s>"),
        pad_id: find("<pad>"),
        ..TrainerSpec::default()
    }
}

fn read_normalizer(normalizer: &Value, splitter: &Value) -> Result<NormalizerSpec, VocabError> {
    let mut spec = NormalizerSpec {
        name: Some("nmt_nfkc".to_owned()),
        remove_extra_whitespaces: Some(false),
        ..NormalizerSpec::default()
    };
    for step in flatten(normalizer, "normalizers") {
        match type_of(step) {
            "Precompiled" => {
                let rule = step["precompiled_charsmap"].as_str().unwrap_or_default();
                let foreign = || VocabError::ForeignTokenizer {
                    part: "normalizer",
                    found: "a rule that is not base64".to_owned(),
                    expected: "base64",
                };
                spec.precompiled_charsmap =
                    Some(BASE64_STANDARD.decode(rule).map_err(|_| foreign())?);
            }
            // Both remove extra spaces.
            "Strip" | "Replace" => spec.remove_extra_whitespaces = Some(true),
            _ => expect_type("normalizer", step, "Precompiled")?,
        }
    }
    for step in flatten(splitter, "pretokenizers") {
        match type_of(step) {
            "WhitespaceSplit" => spec.remove_extra_whitespaces = Some(true),
            "Metaspace" => {
                let never = step["prepend_scheme"] == "never" || step["add_prefix_space"] == false;
                spec.add_dummy_prefix = Some(!never);
            }
            _ => expect_type("pre_tokenizer", step, "Metaspace")?,
        }
    }
    Ok(spec)
}

/// The steps of a sequence, or the one step there is.
fn flatten<'a>(value: &'a Value, list: &str) -> Vec<&'a Value> {
    match value {
        Value::Null => Vec::new(),
        _ if type_of(value) == "Sequence" => value[list].as_array().into_iter().flatten().collect(),
        _ => vec![value],
    }
}

fn type_of(value: &Value) -> &str {
    value["type"].as_str().unwrap_or_default()
}

fn expect_type(
    part: &'static str,
    value: &Value,
    expected: &'static str,
) -> Result<(), VocabError> {
    match type_of(value) {
        found if found == expected => Ok(()),
        found => {
            let found = if found.is_empty() { "of no type" } else { found }.to_owned();
            Err(VocabError::ForeignTokenizer { part, found, expected })
        }
    }
}
