//! The laboratory's inner loops: `cargo bench -p padir-lab`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use padir_base::mask::MaskLaw;
use padir_base::random::{Purpose, Seed};
use padir_lab::chain::BlockOperator;
use padir_lab::estimate::{IsingLoss, Loss, Masks, Samples};
use padir_lab::graph::Shape;
use padir_lab::hitting::{Update, clique_hitting};
use padir_lab::model::{Clique, Ising, Model};
use padir_lab::sample::{CliqueBlocks, Kernel, SingleSite};

/// One application of k-Gibbs to a function on 2¹⁶ states.
fn operators(c: &mut Criterion) {
    let ring = Shape::Chain { periodic: true };
    let p = Model::Ising(Ising::uniform(16, &ring, 0.1, 0.3).expect("a model"))
        .enumerate()
        .expect("2^16 states");
    let f: Vec<f64> = (0..p.space().size()).map(|x| (x as f64).sin()).collect();
    let mut group = c.benchmark_group("operator, 2^16 states");
    group.sample_size(10);
    for k in [1, 4, 8, 12] {
        let operator = BlockOperator::new(&p, &MaskLaw::Exactly { k }).expect("an operator");
        group.bench_function(format!("k = {k}"), |b| b.iter(|| operator.pull(&f)));
    }
    group.finish();
}

fn samplers(c: &mut Criterion) {
    const STEPS: u64 = 100_000;
    let torus = Shape::Grid { rows: 64, columns: 64, periodic: true };
    let site = SingleSite::new(&Ising::uniform(4096, &torus, 0.1, 0.3).expect("a model"));
    let clique = Clique::uniform(100, 40, 0.1, 0.05).expect("a model");
    let block = CliqueBlocks::new(&clique, 20).expect("a kernel");
    let mut group = c.benchmark_group("sampler");
    group.throughput(Throughput::Elements(STEPS));
    for (name, kernel) in
        [("single-site, torus", &site as &dyn Kernel), ("20-Gibbs, clique", &block)]
    {
        group.bench_function(name, |b| {
            let mut spins = vec![1; kernel.sites()];
            let mut stream = Seed(1).stream(Purpose::Chain, 0);
            b.iter(|| kernel.advance(&mut spins, &mut stream, STEPS));
        });
    }
    group.finish();
}

/// Value and gradient for 20 spins and 10,000 samples.
fn losses(c: &mut Criterion) {
    let model = Ising::uniform(20, &Shape::Clique { size: None }, 0.1, 0.02).expect("a model");
    let mut stream = Seed(2).stream(Purpose::Synthesis, 0);
    let rows: Vec<Vec<u8>> =
        (0..10_000).map(|_| (0..20).map(|_| (stream.next_u32() >> 31) as u8).collect()).collect();
    let samples = Samples::new(20, 2, rows).expect("samples");
    let at = model.parameters();
    let mut group = c.benchmark_group("gradient, 20 spins, 10,000 samples");
    group.sample_size(10);
    for (name, masks) in [("k = 1", Masks::Singles), ("k = 2", Masks::Pairs)] {
        let loss = IsingLoss::new(&model, &samples, masks);
        let mut gradient = vec![0.0; loss.dimension()];
        group.bench_function(name, |b| b.iter(|| loss.gradient(&at, &mut gradient)));
    }
    group.finish();
}

fn hitting_times(c: &mut Criterion) {
    let model = Clique::uniform(100, 30, 0.1, 1.0).expect("a model");
    c.bench_function("hitting, N = 100, |C| = 30, k = 40", |b| {
        b.iter(|| clique_hitting(&model, Update::Gibbs(40)).and_then(|h| h.expected()));
    });
}

criterion_group!(benches, operators, samplers, losses, hitting_times);
criterion_main!(benches);
