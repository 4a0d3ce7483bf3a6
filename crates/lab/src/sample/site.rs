//! Single-site Gibbs on sparse graphs: draw a site, look its probability up, toss.
//!
//! The probability of +1 depends on the neighbours' spins only: one 64-bit threshold for each of
//! their 2^degree settings. A step is a site, an index of neighbour bits, a comparison.

use std::collections::HashMap;

use padir_base::random::Stream;

use super::{Kernel, below};
use crate::chance::Coin;
use crate::model::Ising;

/// Vertices with more neighbours than this sum their field instead.
const LARGEST_TABLE: usize = 10;

/// 1-Gibbs with a random scan.
#[derive(Clone, Debug)]
pub struct SingleSite {
    sites: Vec<Site>,
    neighbours: Vec<u32>,
    thresholds: Vec<u64>,
    model: Ising,
}

#[derive(Clone, Copy, Debug)]
struct Site {
    /// Its neighbours in the common list.
    first: u32,
    degree: u32,
    /// Its thresholds in the common table; `u32::MAX` if it has none.
    table: u32,
}

impl SingleSite {
    /// The chain of a model.
    pub fn new(model: &Ising) -> Self {
        let mut sites = Vec::with_capacity(model.sites());
        let (mut neighbours, mut thresholds) = (Vec::new(), Vec::new());
        // Sites with equal parameters share a table: on a lattice all of it stays in the cache.
        let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
        for i in 0..model.sites() {
            let list = model.neighbours(i);
            let small = list.len() <= LARGEST_TABLE && thresholds.len() < (1 << 28);
            let parameters = std::iter::once(model.fields()[i]).chain(list.iter().map(|n| n.1));
            let table = if small {
                *known.entry(parameters.map(f64::to_bits).collect()).or_insert_with(|| {
                    let start = thresholds.len() as u32;
                    let settings = 0..1_usize << list.len();
                    thresholds.extend(settings.map(|bits| {
                        let odds = 2.0 * field(model, i, |b| bits >> b & 1 == 1);
                        Coin::from_log_odds(odds).threshold()
                    }));
                    start
                })
            } else {
                u32::MAX
            };
            let (first, degree) = (neighbours.len() as u32, list.len() as u32);
            sites.push(Site { first, degree, table });
            neighbours.extend(list.iter().map(|&(j, _)| j as u32));
        }
        Self { sites, neighbours, thresholds, model: model.clone() }
    }

    /// Draws one spin given its neighbours.
    #[inline]
    pub(super) fn update(&self, index: usize, spins: &mut [u8], stream: &mut Stream) {
        let site = self.sites[index];
        if site.table == u32::MAX {
            spins[index] = self.toss(index, spins, stream, None);
            return;
        }
        let first = site.first as usize;
        let list = &self.neighbours[first..first + site.degree as usize];
        let mut bits = 0;
        for (b, &j) in list.iter().enumerate() {
            bits |= usize::from(spins[j as usize]) << b;
        }
        let threshold = self.thresholds[site.table as usize + bits];
        let drawn = stream.next_u64();
        spins[index] = if drawn == threshold {
            self.toss(index, spins, stream, Some(drawn))
        } else {
            u8::from(drawn < threshold)
        };
    }

    /// The coin of a site, where its threshold does not decide or there is none.
    #[cold]
    fn toss(&self, site: usize, spins: &[u8], stream: &mut Stream, drawn: Option<u64>) -> u8 {
        let list = self.model.neighbours(site);
        let odds = 2.0 * field(&self.model, site, |b| spins[list[b].0] == 1);
        let coin = Coin::from_log_odds(odds);
        u8::from(match drawn {
            Some(word) => coin.decide(word, stream),
            None => coin.toss(stream),
        })
    }
}

/// hᵢ + Σ Jᵢⱼxⱼ, where `up(b)` tells whether the b-th neighbour is +1.
fn field(model: &Ising, site: usize, up: impl Fn(usize) -> bool) -> f64 {
    let neighbours = model.neighbours(site).iter().enumerate();
    let coupled: f64 = neighbours.map(|(b, &(_, j))| if up(b) { j } else { -j }).sum();
    model.fields()[site] + coupled
}

impl Kernel for SingleSite {
    fn sites(&self) -> usize {
        self.sites.len()
    }

    fn advance(&self, spins: &mut [u8], stream: &mut Stream, steps: u64) {
        let count = self.sites.len() as u32;
        for _ in 0..steps {
            let index = below(stream, count) as usize;
            self.update(index, spins, stream);
        }
    }
}
