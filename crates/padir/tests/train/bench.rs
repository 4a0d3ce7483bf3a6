//! `padir bench train`: as the configuration says, and beside a peer that does not want to end.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use super::fixture::{end, folder, padir};

/// Answers every command and outlives the end of its input.
const PEER: &str =
    "while read line; do echo '{\"tokens\": 1000, \"seconds\": 1}'; done\nexec sleep 600\n";

#[test]
fn a_bench_keeps_to_the_configuration_and_does_not_wait_for_its_peer() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("peer.sh"), PEER).unwrap();
    let bench = ["bench", "train", "config.toml", "--steps", "3", "--rounds", "1", "--json"];
    let more = ["--set", "run.threads=1", "--set", "optimiser.accumulate=2", "--dump", "dump"];
    let mut command = padir(folder, &[&bench[..], &more].concat());
    let out = fs::File::create(folder.join("report.json")).unwrap();
    let child = command.args(["--peer", "sh peer.sh"]).stdout(Stdio::from(out)).spawn().unwrap();
    let status = end(child, Duration::from_secs(100)).expect("it waits for its peer");
    assert!(status.success(), "{status}");
    let report = fs::read_to_string(folder.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["threads"], &report["accumulate"]), (&1.into(), &2.into()));
    assert_eq!(report["peer_tokens_per_second"], 1000.0);
    let batches = fs::read_to_string(folder.join("dump/batches.jsonl")).unwrap();
    let step =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["step"].as_u64();
    let steps: Vec<_> = batches.lines().map(step).collect();
    assert_eq!(steps, [0, 0, 1, 1, 2, 2].map(Some));
}
