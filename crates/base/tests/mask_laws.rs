//! Every law: its enumeration is a probability distribution, and sampling follows it.

use std::collections::HashMap;

use padir_base::TokenId;
use padir_base::mask::{Block, Case, LawError, Mask, MaskContext, MaskLaw};
use padir_base::random::{Purpose, Seed};
use proptest::prelude::*;

fn block(positions: &[usize], weight: f64) -> Block {
    Block { positions: positions.to_vec(), weight }
}

/// The adaptive law of a small example: two tokens, each sequence with blocks of its own.
fn adaptive() -> MaskLaw {
    let then = |a, b| MaskLaw::Blocks { blocks: vec![block(&[0], a), block(&[1], b)] };
    let when = |x, y| vec![TokenId(x), TokenId(y)];
    MaskLaw::Adaptive {
        cases: vec![
            Case { when: when(0, 0), then: then(0.25, 0.75) },
            Case { when: when(0, 1), then: MaskLaw::Exactly { k: 2 } },
        ],
        otherwise: Box::new(MaskLaw::All),
    }
}

const PAIR: [TokenId; 2] = [TokenId(0), TokenId(0)];
const STUTTER: [TokenId; 5] = [TokenId(4), TokenId(4), TokenId(5), TokenId(4), TokenId(4)];
const CONFIDENCE: [f64; 5] = [0.9, 0.1, 0.5, 0.1, f64::NAN];

/// Name, law, context, number of sets, expected size.
fn cases() -> Vec<(&'static str, MaskLaw, MaskContext<'static>, f64, f64)> {
    let five = MaskContext::of_length(5);
    let stutter = MaskContext::of_tokens(&STUTTER);
    vec![
        ("all", MaskLaw::All, five, 1.0, 5.0),
        ("all of nothing", MaskLaw::All, MaskContext::of_length(0), 1.0, 0.0),
        ("rate", MaskLaw::Rate { rate: 0.85 }, five, 32.0, 4.25),
        ("rate 0", MaskLaw::Rate { rate: 0.0 }, five, 1.0, 0.0),
        ("rate 1", MaskLaw::Rate { rate: 1.0 }, five, 1.0, 5.0),
        ("count", MaskLaw::UniformCount { least: 1, spare: 0 }, five, 31.0, 3.0),
        ("never all", MaskLaw::UniformCount { least: 1, spare: 1 }, five, 30.0, 2.5),
        (
            "never all of one",
            MaskLaw::UniformCount { least: 1, spare: 1 },
            MaskContext::of_length(1),
            1.0,
            1.0,
        ),
        ("exactly", MaskLaw::Exactly { k: 2 }, five, 10.0, 2.0),
        ("exactly none", MaskLaw::Exactly { k: 0 }, five, 1.0, 0.0),
        (
            "blocks",
            MaskLaw::Blocks {
                blocks: vec![
                    block(&[0, 4], 1.0),
                    block(&[2], 2.0),
                    block(&[4, 0], 1.0),
                    block(&[1], 0.0),
                ],
            },
            five,
            2.0,
            1.5,
        ),
        ("adaptive", adaptive(), MaskContext::of_tokens(&PAIR), 2.0, 1.0),
        ("adaptive otherwise", adaptive(), MaskContext::of_tokens(&STUTTER), 1.0, 5.0),
        ("repeats", MaskLaw::Repeats { phrase: 1 }, stutter, 1.0, 2.0),
        ("linear", MaskLaw::Linear { steps: 4, least: 0 }, five.at_step(1), 10.0, 3.0),
        ("linear last", MaskLaw::Linear { steps: 4, least: 1 }, five.at_step(4), 5.0, 1.0),
        (
            "linear by confidence",
            MaskLaw::Linear { steps: 4, least: 0 },
            five.at_step(2).with_confidence(&CONFIDENCE),
            1.0,
            2.0,
        ),
        (
            "unsure",
            MaskLaw::Unsure { below: CONFIDENCE[0] },
            five.with_confidence(&CONFIDENCE),
            1.0,
            4.0,
        ),
    ]
}

