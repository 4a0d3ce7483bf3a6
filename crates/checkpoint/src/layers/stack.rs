//! Blocks one above the other, with what they share.

use super::List;
use super::sublayer::{Attention, FeedForward, Norm};
use crate::config::RelativeBias;
use crate::inventory::Parameter;

/// A stack of blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// Its blocks, the first first.
    pub blocks: Vec<Block>,
    /// The table of positions that attentions of the stack read; learned embeddings of positions are the same one.
    pub position_table: Option<Parameter>,
    /// The relative position bias that attentions of the stack add.
    pub relative_bias: Option<RelativeTable>,
    /// Of what the last block gives.
    pub final_norm: Option<Norm>,
}

/// A block: sublayers one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// In the order in which they are computed.
    pub sublayers: Vec<Sublayer>,
}

/// A layer with a residual connection.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a model has few, and they stay where they are")]
pub enum Sublayer {
    /// Attention.
    Attention(Attention),
    /// A feed-forward layer.
    FeedForward(FeedForward),
}

/// The table of relative positions of a stack: [buckets, heads].
#[derive(Clone, Debug, PartialEq)]
pub struct RelativeTable {
    /// The table.
    pub table: Parameter,
    /// How distances become buckets.
    pub buckets: RelativeBias,
    /// Whether keys before and after a query have buckets of their own.
    pub bidirectional: bool,
}

impl Stack {
    /// All sublayers, block after block.
    pub fn sublayers(&self) -> impl Iterator<Item = &Sublayer> {
        self.blocks.iter().flat_map(|block| &block.sublayers)
    }

    pub(super) fn list<'a>(&'a self, list: &mut List<'a>) {
        list.add_all(&self.position_table);
        let mut relative = self.relative_bias.as_ref().map(|relative| &relative.table);
        for sublayer in self.sublayers() {
            match sublayer {
                Sublayer::Attention(attention) => {
                    attention.list(list);
                    // T5 keeps the table in the first attention.
                    list.add_all(relative.take());
                }
                Sublayer::FeedForward(feed_forward) => feed_forward.list(list),
            }
        }
        if let Some(norm) = &self.final_norm {
            norm.list(list);
        }
    }
}
