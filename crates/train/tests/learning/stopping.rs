//! Runs that are stopped: at once, wherever they are, and without a trace in what they learn.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use padir_base::random::Seed;
use padir_model::Network;
use padir_text::vocab::Vocabulary;
use padir_train::data;
use padir_train::devset::Evaluator;
use padir_train::objective;
use padir_train::record::Kind;
use padir_train::state;
use padir_train::trainer::{Ending, Start, device, train};

use crate::fixture::{RESUME, Witness, config, folder, model, rows, run, run_until};

#[test]
fn an_evaluation_that_was_missed_is_made_when_the_run_goes_on() {
    let flags = [
        "run.max_steps=12",
        "run.eval_every=4",
        "run.decode.lines=3",
        "run.decode.max_length=12",
        "run.patience=50",
    ];
    let whole = folder();
    run(&config(whole.path(), "padir", &flags), Start::Begin).unwrap();
    let evaluations = |rows: &[padir_train::record::Row]| {
        rows.iter().filter(|row| row.kind == Kind::Eval).count()
    };
    assert_eq!(evaluations(&rows(whole.path())), 3);
    for (case, step, before) in [("on the way", 8, 1), ("at the end", 12, 2), ("before", 7, 1)] {
        let broken = folder();
        let settings = config(broken.path(), "padir", &flags);
        assert_eq!(run_until(&settings, Start::Begin, step), Ending::Stopped, "{case}");
        assert_eq!(evaluations(&rows(broken.path())), before, "{case}");
        assert!(!broken.path().join("run/final").exists(), "{case}");
        assert_eq!(run(&settings, RESUME).unwrap(), Ending::Steps, "{case}");
        assert_eq!(rows(broken.path()), rows(whole.path()), "{case}");
        for place in ["best", "final"] {
            assert!(model(broken.path(), place) == model(whole.path(), place), "{case}: {place}");
        }
    }
}

#[test]
fn evaluations_end_when_they_are_stopped() {
    let folder = folder();
    for kind in ["ar", "padir"] {
        let config = config(folder.path(), kind, &["run.decode.lines=4"]);
        let vocabulary = Arc::new(Vocabulary::load(&config.data.vocabulary).unwrap());
        let shape = config.model_config(&vocabulary);
        let network = Network::initialise(&shape, Seed(1), &device(&config).unwrap()).unwrap();
        let objective = objective::from_config(&config.objective);
        let set = &data::dev_sets(&config, &vocabulary).unwrap()[0];
        let (stopped, free) = (AtomicBool::new(true), AtomicBool::new(false));
        let evaluator = Evaluator {
            network: &network,
            objective: objective.as_ref(),
            decode: &config.run.decode,
            vocabulary: &vocabulary,
            fused: true,
            stop: &stopped,
        };
        assert!(evaluator.losses(set).is_none(), "{kind}");
        assert!(evaluator.evaluate(set).unwrap().is_none(), "{kind}");
        let found = Evaluator { stop: &free, ..evaluator }.evaluate(set).unwrap().unwrap();
        let names: Vec<&str> = found.scores.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["bleu", "chrf", "exact_match", "stutter"], "{kind}");
        assert_eq!(found.outputs.len(), 4, "{kind}");
    }
}

#[test]
fn a_run_that_is_stopped_while_text_is_encoded_can_be_begun_and_resumed() {
    for start in [Start::Begin, RESUME] {
        let folder = folder();
        let settings = config(folder.path(), "ar", &["run.max_steps=2"]);
        let ending =
            train(&settings, Start::Begin, &mut Witness::default(), &AtomicBool::new(true));
        assert_eq!(ending.unwrap(), Ending::Stopped, "{start:?}");
        assert!(!folder.path().join("run/data").exists(), "{start:?}: it was encoded all the same");
        assert_eq!(run(&settings, start).unwrap(), Ending::Steps, "{start:?}");
    }
}

#[test]
fn what_was_saved_before_the_first_step_is_not_averaged() {
    let (whole, broken) = (folder(), folder());
    let flags = ["run.max_steps=6", "run.save_every=3", "optimiser.average_last=9"];
    run(&config(whole.path(), "ar", &flags), Start::Begin).unwrap();
    // Encoded already, so that the run comes as far as its loop.
    let shards = format!("data.train={{shards={:?}}}", whole.path().join("run/data"));
    let settings = config(broken.path(), "ar", &[&flags[..], &[&shards]].concat());
    let ending = train(&settings, Start::Begin, &mut Witness::default(), &AtomicBool::new(true));
    assert_eq!(ending.unwrap(), Ending::Stopped);
    assert_eq!(state::steps(&broken.path().join("run")), [0]);
    assert_eq!(run(&settings, RESUME).unwrap(), Ending::Steps);
    assert_eq!(state::steps(&broken.path().join("run")), [3, 6]);
    assert!(model(whole.path(), "final") == model(broken.path(), "final"), "the models differ");
}

#[test]
fn checkpoints_by_the_clock_change_nothing() {
    let flags = ["run.max_steps=11", "run.save_every=3", "run.keep=1", "optimiser.average_last=3"];
    let (plain, clocked) = (folder(), folder());
    let never = [&flags[..], &["run.save_minutes=0"]].concat();
    run(&config(plain.path(), "ar", &never), Start::Begin).unwrap();

    let always = [&flags[..], &["run.save_minutes=1e-9"]].concat();
    let settings = config(clocked.path(), "ar", &always);
    let mut witness = Witness { watched: Some(clocked.path().join("run")), ..Witness::default() };
    train(&settings, Start::Begin, &mut witness, &AtomicBool::new(false)).unwrap();
    let newest: Vec<_> = witness.saved.iter().map(|steps| steps.last().copied()).collect();
    // What is seen after a step was saved after the one before it.
    let expected: Vec<_> = std::iter::once(None).chain((1..=10).map(Some)).collect();
    assert_eq!(newest, expected);
    assert_eq!(rows(plain.path()), rows(clocked.path()));
    assert!(model(plain.path(), "final") == model(clocked.path(), "final"), "the models differ");
}
