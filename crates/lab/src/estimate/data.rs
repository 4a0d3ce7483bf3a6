//! Samples: states with how often each was seen.
//!
//! Likelihoods only need the distinct states, so 10,000 samples of a few spins collapse to a few
//! states. Rows are kept as symbols, so N is not limited by the size of a machine word.

use std::collections::HashMap;

use thiserror::Error;

/// Samples that make no sense.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DataError {
    /// No samples.
    #[error("there are no samples")]
    Empty,
    /// A row of the wrong length.
    #[error("sample {row} has {found} values; the model has {sites} sites")]
    Length {
        /// The row, from 0.
        row: usize,
        /// Its length.
        found: usize,
        /// N.
        sites: usize,
    },
    /// A value outside of Ω.
    #[error("sample {row} has the value {value} at site {site}; the alphabet is {alphabet}")]
    Value {
        /// The row, from 0.
        row: usize,
        /// The site.
        site: usize,
        /// The value.
        value: f64,
        /// Ω, for people.
        alphabet: String,
    },
}

/// Distinct rows with their counts, in order of first appearance.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    sites: usize,
    symbols: usize,
    rows: Vec<u8>,
    counts: Vec<f64>,
}

impl Samples {
    /// Collects rows of symbols 0..q.
    ///
    /// # Errors
    /// If there are none, or one does not fit.
    pub fn new<R: AsRef<[u8]>>(
        sites: usize,
        symbols: usize,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<Self, DataError> {
        let mut samples = Self { sites, symbols, rows: Vec::new(), counts: Vec::new() };
        let mut index: HashMap<Vec<u8>, usize> = HashMap::new();
        for (row, values) in rows.into_iter().enumerate() {
            let values = values.as_ref();
            if values.len() != sites {
                return Err(DataError::Length { row, found: values.len(), sites });
            }
            if let Some(site) = values.iter().position(|&v| usize::from(v) >= symbols) {
                let value = f64::from(values[site]);
                let alphabet = format!("0 to {}", symbols - 1);
                return Err(DataError::Value { row, site, value, alphabet });
            }
            if let Some(&known) = index.get(values) {
                samples.counts[known] += 1.0;
            } else {
                index.insert(values.to_vec(), samples.counts.len());
                samples.rows.extend_from_slice(values);
                samples.counts.push(1.0);
            }
        }
        if samples.counts.is_empty() { Err(DataError::Empty) } else { Ok(samples) }
    }

    /// Collects rows of numbers as people write them: −1 and +1 (or 0 and 1) for spins,
    /// 0 to q − 1 otherwise.
    ///
    /// # Errors
    /// If there are none, or one does not fit.
    pub fn from_numbers(
        sites: usize,
        symbols: usize,
        rows: &[Vec<f64>],
    ) -> Result<Self, DataError> {
        let signed = symbols == 2 && rows.iter().flatten().any(|&v| v < 0.0);
        let alphabet = || {
            if symbols == 2 {
                "−1 and +1, or 0 and 1".to_owned()
            } else {
                format!("0 to {}", symbols - 1)
            }
        };
        let mut coded = Vec::with_capacity(rows.len());
        for (row, values) in rows.iter().enumerate() {
            if values.len() != sites {
                return Err(DataError::Length { row, found: values.len(), sites });
            }
            let mut code = Vec::with_capacity(sites);
            for (site, &value) in values.iter().enumerate() {
                let symbol = if signed { f64::midpoint(value, 1.0) } else { value };
                let fits = symbol >= 0.0 && symbol < symbols as f64 && symbol.fract() == 0.0;
                if !fits {
                    return Err(DataError::Value { row, site, value, alphabet: alphabet() });
                }
                code.push(symbol as u8);
            }
            coded.push(code);
        }
        Self::new(sites, symbols, coded)
    }

    /// N.
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// q.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// The number of distinct rows.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// The number of samples n.
    pub fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// A distinct row.
    #[inline]
    pub fn row(&self, index: usize) -> &[u8] {
        &self.rows[index * self.sites..(index + 1) * self.sites]
    }

    /// How often a distinct row was seen.
    #[inline]
    pub fn count(&self, index: usize) -> f64 {
        self.counts[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_counted() {
        let rows = vec![vec![1.0, -1.0], vec![-1.0, -1.0], vec![1.0, -1.0]];
        let samples = Samples::from_numbers(2, 2, &rows).unwrap();
        assert_eq!(samples.distinct(), 2);
        assert_eq!((samples.row(0), samples.count(0)), (&[1, 0][..], 2.0));
        assert!((samples.total() - 3.0).abs() < f64::EPSILON);
    }

    #[test]
    fn values_outside_of_the_alphabet_are_named() {
        let cases: [(usize, Vec<Vec<f64>>, &str); 5] = [
            (2, vec![], "there are no samples"),
            (2, vec![vec![1.0]], "sample 0 has 1 values; the model has 2 sites"),
            (
                2,
                vec![vec![1.0, -1.0], vec![1.0, 0.0]],
                "sample 1 has the value 0 at site 1; the alphabet is −1 and +1, or 0 and 1",
            ),
            (3, vec![vec![0.0, 3.0]], "sample 0 has the value 3 at site 1; the alphabet is 0 to 2"),
            (
                3,
                vec![vec![0.5, 1.0]],
                "sample 0 has the value 0.5 at site 0; the alphabet is 0 to 2",
            ),
        ];
        for (symbols, rows, message) in cases {
            let error = Samples::from_numbers(2, symbols, &rows).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
