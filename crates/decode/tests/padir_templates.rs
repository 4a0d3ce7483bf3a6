//! Refinement from a template: what is forced stays, whatever the settings, and the rest is refined around it.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod common;

use common::{Scripted, Table, ids, tokens};
use padir_base::TokenId;
use padir_decode::padir::{
    RemaskRule, Replacement, Sentence, Settings, StopRule, Symbols, Template, Wanted, refine_each,
    refine_from,
};
use padir_decode::{DecodeError, Event, MaskPredict, SettingsError};

fn symbols() -> Symbols {
    Symbols::new(3..9, Some(TokenId(9)))
}

fn sentence(context: usize) -> Sentence {
    Sentence { number: 4, context, lengths: vec![(4, -0.3), (6, -1.1)] }
}

/// Positions of `forced` hold their token.
fn template(all: &[u32], forced: &[usize]) -> Template {
    let mut template = Template::new();
    for (i, token) in tokens(all).into_iter().enumerate() {
        template.extend([token], forced.contains(&i));
    }
    template
}

fn many_settings() -> Vec<(&'static str, Settings)> {
    let default = Settings::default;
    vec![
        ("default", default()),
        ("as in the paper", default().exactly_as_in_the_paper()),
        ("never stops", Settings { steps: 7, stop: StopRule::Never, ..default() }),
        ("low precision first", Settings { steps: 5, low_precision_steps: 2, ..default() }),
        ("warm", Settings { temperature: 1.0, ..default() }),
        ("remask a share", Settings { remask: RemaskRule::Share { share: 0.9 }, ..default() }),
        ("the old token", Settings { replacement: Replacement::Previous, ..default() }),
        ("sums", Settings { replacement: Replacement::Accumulated, ..default() }),
        (
            "uncertain ones",
            Settings { wanted: Wanted::Uncertain { below: 0.0, neighbours: 3 }, ..default() },
        ),
        (
            "least confident",
            Settings { wanted: Wanted::LeastConfident { share: 1.0 }, ..default() },
        ),
        ("mask-predict", MaskPredict { steps: 4, ..MaskPredict::default() }.settings()),
        ("candidates", Settings { candidates: Some(4), ..default() }),
    ]
}

#[test]
fn forced_tokens_stay_under_all_settings() {
    // Also where a forced token stutters.
    for (start, forced) in [(&[5, 6, 7, 8, 4][..], &[1, 3][..]), (&[5, 5, 5, 6], &[0, 1])] {
        let template = template(start, forced);
        for (name, settings) in many_settings() {
            for seed in 0..20 {
                let mut model = Table::new(seed, 10, 2.0);
                let mut events: Vec<Event> = Vec::new();
                let lists = refine_from(
                    &mut model,
                    &[&settings],
                    &symbols(),
                    &[sentence(seed as usize)],
                    &[Some(&template)],
                    &mut events,
                )
                .unwrap();
                assert_eq!(lists[0].len(), 1, "{name}: one hypothesis");
                assert!(!events.is_empty(), "{name}");
                for event in &events {
                    for &i in forced {
                        assert_eq!(event.tokens[i].0, start[i], "{name}, step {}", event.step);
                        assert!(!event.rejected.contains(&i), "{name}");
                    }
                }
                let words: Vec<u32> = forced.iter().map(|&i| start[i]).collect();
                let mut rest = ids(&lists[0][0].tokens).into_iter();
                let in_order = words.iter().all(|word| rest.any(|token| token == *word));
                assert!(in_order, "{name}: {words:?} in {:?}", lists[0][0].tokens);
            }
        }
    }
}

#[test]
fn the_rest_is_refined_around_what_is_forced() {
    // Says 20 beside a 10 and 21 elsewhere.
    let script = |row: &padir_base::denoise::Row<'_>, i: usize| {
        let left = i.checked_sub(1).map(|i| row.tokens[i].0);
        let token = match left {
            _ if i + 1 == row.tokens.len() => 1,
            Some(10) => 20,
            _ => 21 + i as u32,
        };
        vec![(token, 0.9)]
    };
    let settings = Settings::default();
    let run = |template: &Template| {
        let mut model = Scripted::new(script);
        let templates = [Some(template)];
        let lists =
            refine_from(&mut model, &[&settings], &symbols(), &[sentence(0)], &templates, &mut ());
        (ids(&lists.unwrap()[0][0].tokens), model.calls)
    };
    let (free, _) = run(&template(&[30, 31, 32], &[]));
    assert_eq!(free, [21, 22, 23], "nothing is forced");
    let (fixed, calls) = run(&template(&[30, 10, 32], &[1]));
    assert_eq!(fixed, [21, 10, 20]);
    assert_eq!(calls[0].rows, [[30, 10, 32, 1]], "the first step reads the template");
    assert_eq!(calls[0].wanted, 3, "and predicts all but what is forced");
    let (all, calls) = run(&template(&[30, 31], &[0, 1]));
    assert_eq!((all.as_slice(), calls[0].wanted), (&[30, 31][..], 1), "only the end is left");
    let hidden = MaskPredict::default().settings();
    let mut model = Scripted::new(script);
    let everything = template(&[30, 31], &[0, 1]);
    let lists = refine_from(
        &mut model,
        &[&hidden],
        &symbols(),
        &[sentence(0)],
        &[Some(&everything)],
        &mut (),
    );
    assert_eq!(ids(&lists.unwrap()[0][0].tokens), [30, 31]);
    assert!(model.calls.is_empty(), "there is nothing to predict");
}

#[test]
fn others_of_the_batch_do_not_notice() {
    let settings = Settings::default();
    let sentences: Vec<Sentence> = (0..3).map(sentence).collect();
    let each = [&settings; 3];
    let plain =
        refine_each(&mut Table::new(4, 10, 2.0), &each, &symbols(), &sentences, &mut ()).unwrap();
    let template = template(&[5, 6, 7], &[1]);
    let templates = [None, Some(&template), None];
    let mixed = refine_from(
        &mut Table::new(4, 10, 2.0),
        &each,
        &symbols(),
        &sentences,
        &templates,
        &mut (),
    )
    .unwrap();
    assert_eq!((&mixed[0], &mixed[2]), (&plain[0], &plain[2]));
    assert_eq!(mixed[1].len(), 1);
    let long = self::template(&[5; 200], &[]);
    let refused = refine_from(
        &mut Table::new(4, 10, 2.0),
        &each,
        &symbols(),
        &sentences,
        &[None, Some(&long), None],
        &mut (),
    );
    let expected = SettingsError::Template { length: 201, longest: 128 };
    assert!(matches!(refused, Err(DecodeError::Settings(error)) if error == expected));
}
