//! `padir train` from outside: a run survives its death, and says what is wrong with its configuration.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod bench;
mod faults;
mod fixture;
#[cfg(unix)]
mod signals;

use std::fs;

use fixture::{CONFIG, folder, lines, padir, record, run, succeed, wait_until};

#[test]
fn a_killed_run_goes_on_as_if_nothing_had_happened() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, &["train", "config.toml", "--set", "run.dir=whole"]);
    let mut child =
        padir(folder, &["train", "config.toml", "--quiet", "--threads", "1"]).spawn().unwrap();
    wait_until("nine lines", || lines(folder, "run") >= 9);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!folder.join("run/final").exists(), "the run was over before it was killed");
    succeed(folder, &["train", "config.toml", "--resume"]);
    assert_eq!(record(folder, "whole"), record(folder, "run"));
    let model = |run: &str| fs::read(folder.join(run).join("final/model.safetensors")).unwrap();
    assert!(model("whole") == model("run"), "the models differ");
}

#[test]
fn evaluations_show_sources_references_and_hypotheses() {
    let folder = folder();
    let folder = folder.path();
    let more =
        ["--set", "run.max_steps=10", "--set", "run.eval_every=10", "--set", "run.log_every=10"];
    let decode = ["--set", "run.decode.lines=7"];
    let output = run(folder, &[&["train", "config.toml"], &more[..], &decode].concat());
    let shown = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{shown}");
    let dev = |name: &str, line: usize| {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        text.lines().nth(line).unwrap().to_owned()
    };
    for line in [0, 2, 4] {
        let sample = format!(
            "\n  source:     {}\n  reference:  {}\n  hypothesis: ",
            dev("dev.en", line),
            dev("dev.de", line)
        );
        assert!(shown.contains(&sample), "{sample:?} is not in {shown}");
    }
    assert!(shown.contains("\nstep 10/10, epoch "), "{shown}");
    assert!(shown.contains(", 0:00:00 to go"), "{shown}");
}

/// A training replaces its models; what `padir shortlist` has put there stays.
#[test]
fn a_shortlist_outlives_the_model_it_was_learnt_for() {
    let folder = folder();
    let folder = folder.path();
    let train = ["train", "config.toml", "--quiet", "--set", "run.metric=dev.loss"];
    succeed(folder, &[&train[..], &["--set", "run.max_steps=20"]].concat());
    let learn = ["shortlist", "--model", "run/best", "train.en", "train.de"];
    succeed(folder, &learn);
    let again = String::from_utf8(run(folder, &learn).stderr).unwrap();
    assert!(again.contains("run/best/vmap.txt exists\nhint: --force"), "{again}");
    let read = |name: &str| fs::read(folder.join("run/best").join(name)).unwrap();
    let (list, model) = (read("vmap.txt"), read("model.safetensors"));
    succeed(folder, &[&train[..], &["--resume"]].concat());
    assert!(read("model.safetensors") != model, "the best model is still the first");
    assert!(read("vmap.txt") == list);
}

