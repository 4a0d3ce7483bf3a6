//! Asymptotic variances: Fisher information, Γ of any mask law, and the order between them.
//!
//! For a law over masks the estimator minimises E −log `p(x_K` | x₋ₖ, K). At the truth its Hessian
//! equals the covariance of its score (the information-matrix equality),
//!
//! ```text
//! H = E Cov(T | x₋ₖ, K) = ⟨T, (1 − P) T⟩ₚ,      Γ = H⁻¹,
//! ```
//!
//! P being the block dynamics of the same law. K = everything gives the Fisher information I.
//!
//! At strong coupling H has a condition number of 10³⁰ and more. Where that is affordable it is
//! therefore summed, inverted and compared in numbers of as many bits as the span of the
//! probabilities asks for (`precise`), `Σ_K` (q^(N−k) d² + qᴺ d) operations; else in floats
//! (`hessian`), with an estimate of the digits that are right.

mod cost;
mod hessian;
mod precise;
mod regularity;
mod sandwich;

pub use cost::Cost;
pub use hessian::{dirichlet_hessian, hessian, score_covariance};
pub use regularity::{Regularity, RegularitySettings};
pub(crate) use sandwich::add_square;
pub use sandwich::{Sandwich, SandwichError, Variability, information_gap, sandwich, variability};

use std::collections::{BTreeMap, BTreeSet};

use padir_base::mask::MaskLaw;
use thiserror::Error;

use crate::chain::{Blocks, ChainError, Matrix};
use crate::distribution::Distribution;
use crate::linalg;
use crate::model::Family;
use crate::spectrum::{Poincare, SpectrumError, poincare};
use precise::{Bits, Hessians};

pub use precise::Order;

/// An asymptotic variance that does not exist.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum AsymptoticError {
    /// The law cannot be analysed.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The spectrum cannot be found.
    #[error(transparent)]
    Spectrum(#[from] SpectrumError),
    /// The Hessian is singular.
    #[error("the Hessian of the {0} is singular: it does not identify all parameters")]
    Singular(String),
    /// The probabilities span too much.
    #[error(
        "the probabilities span e^{span:.0}; asymptotic variances need {bits:.0} bits, and stop at {}",
        precise::MOST_BITS
    )]
    Span {
        /// ln of the largest over the smallest positive probability.
        span: f64,
        /// The bits that would be needed.
        bits: f64,
    },
}

/// What is known about one block size.
#[derive(Clone, Debug)]
pub struct BlockSize {
    /// k.
    pub k: usize,
    /// tr Γᵏ over all parameters; none for a table, which has none.
    pub trace: Option<f64>,
    /// tr over the J block of Γᵏ.
    pub trace_j: Option<f64>,
    /// C of k-Gibbs.
    pub poincare: Poincare,
    /// Γᵏ⁺¹ ⪯ Γᵏ; none for k = N.
    pub mono: Option<Order>,
    /// Γᵏ ⪯ C·I⁻¹.
    pub bound: Option<Order>,
    /// Γᵏ.
    pub variance: Option<Matrix<f64>>,
    /// An estimate of the relative error of the traces.
    pub error: f64,
}

/// Γᵏ, the Poincaré constants and the orders between them, for the given block sizes.
///
/// Γᵏ⁺¹ and Γᴺ are computed along with each. `tick` is called after each matrix and now and then
/// in between.
///
/// # Errors
/// If a Hessian is singular, a size is out of range or a chain cannot be analysed.
pub fn by_block_size(
    p: &Distribution,
    family: Option<&Family>,
    sizes: &[usize],
    tick: impl Fn(),
) -> Result<Vec<BlockSize>, AsymptoticError> {
    let sites = p.space().sites();
    if let Some(&k) = sizes.iter().find(|k| !(1..=sites).contains(*k)) {
        return Err(ChainError::Size { k, sites }.into());
    }
    let constants: Vec<(usize, Poincare)> = sizes
        .iter()
        .map(|&k| {
            let found = poincare(p, &MaskLaw::Exactly { k }, &tick);
            tick();
            found.map(|poincare| (k, poincare))
        })
        .collect::<Result<_, _>>()?;
    let Some(family) = family else {
        return Ok(constants.into_iter().map(|(k, poincare)| bare(k, poincare)).collect());
    };
    let laws: BTreeMap<usize, MaskLaw> = sizes
        .iter()
        .flat_map(|&k| [k, (k + 1).min(sites), sites])
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|k| (k, MaskLaw::Exactly { k }))
        .collect();
    Bits::needed(p, family, &laws)?.run(Rows { p, family, laws, constants, tick: &tick })
}

