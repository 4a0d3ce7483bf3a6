//! Full disks, losses that are no numbers, settings that change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::fixture::{folder, run, succeed};

/// All files below a directory with their content.
#[cfg(unix)]
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

/// A limit on the size of files stands for a full disk: writes fail in the same places.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_checkpoint() {
    let folder = folder();
    let folder = folder.path();
    succeed(
        folder,
        &["train", "config.toml", "--set", "run.max_steps=28", "--set", "run.dir=whole"],
    );
    succeed(folder, &["train", "config.toml", "--set", "run.max_steps=14"]);
    let before = files(&folder.join("run/checkpoints"));
    assert!(before.keys().any(|path| path.ends_with("step-0000000014/progress.json")));
    let best = fs::read(folder.join("run/best/model.safetensors")).unwrap();

    // Blocks are of 512 or 1024 bytes; weights and vocabularies need more.
    let script = "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\"";
    let program = env!("CARGO_BIN_EXE_padir");
    let output = std::process::Command::new("sh")
        .current_dir(folder)
        .args([
            "-c",
            script,
            program,
            "train",
            "config.toml",
            "--resume",
            "--set",
            "run.max_steps=28",
        ])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let named = ["tokenizer.json", "model.safetensors"].iter().any(|name| errors.contains(name));
    assert!(named && errors.contains("hint: make room"), "{errors}");
    assert!(files(&folder.join("run/checkpoints")) == before, "the old checkpoints have changed");
    assert!(fs::read(folder.join("run/best/model.safetensors")).unwrap() == best);
    let status = fs::read_to_string(folder.join("run/status.json")).unwrap();
    assert!(status.contains("failed"), "{status}");

    succeed(folder, &["train", "config.toml", "--resume", "--set", "run.max_steps=28"]);
    let model = |run: &str| fs::read(folder.join(run).join("final/model.safetensors")).unwrap();
    assert!(model("whole") == model("run"), "the models differ");
}

#[test]
fn a_batch_that_breaks_a_run_is_kept() {
    let folder = folder();
    let folder = folder.path();
    let ruin = [
        "train",
        "config.toml",
        "--set",
        "optimiser.schedule.peak=1e30",
        "--set",
        "optimiser.schedule.warmup=0",
    ];
    let output = run(folder, &ruin);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("hint: ") && errors.contains("--accept-changes"), "{errors}");
    let (_, path) = errors.split_once("the batch is in ").expect("the batch is named");
    let path = path.lines().next().unwrap();
    let batch = fs::read_to_string(folder.join(path)).unwrap();
    let batch: serde_json::Value = serde_json::from_str(&batch).unwrap();
    let end = |side: &str| batch[0][side][0].as_array().unwrap().last().unwrap().as_u64();
    assert_eq!((end("source"), end("target")), (Some(1), Some(1)), "sentences with their ends");
    assert!(fs::read_dir(folder.join("run/checkpoints")).unwrap().next().is_some());
    let status = fs::read_to_string(folder.join("run/status.json")).unwrap();
    assert!(status.contains("failed"), "{status}");
}

#[test]
fn changes_are_refused_until_they_are_accepted() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, &["train", "config.toml", "--set", "run.max_steps=4"]);
    let slower = [
        "train",
        "config.toml",
        "--resume",
        "--set",
        "run.max_steps=6",
        "--set",
        "optimiser.schedule.peak=0.005",
    ];
    let output = run(folder, &slower);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    for part in
        ["`optimiser.schedule.peak` was 0.01 and is 0.005", "hint: --accept-changes goes on"]
    {
        assert!(errors.contains(part), "{part} is not in\n{errors}");
    }
    let accepted = [&slower[..], &["--accept-changes"]].concat();
    let notes = String::from_utf8(succeed(folder, &accepted).stderr).unwrap();
    assert!(notes.contains("from here on: `optimiser.schedule.peak` was 0.01"), "{notes}");
    let record = fs::read_to_string(folder.join("run/metrics.jsonl")).unwrap();
    assert!(record.contains(r#""kind":"change""#) && record.contains("is 0.005"), "{record}");
    assert!(fs::read_to_string(folder.join("run/config.toml")).unwrap().contains("peak = 0.005"));
    // What a checkpoint cannot bear is refused all the same.
    let other = [&accepted[..], &["--set", "model.d_ff=32"]].concat();
    let errors = String::from_utf8(run(folder, &other).stderr).unwrap();
    assert!(errors.contains("d_ff") && errors.contains("hint: resume with what"), "{errors}");
    succeed(folder, &["runs", "run"]);
}

#[test]
fn a_network_larger_than_memory_is_refused_before_any_work() {
    let folder = folder();
    let folder = folder.path();
    let total = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = total.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse().ok());
    if total.is_none_or(|kilobytes: u64| kilobytes > 200_000_000) {
        return; // More than any network that is let through would need, or unknown.
    }
    let sizes = ["d_model=65536", "d_ff=65536", "num_layers=1", "num_decoder_layers=1"];
    let sizes: Vec<String> = sizes.iter().map(|size| format!("model.{size}")).collect();
    let mut huge = vec!["train", "config.toml", "--set", "optimiser.kind=adamw"];
    huge.extend(sizes.iter().flat_map(|size| ["--set", size]));
    for more in [&[][..], &["--check"]] {
        let output = run(folder, &[&huge[..], more].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("and the optimiser need 2"), "the number is named: {errors}");
        assert!(errors.contains(" GB of memory; there is "), "{errors}");
        assert!(!folder.join("run").exists());
    }
    let small = succeed(folder, &["train", "config.toml", "--check"]);
    let notes = String::from_utf8_lossy(&small.stderr);
    assert!(notes.contains("memory: about ") && notes.contains(" MB"), "{notes}");
}

#[test]
fn empty_data_is_called_empty() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("nothing"), "").unwrap();
    let train = |keys: [&str; 2]| {
        let flags = keys.map(|key| format!("{key}=nothing"));
        let output = run(folder, &["train", "config.toml", "--set", &flags[0], "--set", &flags[1]]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let errors = train(["data.dev.dev.source", "data.dev.dev.target"]);
    assert!(errors.contains("the dev set \"dev\" is empty"), "{errors}");
    let errors = train(["data.train.source", "data.train.target"]);
    assert!(errors.contains("nothing + nothing: the training data is empty"), "{errors}");
}
