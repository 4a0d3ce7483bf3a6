//! k-Gibbs on the clique model in O(k) a step.
//!
//! Of the k hidden vertices, j lie in the clique; given the r spins up among the clique's others,
//! the number b of the j that come up has weight C(j, b) w(r + b), and which of them is uniform.
//! Free vertices are independent coins.

use padir_base::random::Stream;

use super::{Kernel, below};
use crate::chain::ChainError;
use crate::chance::Coin;
use crate::model::Clique;
use crate::wide::Wide;

/// k-Gibbs of a clique model whose clique has one common field.
#[derive(Clone, Debug)]
pub struct CliqueBlocks {
    sites: usize,
    size: usize,
    k: usize,
    /// The law of b for every (j, r), as coins tossed in turn.
    laws: Vec<Vec<(u8, Coin)>>,
    free: Vec<Coin>,
}

impl CliqueBlocks {
    /// The chain with blocks of k.
    ///
    /// # Errors
    /// If k is out of range, or the clique's fields differ or it is larger than 255.
    pub fn new(model: &Clique, k: usize) -> Result<Self, ChainError> {
        let (sites, size) = (model.sites(), model.size());
        if !(1..=sites).contains(&k) {
            return Err(ChainError::Size { k, sites });
        }
        let h = model
            .common_field()
            .ok_or(ChainError::Unfit("the fields of the clique's vertices differ"))?;
        if size > 255 {
            return Err(ChainError::Unfit("the clique has more than 255 vertices"));
        }
        let mut laws = Vec::with_capacity((size + 1) * (size + 1));
        for j in 0..=size {
            for rest in 0..=size {
                laws.push(if j + rest <= size { law(model, h, j, rest) } else { Vec::new() });
            }
        }
        let free = model.fields()[size..].iter().map(|h| Coin::from_log_odds(2.0 * h)).collect();
        Ok(Self { sites, size, k, laws, free })
    }

    fn draw_up(&self, j: usize, rest: usize, stream: &mut Stream) -> usize {
        let law = &self.laws[j * (self.size + 1) + rest];
        for &(b, coin) in &law[..law.len() - 1] {
            if coin.toss(stream) {
                return usize::from(b);
            }
        }
        usize::from(law[law.len() - 1].0)
    }
}

/// The law of b: outcomes by falling weight, each with its probability among those left.
fn law(model: &Clique, h: f64, j: usize, rest: usize) -> Vec<(u8, Coin)> {
    let top = (0..=j).map(|b| model.log_weight(h, rest + b)).fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<(u8, Wide)> = Vec::with_capacity(j + 1);
    let mut choose = Wide::ONE;
    for b in 0..=j {
        weights.push((b as u8, choose * Wide::exp(model.log_weight(h, rest + b) - top)));
        choose = choose * Wide::new((j - b) as f64) / Wide::new((b + 1) as f64);
    }
    weights.sort_by(|x, y| y.1.partial_cmp(&x.1).unwrap_or(std::cmp::Ordering::Equal));
    (0..weights.len())
        .map(|i| {
            let others: Wide = weights[i + 1..].iter().map(|w| w.1).sum();
            (weights[i].0, Coin::from_weights(weights[i].1, others))
        })
        .collect()
}

impl Kernel for CliqueBlocks {
    fn sites(&self) -> usize {
        self.sites
    }

    fn advance(&self, spins: &mut [u8], stream: &mut Stream, steps: u64) {
        let mut order: Vec<u32> = (0..self.sites as u32).collect();
        let mut up: usize = spins[..self.size].iter().map(|&s| usize::from(s)).sum();
        let mut inside = Vec::with_capacity(self.size);
        for _ in 0..steps {
            inside.clear();
            let mut hidden_up = 0;
            for i in 0..self.k {
                let other = i + below(stream, (self.sites - i) as u32) as usize;
                order.swap(i, other);
                let vertex = order[i] as usize;
                if vertex < self.size {
                    hidden_up += usize::from(spins[vertex]);
                    inside.push(vertex);
                } else {
                    spins[vertex] = u8::from(self.free[vertex - self.size].toss(stream));
                }
            }
            if inside.is_empty() {
                continue;
            }
            let rest = up - hidden_up;
            let b = self.draw_up(inside.len(), rest, stream);
            // The order of the hidden vertices is uniform, so its first b are a uniform subset.
            for (rank, &vertex) in inside.iter().enumerate() {
                spins[vertex] = u8::from(rank < b);
            }
            up = rest + b;
        }
    }
}
