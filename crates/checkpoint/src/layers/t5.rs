//! The layers of T5.1.0, with what a parallel decoder adds: pre-norm, `RMSNorm`, `ReLU`, no biases.
//!
//! What T5 does not have is named after its neighbours: see [`inventory`](crate::inventory).

use super::{
    Activation, Attention, Block, Decoder, DecoderInput, Embeddings, FeedForward, Heads, Input,
    LengthHead, Linear, Network, Norm, NormPlace, Output, PooledLength, Positions, RelativeTable,
    Source, Stack, Sublayer, Visibility,
};
use padir_base::ParallelTraining;

use crate::config::{LengthPredictor, ModelConfig};
use crate::inventory::{Init, Parameter};

/// The layers of a configuration.
pub(super) fn network(config: &ModelConfig) -> Network {
    let t5 = T5 { config };
    let shared = t5.table("shared.weight", config.symbols.vocab_size).int8();
    Network {
        width: config.d_model,
        embeddings: Embeddings::of_tokens(shared.clone()),
        encoder: t5.encoder(),
        decoder: Some(t5.decoder(shared.clone())),
        output: Some(t5.output(shared)),
        heads: t5.heads(),
        repetitions: t5.repetitions(),
    }
}

struct T5<'a> {
    config: &'a ModelConfig,
}

