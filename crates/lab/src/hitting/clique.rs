//! The clique model's way from R₋₁ to R₁.
//!
//! Free vertices never matter: they are independent of the clique, and how many clique vertices
//! a k-block holds is hypergeometric. With one field for the whole clique the vertices are also
//! exchangeable, and the chain lumps exactly to m = 0..c spins up: c + 1 states and O(c⁴) work at
//! any N. Otherwise the clique's 2ᶜ states are used.

use padir_base::mask::{Block, MaskLaw};

use super::Hitting;
use crate::chain::{Blocks, ChainError, Matrix, block_matrix, parallel_matrix};
use crate::graph::Shape;
use crate::model::{Clique, Ising, Model};
use crate::wide::Wide;

/// How the chain moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// k-Gibbs.
    Gibbs(usize),
    /// Independent parallel.
    Parallel,
}

/// The largest clique whose 2ᶜ states are eliminated one by one.
const LARGEST_UNEQUAL: usize = 11;

/// The chain from R₋₁ (clique all −1) to R₁ (clique all +1).
///
/// # Errors
/// If k is out of range, or the clique has unequal fields and more than 11 vertices.
pub fn clique_hitting(model: &Clique, update: Update) -> Result<Hitting, ChainError> {
    let sites = model.sites();
    if let Update::Gibbs(k) = update
        && !(1..=sites).contains(&k)
    {
        return Err(ChainError::Size { k, sites });
    }
    let size = model.size();
    if let Some(h) = model.common_field() {
        let matrix = match update {
            Update::Gibbs(k) => lumped_gibbs(model, h, k),
            Update::Parallel => lumped_parallel(model, h),
        };
        return Ok(Hitting::new(matrix, 0, (0..=size).map(|up| up == size).collect()));
    }
    if size > LARGEST_UNEQUAL {
        return Err(ChainError::Unfit(
            "hitting times of a clique with unequal fields need 8^c/3 operations; c is limited to 11",
        ));
    }
    let matrix = full(model, update)?;
    let all = matrix.size() - 1;
    Ok(Hitting::new(matrix, 0, (0..=all).map(|x| x == all).collect()))
}

/// Independent parallel on its way out of {`Σ_C` xᵢ ≤ −2}, the event of the proposition on being stuck:
/// from R₋₁, and from the largest sum that is at most −2 where the clique has one field and that is
/// the worst start.
///
/// # Errors
/// As [`clique_hitting`].
pub fn clique_escape(model: &Clique) -> Result<Vec<Hitting>, ChainError> {
    let hitting = clique_hitting(model, Update::Parallel)?;
    let size = model.size();
    let lumped = model.common_field().is_some();
    let up = |x: usize| if lumped { x } else { x.count_ones() as usize };
    let states = if lumped { size + 1 } else { 1 << size };
    let target: Vec<bool> = (0..states).map(|x| 2 * up(x) + 2 > size).collect();
    let mut starts = vec![0];
    let last = target.iter().position(|t| *t).unwrap_or(1) - 1;
    if lumped && last > 0 {
        starts.push(last);
    }
    Ok(starts.into_iter().map(|start| hitting.towards(start, target.clone())).collect())
}

/// P(m → m′) of k-Gibbs: j clique vertices are hidden (hypergeometric), a of them up
/// (hypergeometric), and b of them come up with weight C(j, b) w(m − a + b).
fn lumped_gibbs(model: &Clique, h: f64, k: usize) -> Matrix<Wide> {
    let (n, c) = (model.sites(), model.size());
    let mut matrix = Matrix::zero(c + 1);
    for j in k.saturating_sub(n - c)..=c.min(k) {
        let hidden = choose(c, j) * choose(n - c, k - j) / choose(n, k);
        for up in 0..=c {
            for a in j.saturating_sub(c - up)..=up.min(j) {
                let weight = hidden * choose(up, a) * choose(c - up, j - a) / choose(c, j);
                let rest = up - a;
                // Relative to the largest, so that exponents stay small.
                let top = (0..=j)
                    .map(|b| model.log_weight(h, rest + b))
                    .fold(f64::NEG_INFINITY, f64::max);
                let law: Vec<Wide> = (0..=j)
                    .map(|b| choose(j, b) * Wide::exp(model.log_weight(h, rest + b) - top))
                    .collect();
                let total: Wide = law.iter().copied().sum();
                for (b, &value) in law.iter().enumerate() {
                    matrix.add(up, rest + b, weight * value / total);
                }
            }
        }
    }
    matrix
}

/// P(m → m′) of independent parallel: m spins come up with p₊, the other c − m with p₋.
fn lumped_parallel(model: &Clique, h: f64) -> Matrix<Wide> {
    let c = model.size();
    let mut matrix = Matrix::zero(c + 1);
    for up in 0..=c {
        let sum = 2.0 * up as f64 - c as f64;
        let stay = binomial_law(up, 2.0 * (h + model.coupling() * (sum - 1.0)));
        let rise = binomial_law(c - up, 2.0 * (h + model.coupling() * (sum + 1.0)));
        for (a, &p) in stay.iter().enumerate() {
            for (b, &q) in rise.iter().enumerate() {
                matrix.add(up, a + b, p * q);
            }
        }
    }
    matrix
}

/// The binomial law of `count` coins with the given log-odds.
fn binomial_law(count: usize, log_odds: f64) -> Vec<Wide> {
    // e^odds / (1 + e^odds) and 1 / (1 + e^odds), both without cancellation.
    let weight = Wide::exp(log_odds);
    let (yes, no) = (weight / (Wide::ONE + weight), Wide::ONE / (Wide::ONE + weight));
    let power = |base: Wide, n: usize| (0..n).fold(Wide::ONE, |product, _| product * base);
    (0..=count).map(|b| choose(count, b) * power(yes, b) * power(no, count - b)).collect()
}

/// The chain on all 2ᶜ states of the clique, blocks being what is left of a k-block inside.
fn full(model: &Clique, update: Update) -> Result<Matrix<Wide>, ChainError> {
    let (n, c) = (model.sites(), model.size());
    let edges =
        Shape::Clique { size: None }.edges(c).map_err(|_| ChainError::Unfit("no clique"))?;
    let couplings = vec![model.coupling(); edges.len()];
    let ising = Ising::new(model.fields()[..c].to_vec(), edges, couplings)
        .map_err(|_| ChainError::Unfit("the clique's parameters are not sane numbers"))?;
    let p = Model::Ising(ising)
        .enumerate()
        .map_err(|_| ChainError::Unfit("the clique is too large to be enumerated"))?;
    let Update::Gibbs(k) = update else {
        return parallel_matrix(&p);
    };
    let blocks = (0..1_u64 << c)
        .filter(|set| (set.count_ones() as usize) <= k && k - set.count_ones() as usize <= n - c)
        .map(|set| Block {
            positions: (0..c).filter(|&i| set >> i & 1 == 1).collect(),
            weight: (choose(n - c, k - set.count_ones() as usize) / choose(n, k)).to_f64(),
        })
        .collect();
    block_matrix(&p, &Blocks::of(&MaskLaw::Blocks { blocks }, p.space())?)
}

/// C(n, k).
fn choose(n: usize, k: usize) -> Wide {
    let k = k.min(n - k);
    (0..k).fold(Wide::ONE, |product, i| {
        product * Wide::new((n - i) as f64) / Wide::new((i + 1) as f64)
    })
}
