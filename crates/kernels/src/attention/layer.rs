//! The attention layers: norm, four matrices, attention, residual.
//!
//! | layer | computes |
//! |---|---|
//! | [`Kind::Own`] | x + drop(A(nWqᵀ, nWkᵀ, nWvᵀ)·Woᵀ), n = norm(x) |
//! | [`Kind::Memory`] | x + drop(A(nWqᵀ, mWkᵀ, mWvᵀ)·Woᵀ), m a memory |
//! | [`Kind::Positions`] | x + drop(A(nWqᵀ, nWkᵀ, xWvᵀ)·Woᵀ), n = norm(positions) |
//!
//! Positions are the same for all sentences, so their queries and keys are computed once, for as many positions as the
//! longest sentence has.

use super::core::{self, Core};
use crate::dropout::{Dropout, apply, masked};
use crate::matrix::{Matrix, Product, run_all};
use crate::norm;
use crate::slot::Slot;

/// What is attended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The sentence itself.
    Own,
    /// A memory, such as the encoder's output.
    Memory,
    /// The sentence, by position alone.
    Positions,
}

/// The weights.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// The scale of the norm, d numbers.
    pub norm: &'a [f32],
    /// Wq, hw × d for h heads of w numbers.
    pub q: &'a [f32],
    /// Wk, hw × d.
    pub k: &'a [f32],
    /// Wv, hw × d.
    pub v: &'a [f32],
    /// Wo, d × hw.
    pub o: &'a [f32],
}

/// Where their gradients go.
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Of the scale.
    pub norm: Slot<'a>,
    /// Of Wq.
    pub q: Slot<'a>,
    /// Of Wk.
    pub k: Slot<'a>,
    /// Of Wv.
    pub v: Slot<'a>,
    /// Of Wo.
    pub o: Slot<'a>,
    /// Of the bias, if there is one.
    pub bias: Option<Slot<'a>>,
}

/// The layer for one batch.
#[derive(Clone, Debug)]
pub struct Layer<'a> {
    /// What is attended to.
    pub kind: Kind,
    /// The attention itself.
    pub core: Core<'a>,
    /// ε of the norm.
    pub epsilon: f32,
    /// Dropout of what is added to x.
    pub output: Dropout,
}

/// What the gradient needs besides x and the side input.
#[derive(Clone, Debug)]
pub struct Saved {
    normalised: Vec<f32>,
    norm: norm::Saved,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    context: Vec<f32>,
    core: core::Saved,
}

