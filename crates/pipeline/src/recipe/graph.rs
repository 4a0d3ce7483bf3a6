//! Who reads what whom makes: inputs that command lines name, outputs claimed twice, an order without cycles.
//!
//! O(stages² · paths), which are few.

use std::collections::{BTreeMap, BTreeSet};

use super::faults::Faults;
use super::names::Names;
use super::recipe::Embedded;
use super::stage::{Stage, lies_in};

/// Stages in order, and the stages that each of them needs.
type Order = (Vec<Stage>, Vec<BTreeSet<usize>>);

/// Finds inputs and puts the stages in order: as written, unless something would be read before it is made.
pub(super) fn connect(
    mut stages: Vec<Stage>,
    names: &Names,
    files: &BTreeMap<String, Embedded>,
    faults: &mut Faults,
) -> Option<Order> {
    find_files(&mut stages, files, faults);
    find_inputs(&mut stages, names);
    check_claims(&stages, files, faults);
    let needs = needs(&stages, faults);
    let order = sort(&stages, &needs, faults)?;
    let mut position = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        position[old] = new;
    }
    let renamed = |old: usize| needs[old].iter().map(|&need| position[need]).collect();
    let needs = order.iter().map(|&old| renamed(old)).collect();
    let mut stages: Vec<Option<Stage>> = stages.into_iter().map(Some).collect();
    let stages = order.iter().filter_map(|&old| stages[old].take()).collect();
    Some((stages, needs))
}

/// A word of a command line as the paths it may be: as it is, behind `=`, and before the columns of `--tsv`.
fn candidates(word: &str) -> impl Iterator<Item = &str> {
    let behind = word.split_once('=').map(|(_, value)| value);
    [Some(word), behind].into_iter().flatten().map(|path| match path.rsplit_once(':') {
        Some((path, columns)) if columns.chars().all(|c| c.is_ascii_digit() || c == ',') => path,
        _ => path,
    })
}

fn find_files(stages: &mut [Stage], files: &BTreeMap<String, Embedded>, faults: &mut Faults) {
    for (name, file) in files {
        let mut is_used = false;
        for stage in &mut *stages {
            let is_it = |path: &str| lies_in(path, name);
            let names_it = stage.arguments().into_iter().flat_map(candidates).any(is_it);
            if names_it || stage.inputs.iter().any(|input| is_it(&input.full)) {
                stage.files.insert(name.clone());
                stage.inputs.retain(|input| !lies_in(&input.full, name));
                is_used = true;
            }
        }
        if !is_used {
            faults.at(file.place, format!("no stage reads the file {name:?}"));
        }
    }
}

/// What a command line names is read if it is data, or if another stage makes it.
fn find_inputs(stages: &mut [Stage], names: &Names) {
    let owned: Vec<Vec<String>> =
        stages.iter().map(|stage| stage.owned().cloned().collect()).collect();
    for (index, stage) in stages.iter_mut().enumerate() {
        let is_made = |path: &str, by: usize| owned[by].iter().any(|own| lies_in(path, own));
        let others = || (0..owned.len()).filter(|&other| other != index);
        let mut found = Vec::new();
        for text in stage.texts() {
            for path in candidates(&text.full) {
                let called = names.call(path);
                let is_data = called.shown != called.full && text.shown.contains("{data.");
                let is_foreign = || others().any(|other| is_made(path, other));
                if is_data || !is_made(path, index) && is_foreign() {
                    found.push(called);
                }
            }
        }
        stage.inputs.extend(found);
    }
}

fn check_claims(stages: &[Stage], files: &BTreeMap<String, Embedded>, faults: &mut Faults) {
    for (index, stage) in stages.iter().enumerate() {
        for own in stage.owned() {
            let claimed = |other: &&Stage| other.owned().any(|theirs| overlap(own, theirs));
            if let Some(other) = stages[..index].iter().find(claimed) {
                let (a, b) = (&other.name, &stage.name);
                let message = format!("stages {a:?} and {b:?} both make {own:?}");
                faults.at(stage.place, message);
            }
            if let Some(file) = files.keys().find(|file| overlap(own, file)) {
                let message =
                    format!("stage {:?} makes {own:?}, but {file:?} is in [files]", stage.name);
                faults.at(stage.place, message);
            }
        }
    }
}

/// Whether one is the other or lies in it.
pub(super) fn overlap(a: &str, b: &str) -> bool {
    lies_in(a, b) || lies_in(b, a)
}

fn needs(stages: &[Stage], faults: &mut Faults) -> Vec<BTreeSet<usize>> {
    let mut needs = vec![BTreeSet::new(); stages.len()];
    for (index, stage) in stages.iter().enumerate() {
        for input in &stage.inputs {
            for (other, maker) in stages.iter().enumerate() {
                if !maker.owned().any(|own| overlap(own, &input.full)) {
                    continue;
                }
                if other == index {
                    let message =
                        format!("stage {:?} reads {:?}, which it makes", stage.name, input.shown);
                    faults.at(stage.place, message);
                } else {
                    needs[index].insert(other);
                }
            }
        }
    }
    needs
}

/// Takes the first stage that needs nothing more, again and again.
fn sort(stages: &[Stage], needs: &[BTreeSet<usize>], faults: &mut Faults) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = Vec::with_capacity(stages.len());
    while order.len() < stages.len() {
        let is_ready = |index: &usize| {
            !order.contains(index) && needs[*index].iter().all(|need| order.contains(need))
        };
        let Some(next) = (0..stages.len()).find(is_ready) else {
            let open: Vec<usize> =
                (0..stages.len()).filter(|index| !order.contains(index)).collect();
            tell_cycle(stages, needs, &open, faults);
            return None;
        };
        order.push(next);
    }
    Some(order)
}

/// Follows needs until a stage comes again.
fn tell_cycle(stages: &[Stage], needs: &[BTreeSet<usize>], open: &[usize], faults: &mut Faults) {
    let mut walk: Vec<usize> = Vec::new();
    let mut at = open.first().copied();
    while let Some(index) = at.filter(|index| !walk.contains(index)) {
        walk.push(index);
        at = needs[index].iter().copied().find(|need| open.contains(need));
    }
    let start = at.and_then(|again| walk.iter().position(|&index| index == again)).unwrap_or(0);
    let cycle: Vec<String> =
        walk[start..].iter().chain(&at).map(|&index| format!("{:?}", stages[index].name)).collect();
    faults.at(
        stages[walk[start]].place,
        format!("stages wait for each other: {}", cycle.join(" needs ")),
    );
}
