//! Networks trained on samples of a known distribution, against the number of samples and the mask law.

use padir_base::mask::MaskLaw;
use padir_base::random::{Purpose, Seed};
use padir_lab::chain::{Blocks, Matrix};
use padir_lab::conditionals::{ConditionalError, Conditionals, Sampler, Split, split};
use padir_lab::decay::{distance, point_mass};
use padir_lab::distribution::Distribution;

use super::attention::attention;
use super::train::{LearnError, Settings, Trained};

/// What is varied, and what is asked of each network.
#[derive(Clone, Debug)]
pub struct Study {
    /// The network and how it learns; repetition r has seed + r.
    pub settings: Settings,
    /// Numbers of samples.
    pub samples: Vec<usize>,
    /// The mask laws that hide sites in training, by name. The chain of a network hides by the same law.
    pub laws: Vec<(String, MaskLaw)>,
    /// Networks for each number of samples and law.
    pub repeats: usize,
    /// Steps T of the chain.
    pub steps: usize,
    /// The state that the chain starts from.
    pub start: usize,
}

/// What one network has learned.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The number of samples.
    pub samples: usize,
    /// The name of the mask law.
    pub law: String,
    /// Which repetition.
    pub repeat: usize,
    /// The mean cross-entropy at the end of training, in nats.
    pub loss: f64,
    /// TV of the samples' own law from p: what could be known without generalising.
    pub empirical: f64,
    /// The error of the conditionals, by the number of hidden sites.
    pub errors: Vec<ConditionalError>,
    /// The mean KL of the single-site conditionals from those of the nearest joint, in nats.
    pub inconsistency: f64,
    /// The same in total variation.
    pub inconsistency_tv: f64,
    /// TV of that joint from p.
    pub joint: f64,
    /// The error of its chain that fills hidden sites one by one, after 0 to T steps.
    pub unmasking: Vec<Split>,
    /// The error of its chain that fills them all at once.
    pub parallel: Vec<Split>,
    /// The couplings of its conditionals; spins only.
    pub couplings: Option<Matrix<f64>>,
    /// The attention of its first decoder layer.
    pub attention: Matrix<f64>,
}

impl Study {
    /// How many steps of training it takes.
    pub fn length(&self) -> u64 {
        let networks = self.samples.len() * self.laws.len() * self.repeats;
        self.settings.steps.saturating_mul(networks as u64)
    }

    /// Trains and examines all networks. All laws of a repetition see the same samples, and more samples begin with the fewer.
    ///
    /// # Errors
    /// If a law makes no sense for p, the space is too large, or learning diverges.
    pub fn run(&self, p: &Distribution, tick: impl Fn()) -> Result<Vec<Outcome>, LearnError> {
        let exact = Conditionals::exact(p);
        let most = self.samples.iter().copied().max().unwrap_or(0);
        let sampler = p.sampler();
        let mut outcomes = Vec::new();
        for repeat in 0..self.repeats {
            let seed = Seed(self.settings.seed.0.wrapping_add(repeat as u64));
            let mut stream = seed.stream(Purpose::Synthesis, 0);
            let drawn: Vec<usize> = (0..most).map(|_| sampler.draw(&mut stream)).collect();
            let settings = Settings { seed, ..self.settings.clone() };
            for &count in &self.samples {
                for (name, law) in &self.laws {
                    let samples = &drawn[..count];
                    let trained = Trained::new(p.space(), samples, law, &settings, &tick)?;
                    let outcome = self.examine(p, &exact, &trained, law, samples)?;
                    outcomes.push(Outcome { law: name.clone(), repeat, ..outcome });
                }
            }
        }
        Ok(outcomes)
    }

    fn examine(
        &self,
        p: &Distribution,
        exact: &Conditionals,
        trained: &Trained,
        law: &MaskLaw,
        samples: &[usize],
    ) -> Result<Outcome, LearnError> {
        let learned = trained.conditionals()?;
        let blocks = Blocks::of(law, p.space())?;
        let start = point_mass(p.space().size(), self.start);
        let chain = |sampler: Sampler| {
            let ours = learned.transitions(&blocks, sampler);
            split(p, &ours, &exact.transitions(&blocks, sampler), &start, self.steps)
        };
        let best = learned.best_joint(p);
        let mut empirical = vec![0.0; p.space().size()];
        for &x in samples {
            empirical[x] += 1.0 / samples.len() as f64;
        }
        Ok(Outcome {
            samples: samples.len(),
            law: String::new(),
            repeat: 0,
            loss: trained.loss,
            empirical: distance(0, &empirical, p).total_variation,
            errors: learned.errors(exact, p),
            inconsistency: best.divergence,
            inconsistency_tv: best.total_variation,
            joint: distance(0, &best.joint.probs(), p).total_variation,
            unmasking: chain(Sampler::Unmasking),
            parallel: chain(Sampler::Parallel),
            couplings: learned.couplings(p),
            attention: attention(trained.network(), p),
        })
    }
}
