//! Against values of 60 to 1500 digits: reference/lab/exact.json and strong.json, made by the scripts
//! beside them.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use padir_base::mask::MaskLaw;
use padir_lab::asymptotics::by_block_size;
use padir_lab::chain::{Blocks, Matrix, block_matrix, parallel_matrix};
use padir_lab::graph::Shape;
use padir_lab::hitting::{Hitting, Update, clique_hitting};
use padir_lab::inequality::{Inequality, SearchSettings, constant};
use padir_lab::model::{Clique, Ising, Model, Table};
use padir_lab::space::Space;
use padir_lab::spectrum::poincare;
use padir_lab::wide::Wide;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../reference/lab/exact.json")).unwrap()
}

/// ln of a decimal number that may lie outside of f64, like "1.2e+400".
fn ln(decimal: &Value) -> f64 {
    let text = decimal.as_str().unwrap();
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    digits.parse::<f64>().unwrap().ln() + exponent.parse::<f64>().unwrap() * std::f64::consts::LN_10
}

fn number(decimal: &Value) -> f64 {
    decimal.as_str().unwrap().parse().unwrap()
}

fn clique(case: &Value) -> Clique {
    let h: Vec<f64> = case["h"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    let size = case["clique"].as_u64().unwrap() as usize;
    let edges = Shape::Clique { size: Some(size) }.edges(h.len()).unwrap();
    let j = vec![case["j"].as_f64().unwrap(); edges.len()];
    // A clique of coupling 0 is one too.
    Ising::new(h, edges, j).unwrap().as_clique().unwrap()
}

#[test]
fn hitting_times_agree_at_every_coupling() {
    for case in golden()["hitting"].as_array().unwrap() {
        let model = clique(case);
        let mut updates: Vec<(Update, &Value)> = case["k"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
            .map(|(i, value)| (Update::Gibbs(i + 1), value))
            .collect();
        updates.push((Update::Parallel, &case["independent_parallel"]));
        for (update, expected) in updates {
            let found = clique_hitting(&model, update).unwrap().expected().unwrap();
            let error = (found.ln() - ln(expected)).abs();
            assert!(error < 1e-11, "J = {}, {update:?}: {found} off by {error:e}", case["j"]);
        }
    }
}

/// The same with free vertices present and nothing lumped, on all 2ᴺ states.
#[test]
fn hitting_times_of_the_full_chain_agree() {
    for case in golden()["hitting_full"].as_array().unwrap() {
        let model = clique(case);
        let p = Model::Ising(model.to_ising()).enumerate().unwrap();
        let full = (1 << model.size()) - 1;
        let target: Vec<bool> = (0..p.space().size()).map(|x| x & full == full).collect();
        let check = |matrix: Matrix<Wide>, expected: &Value, what: &str| {
            let found = Hitting::new(matrix, 0, target.clone()).expected().unwrap();
            assert!((found.ln() - ln(expected)).abs() < 1e-11, "{what}: {found}");
        };
        for (i, expected) in case["k"].as_array().unwrap().iter().enumerate() {
            let blocks = Blocks::of(&MaskLaw::Exactly { k: i + 1 }, p.space()).unwrap();
            check(block_matrix(&p, &blocks).unwrap(), expected, &format!("k = {}", i + 1));
            let lumped = clique_hitting(&model, Update::Gibbs(i + 1)).unwrap().expected().unwrap();
            assert!((lumped.ln() - ln(expected)).abs() < 1e-11, "lumped, k = {}", i + 1);
        }
        check(parallel_matrix(&p).unwrap(), &case["independent_parallel"], "parallel");
    }
}

#[test]
fn asymptotic_variances_and_gaps_agree() {
    for case in golden()["exact"].as_array().unwrap() {
        let number_of = |key: &str| case[key].as_f64().unwrap();
        let (n, c) = (number_of("n") as usize, number_of("clique") as usize);
        let model = Clique::uniform(n, c, number_of("h"), number_of("j")).unwrap();
        let model = Model::Ising(model.to_ising());
        let p = model.enumerate().unwrap();
        let all: Vec<usize> = (1..=p.space().sites()).collect();
        let rows = by_block_size(&p, model.family().as_ref(), &all, || ()).unwrap();
        for (row, expected) in rows.iter().zip(case["k"].as_array().unwrap()) {
            let found = [
                ("trace", row.trace),
                ("trace_j", row.trace_j),
                ("poincare", Some(row.poincare.constant())),
                ("mono_min_eig", row.mono.map(|order| order.absolute)),
                ("bound_min_eig", row.bound.map(|order| order.absolute)),
            ];
            for (name, found) in found {
                let expected = &expected[name];
                assert_eq!(found.is_none(), expected.is_null(), "{name}, k = {}", row.k);
                let Some(found) = found else { continue };
                let error = (found - number(expected)).abs() / number(expected).abs().max(1.0);
                assert!(error < 1e-11, "{name}, k = {}: {found} for {expected}", row.k);
            }
        }
    }
}

#[test]
fn poincare_constants_beyond_floats_agree() {
    for case in golden()["slow"].as_array().unwrap() {
        let number_of = |key: &str| case[key].as_f64().unwrap();
        let (n, c) = (number_of("n") as usize, number_of("clique") as usize);
        let model = Clique::uniform(n, c, number_of("h"), number_of("j")).unwrap();
        let p = Model::Ising(model.to_ising()).enumerate().unwrap();
        let law = MaskLaw::Exactly { k: number_of("k") as usize };
        let found = poincare(&p, &law, || ()).unwrap();
        let error = (found.constant.ln() - ln(&case["poincare"])).abs();
        assert!(error < 1e-10, "{case}: {} off by {error:e}", found.constant);
    }
}

fn number_or(decimal: &Value, otherwise: f64) -> f64 {
    if decimal.is_null() { otherwise } else { number(decimal) }
}

fn strong() -> Value {
    serde_json::from_str(include_str!("../../../reference/lab/strong.json")).unwrap()
}

/// At strong coupling Γ has a condition number beyond 10³⁰; every digit is right all the same.
#[test]
fn variances_at_strong_coupling_agree() {
    for case in strong()["variance"].as_array().unwrap() {
        let number_of = |key: &str| case[key].as_f64().unwrap();
        let (n, c) = (number_of("n") as usize, number_of("clique") as usize);
        let model = Clique::uniform(n, c, number_of("h"), number_of("j")).unwrap();
        let model = Model::Ising(model.to_ising());
        let p = model.enumerate().unwrap();
        let all: Vec<usize> = (1..=n).collect();
        let rows = by_block_size(&p, model.family().as_ref(), &all, || ()).unwrap();
        for (row, expected) in rows.iter().zip(case["k"].as_array().unwrap()) {
            let bound = row.bound.filter(|_| row.k < n);
            let found = [
                ("trace", row.trace),
                ("trace_j", row.trace_j),
                ("mono_min_eig", row.mono.map(|order| order.absolute)),
                ("mono_relative", row.mono.map(|order| order.relative)),
                ("bound_min_eig", bound.map(|order| order.absolute)),
                ("bound_relative", bound.map(|order| order.relative)),
            ];
            // C is a float: what it bounds is known to its last bits, relative to C·I⁻¹.
            let slack =
                (1e-12 + row.poincare.error) / number_or(&expected["bound_relative"], 1.0).abs();
            for (name, found) in found {
                let Some(found) = found else { continue };
                let expected = number(&expected[name]);
                let close = match name {
                    "mono_relative" => (found - expected).abs() < 1e-11,
                    "bound_relative" => (found - expected).abs() < 1e-11 + row.poincare.error,
                    "bound_min_eig" => {
                        slack > 0.1 || (found / expected - 1.0).abs() < 1e-10 + 10.0 * slack
                    }
                    // The rounding of p, relative to what is left of Γᵏ.
                    "mono_min_eig" if expected.abs() > 1e-100 => {
                        let left = row.mono.map_or(1.0, |order| order.relative);
                        (found / expected - 1.0).abs() < 1e-12 + 1e-15 / left
                    }
                    _ if expected.abs() < 1e-100 => found.abs() < 1e-14 * row.trace.unwrap_or(1.0),
                    _ => (found / expected - 1.0).abs() < 1e-10,
                };
                let (j, k) = (&case["j"], row.k);
                assert!(close, "{name}, n = {n}, J = {j}, k = {k}: {found:e} for {expected:e}");
            }
            assert!(row.error < 1e-11, "{}", row.error);
        }
        let traces: Vec<f64> = rows.iter().map(|row| row.trace.unwrap()).collect();
        assert!(traces.windows(2).all(|pair| pair[1] <= pair[0]), "{traces:?}");
    }
}

/// 4096 states, gaps of 10⁻¹² and far below: free vertices are left out exactly.
#[test]
fn slow_chains_above_the_dense_limit_agree() {
    for case in strong()["slow"].as_array().unwrap() {
        let number_of = |key: &str| case[key].as_f64().unwrap();
        let (n, c) = (number_of("n") as usize, number_of("clique") as usize);
        let model = Clique::uniform(n, c, number_of("h"), number_of("j")).unwrap();
        let p = Model::Ising(model.to_ising()).enumerate().unwrap();
        let law = MaskLaw::Exactly { k: number_of("k") as usize };
        let found = poincare(&p, &law, || ()).unwrap();
        let error = (found.constant.ln() - ln(&case["poincare"])).abs();
        assert!(error < 1e-10 && error < 10.0 * found.error, "{case}: off by {error:e}");
    }
}

/// Tensorisation and log-Sobolev constants, tables with zeros included, lie between what the
/// search finds and what is proven; the search finds all there is.
#[test]
fn entropy_constants_agree() {
    let settings = SearchSettings::default();
    for case in strong()["constants"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let model = match name {
            "chain" => {
                let shape = Shape::Chain { periodic: false };
                Model::Ising(Ising::uniform(3, &shape, 0.3, 1.0).unwrap())
            }
            table => {
                let value = |text: &str| match text.trim().split_once('/') {
                    Some((a, b)) => a.parse::<f64>().unwrap() / b.parse::<f64>().unwrap(),
                    None => text.trim().parse().unwrap(),
                };
                let values = table.split(',').map(value).collect();
                Model::Table(Table::new(Space::new(2, 2).unwrap(), values).unwrap())
            }
        };
        let p = model.enumerate().unwrap();
        let law = MaskLaw::Exactly { k: case["k"].as_u64().unwrap() as usize };
        for (key, inequality) in [
            ("tensorisation", Inequality::Tensorisation),
            ("log_sobolev", Inequality::LogSobolev),
            ("modified", Inequality::ModifiedLogSobolev),
        ] {
            let found = constant(inequality, &p, &law, &settings, || ()).unwrap();
            let expected = number(&case[key]);
            let error = found.lower / expected - 1.0;
            assert!(error.abs() < 1e-7, "{name}, {key}: {} for {expected}", found.lower);
            let upper = found.upper.unwrap().value;
            assert!(upper >= expected * (1.0 - 1e-9), "{name}, {key}: {upper} < {expected}");
            assert!(found.agreeing() * 4 > found.starts.len(), "{name}, {key}: {:?}", found.starts);
        }
    }
}
