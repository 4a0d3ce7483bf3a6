//! Once its buffers have grown, a session allocates nothing.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{MANY, Model, VOCABULARY, tokens};
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::{Answers, Denoiser, Query};
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::{DecoderKind, ModelConfig, Preset};
use padir_engine::{Precision, Session, Target};

/// The system's allocator, counted.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator.
#[expect(unsafe_code, reason = "an allocator that counts is the only way to see allocations")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as promised to us.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as promised to us.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How often `work` allocates once its buffers have grown: the fewest of five times.
///
/// The count is of the whole process, so a pool thread that starts late or the test harness can add to one of them. What the loop itself
/// allocates is in all of them.
fn allocations(mut work: impl FnMut()) -> usize {
    work();
    work();
    let count = |_| {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        work();
        ALLOCATIONS.load(Ordering::Relaxed) - before
    };
    (0..5).map(count).min().unwrap()
}

fn refine(session: &mut Session, query: &Query<'_>, answers: &mut Answers) {
    for depth in [1, 5, 40] {
        answers.prepare(query, depth);
        session.denoise(query, answers).unwrap();
    }
}

/// One test, lest another one's allocations be counted.
#[test]
fn nothing_is_allocated_in_the_loop() {
    let mut stream = Seed(5).stream(Purpose::Synthesis, 1);
    let (source, target) = (tokens(&mut stream, 11), tokens(&mut stream, 30));
    let wanted: Vec<bool> = (0..30).map(|i| i % 4 != 1).collect();
    let query = Query::new(&target, &[12, 30], &[0, 0], &[false; 30], &wanted).unwrap();
    let cases =
        [(Precision::F32, VOCABULARY), (Precision::F32, MANY), (Precision::Int8, VOCABULARY)];
    for (precision, vocabulary) in cases {
        for threads in [1, 2] {
            let open = |kind| {
                let config = ModelConfig::preset(Preset::Tiny, vocabulary, kind);
                common::session(
                    &Model::random(&config, 3).engine(precision),
                    threads,
                    std::slice::from_ref(&source),
                )
            };
            let mut parallel = open(DecoderKind::Parallel);
            let mut answers = Answers::default();
            let count = allocations(|| {
                parallel.encode(&[&source]).unwrap();
                refine(&mut parallel, &query, &mut answers);
                refine(&mut parallel, &query.at_low_precision(true), &mut answers);
            });
            assert_eq!(count, 0, "parallel, {precision:?} of {vocabulary}, {threads} threads");

            let mut causal = open(DecoderKind::Causal);
            let mut answers = Vec::new();
            let beam = [0, 0, 2, 1].map(|parent| DecodeStep { parent, token: target[parent] });
            let count = allocations(|| {
                causal.encode(&[&source]).unwrap();
                causal.begin(&[0; 4]).unwrap();
                for _ in 0..20 {
                    causal.decode_step(&beam, 5, &mut answers).unwrap();
                }
            });
            assert_eq!(count, 0, "causal, {precision:?} of {vocabulary}, {threads} threads");

            let rivals = [&target[..12], &target[12..]];
            let rivals = rivals.map(|tokens| Target { context: 0, tokens });
            let mut log_probs = Vec::new();
            let count = allocations(|| {
                causal.encode(&[&source]).unwrap();
                causal.score_targets(&rivals, &mut log_probs).unwrap();
            });
            assert_eq!(
                count, 0,
                "forced decoding, {precision:?} of {vocabulary}, {threads} threads"
            );
        }
    }
}
