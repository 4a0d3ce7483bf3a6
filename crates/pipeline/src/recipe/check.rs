//! Whether every command line is one, and what each reads and makes.
//!
//! Command lines are described by whoever will run them: nothing that can be known now is found out after hours of work.

use std::collections::BTreeMap;

use super::command::{Commands, Description, Fault, RecipeFiles};
use super::faults::Faults;
use super::names::Names;
use super::stage::Stage;

/// What command lines are checked against.
pub(super) struct Checker<'a> {
    pub(super) commands: &'a dyn Commands,
    pub(super) names: &'a Names,
    pub(super) files: RecipeFiles<'a>,
}

impl Checker<'_> {
    /// Checks all stages, and adds to them what their command lines read and make.
    pub(super) fn check(&self, stages: &mut [Stage], faults: &mut Faults) {
        // First those that need nothing of others, then those that name what the first make.
        for refers in [false, true] {
            let made = if refers { outputs(stages) } else { BTreeMap::new() };
            for stage in stages.iter_mut().filter(|stage| stage.refers_to_outputs() == refers) {
                if refers {
                    stage.put_in(&made, faults);
                }
                self.check_stage(stage, faults);
            }
        }
    }

    fn check_stage(&self, stage: &mut Stage, faults: &mut Faults) {
        let before = faults.count();
        let description = self.commands.describe(&stage.arguments(), &self.files);
        let Description { reads, makes, work, resumes, faults: found } = description;
        for fault in found {
            self.tell(fault, stage, faults);
        }
        stage.inputs.extend(reads.iter().map(|path| self.names.call(path)));
        stage.outputs.extend(makes);
        stage.work.extend(work);
        stage.resumes = resumes;
        // What a faulty command line makes is not known.
        if stage.outputs.is_empty() && faults.count() == before {
            let message = format!("stage {:?} makes nothing: name its `outputs`", stage.name);
            faults.at(stage.place, message);
        }
    }

    fn tell(&self, fault: Fault, stage: &Stage, faults: &mut Faults) {
        match fault {
            Fault::Command(message) => {
                faults.at(stage.place, format!("stage {:?}: {message}", stage.name));
            }
            Fault::File { name, message } => {
                let place = self.files.files.get(&name).map_or(stage.place, |file| file.place);
                faults.at(place, message);
            }
            Fault::InFile { name, problem } => {
                let first = self.files.files.get(&name).map_or(1, |file| file.first_line);
                faults.embedded(problem, first, &stage.name);
            }
        }
    }
}

/// What is made under each name of the recipe.
fn outputs(stages: &[Stage]) -> BTreeMap<String, Vec<String>> {
    let mut made: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for stage in stages {
        made.entry(stage.family.clone()).or_default().extend(stage.outputs.iter().cloned());
    }
    made
}
