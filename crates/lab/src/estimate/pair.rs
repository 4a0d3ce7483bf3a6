//! All pairs of spins at once, without exponentials in the inner loop.
//!
//! For a pair with outside fields a, b and coupling c the four weights are e^{±(a+b)+c} and
//! e^{±(a−b)−c}. With F the full fields, a + b = Fᵢ + Fⱼ − c(xᵢ + xⱼ), so everything is a product
//! of e^{Fᵢ}, made once per row, and constants of the pair, made once per call.

use super::ising::Accumulator;

/// Fields beyond this could overflow the products.
const LARGEST: f64 = 60.0;

/// Constants of every pair.
pub(super) struct PairTables {
    sites: usize,
    couplings: Vec<f64>,
    /// e^c, pair after pair (row-major).
    up: Vec<f64>,
}

/// Memory used row after row.
pub(super) struct Scratch {
    /// e^{−Fx}, spin by spin.
    minus: Vec<f64>,
    residuals: Vec<f64>,
}

/// What a pair contributes, seen from the observed spins x: with s the spins under the
/// conditional law, E sᵢxᵢ − 1, E sⱼxⱼ − 1 and E sᵢsⱼxᵢxⱼ.
struct Moments {
    /// The total weight, in units of e^`log`.
    total: f64,
    log: f64,
    first: f64,
    second: f64,
    product: f64,
}

impl PairTables {
    pub(super) fn new(sites: usize, couplings: &[f64]) -> Self {
        let up = couplings.iter().map(|c| c.exp()).collect();
        Self { sites, couplings: couplings.to_vec(), up }
    }

    pub(super) fn scratch(&self) -> Scratch {
        let zero = vec![0.0; self.sites];
        Scratch { minus: zero.clone(), residuals: zero }
    }

    /// Adds all pairs of a row.
    pub(super) fn add(
        &self,
        fields: &[f64],
        spins: &[f64],
        weight: f64,
        scratch: &mut Scratch,
        sum: &mut Accumulator,
    ) {
        let n = self.sites;
        let safe = fields.iter().all(|f| f.abs() < LARGEST)
            && self.couplings.iter().all(|c| c.abs() < LARGEST / 2.0);
        for (i, &f) in fields.iter().enumerate() {
            scratch.minus[i] = (-f * spins[i]).exp();
        }
        scratch.residuals.fill(0.0);
        let mut product = 1.0_f64;
        for i in 1..n {
            for j in 0..i {
                let moments = if safe {
                    self.fast(i, j, spins, scratch)
                } else {
                    self.careful(i, j, fields, spins)
                };
                // Several ratios share a logarithm.
                sum.value += weight * moments.log;
                product *= moments.total;
                if product > 1e100 {
                    sum.value += weight * product.ln();
                    product = 1.0;
                }
                let (ri, rj) = (moments.first, moments.second);
                scratch.residuals[i] += ri;
                scratch.residuals[j] += rj;
                let together = (moments.product - 1.0) * spins[i] * spins[j];
                // What add_residuals will add for this pair although it moved together.
                sum.pairs[i * n + j] += weight * (together - (ri + rj) * spins[i] * spins[j]);
            }
        }
        sum.value += weight * product.ln();
        // Residuals were measured along the observed spins: E s·x − 1.
        for (r, &s) in scratch.residuals.iter_mut().zip(spins) {
            *r *= s * weight;
        }
        sum.add_residuals(&scratch.residuals, spins);
    }

    /// Turned so that both observed spins are up: fields a′ = aᵢxᵢ, b′ = aⱼxⱼ, coupling
    /// c′ = c xᵢxⱼ. The weights relative to (up, up) are e^{−2a′−2c′}, e^{−2b′−2c′}, e^{−2a′−2b′},
    /// and Fᵢxᵢ = a′ + c′, so these are (e^{−Fᵢxᵢ})², (e^{−Fⱼxⱼ})² and their product times e^{4c′}.
    #[inline]
    fn fast(&self, i: usize, j: usize, spins: &[f64], scratch: &Scratch) -> Moments {
        let flip_i = scratch.minus[i] * scratch.minus[i];
        let flip_j = scratch.minus[j] * scratch.minus[j];
        let up = self.up[i * self.sites + j];
        let turned = if spins[i] * spins[j] > 0.0 { up } else { 1.0 / up };
        let quartic = turned * turned * turned * turned;
        relative(1.0, flip_i, flip_j, flip_i * flip_j * quartic, 0.0)
    }

    /// The same where products could overflow: logarithms, scaled by the largest.
    fn careful(&self, i: usize, j: usize, fields: &[f64], spins: &[f64]) -> Moments {
        let c = self.couplings[i * self.sites + j] * spins[i] * spins[j];
        let (fi, fj) = (-2.0 * fields[i] * spins[i], -2.0 * fields[j] * spins[j]);
        let both = fi + fj + 4.0 * c;
        let top = fi.max(fj).max(both).max(0.0);
        let scaled = |x: f64| (x - top).exp();
        relative(scaled(0.0), scaled(fi), scaled(fj), scaled(both), top)
    }
}

/// Moments from the weights of the observed filling and the three others, in units of e^log.
#[inline]
fn relative(observed: f64, flip_i: f64, flip_j: f64, flip_both: f64, log: f64) -> Moments {
    let total = observed + flip_i + flip_j + flip_both;
    let inverse = 1.0 / total;
    Moments {
        total,
        log,
        first: -2.0 * (flip_i + flip_both) * inverse,
        second: -2.0 * (flip_j + flip_both) * inverse,
        product: 1.0 - 2.0 * (flip_i + flip_j) * inverse,
    }
}