impl T5<'_> {
    fn encoder(&self) -> Stack {
        let block = |i: usize| {
            let layer = format!("encoder.block.{i}.layer");
            Block {
                sublayers: vec![
                    self.self_attn(&layer, Visibility::All),
                    self.ffn(&format!("{layer}.1")),
                ],
            }
        };
        let blocks = (0..self.config.num_layers).map(block).collect();
        self.stack("encoder", blocks, true)
    }

    fn decoder(&self, shared: Parameter) -> Decoder {
        let parallel = self.config.parallel();
        let positions = parallel
            .filter(|parallel| parallel.has_positions())
            .map(|p| self.table("decoder.position_embedding.weight", p.max_positions));
        let mut embeddings = Embeddings::of_tokens(shared);
        if let (Some(table), true) = (&positions, parallel.is_some_and(|p| p.learned_positions)) {
            embeddings.positions = Positions::Learned(table.clone());
        }
        let blocks = (0..self.config.num_decoder_layers).map(|i| self.decoder_block(i)).collect();
        let stack = self.stack("decoder", blocks, parallel.is_some());
        let stack = Stack { position_table: positions, ..stack };
        let input = match parallel.map(|parallel| parallel.length) {
            Some(LengthPredictor::Upsample { .. }) => DecoderInput::UpsampledSource,
            _ if self.has_query_stream() => DecoderInput::Positions,
            _ => DecoderInput::Tokens,
        };
        Decoder { embeddings, input, stack }
    }

    /// Whether the decoder reads positions, and tokens as keys and values alone (`DisCo`).
    fn has_query_stream(&self) -> bool {
        self.config
            .parallel()
            .is_some_and(|p| p.training == ParallelTraining::Disco && !p.length.is_upsampled())
    }

    fn decoder_block(&self, i: usize) -> Block {
        let parallel = self.config.parallel();
        let layer = format!("decoder.block.{i}.layer");
        let seen = if parallel.is_some() { Visibility::All } else { Visibility::Causal };
        let mut sublayers = vec![if self.has_query_stream() {
            let embedded = Input::normed(Source::Embeddings);
            Sublayer::Attention(Attention {
                keys: embedded,
                values: embedded,
                visibility: Visibility::PerQuery,
                ..self.attention(&format!("{layer}.0"), "SelfAttention")
            })
        } else {
            self.self_attn(&layer, seen)
        }];
        if parallel.is_some_and(|parallel| parallel.positional_attention) {
            let positions = Input::normed(Source::Positions);
            sublayers.push(Sublayer::Attention(Attention {
                queries: positions,
                keys: positions,
                values: Input::raw(Source::Stream),
                output_dropout: false,
                ..self.attention(&format!("decoder.block.{i}.positional"), "PositionalAttention")
            }));
        }
        let encoded = Input::raw(Source::EncoderOutput);
        sublayers.push(Sublayer::Attention(Attention {
            keys: encoded,
            values: encoded,
            relative_bias: false,
            ..self.attention(&format!("{layer}.1"), "EncDecAttention")
        }));
        sublayers.push(self.ffn(&format!("{layer}.2")));
        Block { sublayers }
    }

    fn stack(&self, name: &str, blocks: Vec<Block>, bidirectional: bool) -> Stack {
        let config = self.config;
        let shape = [config.relative_bias.num_buckets, config.num_heads];
        let table = format!("{name}.block.0.layer.0.SelfAttention.relative_attention_bias.weight");
        let table = Parameter::table(table, shape, self.deviation(config.d_model as f64));
        Stack {
            blocks,
            position_table: None,
            relative_bias: Some(RelativeTable {
                table,
                buckets: config.relative_bias,
                bidirectional,
            }),
            final_norm: Some(self.norm(format!("{name}.final_layer_norm.weight"))),
        }
    }

    fn self_attn(&self, layer: &str, visibility: Visibility) -> Sublayer {
        let attention = self.attention(&format!("{layer}.0"), "SelfAttention");
        Sublayer::Attention(Attention { visibility, ..attention })
    }

    /// Self-attention over the whole sentence.
    fn attention(&self, layer: &str, kind: &str) -> Attention {
        let config = self.config;
        let (d, inner) = (config.d_model, config.num_heads.saturating_mul(config.d_kv));
        let linear = |part: &str, shape: [usize; 2], fan: f64| {
            Linear::plain(format!("{layer}.{kind}.{part}.weight"), shape, self.deviation(fan))
        };
        let stream = Input::normed(Source::Stream);
        Attention {
            norm: self.norm(format!("{layer}.layer_norm.weight")),
            place: NormPlace::Pre,
            heads: config.num_heads,
            // The scale of the scores is folded into the initial queries.
            q: linear("q", [inner, d], d as f64 * config.d_kv as f64),
            k: linear("k", [inner, d], d as f64),
            v: linear("v", [inner, d], d as f64),
            o: linear("o", [d, inner], inner as f64),
            queries: stream,
            keys: stream,
            values: stream,
            visibility: Visibility::All,
            relative_bias: true,
            score_scale: 1.0,
            weight_dropout: true,
            output_dropout: true,
        }
    }

    fn ffn(&self, layer: &str) -> Sublayer {
        let (d, f) = (self.config.d_model, self.config.d_ff);
        let linear = |part: &str, shape: [usize; 2]| {
            let name = format!("{layer}.DenseReluDense.{part}.weight");
            Linear::plain(name, shape, self.deviation(shape[1] as f64))
        };
        Sublayer::FeedForward(FeedForward {
            norm: self.norm(format!("{layer}.layer_norm.weight")),
            place: NormPlace::Pre,
            inner: linear("wi", [f, d]),
            outer: linear("wo", [d, f]),
            activation: Activation::Relu,
            hidden_dropout: true,
        })
    }

    fn output(&self, shared: Parameter) -> Output {
        let config = self.config;
        if config.tie_word_embeddings {
            let scale = 1.0 / (config.d_model as f32).sqrt();
            return Output { table: shared, bias: None, scale };
        }
        let shape = [config.symbols.vocab_size, config.d_model];
        let std = self.deviation(config.d_model as f64);
        let table = Parameter::matrix("lm_head.weight".to_owned(), shape, std);
        Output { table, bias: None, scale: 1.0 }
    }

    fn heads(&self) -> Heads {
        let Some(parallel) = self.config.parallel() else { return Heads::default() };
        let d = self.config.d_model;
        let one =
            |part: &str, init: Init| Parameter::vector(format!("length_predictor.{part}"), 1, init);
        let length = match (parallel.length, parallel.length.classes()) {
            (LengthPredictor::Affine, _) => Some(LengthHead::Affine {
                weight: one("weight", Init::Ones),
                bias: one("bias", Init::Zeros),
            }),
            (LengthPredictor::Pooled(sizes), _) => Some(LengthHead::Pooled(PooledLength::new(
                sizes,
                d,
                self.config.initializer_factor,
            ))),
            (_, Some(classes)) => {
                Some(LengthHead::Classes(self.table("length_predictor.weight", classes)))
            }
            (_, None) => None,
        };
        let confidence = parallel.confidence_head.then(|| {
            Parameter::table("rejecter.weight".to_owned(), [2, d], self.deviation(d as f64))
        });
        Heads { length, confidence, ..Heads::default() }
    }

    /// The embedding table under other names, and a tensor that the first T5 checkpoints carried along without using it.
    fn repetitions(&self) -> Vec<(String, Vec<usize>)> {
        let config = self.config;
        let table = || vec![config.symbols.vocab_size, config.d_model];
        let mut names = vec!["encoder.embed_tokens.weight", "decoder.embed_tokens.weight"];
        if config.tie_word_embeddings {
            names.push("lm_head.weight");
        }
        let unused = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";
        let bias = vec![config.relative_bias.num_buckets, config.num_heads];
        let tables = names.into_iter().map(|name| (name.to_owned(), table()));
        tables.chain([(unused.to_owned(), bias)]).collect()
    }

    fn norm(&self, name: String) -> Norm {
        Norm::rms(name, self.config.d_model, self.config.layer_norm_epsilon)
    }

    /// A table of rows as wide as the stream.
    fn table(&self, name: &str, rows: usize) -> Parameter {
        Parameter::table(name.to_owned(), [rows, self.config.d_model], self.deviation(1.0))
    }

    /// Of entries with the variance factor² / `fan`.
    fn deviation(&self, fan: f64) -> f64 {
        self.config.initializer_factor / fan.sqrt()
    }
}
