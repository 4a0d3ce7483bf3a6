//! Attention weights: by definition, whatever stands beside a row, and only if somebody asks.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use common::naive::Naive;
use common::{Model, Row, VOCABULARY, ask, configs, session, tokens};
use padir_base::TokenId;
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::{Decoder, DecoderKind, InitialTokens, ModelConfig, Preset};
use padir_engine::{AttentionRow, EngineError, LayerAttention, Precision, Session};
use proptest::prelude::*;

/// Row, layer, and the two kinds of weights: head after head, query after query.
type Shown = (usize, usize, Vec<f32>, Vec<f32>);

fn all_of(shown: &LayerAttention<'_>) -> Shown {
    let places: Vec<(usize, usize)> =
        (0..shown.heads).flat_map(|h| (0..shown.targets).map(move |i| (h, i))).collect();
    let own = places.iter().flat_map(|&(h, i)| shown.self_attn(h, i).to_vec()).collect();
    let cross = places.iter().flat_map(|&(h, i)| shown.cross_attn(h, i).to_vec()).collect();
    (shown.row, shown.layer, own, cross)
}

fn attention(
    session: &mut Session,
    rows: &[Row],
    layers: &[usize],
) -> Result<Vec<Shown>, EngineError> {
    let rows: Vec<AttentionRow<'_>> = rows
        .iter()
        .map(|row| AttentionRow { context: row.context, tokens: &row.tokens, hidden: &row.hidden })
        .collect();
    let mut all = Vec::new();
    session.attention(&rows, layers, &mut |shown| all.push(all_of(&shown)))?;
    Ok(all)
}

/// What the decoder reads at a row's positions.
fn read(config: &ModelConfig, row: &Row) -> Vec<TokenId> {
    let last = config.symbols.vocab_size - 1;
    let shown = |i: usize| match &config.decoder {
        Decoder::Parallel(parallel) if row.hidden[i] => {
            let numbered = parallel.initial == InitialTokens::NumberedMask;
            TokenId((last - if numbered { 3 + i % 9 } else { 0 }) as u32)
        }
        _ => row.tokens[i],
    };
    let mut tokens: Vec<TokenId> = (0..row.tokens.len()).map(shown).collect();
    if config.parallel().is_none() && !tokens.is_empty() {
        tokens.rotate_right(1);
        tokens[0] = config.symbols.start;
    }
    tokens
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn weights_are_those_of_the_definition(
        config in prop_oneof![configs(DecoderKind::Parallel), configs(DecoderKind::Causal)], seed: u64,
        sources in prop::collection::vec(0..20_usize, 1..3), rows in prop::collection::vec(0..25_usize, 1..4),
    ) {
        let model = Model::random(&config, seed);
        let naive = Naive { model: &model };
        let mut stream = Seed(seed).stream(Purpose::Synthesis, 1);
        let sources: Vec<Vec<TokenId>> = sources.iter().map(|&n| tokens(&mut stream, n)).collect();
        let mut rows: Vec<Row> = rows.iter().map(|&n| Row::random(&mut stream, n, sources.len())).collect();
        if config.parallel().is_none() {
            for row in &mut rows {
                row.hidden.fill(false);
            }
        }
        let layers: Vec<usize> = (0..config.num_decoder_layers).collect();
        let mut one = session(&model.engine(Precision::F32), 1, &sources);
        let before = config.parallel().map(|_| ask(&mut one, &rows, 3));
        let shown = attention(&mut one, &rows, &layers).unwrap();
        let full = rows.iter().filter(|row| !row.tokens.is_empty()).count();
        prop_assert_eq!(shown.len(), layers.len() * full);
        for (row, layer, own, cross) in &shown {
            let truth = naive.attention(&naive.encode(&sources[rows[*row].context]), &read(&config, &rows[*row]));
            for (ours, truth) in [own, cross].into_iter().zip(&truth[*layer]) {
                let truth: Vec<f64> = truth.concat().concat();
                prop_assert_eq!(ours.len(), truth.len());
                for (ours, truth) in ours.iter().zip(&truth) {
                    prop_assert!((f64::from(*ours) - truth).abs() < 1e-4, "layer {}: {} {}", layer, ours, truth);
                }
            }
        }
        // Nothing stays behind.
        prop_assert_eq!(config.parallel().map(|_| ask(&mut one, &rows, 3)), before);
    }

    #[test]
    fn weights_depend_on_their_row_alone(
        config in prop_oneof![configs(DecoderKind::Parallel), configs(DecoderKind::Causal)], seed: u64,
        precision in prop_oneof![Just(Precision::F32), Just(Precision::Int8)],
        sources in prop::collection::vec(0..20_usize, 1..4), rows in prop::collection::vec(0..25_usize, 1..6),
    ) {
        let model = Model::random(&config, seed);
        let mut stream = Seed(seed).stream(Purpose::Synthesis, 1);
        let sources: Vec<Vec<TokenId>> = sources.iter().map(|&n| tokens(&mut stream, n)).collect();
        let mut rows: Vec<Row> = rows.iter().map(|&n| Row::random(&mut stream, n, sources.len())).collect();
        if config.parallel().is_none() {
            for row in &mut rows {
                row.hidden.fill(false);
            }
        }
        let layers: Vec<usize> = (0..config.num_decoder_layers).collect();
        let engine = model.engine(precision);
        let together = attention(&mut session(&engine, 1, &sources), &rows, &layers).unwrap();
        let threads = attention(&mut session(&engine, 3, &sources), &rows, &layers).unwrap();
        prop_assert_eq!(&together, &threads, "threads");
        for (number, row) in rows.iter().enumerate() {
            let mut alone = session(&engine, 2, &sources[row.context..=row.context]);
            let row = Row { context: 0, ..row.clone() };
            let alone = attention(&mut alone, &[row], &layers).unwrap();
            let own = together.iter().filter(|shown| shown.0 == number).cloned();
            let own: Vec<Shown> = own.map(|(_, layer, own, cross)| (0, layer, own, cross)).collect();
            prop_assert_eq!(&alone, &own, "alone");
        }
        // A layer that is asked for alone is the same.
        let last = layers.len() - 1;
        let some = attention(&mut session(&engine, 1, &sources), &rows, &[last]).unwrap();
        let expected: Vec<Shown> = together.into_iter().filter(|shown| shown.1 == last).collect();
        prop_assert_eq!(some, expected);
    }
}

