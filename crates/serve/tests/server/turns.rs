//! Batches, turns and cancelling.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::house::{House, connect, head, load, sentences};

#[test]
fn one_sentence_does_not_wait_for_a_thousand() {
    let house = House::build();
    let body = json!({"q": sentences(1000), "source": "en", "target": "de"}).to_string();
    let kind = [("Content-Type", "application/json")];
    let head = head("POST", "/translate", &kind, body.len());
    let many = connect(house.address, &head, body.as_bytes());
    let started = Instant::now();
    while house.metric("padir_queue_sentences") < 900.0 {
        assert!(started.elapsed() < Duration::from_mins(1), "nothing waits");
        std::thread::sleep(Duration::from_millis(1));
    }
    // Also into the other language, for which there is another model.
    for (q, source, target, expected) in [
        ("Good morning.", "en", "de", "Guten Morgen."),
        ("Guten Morgen.", "de", "en", "Good morning."),
    ] {
        let before = house.metric("padir_sentences_total");
        let one = house.json("/translate", &json!({"q": q, "source": source, "target": target}));
        let between = house.metric("padir_sentences_total") - before;
        assert_eq!(one.value()["translatedText"], expected);
        // The batch that was being decoded, that of the one, and what came while its answer was read.
        assert!(between <= 200.0, "{between} sentences went first");
        assert!(house.metric("padir_queue_sentences") > 300.0, "the thousand are not done yet");
    }
    drop(many);
}

#[test]
fn settings_share_batches_and_change_nothing() {
    let house = House::build();
    let texts = sentences(24);
    let settings =
        [json!({}), json!({"steps": 2}), json!({"lengths": 3}), json!({"length_penalty": 1.0})];
    let body = |i: usize| json!({"q": texts[i], "source": "en", "target": "de", "settings": settings[i % 4], "tokens": true, "nbest": i % 3 + 1});
    let alone: Vec<_> = (0..24).map(|i| house.json("/v1/translate", &body(i)).value()).collect();
    let before = house.metric("padir_batch_sentences_count");
    let together: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..24)
            .map(|i| {
                let (house, body) = (&house, body(i));
                scope.spawn(move || house.json("/v1/translate", &body).value())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(alone, together);
    let batches = house.metric("padir_batch_sentences_count") - before;
    assert!(batches < 24.0, "{batches} batches for 24 requests");
}

#[test]
fn who_goes_away_is_not_waited_for() {
    let house = House::with(|options| options.limits.batch = 8, load());
    let body = json!({"q": sentences(2000), "source": "en", "target": "de"}).to_string();
    let kind = [("Content-Type", "application/json")];
    for path in ["/translate", "/v1/translate/stream"] {
        let before = house.metric("padir_sentences_total");
        let head = head("POST", path, &kind, body.len());
        let stream = connect(house.address, &head, body.as_bytes());
        let started = Instant::now();
        while house.metric("padir_queue_sentences") < 100.0 {
            assert!(started.elapsed() < Duration::from_mins(1), "{path}: nothing waits");
            std::thread::sleep(Duration::from_millis(2));
        }
        drop(stream);
        // Whoever comes next has the engine for itself.
        let one = house
            .json("/translate", &json!({"q": "Good morning.", "source": "en", "target": "de"}));
        assert_eq!(one.value()["translatedText"], "Guten Morgen.");
        while house.metric("padir_active_requests") > 0.0 {
            assert!(started.elapsed() < Duration::from_mins(1), "{path}: it goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
        let worked = house.metric("padir_sentences_total") - before;
        assert!(worked < 1900.0, "{path}: {worked} of 2000 sentences were translated for nobody");
    }
}
