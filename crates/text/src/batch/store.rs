//! The tokens of a pool, copied out of the mapped shards.
//!
//! Batches visit a pool in random order. Reading them from the map would let the system map
//! everything around each pair (up to 2 MB where the page cache holds large folios), until the
//! whole corpus is resident. So a pool is read once, in the order of the corpus, which is also
//! what disks like, and the maps are given back shard by shard. Resident: the tokens of a rank's
//! share at 2 or 4 bytes each, 16 bytes a pair, and one shard.

use padir_base::TokenId;
use padir_base::ragged::RaggedTokens;

use crate::shard::{PairLengths, ShardError, ShardSet};

use super::pool::PoolPlan;

/// The tokens of those batches of a pool that belong to one rank.
#[derive(Debug)]
pub(super) struct PoolTokens {
    tokens: Tokens,
    /// By place in the pool's order; places of other ranks hold nothing.
    spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u64,
    lengths: PairLengths,
}

#[derive(Debug)]
enum Tokens {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl PoolTokens {
    /// Reads the batches `rank`, `rank + ranks`, … of a pool.
    pub(super) fn load(
        shards: &mut ShardSet,
        pool: &PoolPlan,
        rank: u32,
        ranks: u32,
    ) -> Result<Self, ShardError> {
        let places = (rank as usize..pool.batches()).step_by(ranks as usize);
        // Pair above, place below: sorted, the pairs come in the order of the corpus.
        let mut keys: Vec<u64> = places
            .flat_map(|batch| pool.places(batch))
            .map(|place| u64::from(pool.local(place)) << 32 | place as u64)
            .collect();
        keys.sort_unstable();
        let mut store = Self {
            tokens: if shards.lexicon().size <= 1 << 16 {
                Tokens::Narrow(Vec::new())
            } else {
                Tokens::Wide(Vec::new())
            },
            spans: vec![Span::default(); pool.pairs()],
        };
        let (mut source, mut target) = (Vec::new(), Vec::new());
        let mut shard = None;
        for place in keys.into_iter().map(|key| key as u32 as usize) {
            let pair = pool.pair(place);
            if shard.replace(shards.shard_of(pair)) != Some(shards.shard_of(pair)) {
                shards.release()?;
            }
            source.clear();
            target.clear();
            shards.read_pair(pair, &mut source, &mut target)?;
            store.spans[place] = store.tokens.append(&source, &target);
        }
        shards.release()?;
        Ok(store)
    }

    /// Appends the pair at a place to the rows of a batch.
    pub(super) fn append_to(
        &self,
        place: usize,
        source: &mut RaggedTokens,
        target: &mut RaggedTokens,
    ) {
        let Span { start, lengths } = self.spans[place];
        let start = start as usize;
        let middle = start + usize::from(lengths.source);
        let end = middle + usize::from(lengths.target);
        for (rows, range) in [(source, start..middle), (target, middle..end)] {
            match &self.tokens {
                Tokens::Narrow(tokens) => {
                    rows.push(tokens[range].iter().map(|&token| TokenId(token.into())));
                }
                Tokens::Wide(tokens) => {
                    rows.push(tokens[range].iter().map(|&token| TokenId(token)));
                }
            }
        }
    }
}

impl Tokens {
    fn append(&mut self, source: &[TokenId], target: &[TokenId]) -> Span {
        let both = source.iter().chain(target);
        let start = match self {
            Self::Narrow(tokens) => {
                let start = tokens.len();
                tokens.extend(both.map(|token| token.0 as u16));
                start
            }
            Self::Wide(tokens) => {
                let start = tokens.len();
                tokens.extend(both.map(|token| token.0));
                start
            }
        };
        // A shard holds no longer sentences.
        let lengths = PairLengths { source: source.len() as u16, target: target.len() as u16 };
        Span { start: start as u64, lengths }
    }
}
