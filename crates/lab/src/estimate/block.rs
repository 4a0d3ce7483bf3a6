//! The conditional law of a block of spins given the others: moments by enumeration, O(2ᵏ k²).

/// A block of k spins in fields with couplings among them.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockLaw {
    /// fᵢ: the field on spin i of the block from outside.
    pub(super) fields: Vec<f64>,
    /// cᵢⱼ inside of the block, k × k.
    pub(super) couplings: Vec<f64>,
    energies: Vec<f64>,
    /// E sᵢ.
    pub(super) mean: Vec<f64>,
    /// E sᵢsⱼ, k × k.
    pub(super) second: Vec<f64>,
}

impl BlockLaw {
    /// Fills in all 2ᵏ log-weights by doubling.
    fn enumerate(&mut self) {
        let k = self.fields.len();
        let down: f64 = (0..k)
            .map(|i| {
                let pairs: f64 = (0..i).map(|j| self.couplings[i * k + j]).sum();
                pairs - self.fields[i]
            })
            .sum();
        self.energies.clear();
        self.energies.push(down);
        for i in 0..k {
            for x in 0..1_usize << i {
                let mut field = self.fields[i];
                for j in 0..k {
                    let c = self.couplings[i * k + j];
                    field += if x >> j & 1 == 1 { c } else { -c };
                }
                self.energies.push(2.0_f64.mul_add(field, self.energies[x]));
            }
        }
    }

    /// Computes the moments; returns −ln of the probability of the observed spins (bits).
    pub(super) fn solve(&mut self, observed: usize) -> f64 {
        self.enumerate();
        let k = self.fields.len();
        let top = self.energies.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let seen = self.energies[observed];
        let mut total = 0.0;
        self.mean.clear();
        self.mean.resize(k, 0.0);
        self.second.clear();
        self.second.resize(k * k, 0.0);
        for (x, &energy) in self.energies.iter().enumerate() {
            let weight = (energy - top).exp();
            total += weight;
            for i in 0..k {
                let s = if x >> i & 1 == 1 { weight } else { -weight };
                self.mean[i] += s;
                for j in 0..i {
                    self.second[i * k + j] += if x >> j & 1 == 1 { s } else { -s };
                }
            }
        }
        self.mean.iter_mut().for_each(|m| *m /= total);
        for i in 0..k {
            for j in 0..i {
                self.second[i * k + j] /= total;
                self.second[j * k + i] = self.second[i * k + j];
            }
        }
        total.ln() + top - seen
    }

    /// The probabilities of all fillings, after [`BlockLaw::solve`].
    pub(super) fn law(&self) -> Vec<f64> {
        let top = self.energies.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = self.energies.iter().map(|e| (e - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(|w| w / total).collect()
    }
}

impl BlockLaw {
    /// The smallest and largest energy by which the observed filling exceeds another.
    pub(super) fn margins(&mut self, observed: usize) -> (f64, f64) {
        self.enumerate();
        let seen = self.energies[observed];
        let margins = self.energies.iter().map(|e| seen - e);
        margins.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), m| (a.min(m), b.max(m)))
    }
}
