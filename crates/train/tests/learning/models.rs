//! `best` and `final`: which parameters they are.
//!
//! | | parameters |
//! |---|---|
//! | `best` | those of the evaluation with the best `run.metric`, the earlier of equals; their moving average, if one is kept |
//! | `final`, `average_last` > 1 | the mean of the parameters of the last checkpoints |
//! | `final` else | the last parameters; their moving average, if one is kept |

use std::fs;
use std::path::Path;

use padir_checkpoint::Checkpoint;
use padir_checkpoint::tensors::TensorFile;
use padir_train::record::Kind;
use padir_train::trainer::{Ending, Start};
use padir_translate::{Decoding, decoding_of};

use crate::fixture::{config, folder, model, rows, run};

const OFTEN: [&str; 5] = [
    "run.max_steps=12",
    "run.eval_every=3",
    "run.save_every=3",
    "run.keep=9",
    "run.decode.lines=0",
];

/// All numbers of a file of tensors.
fn numbers(path: &Path, names: &[String]) -> Vec<f32> {
    let file = TensorFile::open(path).unwrap();
    names.iter().flat_map(|name| file.read(name).unwrap().to_vec()).collect()
}

fn step(folder: &Path, step: u64) -> std::path::PathBuf {
    folder.join(format!("run/checkpoints/step-{step:010}"))
}

fn names(place: &Path) -> Vec<String> {
    let checkpoint = Checkpoint::open(place).unwrap();
    checkpoint.config().parameters().into_iter().map(|parameter| parameter.name).collect()
}

/// The step of the least loss, the earliest of equals.
fn best_step(folder: &Path) -> u64 {
    let rows = rows(folder);
    let evaluations: Vec<(u64, f64)> = rows
        .iter()
        .filter(|row| row.kind == Kind::Eval)
        .map(|row| (row.step, row.values["dev.loss"]))
        .collect();
    assert_eq!(evaluations.len(), 4);
    evaluations.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0
}

#[test]
fn the_best_is_that_of_the_best_evaluation() {
    // Rates that get worse after a while, so that the best is not the last.
    let flags =
        [&OFTEN[..], &["optimiser.schedule.peak=3", "optimiser.schedule.warmup=12"]].concat();
    let folder = folder();
    let path = folder.path();
    run(&config(path, "ar", &flags), Start::Begin).unwrap();
    let best = best_step(path);
    assert!(best < 12, "the last is the best");
    let saved = fs::read(step(path, best).join("model.safetensors")).unwrap();
    assert!(model(path, "best") == saved, "it is not step {best}");
    let last = fs::read(step(path, 12).join("model.safetensors")).unwrap();
    assert!(model(path, "final") == last, "the last parameters are not the final ones");
}

#[test]
fn moving_averages_are_what_is_judged_and_kept() {
    let flags = [&OFTEN[..], &["optimiser.ema=0.9"]].concat();
    let folder = folder();
    let path = folder.path();
    run(&config(path, "padir", &flags), Start::Begin).unwrap();
    let names = names(&step(path, 12));
    for (place, at) in [("best", best_step(path)), ("final", 12)] {
        let kept = numbers(&path.join("run").join(place).join("model.safetensors"), &names);
        let average = numbers(&step(path, at).join("average.safetensors"), &names);
        assert!(kept == average, "{place} is not the average of step {at}");
        let plain = numbers(&step(path, at).join("model.safetensors"), &names);
        assert!(kept != plain, "{place}");
    }
}

#[test]
fn the_final_model_is_the_mean_of_the_last_checkpoints() {
    for more in
        [&["optimiser.average_last=3"][..], &["optimiser.average_last=3", "optimiser.ema=0.9"]]
    {
        let folder = folder();
        let path = folder.path();
        run(&config(path, "ar", &[&OFTEN[..], more].concat()), Start::Begin).unwrap();
        let names = names(&step(path, 12));
        let found = numbers(&path.join("run/final/model.safetensors"), &names);
        let last = [6, 9, 12].map(|at| numbers(&step(path, at).join("model.safetensors"), &names));
        for (i, &found) in found.iter().enumerate() {
            let mean = last.iter().map(|one| f64::from(one[i])).sum::<f64>() / 3.0;
            let near = (f64::from(found) - mean).abs() <= 1e-6 * mean.abs().max(1e-2);
            assert!(near, "{more:?}: number {i} is {found} and not {mean}");
        }
    }
}

#[test]
fn patience_ends_a_run_that_does_not_improve() {
    // A rate too small to change a single bit: every evaluation is like the first.
    let flags = [
        "run.max_steps=100",
        "run.eval_every=2",
        "run.patience=3",
        "run.decode.lines=0",
        "optimiser.schedule.peak=1e-30",
        "optimiser.schedule.start=0",
        "optimiser.schedule.end=0",
    ];
    let folder = folder();
    let ending = run(&config(folder.path(), "ar", &flags), Start::Begin).unwrap();
    assert_eq!(ending, Ending::Patience);
    let evaluated = rows(folder.path()).into_iter().filter(|row| row.kind == Kind::Eval);
    assert_eq!(evaluated.map(|row| row.step).collect::<Vec<_>>(), [2, 4, 6, 8]);
}

#[test]
fn models_decode_as_they_were_selected() {
    let flags =
        ["run.max_steps=1", "run.decode={lines=1, steps=7, lengths=2, beam=3, max_length=20}"];
    for kind in ["ar", "padir"] {
        let folder = folder();
        run(&config(folder.path(), kind, &flags), Start::Begin).unwrap();
        for place in ["best", "final", "checkpoints/step-0000000001"] {
            let checkpoint = Checkpoint::open(folder.path().join("run").join(place)).unwrap();
            let decoding = decoding_of(&checkpoint).unwrap();
            assert_eq!(decoding.max_length(), 20, "{kind}, {place}");
            match decoding {
                Decoding::Beam(beam) => assert_eq!((kind, beam.num_beams), ("ar", 3), "{place}"),
                Decoding::Refine(refine) => {
                    assert_eq!((kind, refine.steps, refine.lengths), ("padir", 7, 2), "{place}");
                }
                other => panic!("{kind}, {place}: {other:?}"),
            }
        }
    }
}
