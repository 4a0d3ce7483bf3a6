//! Objectives of other systems against PyTorch: losses and gradients by `reference/rivals/losses.py`.

use std::sync::Arc;

use padir_base::ParallelTraining;
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::{
    Decoder, DecoderKind, InitialTokens, LengthPredictor, ModelConfig, ParallelDecoder,
    PooledLength, Preset, Symbols,
};
use padir_model::{Device, Network, Pass, Sentences};
use padir_train::config::{Cmlm, LengthObjective, Objective, ObjectiveConfig, Sundae};
use padir_train::objective::{Pairs, from_config};

const REFERENCE: &str = include_str!("../../../reference/rivals/losses.json");
const SEED: Seed = Seed(11);

fn config(training: ParallelTraining) -> ModelConfig {
    let mut config = ModelConfig::preset(Preset::Tiny, 40, DecoderKind::Parallel);
    config.symbols = Symbols::of_vocabulary(40, 36);
    (config.d_model, config.d_kv, config.num_heads, config.d_ff) = (16, 8, 2, 24);
    (config.num_layers, config.num_decoder_layers) = (1, 1);
    config.decoder = Decoder::Parallel(ParallelDecoder {
        training,
        positional_attention: false,
        learned_positions: true,
        max_positions: 12,
        initial: InitialTokens::Mask,
        length: LengthPredictor::Pooled(PooledLength {
            classes: 12,
            relative: true,
            queries: 2,
            hidden: 8,
            hidden_layers: 1,
        }),
        confidence_head: false,
    });
    config
}

fn pairs() -> Pairs {
    let sources: [&[u32]; 2] = [&[10, 11, 12, 13, 14, 1], &[20, 21, 22, 1]];
    let targets: [&[u32]; 2] = [&[15, 16, 17, 18, 19, 25, 1], &[30, 31, 32, 1]];
    Pairs { sources: Sentences::new(sources), targets: Sentences::new(targets) }
}

fn objectives() -> [(&'static str, Objective); 4] {
    let length = LengthObjective { weight: 0.5, sigma: 1.5, trains_encoder: true };
    [
        ("cmlm", Objective::Cmlm(Cmlm { length })),
        ("smart", Objective::Smart(Cmlm { length })),
        ("sundae", Objective::Sundae(Sundae { stages: 2, temperature: 1.0, length })),
        ("disco", Objective::Disco(Cmlm { length })),
    ]
}

fn close(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 2e-4 * wanted.abs().max(0.1)
}

#[test]
fn losses_and_gradients_are_those_of_pytorch() {
    let reference: serde_json::Value = serde_json::from_str(REFERENCE).unwrap();
    for (name, kind) in objectives() {
        let config = config(kind.training().unwrap());
        let names: Vec<String> = config.parameters().into_iter().map(|p| p.name).collect();
        let wanted = &reference["cases"][name];
        let objective = from_config(&ObjectiveConfig { kind, label_smoothing: 0.1, z_loss: 1e-3 });
        for fused in [true, false] {
            let network = Network::initialise(&config, SEED, &Device::flex().autodiff()).unwrap();
            let store = Arc::new(network.gradients());
            let pass = Pass::training(fused, None, Arc::clone(&store));
            let mut chance = SEED.stream(Purpose::Corruption, 3);
            let losses = objective.losses(&network, &pass, &pairs(), &mut chance);
            let found = losses.statistics;
            network.backward(&pass, losses.total);
            drop(pass);
            for (key, found) in [("loss", found.loss), ("length_loss", found.length_loss)] {
                let wanted = wanted[key].as_f64().unwrap();
                assert!(close(found, wanted), "{name}, fused {fused}, {key}: {found} {wanted}");
            }
            for (index, parameter) in names.iter().enumerate() {
                let squares: f64 = store.read(index).iter().map(|&x| f64::from(x).powi(2)).sum();
                let norm = wanted["gradient_norms"][parameter].as_f64().unwrap();
                let found = squares.sqrt();
                assert!(close(found, norm), "{name}, fused {fused}, {parameter}: {found} {norm}");
            }
        }
    }
}
