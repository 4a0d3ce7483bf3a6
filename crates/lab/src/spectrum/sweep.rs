//! What replaces the spectral gap for scans, whose sweeps P = P₁⋯Pₘ are not reversible.
//!
//! Two numbers say how fast sweeps forget (Fill 1991):
//!
//! - |λ₂|, the second largest modulus of an eigenvalue of P: in the long run TV falls by this factor a
//!   sweep.
//! - σ₂², the second largest eigenvalue of PP*: χ² falls at least by this factor in *every* sweep.
//!   PP* = P₁⋯Pₘ⋯P₁ is the sweep there and back, reversible, and its gap is 1 − σ₂².
//!
//! Always |λ₂| ≤ σ₂, and with two blocks |λ₂| = σ₂². Dense, O(S³); small gaps come from inverse
//! iteration without subtraction, as for reversible chains.

use super::{SMALL_GAP, SpectrumError, inverse_iteration};
use crate::chain::{Blocks, ChainError, Matrix, block, sweep_matrix, symmetric_matrix};
use crate::distribution::Distribution;
use crate::wide::Wide;
use faer::Mat;

use super::DENSE_STATES;

/// How fast sweeps forget.
#[derive(Clone, Copy, Debug)]
pub struct SweepSpectrum {
    /// |λ₂|.
    pub second: f64,
    /// 1/(1 − |λ₂|), with its digits where |λ₂| is near one.
    pub relaxation: Wide,
    /// σ₂².
    pub contraction: f64,
    /// 1/(1 − σ₂²): the Poincaré constant of the sweep there and back.
    pub reversible: Wide,
    /// An estimate of the relative error of the constants.
    pub error: f64,
}

impl SweepSpectrum {
    /// Sweeps after which the slowest part has fallen by a factor e: −1/ln |λ₂|.
    pub fn e_fold(&self) -> f64 {
        let gap = (Wide::ONE / self.relaxation).to_f64();
        if gap >= 1.0 { 0.0 } else { -1.0 / (-gap).ln_1p() }
    }
}

/// The spectrum of a sweep over blocks in their order.
///
/// # Errors
/// If the space is too large, a block makes no sense, or the sweeps do not connect all states.
pub fn sweep_spectrum(
    p: &Distribution,
    sweep: &[Vec<usize>],
) -> Result<SweepSpectrum, SpectrumError> {
    if p.space().size() > DENSE_STATES {
        return Err(ChainError::Unfit("spectra of scans are computed on up to 1024 states").into());
    }
    let possible: Vec<usize> =
        (0..p.space().size()).filter(|&x| p.log_prob(x) > f64::NEG_INFINITY).collect();
    if possible.len() == 1 {
        let one = Wide::ONE;
        return Ok(SweepSpectrum {
            second: 0.0,
            relaxation: one,
            contraction: 0.0,
            reversible: one,
            error: 0.0,
        });
    }
    // D^½ P D^−½ is the product of the symmetric forms of the updates.
    let size = possible.len();
    let mut product = Mat::<f64>::identity(size, size);
    for positions in sweep {
        let update = symmetric_matrix(p, &Blocks::of(&block(positions.clone()), p.space())?)?;
        let update = Mat::from_fn(size, size, |i, j| update.at(possible[i], possible[j]));
        product = &product * &update;
    }
    let mut values: Vec<(f64, bool)> = product
        .eigenvalues()
        .map_err(|_| SpectrumError::NoConvergence)?
        .into_iter()
        .map(|v| (v.re.hypot(v.im), v.im.abs() <= 1e-12 && v.re > 0.0))
        .collect();
    values.sort_by(|a, b| b.0.total_cmp(&a.0));
    let there_and_back = &product * product.transpose();
    let squares = there_and_back
        .self_adjoint_eigenvalues(faer::Side::Lower)
        .map_err(|_| SpectrumError::NoConvergence)?;
    let contraction = squares[size - 2].clamp(0.0, 1.0);
    let (second, real) = values[1];
    let mut error = f64::EPSILON * (size as f64).sqrt() / (1.0 - second).max(f64::EPSILON);
    let mut relaxation = Wide::new(1.0 / (1.0 - second).max(f64::MIN_POSITIVE));
    if 1.0 - second < SMALL_GAP {
        if !real {
            return Err(SpectrumError::NotErgodic);
        }
        relaxation = slow(p, &sweep_matrix_of(p, sweep)?)?;
        error = 1e-11;
    }
    let mut reversible = Wide::new(1.0 / (1.0 - contraction).max(f64::MIN_POSITIVE));
    if 1.0 - contraction < SMALL_GAP {
        let back: Vec<Vec<usize>> = sweep.iter().chain(sweep.iter().rev()).cloned().collect();
        reversible = slow(p, &sweep_matrix_of(p, &back)?)?;
    }
    Ok(SweepSpectrum { second, relaxation, contraction, reversible, error })
}

