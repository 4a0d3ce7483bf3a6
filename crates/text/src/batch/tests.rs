//! Every pair once, no budget exceeded, the same batches however they are reached.

use padir_base::ragged::RaggedTokens;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use padir_base::TokenId;
use padir_base::hash::Sha256;
use padir_base::random::{Purpose, Seed};
use proptest::prelude::*;

use crate::shard::{Extent, Lexicon, PairLengths, ShardSet, ShardWriter};

use super::*;

/// Lengths as of a corpus: sources log-normal around 20 tokens, targets 10 % longer with a
/// spread of 15 %.
fn natural_lengths(n: usize, seed: u64) -> Vec<PairLengths> {
    let mut stream = Seed(seed).stream(Purpose::Test, 0);
    let length = |x: f64| x.round().clamp(1.0, 300.0) as u16;
    (0..n)
        .map(|_| {
            let source = (3.0 + 0.55 * stream.normal()).exp();
            let target = source * 1.1 * (1.0 + 0.15 * stream.normal()).max(0.2) + 1.0;
            PairLengths { source: length(source), target: length(target) }
        })
        .collect()
}

/// All batches of an epoch over all ranks, in order.
fn all_batches(lengths: &[PairLengths], config: &BatchConfig, epoch: u32) -> Vec<Vec<u64>> {
    let plan = BatchPlan::new(config.clone()).unwrap();
    let epoch = plan.epoch(lengths, epoch).unwrap();
    (0..epoch.pools())
        .flat_map(|pool| {
            let pool = plan.pool(lengths, &epoch, pool).unwrap();
            (0..pool.batches()).map(|batch| pool.batch(batch).collect()).collect::<Vec<_>>()
        })
        .collect()
}

fn any_config() -> impl Strategy<Value = BatchConfig> {
    let counted = prop_oneof![
        Just(Counted::Source),
        Just(Counted::Target),
        Just(Counted::Larger),
        Just(Counted::Both)
    ];
    let layout = prop_oneof![
        Just(Layout::Ragged),
        (1_u16..9).prop_map(|multiple| Layout::Padded { multiple })
    ];
    let order = prop_oneof![Just(Order::Bucketed), Just(Order::Shuffled), Just(Order::Corpus)];
    let empty = prop_oneof![Just(EmptySides::Keep), Just(EmptySides::Drop)];
    let sizes = (1_u32..3000, 1_u32..200, 1_u16..400, 1_u16..400, 1_u32..4000);
    (counted, layout, order, empty, sizes, 1_u32..5, 1_u32..4, 0_u64..9).prop_map(
        |(counted, layout, order, empty, sizes, ranks, accumulate, seed)| BatchConfig {
            tokens: sizes.0,
            counted,
            layout,
            max_pairs: sizes.1,
            max_source: sizes.2,
            max_target: sizes.3,
            long: LongPairs::Drop,
            empty,
            order,
            pool: sizes.4,
            ranks,
            accumulate,
            seed: Seed(seed),
        },
    )
}

