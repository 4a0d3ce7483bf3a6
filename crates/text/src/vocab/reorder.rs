//! House order: padding 0, end of sentence 1, unknown 2, beginning of sentence 3.

use super::VocabError;
use super::proto::{PieceKind, PieceProto};
use super::vocabulary::Vocabulary;

impl Vocabulary {
    /// The same vocabulary with its reserved pieces in house order, and the number of pieces
    /// whose id changed. Missing marks are added; all other pieces keep their order.
    ///
    /// # Errors
    /// If a piece with the name of a mark is in the way.
    pub fn in_house_order(&self, sentinels: u32) -> Result<(Self, usize), VocabError> {
        let old = self.model();
        let trainer = old.trainer_spec.clone().unwrap_or_default();
        let names =
            [trainer.pad_piece(), trainer.eos_piece(), trainer.unk_piece(), trainer.bos_piece()];
        let is_unknown = |piece: &PieceProto| piece.kind() == PieceKind::Unknown;
        let mut model = old.clone();
        let mut reserved = Vec::new();
        for (place, name) in names.into_iter().enumerate() {
            let unknown = place == 2;
            let found = old.pieces.iter().find(|piece| {
                if unknown {
                    is_unknown(piece)
                } else {
                    piece.piece() == name && piece.kind() == PieceKind::Control
                }
            });
            let kind = if unknown { PieceKind::Unknown } else { PieceKind::Control };
            reserved.push(found.cloned().unwrap_or_else(|| PieceProto {
                piece: Some(name.to_owned()),
                score: Some(0.0),
                kind: Some(kind as i32),
            }));
        }
        let others = old.pieces.iter().filter(|piece| !reserved.contains(piece)).cloned();
        model.pieces = others.collect();
        model.pieces.splice(0..0, reserved);
        let changed = old.pieces.iter().zip(&model.pieces).filter(|(a, b)| a != b).count();
        let spec = model.trainer_spec.get_or_insert_default();
        (spec.pad_id, spec.eos_id, spec.unk_id, spec.bos_id) = (Some(0), Some(1), Some(2), Some(3));
        spec.vocab_size = i32::try_from(model.pieces.len()).ok();
        Ok((Self::from_model(model, sentinels)?, changed))
    }
}