#[test]
fn enumeration_is_a_distribution_with_the_stated_size() {
    for (name, law, context, support, size) in cases() {
        let enumeration = law.enumerate(&context).unwrap();
        assert!((enumeration.support() - support).abs() < 1e-9, "{name}: support");
        let sets: Vec<(Mask, f64)> = enumeration.collect();
        assert!((sets.len() as f64 - support).abs() < 1e-9, "{name}: number of sets");
        let total: f64 = sets.iter().map(|(_, p)| p).sum();
        assert!((total - 1.0).abs() < 1e-12, "{name}: total {total}");
        let mean: f64 = sets.iter().map(|(mask, p)| mask.count() as f64 * p).sum();
        assert!((mean - size).abs() < 1e-12, "{name}: mean size {mean}");
        assert!((law.expected_size(&context).unwrap() - size).abs() < 1e-12, "{name}: size");
        let distinct: HashMap<_, _> = sets.iter().cloned().collect();
        assert_eq!(distinct.len(), sets.len(), "{name}: a set came twice");
    }
}

#[test]
fn sampling_follows_the_enumeration() {
    const DRAWS: usize = 20_000;
    for (name, law, context, ..) in cases() {
        let mut stream = Seed(11).stream(Purpose::Test, 0);
        let mut counts: HashMap<Mask, usize> = HashMap::new();
        for _ in 0..DRAWS {
            *counts.entry(law.sample(&context, &mut stream).unwrap()).or_default() += 1;
        }
        for (mask, p) in law.enumerate(&context).unwrap() {
            let expected = p * DRAWS as f64;
            let count = counts.remove(&mask).unwrap_or(0) as f64;
            // Five standard deviations.
            let slack = 5.0 * (expected * (1.0 - p)).sqrt() + 1e-9;
            assert!((count - expected).abs() <= slack, "{name}: {mask:?} {count} of {expected}");
        }
        assert!(counts.is_empty(), "{name}: drew sets outside of the support: {counts:?}");
    }
}

#[test]
fn the_least_confident_are_hidden_first() {
    let law = MaskLaw::Linear { steps: 5, least: 0 };
    let context = MaskContext::of_length(5).with_confidence(&CONFIDENCE);
    // NaN first, then the two 0.1 from the left, then 0.5, then 0.9.
    let expected: [&[usize]; 6] = [&[0, 1, 2, 3, 4], &[1, 2, 3, 4], &[1, 3, 4], &[1, 4], &[4], &[]];
    for (step, positions) in expected.iter().enumerate() {
        let mask =
            law.sample(&context.at_step(step), &mut Seed(0).stream(Purpose::Test, 0)).unwrap();
        assert_eq!(mask, Mask::of(5, positions.iter().copied()), "step {step}");
    }
}

#[test]
fn nonsense_is_refused_with_a_fact() {
    let five = MaskContext::of_length(5);
    let blocks = |blocks: &[Block]| MaskLaw::Blocks { blocks: blocks.to_vec() };
    let cases = [
        (MaskLaw::Rate { rate: 1.5 }, "a masking rate must lie between 0 and 1, not 1.5"),
        (MaskLaw::Rate { rate: f64::NAN }, "a masking rate must lie between 0 and 1, not NaN"),
        (MaskLaw::Exactly { k: 6 }, "cannot hide 6 of 5 positions"),
        (blocks(&[]), "no block has a positive weight"),
        (blocks(&[block(&[0], 0.0)]), "no block has a positive weight"),
        (blocks(&[block(&[5], 1.0)]), "block 0 names position 5, but there are 5 positions"),
        (blocks(&[block(&[1, 1], 1.0)]), "block 0 names position 1 twice"),
        (
            blocks(&[block(&[0], -1.0)]),
            "block 0 has weight -1; a weight must be finite and not negative",
        ),
        (adaptive(), "the law depends on the tokens of the sequence, but only its length is known"),
        (MaskLaw::Linear { steps: 0, least: 0 }, "a schedule needs at least one step"),
    ];
    for (law, expected) in cases {
        assert_eq!(law.check(&five).unwrap_err().to_string(), expected, "{law:?}");
    }
    let late = MaskLaw::Linear { steps: 2, least: 0 }.check(&five.at_step(3));
    assert_eq!(late, Err(LawError::Step { step: 3, steps: 2 }));
}

