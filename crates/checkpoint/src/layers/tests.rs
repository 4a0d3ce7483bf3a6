//! Descriptions against the name lists of transformers, and what translators refuse of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::bert::BertConfig;
use super::*;
use crate::config::{Decoder as Kind, DecoderKind, LengthPredictor, ParallelDecoder, Preset};
use crate::inventory::Init;

fn reference(file: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/model");
    std::fs::read_to_string(folder.join(file)).unwrap()
}

/// Written by `reference/model/layers.py`: the configuration and the parameters of a model.
fn written(model: &str) -> (String, BTreeMap<String, Vec<usize>>) {
    let all: Value = serde_json::from_str(&reference("layers.json")).unwrap();
    let model = &all["models"][model];
    let parameters = serde_json::from_value(model["parameters"].clone()).unwrap();
    (model["config"].to_string(), parameters)
}

fn named(network: &Network) -> BTreeMap<String, Vec<usize>> {
    network.parameters().iter().map(|p| (p.name.clone(), p.shape.clone())).collect()
}

fn t5(decoder: DecoderKind) -> ModelConfig {
    let mut config = ModelConfig::preset(Preset::Tiny, 60, decoder);
    (config.d_model, config.d_kv, config.num_heads, config.d_ff) = (24, 10, 3, 40);
    (config.num_layers, config.num_decoder_layers) = (2, 3);
    config
}

#[test]
fn encoder_decoders_have_the_parameters_that_transformers_writes() {
    for model in ["t5", "marian", "marian separate", "marian untied"] {
        let (config, expected) = written(model);
        let config = ModelConfig::from_json(&config).unwrap();
        let layers = config.layers();
        assert_eq!(named(&layers), expected, "{model}");
        assert_eq!(layers.check_translator(), Ok(()), "{model}");
        assert_eq!(config.parameter_count(), count(&expected), "{model}");
    }
}

