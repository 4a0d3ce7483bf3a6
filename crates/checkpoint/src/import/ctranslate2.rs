//! A CTranslate2 model as a Marian one.
//!
//! CTranslate2 describes a transformer by the names of its variables. Those of a Marian model (post-norm, biases, sinusoidal positions, one
//! source embedding) have counterparts in [our description](crate::layers); a variable that has none is refused by its name.
//!
//! | CTranslate2 | here |
//! |---|---|
//! | `encoder/layer_{i}/self_attention/linear_0` | `q_proj`, `k_proj`, `v_proj`, one below the other |
//! | `decoder/layer_{i}/attention/linear_0`, `linear_1`, `linear_2` | `q_proj`; `k_proj` and `v_proj`; `out_proj` of `encoder_attn` |
//! | `…/ffn/linear_0`, `linear_1`, `layer_norm` | `fc1`, `fc2`, `final_layer_norm` |
//! | `decoder/projection/bias` | `final_logits_bias` |
//!
//! A decoder that starts from a zero embedding starts from a token here: one more row of zeros, which is also the padding and is never generated.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use padir_base::TokenId;
use serde::Deserialize;

use super::binary::{Binary, VariableType};
use super::error::{ImportError, ImportFault};
use crate::config::{
    Decoder, Family, MAX_LAYERS, Marian, ModelConfig, Provenance, RelativeBias, Symbols,
};
use crate::inventory::Parameter;
use crate::languages::Languages;
use crate::layers::{Activation, sinusoid};

/// The network that is understood.
const NETWORK: &str = "TransformerSpec";
/// ε where the configuration names none.
const EPSILON: f64 = 1e-5;
/// The logit of the token that a decoder starts from: e^−10000 is nothing beside any probability.
const NEVER: f32 = -1e4;
/// How far positions may be from ours: they may have been stored in half precision.
const TOLERANCE: f32 = 4e-3;
/// Names for the added token, the first that is free.
const START: [&str; 3] = ["<pad>", "<start>", "<padding>"];

/// The `config.json` beside a `model.bin`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub(super) struct Settings {
    unk_token: String,
    eos_token: String,
    decoder_start_token: Option<String>,
    add_source_bos: bool,
    add_source_eos: bool,
    layer_norm_epsilon: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            unk_token: "<unk>".to_owned(),
            eos_token: "</s>".to_owned(),
            decoder_start_token: None,
            add_source_bos: false,
            add_source_eos: true,
            layer_norm_epsilon: None,
        }
    }
}

/// The tokens of a model.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    /// Of both languages, or of targets.
    pub(super) target: Vec<String>,
    /// Of sources, if they have their own.
    pub(super) source: Option<Vec<String>>,
}

/// Where the parameters of the resulting model lie.
#[derive(Debug)]
pub(super) struct Weights {
    binary: Binary,
    places: HashMap<String, Place>,
}

/// Rows of a variable, and one more behind them.
#[derive(Clone, Debug)]
struct Place {
    variable: Option<String>,
    rows: Range<usize>,
    row: usize,
    behind: Option<f32>,
}

impl Weights {
    pub(super) fn tensor(&self, parameter: &Parameter) -> Result<Cow<'_, [f32]>, ImportError> {
        let missing = || ImportFault::NoTensor(parameter.name.clone()).at(self.binary.path());
        let place = self.places.get(&parameter.name).ok_or_else(missing)?;
        let mut numbers = match &place.variable {
            Some(variable) => {
                let rows = place.rows.start * place.row..place.rows.end * place.row;
                match self.binary.read(variable)? {
                    Cow::Borrowed(all) => Cow::Borrowed(all.get(rows).ok_or_else(missing)?),
                    Cow::Owned(all) => Cow::Owned(all.get(rows).ok_or_else(missing)?.to_vec()),
                }
            }
            None => Cow::Owned(vec![0.0; place.rows.len() * place.row]),
        };
        if let Some(number) = place.behind {
            let longer = numbers.len() + place.row;
            numbers.to_mut().resize(longer, number);
        }
        Ok(numbers)
    }

    pub(super) fn binary(&self) -> &Binary {
        &self.binary
    }
}

