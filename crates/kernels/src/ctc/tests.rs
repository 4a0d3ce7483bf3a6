use super::*;
use crate::draw::Draw;
use crate::slot::Slot;

const LOSS: Ctc =
    Ctc { blank: 7, scale: 1.0, smoothing: 0.0, z_loss: 0.0, weight: 1.0, viterbi: false };

/// Sentences of a number of slots and labels each.
struct Case {
    slots: Ragged,
    ids: Vec<u32>,
    rows: Ragged,
}

impl Case {
    fn new(sentences: &[(usize, Vec<u32>)]) -> Self {
        Self {
            slots: Ragged::new(sentences.iter().map(|(slots, _)| *slots)),
            ids: sentences.iter().flat_map(|(_, labels)| labels.clone()).collect(),
            rows: Ragged::new(sentences.iter().map(|(_, labels)| labels.len())),
        }
    }

    fn labels(&self) -> Labels<'_> {
        Labels { slots: &self.slots, ids: &self.ids, rows: &self.rows }
    }
}

fn states(count: usize) -> Vec<f32> {
    (0..count).map(|i| (2.0 * (1.3 * i as f64 + 0.7).sin()) as f32).collect()
}

fn table(count: usize) -> Vec<f32> {
    (0..count).map(|i| (0.9 * i as f64).sin() as f32).collect()
}

fn close(found: f64, wanted: f64, digits: f64, what: &str) {
    let error = (found - wanted).abs() / wanted.abs().max(1.0);
    assert!(error < digits, "{what}: {found} instead of {wanted}");
}

#[test]
fn loss_and_gradients_are_those_of_pytorch() {
    let golden: serde_json::Value =
        serde_json::from_str(include_str!("../../../../reference/ctc/ctc.json")).unwrap();
    let number = |key: &str| golden[key].as_u64().unwrap() as usize;
    let (width, tokens) = (number("width"), number("tokens"));
    assert_eq!(number("blank"), LOSS.blank as usize);
    for (name, case) in golden["cases"].as_object().unwrap() {
        let sentence = |s: &serde_json::Value| {
            let labels = s["labels"].as_array().unwrap().iter();
            let labels: Vec<u32> = labels.map(|label| label.as_u64().unwrap() as u32).collect();
            (s["slots"].as_u64().unwrap() as usize, labels)
        };
        let sentences: Vec<_> =
            case["sentences"].as_array().unwrap().iter().map(sentence).collect();
        let unfit = sentences.iter().filter(|(n, labels)| slots_needed(labels) > *n).count();
        let case_of = Case::new(&sentences);
        let y = states(case_of.slots.tokens() * width);
        let table = table(tokens * width);
        let mut dtable = vec![9.0; table.len()];
        let slot = Slot::fresh(&mut dtable);
        let (outcome, dy) = LOSS.differentiate(&y, &table, width, case_of.labels(), slot);
        close(outcome.loss, case["loss"].as_f64().unwrap(), 1e-6, name);
        assert_eq!(outcome.unfit, unfit, "{name}");
        for (found, key) in [(dy, "dy"), (dtable, "dtable")] {
            let wanted = case[key].as_array().unwrap();
            assert_eq!(found.len(), wanted.len());
            for (found, wanted) in found.iter().zip(wanted) {
                close(f64::from(*found), wanted.as_f64().unwrap(), 2e-6, &format!("{name}, {key}"));
            }
        }
    }
}

/// With everything that a loss can have, the gradient is the slope.
#[test]
fn gradients_are_slopes() {
    let loss = Ctc { scale: 0.6, smoothing: 0.1, z_loss: 0.02, weight: 0.7, viterbi: true, ..LOSS };
    let case = Case::new(&[(4, vec![1, 2]), (1, vec![3, 4]), (5, vec![5, 5]), (2, vec![])]);
    let (width, tokens) = (3, 8);
    let (y, table) = (states(case.slots.tokens() * width), table(tokens * width));
    let mut dtable = vec![0.0; table.len()];
    let slot = Slot::fresh(&mut dtable);
    let (outcome, dy) = loss.differentiate(&y, &table, width, case.labels(), slot);
    assert_eq!((outcome.unfit, outcome.counted, outcome.tokens), (1, 3, 4));
    let at = |y: &[f32], table: &[f32]| loss.evaluate(y, table, width, case.labels()).loss;
    close(at(&y, &table), outcome.loss, 1e-12, "evaluation");
    let h = 1e-2_f32;
    let slope = |numbers: &[f32], i: usize, at: &dyn Fn(&[f32]) -> f64| {
        let moved = |by: f32| {
            let mut numbers = numbers.to_vec();
            numbers[i] += by;
            at(&numbers)
        };
        // Fourth order, so that h may be large enough for single precision.
        (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * f64::from(h))
    };
    for (i, &dy) in dy.iter().enumerate() {
        close(f64::from(dy), slope(&y, i, &|y| at(y, &table)), 2e-4, &format!("dy[{i}]"));
    }
    for (i, &dtable) in dtable.iter().enumerate() {
        let wanted = slope(&table, i, &|table| at(&y, table));
        close(f64::from(dtable), wanted, 2e-4, &format!("dtable[{i}]"));
    }
}