#[test]
fn distributions_are_distributions_and_causal_ones_do_not_look_ahead() {
    for kind in [DecoderKind::Parallel, DecoderKind::Causal] {
        let model = Model::random(&ModelConfig::preset(Preset::Tiny, VOCABULARY, kind), 3);
        let mut stream = Seed(3).stream(Purpose::Synthesis, 1);
        let sources = [tokens(&mut stream, 7)];
        let said = tokens(&mut stream, 9);
        let mut session = session(&model.engine(Precision::Int8), 1, &sources);
        let row = AttentionRow { context: 0, tokens: &said, hidden: &[] };
        let mut seen = 0;
        let mut show = |shown: LayerAttention<'_>| {
            seen += 1;
            assert_eq!((shown.targets, shown.sources), (9, 7));
            for (head, i) in (0..shown.heads).flat_map(|h| (0..9).map(move |i| (h, i))) {
                for weights in [shown.self_attn(head, i), shown.cross_attn(head, i)] {
                    assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                }
                let ahead = &shown.self_attn(head, i)[i + 1..];
                assert_eq!(ahead.iter().all(|w| *w == 0.0), kind == DecoderKind::Causal || i == 8);
            }
        };
        session.attention(&[row], &[0, 1], &mut show).unwrap();
        assert_eq!(seen, 2);
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let config = ModelConfig::preset(Preset::Tiny, VOCABULARY, DecoderKind::Causal);
    let mut causal = session(
        &Model::random(&config, 3).engine(Precision::F32),
        1,
        &[vec![TokenId(7), TokenId::EOS]],
    );
    let said = [TokenId(5), TokenId(6)];
    let row = AttentionRow { context: 0, tokens: &said, hidden: &[] };
    let layers = causal.decoder_layers();
    let mut ask = |row: AttentionRow<'_>, layers: &[usize]| {
        causal.attention(&[row], layers, &mut |_| {}).map_err(|e| e.to_string())
    };
    assert_eq!(ask(row, &[]), Ok(()));
    let cases = [
        ("a layer", row, layers, "there is no decoder layer 2; there are 2"),
        ("a context", AttentionRow { context: 4, ..row }, 0, "there is no context 4"),
        ("a token", AttentionRow { tokens: &[TokenId(4000)], ..row }, 0, "token 4000 lies outside"),
        ("flags", AttentionRow { hidden: &[true], ..row }, 0, "1 flags for 2 tokens"),
        ("a mask", AttentionRow { hidden: &[true, false], ..row }, 0, "a token is hidden"),
    ];
    for (name, row, layer, expected) in cases {
        let found = ask(row, &[layer]).expect_err(name);
        assert!(found.starts_with(expected), "{name}: {found}");
    }
}
