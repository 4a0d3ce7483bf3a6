//! Which stages of a recipe are meant.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::overlap;
use super::recipe::Recipe;
use super::{RecipeError, Supply};

/// Which stages are looked at, and which of them run whether or not anything changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub(super) chosen: BTreeSet<usize>,
    pub(super) asked: BTreeSet<usize>,
}

impl Selection {
    /// `from` runs with all that need it even if nothing changed. If `only` names stages, no other is looked at.
    ///
    /// # Errors
    /// If there is no stage of a name.
    pub fn of(recipe: &Recipe, from: Option<&str>, only: &[String]) -> Result<Self, RecipeError> {
        let mut asked = BTreeSet::new();
        if let Some(name) = from {
            asked.extend(recipe.named(name)?);
            // Stages are in order, so that one pass finds all that follow.
            for (index, needs) in recipe.needs.iter().enumerate() {
                if !needs.is_disjoint(&asked) {
                    asked.insert(index);
                }
            }
        }
        let mut chosen = BTreeSet::new();
        for name in only {
            chosen.extend(recipe.named(name)?);
        }
        if only.is_empty() {
            chosen.extend(0..recipe.stages.len());
        }
        Ok(Self { chosen, asked })
    }

    /// Everything that no chosen stage makes must be there before anything runs.
    ///
    /// # Errors
    /// If something is not.
    pub fn require_inputs(&self, recipe: &Recipe) -> Result<(), RecipeError> {
        let mut readers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut needs_data = false;
        let mut makers = BTreeSet::new();
        for &index in &self.chosen {
            let stage = &recipe.stages[index];
            for input in &stage.inputs {
                // A directory may be filled by several.
                let is_maker = |&&other: &&usize| {
                    recipe.stages[other].owned().any(|own| overlap(&input.full, own))
                };
                let maker = recipe.needs[index].iter().find(is_maker);
                let will_be_made = maker.is_some_and(|maker| self.chosen.contains(maker));
                if will_be_made || recipe.dir.join(&input.full).exists() {
                    continue;
                }
                readers.entry(&input.full).or_default().push(stage.name.clone());
                needs_data |= input.shown.contains("{data.");
                makers.extend(maker.map(|&maker| recipe.stages[maker].name.clone()));
            }
        }
        if readers.is_empty() {
            return Ok(());
        }
        let readers = readers.into_iter().map(|(path, stages)| (path.to_owned(), stages)).collect();
        let from = match &recipe.needs_data {
            words if needs_data => Supply::Data(words.clone()),
            _ if !makers.is_empty() => Supply::Stages(makers.into_iter().collect()),
            _ => Supply::Nobody,
        };
        Err(RecipeError::Absent { readers, from })
    }
}
