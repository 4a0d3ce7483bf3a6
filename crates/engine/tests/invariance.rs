//! A row's answer depends on the row and its source alone, to the bit.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use common::{MANY, Model, Row, VOCABULARY, ask, ask_as, configs, configs_of, session, tokens};
use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_base::denoise::{Candidate, Denoiser};
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::{DecoderKind, ModelConfig, Preset};
use padir_engine::{Engine, Isa, Precision, Session};
use proptest::prelude::*;

fn precisions() -> impl Strategy<Value = Precision> {
    prop_oneof![Just(Precision::F32), Just(Precision::Int8)]
}

/// The answers of a row that is grown alone, in a fresh session, from its whole history.
fn grown(engine: &Engine, source: &[TokenId], history: &[TokenId], depth: usize) -> Vec<Candidate> {
    let mut session = session(engine, 1, &[source.to_vec()]);
    session.begin(&[0]).unwrap();
    let mut answers = Vec::new();
    for &token in history {
        session.decode_step(&[DecodeStep { parent: 0, token }], depth, &mut answers).unwrap();
    }
    answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn parallel_rows_do_not_see_each_other(
        config in prop_oneof![2 => configs(DecoderKind::Parallel), 1 => configs_of(MANY, DecoderKind::Parallel)],
        seed: u64, precision in precisions(), depth in 1..30_usize, low_precision: bool,
        sources in prop::collection::vec(0..20_usize, 1..4), rows in prop::collection::vec(0..25_usize, 1..8),
    ) {
        let ask = |session: &mut Session, rows: &[Row], depth| ask_as(session, rows, depth, low_precision).unwrap();
        let model = Model::random(&config, seed);
        let engine = model.engine(precision);
        let mut stream = Seed(seed).stream(Purpose::Synthesis, 1);
        let sources: Vec<Vec<TokenId>> = sources.iter().map(|&n| tokens(&mut stream, n)).collect();
        let rows: Vec<Row> = rows.iter().map(|&n| Row::random(&mut stream, n, sources.len())).collect();
        let mut all = session(&engine, 1, &sources);
        let together = ask(&mut all, &rows, depth);

        for (row, truth) in rows.iter().zip(&together) {
            let mut alone = session(&engine, 1, &sources[row.context..=row.context]);
            let row = Row { context: 0, ..row.clone() };
            prop_assert_eq!(&ask(&mut alone, &[row], depth)[0], truth, "alone");
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        stream.shuffle(&mut order);
        let shuffled: Vec<Row> = order.iter().map(|&i| rows[i].clone()).collect();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            for threads in [1, 2, 3] {
                let mut other = session(&model.engine_for(precision, isa), threads, &sources);
                let found = ask(&mut other, &shuffled, depth);
                for (&i, found) in order.iter().zip(&found) {
                    prop_assert_eq!(found, &together[i], "shuffled, {:?}, {} threads", isa, threads);
                }
                for context in 0..sources.len() {
                    prop_assert_eq!(other.lengths(context, 9), all.lengths(context, 9));
                }
            }
        }
        // All positions wanted: what is not wanted must not matter.
        let every: Vec<Row> =
            rows.iter().map(|row| Row { wanted: vec![true; row.tokens.len()], ..row.clone() }).collect();
        for ((row, every), truth) in rows.iter().zip(ask(&mut all, &every, depth)).zip(&together) {
            let wanted = every.into_iter().zip(&row.wanted).filter(|(_, wanted)| **wanted).map(|(a, _)| a);
            prop_assert_eq!(&wanted.collect::<Vec<_>>(), truth, "every position");
        }
    }

    #[test]
    fn causal_rows_follow_their_parents(
        config in prop_oneof![2 => configs(DecoderKind::Causal), 1 => configs_of(MANY, DecoderKind::Causal)],
        seed: u64, precision in precisions(), depth in 1..20_usize,
        sources in prop::collection::vec(0..12_usize, 1..3), beams in prop::collection::vec(1..7_usize, 1..9), threads in 1..4_usize,
    ) {
        let model = Model::random(&config, seed);
        let engine = model.engine(precision);
        let mut stream = Seed(seed).stream(Purpose::Synthesis, 1);
        let sources: Vec<Vec<TokenId>> = sources.iter().map(|&n| tokens(&mut stream, n)).collect();
        let mut beam = session(&engine, threads, &sources);
        let mut live: Vec<(usize, Vec<TokenId>)> = (0..sources.len()).map(|context| (context, Vec::new())).collect();
        beam.begin(&(0..sources.len()).collect::<Vec<_>>()).unwrap();
        let mut answers = Vec::new();
        for width in beams {
            let rows: Vec<DecodeStep> = (0..width)
                .map(|_| DecodeStep {
                    parent: stream.below(live.len() as u64) as usize,
                    token: TokenId(stream.below(VOCABULARY as u64) as u32),
                })
                .collect();
            live = rows.iter().map(|row| {
                let (context, mut history) = live[row.parent].clone();
                history.push(row.token);
                (context, history)
            }).collect();
            beam.decode_step(&rows, depth, &mut answers).unwrap();
            for ((context, history), answers) in live.iter().zip(answers.chunks_exact(depth)) {
                prop_assert_eq!(answers, &grown(&engine, &sources[*context], history, depth)[..]);
            }
        }
    }

    #[test]
    fn a_shortlist_leaves_the_order_of_its_tokens(
        config in configs(DecoderKind::Parallel), seed: u64, precision in precisions(), listed in prop::collection::vec(0..VOCABULARY as u32, 1..60),
    ) {
        let model = Model::random(&config, seed);
        let engine = model.engine(precision);
        let mut stream = Seed(seed).stream(Purpose::Synthesis, 1);
        let sources = vec![tokens(&mut stream, 5), tokens(&mut stream, 3)];
        let rows: Vec<Row> = [4, 9, 2].iter().map(|&n| Row::random(&mut stream, n, 2)).collect();
        let mut session = session(&engine, 2, &sources);
        let all = ask(&mut session, &rows, VOCABULARY);
        let listed: Vec<TokenId> = listed.into_iter().map(TokenId).collect();
        session.set_shortlist(1, Some(&listed)).unwrap();
        // Alignments always have blanks.
        let listed = [listed, config.symbols.blank.into_iter().collect()].concat();
        let some = ask(&mut session, &rows, VOCABULARY);
        for ((row, all), some) in rows.iter().zip(&all).zip(&some) {
            for (all, some) in all.iter().zip(some) {
                if row.context == 0 {
                    prop_assert_eq!(all, some);
                    continue;
                }
                let kept: Vec<&Candidate> = all.iter().filter(|c| listed.contains(&c.token)).collect();
                let log_z = kept.iter().map(|c| c.log_prob.exp()).sum::<f64>().ln();
                for (kept, some) in kept.iter().zip(some) {
                    prop_assert_eq!(kept.token, some.token);
                    prop_assert!((kept.log_prob - log_z - some.log_prob).abs() < 1e-5);
                }
                prop_assert!(some[kept.len()..].iter().all(|c| c.log_prob == f64::NEG_INFINITY));
                let mut every: Vec<u32> = some.iter().map(|c| c.token.0).collect();
                every.sort_unstable();
                prop_assert!(every.into_iter().eq(0..VOCABULARY as u32), "each token once");
            }
        }
        session.set_shortlist(1, None).unwrap();
        prop_assert_eq!(ask(&mut session, &rows, VOCABULARY), all);
    }
}

