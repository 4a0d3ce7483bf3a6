//! `padir lab` from outside: the JSON contract, files there and back, and errors that name names.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn padir(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_padir"))
        .current_dir(directory)
        .arg("lab")
        .args(arguments)
        .output()
        .unwrap()
}

fn json(directory: &Path, arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.push("--json");
    let output = padir(directory, &all);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&within_range(&String::from_utf8(output.stdout).unwrap())).unwrap()
}

/// JSON with the numbers beyond 1e308 cut to that: they are written in full, but this reader
/// refuses them.
fn within_range(json: &str) -> String {
    let mut text = String::new();
    for word in json.split_inclusive([' ', ',', '\n']) {
        let number = word.trim_end_matches([',', '\n']);
        if number.parse::<f64>().is_ok_and(f64::is_infinite) {
            text.push_str("1e308");
            text.push_str(&word[number.len()..]);
        } else {
            text.push_str(word);
        }
    }
    text
}

fn here() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn exact_keeps_its_contract() {
    let report =
        json(here().path(), &["exact", "--n", "4", "--clique", "4", "--j", "0.3", "--h", "0"]);
    let rows = report["k"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    // reference/lab/exact.json.
    let golden: Value =
        serde_json::from_str(include_str!("../../../reference/lab/exact.json")).unwrap();
    for (row, expected) in rows.iter().zip(golden["exact"][0]["k"].as_array().unwrap()) {
        assert_eq!(row["k"], expected["k"]);
        for key in ["trace", "trace_j", "poincare", "mono_min_eig", "bound_min_eig"] {
            if expected[key].is_null() {
                assert!(row[key].is_null(), "{key}");
                continue;
            }
            let (found, wanted) = (
                row[key].as_f64().unwrap(),
                expected[key].as_str().unwrap().parse::<f64>().unwrap(),
            );
            assert!(
                (found - wanted).abs() < 1e-10 * wanted.abs().max(1.0),
                "{key}: {found} {wanted}"
            );
        }
    }
}

#[test]
fn hitting_keeps_its_contract_at_every_coupling() {
    let golden: Value =
        serde_json::from_str(include_str!("../../../reference/lab/exact.json")).unwrap();
    for case in golden["hitting"].as_array().unwrap().iter().take(10) {
        let j = case["j"].to_string();
        let report =
            json(here().path(), &["hitting", "--n", "10", "--clique", "4", "--h", "5", "--j", &j]);
        let check = |ln: &Value, wanted: &Value| {
            let text = wanted.as_str().unwrap();
            let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
            let wanted = digits.parse::<f64>().unwrap().ln()
                + exponent.parse::<f64>().unwrap() * std::f64::consts::LN_10;
            assert!((ln.as_f64().unwrap() - wanted).abs() < 1e-9, "J = {j}: {ln} for {text}");
        };
        for (row, wanted) in
            report["k"].as_array().unwrap().iter().zip(case["k"].as_array().unwrap())
        {
            check(&row["ln_expected"], wanted);
        }
        let parallel = &report["independent_parallel"];
        check(&parallel["ln_expected"], &case["independent_parallel"]);
        assert!(parallel["expected"].is_number() && parallel.get("k").is_none());
    }
}

#[test]
fn samples_go_out_and_come_back_as_a_fit() {
    let directory = here();
    let model = "model = 'ising'\nn = 4\nh = [0.3, -0.2, 0.1, 0]\ngraph = { kind = 'chain' }\nj = [0.5, -0.4, 0.2]\n";
    std::fs::write(directory.path().join("m.toml"), model).unwrap();
    for file in ["s.csv", "s.npy"] {
        let drawn = padir(
            directory.path(),
            &["sample", "--model", "m.toml", "--exact", "--samples", "20000", "--out", file],
        );
        assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
        let fit = json(
            directory.path(),
            &["fit", file, "--model", "m.toml", "--k", "2", "--out", "p.csv", "--force"],
        );
        let itself = padir(directory.path(), &["fit", file, "--n", "4", "--out", file, "--force"]);
        let message = String::from_utf8_lossy(&itself.stderr);
        assert!(message.contains("is both read and written"), "{message}");
        assert_eq!(fit["verdict"], "found");
        let truth = [0.3, -0.2, 0.1, 0.0, 0.5, -0.4, 0.2];
        for (row, truth) in fit["parameters"].as_array().unwrap().iter().zip(truth) {
            let (found, error) =
                (row["estimate"].as_f64().unwrap(), row["standard_error"].as_f64().unwrap());
            assert!((found - truth).abs() < 5.0 * error, "{row} for {truth}");
        }
    }
    let written = std::fs::read_to_string(directory.path().join("p.csv")).unwrap();
    assert!(
        written.starts_with("parameter,estimate,standard_error,robust_error\n\"h[0]\","),
        "{written}"
    );
}

#[test]
fn an_estimate_that_does_not_exist_is_no_number() {
    let directory = here();
    std::fs::write(directory.path().join("s.csv"), "1,1\n1,-1\n1,1\n1,-1\n").unwrap();
    let fit = json(directory.path(), &["fit", "s.csv", "--n", "2", "--k", "1"]);
    assert_eq!(fit["verdict"], "does-not-exist");
    assert!(fit.get("parameters").is_none());
    assert_eq!(fit["runs_off"]["proven"], true);
}

#[test]
fn bad_input_is_named() {
    let directory = here();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("table.toml", "model = 'table'\nn = 1\nprobabilities = [0.5, 0.6]\n");
    write("typo.json", "{\"model\": \"ising\", \"n\": 3, \"grph\": {\"kind\": \"chain\"}}");
    write("edges.txt", "0 1\n1 9\n");
    write("bad.csv", "1,-1\n1,3\n");
    write("words.csv", "1,-1\n1,x\n");
    write("linear.toml", "law = 'linear'\nsteps = 4\n");
    let cases: [(&[&str], &str); 32] = [
        (&["exact", "--n", "3", "--j", "nan"], "j[0,1] is NaN"),
        (&["exact", "--n", "3", "--j", "1e9"], "j[0,1] is 1000000000"),
        (&["decay", "--n", "3", "--k", "0"], "k = 0 is not between 1 and N = 3"),
        (&["tensorise", "--n", "3", "--k", "4"], "k = 4 is not between 1 and N = 3"),
        (&["exact", "--n", "0"], "the graph has no vertices"),
        (&["exact", "--n", "3", "--graph", "edges.txt"], "edge 1 (1, 9) names vertex 9"),
        (&["exact", "--model", "table.toml"], "the probabilities sum to 1.1, not to 1"),
        (&["exact", "--model", "typo.json"], "unknown field `grph`"),
        (&["fit", "bad.csv", "--n", "2"], "sample 1 has the value 3 at site 1"),
        (&["fit", "words.csv", "--n", "2"], "words.csv:2: \"x\" is not a number"),
        (&["exact", "--n", "40", "--graph", "ring"], "2^40 states take 8796.1 GB"),
        (&["exact", "--n", "18446744073709551615"], "pairs of vertices to join"),
        (&["exact", "--n", "3000000"], "the graph has 4.500e12 pairs of vertices to join"),
        (&["exact", "--n", "-3"], "invalid value '-3' for '--n <N>'"),
        (&["exact", "--n", "3", "--k", "-1"], "invalid value '-1' for '--k <K,…>'"),
        (&["bounds", "--n", "4", "--radius", "-1"], "--radius -1 is not a number that is zero"),
        (&["bounds", "--n", "4", "--radius", "nan"], "--radius NaN is not a number that is zero"),
        (&["bounds", "--n", "4", "--loss", "-0.5"], "--loss -0.5 is not a number that is zero"),
        (&["bounds", "--n", "4", "--loss", "inf"], "--loss inf is not a number that is zero"),
        (&["tensorise", "--n", "3", "--starts", "99999999999"], "is more than 100000"),
        (&["exact", "--n", "3", "--law", "linear.toml"], "follows a schedule of 4 steps"),
        (&["tensorise", "--n", "3", "--law", "linear.toml"], "follows a schedule of 4 steps"),
        (
            &["decay", "--n", "3", "--law", "linear.toml", "--steps", "5"],
            "beyond the schedule of 4",
        ),
        (
            &["decay", "--n", "3", "--k", "2", "--scan", "colour"],
            "a coloured scan updates single sites",
        ),
        (
            &["exact", "--n", "11", "--graph", "ring", "--scan", "colour"],
            "2048 states; the limit is 1024",
        ),
        (&["hitting", "--n", "3", "--target", "7=1"], "--target names site 7"),
        (&["hitting", "--n", "3", "--target", "x"], "--target x is not of the form site=symbol"),
        (
            &["hitting", "--n", "3", "--from", "9", "--set", "0"],
            "--from 9 is not among the states 0 to 7",
        ),
        (&["sample", "--n", "3", "--set", "0"], "--set and --target need --until"),
        (&["normality", "--n", "3", "--repeats", "1"], "--repeats 1 is not between 2 and 100000"),
        (&["concentration", "--n", "3", "--delta", "2"], "--delta 2 is not between 0 and 1"),
        (&["dirichlet", "--n", "3", "--f", "x5"], "x5 names site 5, but the sites are 0 to 2"),
    ];
    for (arguments, message) in cases {
        let output = padir(directory.path(), arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments:?} succeeded");
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn figures_come_with_numbers_and_their_command() {
    let directory = here();
    let made = json(directory.path(), &["figures", "parallel", "--out", "f", "--dpi", "50"]);
    assert_eq!(made["figures"][0]["name"], "parallel");
    let csv = std::fs::read_to_string(directory.path().join("f/parallel.csv")).unwrap();
    assert!(csv.starts_with("# padir lab figures parallel "), "{csv}");
    let caption = std::fs::read_to_string(directory.path().join("f/parallel.txt")).unwrap();
    assert!(caption.contains("stationary law") && caption.contains("Made by: padir lab figures"));
    let svg = std::fs::read_to_string(directory.path().join("f/parallel.svg")).unwrap();
    assert!(svg.contains("<desc>made by: padir lab figures parallel "));
    let png = std::fs::read(directory.path().join("f/parallel.png")).unwrap();
    assert_eq!(&png[1..4], b"PNG");
    let pdf = std::fs::read(directory.path().join("f/parallel.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-1.4") && pdf.ends_with(b"%%EOF\n"));
}

#[test]
fn every_command_shows_examples() {
    let commands = [
        "exact",
        "hitting",
        "decay",
        "tensorise",
        "product",
        "bounds",
        "fit",
        "sample",
        "figures",
        "statements",
        "sandwich",
        "regularity",
        "normality",
        "concentration",
        "dirichlet",
        "conditioning",
        "cost",
    ];
    for command in commands {
        let output = padir(here().path(), &[command, "--help"]);
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(help.contains("Examples:") && help.contains("padir lab"), "{command}");
    }
}

#[test]
fn reports_say_what_they_are_about() {
    let directory = here();
    for command in ["exact", "hitting", "decay", "tensorise", "product", "bounds"] {
        let report = json(directory.path(), &[command, "--n", "3", "--clique", "3", "--j", "0.2"]);
        assert_eq!(report["version"], env!("CARGO_PKG_VERSION"), "{command}");
        let said = report["command"].as_str().unwrap();
        assert!(said.starts_with(&format!("padir lab {command} --n 3")), "{said}");
        assert_eq!(report["model"]["model"], "ising", "{command}");
        // The echoed model is a model file that gives the same again.
        std::fs::write(directory.path().join("again.json"), report["model"].to_string()).unwrap();
        let again = json(directory.path(), &[command, "--model", "again.json"]);
        let without = |mut report: Value| {
            report.as_object_mut().unwrap().remove("command");
            report
        };
        assert_eq!(without(report), without(again), "{command}");
    }
}

#[test]
fn strong_coupling_keeps_its_digits() {
    let directory = here();
    let golden: Value =
        serde_json::from_str(include_str!("../../../reference/lab/strong.json")).unwrap();
    let case = &golden["variance"].as_array().unwrap()[0];
    let arguments =
        ["exact", "--n", "4", "--clique", "4", "--h", "0.5", "--j", "9", "--out", "gamma.npy"];
    let report = json(directory.path(), &arguments);
    for (row, expected) in report["k"].as_array().unwrap().iter().zip(case["k"].as_array().unwrap())
    {
        for key in ["trace", "trace_j", "poincare"] {
            let wanted: f64 = expected[key].as_str().unwrap().parse().unwrap();
            let found = row[key].as_f64().unwrap();
            assert!((found / wanted - 1.0).abs() < 1e-10, "{key}: {found} {wanted}");
        }
        assert!(row["order_error"].as_f64().unwrap() < 1e-10);
    }
    let header = std::fs::read(directory.path().join("gamma.npy")).unwrap();
    assert!(String::from_utf8_lossy(&header[..128]).contains("'shape': (4, 10, 10,)"));
}

#[test]
fn constants_are_bounded_from_both_sides() {
    let directory = here();
    // k = N resamples everything: nothing may certify more than 1.
    let arguments = ["tensorise", "--n", "5", "--clique", "5", "--j", "10", "--h", "3", "--k", "5"];
    let whole = json(directory.path(), &arguments);
    for key in ["lower", "upper"] {
        assert!((whole[key].as_f64().unwrap() - 1.0).abs() < 1e-12, "{key}: {whole}");
    }
    let table = "model = 'table'\nn = 2\nprobabilities = [0.001, 0.07, 0, 0.929]\n";
    std::fs::write(directory.path().join("table.toml"), table).unwrap();
    let decay = json(directory.path(), &["decay", "--model", "table.toml", "--k", "1"]);
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(number(&decay["tensorisation_lower"]) > 3.26);
    for step in decay["steps"].as_array().unwrap() {
        assert!(number(&step["kl"]) <= number(&step["kl_bound"]) * (1.0 + 1e-12), "{step}");
    }
    std::fs::write(
        directory.path().join("point.toml"),
        "model = 'table'\nn = 2\nprobabilities = [0, 1, 0, 0]\n",
    )
    .unwrap();
    let point = json(directory.path(), &["tensorise", "--model", "point.toml"]);
    assert!((number(&point["lower"]) - 1.0).abs() < 1e-12 && point["certified"].is_null());
}

#[test]
fn bounds_say_which_loss_they_are_about() {
    let report = json(here().path(), &["bounds", "--n", "4", "--j", "0.05", "--k", "2"]);
    let general = &report["generalisation"];
    let number = |key: &str| general[key].as_f64().unwrap();
    assert!((number("loss") - number("conditional_entropy")).abs() < 1e-12, "{general}");
    assert!(number("total_variation_without_entropy") < number("total_variation"));
    assert!(number("tensorisation_lower") <= number("tensorisation_upper"));
    assert!(number("exact").abs() < 1e-15);
}

#[test]
fn mixing_adds_constants_and_times() {
    let report = json(here().path(), &["exact", "--n", "3", "--j", "0.3", "--mixing"]);
    for row in report["k"].as_array().unwrap() {
        let mixing = &row["mixing"];
        for key in ["tensorisation", "log_sobolev", "modified_log_sobolev"] {
            let side = |side: &str| mixing[key][side].as_f64().unwrap();
            assert!(side("lower") <= side("upper") * (1.0 + 1e-9), "{key}: {mixing}");
        }
        assert!(mixing["mixing_time"].as_f64().unwrap() >= 1.0);
        assert!(row["gap_gain"].as_f64().unwrap() >= 1.0 - 1e-9);
    }
}

#[test]
fn a_site_that_is_never_hidden_is_named() {
    let directory = here();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("s.csv", "1,1\n1,-1\n-1,1\n-1,-1\n1,1\n");
    write("law.toml", "law = 'blocks'\nblocks = [{ positions = [0], weight = 1 }]\n");
    let fit = json(directory.path(), &["fit", "s.csv", "--n", "2", "--law", "law.toml"]);
    assert_eq!(fit["verdict"], "not-identified");
    assert_eq!(fit["not_identified"][0], "h[1]");
    assert_eq!(fit["parameters"].as_array().unwrap().len(), 2);
}

#[test]
fn scans_say_what_replaces_the_gap() {
    let directory = here();
    let ring = ["--n", "4", "--graph", "ring", "--j", "0.5"];
    let with = |command: &str, more: &[&str]| {
        let mut all = vec![command];
        all.extend(ring);
        all.extend(more);
        json(directory.path(), &all)
    };
    let scans = with("exact", &["--scan", "systematic,colour"]);
    let rows = scans["scans"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[2]["blocks"], serde_json::json!([[0, 2], [1, 3]]));
    let number = |value: &Value| value.as_f64().unwrap();
    for row in &rows[1..] {
        let root = number(&row["contraction"]).sqrt();
        assert!(number(&row["second_eigenvalue"]) <= root + 1e-12, "{row}");
    }
    // The bound on χ² holds at every update of the scan.
    let decay = with("decay", &["--scan", "colour", "--steps", "12"]);
    assert_eq!(decay["updates"], 2);
    for step in decay["steps"].as_array().unwrap() {
        assert!(number(&step["chi2"]) <= number(&step["chi2_bound"]) * (1.0 + 1e-12), "{step}");
    }
    // Simulated arrivals agree with the exact expectation: two updates a sweep.
    let exact = with("hitting", &["--scan", "colour"]);
    let run =
        with("sample", &["--scan", "colour", "--until", "--from", "down", "--chains", "4000"]);
    let sweeps = number(&run["mean"]);
    let updates = number(&exact["k"][0]["expected"]);
    let error = 5.0 * number(&run["standard_error"]);
    assert!(
        updates / 2.0 < sweeps + error && sweeps < updates / 2.0 + 0.5 + error,
        "{sweeps} {updates}"
    );
}

#[test]
fn any_model_has_targets() {
    let directory = here();
    let table = "model = 'table'\nn = 2\nprobabilities = [0.5, 0.16666666666666666, 0.3333333333333333, 0]\n";
    std::fs::write(directory.path().join("t.toml"), table).unwrap();
    let found = json(directory.path(), &["hitting", "--model", "t.toml", "--target", "1=1"]);
    // Drawn from p at every step, 01 comes with probability 1/3.
    assert!((found["k"][1]["expected"].as_f64().unwrap() - 3.0).abs() < 1e-12, "{found}");
    let potts = ["--n", "3", "--symbols", "3", "--graph", "chain", "--j", "1", "--k", "1"];
    let of = |command: &str, more: &[&str]| {
        let mut all = vec![command];
        all.extend(potts);
        all.extend(["--target", "0=2,1=2", "--target", "2=1"]);
        all.extend(more);
        json(directory.path(), &all)
    };
    let exact = of("hitting", &[])["k"][0]["expected"].as_f64().unwrap();
    let run = of("sample", &["--until", "--from", "down", "--chains", "4000"]);
    let (mean, error) = (run["mean"].as_f64().unwrap(), run["standard_error"].as_f64().unwrap());
    assert!((mean - exact).abs() < 5.0 * error, "{mean} ± {error} for {exact}");
}

#[test]
fn tables_are_their_own_family() {
    let directory = here();
    let table = "model = 'table'\nn = 2\nprobabilities = [0.1, 0.25, 0, 0.65]\n";
    std::fs::write(directory.path().join("t.toml"), table).unwrap();
    let report = json(directory.path(), &["exact", "--model", "t.toml"]);
    // 1/p + 1/p_ref of the two free states.
    let wanted = 1.0 / 0.1 + 1.0 / 0.25 + 2.0 / 0.65;
    assert!((report["k"][1]["trace"].as_f64().unwrap() - wanted).abs() < 1e-9, "{report}");
    for row in report["k"].as_array().unwrap() {
        assert!(row["information_gap"].as_f64().unwrap() < 1e-12, "{row}");
        assert!(row["bound_relative"].as_f64().unwrap() > -1e-10, "{row}");
    }
    let found = json(directory.path(), &["sandwich", "--model", "t.toml", "--k", "2"]);
    assert!((found["trace_one_mask"].as_f64().unwrap() - wanted).abs() < 1e-8, "{found}");
    let regular = json(directory.path(), &["regularity", "--model", "t.toml"]);
    assert_eq!(
        (&regular["regular"], &regular["every_state_possible"]),
        (&true.into(), &false.into())
    );
}

#[test]
fn statements_have_verdicts() {
    let report = json(here().path(), &["statements", "--n", "3", "--graph", "ring", "--j", "0.3"]);
    let rows = report["statements"].as_array().unwrap();
    assert_eq!(rows.len(), 39);
    let count = |verdict: &str| rows.iter().filter(|r| r["verdict"] == verdict).count();
    assert_eq!(count("fails"), 0, "{report}");
    // Two are about networks in general.
    assert_eq!(count("not-checked"), 2);
}

#[test]
fn robust_errors_know_that_masks_are_averaged() {
    let directory = here();
    let ring = ["--n", "4", "--graph", "ring", "--j", "0.4"];
    let mut draw = vec!["sample"];
    draw.extend(ring);
    draw.extend(["--exact", "--samples", "5000", "--out", "s.csv"]);
    assert!(padir(directory.path(), &draw).status.success());
    let mut fit = vec!["fit", "s.csv", "--k", "1"];
    fit.extend(ring);
    let fitted = json(directory.path(), &fit);
    for row in fitted["parameters"].as_array().unwrap() {
        let (plain, robust) =
            (row["standard_error"].as_f64().unwrap(), row["robust_error"].as_f64().unwrap());
        assert!(robust < plain && robust > 0.2 * plain, "{row}");
    }
    // The population's own deviation for all masks, over √n.
    let mut sandwich = vec!["sandwich", "--k", "1"];
    sandwich.extend(ring);
    let exact = json(directory.path(), &sandwich);
    for (row, wanted) in
        fitted["parameters"].as_array().unwrap().iter().zip(exact["parameters"].as_array().unwrap())
    {
        let wanted = wanted["deviation_all_masks"].as_f64().unwrap() / 5000_f64.sqrt();
        assert!(
            (row["robust_error"].as_f64().unwrap() / wanted - 1.0).abs() < 0.1,
            "{row} {wanted}"
        );
    }
}
