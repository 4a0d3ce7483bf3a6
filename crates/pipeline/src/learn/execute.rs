//! A constructed network in the engine: saved, opened, and decoded in parallel.

use std::path::Path;

use padir_base::mask::MaskLaw;
use padir_base::random::Seed;
use padir_checkpoint::{Checkpoint, CheckpointError};
use padir_decode::{
    Batch, DecodeError, Input, Pick, Refinement, Refiner, Step, Streams, exact_law,
};
use padir_engine::{Engine, EngineError, Precision, Session, Threads};
use padir_lab::space::Space;
use thiserror::Error;

use super::construct::Constructed;
use super::sites::{SOURCE, Sites, SitesError};

/// A network cannot be run.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// It cannot be saved or opened.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The engine refuses it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It cannot be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError<SitesError<EngineError>>),
}

/// An engine that runs a chain.
#[derive(Debug)]
pub struct Executed {
    denoiser: Sites<Session>,
    space: Space,
}

impl Executed {
    /// Saves a network to a directory and opens it from there, in single precision.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn new(
        network: &Constructed,
        space: Space,
        directory: &Path,
    ) -> Result<Self, ExecuteError> {
        network.save(directory)?;
        let engine = Engine::load(&Checkpoint::open(directory)?, Precision::F32)?;
        let mut session = engine.session(Threads::new(1));
        session.encode(&[&SOURCE])?;
        Ok(Self { denoiser: Sites::new(session, space), space })
    }

    /// The law of the state after x, all sites sampled at once: the decoder is run through all outcomes.
    ///
    /// # Errors
    /// If the network cannot be decoded.
    pub fn transitions(&mut self, x: usize) -> Result<Vec<f64>, ExecuteError> {
        let how = Refinement::independent_parallel();
        let (denoiser, space) = (&mut self.denoiser, self.space);
        let law = exact_law(
            0.0,
            |replay| {
                let start = Batch::new([(0, space.tokens_of(x))]);
                let mut refiner = Refiner::new(&mut *denoiser, &how, start, replay);
                refiner.next().map_or(Ok(x), |step| step.map(|step| state(space, &step)))
            },
            DecodeError::is_cut,
        )?;
        Ok((0..space.size()).map(|y| law.outcomes.get(&y).copied().unwrap_or(0.0)).collect())
    }

    /// The states after x, 1 to `steps` of them, the most probable symbol taken at every site.
    ///
    /// # Errors
    /// If the network cannot be decoded.
    pub fn argmax(&mut self, x: usize, steps: usize) -> Result<Vec<usize>, ExecuteError> {
        let how = Refinement { law: MaskLaw::All, input: Input::Visible, pick: Pick::ArgMax };
        let start = Batch::new([(0, self.space.tokens_of(x))]);
        let chance = Streams::new(Seed(0), 1);
        let refiner = Refiner::new(&mut self.denoiser, &how, start, chance);
        let space = self.space;
        refiner.take(steps).map(|step| Ok(state(space, &step?))).collect()
    }
}

fn state(space: Space, step: &Step) -> usize {
    space.state_of(step.tokens.iter().map(|token| token.index()))
}
