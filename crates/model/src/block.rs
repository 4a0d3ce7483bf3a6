//! The weights of layers, blocks and stacks, in the shape of their [description](padir_checkpoint::layers).

use burn::module::Module;

use crate::weight::Weight;

/// The weights of y = W·x + b.
#[derive(Module, Debug)]
pub struct Linear {
    /// W.
    pub weight: Weight,
    /// b.
    pub bias: Option<Weight>,
}

/// The weights of a norm.
#[derive(Module, Debug)]
pub struct Norm {
    /// The scale.
    pub weight: Weight,
    /// What is added.
    pub bias: Option<Weight>,
}

/// The weights of an attention layer.
#[derive(Module, Debug)]
pub struct Attention {
    /// Of the norm.
    pub norm: Norm,
    /// To queries.
    pub q: Linear,
    /// To keys.
    pub k: Linear,
    /// To values.
    pub v: Linear,
    /// Back to the width of the model.
    pub o: Linear,
}

/// The weights of a feed-forward layer.
#[derive(Module, Debug)]
pub struct FeedForward {
    /// Of the norm.
    pub norm: Norm,
    /// To the hidden layer.
    pub inner: Linear,
    /// And back.
    pub outer: Linear,
}

/// The weights of a sublayer.
#[derive(Module, Debug)]
#[expect(clippy::large_enum_variant, reason = "a model has few, and they stay where they are")]
pub enum Sublayer {
    /// An attention layer.
    Attention(Attention),
    /// A feed-forward layer.
    FeedForward(FeedForward),
}

/// The weights of a block.
#[derive(Module, Debug)]
pub struct Block {
    /// In the order in which they are computed.
    pub sublayers: Vec<Sublayer>,
}

/// The weights of a stack of blocks, with what they share.
#[derive(Module, Debug)]
pub struct Stack {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// The table of positions.
    pub positions: Option<Weight>,
    /// The table of relative positions.
    pub relative_bias: Option<Weight>,
    /// The norm of what the last block gives.
    pub final_norm: Option<Norm>,
}

impl Linear {
    /// Whether there is W alone.
    pub(crate) fn is_plain(&self) -> bool {
        self.bias.is_none()
    }
}

impl Attention {
    /// Whether none of its layers has a bias.
    pub(crate) fn is_plain(&self) -> bool {
        let linears = [&self.q, &self.k, &self.v, &self.o];
        self.norm.bias.is_none() && linears.iter().all(|linear| linear.is_plain())
    }
}

impl FeedForward {
    /// Whether none of its layers has a bias.
    pub(crate) fn is_plain(&self) -> bool {
        self.norm.bias.is_none() && self.inner.is_plain() && self.outer.is_plain()
    }
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

parts!(Linear: weight, bias);
parts!(Norm: weight, bias);
parts!(Attention: norm, q, k, v, o);
parts!(FeedForward: norm, inner, outer);
parts!(Block: sublayers);
parts!(Stack: blocks, positions, relative_bias, final_norm);

impl Weights for Sublayer {
    fn show<'a>(&'a self, see: &mut dyn FnMut(&'a Weight)) {
        match self {
            Self::Attention(attention) => attention.show(see),
            Self::FeedForward(feed_forward) => feed_forward.show(see),
        }
    }
    fn show_mut<'a>(&'a mut self, see: &mut dyn FnMut(&'a mut Weight)) {
        match self {
            Self::Attention(attention) => attention.show_mut(see),
            Self::FeedForward(feed_forward) => feed_forward.show_mut(see),
        }
    }
}

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
