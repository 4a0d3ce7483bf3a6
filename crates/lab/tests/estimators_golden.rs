//! Sandwiches and scans against values of 50 digits: reference/lab/estimators.json, made by the script beside it.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use padir_base::mask::MaskLaw;
use padir_lab::asymptotics::sandwich;
use padir_lab::graph::{Edge, Shape};
use padir_lab::hitting::SweepHitting;
use padir_lab::model::{Ising, Model};
use padir_lab::spectrum::sweep_spectrum;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../reference/lab/estimators.json")).unwrap()
}

fn number(decimal: &Value) -> f64 {
    decimal.as_str().unwrap().parse().unwrap()
}

/// A ring fitted with a chain: the best member, and both sandwiches.
#[test]
fn a_wrong_family_agrees() {
    let golden = golden();
    let case = &golden["sandwich"];
    let h: Vec<f64> = case["h"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    let index = |v: &Value| v.as_u64().unwrap() as usize;
    let edges: Vec<(Edge, f64)> = case["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (Edge(index(&e[0]), index(&e[1])), e[2].as_f64().unwrap()))
        .collect();
    let (edges, couplings) = edges.into_iter().unzip();
    let truth = Model::Ising(Ising::new(h, edges, couplings).unwrap()).enumerate().unwrap();
    let chain = Shape::Chain { periodic: false };
    let family = Model::Ising(Ising::uniform(4, &chain, 0.0, 0.0).unwrap()).family().unwrap();
    for wanted in case["k"].as_array().unwrap() {
        let k = index(&wanted["k"]);
        let found = sandwich(&truth, &family, &MaskLaw::Exactly { k }).unwrap();
        assert!((found.divergence - number(&wanted["divergence"])).abs() < 1e-12, "k = {k}");
        for (a, b) in found.parameters.iter().zip(wanted["parameters"].as_array().unwrap()) {
            assert!((a - number(b)).abs() < 1e-10, "k = {k}: {a} for {b}");
        }
        for (matrix, key) in [(&found.variance, "variance"), (&found.averaged, "averaged")] {
            for i in 0..7 {
                for j in 0..7 {
                    let (a, b) = (matrix.at(i, j), number(&wanted[key][i][j]));
                    assert!(
                        (a - b).abs() < 1e-8 * (1.0 + b.abs()),
                        "k = {k}, {key} {i} {j}: {a} for {b}"
                    );
                }
            }
        }
    }
}

#[test]
fn scans_agree() {
    let golden = golden();
    let cases = golden["scans"].as_array().unwrap();
    assert_eq!(cases.len(), 8);
    for case in cases {
        let (h, j) = (case["h"].as_f64().unwrap(), case["j"].as_f64().unwrap());
        let model = Ising::uniform(4, &Shape::Chain { periodic: false }, h, j).unwrap();
        let p = Model::Ising(model).enumerate().unwrap();
        let sweep: Vec<Vec<usize>> = serde_json::from_value(case["sweep"].clone()).unwrap();
        let found = sweep_spectrum(&p, &sweep).unwrap();
        let name = format!("J = {j}, {sweep:?}");
        let second = number(&case["second"]);
        assert!((found.second - second).abs() < 1e-10, "{name}: {} for {second}", found.second);
        let contraction = number(&case["contraction"]);
        assert!((found.contraction - contraction).abs() < 1e-12, "{name}: {found:?}");
        // The gap itself keeps its digits, as far as twenty digits of the reference say.
        let gap = 1.0 / found.relaxation.to_f64();
        assert!((gap - (1.0 - second)).abs() < 1e-10, "{name}");
        let chain = SweepHitting::new(&p, &sweep, 0, (0..16).map(|x| x == 15).collect()).unwrap();
        let (mean, deviation) = chain.moments().unwrap();
        for (found, key) in [(mean, "expected"), (deviation, "deviation")] {
            let wanted = number(&case[key]);
            assert!((found.to_f64() / wanted - 1.0).abs() < 1e-11, "{name}: {found} for {wanted}");
        }
    }
}