#[test]
fn laws_are_read_from_configuration() {
    let cases = [
        ("law = 'all'", MaskLaw::All),
        ("law = 'rate'\nrate = 0.85", MaskLaw::Rate { rate: 0.85 }),
        ("law = 'uniform-count'", MaskLaw::UniformCount { least: 1, spare: 0 }),
        (
            "law = 'blocks'\nblocks = [{ positions = [0, 1] }]",
            MaskLaw::Blocks { blocks: vec![block(&[0, 1], 1.0)] },
        ),
        (
            "law = 'adaptive'\ncases = [{ when = [0, 1], then = { law = 'all' } }]\n\
             otherwise = { law = 'repeats' }",
            MaskLaw::Adaptive {
                cases: vec![Case { when: vec![TokenId(0), TokenId(1)], then: MaskLaw::All }],
                otherwise: Box::new(MaskLaw::Repeats { phrase: 1 }),
            },
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(toml::from_str::<MaskLaw>(text).unwrap(), expected, "{text}");
    }
    let misspelt = toml::from_str::<MaskLaw>("law = 'rate'\nrtae = 0.85").unwrap_err();
    assert!(misspelt.to_string().contains("rtae"), "{misspelt}");
}

proptest! {
    #[test]
    fn a_sampled_set_has_a_possible_size(
        len in 0_usize..200, least in 0_usize..210, spare in 0_usize..210, seed in any::<u64>()
    ) {
        let law = MaskLaw::UniformCount { least, spare };
        let context = MaskContext::of_length(len);
        let mask = law.sample(&context, &mut Seed(seed).stream(Purpose::Test, 0)).unwrap();
        prop_assert_eq!(mask.len(), len);
        let low = len.min(least);
        prop_assert!(mask.count() >= low && mask.count() <= len.saturating_sub(spare).max(low));
    }
}

#[test]
fn phrases_said_twice_are_hidden_the_second_time() {
    let cases: [(&str, usize, &str); 11] = [
        ("abcabxabab", 2, "........xx"),
        ("ababa", 2, "..xxx"),
        ("abba", 1, "..x."),
        ("abab", 1, "...."),
        ("abab", 2, "..xx"),
        ("xababab", 2, "...xxxx"),
        ("aaaa", 2, ".xxx"),
        ("abcabcd", 2, "......."),
        ("abcabcd", 3, "...xxx."),
        ("abcabcd", 99, "...xxx."),
        ("", 3, ""),
    ];
    for (text, phrase, expected) in cases {
        let tokens: Vec<TokenId> = text.bytes().map(|byte| TokenId(byte.into())).collect();
        let mut stream = Seed(1).stream(Purpose::Test, 0);
        let law = MaskLaw::Repeats { phrase };
        let mask = law.sample(&MaskContext::of_tokens(&tokens), &mut stream).unwrap();
        let found: String =
            (0..tokens.len()).map(|i| if mask.hides(i) { 'x' } else { '.' }).collect();
        assert_eq!(found, expected, "{text}, phrases of {phrase}");
    }
    let nothing = MaskLaw::Repeats { phrase: 0 }.expected_size(&MaskContext::of_tokens(&[]));
    assert_eq!(nothing, Err(padir_base::mask::LawError::NoPhrase));
    let law: MaskLaw = serde_json::from_str(r#"{"law": "repeats"}"#).unwrap();
    assert_eq!(law, MaskLaw::Repeats { phrase: 1 });
}

#[test]
fn the_unsure_are_those_below_and_what_is_no_number() {
    let confidence = [-0.7, f64::NAN, -0.2, f64::NEG_INFINITY, -0.71];
    let context = MaskContext::of_length(5).with_confidence(&confidence);
    let mut stream = Seed(1).stream(Purpose::Test, 0);
    let mut hidden = |below| {
        let mask = MaskLaw::Unsure { below }.sample(&context, &mut stream);
        mask.map(|mask| mask.positions().collect::<Vec<_>>())
    };
    assert_eq!(hidden(-0.7), Ok(vec![1, 3, 4]));
    assert_eq!(hidden(f64::INFINITY), Ok(vec![0, 1, 2, 3, 4]));
    assert_eq!(hidden(f64::NEG_INFINITY), Ok(vec![1]));
    assert_eq!(hidden(f64::NAN), Err(padir_base::mask::LawError::NoBound));
    let unknown = MaskLaw::Unsure { below: 0.0 }.check(&MaskContext::of_length(2));
    assert_eq!(unknown, Err(padir_base::mask::LawError::NoConfidence));
}