/// Shape and weights of a model, and its tokens with the added one.
pub(super) fn convert(
    binary: Binary,
    settings: &Settings,
    tokens: Tokens,
) -> Result<(ModelConfig, Weights, Tokens), ImportError> {
    let path = binary.path().to_owned();
    let converted = Converter::new(&binary, settings, tokens).and_then(Converter::convert);
    let (config, places, tokens) = converted.map_err(|fault| fault.at(&path))?;
    Ok((config, Weights { binary, places }, tokens))
}

struct Converter<'a> {
    binary: &'a Binary,
    settings: &'a Settings,
    tokens: Tokens,
    /// Width of the stream.
    d: usize,
    used: HashSet<String>,
    places: HashMap<String, Place>,
}

impl<'a> Converter<'a> {
    fn new(
        binary: &'a Binary,
        settings: &'a Settings,
        tokens: Tokens,
    ) -> Result<Self, ImportFault> {
        if binary.network() != NETWORK {
            let network = binary.network().chars().take(80).collect::<String>();
            return Err(unsupported(format!("the network {network:?}; only {NETWORK:?} can be")));
        }
        let name = "decoder/embeddings/weight";
        let table = binary.variable(name).ok_or(ImportFault::NoTensor(name.to_owned()))?;
        let &[_, d] = &table.shape[..] else {
            let found = table.shape.clone();
            let (name, expected) = (name.to_owned(), vec![tokens.target.len(), 0]);
            return Err(ImportFault::Shape { name, found, expected });
        };
        let (used, places) = (HashSet::new(), HashMap::new());
        Ok(Self { binary, settings, tokens, d, used, places })
    }

    fn convert(mut self) -> Result<(ModelConfig, HashMap<String, Place>, Tokens), ImportFault> {
        self.check_switches()?;
        let layers = [self.count("encoder")?, self.count("decoder")?];
        let heads = [self.heads("encoder")?, self.heads("decoder")?];
        let scale_embedding = self.scale("decoder")?;
        if self.scale("encoder")? != scale_embedding {
            return Err(unsupported("embeddings that are scaled in one of the stacks only"));
        }
        let activation = self.activation("decoder")?;
        if self.activation("encoder")? != activation {
            return Err(unsupported("activations that differ between encoder and decoder"));
        }
        let max_positions = self.positions("encoder")?.min(self.positions("decoder")?);
        let widths = [self.ffn_width("encoder")?, self.ffn_width("decoder")?];
        let tie_word_embeddings = self.embeddings()?;
        self.layers("encoder", layers[0], widths[0])?;
        self.layers("decoder", layers[1], widths[1])?;
        self.check_rest()?;
        let symbols = self.symbols()?;
        let config = ModelConfig {
            family: Family::Marian(Marian {
                activation,
                scale_embedding,
                max_positions,
                decoder_heads: heads[1],
                decoder_d_ff: widths[1],
                source_vocab_size: self.tokens.source.as_ref().map(Vec::len),
                attention_dropout: 0.0,
                activation_dropout: 0.0,
                init_std: 0.02,
            }),
            symbols,
            d_model: self.d,
            d_kv: self.d / heads[0].max(1),
            d_ff: widths[0],
            num_layers: layers[0],
            num_decoder_layers: layers[1],
            num_heads: heads[0],
            relative_bias: RelativeBias::default(),
            dropout_rate: 0.1,
            layer_norm_epsilon: EPSILON,
            initializer_factor: 1.0,
            tie_word_embeddings,
            decoder: Decoder::Causal,
            provenance: Provenance::default(),
            languages: Languages::default(),
        };
        config
            .validate()
            .map_err(|problems| ImportFault::Config(crate::ConfigError::Problems(problems)))?;
        // Every parameter has a place; `layers` has put each where it belongs.
        if let Some(parameter) =
            config.parameters().iter().find(|p| !self.places.contains_key(&p.name))
        {
            return Err(ImportFault::NoTensor(parameter.name.clone()));
        }
        Ok((config, self.places, self.tokens))
    }

