//! `padir bench decode`: systems, peers that answer and peers that die.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Answers as one who takes a quarter of a second for each sentence.
const PEER: &str = r#"
while read -r line; do case "$line" in
  *describe*) echo '{"name": "twin"}' ;;
  *best_threads*) echo '{"threads": 1}' ;;
  *translate*) echo '{"outputs": [[5, 1]], "seconds": [0.25]}' ;;
esac; done
"#;

/// Says who it is, and no more.
const MORTAL: &str = "read -r line; echo '{\"name\": \"mortal\"}'\n";

const BENCH: [&str; 14] = [
    "bench",
    "decode",
    "--random",
    "tiny",
    "--vocabulary",
    "200",
    "--length",
    "4",
    "--sentences",
    "10",
    "--steps",
    "2",
    "--lengths",
    "1,5",
];

fn padir(folder: &Path, arguments: &[&str]) -> Output {
    let all = [&BENCH, arguments].concat();
    Command::new(env!("CARGO_BIN_EXE_padir")).args(all).current_dir(folder).output().unwrap()
}

fn names(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_system_is_measured_and_a_peer_beside_them() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("peer.sh"), PEER).unwrap();
    let more = ["--batches", "1,4", "--peer", "sh peer.sh", "--plot", "plot.svg", "--json"];
    let output = padir(folder.path(), &more);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ours = ["AR greedy", "AR beam 5", "PaDIR 2 × 1", "PaDIR 2 × 5", "PaDIR 2 × 5 fast"];
    let found = names(&report["latencies"], "system");
    for name in ours.iter().chain(&["twin greedy", "twin beam 5"]) {
        for precision in ["f32", "int8"] {
            let name = format!("{name} {precision}");
            assert!(found.contains(&name), "{name} is not among {found:?}");
        }
    }
    for row in report["latencies"].as_array().unwrap() {
        let [p50, p90, p99] = ["p50", "p90", "p99"].map(|key| row[key].as_f64().unwrap());
        assert!(0.0 < p50 && p50 <= p90 && p90 <= p99, "{row}");
        let is_peer = row["system"].as_str().unwrap().starts_with("twin");
        assert!(!is_peer || (p50 - 250.0).abs() < 1e-9, "{row}");
    }
    for row in report["steps"].as_array().unwrap() {
        let [warm, cold] =
            ["milliseconds", "cold_milliseconds"].map(|key| row[key].as_f64().unwrap());
        assert!(warm > 0.0 && cold > 0.0, "{row}");
    }
    let batches = report["throughput"].as_array().unwrap();
    assert!(batches.iter().all(|row| row["tokens_per_second"].as_f64().unwrap() > 0.0));
    for file in ["plot.svg", "plot.csv"] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
}

#[test]
fn latency_is_measured_against_length() {
    let folder = TempDir::new().unwrap();
    let plot = ["--length-plot", "latency.svg", "--by-length", "20,4", "--batches", "0", "--json"];
    let output = padir(folder.path(), &plot);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let points = report["by_length"].as_array().unwrap();
    for system in ["AR greedy", "AR beam 5", "PaDIR 2 × 1", "PaDIR 2 × 5"] {
        for precision in ["f32", "int8"] {
            let name = format!("{system} {precision}");
            let own: Vec<f64> = points
                .iter()
                .filter(|point| point["system"] == name.as_str())
                .map(|point| point["tokens"].as_f64().unwrap())
                .collect();
            assert_eq!(own, [4.0, 20.0], "{name}");
        }
    }
    assert!(points.iter().all(|point| point["milliseconds"].as_f64().unwrap() > 0.0));
    let numbers = fs::read_to_string(folder.path().join("latency.csv")).unwrap();
    assert_eq!(numbers.lines().count(), 1 + points.len(), "{numbers}");
    let drawn = fs::read_to_string(folder.path().join("latency.svg")).unwrap();
    assert!(drawn.contains("AR greedy f32") && drawn.contains("PaDIR 2 × 1 int8"));
    assert!(fs::read(folder.path().join("latency.png")).unwrap().starts_with(b"\x89PNG"));
    let taken = padir(folder.path(), &["--length-plot", "latency.png"]);
    let error = String::from_utf8_lossy(&taken.stderr);
    assert!(error.contains("latency.svg, latency.png and 1 more exist"), "{error}");
}

#[test]
fn what_cannot_work_is_told_at_once() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("mortal.sh"), MORTAL).unwrap();
    let cases: [(&str, &[&str], &str); 7] = [
        ("no picture of lengths", &["--length-plot", "plot.pdf"], "neither .svg nor .png"),
        ("a length that cannot be", &["--by-length", "10,129"], "129 is not in 2..=128"),
        ("a peer that is not there", &["--peer", "nowhere"], "cannot start nowhere"),
        ("a peer that ends", &["--peer", "false"], "the peer"),
        ("a peer that dies", &["--peer", "sh mortal.sh"], "the peer"),
        ("no picture", &["--plot", "plot.pdf"], "neither .svg nor .png"),
        ("no directory", &["--plot", "no/where.svg"], "no such directory"),
    ];
    for (name, arguments, expected) in cases {
        let output = padir(folder.path(), arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}: {error}");
        assert!(error.contains(expected), "{name}: {error}");
        assert!(output.stdout.is_empty(), "{name}");
    }
}
