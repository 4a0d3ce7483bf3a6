//! The fused operations against burn's composed ones: values and gradients of whole networks.

mod support;

use std::sync::Arc;

use burn::tensor::Device;
use padir_base::ragged::Ragged;
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::layers::Activation;
use padir_checkpoint::{
    Decoder, DecoderKind, Family, InitialTokens, LengthPredictor, Marian, ModelConfig,
    PooledLength, Preset,
};
use padir_kernels::ctc::Ctc;
use padir_kernels::dropout::Sharing;
use padir_model::ops::AlignmentTargets;
use padir_model::{DropoutKey, Network, Pass, Sentences};
use proptest::prelude::*;
use support::{Batch, VOCABULARY, run, shrink};

fn configs() -> impl Strategy<Value = ModelConfig> {
    let length = prop_oneof![
        Just(LengthPredictor::Token { classes: 12 }),
        Just(LengthPredictor::Offset { classes: 12 }),
        Just(LengthPredictor::Affine),
        Just(LengthPredictor::Fertility { max_fertility: 2 }),
        any::<bool>().prop_map(|relative| LengthPredictor::Pooled(PooledLength {
            classes: 12,
            relative,
            queries: 3,
            hidden: 14,
            hidden_layers: 2,
        })),
        Just(LengthPredictor::Oracle),
        Just(LengthPredictor::Upsample { factor: 2, min_slots: 5 }),
    ];
    let t5 = (any::<[bool; 5]>(), length, 1..3_usize, 1..3_usize).prop_map(
        |(flags, length, encoder, decoder)| {
            let [parallel, positional, learned, tied, confidence] = flags;
            let kind = if parallel { DecoderKind::Parallel } else { DecoderKind::Causal };
            let mut config = shrink(ModelConfig::preset(Preset::Tiny, VOCABULARY, kind));
            config.num_layers = encoder;
            config.num_decoder_layers = decoder;
            config.tie_word_embeddings = tied;
            if let Decoder::Parallel(decoder) = &mut config.decoder {
                decoder.positional_attention = positional;
                decoder.learned_positions = learned;
                decoder.max_positions = 40;
                decoder.length = length;
                if length.is_upsampled() {
                    config.symbols = config.symbols.with_blank();
                    decoder.initial = InitialTokens::Mask;
                }
                decoder.confidence_head = confidence;
            }
            config
        },
    );
    prop_oneof![3 => t5, 1 => marians()]
}

fn marians() -> impl Strategy<Value = ModelConfig> {
    let activation =
        prop::sample::select(vec![Activation::Relu, Activation::GeluTanh, Activation::Swish]);
    (any::<[bool; 5]>(), activation).prop_map(|(flags, activation)| {
        let [scaled, shared, tied, weights, hidden] = flags;
        let mut config = shrink(ModelConfig::preset(Preset::Tiny, VOCABULARY, DecoderKind::Causal));
        (config.d_kv, config.layer_norm_epsilon, config.dropout_rate) = (8, 1e-5, 0.3);
        config.tie_word_embeddings = tied;
        config.family = Family::Marian(Marian {
            activation,
            scale_embedding: scaled,
            max_positions: 40,
            decoder_heads: 2,
            decoder_d_ff: 32,
            source_vocab_size: (!shared).then_some(VOCABULARY + 5),
            attention_dropout: if weights { 0.3 } else { 0.0 },
            activation_dropout: if hidden { 0.3 } else { 0.0 },
            init_std: 0.3,
        });
        config
    })
}

/// Where a gradient cancels out, what is left are rounding errors of terms as large as other gradients: `floor` is the
/// smallest size that is told apart from nothing.
fn compare(name: &str, fused: &[f32], composed: &[f32], floor: f32) -> Result<(), TestCaseError> {
    let scale = largest(composed).max(floor);
    for (at, (a, b)) in fused.iter().zip(composed).enumerate() {
        prop_assert!((a - b).abs() < 2e-4 * scale, "{name}[{at}]: fused {a}, composed {b}");
    }
    Ok(())
}

fn largest(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0, |most, x| most.max(x.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn fused_networks_equal_composed_ones(
        config in configs(),
        seed: u64,
        lengths in prop::collection::vec((0..9_usize, 0..11_usize), 1..6),
        rate in prop_oneof![Just(0.0_f32), Just(0.3)],
        per_token: bool,
    ) {
        let network = Network::initialise(&config, Seed(seed), &Device::flex().autodiff()).unwrap();
        let (sources, mut targets): (Vec<_>, Vec<_>) = lengths.into_iter().unzip();
        targets[0] = targets[0].max(1);
        let batch = Batch::random(&mut Seed(seed).stream(Purpose::Synthesis, 0), &sources, &targets);
        let sharing = if per_token { Sharing::Token } else { Sharing::Row };
        let dropout = Some(DropoutKey { rate, key: [seed as u32, 9], sharing });
        let fused = run(&network, true, dropout, &batch);
        let composed = run(&network, false, dropout, &batch);
        prop_assert!((fused.loss - composed.loss).abs() < 1e-4 * composed.loss.abs().max(1.0), "{} {}", fused.loss, composed.loss);
        prop_assert_eq!(fused.best, composed.best);
        let floor = 0.01 * composed.gradients.iter().map(|g| largest(g)).fold(0.0, f32::max);
        for (parameter, (a, b)) in config.parameters().iter().zip(fused.gradients.iter().zip(&composed.gradients)) {
            compare(&parameter.name, a, b, floor)?;
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let config = shrink(ModelConfig::preset(Preset::Tiny, VOCABULARY, DecoderKind::Parallel));
    let network = Network::initialise(&config, Seed(5), &Device::flex().autodiff()).unwrap();
    let lengths: Vec<usize> = (0..40).map(|i| 1 + i * 7 % 23).collect();
    let batch = Batch::random(&mut Seed(5).stream(Purpose::Synthesis, 0), &lengths, &lengths);
    let dropout = Some(DropoutKey { rate: 0.1, key: [1, 2], sharing: Sharing::Row });
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&network, true, dropout, &batch)).gradients
    };
    assert!(with(1) == with(3));
}

