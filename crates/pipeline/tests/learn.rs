//! Small networks learn small distributions, and their conditionals are compared with the truth.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use padir_base::mask::{Case, MaskLaw};
use padir_base::random::Seed;
use padir_lab::distribution::Distribution;
use padir_lab::graph::Shape;
use padir_lab::model::{Ising, Model};
use padir_pipeline::learn::figures::figures;
use padir_pipeline::learn::{LearnError, Objective, Outcome, Settings, Study, Trained};

fn chain(n: usize) -> Distribution {
    let shape = Shape::Chain { periodic: false };
    Model::Ising(Ising::uniform(n, &shape, 0.2, 0.8).unwrap()).enumerate().unwrap()
}

fn study(settings: Settings, laws: Vec<(String, MaskLaw)>, samples: Vec<usize>) -> Study {
    Study { settings, samples, laws, repeats: 1, steps: 30, start: 0 }
}

fn small() -> Settings {
    Settings { width: 16, heads: 2, steps: 600, rate: 1e-2, ..Settings::default() }
}

fn any_size() -> (String, MaskLaw) {
    ("any size".to_owned(), MaskLaw::UniformCount { least: 1, spare: 0 })
}

/// Of 3 spins on a line a network learns all conditionals to a few hundredths, so that its chain of unmasking comes near p. Filling all
/// hidden sites at once does not, whatever the network: that is the sampler's error.
#[test]
fn a_network_learns_conditionals() {
    let p = chain(3);
    let outcomes = study(small(), vec![any_size()], vec![4000]).run(&p, || ()).unwrap();
    let [outcome] = &outcomes[..] else { panic!("one network") };
    for error in &outcome.errors {
        assert!(error.mean < 0.06 && error.largest < 0.25, "{error:?}");
    }
    assert!(outcome.inconsistency < 0.01 && outcome.joint < 0.08, "{outcome:?}");
    let (one_by_one, at_once) = (outcome.unmasking.last(), outcome.parallel.last());
    let (one_by_one, at_once) = (one_by_one.unwrap(), at_once.unwrap());
    assert!(one_by_one.sampler < 1e-4 && one_by_one.total < 0.1, "{one_by_one:?}");
    assert!(at_once.sampler > 0.05, "{at_once:?}");
    // Neighbours are coupled, the ends are not.
    let couplings = outcome.couplings.as_ref().unwrap();
    assert!((couplings.at(0, 1) - 0.8).abs() < 0.2 && couplings.at(0, 2).abs() < 0.2);
    for i in 0..3 {
        let row: f64 = outcome.attention.row(i).iter().sum();
        assert!(row > 0.0 && row <= 1.0 + 1e-9, "{row}");
    }
}

/// The same seed learns the same; another does not. Any law will do as noise, and both objectives.
#[test]
fn training_is_reproducible_and_takes_any_law() {
    let p = chain(2);
    let settings = |objective, seed| Settings { objective, steps: 5, seed: Seed(seed), ..small() };
    let adaptive = MaskLaw::Adaptive {
        cases: vec![Case { when: p.space().tokens_of(3), then: MaskLaw::All }],
        otherwise: Box::new(MaskLaw::Exactly { k: 1 }),
    };
    for law in [MaskLaw::Rate { rate: 0.5 }, adaptive] {
        for objective in [Objective::Cmlm, Objective::Padir] {
            let run = |seed: u64| -> Vec<Outcome> {
                let laws = vec![("law".to_owned(), law.clone())];
                study(settings(objective, seed), laws, vec![20]).run(&p, || ()).unwrap()
            };
            let losses = [run(1), run(1), run(2)].map(|outcomes| outcomes[0].loss.to_bits());
            assert_eq!(losses[0], losses[1], "{law:?}, {objective:?}");
            assert_ne!(losses[0], losses[2], "{law:?}, {objective:?}");
        }
    }
}

#[test]
fn figures_hold_every_law_and_size() {
    let p = chain(2);
    let laws = vec![("k = 1".to_owned(), MaskLaw::Exactly { k: 1 }), any_size()];
    let study = study(Settings { steps: 3, ..small() }, laws, vec![10, 20]);
    let outcomes = study.run(&p, || ()).unwrap();
    assert_eq!(outcomes.len(), 4);
    let drawings = figures(&study, &outcomes, &[vec![0.0, 0.8], vec![0.8, 0.0]]);
    let names: Vec<&str> = drawings.iter().map(|drawing| drawing.name.as_str()).collect();
    assert_eq!(names, ["learn-conditionals", "learn-chains", "learn-couplings"]);
    // Laws × sizes × hidden sites, samplers × laws × steps, laws × ordered pairs.
    let rows: Vec<usize> = drawings.iter().map(|drawing| drawing.rows.len()).collect();
    assert_eq!(rows, [2 * 2 * 2, 2 * 2 * 31, 2 * 2]);
    for drawing in &drawings {
        assert!(drawing.rows.iter().all(|row| row.len() == drawing.columns.len()));
        assert!(drawing.rows.iter().flatten().all(|number| number.is_finite()));
        assert!(drawing.figure.draw().to_svg().contains("<svg"));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let p = chain(2);
    let learn = |samples: &[usize], law: MaskLaw, settings: &Settings| {
        Trained::new(p.space(), samples, &law, settings, || ()).map(drop).unwrap_err()
    };
    let one = MaskLaw::Exactly { k: 1 };
    assert!(matches!(learn(&[], one.clone(), &small()), LearnError::NoSamples));
    let error = learn(&[0], MaskLaw::Exactly { k: 3 }, &small());
    assert_eq!(error.to_string(), "k = 3 is not between 1 and N = 2");
    let error = learn(&[0], one, &Settings { width: 0, ..small() });
    assert!(error.to_string().contains("d_model"), "{error}");
}
