//! A small network that learns the conditionals of a distribution from samples.

use padir_base::TokenId;
use padir_base::mask::{Case, MaskLaw};
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::ModelConfig;
use padir_lab::chain::{Blocks, ChainError};
use padir_lab::conditionals::{Conditionals, ConditionalsError};
use padir_lab::space::Space;
use padir_model::{Device, Network, NetworkError, Sentences};
use padir_train::config::{
    self, Config, ConfigError, Corruption, FirstStage, LengthObjective, Noise, Rate, Reduce,
};
use padir_train::learner::{Learner, NotFinite};
use padir_train::network_model::{NetworkModel, NetworkModelError};
use padir_train::objective::Pairs;
use padir_translate::Model;
use thiserror::Error;

use super::sites::{FIRST, SOURCE, Sites, SitesError, target, vocabulary};

/// What the network learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// Hidden sites given the visible ones, as conditional masked language models do.
    Cmlm,
    /// All sites given the visible ones, and again given the network's own argmax, as PaDIR does.
    Padir,
}

/// The network and how it learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What it learns.
    pub objective: Objective,
    /// The width of the network; the feed-forward layers are four times as wide.
    pub width: usize,
    /// Layers of its decoder.
    pub layers: usize,
    /// Heads of every attention; they share the width.
    pub heads: usize,
    /// Steps of `AdamW`, the learning rate falling by a cosine.
    pub steps: u64,
    /// Samples of a step, drawn from all with replacement.
    pub batch: usize,
    /// The largest learning rate.
    pub rate: f64,
    /// The seed of everything.
    pub seed: Seed,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            objective: Objective::Cmlm,
            width: 32,
            layers: 2,
            heads: 4,
            steps: 2000,
            batch: 64,
            rate: 3e-3,
            seed: Seed(0),
        }
    }
}