#[test]
fn encoders_have_the_parameters_that_transformers_writes() {
    for (model, feature) in [("bert", Feature::Segments), ("rembert", Feature::Segments)] {
        let (config, expected) = written(model);
        let layers = BertConfig::from_json(&config, Some(1)).unwrap().layers();
        assert_eq!(named(&layers), expected, "{model}");
        let refused = Unsupported { part: "encoder", feature };
        assert_eq!(layers.check_translator(), Err(refused), "{model}");
    }
    let error = BertConfig::from_json(r#"{"model_type": "gpt2"}"#, None).unwrap_err().to_string();
    assert!(error.starts_with("`model_type` is \"gpt2\"; it must be"), "{error}");
}

fn count(shapes: &BTreeMap<String, Vec<usize>>) -> u64 {
    shapes.values().map(|shape| shape.iter().product::<usize>() as u64).sum()
}

/// The contract: parameter i is drawn from stream i. `reference/model/inventory.py` wrote the list.
#[test]
fn the_order_of_the_inventory_never_changes() {
    let mut config = t5(DecoderKind::Parallel);
    config.tie_word_embeddings = false;
    config.decoder = Kind::Parallel(ParallelDecoder {
        training: padir_base::ParallelTraining::Padir,
        max_positions: 50,
        learned_positions: true,
        length: LengthPredictor::Token { classes: 20 },
        confidence_head: true,
        ..ParallelDecoder::default()
    });
    let expected = reference("inventory.txt");
    let parameters = config.parameters();
    assert_eq!(parameters.len(), expected.lines().count());
    for (parameter, line) in parameters.iter().zip(expected.lines()) {
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap();
        assert_eq!(parameter.name, next());
        let shape: Vec<String> = parameter.shape.iter().map(ToString::to_string).collect();
        assert_eq!(shape.join("x"), next(), "{line}");
        match (parameter.init, next()) {
            (Init::Ones, law) => assert_eq!(law, "ones", "{line}"),
            (Init::Zeros, law) => assert_eq!(law, "zeros", "{line}"),
            (Init::Normal { std }, law) => {
                let wanted: f64 = law.parse().unwrap();
                assert_eq!(std.to_bits(), wanted.to_bits(), "{line}");
            }
        }
    }
}

/// The first attention of a stack.
fn first(stack: &mut Stack) -> &mut Attention {
    match &mut stack.blocks[0].sublayers[0] {
        Sublayer::Attention(attention) => attention,
        Sublayer::FeedForward(_) => panic!("no attention"),
    }
}

#[test]
fn translators_refuse_what_they_cannot_compute_and_name_it() {
    type Change = fn(&mut Network);
    fn decoder(network: &mut Network) -> &mut Decoder {
        network.decoder.as_mut().unwrap()
    }
    let cases: [(&str, Change); 14] = [
        ("the model has no decoder", |n| n.decoder = None),
        ("the decoder has no output layer", |n| n.output = None),
        ("the encoder has learned positions of its own", |n| {
            n.embeddings.positions = Positions::Learned(n.embeddings.tokens.clone());
        }),
        ("the decoder has segment embeddings", |n| {
            decoder(n).embeddings.segments = Some(n.embeddings.tokens.clone());
        }),
        ("the encoder has a norm of its embeddings", |n| {
            n.embeddings.norm = n.encoder.final_norm.clone();
        }),
        ("the encoder has factorised embeddings", |n| {
            n.embeddings.projection = Some(first(&mut n.encoder).q.clone());
        }),
        ("the decoder has positions alone as its input", |n| {
            decoder(n).input = DecoderInput::Positions;
        }),
        ("the decoder has an attention with visibility by query", |n| {
            first(&mut decoder(n).stack).visibility = Visibility::PerQuery;
        }),
        ("the decoder has an attention with other queries, keys or values", |n| {
            let attention = first(&mut decoder(n).stack);
            (attention.keys, attention.values) =
                (Input::raw(Source::Embeddings), Input::raw(Source::Embeddings));
        }),
        ("the encoder has an attention with unusual visibility", |n| {
            first(&mut n.encoder).visibility = Visibility::Causal;
        }),
        ("the decoder has attentions with different heads", |n| {
            first(&mut decoder(n).stack).heads = 1;
        }),
        ("the encoder has an attention by position without a table", |n| {
            n.encoder.relative_bias = None;
        }),
        ("the decoder has an attention by position without a table", |n| {
            decoder(n).stack.position_table = None;
        }),
        ("the encoder has a block with other sublayers", |n| {
            n.encoder.blocks[0].sublayers.reverse();
        }),
    ];
    for (expected, change) in cases {
        let mut network = t5(DecoderKind::Parallel).layers();
        assert_eq!(network.check_translator(), Ok(()));
        change(&mut network);
        let error = network.check_translator().expect_err(expected).to_string();
        assert!(error.starts_with(expected), "{error}");
        assert!(error.ends_with("which is not supported yet"), "{error}");
    }
}

/// `DisCo`: the stream begins with positions, tokens are read as keys and values before any context, and each query has a mask.
/// CTC: the decoder reads encoder output beside its tokens, with the parameters that any other has.
#[test]
fn disco_and_ctc_are_descriptions_like_any_other() {
    let mut config = t5(DecoderKind::Parallel);
    config.decoder = Kind::Parallel(ParallelDecoder {
        training: padir_base::ParallelTraining::Padir,
        positional_attention: false,
        learned_positions: true,
        ..ParallelDecoder::default()
    });
    let plain = config.layers();
    let mut disco = plain.clone();
    let decoder = disco.decoder.as_mut().unwrap();
    decoder.input = DecoderInput::Positions;
    for block in &mut decoder.stack.blocks {
        let Sublayer::Attention(self_attn) = &mut block.sublayers[0] else {
            panic!("no attention")
        };
        (self_attn.keys, self_attn.values) =
            (Input::normed(Source::Embeddings), Input::normed(Source::Embeddings));
        self_attn.visibility = Visibility::PerQuery;
        assert_eq!(self_attn.wiring(), Some(Wiring::QueryStream));
    }
    assert_eq!(named(&disco), named(&plain), "the same parameters, read in another way");
    assert_eq!(disco.check_translator(), Ok(()));
    let mut trained = config.clone();
    let Kind::Parallel(parallel) = &mut trained.decoder else { panic!("not parallel") };
    parallel.training = padir_base::ParallelTraining::Disco;
    assert_eq!(trained.layers(), disco);
    disco.decoder.as_mut().unwrap().embeddings.positions = Positions::None;
    let refused = Unsupported { part: "decoder", feature: Feature::PositionInput };
    assert_eq!(disco.check_translator(), Err(refused));

    let Kind::Parallel(parallel) = &mut config.decoder else { panic!("not parallel") };
    parallel.length = LengthPredictor::Upsample { factor: 2, min_slots: 8 };
    let ctc = config.layers();
    assert_eq!(ctc.decoder.as_ref().unwrap().input, DecoderInput::UpsampledSource);
    assert_eq!((ctc.check_translator(), ctc.heads.length), (Ok(()), None));
}

#[test]
fn slots_are_spread_over_the_source() {
    let read = |slots: usize, source| (0..slots).map(|i| upsampled(i, slots, source)).collect();
    let cases: [(usize, usize, Vec<usize>); 4] = [
        (6, 3, vec![0, 0, 1, 1, 2, 2]),
        (5, 2, vec![0, 0, 0, 1, 1]),
        (2, 4, vec![0, 2]),
        (0, 3, vec![]),
    ];
    for (slots, source, expected) in cases {
        let found: Vec<usize> = read(slots, source);
        assert_eq!(found, expected, "{slots} slots of {source}");
    }
}

#[test]
fn attentions_know_their_wiring() {
    let network = t5(DecoderKind::Parallel).layers();
    let decoder = network.decoder.unwrap();
    let wirings: Vec<Option<Wiring>> = decoder.stack.blocks[1]
        .sublayers
        .iter()
        .map(|sublayer| match sublayer {
            Sublayer::Attention(attention) => attention.wiring(),
            Sublayer::FeedForward(_) => None,
        })
        .collect();
    let expected =
        [Some(Wiring::SelfAttention), Some(Wiring::Positional), Some(Wiring::CrossAttention), None];
    assert_eq!(wirings, expected);
}
