//! The feed-forward layer: y = x + drop(drop(relu(n(x)·Wᵢᵀ))·Wₒᵀ).

use crate::dropout::{Dropout, apply, masked};
use crate::matrix::{Matrix, Product};
use crate::norm;
use crate::simd;
use crate::slot::Slot;
use padir_base::ragged::Ragged;

/// The weights.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// The scale of the norm, d numbers.
    pub norm: &'a [f32],
    /// Wᵢ, ff × d.
    pub inner: &'a [f32],
    /// Wₒ, d × ff.
    pub outer: &'a [f32],
}

/// Where their gradients go.
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Of the scale.
    pub norm: Slot<'a>,
    /// Of Wᵢ.
    pub inner: Slot<'a>,
    /// Of Wₒ.
    pub outer: Slot<'a>,
}

/// The layer for one batch.
#[derive(Clone, Debug)]
pub struct Layer<'a> {
    /// The batch.
    pub rows: &'a Ragged,
    /// ε of the norm.
    pub epsilon: f32,
    /// Dropout of the hidden layer.
    pub hidden: Dropout,
    /// Dropout of what is added to x.
    pub output: Dropout,
}

/// What the gradient needs besides x.
#[derive(Clone, Debug)]
pub struct Saved {
    normalised: Vec<f32>,
    norm: norm::Saved,
    hidden: Vec<f32>,
}

impl Layer<'_> {
    /// y.
    pub fn forward(&self, x: &[f32], w: Weights<'_>) -> (Vec<f32>, Saved) {
        let (tokens, d, ff) = (self.rows.tokens(), w.norm.len(), w.inner.len() / w.norm.len());
        let (normalised, norm) = norm::forward(x, w.norm, self.epsilon);
        let masks = self.hidden.masks(self.rows, ff);
        let rectify = |token: usize, column: usize, piece: &mut [f32]| {
            simd::rectify(piece);
            apply(masks.as_ref(), token, column, piece);
        };
        let mut hidden = vec![0.0; tokens * ff];
        let inner = Matrix::new(w.inner, ff, d).transposed();
        Product::new(Matrix::new(&normalised, tokens, d), inner, &mut hidden)
            .finish(&rectify)
            .run();

        let masks = self.output.masks(self.rows, d);
        let add = |token: usize, column: usize, piece: &mut [f32]| {
            apply(masks.as_ref(), token, column, piece);
            simd::add(piece, &x[token * d + column..]);
        };
        let mut y = vec![0.0; tokens * d];
        let outer = Matrix::new(w.outer, d, ff).transposed();
        Product::new(Matrix::new(&hidden, tokens, ff), outer, &mut y).finish(&add).run();
        (y, Saved { normalised, norm, hidden })
    }

    /// dx.
    pub fn backward(
        &self,
        x: &[f32],
        w: Weights<'_>,
        saved: &Saved,
        dy: &[f32],
        mut to: Gradients<'_>,
    ) -> Vec<f32> {
        let (tokens, d, ff) = (self.rows.tokens(), w.norm.len(), w.inner.len() / w.norm.len());
        let masks = self.output.masks(self.rows, d);
        let masked = masked(masks.as_ref(), dy);
        let dz = Matrix::new(masked.as_deref().unwrap_or(dy), tokens, d);
        // A hidden unit that is 0 was cut off or dropped; the others were scaled by dropout.
        let scale = if self.hidden.is_active() { 1.0 / (1.0 - self.hidden.rate) } else { 1.0 };
        let hidden = &saved.hidden;
        let cut = |token: usize, column: usize, piece: &mut [f32]| {
            simd::cut(piece, &hidden[token * ff + column..], scale);
        };
        let mut dhidden = vec![0.0; tokens * ff];
        Product::new(dz, Matrix::new(w.outer, d, ff), &mut dhidden).finish(&cut).run();
        let mut dnormalised = vec![0.0; tokens * d];
        let dhidden = Matrix::new(&dhidden, tokens, ff);
        crate::matrix::run_all(vec![
            Product::new(dhidden, Matrix::new(w.inner, ff, d), &mut dnormalised),
            Product::new(dz.transposed(), Matrix::new(hidden, tokens, ff), to.outer.data)
                .onto(to.outer.onto),
            Product::new(
                dhidden.transposed(),
                Matrix::new(&saved.normalised, tokens, d),
                to.inner.data,
            )
            .onto(to.inner.onto),
        ]);
        let mut dx = dy.to_vec();
        norm::backward(x, w.norm, &saved.norm, &dnormalised, &mut dx, &mut to.norm);
        dx
    }
}