/// The tokens a batch takes under a configuration, worked out the slow way.
fn used(batch: &[PairLengths], config: &BatchConfig) -> u64 {
    let side = |length: fn(&PairLengths) -> u16| match config.layout {
        Layout::Ragged => batch.iter().map(|pair| u64::from(length(pair))).sum::<u64>(),
        Layout::Padded { multiple } => {
            let longest = u64::from(batch.iter().map(length).max().unwrap_or(0));
            longest.div_ceil(u64::from(multiple)) * u64::from(multiple) * batch.len() as u64
        }
    };
    let (source, target) = (side(|pair| pair.source), side(|pair| pair.target));
    match config.counted {
        Counted::Source => source,
        Counted::Target => target,
        Counted::Larger => source.max(target),
        Counted::Both => source + target,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_pair_once_within_the_budget(
        n in 0_usize..6000,
        config in any_config(),
        epoch in 0_u32..4,
    ) {
        let lengths = natural_lengths(n, u64::from(epoch));
        let batches = all_batches(&lengths, &config, epoch);
        let mut seen: Vec<u64> = batches.concat();
        if config.order == Order::Corpus {
            prop_assert!(seen.is_sorted() || config.ranks * config.accumulate > 1);
        }
        seen.sort_unstable();
        let expected: Vec<u64> = (0..n as u64)
            .filter(|&pair| {
                let pair = lengths[pair as usize];
                pair.source <= config.max_source
                    && pair.target <= config.max_target
                    && used(&[pair], &config) <= u64::from(config.tokens)
                    && !(config.empty == EmptySides::Drop && pair.has_empty_side())
            })
            .collect();
        prop_assert_eq!(&seen, &expected);

        let group = (config.ranks * config.accumulate) as usize;
        prop_assert_eq!(batches.len() % group, 0);
        for batch in &batches {
            let batch: Vec<PairLengths> = batch.iter().map(|&p| lengths[p as usize]).collect();
            prop_assert!(used(&batch, &config) <= u64::from(config.tokens));
            prop_assert!(batch.len() <= config.max_pairs as usize);
        }
    }

    /// The survey that numbers the batches and the plans that make them agree.
    #[test]
    fn the_summary_is_the_truth(n in 0_usize..5000, config in any_config(), epoch in 0_u32..4) {
        let lengths = natural_lengths(n, 5);
        let plan = BatchPlan::new(config.clone()).unwrap().epoch(&lengths[..], epoch).unwrap();
        let batches = all_batches(&lengths, &config, epoch);
        let summary = plan.summary();
        prop_assert_eq!(summary.batches, batches.len() as u64);
        prop_assert_eq!(plan.batches() * u64::from(config.ranks), batches.len() as u64);
        prop_assert_eq!(summary.pairs as usize, batches.iter().map(Vec::len).sum::<usize>());
        prop_assert_eq!(summary.pairs + summary.dropped_long + summary.dropped_empty, n as u64);
        let padded = Layout::Padded {
            multiple: if let Layout::Padded { multiple } = config.layout { multiple } else { 1 },
        };
        let area = |counted| {
            let config = BatchConfig { counted, layout: padded, ..config.clone() };
            batches.iter().map(|batch| {
                let batch: Vec<_> = batch.iter().map(|&p| lengths[p as usize]).collect();
                used(&batch, &config)
            }).sum::<u64>()
        };
        prop_assert_eq!(summary.source.area, area(Counted::Source));
        prop_assert_eq!(summary.target.area, area(Counted::Target));
    }

    #[test]
    fn ranks_share_what_one_would_read(
        ranks in 1_u32..5, accumulate in 1_u32..3, tokens in 200_u32..2000, epochs in 1_u32..3,
    ) {
        let shards = &*CORPUS;
        let config = BatchConfig {
            ranks, accumulate, tokens, pool: 2000, order: Order::Shuffled, ..BatchConfig::default()
        };
        let shares: Vec<Vec<Batch>> = (0..ranks)
            .map(|rank| read(shards, &config, Rank(rank), Position::default(), epochs))
            .collect();
        for share in &shares {
            prop_assert_eq!(share.len(), shares[0].len());
            prop_assert_eq!(share.len() % accumulate as usize, 0);
        }
        // Dealt out in turns: batch i of rank r is batch i·ranks + r of all.
        let turns: Vec<Vec<u64>> = (0..shares[0].len())
            .flat_map(|i| shares.iter().map(move |share| share[i].pairs.clone()))
            .collect();
        let mut expected = Vec::new();
        for epoch in 0..epochs {
            expected.extend(all_batches(&lengths_of(shards), &config, epoch));
        }
        prop_assert_eq!(turns, expected);
    }

    #[test]
    fn resuming_anywhere_equals_going_on(at in 0_usize..1000, ranks in 1_u32..4, seed in 0_u64..4) {
        let shards = &*CORPUS;
        let config = BatchConfig {
            tokens: 900, pool: 1500, ranks, seed: Seed(seed), ..BatchConfig::default()
        };
        let rank = Rank(ranks - 1);
        let whole = read(shards, &config, rank, Position::default(), 2);
        let at = at % whole.len();
        let kept = serde_json::to_string(&BatchReader::new(shards.clone(), config.clone(), rank)
            .unwrap().bookmark(whole[at].position)).unwrap();
        prop_assert!(kept.len() < 150, "{}", kept);

        let reader = BatchReader::new(shards.clone(), config, rank).unwrap();
        let position = reader.resume(&serde_json::from_str(&kept).unwrap()).unwrap();
        let rest: Result<Vec<Batch>, _> =
            Prefetch::start(reader.batches(position, Some(2)), 3).unwrap().collect();
        prop_assert_eq!(&rest.unwrap()[..], &whole[at..]);
    }
}

/// 5000 pairs in 7 shards. Token j of pair i is a function of i and j, so a batch can be checked.
static CORPUS: std::sync::LazyLock<ShardSet> = std::sync::LazyLock::new(|| {
    let root = tempfile::tempdir().unwrap();
    write_corpus(&root.path().join("set"), &natural_lengths(5000, 1), 800)
});

fn token(pair: u64, side: u64, at: usize) -> TokenId {
    TokenId((4 + (pair * 31 + side * 17 + at as u64) % 900) as u32)
}

fn sentence(pair: u64, side: u64, length: u16) -> Vec<TokenId> {
    (0..usize::from(length) - 1).map(|at| token(pair, side, at)).collect()
}

/// The directory may be removed afterwards: the files stay open.
fn write_corpus(path: &Path, lengths: &[PairLengths], per_shard: u64) -> ShardSet {
    let lexicon = Lexicon { hash: Sha256([1; 32]), size: 1000 };
    let extent = Extent { pairs: per_shard, ..Extent::default() };
    let mut writer = ShardWriter::create(path, lexicon, extent).unwrap();
    for (pair, lengths) in (0..).zip(lengths) {
        let source = sentence(pair, 0, lengths.source);
        writer.push(&source, &sentence(pair, 1, lengths.target)).unwrap();
    }
    writer.finish(None).unwrap();
    ShardSet::open(path).unwrap()
}

fn lengths_of(shards: &ShardSet) -> Vec<PairLengths> {
    let mut lengths = Vec::new();
    shards.read_lengths(0..shards.pairs(), &mut lengths);
    lengths
}

fn read(
    shards: &ShardSet,
    config: &BatchConfig,
    rank: Rank,
    from: Position,
    end: u32,
) -> Vec<Batch> {
    let reader = BatchReader::new(shards.clone(), config.clone(), rank).unwrap();
    reader.batches(from, Some(end)).collect::<Result<_, _>>().unwrap()
}

#[test]
fn batches_hold_the_tokens_of_their_pairs() {
    let lengths = lengths_of(&CORPUS);
    for batch in read(&CORPUS, &BatchConfig::default(), Rank(0), Position::default(), 1) {
        assert_eq!(batch.source.len(), batch.pairs.len());
        assert_eq!(batch.target.len(), batch.pairs.len());
        for (row, &pair) in batch.pairs.iter().enumerate() {
            let PairLengths { source, target } = lengths[pair as usize];
            for (rows, side, length) in [(&batch.source, 0, source), (&batch.target, 1, target)] {
                let mut expected = sentence(pair, side, length);
                expected.push(TokenId::EOS);
                assert_eq!(rows.row(row), expected, "side {side} of pair {pair}");
            }
        }
    }
}

#[test]
fn the_number_of_shards_does_not_matter() {
    let root = tempfile::tempdir().unwrap();
    let other = write_corpus(&root.path().join("one"), &natural_lengths(5000, 1), 1 << 20);
    assert_eq!((other.shards(), CORPUS.shards()), (1, 7));
    let config = BatchConfig { pool: 2048, ..BatchConfig::default() };
    let all = |set: &ShardSet| read(set, &config, Rank(0), Position::default(), 2);
    assert_eq!(all(&other), all(&CORPUS));
}

#[test]
fn padding_is_almost_nothing() {
    // (name, pairs, budget, the most padding in percent; shuffled it is about 50)
    let cases = [
        ("a small corpus", 30_000, 4096, 4.5),
        ("a middling corpus", 150_000, 4096, 1.7),
        ("a small budget", 150_000, 1024, 0.6),
    ];
    for (name, pairs, tokens, percent) in cases {
        let lengths = natural_lengths(pairs, 3);
        let config = BatchConfig { tokens, ..BatchConfig::default() };
        let padding = |order| {
            let plan = BatchPlan::new(BatchConfig { order, ..config.clone() }).unwrap();
            100.0 * plan.epoch(&lengths[..], 0).unwrap().summary().padding()
        };
        let found = padding(Order::Bucketed);
        assert!(found < percent, "{name}: {found:.2} %");
        assert!(padding(Order::Shuffled) > 40.0, "{name}");
    }
}

#[test]
fn budgets_are_used_up() {
    let lengths = natural_lengths(50_000, 3);
    let summary = |layout| {
        let config = BatchConfig { layout, ..BatchConfig::default() };
        BatchPlan::new(config).unwrap().epoch(&lengths[..], 0).unwrap().summary()
    };
    for layout in [Layout::Ragged, Layout::Padded { multiple: 1 }] {
        let summary = summary(layout);
        let used = summary.target.tokens.max(summary.source.tokens) as f64;
        let fill = used / (4096.0 * summary.batches as f64);
        assert!(fill > 0.93, "{layout:?}: {fill}");
    }
}

/// Batches of an epoch come from all over the corpus and in no order of length.
#[test]
fn epochs_are_well_mixed() {
    let n = 40_000;
    let lengths = natural_lengths(n, 4);
    let config = BatchConfig { tokens: 2048, pool: 20_000, ..BatchConfig::default() };
    let batches = all_batches(&lengths, &config, 0);
    let full: Vec<&Vec<u64>> = batches.iter().filter(|batch| batch.len() >= 40).collect();
    assert!(full.len() > 300);
    let mean = |numbers: &mut dyn Iterator<Item = f64>| {
        let (sum, count) = numbers.fold((0.0, 0.0), |(s, c), x| (s + x, c + 1.0));
        sum / count
    };
    // Within a batch the places are uniform: their spread is n/√12.
    let spread = mean(&mut full.iter().map(|batch| {
        let centre = mean(&mut batch.iter().map(|&p| p as f64));
        mean(&mut batch.iter().map(|&p| (p as f64 - centre).powi(2))).sqrt()
    }));
    let uniform = n as f64 / 12_f64.sqrt();
    assert!((spread / uniform - 1.0).abs() < 0.08, "{spread} against {uniform}");
    // Neighbouring batches are no more alike in length than any two.
    let length: Vec<f64> =
        batches.iter().map(|b| f64::from(lengths[b[0] as usize].larger())).collect();
    let centre = mean(&mut length.iter().copied());
    let variance = mean(&mut length.iter().map(|x| (x - centre).powi(2)));
    let together = mean(&mut length.windows(2).map(|w| (w[0] - centre) * (w[1] - centre)));
    assert!((together / variance).abs() < 0.15, "autocorrelation {}", together / variance);
}

/// Two pairs that met in a batch do not always meet again, though like lengths attract each
/// other. If a sequence of distinct lengths is cut at a random phase the share is 2/3; with a
/// fixed phase it would be 1. Ties lower it.
#[test]
fn epochs_put_other_pairs_together() {
    // (pairs, budget, the largest share that may meet again)
    for (n, tokens, most) in [(2000, 4096, 0.7), (30_000, 4096, 0.62), (100_000, 1024, 0.4)] {
        let lengths = natural_lengths(n, 4);
        let config = BatchConfig { tokens, ..BatchConfig::default() };
        let batch_of = |epoch| {
            let mut places = vec![0_usize; n];
            for (index, batch) in all_batches(&lengths, &config, epoch).iter().enumerate() {
                for &pair in batch {
                    places[pair as usize] = index;
                }
            }
            places
        };
        let share = (1..9).map(|epoch| {
            let places = batch_of(epoch);
            let (mut again, mut all) = (0, 0);
            for batch in all_batches(&lengths, &config, 0) {
                for (i, &a) in batch.iter().enumerate() {
                    all += i;
                    let place = places[a as usize];
                    again += batch[..i].iter().filter(|&&b| places[b as usize] == place).count();
                }
            }
            again as f64 / all as f64
        });
        let share = share.sum::<f64>() / 8.0;
        assert!(share < most, "{n} pairs, {tokens} tokens: {share}");
    }
}

#[test]
fn seed_and_epoch_decide() {
    let lengths = natural_lengths(3000, 4);
    let batches = |seed, epoch| {
        let config = BatchConfig { seed: Seed(seed), ..BatchConfig::default() };
        all_batches(&lengths, &config, epoch)
    };
    assert_eq!(batches(1, 0), batches(1, 0));
    assert_ne!(batches(1, 0), batches(2, 0));
    assert_ne!(batches(1, 0), batches(1, 1));
}

/// The batches are part of what makes a run reproducible: this fails if they ever change.
#[test]
fn the_order_is_frozen() {
    let lengths: Vec<PairLengths> =
        (0..12).map(|i| PairLengths { source: 1 + i % 4, target: 1 + i % 3 }).collect();
    let config = BatchConfig { tokens: 9, seed: Seed(7), ..BatchConfig::default() };
    let expected: [&[u64]; 5] = [&[10, 6], &[8, 5, 2], &[0, 9, 1, 4], &[3, 7], &[11]];
    assert_eq!(all_batches(&lengths, &config, 0), expected);
}

#[test]
fn evaluation_sees_the_corpus_in_its_order() {
    let config = BatchConfig { order: Order::Corpus, tokens: 700, ..BatchConfig::default() };
    let batches = read(&CORPUS, &config, Rank(0), Position::default(), 1);
    let seen: Vec<u64> = batches.into_iter().flat_map(|batch| batch.pairs).collect();
    assert_eq!(seen, (0..5000).collect::<Vec<_>>());
}

#[test]
fn few_pairs_for_many_ranks_give_empty_batches() {
    let root = tempfile::tempdir().unwrap();
    let set = write_corpus(&root.path().join("set"), &natural_lengths(3, 1), 9);
    let config = BatchConfig { ranks: 8, ..BatchConfig::default() };
    let mut seen: Vec<u64> = Vec::new();
    for rank in 0..8 {
        let share = read(&set, &config, Rank(rank), Position::default(), 1);
        assert_eq!(share.len(), 1, "rank {rank}");
        assert_eq!(Rectangle::new(&share[0].source, 1).rows, share[0].pairs.len());
        seen.extend(&share[0].pairs);
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2]);
}

