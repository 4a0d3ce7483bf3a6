//! Which texts are translated together.

use padir_base::TokenId;
use padir_text::Pair;
use padir_text::vocab::Vocabulary;

/// The most source tokens in a batch of several: long sources in beams need much memory.
const BATCH_TOKENS: usize = 4096;

/// The lengths of sources in tokens.
pub fn source_lengths(vocabulary: &Vocabulary, pairs: &[Pair]) -> Vec<usize> {
    let mut encoder = vocabulary.encoder();
    let mut ids: Vec<TokenId> = Vec::new();
    let mut length = |pair: &Pair| {
        encoder.encode_into(&pair.source, &mut ids);
        ids.len()
    };
    pairs.iter().map(&mut length).collect()
}

/// Which sources are translated together: at most `most` of about the same length, the longest first.
pub fn batches(lengths: &[usize], most: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(lengths[at]));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut tokens = 0;
    for at in order {
        match batches.last_mut() {
            Some(batch) if batch.len() < most && tokens + lengths[at] <= BATCH_TOKENS => {
                batch.push(at);
            }
            _ => {
                batches.push(vec![at]);
                tokens = 0;
            }
        }
        tokens += lengths[at];
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_every_source_once_and_not_too_much() {
        let lengths: Vec<usize> =
            (0..300).map(|i| i * 37 % 101).chain([5000, 3000, 3000]).collect();
        let batches = batches(&lengths, 64);
        let mut all: Vec<usize> = batches.concat();
        let ordered: Vec<usize> = all.iter().map(|&at| lengths[at]).collect();
        assert!(ordered.is_sorted_by(|a, b| a >= b));
        all.sort_unstable();
        assert_eq!(all, (0..303).collect::<Vec<_>>());
        for batch in &batches {
            let tokens: usize = batch.iter().map(|&at| lengths[at]).sum();
            assert!(batch.len() == 1 || (batch.len() <= 64 && tokens <= BATCH_TOKENS), "{batch:?}");
        }
        assert_eq!(batches[..3].iter().map(Vec::len).collect::<Vec<_>>()[..2], [1, 1]);
    }
}