    /// What would make another network of it.
    fn check_switches(&mut self) -> Result<(), ImportFault> {
        for stack in ["encoder", "decoder"] {
            // Before there was a choice, all were pre-norm.
            if self.integer(&format!("{stack}/pre_norm")).unwrap_or(1) != 0 {
                return Err(unsupported(format!("{stack}/pre_norm: only post-norm can be")));
            }
            for name in
                ["multi_query_attention", "alibi", "scale_alibi", "alibi_use_positive_positions"]
            {
                let name = format!("{stack}/{name}");
                if self.integer(&name).unwrap_or(0) != 0 {
                    return Err(unsupported(name));
                }
            }
            for name in ["alignment_heads", "alignment_layer", "embeddings_merge"] {
                self.used.insert(format!("{stack}/{name}"));
            }
        }
        if self.settings.add_source_bos || self.integer("with_source_bos").unwrap_or(0) != 0 {
            return Err(unsupported(
                "add_source_bos: sources that begin with a token of their own",
            ));
        }
        // transformers' tokenizer of Marian ends sources itself, so that its models say false.
        let zero = self.integer("decoder/start_from_zero_embedding").unwrap_or(0) != 0;
        let ends =
            self.integer("with_source_eos").map_or(self.settings.add_source_eos, |on| on != 0);
        if !ends && !zero {
            return Err(unsupported("add_source_eos: sources without an end"));
        }
        self.used.insert("with_target_bos".to_owned());
        match self.settings.layer_norm_epsilon {
            Some(epsilon) if (epsilon - EPSILON).abs() > 1e-9 => {
                Err(unsupported(format!("layer_norm_epsilon {epsilon}; only {EPSILON} can be")))
            }
            _ => Ok(()),
        }
    }

    fn symbols(&mut self) -> Result<Symbols, ImportFault> {
        let zero = self.integer("decoder/start_from_zero_embedding").unwrap_or(0) != 0;
        let Tokens { target, source } = &mut self.tokens;
        let find = |list: &[String], token: &str| {
            let place = list.iter().position(|other| other == token);
            place
                .map(|id| TokenId(id as u32))
                .ok_or_else(|| ImportFault::Vocabulary(format!("{token:?} is not in it")))
        };
        let (eos, unk) = (&self.settings.eos_token, &self.settings.unk_token);
        let (eos_id, unk_id) = (find(target, eos)?, find(target, unk)?);
        if let Some(source) = source
            && find(source, eos)? != eos_id
        {
            return Err(unsupported(format!("{eos:?} has different ids in source and target")));
        }
        if unk != "<unk>" {
            return Err(unsupported(format!("the unknown token {unk:?}; only \"<unk>\" can be")));
        }
        let pad = TokenId(target.len() as u32);
        let start = match &self.settings.decoder_start_token {
            _ if zero => pad,
            Some(token) => find(target, token)?,
            None => find(target, "<s>")?,
        };
        let free = START.into_iter().find(|name| !target.iter().any(|token| token == name));
        let free =
            free.ok_or_else(|| unsupported("a vocabulary with <pad>, <start> and <padding>"))?;
        target.push(free.to_owned());
        let size = target.len();
        Ok(Symbols { start, eos: eos_id, unk: unk_id, pad, ..Symbols::of_vocabulary(size, size) })
    }

    fn integer(&mut self, name: &str) -> Option<i64> {
        self.used.insert(name.to_owned());
        self.binary.integer(name)
    }