#[test]
fn long_pairs_can_be_refused() {
    let mut lengths = natural_lengths(2000, 1);
    lengths[1500].source = 400;
    let config = BatchConfig { max_source: 399, long: LongPairs::Refuse, ..BatchConfig::default() };
    let error = BatchPlan::new(config).unwrap().epoch(&lengths[..], 0).unwrap_err().to_string();
    assert!(error.starts_with("pair 1500 has 400 source and"), "{error}");
}

#[test]
fn nothing_left_is_an_error_for_an_endless_stream() {
    let config = BatchConfig { tokens: 1, ..BatchConfig::default() };
    let reader = || BatchReader::new(CORPUS.clone(), config.clone(), Rank(0)).unwrap();
    assert_eq!(reader().batches(Position::default(), Some(3)).count(), 0);
    let mut endless = reader().batches(Position::default(), None);
    let error = endless.next().unwrap().unwrap_err().to_string();
    assert!(error.starts_with("no pair is left of 5000: 5000 are too long"), "{error}");
    assert!(endless.next().is_none());
}

#[test]
fn a_position_elsewhere_is_refused() {
    let mut reader = BatchReader::new(CORPUS.clone(), BatchConfig::default(), Rank(0)).unwrap();
    let error = reader.read(Position { epoch: 3, batch: 1 << 40 }).unwrap_err().to_string();
    assert!(error.contains("so there is no batch 1099511627776"), "{error}");
    let bookmark = reader.bookmark(Position { epoch: 0, batch: 2 });
    assert_eq!(reader.resume(&bookmark).unwrap(), bookmark.position);
    let config = BatchConfig { tokens: 999, ..BatchConfig::default() };
    let other = BatchReader::new(CORPUS.clone(), config, Rank(0)).unwrap();
    assert!(other.resume(&bookmark).unwrap_err().to_string().contains("settings have changed"));
}

