//! What the paper reports, to stand beside what was found.

/// Where the numbers come from.
pub(super) const SOURCE: &str = "“Promises and Pitfalls of Generative Masked Language Modeling” (Li et al., 2024), the table of test SacreBLEU \
scores: 67 million parameters, WMT, distilled data";

/// The columns.
pub(super) const TASKS: [&str; 6] =
    ["WMT14 de→en", "WMT14 en→de", "WMT16 ro→en", "WMT16 en→ro", "WMT17 zh→en", "WMT17 en→zh"];

/// A system, and its BLEU on each task.
pub(super) const SYSTEMS: [(&str, [f64; 6]); 3] = [
    ("AR, beam 5", [33.50, 29.54, 34.89, 29.75, 27.59, 33.94]),
    ("PaDIR, 4 steps, 5 lengths", [33.49, 28.61, 33.98, 28.98, 26.47, 32.59]),
    ("PaDIR, 10 steps, 5 lengths", [33.63, 28.58, 33.99, 28.97, 26.54, 32.68]),
];

/// What else it says that can be compared.
pub(super) const CLAIMS: [&str; 3] = [
    "PaDIR and autoregressive models, all trained on distilled data, have similar BLEU and BLEURT; in the table, the BLEU of PaDIR is \
     between 1.35 less and 0.13 more",
    "word-level stutter is at least twice as frequent in parallel models",
    "the median latency is more than 2 times lower, the 99th percentile more than 5 times (4 steps, batch 1, TPU v3)",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_that_of_the_table() {
        let [(_, ar), parallel @ ..] = SYSTEMS;
        let gaps = parallel.iter().flat_map(|(_, padir)| padir.iter().zip(ar).map(|(p, a)| p - a));
        let (least, most) = gaps.fold((0.0_f64, 0.0_f64), |(l, m), gap| (l.min(gap), m.max(gap)));
        let expected = format!("between {:.2} less and {most:.2} more", -least);
        assert!(CLAIMS[0].ends_with(&expected), "{expected}");
    }
}
