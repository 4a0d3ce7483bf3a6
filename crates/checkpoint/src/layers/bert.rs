//! The layers of BERT and `RemBERT` as transformers names them: an encoder with segments, pooler and, in `RemBERT`, embeddings that are
//! narrower than the stream. BLEURT is such a model with a classifier of one number.

use super::{
    Activation, Attention, Block, Embeddings, FeedForward, Heads, Input, Linear, Network, Norm,
    NormPlace, Positions, Source, Stack, Sublayer, Visibility,
};
use crate::config::{ConfigError, MAX_HEADS, MAX_LAYERS, MAX_POSITIONS, MAX_VOCABULARY, MAX_WIDTH};
use crate::inventory::Parameter;
use crate::keys::Keys;

const COUNT: &str = "a whole number";

/// The shape of an encoder, as its `config.json` says it.
#[derive(Clone, Debug, PartialEq)]
pub struct BertConfig {
    /// The prefix of all names but the classifier's: `bert` or `rembert`.
    pub model_type: String,
    /// Tokens.
    pub vocab_size: usize,
    /// Width of the stream.
    pub hidden_size: usize,
    /// Width of the embeddings.
    pub embedding_size: usize,
    /// Blocks.
    pub num_layers: usize,
    /// Heads of every attention.
    pub num_heads: usize,
    /// Width of the feed-forward layers.
    pub intermediate_size: usize,
    /// Their activation.
    pub activation: Activation,
    /// The longest text.
    pub max_positions: usize,
    /// Segments.
    pub segments: usize,
    /// ε of the norms.
    pub layer_norm_epsilon: f64,
    /// Deviation of initial parameters.
    pub initializer_range: f64,
    /// Classes of the classifier; none if there is no classifier.
    pub classes: Option<usize>,
}

impl BertConfig {
    /// Reads the content of the `config.json` of a BERT or `RemBERT`, with a classifier of so many classes if any.
    ///
    /// # Errors
    /// If it is not such a model; the key is named.
    pub fn from_json(text: &str, classes: Option<usize>) -> Result<Self, ConfigError> {
        let value =
            serde_json::from_str(text).map_err(|error| ConfigError::Syntax(error.to_string()))?;
        let mut top = Keys::of("", value)?;
        let wanted = r#""bert" or "rembert""#;
        let model_type: String = top.take("model_type", wanted)?;
        if !["bert", "rembert"].contains(&model_type.as_str()) {
            return Err(top.wrong("model_type", &model_type.into(), wanted));
        }
        let absolute = r#""absolute", the only one supported"#;
        top.only("position_embedding_type", absolute, &"absolute".to_owned())?;
        let mut count = |key: &str, most: usize| -> Result<usize, ConfigError> {
            let found: usize = top.take(key, COUNT)?;
            if (1..=most).contains(&found) {
                return Ok(found);
            }
            Err(top.wrong(key, &found.into(), &format!("between 1 and {most}")))
        };
        let hidden_size = count("hidden_size", MAX_WIDTH)?;
        let embedding_size = if model_type == "rembert" {
            count("input_embedding_size", MAX_WIDTH)?
        } else {
            hidden_size
        };
        let config = Self {
            vocab_size: count("vocab_size", MAX_VOCABULARY)?,
            hidden_size,
            embedding_size,
            num_layers: count("num_hidden_layers", MAX_LAYERS)?,
            num_heads: count("num_attention_heads", MAX_HEADS)?,
            intermediate_size: count("intermediate_size", MAX_WIDTH)?,
            max_positions: count("max_position_embeddings", MAX_POSITIONS)?,
            segments: count("type_vocab_size", MAX_VOCABULARY)?,
            activation: top.or("hidden_act", Activation::CHOICES, Activation::Gelu)?,
            layer_norm_epsilon: top.or("layer_norm_eps", "a number", 1e-12)?,
            initializer_range: top.or("initializer_range", "a number", 0.02)?,
            classes,
            model_type,
        };
        if !config.hidden_size.is_multiple_of(config.num_heads) {
            let wanted = "a divisor of `hidden_size`";
            return Err(top.wrong("num_attention_heads", &config.num_heads.into(), wanted));
        }
        Ok(config)
    }

    /// Its layers.
    pub fn layers(&self) -> Network {
        let (d, name) = (self.hidden_size, &self.model_type);
        let linear = |part: &str, shape: [usize; 2]| self.linear(part, shape);
        Network {
            width: d,
            embeddings: self.embeddings(),
            encoder: Stack {
                blocks: (0..self.num_layers).map(|i| self.block(i)).collect(),
                position_table: None,
                relative_bias: None,
                final_norm: None,
            },
            decoder: None,
            output: None,
            heads: Heads {
                pooler: Some(linear(&format!("{name}.pooler.dense"), [d, d])),
                classifier: self.classes.map(|classes| linear("classifier", [classes, d])),
                ..Heads::default()
            },
            repetitions: Vec::new(),
        }
    }

    fn embeddings(&self) -> Embeddings {
        let (width, name) = (self.embedding_size, &self.model_type);
        let table = |part: &str, rows: usize| {
            let name = format!("{name}.embeddings.{part}_embeddings.weight");
            Parameter::table(name, [rows, width], self.initializer_range)
        };
        let projection = || {
            let part = format!("{name}.encoder.embedding_hidden_mapping_in");
            self.linear(&part, [self.hidden_size, width])
        };
        Embeddings {
            positions: Positions::Learned(table("position", self.max_positions)),
            segments: Some(table("token_type", self.segments)),
            norm: Some(self.norm(&format!("{name}.embeddings.LayerNorm"), width)),
            projection: (name == "rembert").then(projection),
            ..Embeddings::of_tokens(table("word", self.vocab_size).int8())
        }
    }

    fn block(&self, i: usize) -> Block {
        let (d, f) = (self.hidden_size, self.intermediate_size);
        let layer = format!("{}.encoder.layer.{i}", self.model_type);
        let linear = |part: &str, shape: [usize; 2]| self.linear(&format!("{layer}.{part}"), shape);
        let stream = Input::raw(Source::Stream);
        let attention = Attention {
            norm: self.norm(&format!("{layer}.attention.output.LayerNorm"), d),
            place: NormPlace::Post,
            heads: self.num_heads,
            q: linear("attention.self.query", [d, d]),
            k: linear("attention.self.key", [d, d]),
            v: linear("attention.self.value", [d, d]),
            o: linear("attention.output.dense", [d, d]),
            queries: stream,
            keys: stream,
            values: stream,
            visibility: Visibility::All,
            relative_bias: false,
            score_scale: 1.0 / ((d / self.num_heads) as f32).sqrt(),
            weight_dropout: true,
            output_dropout: true,
        };
        let ffn = FeedForward {
            norm: self.norm(&format!("{layer}.output.LayerNorm"), d),
            place: NormPlace::Post,
            inner: linear("intermediate.dense", [f, d]),
            outer: linear("output.dense", [d, f]),
            activation: self.activation,
            hidden_dropout: false,
        };
        Block { sublayers: vec![Sublayer::Attention(attention), Sublayer::FeedForward(ffn)] }
    }

    fn linear(&self, name: &str, shape: [usize; 2]) -> Linear {
        Linear::biased(name, shape, self.initializer_range)
    }

    fn norm(&self, name: &str, width: usize) -> Norm {
        Norm::layer(name, width, self.layer_norm_epsilon)
    }
}
