//! Any bytes as a shard. With an odd first byte the checksums are put right beforehand, for the
//! fuzzer would never find them; what opens must then read and batch without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use padir_base::hash::hash_bytes;
use padir_text::batch::{BatchConfig, BatchReader, Position, Rank};
use padir_text::shard::ShardSet;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let mut bytes = bytes.to_vec();
    if choice % 2 == 1 {
        repair(&mut bytes);
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join("shard-00000.bin"), &bytes).expect("room");
    let Ok(set) = ShardSet::open(directory.path()) else { return };
    let (mut source, mut target) = (Vec::new(), Vec::new());
    let intact = (0..set.pairs()).all(|pair| set.read_pair(pair, &mut source, &mut target).is_ok());
    let _ = set.verify(|_| {});
    let pairs = set.pairs() as usize;
    let reader =
        BatchReader::new(set, BatchConfig { tokens: u32::MAX, ..BatchConfig::default() }, Rank(0))
            .expect("sensible settings");
    let batches: Result<Vec<_>, _> = reader.batches(Position::default(), Some(1)).collect();
    assert_eq!(batches.is_ok(), intact);
    if let Ok(batches) = batches {
        assert_eq!(batches.iter().map(|batch| batch.pairs.len()).sum::<usize>(), pairs);
    }
});

/// Makes magic number, version, place in the set and checksums what they should be.
fn repair(bytes: &mut [u8]) {
    if bytes.len() < 256 {
        return;
    }
    bytes[..8].copy_from_slice(b"PADIRSHD");
    bytes[8..20].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    bytes[28..32].fill(0);
    bytes[88..120].fill(0);
    bytes[184..224].fill(0);
    let pairs = u64::from_le_bytes(std::array::from_fn(|i| bytes[32 + i]));
    let end = pairs.saturating_mul(4).saturating_add(256).min(bytes.len() as u64) as usize;
    let lengths = hash_bytes(&bytes[256..end]);
    bytes[120..152].copy_from_slice(&lengths.0);
    let header = hash_bytes(&bytes[..224]);
    bytes[224..256].copy_from_slice(&header.0);
}
