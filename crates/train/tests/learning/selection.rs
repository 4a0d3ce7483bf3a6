//! Models are selected by what users run: dev sets are decoded by the translator itself.

use std::sync::atomic::AtomicBool;

use padir_engine::Precision;
use padir_score::{Bleu, References, corpus_score};
use padir_text::vocab::Vocabulary;
use padir_train::data;
use padir_train::trainer::{Start, train};
use padir_translate::{Decoding, Options, Segmentation, Text, Translation, Translator};

use crate::fixture::{Witness, config, folder};

/// A dev score that a training printed is that of its checkpoint in f32, sentence by sentence.
#[test]
fn dev_scores_are_those_of_the_checkpoint() {
    let cases: [(&str, &[&str]); 4] = [
        ("ar", &["run.decode.num_beams=3", "run.decode.length_penalty=1.1"]),
        ("ar", &["run.decode.method=sample", "run.decode.seed=4"]),
        ("padir", &["run.decode.steps=3", "run.decode.length_weight=0.2", "run.decode.lengths=2"]),
        ("padir", &["run.decode.method=mask-predict", "run.decode.steps=2"]),
    ];
    for (kind, flags) in cases {
        let folder = folder();
        let fixed = [
            "run.max_steps=60",
            "run.eval_every=60",
            "run.decode.lines=40",
            "run.decode.max_length=24",
            "run.metric=\"dev.bleu\"",
        ];
        let config = config(folder.path(), kind, &[&fixed[..], flags].concat());
        let mut witness = Witness::default();
        train(&config, Start::Begin, &mut witness, &AtomicBool::new(false)).unwrap();
        let [evaluation] = &witness.evaluations[..] else { panic!("{kind}: one evaluation") };

        let options = Options { precision: Some(Precision::F32), threads: 1, shortlist: false };
        let mut translator = Translator::open(folder.path().join("run/best"), options).unwrap();
        translator.set_segmentation(Segmentation::Lines);
        assert_eq!(*translator.decoding(), config.run.decode.decoding, "{kind} {flags:?}");
        let vocabulary = Vocabulary::load(&config.data.vocabulary).unwrap();
        let set = &data::dev_sets(&config, &vocabulary).unwrap()[0];
        let texts: Vec<Text<'_>> =
            (0..).zip(&set.texts[..40]).map(|(number, text)| Text::new(number, text)).collect();
        let translations = translator.translate(&texts, 1, &mut ()).unwrap();
        let found: Vec<&str> = translations.iter().map(Translation::text).collect();
        assert_eq!(found, evaluation.outputs, "{kind} {flags:?}");
        assert!(found.iter().any(|text| !text.is_empty()), "{kind} {flags:?}");
        let references: Vec<&str> = set.references[..40].iter().map(String::as_str).collect();
        let references = References::new(&[references]).unwrap();
        let bleu = corpus_score(&Bleu::default(), &found, &references).unwrap().value;
        let printed = evaluation.scores.iter().find(|(name, _)| *name == "bleu").unwrap().1;
        assert!((bleu - printed).abs() < 1e-12, "{kind} {flags:?}");
        assert!(!matches!(translator.decoding(), Decoding::Beam(beam) if beam.num_beams == 1));
    }
}
