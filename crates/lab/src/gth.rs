//! Elimination without subtraction, after Grassmann, Taksar and Heyman (1985).
//!
//! To eliminate state n from a chain, its escape probability is summed, Sₙ = Σ_{j<n} qₙⱼ + aₙ,
//! never formed as 1 − qₙₙ. What is left are sums, products and quotients of positive numbers,
//! so every result keeps almost all digits however slow the chain is, where a solve of
//! (I − Q) t = 1 would return noise. O(m³/3).

use crate::chain::{Matrix, Number};

/// A chain after elimination of all states but one.
struct Eliminated<T> {
    q: Matrix<T>,
    /// Sₙ.
    escape: Vec<T>,
}

/// Eliminates states m−1, …, 1 (and records S₀), carrying right-hand sides along:
/// t = τ + Q t. `None` if some state cannot leave.
fn eliminate<T: Number>(
    mut q: Matrix<T>,
    mut absorbed: Vec<T>,
    sides: &mut [Vec<T>],
) -> Option<Eliminated<T>> {
    let zero = T::default();
    let m = q.size();
    let mut escape = vec![zero; m];
    for n in (0..m).rev() {
        let last = q.row(n)[..n].to_vec();
        let s = last.iter().fold(absorbed[n], |sum, &value| sum + value);
        escape[n] = s;
        if s == zero {
            // State 0 of a closed chain has nowhere to go, which is as it should be.
            if n == 0 {
                break;
            }
            return None;
        }
        for i in 0..n {
            let into = q.at(i, n);
            if into == zero {
                continue;
            }
            let factor = into / s;
            for (value, &through) in q.row_mut(i).iter_mut().zip(&last) {
                *value += factor * through;
            }
            absorbed[i] = absorbed[i] + factor * absorbed[n];
            for side in sides.iter_mut() {
                side[i] = side[i] + factor * side[n];
            }
        }
    }
    Some(Eliminated { q, escape })
}

impl<T: Number> Eliminated<T> {
    /// Solves upwards: tₙ = (τₙ + Σ_{j<n} qₙⱼ tⱼ) / Sₙ, from a known t₀.
    fn substitute(&self, side: &[T], first: T) -> Vec<T> {
        let mut t = vec![first];
        for (n, &own) in side.iter().enumerate().skip(1) {
            let known = self.q.row(n)[..n].iter().zip(&t).map(|(&q, &value)| q * value);
            t.push(known.fold(own, |sum, value| sum + value) / self.escape[n]);
        }
        t
    }
}

/// Solves t = τ + Q t on the states outside of the target, where Q is P restricted to them;
/// t = 0 on the target. `None` if the target cannot be reached from everywhere.
///
/// With τ = 1 this is the expected hitting time.
///
/// # Panics
/// If the lengths do not agree.
pub fn absorb<T: Number>(p: &Matrix<T>, target: &[bool], side: &[T]) -> Option<Vec<T>> {
    assert!(target.len() == p.size() && side.len() == p.size(), "one entry per state");
    let transient: Vec<usize> = (0..p.size()).filter(|&x| !target[x]).collect();
    let mut q = Matrix::zero(transient.len());
    let mut absorbed = vec![T::default(); transient.len()];
    for (i, &x) in transient.iter().enumerate() {
        for (j, &y) in transient.iter().enumerate() {
            q.set(i, j, p.at(x, y));
        }
        let hits = (0..p.size()).filter(|&y| target[y]).map(|y| p.at(x, y));
        absorbed[i] = hits.fold(T::default(), |sum, value| sum + value);
    }
    let mut result = vec![T::default(); p.size()];
    let side: Vec<T> = transient.iter().map(|&x| side[x]).collect();
    for (&x, value) in transient.iter().zip(absorb_killed(&q, &absorbed, &side)?) {
        result[x] = value;
    }
    Some(result)
}

/// Solves t = τ + Q t for a chain Q that ends from each state with a given probability. `None` if
/// it does not end from everywhere.
///
/// # Panics
/// If the lengths do not agree.
pub fn absorb_killed<T: Number>(q: &Matrix<T>, ends: &[T], side: &[T]) -> Option<Vec<T>> {
    assert!(ends.len() == q.size() && side.len() == q.size(), "one entry per state");
    if q.size() == 0 {
        return Some(Vec::new());
    }
    let mut sides = [side.to_vec()];
    let eliminated = eliminate(q.clone(), ends.to_vec(), &mut sides)?;
    if eliminated.escape[0] == T::default() {
        return None;
    }
    let first = sides[0][0] / eliminated.escape[0];
    Some(eliminated.substitute(&sides[0], first))
}

