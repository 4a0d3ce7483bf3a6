//! Recipes: from raw text to scores, in stages that run if anything they depend on has changed.
//!
//! ```text
//! file ─► source ─► recipe ─► check, graph ─► runner ─► executor
//! --set ┘  names ┘            faults: all of them  │  └► a process, or a scheduler
//!          commands describe themselves ┘          │
//!                              decision ◄─ digest ◄─┴► record: stages.json
//! ```
//!
//! The runner knows no command: [`Commands`] describes what a command line reads and makes, and an [`Executor`] runs it.

mod aside;
mod check;
mod command;
mod decision;
pub(crate) mod digest;
mod error;
mod executor;
mod faults;
mod graph;
mod interrupts;
mod local;
mod names;
mod plan;
#[expect(clippy::module_inception, reason = "a recipe is what recipes are about")]
mod recipe;
pub(crate) mod record;
mod runner;
mod selection;
mod source;
mod stage;
mod template;

pub use command::{Commands, Description, Fault, RecipeFiles};
pub use error::{RecipeError, Supply};
pub use executor::{End, Executor, Job, Running};
pub use interrupts::Interrupts;
pub use local::{Local, Output};
pub use plan::{Plan, Planned};
pub use recipe::Recipe;
pub use record::Lock;
pub use runner::{Action, Outcome, Runner};
pub use selection::Selection;
pub use stage::is_below;

pub(crate) use recipe::RECORD;
pub(crate) use stage::quote;
