//! `padir lab`: the theory's quantities as numbers and pictures.

mod bounds;
mod concentration;
mod conditioning;
mod construct;
mod cost;
mod decay;
mod dirichlet;
mod exact;
mod figures;
mod fit;
mod hitting;
mod law;
mod learn;
mod mixing;
mod model;
mod network;
mod normality;
mod output;
mod product;
mod regularity;
mod sample;
mod sandwich;
mod scan;
mod scans;
mod statements;
mod target;
mod tensorise;

use anyhow::Result;

use crate::console::Console;

/// Pose the theory's questions for a distribution of your own.
///
/// Ising and Potts models on any graph, or any table of probabilities: asymptotic variances,
/// Poincaré constants, hitting times, decay, tensorisation, bounds, fits and figures, exactly.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir lab exact --n 4 --clique 4 --j 0.3 --h 0
  padir lab hitting --n 10 --clique 4 --h 5 --j 6
  padir lab figures --out figures")]
pub(crate) struct Lab {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(clap::Subcommand)]
enum LabCommand {
    Exact(exact::Exact),
    Hitting(hitting::Hitting),
    Decay(decay::Decay),
    Tensorise(tensorise::Tensorise),
    Product(product::Product),
    Construct(construct::Construct),
    Learn(learn::Learn),
    Bounds(bounds::Bounds),
    Fit(fit::Fit),
    Sample(sample::Sample),
    Figures(figures::Figures),
    Statements(statements::Statements),
    Sandwich(sandwich::Sandwich),
    Regularity(regularity::Regularity),
    Normality(normality::Normality),
    Concentration(concentration::Concentration),
    Dirichlet(dirichlet::Dirichlet),
    Conditioning(conditioning::Conditioning),
    Cost(cost::Cost),
}

impl Lab {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        match self.command {
            LabCommand::Exact(command) => command.run(console),
            LabCommand::Hitting(command) => command.run(console),
            LabCommand::Decay(command) => command.run(console),
            LabCommand::Tensorise(command) => command.run(console),
            LabCommand::Product(command) => command.run(console),
            LabCommand::Construct(command) => command.run(console),
            LabCommand::Learn(command) => command.run(console),
            LabCommand::Bounds(command) => command.run(console),
            LabCommand::Fit(command) => command.run(console),
            LabCommand::Sample(command) => command.run(console),
            LabCommand::Figures(command) => command.run(console),
            LabCommand::Statements(command) => command.run(console),
            LabCommand::Sandwich(command) => command.run(console),
            LabCommand::Regularity(command) => command.run(console),
            LabCommand::Normality(command) => command.run(console),
            LabCommand::Concentration(command) => command.run(console),
            LabCommand::Dirichlet(command) => command.run(console),
            LabCommand::Conditioning(command) => command.run(console),
            LabCommand::Cost(command) => command.run(console),
        }
    }
}
