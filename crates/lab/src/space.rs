//! The state space Ωᴺ: N sites with q symbols each, its states numbered in base q.
//!
//! State x has the index Σᵢ xᵢ qⁱ; for spins that is a bit pattern, −1 being 0 and +1 being 1.

use padir_base::TokenId;
use thiserror::Error;

/// The largest number of states that is ever enumerated.
pub const MOST_STATES: usize = 1 << 26;

/// Ωᴺ, small enough to be enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    sites: usize,
    symbols: usize,
    size: usize,
}

/// A space that cannot be enumerated.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SpaceError {
    /// No sites.
    #[error("a model needs at least one site")]
    NoSites,
    /// Fewer than two symbols.
    #[error("an alphabet of {0} symbols leaves nothing to chance; it needs at least 2")]
    Symbols(usize),
    /// Too many states.
    #[error(
        "{symbols}^{sites} states take {gigabytes:.1} GB for one vector; exact analysis stops at 2^26 states"
    )]
    TooLarge {
        /// The size of the alphabet.
        symbols: usize,
        /// The number of sites.
        sites: usize,
        /// What a single vector of probabilities would take.
        gigabytes: f64,
    },
}

impl Space {
    /// The space of `sites` sites with `symbols` symbols each.
    ///
    /// # Errors
    /// If it is empty or too large to be enumerated.
    pub fn new(sites: usize, symbols: usize) -> Result<Self, SpaceError> {
        if sites == 0 {
            return Err(SpaceError::NoSites);
        }
        if symbols < 2 {
            return Err(SpaceError::Symbols(symbols));
        }
        let size = u32::try_from(sites)
            .ok()
            .and_then(|n| symbols.checked_pow(n))
            .filter(|&size| size <= MOST_STATES);
        size.map(|size| Self { sites, symbols, size }).ok_or_else(|| SpaceError::TooLarge {
            symbols,
            sites,
            gigabytes: (symbols as f64).powf(sites as f64) * 8e-9,
        })
    }

    /// N.
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// q = |Ω|.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// qᴺ.
    pub fn size(&self) -> usize {
        self.size
    }

    /// qⁱ.
    #[inline]
    pub fn stride(&self, site: usize) -> usize {
        if self.symbols == 2 { 1 << site } else { self.symbols.pow(site as u32) }
    }

    /// xᵢ.
    #[inline]
    pub fn symbol(&self, state: usize, site: usize) -> usize {
        if self.symbols == 2 { state >> site & 1 } else { state / self.stride(site) % self.symbols }
    }

    /// The symbols of a state, site after site.
    pub fn symbols_of(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        let mut rest = state;
        (0..self.sites).map(move |_| {
            let symbol = rest % self.symbols;
            rest /= self.symbols;
            symbol
        })
    }

    /// The state with these symbols.
    pub fn state_of(&self, symbols: impl IntoIterator<Item = usize>) -> usize {
        symbols.into_iter().enumerate().map(|(site, symbol)| symbol * self.stride(site)).sum()
    }

    /// A state as tokens, the way the mask laws see it.
    pub fn tokens_of(&self, state: usize) -> Vec<TokenId> {
        self.symbols_of(state).map(|symbol| TokenId(symbol as u32)).collect()
    }

    /// The state with all sites of the block (a bit pattern) at symbol 0. Two states agree
    /// outside of the block iff these are equal.
    #[inline]
    pub fn outside(&self, state: usize, block: u64) -> usize {
        if self.symbols == 2 {
            return state & !(block as usize);
        }
        let mut rest = state;
        let mut bits = block;
        while bits != 0 {
            let site = bits.trailing_zeros() as usize;
            rest -= self.symbol(state, site) * self.stride(site);
            bits &= bits - 1;
        }
        rest
    }

    /// The offsets of all fillings of a block: adding one to [`Space::outside`] gives a state of
    /// the group. In increasing order of the filling.
    pub fn fillings(&self, block: u64) -> Vec<usize> {
        let mut offsets = vec![0];
        for site in (0..self.sites).filter(|&site| block >> site & 1 == 1) {
            let stride = self.stride(site);
            offsets = (0..self.symbols)
                .flat_map(|symbol| offsets.iter().map(move |offset| offset + symbol * stride))
                .collect();
        }
        offsets
    }

    /// The states with symbol 0 all over the block: one for each group.
    pub fn groups(&self, block: u64) -> Vec<usize> {
        let rest = !block & (u64::MAX >> (64 - self.sites));
        self.fillings(rest)
    }

    /// A state for people: `+−−+` for spins, `0 2 1` otherwise.
    pub fn name(&self, state: usize) -> String {
        if self.symbols == 2 {
            self.symbols_of(state).map(|s| if s == 1 { '+' } else { '−' }).collect()
        } else {
            let symbols: Vec<String> = self.symbols_of(state).map(|s| s.to_string()).collect();
            symbols.join(" ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_fillings_cover_the_space_once() {
        for (sites, symbols) in [(4, 2), (3, 3), (2, 5), (1, 2)] {
            let space = Space::new(sites, symbols).unwrap();
            for block in 0..1_u64 << sites {
                let mut states: Vec<usize> = space
                    .groups(block)
                    .iter()
                    .flat_map(|g| space.fillings(block).into_iter().map(move |f| g + f))
                    .collect();
                for &state in &states {
                    assert!(space.groups(block).contains(&space.outside(state, block)));
                }
                states.sort_unstable();
                assert_eq!(states, (0..space.size()).collect::<Vec<_>>(), "block {block:b}");
            }
        }
    }

    #[test]
    fn indices_and_symbols_are_inverse() {
        let space = Space::new(3, 4).unwrap();
        for state in 0..space.size() {
            assert_eq!(space.state_of(space.symbols_of(state)), state);
        }
    }

    #[test]
    fn spaces_that_cannot_be_enumerated_are_refused() {
        let cases = [
            (0, 2, "a model needs at least one site"),
            (3, 1, "an alphabet of 1 symbols leaves nothing to chance; it needs at least 2"),
            (
                40,
                2,
                "2^40 states take 8796.1 GB for one vector; exact analysis stops at 2^26 states",
            ),
        ];
        for (sites, symbols, message) in cases {
            assert_eq!(Space::new(sites, symbols).unwrap_err().to_string(), message);
        }
    }
}