fn sweep_matrix_of(p: &Distribution, sweep: &[Vec<usize>]) -> Result<Matrix<Wide>, ChainError> {
    sweep_matrix::<Wide>(p, sweep)
}

/// 1/(1 − λ) of the real eigenvalue nearest to one.
fn slow(p: &Distribution, matrix: &Matrix<Wide>) -> Result<Wide, SpectrumError> {
    Ok(inverse_iteration(p, matrix)?.constant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Scan;
    use crate::graph::Shape;
    use crate::model::{Ising, Model};
    use crate::spectrum::poincare;
    use padir_base::mask::{Block, MaskLaw};

    fn model(n: usize, h: f64, j: f64) -> Model {
        Model::Ising(Ising::uniform(n, &Shape::Chain { periodic: false }, h, j).unwrap())
    }

    /// Two projections at angle θ: P₁P₂ has |λ₂| = σ₂² = cos² θ, and drawing one of them at random
    /// has λ₂ = (1 + cos θ)/2.
    #[test]
    fn two_colours_are_two_projections() {
        for (n, h, j) in [(4, 0.2, 0.5), (6, 0.0, 1.0), (5, 0.4, 3.0), (4, 0.1, 9.0)] {
            let model = model(n, h, j);
            let p = model.enumerate().unwrap();
            let sweep = Scan::Colour.sweep(&model, &MaskLaw::Exactly { k: 1 }).unwrap().unwrap();
            assert_eq!(sweep.len(), 2);
            let found = sweep_spectrum(&p, &sweep).unwrap();
            let ratio = (found.relaxation / found.reversible).to_f64();
            assert!((ratio - 1.0).abs() < 1e-8, "N = {n}, J = {j}: {ratio}");
            let blocks =
                sweep.iter().map(|b| Block { positions: b.clone(), weight: 1.0 }).collect();
            let random = poincare(&p, &MaskLaw::Blocks { blocks }, || ()).unwrap().constant();
            // 1 − cos θ = 2/C, 1 − cos² θ = (1 − cos θ)(2 − (1 − cos θ)).
            let gap = 2.0 / random;
            let expected = 1.0 / (gap * (2.0 - gap));
            let relaxation = found.relaxation.to_f64();
            assert!(
                (relaxation / expected - 1.0).abs() < 1e-8,
                "N = {n}, J = {j}: {relaxation} {expected}"
            );
        }
    }

    /// Independent sites: one sweep forgets everything.
    #[test]
    fn a_sweep_over_independent_sites_is_exact() {
        let model = Model::Ising(Ising::uniform(3, &Shape::Independent, 0.5, 0.0).unwrap());
        let p = model.enumerate().unwrap();
        for scan in [Scan::Systematic, Scan::Colour] {
            let sweep = scan.sweep(&model, &MaskLaw::Exactly { k: 1 }).unwrap().unwrap();
            let found = sweep_spectrum(&p, &sweep).unwrap();
            assert!(found.second < 1e-5 && found.contraction < 1e-10, "{found:?}");
            assert!(found.e_fold() < 0.1);
        }
    }

    /// |λ₂| ≤ σ₂ for any order.
    #[test]
    fn contraction_bounds_the_rate() {
        let model = model(5, 0.3, 0.8);
        let p = model.enumerate().unwrap();
        for k in 1..=3 {
            let sweep = Scan::Systematic.sweep(&model, &MaskLaw::Exactly { k }).unwrap().unwrap();
            let found = sweep_spectrum(&p, &sweep).unwrap();
            assert!(found.second <= found.contraction.sqrt() + 1e-12, "k = {k}: {found:?}");
        }
    }
}