impl Layer<'_> {
    /// y. The side input is the memory or the table of positions; `Own` has none (an empty slice).
    pub fn forward(&self, x: &[f32], side: &[f32], w: Weights<'_>) -> (Vec<f32>, Saved) {
        let d = w.norm.len();
        let wide = w.q.len() / d;
        let side = self.side(side, d);
        let normed = if self.kind == Kind::Positions { side } else { x };
        let (normalised, norm) = norm::forward(normed, w.norm, self.epsilon);
        let (from_k, from_v) = match self.kind {
            Kind::Own => (normalised.as_slice(), normalised.as_slice()),
            Kind::Memory => (side, side),
            Kind::Positions => (normalised.as_slice(), x),
        };
        let mut q = vec![0.0; normalised.len() / d * wide];
        let mut k = vec![0.0; from_k.len() / d * wide];
        let mut v = vec![0.0; from_v.len() / d * wide];
        run_all(vec![
            linear(&normalised, w.q, d, &mut q),
            linear(from_k, w.k, d, &mut k),
            linear(from_v, w.v, d, &mut v),
        ]);
        let (context, core) = self.core.forward(&q, &k, &v, wide);
        let masks = self.output.masks(self.core.queries, d);
        let add = |token: usize, column: usize, piece: &mut [f32]| {
            apply(masks.as_ref(), token, column, piece);
            crate::simd::add(piece, &x[token * d + column..]);
        };
        let mut y = vec![0.0; x.len()];
        linear(&context, w.o, wide, &mut y).finish(&add).run();
        (y, Saved { normalised, norm, q, k, v, context, core })
    }

    /// The rows of the side input that matter.
    fn side<'s>(&self, side: &'s [f32], d: usize) -> &'s [f32] {
        match self.kind {
            Kind::Positions => &side[..self.core.queries.longest() * d],
            Kind::Own | Kind::Memory => side,
        }
    }

    /// The gradients of x and of the side input (`Own`: empty).
    pub fn backward(
        &self,
        x: &[f32],
        side: &[f32],
        w: Weights<'_>,
        saved: &Saved,
        dy: &[f32],
        mut to: Gradients<'_>,
    ) -> (Vec<f32>, Vec<f32>) {
        let d = w.norm.len();
        let wide = w.q.len() / d;
        let whole_side = side.len();
        let side = self.side(side, d);
        let tokens = x.len() / d;
        let masked = masked(self.output.masks(self.core.queries, d).as_ref(), dy);
        let dz = masked.as_deref().unwrap_or(dy);
        let mut dcontext = vec![0.0; tokens * wide];
        run_all(vec![
            unlinear(dz, w.o, d, &mut dcontext),
            weight_gradient(dz, &saved.context, d, &mut to.o),
        ]);
        let factors = [saved.q.as_slice(), &saved.k, &saved.v];
        let [dq, dk, dv] =
            self.core.backward(factors, wide, &saved.core, &dcontext, to.bias.as_mut());

        let mut dx = dy.to_vec();
        let mut dnormalised = vec![0.0; saved.normalised.len()];
        match self.kind {
            Kind::Own => {
                unlinear(&dq, w.q, wide, &mut dnormalised).run();
                unlinear(&dk, w.k, wide, &mut dnormalised).onto(crate::matrix::Onto::Add).run();
                let n = &saved.normalised;
                run_all(vec![
                    unlinear(&dv, w.v, wide, &mut dnormalised).onto(crate::matrix::Onto::Add),
                    weight_gradient(&dq, n, wide, &mut to.q),
                    weight_gradient(&dk, n, wide, &mut to.k),
                    weight_gradient(&dv, n, wide, &mut to.v),
                ]);
                norm::backward(x, w.norm, &saved.norm, &dnormalised, &mut dx, &mut to.norm);
                (dx, Vec::new())
            }
            Kind::Memory => {
                let mut dside = vec![0.0; side.len()];
                unlinear(&dk, w.k, wide, &mut dside).run();
                run_all(vec![
                    unlinear(&dq, w.q, wide, &mut dnormalised),
                    unlinear(&dv, w.v, wide, &mut dside).onto(crate::matrix::Onto::Add),
                    weight_gradient(&dq, &saved.normalised, wide, &mut to.q),
                    weight_gradient(&dk, side, wide, &mut to.k),
                    weight_gradient(&dv, side, wide, &mut to.v),
                ]);
                norm::backward(x, w.norm, &saved.norm, &dnormalised, &mut dx, &mut to.norm);
                (dx, dside)
            }
            Kind::Positions => {
                let n = &saved.normalised;
                unlinear(&dq, w.q, wide, &mut dnormalised).run();
                run_all(vec![
                    unlinear(&dk, w.k, wide, &mut dnormalised).onto(crate::matrix::Onto::Add),
                    unlinear(&dv, w.v, wide, &mut dx).onto(crate::matrix::Onto::Add),
                    weight_gradient(&dq, n, wide, &mut to.q),
                    weight_gradient(&dk, n, wide, &mut to.k),
                    weight_gradient(&dv, x, wide, &mut to.v),
                ]);
                let mut dside = vec![0.0; whole_side];
                let used = &mut dside[..side.len()];
                norm::backward(side, w.norm, &saved.norm, &dnormalised, used, &mut to.norm);
                (dx, dside)
            }
        }
    }
}

/// out ← x·Wᵀ for a weight of `columns` columns.
fn linear<'a>(x: &'a [f32], weight: &'a [f32], columns: usize, out: &'a mut [f32]) -> Product<'a> {
    let x = Matrix::new(x, x.len() / columns, columns);
    Product::new(x, Matrix::new(weight, weight.len() / columns, columns).transposed(), out)
}

/// out ← dy·W for a weight of `rows` rows.
fn unlinear<'a>(dy: &'a [f32], weight: &'a [f32], rows: usize, out: &'a mut [f32]) -> Product<'a> {
    Product::new(
        Matrix::new(dy, dy.len() / rows, rows),
        Matrix::new(weight, rows, weight.len() / rows),
        out,
    )
}

/// dW ← (dW +) dyᵀ·x for a weight of `rows` rows.
fn weight_gradient<'a>(
    dy: &'a [f32],
    x: &'a [f32],
    rows: usize,
    slot: &'a mut Slot<'_>,
) -> Product<'a> {
    let tokens = dy.len() / rows;
    let columns = slot.data.len() / rows;
    let dy = Matrix::new(dy, tokens, rows).transposed();
    Product::new(dy, Matrix::new(x, tokens, columns), slot.data).onto(slot.onto)
}
