//! Ids and texts are those of the reference SentencePiece (`reference/vocab/golden.py`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use padir_base::TokenId;
use padir_base::hash::hash_bytes;
use padir_text::vocab::charsmap::CharsMap;
use padir_text::vocab::proto::{ModelProto, NormalizerSpec, PieceProto, TrainerSpec};
use padir_text::vocab::{Vocabulary, nmt_nfkc};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    rule: Rule,
    models: Vec<Model>,
}

#[derive(Deserialize)]
struct Rule {
    replacements: usize,
    sha256: String,
}

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the switches of the file format")]
struct Model {
    name: String,
    pieces: Vec<(String, f32, i32)>,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    whitespace_as_suffix: bool,
    byte_fallback: bool,
    /// Text, its ids, and their text.
    encoded: Vec<(String, Vec<u32>, String)>,
    /// Arbitrary ids and their text.
    decoded: Vec<(Vec<u32>, String)>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("data/sentencepiece.json")).unwrap()
}

fn vocabulary_of(model: &Model, rule: &CharsMap) -> Vocabulary {
    let pieces = model.pieces.iter().map(|(piece, score, kind)| PieceProto {
        piece: Some(piece.clone()),
        score: Some(*score),
        kind: Some(*kind),
    });
    let proto = ModelProto {
        pieces: pieces.collect(),
        trainer_spec: Some(TrainerSpec {
            treat_whitespace_as_suffix: Some(model.whitespace_as_suffix),
            byte_fallback: Some(model.byte_fallback),
            ..TrainerSpec::default()
        }),
        normalizer_spec: Some(NormalizerSpec {
            precompiled_charsmap: Some(rule.to_bytes()),
            add_dummy_prefix: Some(model.add_dummy_prefix),
            remove_extra_whitespaces: Some(model.remove_extra_whitespaces),
            ..NormalizerSpec::default()
        }),
    };
    Vocabulary::from_model(proto, 0).unwrap()
}

fn ids(numbers: &[u32]) -> Vec<TokenId> {
    numbers.iter().copied().map(TokenId).collect()
}

#[test]
fn ids_and_texts_are_those_of_the_reference() {
    let rule = CharsMap::compile(&nmt_nfkc::rule());
    for model in golden().models {
        let vocabulary = vocabulary_of(&model, &rule);
        let name = &model.name;
        for (text, expected, decoded) in &model.encoded {
            assert_eq!(vocabulary.encode(text), ids(expected), "{name}: encoding {text:?}");
            assert_eq!(
                vocabulary.decode(&ids(expected)),
                *decoded,
                "{name}: decoding {expected:?}"
            );
        }
        for (numbers, expected) in &model.decoded {
            assert_eq!(vocabulary.decode(&ids(numbers)), *expected, "{name}: {numbers:?}");
        }
    }
}

/// The characters in our rule that the reference does not know yet: Unicode has grown.
fn is_newer(c: char) -> bool {
    matches!(c as u32,
        0x558 | 0x58B | 0x58C | 0x209D..=0x209F | 0x107BB..=0x107BF | 0x1B123..=0x1B126
        | 0x1D6A6 | 0x1DF00..=0x1DFFF)
}

/// Every replacement of the reference rule, and none besides, newer characters aside.
#[test]
fn the_derived_rule_is_the_reference_rule() {
    let ours: BTreeMap<String, String> =
        nmt_nfkc::rule().into_iter().filter(|(key, _)| !key.chars().any(is_newer)).collect();
    let mut text = String::new();
    for (key, value) in &ours {
        text.extend([key.as_str(), "\t", value, "\n"]);
    }
    let golden = golden().rule;
    assert_eq!(ours.len(), golden.replacements);
    assert_eq!(hash_bytes(text.as_bytes()).to_string(), golden.sha256);
}

#[test]
fn both_file_formats_come_back_as_they_were() {
    let rule = CharsMap::compile(&nmt_nfkc::rule());
    for model in golden().models {
        let vocabulary = vocabulary_of(&model, &rule);
        let from_model = Vocabulary::parse(&vocabulary.to_model_bytes()).unwrap();
        assert_eq!(from_model.model(), vocabulary.model(), "{}", model.name);
        if model.whitespace_as_suffix {
            continue; // The other format has no such switch.
        }
        let from_json = Vocabulary::parse(vocabulary.to_tokenizer_json().as_bytes()).unwrap();
        for (text, expected, _) in &model.encoded {
            assert_eq!(from_json.encode(text), ids(expected), "{}: {text:?}", model.name);
        }
        assert_eq!(from_json.sentinels(), 0, "{}", model.name);
    }
}
