//! As much text as fits: all lines, or a uniform sample of them.
//!
//! Each line has a random number that depends only on the seed and the line's place. A line is
//! kept while its number lies below a threshold; when the memory given is full the threshold is
//! halved and the lines above it are dropped. So one pass over a stream of any length leaves a
//! uniform sample of at most the memory given, the same one for the same seed.

use padir_base::random::{Purpose, Seed};

/// Lines to learn from.
#[derive(Clone, Debug)]
pub struct LineSample {
    text: String,
    ends: Vec<usize>,
    keys: Vec<u32>,
    threshold: u64,
    limit: usize,
    seed: Seed,
    lines_read: u64,
}

impl LineSample {
    /// An empty sample that will hold at most `limit` bytes.
    pub fn new(limit: usize, seed: Seed) -> Self {
        Self {
            text: String::new(),
            ends: Vec::new(),
            keys: Vec::new(),
            threshold: 1 << 32,
            limit,
            seed,
            lines_read: 0,
        }
    }

    /// Offers a line.
    pub fn offer(&mut self, line: &str) {
        let key = self.seed.stream(Purpose::Sampling, self.lines_read).next_u32();
        self.lines_read += 1;
        if u64::from(key) >= self.threshold {
            return;
        }
        self.text.push_str(line);
        self.ends.push(self.text.len());
        self.keys.push(key);
        while self.text.len() > self.limit && self.threshold > 1 {
            self.threshold /= 2;
            self.drop_above_threshold();
        }
    }

    fn drop_above_threshold(&mut self) {
        let mut text = String::with_capacity(self.text.len() / 2);
        let (mut ends, mut keys) = (Vec::new(), Vec::new());
        for (line, &key) in self.lines().zip(&self.keys) {
            if u64::from(key) < self.threshold {
                text.push_str(line);
                ends.push(text.len());
                keys.push(key);
            }
        }
        (self.text, self.ends, self.keys) = (text, ends, keys);
    }

    /// The lines kept, in their order.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.line(index))
    }

    pub(super) fn line(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// The number of lines kept.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no line was kept.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of bytes kept.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The number of lines offered.
    pub fn lines_read(&self) -> u64 {
        self.lines_read
    }

    /// Whether lines had to be left out.
    pub fn is_partial(&self) -> bool {
        self.lines_read > self.ends.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(limit: usize, seed: u64) -> LineSample {
        let mut sample = LineSample::new(limit, Seed(seed));
        (0..10_000).for_each(|i| sample.offer(&format!("line {i:05}")));
        sample
    }

    #[test]
    fn everything_is_kept_while_it_fits() {
        let all = sample(1 << 20, 1);
        assert_eq!(all.len(), 10_000);
        assert!(!all.is_partial());
        assert_eq!(all.lines().nth(77), Some("line 00077"));
    }

    #[test]
    fn a_sample_is_bounded_uniform_and_reproducible() {
        let some = sample(30_000, 1);
        assert!(some.is_partial() && some.bytes() <= 30_000 && some.bytes() > 10_000);
        let lines: Vec<&str> = some.lines().collect();
        assert!(lines.is_sorted(), "order is kept");
        assert_eq!(lines, sample(30_000, 1).lines().collect::<Vec<_>>());
        assert_ne!(lines, sample(30_000, 2).lines().collect::<Vec<_>>());
        let early = lines.iter().filter(|line| ***line < *"line 05000").count() as f64;
        let share = early / lines.len() as f64;
        assert!((share - 0.5).abs() < 0.06, "share of the first half: {share}");
    }
}