/// Sessions of one engine and one pool may work at the same time.
#[test]
fn sessions_share_engine_and_threads() {
    let config = padir_checkpoint::ModelConfig::preset(
        padir_checkpoint::Preset::Tiny,
        VOCABULARY,
        DecoderKind::Parallel,
    );
    let model = Model::random(&config, 3);
    let engine = model.engine(Precision::F32);
    let mut stream = Seed(5).stream(Purpose::Synthesis, 1);
    let source = tokens(&mut stream, 9);
    let row = Row::random(&mut stream, 20, 1);
    let alone = std::slice::from_ref(&row);
    let truth = ask(&mut session(&engine, 1, std::slice::from_ref(&source)), alone, 3);
    let threads = padir_engine::Threads::new(2);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let mut session: Session = engine.session(threads.clone());
            let (source, row, truth) = (&source, &row, &truth);
            scope.spawn(move || {
                session.encode(&[source]).unwrap();
                for _ in 0..5 {
                    assert_eq!(&ask(&mut session, std::slice::from_ref(row), 3), truth);
                }
            });
        }
    });
}

/// In f32 a low-precision answer is nearly the answer and not quite, so it was computed otherwise; in 8 bits it is the answer.
#[test]
fn a_draft_is_nearly_the_answer() {
    let cases = [
        (Precision::F32, VOCABULARY),
        (Precision::F32, MANY),
        (Precision::Int8, VOCABULARY),
        (Precision::Int8, MANY),
    ];
    for (precision, vocabulary) in cases {
        let config = ModelConfig::preset(Preset::Tiny, vocabulary, DecoderKind::Parallel);
        let engine = Model::random(&config, 5).engine(precision);
        let mut stream = Seed(5).stream(Purpose::Synthesis, 1);
        let sources = vec![tokens(&mut stream, 9)];
        let rows = [Row::random(&mut stream, 20, 1), Row::random(&mut stream, 7, 1)];
        let mut session = session(&engine, 2, &sources);
        let exact = ask(&mut session, &rows, 1).concat().concat();
        let low_precision = ask_as(&mut session, &rows, 1, true).unwrap().concat().concat();
        assert_eq!(ask(&mut session, &rows, 1).concat().concat(), exact, "nothing stays behind");
        if precision == Precision::Int8 {
            assert_eq!(low_precision, exact);
            continue;
        }
        assert_ne!(low_precision, exact);
        // All logits are in 8 bits, then: those that are kept whole for many candidates, and those that are not.
        let deep = ask_as(&mut session, &rows, 40, true).unwrap().concat();
        let first: Vec<Candidate> = deep.iter().map(|candidates| candidates[0]).collect();
        let close = |a: &Candidate, b: &Candidate| (a.log_prob - b.log_prob).abs() < 1e-6;
        assert!(low_precision.iter().zip(&first).all(|(a, b)| a.token == b.token && close(a, b)));
        let near = |(a, b): &(&Candidate, &Candidate)| (a.log_prob - b.log_prob).abs() < 0.2;
        let close = exact.iter().zip(&low_precision).filter(near).count();
        assert!(10 * close >= 9 * exact.len(), "{close} of {}", exact.len());
    }
}

