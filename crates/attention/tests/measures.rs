//! Measures and statistics against NumPy: `reference/attention/measures.py` made the numbers.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use padir_attention::measure::{Pair, Spread};
use padir_attention::statistics::{
    Sample, auc, bootstrap, by_sentence, difference, moments, permutation, quantile,
};
use padir_base::random::Seed;
use padir_engine::LayerAttention;
use serde_json::Value;

const GOLDEN: &str = include_str!("../../../reference/attention/measures.json");

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn close(name: &str, ours: &[f64], golden: &Value) {
    let golden = numbers(golden);
    assert_eq!(ours.len(), golden.len(), "{name}");
    for (ours, golden) in ours.iter().zip(&golden) {
        assert!((ours - golden).abs() < 1e-9, "{name}: {ours} {golden}");
    }
}

/// Checks every pair of every sentence, and gives the mean total variations.
fn samples(golden: &Value) -> Vec<Sample> {
    let heads = golden["heads"].as_u64().unwrap() as usize;
    let mut samples = Vec::new();
    for (number, sentence) in golden["sentences"].as_array().unwrap().iter().enumerate() {
        let size = |key: &str| sentence[key].as_u64().unwrap() as usize;
        let weights = |key: &str| numbers(&sentence[key]).iter().map(|&x| x as f32).collect();
        let (own, cross): (Vec<f32>, Vec<f32>) = (weights("self"), weights("cross"));
        let layer =
            LayerAttention::new([heads, size("targets"), size("sources")], &own, &cross).unwrap();
        let tokens = numbers(&sentence["tokens"]);
        for (i, golden) in sentence["pairs"].as_array().unwrap().iter().enumerate() {
            let pair = Pair::of(&layer, i, false);
            let spread = |s: Spread| [s.min, s.avg, s.max];
            close("there", &spread(pair.attended[0]), &golden["there"]);
            close("back", &spread(pair.attended[1]), &golden["back"]);
            close("self_top", &pair.self_top, &golden["self_top"]);
            close("tv", &spread(pair.tv), &golden["tv"]);
            close("cosine", &spread(pair.cosine), &golden["cosine"]);
            close("cross_top", &pair.cross_top, &golden["cross_top"]);
            close("self_heads", &pair.self_heads, &golden["self_heads"]);
            close("tv_heads", &pair.tv_heads, &golden["tv_heads"]);
            close("cosine_heads", &pair.cosine_heads, &golden["cosine_heads"]);
            let fails = (tokens[i] - tokens[i + 1]).abs() < 0.5;
            samples.push(Sample { sentence: number as u32, fails, value: pair.tv.avg });
            let causal = Pair::of(&layer, i, true);
            assert_eq!(causal.attended, [pair.attended[1]; 2], "only the later one looks back");
        }
    }
    samples
}

#[test]
fn measures_and_statistics_are_those_of_numpy() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let samples = samples(&golden);
    let golden = &golden["tv_avg"];
    for (name, fails) in [("stutter", true), ("other", false)] {
        let own = samples.iter().filter(|s| s.fails == fails).map(|s| s.value);
        let (mean, sd) = moments(own.clone()).unwrap();
        assert_eq!(own.count() as u64, golden[name]["pairs"].as_u64().unwrap());
        assert!((mean - golden[name]["mean"].as_f64().unwrap()).abs() < 1e-9, "{name}");
        assert!((sd - golden[name]["sd"].as_f64().unwrap()).abs() < 1e-9, "{name}");
    }
    assert!((auc(&samples).unwrap() - golden["auc"].as_f64().unwrap()).abs() < 1e-12);
    let sentences = by_sentence(&samples);
    let whole = difference(&sentences, 0..sentences.len()).unwrap();
    assert!((whole - golden["difference"].as_f64().unwrap()).abs() < 1e-9);
    let resamples = golden["resamples"].as_array().unwrap();
    let mut known = Vec::new();
    for (resample, golden) in resamples.iter().zip(golden["differences"].as_array().unwrap()) {
        let found = difference(&sentences, numbers(resample).into_iter().map(|x| x as usize));
        assert_eq!(found.is_some(), golden.is_number());
        if let Some(found) = found {
            assert!((found - golden.as_f64().unwrap()).abs() < 1e-9);
            known.push(found);
        }
    }
    known.sort_by(f64::total_cmp);
    close("quantiles", &[quantile(&known, 0.025), quantile(&known, 0.975)], &golden["quantiles"]);
    let p = permutation(&samples, 20_000, Seed(1)).unwrap();
    let exact = golden["p"].as_f64().unwrap();
    assert!(
        (p - exact).abs() < 4.0 * (exact * (1.0 - exact) / 20_000.0).sqrt() + 1e-3,
        "{p} {exact}"
    );
    let interval = bootstrap(&sentences, 1000, Seed(1)).unwrap();
    assert!(interval.low <= whole && whole <= interval.high, "{interval:?}");
}

#[test]
fn weights_must_fit() {
    assert!(LayerAttention::new([1, 2, 3], &[0.0; 4], &[0.0; 6]).is_some());
    assert!(LayerAttention::new([1, 2, 3], &[0.0; 5], &[0.0; 6]).is_none());
    assert!(LayerAttention::new([usize::MAX, 2, 3], &[], &[]).is_none());
}