/// The confidence head learns from the states of the decoder, and nothing else learns from the confidence head.
#[test]
fn a_confidence_head_leaves_the_rest_of_the_network_alone() {
    let mut config = shrink(ModelConfig::preset(Preset::Tiny, VOCABULARY, DecoderKind::Parallel));
    let learn = |config: &ModelConfig, fused: bool| {
        let network = Network::initialise(config, Seed(5), &Device::flex().autodiff()).unwrap();
        let batch = Batch::random(&mut Seed(5).stream(Purpose::Synthesis, 0), &[5, 7], &[6, 8]);
        run(&network, fused, None, &batch).gradients
    };
    for fused in [true, false] {
        let Decoder::Parallel(decoder) = &mut config.decoder else { panic!() };
        decoder.confidence_head = false;
        let without = learn(&config, fused);
        let Decoder::Parallel(decoder) = &mut config.decoder else { panic!() };
        decoder.confidence_head = true;
        let mut with = learn(&config, fused);
        let confidence = with.pop().unwrap();
        assert!(with == without, "fused: {fused}");
        assert!(largest(&confidence) > 0.0);
    }
}

/// A loss that is computed and then left out has put half of its gradient into the store.
#[test]
#[should_panic(expected = "every fused loss of a pass is part of its sum")]
fn a_loss_that_is_left_out_is_refused() {
    let config = shrink(ModelConfig::preset(Preset::Tiny, VOCABULARY, DecoderKind::Parallel));
    let network = Network::initialise(&config, Seed(5), &Device::flex().autodiff()).unwrap();
    let batch = Batch::random(&mut Seed(5).stream(Purpose::Synthesis, 0), &[5, 7], &[6, 8]);
    let pass = Pass::training(true, None, Arc::new(network.gradients()));
    let encoded = network.encode(&pass, &batch.sources);
    let length = network.length_loss(&pass, &encoded, &[6, 8], support::LENGTHS);
    let states = network.decode(&pass, &batch.inputs, &encoded);
    let (tokens, _) = network.token_loss(&pass, &states, &batch.targets, 0.0, 0.0);
    drop(length);
    network.backward(&pass, tokens);
}

/// Alignments summed up by the kernel and by tensor operations: values, gradients, best paths and likeliest alignments.
#[test]
fn fused_alignment_losses_equal_composed_ones() {
    let mut config = shrink(ModelConfig::preset(Preset::Tiny, VOCABULARY, DecoderKind::Parallel));
    config.symbols = config.symbols.with_blank();
    let Decoder::Parallel(decoder) = &mut config.decoder else { panic!() };
    decoder.initial = InitialTokens::Mask;
    decoder.length = LengthPredictor::Upsample { factor: 2, min_slots: 5 };
    let network = Network::initialise(&config, Seed(5), &Device::flex().autodiff()).unwrap();
    // One target does not fit, one is empty.
    let batch =
        Batch::random(&mut Seed(6).stream(Purpose::Synthesis, 0), &[4, 3, 2, 6], &[5, 0, 9, 12]);
    let slots = Arc::new(Ragged::new([8, 6, 5, 12]));
    let targets = AlignmentTargets {
        slots: Arc::clone(&slots),
        ids: Arc::clone(&batch.inputs.ids),
        rows: Arc::clone(&batch.inputs.rows),
    };
    let mask = config.symbols.mask.unwrap().0;
    let inputs = Sentences { ids: Arc::new(vec![mask; slots.tokens()]), rows: slots };
    let learn = |fused: bool| {
        let store = Arc::new(network.gradients());
        let pass = Pass::training(fused, None, Arc::clone(&store));
        let encoded = network.encode(&pass, &batch.sources);
        let (states, inner) = network.decode_layers(&pass, &inputs, &encoded, true);
        assert_eq!(inner.len(), config.num_decoder_layers - 1);
        let loss =
            Ctc { blank: 0, scale: 1.0, smoothing: 0.1, z_loss: 0.01, weight: 0.7, viterbi: true };
        let (total, outcome) = network.alignment_loss(&pass, &states, &targets, loss).unwrap();
        network.backward(&pass, total);
        drop((pass, inner, states, encoded));
        let gradients: Vec<Vec<f32>> =
            (0..store.len()).map(|index| store.read(index).to_vec()).collect();
        (outcome, gradients)
    };
    let ((fused, dfused), (composed, dcomposed)) = (learn(true), learn(false));
    assert_eq!((fused.unfit, fused.counted), (composed.unfit, composed.counted));
    assert!(fused.unfit >= 1);
    assert!((fused.loss - composed.loss).abs() < 1e-4 * composed.loss, "{fused:?} {composed:?}");
    assert!((fused.nll - composed.nll).abs() < 1e-4 * composed.nll);
    assert_eq!((fused.best, fused.aligned), (composed.best, composed.aligned));
    let floor = 0.01 * dcomposed.iter().map(|g| largest(g)).fold(0.0, f32::max);
    for (parameter, (a, b)) in config.parameters().iter().zip(dfused.iter().zip(&dcomposed)) {
        compare(&parameter.name, a, b, floor).unwrap();
    }
}
