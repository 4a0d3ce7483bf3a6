//! Layers and blocks: which weights there are.

use burn::module::Module;

use crate::weight::Weight;

/// The weights of an attention layer.
#[derive(Module, Debug)]
pub struct Attention {
    /// The scale of the norm.
    pub norm: Weight,
    /// To queries.
    pub q: Weight,
    /// To keys.
    pub k: Weight,
    /// To values.
    pub v: Weight,
    /// Back to the width of the model.
    pub o: Weight,
}

/// The weights of a feed-forward layer.
#[derive(Module, Debug)]
pub struct FeedForward {
    /// The scale of the norm.
    pub norm: Weight,
    /// To the hidden layer.
    pub inner: Weight,
    /// And back.
    pub outer: Weight,
}

/// A block of the encoder.
#[derive(Module, Debug)]
pub struct EncoderBlock {
    /// Over the source itself.
    pub own: Attention,
    /// The feed-forward layer.
    pub feed: FeedForward,
}

/// A block of the decoder.
#[derive(Module, Debug)]
pub struct DecoderBlock {
    /// Over the target itself.
    pub own: Attention,
    /// Over the target, by position alone.
    pub positional: Option<Attention>,
    /// Over the encoded source.
    pub memory: Attention,
    /// The feed-forward layer.
    pub feed: FeedForward,
}

/// Collects weights.
pub(crate) trait Weights {
    /// Shows each weight.
    fn show<'a>(&'a self, see: &mut dyn FnMut(&'a Weight));
    /// Shows each weight, to be changed.
    fn show_mut<'a>(&'a mut self, see: &mut dyn FnMut(&'a mut Weight));
}

/// Implements [`Weights`] for a struct from the list of its parts.
macro_rules! parts {
    ($kind:ty: $($part:ident),+) => {
        impl Weights for $kind {
            fn show<'a>(&'a self, see: &mut dyn FnMut(&'a Weight)) {
                $(self.$part.show(see);)+
            }
            fn show_mut<'a>(&'a mut self, see: &mut dyn FnMut(&'a mut Weight)) {
                $(self.$part.show_mut(see);)+
            }
        }
    };
}
pub(crate) use parts;

parts!(Attention: norm, q, k, v, o);
parts!(FeedForward: norm, inner, outer);
parts!(EncoderBlock: own, feed);
parts!(DecoderBlock: own, positional, memory, feed);

impl Weights for Weight {
    fn show<'a>(&'a self, see: &mut dyn FnMut(&'a Weight)) {
        see(self);
    }
    fn show_mut<'a>(&'a mut self, see: &mut dyn FnMut(&'a mut Weight)) {
        see(self);
    }
}

impl<T: Weights> Weights for Option<T> {
    fn show<'a>(&'a self, see: &mut dyn FnMut(&'a Weight)) {
        if let Some(part) = self {
            part.show(see);
        }
    }
    fn show_mut<'a>(&'a mut self, see: &mut dyn FnMut(&'a mut Weight)) {
        if let Some(part) = self {
            part.show_mut(see);
        }
    }
}

impl<T: Weights> Weights for Vec<T> {
    fn show<'a>(&'a self, see: &mut dyn FnMut(&'a Weight)) {
        for part in self {
            part.show(see);
        }
    }
    fn show_mut<'a>(&'a mut self, see: &mut dyn FnMut(&'a mut Weight)) {
        for part in self {
            part.show_mut(see);
        }
    }
}
