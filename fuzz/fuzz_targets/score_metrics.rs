//! Any two texts through every metric: finite scores, statistics that add up, no panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use padir_score::{
    Bleu, Chrf, ExactMatch, LengthRatio, Metric, Repetition, Stutter, Ter, TercomOptions,
    Tokenizer, sentence_score,
};

fuzz_target!(|texts: (String, Vec<String>)| {
    let (hypothesis, references) = texts;
    let references: Vec<&str> = references.iter().map(String::as_str).collect();
    let normalized = TercomOptions {
        normalized: true,
        no_punct: true,
        asian_support: true,
        case_sensitive: false,
    };
    let metrics: [&dyn Metric; 9] = [
        &Bleu::default(),
        &Bleu { tokenizer: Tokenizer::Intl, effective_order: true, ..Bleu::default() },
        &Chrf::plus_plus(),
        &Ter::default(),
        &Ter { options: normalized },
        &Stutter::default(),
        &LengthRatio { tokenizer: Tokenizer::Zh },
        &ExactMatch::default(),
        &Repetition { tokenizer: Tokenizer::Char },
    ];
    for metric in metrics {
        let score = sentence_score(metric, &hypothesis, &references);
        assert!(score.value.is_finite() && score.value >= 0.0, "{score:?}");
    }
});
