//! Ids back to text.
//!
//! Follows SentencePiece: `▁` becomes a space, the space before the first word disappears, marks
//! have no text, bytes are put together to characters (a byte that fits nowhere becomes U+FFFD),
//! and the unknown piece is shown as ` ⁇ `.

use padir_base::TokenId;

use super::normalizer::SPACE;
use super::proto::PieceKind;
use super::vocabulary::{Vocabulary, surface};

pub(super) fn decode(vocabulary: &Vocabulary, ids: &[TokenId]) -> String {
    let model = vocabulary.target_model();
    let spec = model.normalizer_spec.clone().unwrap_or_default();
    let trainer = model.trainer_spec.clone().unwrap_or_default();
    let removes_prefix = spec.add_dummy_prefix() || spec.remove_extra_whitespaces();
    let keeps_removing = spec.remove_extra_whitespaces();
    let mut text = String::new();
    let mut bytes = Vec::new();
    let mut has_removed = false;
    for &id in ids {
        if let Some(byte) = vocabulary.byte_of(id) {
            bytes.push(byte);
            continue;
        }
        push_bytes(&mut bytes, &mut text);
        match vocabulary.kind(id) {
            Some(PieceKind::Unknown) => text.push_str(trainer.unk_surface()),
            Some(PieceKind::Control) | None => {}
            Some(_) => {
                let piece = vocabulary.piece(id).unwrap_or_default();
                let mut piece: &str = &piece;
                if removes_prefix
                    && !has_removed
                    && text.is_empty()
                    && let Some(rest) = piece.strip_prefix(SPACE)
                {
                    piece = rest;
                    has_removed = !keeps_removing;
                }
                text.push_str(&surface(piece));
            }
        }
    }
    push_bytes(&mut bytes, &mut text);
    text
}

/// Appends the characters that bytes spell; a byte that fits nowhere becomes U+FFFD.
fn push_bytes(bytes: &mut Vec<u8>, text: &mut String) {
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        match str::from_utf8(rest) {
            Ok(valid) => {
                text.push_str(valid);
                break;
            }
            Err(error) => {
                let (valid, broken) = rest.split_at(error.valid_up_to());
                text.push_str(&String::from_utf8_lossy(valid));
                text.push(char::REPLACEMENT_CHARACTER);
                rest = &broken[1..];
            }
        }
    }
    bytes.clear();
}