/// The stationary law of an irreducible chain, as natural logarithms; `None` if it is not.
pub fn stationary<T: Number>(p: &Matrix<T>) -> Option<Vec<f64>> {
    let zero = T::default();
    let eliminated = eliminate(p.clone(), vec![zero; p.size()], &mut [])?;
    let mut law = vec![T::of(1.0)];
    for n in 1..p.size() {
        let inflow = (0..n).map(|i| law[i] * eliminated.q.at(i, n));
        law.push(inflow.fold(zero, |sum, value| sum + value) / eliminated.escape[n]);
    }
    let total = law.iter().fold(zero, |sum, &value| sum + value);
    Some(law.into_iter().map(|value| (value / total).ln()).collect())
}

/// Solves (I − P) u = v for Σ π v = 0 on an irreducible chain, up to a constant: u₀ = 0.
///
/// The positive and the negative part of v go through the elimination separately; the only
/// subtraction is the last one.
pub(crate) struct Resolvent<T> {
    eliminated: Eliminated<T>,
    /// The factors of the elimination, to be applied to any right-hand side.
    into: Matrix<T>,
}

impl<T: Number> Resolvent<T> {
    pub(crate) fn new(p: &Matrix<T>) -> Option<Self> {
        let eliminated = eliminate(p.clone(), vec![T::default(); p.size()], &mut [])?;
        let mut into = Matrix::zero(p.size());
        for n in 1..p.size() {
            for i in 0..n {
                into.set(n, i, eliminated.q.at(i, n) / eliminated.escape[n]);
            }
        }
        Some(Self { eliminated, into })
    }

    fn part(&self, mut side: Vec<T>) -> Vec<T> {
        for n in (1..side.len()).rev() {
            let (head, tail) = side.split_at_mut(n);
            for (value, &factor) in head.iter_mut().zip(self.into.row(n)) {
                *value += factor * tail[0];
            }
        }
        self.eliminated.substitute(&side, T::default())
    }

    /// u, divided by e^scale so that its largest part is about one; and the scale.
    pub(crate) fn solve(&self, v: &[f64]) -> (Vec<f64>, f64) {
        let positive = self.part(v.iter().map(|&x| T::of(x.max(0.0))).collect());
        let negative = self.part(v.iter().map(|&x| T::of((-x).max(0.0))).collect());
        let largest = positive.iter().chain(&negative).map(|x| x.ln());
        let scale = largest.fold(f64::NEG_INFINITY, f64::max);
        let unit = T::exp(scale);
        let narrow = |x: T| (x / unit).to_f64();
        let u = positive.into_iter().zip(negative).map(|(a, b)| narrow(a) - narrow(b));
        (u.collect(), scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wide::Wide;

    fn matrix(rows: &[&[f64]]) -> Matrix<Wide> {
        let mut m = Matrix::zero(rows.len());
        for (i, row) in rows.iter().enumerate() {
            for (j, &value) in row.iter().enumerate() {
                m.set(i, j, Wide::new(value));
            }
        }
        m
    }

    /// Gambler's ruin with a fair coin: from i, N(N−…): E T = i (N − i).
    #[test]
    fn gamblers_ruin_is_a_parabola() {
        let n = 12;
        let mut p = Matrix::<Wide>::zero(n + 1);
        for i in 1..n {
            p.set(i, i - 1, Wide::new(0.5));
            p.set(i, i + 1, Wide::new(0.5));
        }
        let target: Vec<bool> = (0..=n).map(|i| i == 0 || i == n).collect();
        let times = absorb(&p, &target, &vec![Wide::ONE; n + 1]).unwrap();
        for (i, time) in times.iter().enumerate() {
            let expected = (i * (n - i)) as f64;
            assert!((time.to_f64() - expected).abs() < 1e-12 * expected.max(1.0), "from {i}");
        }
    }

    #[test]
    fn an_unreachable_target_is_told() {
        let p = matrix(&[&[0.5, 0.5, 0.0], &[0.5, 0.5, 0.0], &[0.0, 0.0, 1.0]]);
        assert_eq!(absorb(&p, &[false, false, true], &[Wide::ONE; 3]), None);
    }

    #[test]
    fn a_two_state_chain_has_the_known_law() {
        // π ∝ (b, a); rates far below the last bit of 1.
        let (a, b) = (1e-200, 3e-200);
        let p = matrix(&[&[1.0, a], &[b, 1.0]]);
        let law = stationary(&p).unwrap();
        assert!((law[0] - 0.75_f64.ln()).abs() < 1e-14);
        assert!((law[1] - 0.25_f64.ln()).abs() < 1e-14);
    }
}
