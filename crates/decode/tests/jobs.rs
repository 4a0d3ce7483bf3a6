//! Jobs of one batch: settings of their own, and cancelling between steps.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use std::cell::Cell;

use common::{Language, START, Table};
use padir_base::random::Seed;
use padir_decode::autoregression::{self, Beam, Sample, Source, beam_each, sample_each};
use padir_decode::padir::{
    Prune, Sentence, Settings, StopRule, Symbols, Wanted, refine, refine_each,
};
use padir_decode::{Event, MaskPredict, Observer, Sampling};

fn sentences() -> Vec<Sentence> {
    let sentence = |number: usize| Sentence {
        number: 10 + number as u64,
        context: number,
        lengths: vec![(4 + number % 3, -0.3), (6, -1.1), (3, -2.0)],
    };
    (0..6).map(sentence).collect()
}

fn symbols() -> Symbols {
    Symbols::new(3..9, Some(padir_base::TokenId(9)))
}

fn some_settings() -> Vec<Settings> {
    let default = Settings::default;
    vec![
        Settings { steps: 2, ..default() },
        Settings { steps: 9, stop: StopRule::Never, prune: Prune::Keep { most: 2 }, ..default() },
        Settings { temperature: 1.0, top_k: Some(3), seed: Seed(5), ..default() },
        Settings { early_exit: Some(-0.5), ..default() },
        MaskPredict { steps: 3, ..MaskPredict::default() }.settings(),
        Settings { wanted: Wanted::Uncertain { below: -0.5, neighbours: 1 }, ..default() },
    ]
}

#[test]
fn settings_may_differ_within_a_batch() {
    let (sentences, settings) = (sentences(), some_settings());
    let model = || Table::new(4, 10, 2.0);
    let each: Vec<&Settings> = settings.iter().collect();
    let mut together = model();
    let lists = refine_each(&mut together, &each, &symbols(), &sentences, &mut ()).unwrap();
    for (i, sentence) in sentences.iter().enumerate() {
        let alone = std::slice::from_ref(sentence);
        let expected = refine(&mut model(), each[i], &symbols(), alone, &mut ()).unwrap();
        assert_eq!(lists[i], expected[0], "sentence {i}");
    }
    // All but the sampler ask for one candidate, so they share their calls.
    let first = together.calls.iter().filter(|call| call.depth == 1).map(|call| call.rows.len());
    assert_eq!(first.max(), Some(12), "3 + 3 + 1 + 3 + 2 hypotheses");
}

/// Wants each job for some steps.
struct Impatient {
    patience: Vec<usize>,
    seen: Cell<usize>,
    events: Vec<Event>,
}

impl Impatient {
    fn new(patience: &[usize]) -> Self {
        Self { patience: patience.to_vec(), seen: Cell::new(0), events: Vec::new() }
    }

    fn steps_of(&self, job: usize) -> usize {
        let of_job = self.events.iter().filter(|event| event.job == job);
        of_job.map(|event| event.step).max().unwrap_or(0)
    }
}

impl Observer for Impatient {
    fn observe(&mut self, event: Event) {
        self.events.push(event);
    }

    fn wants(&self, job: usize) -> bool {
        self.seen.set(self.seen.get() + 1);
        self.steps_of(job) < self.patience[job]
    }
}

#[test]
fn refinement_is_cancelled_between_steps() {
    let sentences = &sentences()[..3];
    let settings = Settings { steps: 6, stop: StopRule::Never, ..Settings::default() };
    let model = || Table::new(4, 10, 2.0);
    let mut observer = Impatient::new(&[99, 2, 0]);
    let lists = refine(&mut model(), &settings, &symbols(), sentences, &mut observer).unwrap();
    let whole = refine(&mut model(), &settings, &symbols(), sentences, &mut ()).unwrap();
    assert_eq!(lists[0], whole[0], "the others go on");
    assert!(lists[1].is_empty() && lists[2].is_empty());
    let steps = [0, 1, 2].map(|job| observer.steps_of(job));
    assert_eq!(steps, [6, 2, 0]);
    assert!(observer.events.iter().all(|event| event.max_steps == 6));
}

fn sources() -> Vec<Source> {
    (0..4).map(|i| Source { number: i as u64, context: i, max_length: 5 + i }).collect()
}

#[test]
fn beams_and_samples_may_differ_within_a_batch() {
    let symbols = autoregression::Symbols::new(START);
    let model = || Language::new(8, 9, 1.5);
    let beam = |num_beams, length_penalty| Beam { num_beams, length_penalty, ..Beam::default() };
    let beams = [beam(1, 0.0), beam(3, 0.6), beam(1, 2.0), beam(5, 0.6)];
    let each: Vec<&Beam> = beams.iter().collect();
    let sources = sources();
    let lists = beam_each(&mut model(), &each, &symbols, &sources, &mut ()).unwrap();
    for (i, source) in sources.iter().enumerate() {
        let expected =
            autoregression::beam(&mut model(), each[i], &symbols, &[*source], &mut ()).unwrap();
        assert_eq!(lists[i], expected[0], "sentence {i}");
    }
    let warm = |samples, top_k, seed| Sample {
        samples,
        sampling: Sampling { temperature: 1.0, top_k, top_p: None },
        seed: Seed(seed),
        ..Sample::default()
    };
    let samples = [warm(2, None, 1), warm(1, Some(2), 2), warm(3, None, 3), warm(2, Some(4), 1)];
    let each: Vec<&Sample> = samples.iter().collect();
    let lists = sample_each(&mut model(), &each, &symbols, &sources, &mut ()).unwrap();
    for (i, source) in sources.iter().enumerate() {
        let expected =
            autoregression::sample(&mut model(), each[i], &symbols, &[*source], &mut ()).unwrap();
        assert_eq!(lists[i], expected[0], "sentence {i}");
    }
}

#[test]
fn searches_are_cancelled_between_tokens() {
    let symbols = autoregression::Symbols::new(START);
    let model = || Language::new(8, 9, 0.1);
    let sources = &sources()[..3];
    let beam = Beam { num_beams: 2, ..Beam::default() };
    let mut observer = Impatient::new(&[99, 2, 0]);
    let lists = autoregression::beam(&mut model(), &beam, &symbols, sources, &mut observer);
    let whole = autoregression::beam(&mut model(), &beam, &symbols, sources, &mut ()).unwrap();
    let lists = lists.unwrap();
    assert_eq!(lists[0], whole[0], "the others go on");
    assert!(lists[1].is_empty() && lists[2].is_empty());
    assert_eq!((observer.steps_of(1), observer.steps_of(2)), (2, 0));
    let sample = Sample { samples: 2, ..Sample::default() };
    let mut observer = Impatient::new(&[1, 99, 0]);
    let lists = autoregression::sample(&mut model(), &sample, &symbols, sources, &mut observer);
    let lists = lists.unwrap();
    assert!(lists[0].is_empty() && lists[2].is_empty());
    assert_eq!(lists[1].len(), 2);
}