fn bare(k: usize, poincare: Poincare) -> BlockSize {
    BlockSize {
        k,
        trace: None,
        trace_j: None,
        poincare,
        mono: None,
        bound: None,
        variance: None,
        error: 0.0,
    }
}

/// The work of [`by_block_size`], at any number of bits.
struct Rows<'a, F> {
    p: &'a Distribution,
    family: &'a Family,
    laws: BTreeMap<usize, MaskLaw>,
    constants: Vec<(usize, Poincare)>,
    tick: &'a F,
}

impl<F: Fn()> precise::Task for Rows<'_, F> {
    type Output = Vec<BlockSize>;

    fn run<const L: usize>(
        self,
        narrow: Option<precise::Narrow>,
    ) -> Result<Self::Output, AsymptoticError> {
        let mut hessians = Hessians::<L>::new(self.p, self.family, narrow);
        for (&k, law) in &self.laws {
            hessians.insert(k, law, format!("{k}-pseudolikelihood"))?;
            (self.tick)();
        }
        let sites = self.p.space().sites();
        let rows = self.constants.iter().map(|&(k, poincare)| {
            let variance = hessians.variance(k);
            let row = BlockSize {
                trace: Some(linalg::trace(&variance, 0..variance.size())),
                trace_j: Some(linalg::trace(&variance, self.family.couplings())),
                mono: (k < sites).then(|| hessians.mono(k + 1, k)),
                bound: Some(hessians.bound(k, sites, poincare.constant)),
                variance: Some(variance),
                error: hessians.error(k),
                ..bare(k, poincare)
            };
            (self.tick)();
            row
        });
        Ok(rows.collect())
    }
}

/// Γ of one law, its Poincaré constant, and how far Γ ⪯ C·I⁻¹ holds.
#[derive(Clone, Debug)]
pub struct LawVariance {
    /// Γ.
    pub variance: Matrix<f64>,
    /// tr Γ.
    pub trace: f64,
    /// tr of the J block of Γ.
    pub trace_j: f64,
    /// C of the law's block dynamics.
    pub poincare: Poincare,
    /// Γ ⪯ C·I⁻¹.
    pub bound: Order,
    /// max |Hessian − covariance of the score|: the information-matrix equality.
    pub information_gap: f64,
    /// An estimate of the relative error of the traces.
    pub error: f64,
}

/// The asymptotics of any mask law, adaptive or not.
///
/// # Errors
/// If a Hessian is singular or the chain cannot be analysed.
pub fn of_law(
    p: &Distribution,
    family: &Family,
    law: &MaskLaw,
) -> Result<LawVariance, AsymptoticError> {
    let poincare = poincare(p, law, || ())?;
    let covariance = score_covariance(p, family, &Blocks::of(law, p.space())?)?;
    let other = dirichlet_hessian(p, family, law)?;
    let entries = (0..covariance.size()).flat_map(|i| covariance.row(i).iter().zip(other.row(i)));
    let information_gap = entries.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let laws = BTreeMap::from([(LAW, law.clone()), (ALL, MaskLaw::All)]);
    let bits = Bits::needed(p, family, &laws)?;
    bits.run(OneLaw { p, family, law, poincare, information_gap })
}

/// The numbers of the law and of the likelihood.
const LAW: usize = 0;
const ALL: usize = 1;

/// The work of [`of_law`], at any number of bits.
struct OneLaw<'a> {
    p: &'a Distribution,
    family: &'a Family,
    law: &'a MaskLaw,
    poincare: Poincare,
    information_gap: f64,
}

impl precise::Task for OneLaw<'_> {
    type Output = LawVariance;

    fn run<const L: usize>(
        self,
        narrow: Option<precise::Narrow>,
    ) -> Result<LawVariance, AsymptoticError> {
        let mut hessians = Hessians::<L>::new(self.p, self.family, narrow);
        hessians.insert(LAW, self.law, "weighted likelihood".to_owned())?;
        hessians.insert(ALL, &MaskLaw::All, "likelihood".to_owned())?;
        let variance = hessians.variance(LAW);
        Ok(LawVariance {
            trace: linalg::trace(&variance, 0..variance.size()),
            trace_j: linalg::trace(&variance, self.family.couplings()),
            bound: hessians.bound(LAW, ALL, self.poincare.constant),
            error: hessians.error(LAW),
            poincare: self.poincare,
            information_gap: self.information_gap,
            variance,
        })
    }
}