    fn count(&self, stack: &str) -> Result<usize, ImportFault> {
        let exists = |i: &usize| {
            self.binary
                .variable(&format!("{stack}/layer_{i}/self_attention/linear_0/weight"))
                .is_some()
        };
        let count = (0..=MAX_LAYERS).take_while(exists).count();
        if count == 0 {
            let name = format!("{stack}/layer_0/self_attention/linear_0/weight");
            return Err(ImportFault::NoTensor(name));
        }
        Ok(count)
    }

    fn heads(&mut self, stack: &str) -> Result<usize, ImportFault> {
        let own = format!("{stack}/num_heads");
        let heads = self.integer(&own).or_else(|| self.integer("num_heads"));
        let heads = heads.ok_or(ImportFault::NoTensor(own))?;
        let divides = |heads: &usize| *heads > 0 && self.d.is_multiple_of(*heads);
        usize::try_from(heads)
            .ok()
            .filter(divides)
            .ok_or_else(|| unsupported(format!("{heads} heads of a stream {} wide", self.d)))
    }

    /// Whether embeddings are multiplied by √d: a switch, or the factor itself.
    fn scale(&mut self, stack: &str) -> Result<bool, ImportFault> {
        let name = format!("{stack}/scale_embeddings");
        let Some(variable) = self.binary.variable(&name) else { return Ok(true) };
        if let Some(switch) = self.integer(&name) {
            return Ok(switch != 0);
        }
        let factor = match variable.kind {
            VariableType::F32 | VariableType::F16 | VariableType::Bf16 if variable.len() == 1 => {
                self.binary.read(&name).map_err(|error| error.fault)?[0]
            }
            _ => return Err(ImportFault::damaged(format!("{name:?} is no switch and no factor"))),
        };
        let root = (self.d as f32).sqrt();
        match factor {
            factor if (factor - root).abs() < 0.01 * root => Ok(true),
            factor if (factor - 1.0).abs() < 1e-3 => Ok(false),
            factor => {
                Err(unsupported(format!("{name}: embeddings that are multiplied by {factor}")))
            }
        }
    }

    fn activation(&mut self, stack: &str) -> Result<Activation, ImportFault> {
        match self.integer(&format!("{stack}/activation")).unwrap_or(0) {
            0 => Ok(Activation::Relu),
            1 => Ok(Activation::GeluTanh),
            2 => Ok(Activation::Swish),
            3 => Ok(Activation::Gelu),
            other => Err(unsupported(format!("{stack}/activation: number {other}"))),
        }
    }

    /// The number of positions, which must be the sinusoids of Marian.
    fn positions(&mut self, stack: &str) -> Result<usize, ImportFault> {
        let name = format!("{stack}/position_encodings/encodings");
        let Some(variable) = self.binary.variable(&name) else {
            return Err(unsupported(format!("a model without {name}")));
        };
        let &[rows, width] = &variable.shape[..] else {
            let (found, expected) = (variable.shape.clone(), vec![0, self.d]);
            return Err(ImportFault::Shape { name, found, expected });
        };
        if width != self.d || rows == 0 {
            let (found, expected) = (variable.shape.clone(), vec![rows.max(1), self.d]);
            return Err(ImportFault::Shape { name, found, expected });
        }
        let numbers = self.binary.read(&name).map_err(|error| error.fault)?;
        if !are_sinusoids(&numbers, width) {
            return Err(unsupported(format!("{name}: positions that are not Marian's sinusoids")));
        }
        self.used.insert(name);
        Ok(rows)
    }

    fn ffn_width(&self, stack: &str) -> Result<usize, ImportFault> {
        let name = format!("{stack}/layer_0/ffn/linear_0/weight");
        let variable = self.binary.variable(&name);
        let variable = variable.ok_or_else(|| ImportFault::NoTensor(name.clone()))?;
        Ok(variable.shape.first().copied().unwrap_or(0))
    }

