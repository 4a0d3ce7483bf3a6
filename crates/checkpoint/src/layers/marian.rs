//! The layers of Marian as transformers names them (OPUS-MT): post-norm `LayerNorm`, biases, sinusoidal positions.

use super::{
    Attention, Block, Decoder, DecoderInput, Embeddings, FeedForward, Heads, Input, Linear,
    Network, Norm, NormPlace, Output, Positions, Source, Stack, Sublayer, Visibility,
};
use crate::config::{Marian, ModelConfig};
use crate::inventory::{Init, Parameter};

/// The layers of a configuration.
pub(super) fn network(config: &ModelConfig, family: &Marian) -> Network {
    let marian = Layers { config, family };
    let target_name = if family.source_vocab_size.is_some() {
        "model.decoder.embed_tokens.weight"
    } else {
        "model.shared.weight"
    };
    let target = marian.table(target_name, config.symbols.vocab_size);
    let source = match family.source_vocab_size {
        Some(size) => marian.table("model.encoder.embed_tokens.weight", size),
        None => target.clone(),
    };
    Network {
        width: config.d_model,
        embeddings: marian.embeddings(source),
        encoder: marian.encoder(),
        decoder: Some(Decoder {
            embeddings: marian.embeddings(target.clone()),
            input: DecoderInput::Tokens,
            stack: marian.decoder(),
        }),
        output: Some(marian.output(target)),
        heads: Heads::default(),
        repetitions: marian.repetitions(),
    }
}

struct Layers<'a> {
    config: &'a ModelConfig,
    family: &'a Marian,
}

impl Layers<'_> {
    fn embeddings(&self, tokens: Parameter) -> Embeddings {
        let scale =
            if self.family.scale_embedding { (self.config.d_model as f32).sqrt() } else { 1.0 };
        let positions = Positions::Sinusoidal { longest: self.family.max_positions };
        Embeddings { scale, positions, ..Embeddings::of_tokens(tokens) }
    }

    fn encoder(&self) -> Stack {
        let (heads, d_ff) = (self.config.num_heads, self.config.d_ff);
        let block = |i: usize| {
            let layer = format!("model.encoder.layers.{i}");
            let attention = self.attention(&layer, "self_attn", heads);
            Block { sublayers: vec![Sublayer::Attention(attention), self.ffn(&layer, d_ff)] }
        };
        stack((0..self.config.num_layers).map(block).collect())
    }

    fn decoder(&self) -> Stack {
        let (heads, d_ff) = (self.family.decoder_heads, self.family.decoder_d_ff);
        let block = |i: usize| {
            let layer = format!("model.decoder.layers.{i}");
            let encoded = Input::raw(Source::EncoderOutput);
            let self_attn = Attention {
                visibility: Visibility::Causal,
                ..self.attention(&layer, "self_attn", heads)
            };
            let cross_attn = Attention {
                keys: encoded,
                values: encoded,
                ..self.attention(&layer, "encoder_attn", heads)
            };
            Block {
                sublayers: vec![
                    Sublayer::Attention(self_attn),
                    Sublayer::Attention(cross_attn),
                    self.ffn(&layer, d_ff),
                ],
            }
        };
        stack((0..self.config.num_decoder_layers).map(block).collect())
    }

    fn attention(&self, layer: &str, kind: &str, heads: usize) -> Attention {
        let d = self.config.d_model;
        let linear = |part: &str| self.linear(&format!("{layer}.{kind}.{part}"), [d, d]);
        let stream = Input::raw(Source::Stream);
        Attention {
            norm: self.norm(&format!("{layer}.{kind}_layer_norm")),
            place: NormPlace::Post,
            heads,
            q: linear("q_proj"),
            k: linear("k_proj"),
            v: linear("v_proj"),
            o: linear("out_proj"),
            queries: stream,
            keys: stream,
            values: stream,
            visibility: Visibility::All,
            relative_bias: false,
            score_scale: 1.0 / ((d / heads.max(1)) as f32).sqrt(),
            weight_dropout: self.family.attention_dropout > 0.0,
            output_dropout: true,
        }
    }

    fn ffn(&self, layer: &str, width: usize) -> Sublayer {
        let d = self.config.d_model;
        Sublayer::FeedForward(FeedForward {
            norm: self.norm(&format!("{layer}.final_layer_norm")),
            place: NormPlace::Post,
            inner: self.linear(&format!("{layer}.fc1"), [width, d]),
            outer: self.linear(&format!("{layer}.fc2"), [d, width]),
            activation: self.family.activation,
            hidden_dropout: self.family.activation_dropout > 0.0,
        })
    }

    fn output(&self, target: Parameter) -> Output {
        let size = self.config.symbols.vocab_size;
        let table = if self.config.tie_word_embeddings {
            target
        } else {
            self.table("lm_head.weight", size)
        };
        let bias = Parameter {
            shape: vec![1, size],
            ..Parameter::vector("final_logits_bias".to_owned(), size, Init::Zeros)
        };
        Output { table, bias: Some(bias), scale: 1.0 }
    }

    /// Embedding tables under other names, and sinusoids as some programs write them.
    fn repetitions(&self) -> Vec<(String, Vec<usize>)> {
        let (d, size) = (self.config.d_model, self.config.symbols.vocab_size);
        let mut found = Vec::new();
        for stack in ["encoder", "decoder"] {
            let name = format!("model.{stack}.embed_positions.weight");
            found.push((name, vec![self.family.max_positions, d]));
            if self.family.source_vocab_size.is_none() {
                found.push((format!("model.{stack}.embed_tokens.weight"), vec![size, d]));
            }
        }
        if self.config.tie_word_embeddings {
            found.push(("lm_head.weight".to_owned(), vec![size, d]));
        }
        found
    }

    fn linear(&self, name: &str, shape: [usize; 2]) -> Linear {
        Linear::biased(name, shape, self.family.init_std)
    }

    fn norm(&self, name: &str) -> Norm {
        Norm::layer(name, self.config.d_model, self.config.layer_norm_epsilon)
    }

    fn table(&self, name: &str, rows: usize) -> Parameter {
        Parameter::matrix(name.to_owned(), [rows, self.config.d_model], self.family.init_std)
    }
}

fn stack(blocks: Vec<Block>) -> Stack {
    Stack { blocks, position_table: None, relative_bias: None, final_norm: None }
}
