//! A graphics processor against the CPU: states, losses and gradients of whole networks.
//!
//! ```console
//! $ cargo test -p padir-model --features wgpu --test wgpu -- --nocapture
//! ```
//!
//! Mesa's software driver (Debian's `mesa-vulkan-drivers`) is device enough. Without any device the
//! test says so and passes.
#![cfg(feature = "wgpu")]

mod support;

use burn::tensor::Device;
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::{Decoder, DecoderKind, LengthPredictor, ModelConfig, Preset};
use padir_kernels::dropout::Sharing;
use padir_model::{DeviceKind, DropoutKey, Network, Pass};
use support::{Batch, Outcome, VOCABULARY, run, shrink};

/// The device, if there is any.
fn device() -> Option<Device> {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    // wgpu panics where there is no adapter.
    let found = std::panic::catch_unwind(|| {
        let device = Device::wgpu(DeviceKind::DefaultDevice);
        let one = burn::tensor::Tensor::<1>::ones([1], &device);
        (one.into_data().iter::<f32>().next() == Some(1.0)).then_some(device)
    });
    std::panic::set_hook(quiet);
    found.ok().flatten()
}

/// Every switch at least once.
fn cases() -> Vec<(&'static str, ModelConfig)> {
    let config = |kind| shrink(ModelConfig::preset(Preset::Tiny, VOCABULARY, kind));
    let parallel = |positional, learned, length| {
        let mut config = config(DecoderKind::Parallel);
        if let Decoder::Parallel(decoder) = &mut config.decoder {
            decoder.positional_attention = positional;
            decoder.learned_positions = learned;
            decoder.length = length;
        }
        config
    };
    let mut untied = config(DecoderKind::Causal);
    untied.tie_word_embeddings = false;
    let token = LengthPredictor::Token { classes: 12 };
    let fertility = LengthPredictor::Fertility { max_fertility: 2 };
    vec![
        ("causal", config(DecoderKind::Causal)),
        ("causal, untied", untied),
        ("parallel", parallel(true, false, token)),
        ("learned positions, fertility", parallel(false, true, fertility)),
        ("affine length", parallel(true, true, LengthPredictor::Affine)),
    ]
}

/// The largest difference in units of the largest number.
fn difference(ours: &[f32], truth: &[f32]) -> f32 {
    assert_eq!(ours.len(), truth.len());
    let scale = truth.iter().fold(1e-3_f32, |most, x| most.max(x.abs()));
    ours.iter().zip(truth).fold(0.0, |most: f32, (a, b)| most.max((a - b).abs() / scale))
}

/// The logits of a pass without gradients.
fn logits(network: &Network, batch: &Batch) -> Vec<f32> {
    let pass = Pass::evaluation(false);
    let encoded = network.encode(&pass, &batch.sources);
    network.logits(&network.decode(&pass, &batch.inputs, &encoded))
}

#[test]
fn a_graphics_processor_computes_what_the_cpu_computes() {
    let Some(device) = device() else {
        eprintln!("skipped: there is no device that wgpu can use (install mesa-vulkan-drivers)");
        return;
    };
    for (name, config) in cases() {
        let build = |device: Device| Network::initialise(&config, Seed(3), &device.autodiff());
        let (cpu, gpu) = (build(Device::flex()).unwrap(), build(device.clone()).unwrap());
        let mut chance = Seed(3).stream(Purpose::Synthesis, 0);
        let batch = Batch::random(&mut chance, &[5, 1, 9, 3], &[4, 7, 1, 0]);
        let dropout = Some(DropoutKey { rate: 0.2, key: [3, 9], sharing: Sharing::Row });

        let apart = difference(&logits(&gpu, &batch), &logits(&cpu, &batch));
        assert!(apart < 1e-4, "{name}: logits differ by {apart}");
        let truth: Outcome = run(&cpu, true, dropout, &batch);
        let ours = run(&gpu, false, dropout, &batch);
        let apart = (ours.loss - truth.loss).abs() / truth.loss.abs();
        assert!(apart < 1e-5, "{name}: loss {} instead of {}", ours.loss, truth.loss);
        assert_eq!(ours.best, truth.best, "{name}");
        let mut worst = 0.0_f32;
        let gradients = ours.gradients.iter().zip(&truth.gradients);
        for (parameter, (ours, truth)) in config.parameters().iter().zip(gradients) {
            let apart = difference(ours, truth);
            assert!(apart < 1e-3, "{name}: the gradient of {} differs by {apart}", parameter.name);
            worst = worst.max(apart);
        }
        eprintln!("{name}: loss {:.6}, gradients within {worst:.1e}", ours.loss);
    }
}