#[test]
fn senseless_settings_are_refused() {
    let default = BatchConfig::default;
    let cases = [
        ("tokens", BatchConfig { tokens: 0, ..default() }),
        ("pairs", BatchConfig { max_pairs: 0, ..default() }),
        ("source", BatchConfig { max_source: 0, ..default() }),
        ("target", BatchConfig { max_target: 0, ..default() }),
        ("multiple", BatchConfig { layout: Layout::Padded { multiple: 0 }, ..default() }),
        ("pool", BatchConfig { pool: 0, ..default() }),
        ("large pool", BatchConfig { pool: u32::MAX, ..default() }),
        ("ranks", BatchConfig { ranks: 0, ..default() }),
        ("accumulate", BatchConfig { accumulate: 0, ..default() }),
        ("group", BatchConfig { ranks: 1 << 16, accumulate: 1 << 16, ..default() }),
    ];
    for (name, config) in cases {
        assert!(matches!(BatchPlan::new(config), Err(BatchError::Config(_))), "{name}");
    }
    let error = BatchReader::new(CORPUS.clone(), default(), Rank(1)).unwrap_err().to_string();
    assert_eq!(error, "rank 1 does not exist: there are 1, counted from 0");
}

#[test]
fn a_misspelt_setting_is_named() {
    let good = r#"{"tokens": 8192, "layout": {"kind": "ragged"}, "order": "shuffled"}"#;
    let config: BatchConfig = serde_json::from_str(good).unwrap();
    assert_eq!((config.tokens, config.layout), (8192, Layout::Ragged));
    for (bad, named) in [
        (r#"{"tokes": 8192}"#, "tokes"),
        (r#"{"layout": {"kind": "padded", "multipel": 8}}"#, "multipel"),
        (r#"{"order": "sorted"}"#, "sorted"),
    ] {
        let error = serde_json::from_str::<BatchConfig>(bad).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn rectangles_are_filled_with_padding() {
    let rows = [vec![5, 6, 1], vec![7, 1]].map(|row| row.into_iter().map(TokenId));
    let rows: RaggedTokens = rows.into_iter().collect();
    let cases = [(1, 3, vec![5, 6, 1, 7, 1, 0]), (4, 4, vec![5, 6, 1, 0, 7, 1, 0, 0])];
    for (multiple, width, expected) in cases {
        let rectangle = Rectangle::new(&rows, multiple);
        assert_eq!((rectangle.rows, rectangle.width), (2, width));
        assert_eq!(rectangle.tokens, expected.into_iter().map(TokenId).collect::<Vec<_>>());
    }
    let none = Rectangle { tokens: vec![], rows: 0, width: 0 };
    assert_eq!(Rectangle::new(&RaggedTokens::default(), 8), none);
}

#[test]
fn a_dropped_prefetch_ends_its_thread() {
    struct Endless(Arc<AtomicUsize>);
    impl Iterator for Endless {
        type Item = usize;
        fn next(&mut self) -> Option<usize> {
            Some(self.0.fetch_add(1, Ordering::SeqCst))
        }
    }
    let made = Arc::new(AtomicUsize::new(0));
    let mut prefetch = Prefetch::start(Endless(made.clone()), 4).unwrap();
    assert_eq!(prefetch.by_ref().take(10).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    drop(prefetch);
    let after = made.load(Ordering::SeqCst);
    assert!(after <= 10 + 4 + 1, "{after} items for a channel of 4");
    // The thread owned the other half.
    assert_eq!(Arc::strong_count(&made), 1);
}

#[test]
#[should_panic(expected = "no more symbols")]
fn a_panic_in_the_thread_continues_in_the_reader() {
    let items = (0..5).inspect(|&i| assert!(i < 3, "no more symbols"));
    let _ = Prefetch::start(items, 1).unwrap().count();
}

#[test]
fn damage_found_while_reading_is_passed_on() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("set");
    drop(write_corpus(&path, &natural_lengths(500, 1), 1 << 20));
    let shard = path.join("shard-00000.bin");
    let mut bytes = std::fs::read(&shard).unwrap();
    let last = bytes.len() - 3;
    bytes[last] = 0xff;
    std::fs::write(&shard, bytes).unwrap();
    let set = ShardSet::open(&path).unwrap();
    let reader = BatchReader::new(set, BatchConfig::default(), Rank(0)).unwrap();
    let batches = Prefetch::start(reader.batches(Position::default(), None), 2).unwrap();
    let error = batches.map_while(|batch| batch.err().map_or(Some(None), |e| Some(Some(e))));
    let error = error.flatten().next().unwrap().to_string();
    assert!(error.contains("damaged: pair 499 has the token 65"), "{error}");
}