/// Who competes for a while does so in its context alone, and what was before comes back.
#[test]
fn narrowing_is_taken_back() {
    for precision in [Precision::F32, Precision::Int8] {
        let config = ModelConfig::preset(Preset::Tiny, MANY, DecoderKind::Parallel);
        let engine = Model::random(&config, 5).engine(precision);
        let mut stream = Seed(5).stream(Purpose::Synthesis, 1);
        let sources = vec![tokens(&mut stream, 9), tokens(&mut stream, 5)];
        let mut rows = [Row::random(&mut stream, 20, 1), Row::random(&mut stream, 7, 1)];
        rows[1].context = 1;
        let mut session = session(&engine, 2, &sources);
        let before = ask(&mut session, &rows, 3);
        let few: Vec<TokenId> = (20..60).map(TokenId).collect();
        assert!(session.set_candidates(0, Some(&few)).unwrap());
        let narrow = ask(&mut session, &rows, 3);
        let listed = |answers: &[Vec<Candidate>], list: &[TokenId]| {
            answers.iter().flatten().all(|candidate| list.contains(&candidate.token))
        };
        assert!(listed(&narrow[0], &few) && !listed(&before[0], &few));
        assert_eq!(narrow[1], before[1], "another context");
        assert!(!session.set_candidates(0, None).unwrap());
        assert_eq!(ask(&mut session, &rows, 3), before);

        let own: Vec<TokenId> = (10..300).map(TokenId).collect();
        session.set_shortlist(0, Some(&own)).unwrap();
        let shortlisted = ask(&mut session, &rows, 3);
        assert!(!session.set_candidates(0, Some(&own[1..])).unwrap(), "hardly fewer");
        assert_eq!(ask(&mut session, &rows, 3), shortlisted);
        assert!(session.set_candidates(0, Some(&few)).unwrap());
        assert!(listed(&ask(&mut session, &rows, 3)[0], &few));
        session.set_candidates(0, None).unwrap();
        assert_eq!(ask(&mut session, &rows, 3), shortlisted, "the user's list stays");
        assert!(session.set_candidates(9, Some(&few)).is_err(), "there is no such context");
        assert!(session.set_candidates(0, Some(&[TokenId(4000)])).is_err());
    }
}
