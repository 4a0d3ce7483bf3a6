//! What can go wrong with an engine.

use padir_checkpoint::layers::Unsupported;
use padir_checkpoint::{CheckpointError, DecoderKind};
use thiserror::Error;

/// An engine cannot be loaded, or cannot answer.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The weights cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The layers are none that can be computed yet.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A layer is too wide for sums of bytes.
    #[error("a layer has {width} inputs; 8-bit weights are summed over at most {limit}")]
    TooWide {
        /// Its inputs.
        width: usize,
        /// The most there may be.
        limit: usize,
    },
    /// The model decodes the other way.
    #[error("this needs a {wanted} decoder; the model's is {found}")]
    Decoder {
        /// The decoder that is needed.
        wanted: DecoderKind,
        /// The model's.
        found: DecoderKind,
    },
    /// Activations that overflow: their squares, which norms sum up, are no numbers any more.
    #[error("the network computes numbers beyond all bounds: its weights are too large or damaged")]
    Overflow,
    /// A token without an embedding.
    #[error("token {token} lies outside of the vocabulary of {vocabulary}")]
    Token {
        /// The token.
        token: u32,
        /// The number of tokens.
        vocabulary: usize,
    },
    /// A question with ranks to a model that has no use for them.
    #[error("the question ranks positions, but the model has no visibility by query")]
    NoRanks,
    /// Nothing to read for a hidden token.
    #[error("a token is hidden, but the model has no MASK token")]
    NoMask,
    /// A row that is longer than the model has positions.
    #[error("a row has {length} tokens; the model has {limit} positions")]
    TooLong {
        /// Its length.
        length: usize,
        /// The most there may be.
        limit: usize,
    },
    /// A layer that the decoder does not have.
    #[error("there is no decoder layer {layer}; there are {layers}")]
    Layer {
        /// Its number, from 0.
        layer: usize,
        /// How many there are.
        layers: usize,
    },
    /// Not one flag for each token.
    #[error("{found} flags for {tokens} tokens")]
    Flags {
        /// How many there are.
        found: usize,
        /// The number of tokens.
        tokens: usize,
    },
    /// A source that was not encoded.
    #[error("there is no context {context}; {contexts} are encoded")]
    Context {
        /// Its number.
        context: usize,
        /// How many there are.
        contexts: usize,
    },
    /// A row that cannot be continued.
    #[error("there is no row {parent} to continue; there are {rows}")]
    Parent {
        /// Its number.
        parent: usize,
        /// How many there are.
        rows: usize,
    },
    /// More candidates than tokens.
    #[error("{depth} candidates are wanted of a vocabulary of {vocabulary}")]
    Depth {
        /// How many are wanted.
        depth: usize,
        /// The number of tokens.
        vocabulary: usize,
    },
    /// Answers with another number of places.
    #[error("the answers have {found} places; the query needs {wanted}")]
    Answers {
        /// How many there are.
        found: usize,
        /// How many are needed.
        wanted: usize,
    },
    /// A shortlist that lets nothing win.
    #[error("the shortlist of context {context} is empty")]
    EmptyShortlist {
        /// The context.
        context: usize,
    },
}
