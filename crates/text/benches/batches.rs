//! Tokens per second of planning, reading and padding batches.
//!
//! `cargo bench -p padir-text --bench batches`. The corpus is synthetic, 200,000 pairs of some 45
//! tokens, and in the page cache.

use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use padir_base::TokenId;
use padir_base::hash::Sha256;
use padir_base::random::{Purpose, Seed};
use padir_text::batch::{
    BatchConfig, BatchReader, Layout, Order, Position, Prefetch, Rank, Rectangle,
};
use padir_text::shard::{Extent, Lexicon, ShardSet, ShardWriter};

const PAIRS: usize = 200_000;

fn write_corpus(path: &Path, pairs: &[(usize, usize)]) -> ShardSet {
    let lexicon = Lexicon { hash: Sha256([1; 32]), size: 32_100 };
    let words: Vec<TokenId> = (0..300).map(|i| TokenId(4 + i * 31 % 32_000)).collect();
    let mut writer = ShardWriter::create(path, lexicon, Extent::default()).expect("room");
    for &(source, target) in pairs {
        writer.push(&words[..source], &words[..target]).expect("a pair that fits");
    }
    writer.finish(None).expect("room");
    ShardSet::open(path).expect("the set just written")
}

fn lengths() -> Vec<(usize, usize)> {
    let mut stream = Seed(1).stream(Purpose::Test, 0);
    (0..PAIRS)
        .map(|_| {
            let source = (2.9 + 0.6 * stream.normal()).exp().clamp(1.0, 250.0);
            let target = (source * (1.1 + 0.15 * stream.normal())).clamp(1.0, 250.0);
            (source as usize, target as usize)
        })
        .collect()
}

fn bench(criterion: &mut Criterion) {
    let root = tempfile::tempdir().expect("a temporary directory");
    let lengths = lengths();
    let shards = write_corpus(&root.path().join("set"), &lengths);
    let tokens = shards.source_tokens() + shards.target_tokens();
    let reader = |config: &BatchConfig| {
        BatchReader::new(shards.clone(), config.clone(), Rank(0)).expect("sensible settings")
    };
    let mut group = criterion.benchmark_group("batches");
    group.throughput(Throughput::Elements(tokens)).sample_size(20);

    group.bench_function("write", |bencher| {
        bencher.iter_batched(
            || tempfile::tempdir().expect("a temporary directory"),
            |root| write_corpus(&root.path().join("set"), &lengths),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("open", |bencher| {
        bencher.iter(|| ShardSet::open(root.path().join("set")).expect("a set").pairs());
    });
    let bucketed = BatchConfig::default();
    let shuffled =
        BatchConfig { order: Order::Shuffled, layout: Layout::Ragged, ..BatchConfig::default() };
    for (name, config) in [("bucketed", &bucketed), ("shuffled", &shuffled)] {
        group.bench_function(format!("survey/{name}"), |bencher| {
            bencher.iter(|| reader(config).epoch(0).expect("a plan").batches());
        });
        group.bench_function(format!("ragged/{name}"), |bencher| {
            bencher.iter(|| {
                let batches = reader(config).batches(Position::default(), Some(1));
                batches.map(|batch| batch.expect("a batch").source.len()).sum::<usize>()
            });
        });
    }
    group.bench_function("padded/bucketed", |bencher| {
        bencher.iter(|| {
            for batch in reader(&bucketed).batches(Position::default(), Some(1)) {
                let batch = batch.expect("a batch");
                black_box([&batch.source, &batch.target].map(|side| Rectangle::new(side, 8)));
            }
        });
    });
    group.bench_function("prefetched/bucketed", |bencher| {
        bencher.iter(|| {
            let batches = reader(&bucketed).batches(Position::default(), Some(1));
            Prefetch::start(batches, 8).expect("a thread").count()
        });
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