/// `vocab train`, `data encode`, `train`, `translate`: however the vocabulary is named, it is one.
#[test]
fn a_vocabulary_is_the_same_by_all_its_names() {
    let folder = folder();
    let folder = folder.path();
    let encode = ["data", "encode", "train.en", "train.de", "--output", "shards", "--vocab"];
    succeed(folder, &[&encode[..], &["vocab"]].concat());
    let text = CONFIG.replace("source = \"train.en\"", "shards = \"shards\"");
    let text = text.replace("target = \"train.de\"\n", "");
    fs::write(folder.join("config.toml"), text).unwrap();
    let train = |vocabulary: &str, more: &[&str]| {
        let vocabulary = format!("data.vocabulary={vocabulary}");
        let few = ["train", "config.toml", "--set", &vocabulary, "--set", "run.max_steps=3"];
        run(folder, &[&few[..], more].concat())
    };
    for (name, more) in [
        ("vocab", &["--set", "run.dir=a"][..]),
        ("vocab/spiece.model", &["--set", "run.dir=b"]),
        ("vocab/tokenizer.json", &["--set", "run.dir=b", "--set", "run.max_steps=5", "--resume"]),
    ] {
        let output = train(name, more);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for file in ["spiece.model", "tokenizer.json"] {
        let aside = folder.join("aside");
        fs::rename(folder.join("a/final").join(file), &aside).unwrap();
        succeed(folder, &["translate", "--model", "a/final", "one"]);
        fs::rename(&aside, folder.join("a/final").join(file)).unwrap();
    }
    let learn = ["vocab", "train", "train.en", "train.de", "--size", "140", "--output", "other"];
    succeed(folder, &learn);
    let output = train("other", &["--check"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("config.toml:5: "), "{errors}");
    assert!(errors.contains("shards: encoded with vocabulary "), "{errors}");
}

#[test]
fn all_faults_of_a_configuration_are_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = CONFIG.replace("peak = 0.01", "peek = 0.01").replace("d_ff = 64", "d_ff = \"wide\"");
    fs::write(folder.path().join("config.toml"), text).unwrap();
    let output = run(folder.path(), &["train", "config.toml"]);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    for part in
        ["config.toml:3:", "peek", "config.toml:14:", "d_ff", "vocab/spiece.model", "--manual"]
    {
        assert!(errors.contains(part), "{part} is not in\n{errors}");
    }
    assert!(!folder.path().join("run").exists());
}

#[test]
fn the_manual_lists_every_section() {
    let folder = tempfile::tempdir().unwrap();
    let manual = succeed(folder.path(), &["train", "--manual"]).stdout;
    let manual = String::from_utf8(manual).unwrap();
    for section in
        ["[data]", "[model]", "[objective]", "[optimiser]", "[batch]", "[run]", "[device]"]
    {
        assert!(manual.contains(section), "{section}");
    }
}

#[test]
fn a_run_can_start_from_another_model() {
    let folder = folder();
    let folder = folder.path();
    let begin = |name: &str, more: &[&str]| {
        let dir = format!("run.dir={name}");
        let few = ["train", "config.toml", "--quiet", "--set", &dir, "--set", "run.max_steps=2"];
        // So slow that nothing moves.
        let slow = ["--set", "optimiser.schedule.peak=1e-12"];
        let all: Vec<&str> = few.iter().chain(&slow).chain(more).copied().collect();
        run(folder, &all)
    };
    let teacher = ["--set", "run.seed=5", "--set", "objective.kind=ar"];
    assert!(begin("teacher", &teacher).status.success());
    assert!(begin("alone", &["--set", "objective.kind=padir"]).status.success());
    let from = "model.start_from=teacher/final";
    let warm = begin("warm", &["--set", "objective.kind=padir", "--set", from]);
    assert!(warm.status.success(), "{}", String::from_utf8_lossy(&warm.stderr));
    let tensor = |run: &str, name: &str| {
        let checkpoint =
            padir_checkpoint::Checkpoint::open(folder.join(run).join("final")).unwrap();
        checkpoint.tensor(name).unwrap().to_vec()
    };
    let near = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    let encoder = "encoder.block.0.layer.0.SelfAttention.q.weight";
    assert!(near(&tensor("warm", encoder), &tensor("teacher", encoder)));
    assert!(!near(&tensor("alone", encoder), &tensor("teacher", encoder)));
    let bias = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
    assert!(near(&tensor("warm", bias), &tensor("alone", bias)), "another meaning, not taken");

    // Another vocabulary: rows are taken by piece.
    let smaller = ["vocab", "train", "train.en", "train.de", "--size", "80", "--output", "other"];
    succeed(folder, &smaller);
    let other = [
        "--set",
        "objective.kind=ar",
        "--set",
        from,
        "--set",
        "data.vocabulary=other/spiece.model",
    ];
    let other = begin("other-pieces", &other);
    assert!(other.status.success(), "{}", String::from_utf8_lossy(&other.stderr));
    let rows = |run: &str, vocabulary: &str, piece: &str| {
        let vocabulary = padir_text::vocab::Vocabulary::load(folder.join(vocabulary)).unwrap();
        let is_it = |&id: &u32| vocabulary.piece(padir_base::TokenId(id)).as_deref() == Some(piece);
        let id = (0..vocabulary.size() as u32).find(is_it).unwrap() as usize;
        (id, tensor(run, "shared.weight")[id * 32..(id + 1) * 32].to_vec())
    };
    for piece in ["</s>", "<extra_id_0>"] {
        let (_, theirs) = rows("teacher", "vocab", piece);
        let (_, ours) = rows("other-pieces", "other", piece);
        assert!(near(&ours, &theirs), "{piece}");
    }
    let moved = rows("teacher", "vocab", "<extra_id_0>").0;
    assert_ne!(moved, rows("other-pieces", "other", "<extra_id_0>").0, "the test needs another id");

    let gone = begin("gone", &["--set", "model.start_from=nowhere"]);
    let errors = String::from_utf8_lossy(&gone.stderr).into_owned();
    assert!(!gone.status.success() && errors.contains("start_from"), "{errors}");
    let unlike = [
        "--set",
        from,
        "--set",
        "model.d_model=24",
        "--set",
        "model.d_ff=40",
        "--set",
        "model.num_heads=1",
    ];
    let unlike = begin("unlike", &unlike);
    let errors = String::from_utf8_lossy(&unlike.stderr).into_owned();
    assert!(!unlike.status.success(), "{errors}");
}

#[test]
fn noise_has_a_law_and_a_model_its_languages() {
    let folder = folder();
    let folder = folder.path();
    let learn = |name: &str, more: &[&str]| {
        let dir = format!("run.dir={name}");
        let sets = [&dir, "run.max_steps=3", "objective.corruption.random_prob=0.5"];
        let sets = sets.iter().chain(more).flat_map(|set| ["--set", *set]);
        let all: Vec<&str> = ["train", "config.toml", "--quiet"].into_iter().chain(sets).collect();
        succeed(folder, &all);
        padir_checkpoint::Checkpoint::open(folder.join(name).join("final")).unwrap()
    };
    let density = learn("density", &["objective.corruption.noise_density=0.5"]);
    assert_eq!(density.config().languages.pair(), None);
    let law = "objective.corruption.noise={ law = \"rate\", rate = 0.5 }";
    let rate = learn("rate", &[law, "data.source_language=en", "data.target_language=de"]);
    let codes = rate.config().languages.pair().map(|(from, to)| (from.code(), to.code()));
    assert_eq!(codes, Some(("en", "de")));
    let model = |run: &str| fs::read(folder.join(run).join("final/model.safetensors")).unwrap();
    assert!(model("density") == model("rate"), "the same law, another model");
    learn("count", &["objective.corruption.noise.law=uniform-count"]);
    assert!(model("density") != model("count"), "another law, the same model");

    let law = "objective.corruption.noise={ law = \"exactly\", k = 500 }";
    let refused = run(folder, &["train", "config.toml", "--check", "--set", law]);
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{errors}");
    assert!(errors.contains("cannot hide 500 of 127 positions"), "{errors}");
}