/// Nothing was learned.
#[derive(Debug, Error)]
pub enum LearnError {
    /// There are no samples.
    #[error("there is no sample to learn from")]
    NoSamples,
    /// The mask law makes no sense for this space.
    #[error(transparent)]
    Law(#[from] ChainError),
    /// The settings make no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The network makes no sense.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Learning diverged.
    #[error(transparent)]
    Diverged(#[from] NotFinite),
    /// The network cannot be asked.
    #[error(transparent)]
    Model(#[from] NetworkModelError),
    /// Its conditionals cannot be read.
    #[error(transparent)]
    Conditionals(#[from] ConditionalsError<SitesError<NetworkModelError>>),
}

/// A network that has learned.
#[derive(Debug)]
pub struct Trained {
    learner: Learner,
    space: Space,
    /// The mean cross-entropy per prediction over the last tenth of the steps, in nats.
    pub loss: f64,
}

impl Trained {
    /// Learns from samples, given as states; `law` says which sites are hidden.
    ///
    /// # Errors
    /// If settings or law make no sense, or learning diverges.
    pub fn new(
        space: Space,
        samples: &[usize],
        law: &MaskLaw,
        settings: &Settings,
        tick: impl Fn(),
    ) -> Result<Self, LearnError> {
        if samples.is_empty() {
            return Err(LearnError::NoSamples);
        }
        // Enumerated in every state: corruption will not fail.
        Blocks::of(law, space)?;
        let config = settings.config(space, law)?;
        let model = ModelConfig {
            symbols: vocabulary(space),
            ..config.model.to_config(vocabulary(space).vocab_size, vocabulary(space).pieces)
        };
        let network = Network::initialise(&model, settings.seed, &Device::flex().autodiff())?;
        let mut learner = Learner::new(network, &config);
        let source: Vec<u32> = SOURCE.iter().map(|token| token.0).collect();
        let sources = Sentences::new(std::iter::repeat_n(&source[..], settings.batch));
        let (mut entropy, mut counted) = (0.0, 0);
        for step in 0..settings.steps {
            let mut order = settings.seed.stream(Purpose::Order, step);
            let rows: Vec<Vec<u32>> = (0..settings.batch)
                .map(|_| target(space, samples[order.below(samples.len() as u64) as usize]))
                .collect();
            let targets = Sentences::new(rows.iter().map(Vec::as_slice));
            let report = learner.learn(&[Pairs { sources: sources.clone(), targets }])?;
            if step >= settings.steps - settings.steps.div_ceil(10) {
                entropy += report.statistics.entropy;
                counted += report.statistics.counted;
            }
            tick();
        }
        Ok(Self { learner, space, loss: entropy / counted.max(1) as f64 })
    }

    /// The network.
    pub fn network(&self) -> &Network {
        self.learner.network()
    }

    /// The network as a denoiser of states.
    ///
    /// # Errors
    /// Never for a network that was trained here.
    pub fn denoiser(&self) -> Result<Sites<NetworkModel<'_>>, LearnError> {
        let mut model = NetworkModel::new(self.network(), self.learner.fused());
        model.encode(&[&SOURCE])?;
        Ok(Sites::new(model, self.space))
    }

    /// All its conditionals.
    ///
    /// # Errors
    /// If the space is too large.
    pub fn conditionals(&self) -> Result<Conditionals, LearnError> {
        Ok(Conditionals::of(&mut self.denoiser()?, self.space)?)
    }
}

impl Settings {
    /// As the trainer reads it.
    fn config(&self, space: Space, law: &MaskLaw) -> Result<Config, LearnError> {
        let positions = space.sites() + 1;
        let Self { width, layers, heads, steps, rate, .. } = self;
        let (inner, head) = (4 * width, (width / heads.max(&1)).max(1));
        let warmup = steps / 10;
        // Data and directory are never looked at: batches are made here.
        let text = format!(
            r#"
data = {{ vocabulary = "none", train = {{ source = "none", target = "none" }} }}
run = {{ dir = "none", max_steps = {steps} }}
batch = {{ max_source = 1, max_target = {positions} }}
device = {{ kind = "cpu" }}
[model]
preset = "tiny"
d_model = {width}
d_kv = {head}
d_ff = {inner}
num_heads = {heads}
num_layers = 1
num_decoder_layers = {layers}
dropout_rate = 0.0
tie_word_embeddings = false
positional_attention = false
learned_positions = true
max_positions = {positions}
initial = "mask"
length = {{ predictor = "oracle" }}
[objective]
z_loss = 0.0
corruption = {{ correct_prob = 0.0, random_prob = 0.0 }}
[optimiser]
kind = "adamw"
schedule = {{ peak = {rate:?}, warmup = {warmup}, start = 0.0, end = 0.0, steps = {steps} }}
"#
        );
        let mut config = Config::preview("lab learn", &text, &[])?;
        let (stages, first_stage) = match self.objective {
            Objective::Cmlm => (1, FirstStage::Mask),
            Objective::Padir => (2, FirstStage::All),
        };
        config.run.seed = self.seed;
        config.objective.kind = config::Objective::Padir(config::Padir {
            stages,
            reduce: Reduce::Sum,
            length: LengthObjective { weight: 0.0, ..LengthObjective::default() },
            first_stage,
            remask_stutter: false,
            corruption: Corruption {
                noise: Noise::Law(in_tokens(law)),
                correct_prob: Rate::Fixed(0.0),
                random_prob: Rate::Fixed(0.0),
            },
        });
        Ok(config)
    }
}

/// A law of states as one of targets: cases of adaptive laws name tokens.
fn in_tokens(law: &MaskLaw) -> MaskLaw {
    match law {
        MaskLaw::Adaptive { cases, otherwise } => MaskLaw::Adaptive {
            cases: cases
                .iter()
                .map(|case| Case {
                    when: case.when.iter().map(|symbol| TokenId(FIRST + symbol.0)).collect(),
                    then: in_tokens(&case.then),
                })
                .collect(),
            otherwise: Box::new(in_tokens(otherwise)),
        },
        law => law.clone(),
    }
}
