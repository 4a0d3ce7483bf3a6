//! The paper's statements, one by one: which command computes each, and what it comes to on a model.
//!
//! [`STATEMENTS`] lists every definition with computational content and every lemma, proposition,
//! theorem and corollary under its label. [`Subject`] holds a model with what the checks share;
//! small models only, since some of it is dense.

mod check;

pub use check::Subject;

use crate::asymptotics::AsymptoticError;

/// What kind of statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A definition.
    Definition,
    /// A lemma.
    Lemma,
    /// A proposition.
    Proposition,
    /// A theorem.
    Theorem,
    /// A corollary.
    Corollary,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Lemma => "lemma",
            Self::Proposition => "proposition",
            Self::Theorem => "theorem",
            Self::Corollary => "corollary",
        }
    }
}

/// What a statement comes to on a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It was checked, with the number that shows it.
    Checked {
        /// Whether it holds.
        holds: bool,
        /// The number.
        value: f64,
        /// What the number is.
        what: &'static str,
    },
    /// It says nothing about this model.
    DoesNotApply(&'static str),
    /// It is about networks: a classical result that is used as it is.
    NotChecked(&'static str),
}

impl Verdict {
    fn checked(holds: bool, value: f64, what: &'static str) -> Self {
        Self::Checked { holds, value, what }
    }
}

type Check = fn(&Subject) -> Result<Verdict, AsymptoticError>;

/// One statement.
#[derive(Clone, Copy)]
pub struct Statement {
    /// The paper's label.
    pub label: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// What it says, in a few words.
    pub title: &'static str,
    /// The command that computes it.
    pub command: &'static str,
    check: Check,
}

impl Statement {
    /// What it comes to.
    ///
    /// # Errors
    /// If the model cannot be analysed.
    pub fn verdict(&self, subject: &Subject) -> Result<Verdict, AsymptoticError> {
        (self.check)(subject)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "all checks have one signature")]
fn classical(_: &Subject) -> Result<Verdict, AsymptoticError> {
    Ok(Verdict::NotChecked("classical, used as it is"))
}

macro_rules! statements {
    ($($label:literal $kind:ident $title:literal $command:literal $check:expr;)*) => {
        /// All of them, in the paper's order.
        pub const STATEMENTS: &[Statement] = &[$(Statement {
            label: $label,
            kind: Kind::$kind,
            title: $title,
            command: $command,
            check: $check,
        }),*];
    };
}

statements! {
    "def:mle" Definition "maximum likelihood and Fisher information" "exact" check::fisher;
    "d:genmple" Definition "weighted pseudolikelihood" "fit --law" check::weighted_loss;
    "def:mple" Definition "k-pseudolikelihood" "fit --k" check::block_losses;
    "lem:asymptotic_efficiency" Lemma "asymptotic normality" "normality" check::normal;
    "thm:k_monotone" Theorem "masking more is better: Γᵏ⁺¹ ⪯ Γᵏ" "exact" check::monotone;
    "l:informationmx" Lemma "information-matrix equality" "exact" check::information;
    "def:dirichlet" Definition "Dirichlet form" "dirichlet" check::dirichlet_definition;
    "def:poincare" Definition "Poincaré inequality" "dirichlet" check::poincare_inequality;
    "d:blockdynamics" Definition "weighted block dynamics" "sample --law" check::weighted_dynamics;
    "thm:asymptotic_variance_alpha" Theorem "Γ ⪯ C·I⁻¹" "exact" check::variance;
    "d:genmple:dependent" Definition "adaptive pseudolikelihood" "fit --law" check::adaptive_loss;
    "d:blockdynamics_adaptive" Definition "adaptive block dynamics" "sample --law" check::adaptive_dynamics;
    "prop:block_dynamics_dirichlet" Proposition "Dirichlet form of adaptive dynamics" "dirichlet --law" check::dirichlet;
    "thm:asymptotic_variance" Theorem "Γ ⪯ C·I⁻¹, adaptive" "exact --law" check::adaptive_variance;
    "d:block_catconst" Definition "block approximate tensorisation" "tensorise" check::tensorises;
    "thm:generalization_bound_joint" Theorem "generalisation of the joint" "concentration" check::generalisation;
    "d:kgibbs" Definition "k-Gibbs" "sample --k" check::gibbs;
    "item:gibbs:parallel" Definition "independent parallel" "sample --parallel" check::parallel;
    "prop:transformer_deterministic_mc" Proposition "Transformers run deterministic chains" "construct" classical;
    "prop:transformer_general_mc" Proposition "Transformers run product transitions" "construct" check::product;
    "def:ising" Definition "Ising models" "exact" check::ising;
    "prop:mode_fast" Proposition "k-Gibbs reaches the mode fast" "bounds" check::mode_fast;
    "prop:mode_slow" Proposition "independent parallel is stuck" "bounds" check::mode_slow;
    "prop:mode_separation" Corollary "separation of the two" "bounds" check::separation;
    "lem:XS_implies_S" Lemma "conditioning on K matters" "conditioning --law" check::conditioning;
    "lem:XS_expectation_over_S" Lemma "marginalising over K" "conditioning --law" check::marginalisation;
    "l:informationmx_adaptive" Lemma "information-matrix equality, adaptive" "exact --law" check::adaptive_information;
    "prop:conditional_to_joint" Proposition "KL ≤ C_AT · expected KL of conditionals" "concentration" check::conditional_to_joint;
    "prop:KL_bounded" Proposition "KL of conditionals ≤ ln 1/β" "concentration" check::bounded;
    "lem:hoeffding" Lemma "Hoeffding's inequality" "concentration" check::hoeffding;
    "lem:point_wise_generalization_bound_conditional" Lemma "pointwise generalisation" "concentration" check::pointwise;
    "cor:point_wise_generalization_bound_conditional_special" Corollary "pointwise generalisation, special case" "concentration" check::pointwise;
    "lem:generalization_bound_conditional" Corollary "uniform generalisation" "concentration" check::uniform;
    "lem:empirical_pmf" Lemma "the empirical law converges" "concentration" check::empirical_law;
    "prop:strongly_ferromagnetic_mode" Proposition "modes of strongly ferromagnetic models" "bounds" check::modes;
    "lem:universal_approximation" Lemma "universal approximation" "construct" classical;
    "lem:shortcut_automata" Lemma "Transformers simulate automata" "construct" classical;
    "lem:asymptotics" Lemma "asymptotic normality, general" "regularity" check::normal_likelihood;
    "thm:ising_convex_conditional" Proposition "the loss is convex" "regularity" check::convex;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Edge, Shape};
    use crate::model::{Clique, Ising, Model, Potts, Table};
    use crate::space::Space;

    /// The statements of the paper by kind, counted in its source: restated ones once, formalised
    /// versions of informal ones with them.
    #[test]
    fn the_list_is_complete() {
        let count = |kind: Kind| STATEMENTS.iter().filter(|s| s.kind == kind).count();
        assert_eq!(count(Kind::Theorem), 4);
        assert_eq!(count(Kind::Proposition), 9);
        assert_eq!(count(Kind::Corollary), 3);
        assert_eq!(count(Kind::Lemma), 11);
        assert_eq!(count(Kind::Definition), 12);
        let mut labels: Vec<&str> = STATEMENTS.iter().map(|s| s.label).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), STATEMENTS.len());
    }

    #[test]
    fn every_statement_holds_where_it_applies() {
        let models = [
            Model::Ising(Ising::uniform(3, &Shape::Chain { periodic: false }, 0.2, 0.5).unwrap()),
            Model::Ising(Clique::uniform(5, 4, 0.05, 3.0).unwrap().to_ising()),
            Model::Table(
                Table::new(Space::new(2, 2).unwrap(), vec![0.1, 0.25, 0.0, 0.65]).unwrap(),
            ),
            Model::Potts(
                Potts::new(3, vec![vec![0.0, 0.3, -0.2]; 2], vec![Edge(0, 1)], vec![0.5]).unwrap(),
            ),
        ];
        for model in models {
            let subject = Subject::new(&model).unwrap();
            let mut checked = 0;
            for statement in STATEMENTS {
                let verdict = statement.verdict(&subject).unwrap();
                if let Verdict::Checked { holds, value, what } = verdict {
                    assert!(holds, "{}: {what} {value}", statement.label);
                    checked += 1;
                }
            }
            assert!(checked >= 20, "{checked}");
        }
    }
}
