//! The little dense linear algebra of the laboratory: inverses and eigenvalues of symmetric
//! matrices, one thread, so that results never depend on how many there are.

use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::{Mat, Side};

use crate::chain::Matrix;

fn to_faer(matrix: &Matrix<f64>) -> Mat<f64> {
    // Rounding may leave the two triangles apart by a bit.
    Mat::from_fn(matrix.size(), matrix.size(), |i, j| {
        f64::midpoint(matrix.at(i, j), matrix.at(j, i))
    })
}

fn from_faer(mat: &Mat<f64>) -> Matrix<f64> {
    let mut matrix = Matrix::zero(mat.nrows());
    for i in 0..mat.nrows() {
        for j in 0..mat.ncols() {
            matrix.set(i, j, mat[(i, j)]);
        }
    }
    matrix
}

/// The inverse of a symmetric positive definite matrix; `None` if it is not.
///
/// Scaled to unit diagonal first, so that parameters of very different precision do not spoil
/// each other.
pub(crate) fn inverse(matrix: &Matrix<f64>) -> Option<Matrix<f64>> {
    let n = matrix.size();
    let scale: Vec<f64> = (0..n).map(|i| 1.0 / matrix.at(i, i).sqrt()).collect();
    if !scale.iter().all(|s| s.is_finite()) {
        return None;
    }
    let scaled = to_faer(matrix);
    let scaled = Mat::from_fn(n, n, |i, j| scaled[(i, j)] * scale[i] * scale[j]);
    let smallest = scaled.self_adjoint_eigenvalues(Side::Lower).ok()?.first().copied()?;
    if smallest < 1e-13 {
        return None;
    }
    let mut inverse = from_faer(&scaled.llt(Side::Lower).ok()?.inverse());
    for i in 0..n {
        for j in 0..n {
            let value = inverse.at(i, j) * scale[i] * scale[j];
            inverse.set(i, j, value);
        }
    }
    Some(inverse)
}

/// The solution of A x = b for symmetric positive definite A; `None` if it is not.
pub(crate) fn solve(matrix: &Matrix<f64>, b: &[f64]) -> Option<Vec<f64>> {
    let factor = to_faer(matrix).llt(Side::Lower).ok()?;
    let side = Mat::from_fn(b.len(), 1, |i, _| b[i]);
    let x = factor.solve(&side);
    let x: Vec<f64> = (0..b.len()).map(|i| x[(i, 0)]).collect();
    x.iter().all(|v| v.is_finite()).then_some(x)
}

/// A V A for symmetric matrices.
pub(crate) fn sandwich(bread: &Matrix<f64>, filling: &Matrix<f64>) -> Matrix<f64> {
    let (bread, filling) = (to_faer(bread), to_faer(filling));
    from_faer(&(&(&bread * &filling) * &bread))
}

/// The trace over some of the indices.
pub(crate) fn trace(matrix: &Matrix<f64>, indices: impl Iterator<Item = usize>) -> f64 {
    indices.map(|i| matrix.at(i, i)).sum()
}

/// All eigenvalues, smallest first, and the eigenvectors as columns; `None` if the iteration fails.
pub(crate) fn eigen(matrix: &Matrix<f64>) -> Option<(Vec<f64>, Matrix<f64>)> {
    let solved = to_faer(matrix).self_adjoint_eigen(Side::Lower).ok()?;
    let values = solved.S().column_vector();
    let n = matrix.size();
    let mut vectors = Matrix::zero(n);
    for i in 0..n {
        for j in 0..n {
            vectors.set(i, j, solved.U()[(i, j)]);
        }
    }
    Some(((0..n).map(|i| values[i]).collect(), vectors))
}

/// The eigenvector of the `rank`-th largest eigenvalue (0 is the largest).
pub(crate) fn eigenvector(matrix: &Matrix<f64>, rank: usize) -> Option<Vec<f64>> {
    let solved = to_faer(matrix).self_adjoint_eigen(Side::Lower).ok()?;
    let column = matrix.size().checked_sub(1 + rank)?;
    Some((0..matrix.size()).map(|i| solved.U()[(i, column)]).collect())
}
