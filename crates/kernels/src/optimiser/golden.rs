//! Step by step against `reference/optimiser/{adafactor,adamw}.py`.

use serde_json::Value;

use super::{Adafactor, AdamW, Optimiser, Pace, Shape, State};

/// The inputs of `reference/optimiser/inputs.py`.
fn uniform(seed: u64, count: usize) -> Vec<f32> {
    (0..count as u64)
        .map(|i| {
            let mut z = (seed << 32).wrapping_add(i);
            z = z.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^= z >> 31;
            (z >> 40) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

fn gradient(seed: u64, step: u64, shape: Shape) -> Vec<f32> {
    let mut g = uniform(seed + 1000 * step, shape.len());
    for (i, row) in g.chunks_mut(shape.columns).enumerate() {
        let absent = step % 2 == 1 && shape.rows > 1 && i % 7 == 0;
        for (j, g) in row.iter_mut().enumerate() {
            *g *= if absent { 0.0 } else { 0.5_f32.powi((i % 5 + j % 3) as i32) };
        }
    }
    g
}

fn rate(step: u64) -> f32 {
    (0.01 + 0.005 * (step % 4) as f64) as f32
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Compares every k-th value, as `sample` in `inputs.py` takes them.
fn assert_near(name: &str, found: &[f32], expected: &Value, floor: f64) {
    let expected = expected.as_array().unwrap();
    let stride = (found.len() / 40).max(1) | 1;
    assert_eq!(found.iter().step_by(stride).count(), expected.len(), "{name}");
    for (k, (&x, y)) in found.iter().step_by(stride).zip(expected).enumerate() {
        let (x, y) = (f64::from(x), number(y));
        assert!((x - y).abs() <= 1e-5 * y.abs().max(floor), "{name}, sample {k}: {x} is not {y}");
    }
}

fn follow(case: &Value, optimiser: Optimiser) {
    let name = case["name"].as_str().unwrap();
    let seed = case["seed"].as_u64().unwrap();
    let shape = Shape::matrix(number(&case["rows"]) as usize, number(&case["columns"]) as usize);
    let mut p: Vec<f32> = uniform(seed, shape.len()).iter().map(|x| x / 4.0).collect();
    let mut state: State = optimiser.begin(shape);
    for (step, expected) in (1..).zip(case["steps"].as_array().unwrap()) {
        let pace = Pace { step, rate: rate(step), scale: number(&case["scale"]) as f32 };
        optimiser.step(&mut state, &mut p, &gradient(seed, step, shape), pace);
        let at = format!("{name}, step {step}");
        assert_near(&at, &p, &expected["p"], 0.01);
        for tensor in state.tensors() {
            let floor = if tensor.suffix == ".m" { 0.01 } else { 0.0 };
            let at = format!("{at}, {}", tensor.suffix);
            assert_near(&at, tensor.values, &expected[tensor.suffix], floor);
        }
    }
}

#[test]
fn adafactor_follows_the_reference() {
    let golden = include_str!("../../../../reference/optimiser/adafactor.json");
    let golden: Value = serde_json::from_str(golden).unwrap();
    for case in golden["cases"].as_array().unwrap() {
        follow(case, Optimiser::Adafactor(Adafactor::default()));
    }
}

#[test]
fn adamw_follows_the_reference() {
    let golden = include_str!("../../../../reference/optimiser/adamw.json");
    let golden: Value = serde_json::from_str(golden).unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let adamw = AdamW {
            beta1: number(&case["beta1"]),
            beta2: number(&case["beta2"]),
            epsilon: number(&case["epsilon"]),
            decay: number(&case["decay"]),
        };
        follow(case, Optimiser::AdamW(adamw));
    }
}