/// Enough sentences for several pieces, one of them longer than a piece.
fn many() -> Case {
    let labels = |n: usize, seed: usize| (0..n).map(|i| ((i * seed + i / 3) % 7) as u32).collect();
    let mut sentences: Vec<(usize, Vec<u32>)> =
        (0..60).map(|i| (i % 17, labels(i % 9, i))).collect();
    sentences.push((ROWS + 44, labels(120, 5)));
    sentences.push((12, labels(4, 2)));
    Case::new(&sentences)
}

#[test]
fn neither_threads_nor_neighbours_matter() {
    let loss = Ctc { smoothing: 0.1, viterbi: true, ..LOSS };
    let (case, width) = (many(), 6);
    let y = states(case.slots.tokens() * width);
    let table = table(9 * width);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut dtable = vec![0.0; table.len()];
        let slot = Slot::fresh(&mut dtable);
        let (outcome, dy) =
            pool.install(|| loss.differentiate(&y, &table, width, case.labels(), slot));
        (outcome, dy, dtable)
    };
    let together = run(1);
    assert_eq!(together, run(3));
    let (mut sum, mut unfit) = (0.0, 0);
    for sentence in 0..case.slots.len() {
        let slots = case.slots.range(sentence);
        let alone = Case::new(&[(slots.len(), case.ids[case.rows.range(sentence)].to_vec())]);
        let own = &y[slots.start * width..slots.end * width];
        let outcome = loss.evaluate(own, &table, width, alone.labels());
        assert_eq!(outcome.best, together.0.best[slots.clone()]);
        assert_eq!(outcome.aligned, together.0.aligned[slots]);
        sum += outcome.loss;
        unfit += outcome.unfit;
    }
    close(together.0.loss, sum, 1e-6, "sum of sentences");
    assert_eq!(together.0.unfit, unfit);
    assert!(unfit > 0 && unfit < 60);
}

/// Viterbi's alignments collapse to their targets; nothing is asked for, nothing is there.
#[test]
fn alignments_collapse_to_their_targets() {
    let (case, width) = (many(), 6);
    let y = states(case.slots.tokens() * width);
    let table = table(9 * width);
    assert!(LOSS.evaluate(&y, &table, width, case.labels()).aligned.is_empty());
    let outcome = Ctc { viterbi: true, ..LOSS }.evaluate(&y, &table, width, case.labels());
    assert_eq!(outcome.aligned.len(), case.slots.tokens());
    for sentence in 0..case.slots.len() {
        let slots = case.slots.range(sentence);
        let labels = &case.ids[case.rows.range(sentence)];
        let mut tokens = outcome.aligned[slots.clone()].to_vec();
        if slots_needed(labels) > slots.len() {
            assert_eq!(tokens, outcome.best[slots]);
            continue;
        }
        tokens.dedup();
        tokens.retain(|&token| token != LOSS.blank);
        assert_eq!(tokens, labels);
    }
}

/// With one slot and one label a sentence, CTC is cross-entropy.
#[test]
fn a_single_slot_is_cross_entropy() {
    use crate::cross_entropy::{CrossEntropy, Targets};
    let (count, width) = (300, 6);
    let (y, table) = (states(count * width), table(9 * width));
    let ids: Vec<u32> = (0..count).map(|i| (i * 5 % 7) as u32).collect();
    let case = Case::new(&ids.iter().map(|&id| (1, vec![id])).collect::<Vec<_>>());
    let ctc = Ctc { smoothing: 0.1, z_loss: 0.01, scale: 0.4, ..LOSS };
    let plain = CrossEntropy { scale: 0.4, smoothing: 0.1, z_loss: 0.01, draw: None::<Draw> };
    let (mut one, mut other) = (vec![0.0; table.len()], vec![0.0; table.len()]);
    let (ours, dy) = ctc.differentiate(&y, &table, width, case.labels(), Slot::fresh(&mut one));
    let targets = Targets { classes: &ids, weights: &[] };
    let (theirs, dy_theirs) =
        plain.differentiate(&y, &table, width, targets, Slot::fresh(&mut other));
    close(ours.loss, theirs.loss, 1e-9, "loss");
    assert_eq!(ours.best, theirs.best);
    for (found, wanted) in dy.iter().chain(&one).zip(dy_theirs.iter().chain(&other)) {
        close(f64::from(*found), f64::from(*wanted), 1e-5, "gradient");
    }
}

#[test]
fn nothing_comes_of_nothing() {
    let case = Case::new(&[]);
    let table = table(9 * 2);
    let mut dtable = vec![9.0; table.len()];
    let slot = Slot::fresh(&mut dtable);
    let (outcome, dy) = LOSS.differentiate(&[], &table, 2, case.labels(), slot);
    assert_eq!((outcome, dy), (Outcome::default(), Vec::new()));
    assert!(dtable.iter().all(|&d| d == 0.0));
}
