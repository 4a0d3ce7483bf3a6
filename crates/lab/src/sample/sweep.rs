//! Scans: blocks updated in a fixed order. A step is a sweep.

use padir_base::random::Stream;

use super::{Kernel, Local, SingleSite};

/// Sweeps over blocks of any model, each drawn jointly: O(qᵏ k) an update.
#[derive(Clone, Debug)]
pub struct BlockSweep<M> {
    model: M,
    blocks: Vec<Vec<usize>>,
}

impl<M: Local> BlockSweep<M> {
    /// Sweeps over these blocks in their order.
    pub fn new(model: M, blocks: Vec<Vec<usize>>) -> Self {
        Self { model, blocks }
    }

    /// Sweeps over classes of sites that are independent given the others: site by site, which is the
    /// same as all of a class at once.
    pub fn coloured(model: M, classes: &[Vec<usize>]) -> Self {
        Self { model, blocks: classes.iter().flatten().map(|&site| vec![site]).collect() }
    }
}

impl<M: Local> Kernel for BlockSweep<M> {
    fn sites(&self) -> usize {
        self.model.sites()
    }

    fn symbols(&self) -> usize {
        self.model.symbols()
    }

    fn advance(&self, state: &mut [u8], stream: &mut Stream, steps: u64) {
        let mut scratch = Vec::new();
        for _ in 0..steps {
            for block in &self.blocks {
                self.model.fill(state, block, &mut scratch, stream);
            }
        }
    }
}

/// Sweeps over single spins in a fixed order: O(degree) an update.
#[derive(Clone, Debug)]
pub struct SiteSweep {
    sites: SingleSite,
    order: Vec<usize>,
}

impl SiteSweep {
    /// Sweeps in an order of the sites.
    pub fn new(sites: SingleSite, order: Vec<usize>) -> Self {
        Self { sites, order }
    }
}

impl Kernel for SiteSweep {
    fn sites(&self) -> usize {
        self.sites.sites()
    }

    fn advance(&self, state: &mut [u8], stream: &mut Stream, steps: u64) {
        for _ in 0..steps {
            for &site in &self.order {
                self.sites.update(site, state, stream);
            }
        }
    }
}