    /// Tables of tokens and the bias of the logits; says whether the output layer is the target's table.
    fn embeddings(&mut self) -> Result<bool, ImportFault> {
        let (d, size) = (self.d, self.tokens.target.len());
        let target = "decoder/embeddings/weight";
        let own = ["encoder/embeddings_0/weight", "encoder/embeddings/weight"];
        let source = own.into_iter().find(|name| self.binary.variable(name).is_some());
        let source = source.ok_or_else(|| ImportFault::NoTensor(own[0].to_owned()))?;
        let same = |a: &str, b: &str| {
            let (a, b) = (self.binary.variable(a), self.binary.variable(b));
            a.zip(b).is_some_and(|(a, b)| a == b)
        };
        let output = "decoder/projection/weight";
        let tied = same(target, output);
        let shared = same(source, target);
        match (&self.tokens.source, shared) {
            (None, false) => {
                // One list of tokens, two tables of embeddings.
                self.tokens.source = Some(self.tokens.target.clone());
            }
            (Some(_), true) => {
                return Err(unsupported("two vocabularies with one table of embeddings"));
            }
            _ => {}
        }
        if let Some(tokens) = &self.tokens.source {
            let rows = tokens.len();
            self.place(source, "model.encoder.embed_tokens.weight", [rows, d], 0..rows, None)?;
            self.place(target, "model.decoder.embed_tokens.weight", [size, d], 0..size, Some(0.0))?;
        } else {
            self.place(target, "model.shared.weight", [size, d], 0..size, Some(0.0))?;
            self.used.insert(source.to_owned());
        }
        self.used.insert(output.to_owned());
        if !tied {
            self.place(output, "lm_head.weight", [size, d], 0..size, Some(0.0))?;
        }
        let bias = "decoder/projection/bias";
        if self.binary.variable(bias).is_some() {
            self.place_vector(bias, "final_logits_bias", size, 0..size, Some(NEVER))?;
        } else {
            let place = Place { variable: None, rows: 0..size, row: 1, behind: Some(NEVER) };
            self.places.insert("final_logits_bias".to_owned(), place);
        }
        Ok(tied)
    }

