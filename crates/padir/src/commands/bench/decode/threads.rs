//! How many threads suit a piece of work best.
//!
//! Candidates take turns, several times, and are compared by their minima: whatever else the machine does makes a trial slower, never
//! faster, so that one quiet trial of each is enough.

use anyhow::Result;

/// Turns of each candidate.
const ROUNDS: usize = 5;

/// 1, 2, 4 and so on, and all.
pub(super) fn candidates(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1_usize), |n| n.checked_mul(2));
    powers.take_while(|&n| n < most).chain([most.max(1)]).collect()
}

/// The number of threads, up to `most`, with the least time of a trial; fewer if two are equal.
pub(super) fn choose(most: usize, mut trial: impl FnMut(usize) -> Result<f64>) -> Result<usize> {
    let candidates = candidates(most);
    if let [only] = candidates[..] {
        return Ok(only);
    }
    let mut least = vec![f64::INFINITY; candidates.len()];
    for _ in 0..ROUNDS {
        for (least, &threads) in least.iter_mut().zip(&candidates) {
            *least = least.min(trial(threads)?);
        }
    }
    let best = candidates.iter().zip(&least).min_by(|a, b| a.1.total_cmp(b.1));
    Ok(best.map_or(1, |(&threads, _)| threads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_tried_in_powers_of_two() {
        for (most, expected) in [(0, vec![1]), (1, vec![1]), (2, vec![1, 2]), (6, vec![1, 2, 4, 6])]
        {
            assert_eq!(candidates(most), expected, "{most}");
        }
    }

    /// Two threads take 100 ms and one 170; noise adds to some trials.
    fn chosen(noise: impl Fn(usize) -> f64) -> usize {
        let mut trials = 0;
        let trial = |threads| {
            trials += 1;
            Ok(if threads == 1 { 0.170 } else { 0.100 } + noise(trials))
        };
        choose(2, trial).unwrap()
    }

    #[test]
    fn noise_does_not_choose() {
        assert_eq!(chosen(|_| 0.0), 2);
        // The first trial of two threads is the second of all.
        assert_eq!(chosen(|trial| if trial == 2 { 0.5 } else { 0.0 }), 2);
        assert_eq!(chosen(|trial| if trial <= 8 { 0.5 } else { 0.0 }), 2);
        assert_eq!(chosen(|trial| if trial % 4 == 2 { 0.5 } else { 0.0 }), 2);
    }

    #[test]
    fn fewer_threads_are_chosen_if_more_gain_nothing() {
        assert_eq!(choose(4, |_| Ok(0.1)).unwrap(), 1);
        assert!(choose(2, |_| anyhow::bail!("no")).is_err());
        assert_eq!(choose(1, |_| anyhow::bail!("nothing to try")).unwrap(), 1);
    }
}