    fn layers(&mut self, stack: &str, count: usize, width: usize) -> Result<(), ImportFault> {
        let d = self.d;
        for i in 0..count {
            let (theirs, ours) =
                (format!("{stack}/layer_{i}"), format!("model.{stack}.layers.{i}"));
            let own = format!("{theirs}/self_attention");
            self.linears(
                &format!("{own}/linear_0"),
                &ours,
                &["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
                [d, d],
            )?;
            self.linears(&format!("{own}/linear_1"), &ours, &["self_attn.out_proj"], [d, d])?;
            self.norm(&own, &format!("{ours}.self_attn_layer_norm"))?;
            if stack == "decoder" {
                let cross = format!("{theirs}/attention");
                self.linears(
                    &format!("{cross}/linear_0"),
                    &ours,
                    &["encoder_attn.q_proj"],
                    [d, d],
                )?;
                self.linears(
                    &format!("{cross}/linear_1"),
                    &ours,
                    &["encoder_attn.k_proj", "encoder_attn.v_proj"],
                    [d, d],
                )?;
                self.linears(
                    &format!("{cross}/linear_2"),
                    &ours,
                    &["encoder_attn.out_proj"],
                    [d, d],
                )?;
                self.norm(&cross, &format!("{ours}.encoder_attn_layer_norm"))?;
            }
            let ffn = format!("{theirs}/ffn");
            self.linears(&format!("{ffn}/linear_0"), &ours, &["fc1"], [width, d])?;
            self.linears(&format!("{ffn}/linear_1"), &ours, &["fc2"], [d, width])?;
            self.norm(&ffn, &format!("{ours}.final_layer_norm"))?;
        }
        Ok(())
    }

    /// Linear layers that lie one below the other in one.
    fn linears(
        &mut self,
        theirs: &str,
        layer: &str,
        ours: &[&str],
        [outputs, inputs]: [usize; 2],
    ) -> Result<(), ImportFault> {
        let all = outputs.saturating_mul(ours.len());
        let (weight, bias) = (format!("{theirs}/weight"), format!("{theirs}/bias"));
        for (i, part) in ours.iter().enumerate() {
            let rows = i * outputs..(i + 1) * outputs;
            let name = format!("{layer}.{part}.weight");
            self.place(&weight, &name, [all, inputs], rows.clone(), None)?;
            self.place_vector(&bias, &format!("{layer}.{part}.bias"), all, rows, None)?;
        }
        Ok(())
    }

    fn norm(&mut self, theirs: &str, ours: &str) -> Result<(), ImportFault> {
        let d = self.d;
        for (part, name) in [("gamma", "weight"), ("beta", "bias")] {
            let variable = format!("{theirs}/layer_norm/{part}");
            self.place_vector(&variable, &format!("{ours}.{name}"), d, 0..d, None)?;
        }
        Ok(())
    }

    fn place(
        &mut self,
        variable: &str,
        parameter: &str,
        shape: [usize; 2],
        rows: Range<usize>,
        behind: Option<f32>,
    ) -> Result<(), ImportFault> {
        self.put(variable, parameter, &shape, Place { variable: None, rows, row: shape[1], behind })
    }

    fn place_vector(
        &mut self,
        variable: &str,
        parameter: &str,
        length: usize,
        rows: Range<usize>,
        behind: Option<f32>,
    ) -> Result<(), ImportFault> {
        self.put(variable, parameter, &[length], Place { variable: None, rows, row: 1, behind })
    }

    fn put(
        &mut self,
        variable: &str,
        parameter: &str,
        shape: &[usize],
        place: Place,
    ) -> Result<(), ImportFault> {
        let missing = || ImportFault::NoTensor(variable.to_owned());
        let found = self.binary.variable(variable).ok_or_else(missing)?;
        if found.shape != shape {
            let (name, expected) = (variable.to_owned(), shape.to_vec());
            return Err(ImportFault::Shape { name, found: found.shape.clone(), expected });
        }
        self.used.insert(variable.to_owned());
        let place = Place { variable: Some(variable.to_owned()), ..place };
        self.places.insert(parameter.to_owned(), place);
        Ok(())
    }

    /// Nothing is left that would mean something.
    fn check_rest(&self) -> Result<(), ImportFault> {
        let is_scale = |name: &str| {
            name.strip_suffix("_scale").is_some_and(|of| self.binary.variable(of).is_some())
        };
        let mut rest: Vec<&str> = self
            .binary
            .names()
            .filter(|name| !self.used.contains(*name) && !is_scale(name))
            .collect();
        rest.sort_unstable();
        match rest.first() {
            None => Ok(()),
            Some(name) => Err(ImportFault::Unexpected((*name).to_owned())),
        }
    }
}

/// Whether rows of numbers are the positions 0, 1, … of Marian.
pub(super) fn are_sinusoids(numbers: &[f32], width: usize) -> bool {
    let mut expected = vec![0.0; width];
    numbers.chunks_exact(width.max(1)).enumerate().all(|(position, row)| {
        sinusoid(position, &mut expected);
        row.iter().zip(&expected).all(|(a, b)| (a - b).abs() < TOLERANCE)
    })
}

/// The tokens of a vocabulary file: a JSON list, or one a line.
pub(super) fn read_tokens(path: &Path, bytes: &[u8]) -> Result<Vec<String>, ImportError> {
    let wrong = |why: String| ImportFault::Vocabulary(why).at(path);
    if path.extension().is_some_and(|extension| extension == "json") {
        return serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()));
    }
    let text = str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    Ok(text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned()).collect())
}

fn unsupported(what: impl Into<String>) -> ImportFault {
    ImportFault::Unsupported(what.into())
}
