//! Stopping, loading again, and what operators see.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::house::{House, load, sentences};

#[test]
fn what_was_accepted_is_answered_before_the_end() {
    let house = House::with(|options| options.limits.shutdown = Duration::from_mins(5), load());
    let address = house.address;
    let body = json!({"q": sentences(20), "source": "en", "target": "de"}).to_string();
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let body = body.clone();
            std::thread::spawn(move || {
                let kind = [("Content-Type", "application/json")];
                crate::house::send(address, "POST", "/translate", &kind, body.as_bytes())
            })
        })
        .collect();
    // Those that are not accepted yet when the server stops are refused by the system, so all must be.
    let accepted = || {
        house.metric("padir_active_requests")
            + house.metric("padir_requests_total{route=\"/translate\",status=\"200\"}")
    };
    while accepted() < 8.0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    house.stop();
    for client in clients {
        let reply = client.join().unwrap();
        assert_eq!(reply.status, 200);
        assert_eq!(reply.value()["translatedText"].as_array().unwrap().len(), 20);
    }
    assert!(std::net::TcpStream::connect(address).is_err(), "nobody is there any more");
}

#[test]
fn models_are_loaded_again_and_no_request_is_lost() {
    let loads = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&loads);
    let inner = load();
    let house = House::with(
        |_| {},
        Box::new(move || {
            // The third time something is wrong with the files.
            if count.fetch_add(1, Ordering::SeqCst) == 2 {
                return Err("the disk is on fire".into());
            }
            inner()
        }),
    );
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let house = &house;
                scope.spawn(move || {
                    for round in 0..10 {
                        let text = format!("I have {client} cats and {round} dogs.");
                        let body = json!({"q": text, "source": "en", "target": "de"});
                        assert_eq!(house.json("/translate", &body).status, 200);
                    }
                })
            })
            .collect();
        for expected in 2..=4 {
            house.handle.reload();
            let started = Instant::now();
            while loads.load(Ordering::SeqCst) < expected {
                assert!(started.elapsed() < Duration::from_mins(1));
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        for client in clients {
            client.join().unwrap();
        }
    });
    let started = Instant::now();
    while house.metric("padir_model_loads_total") < 3.0 {
        assert!(started.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(5));
    }
    let log = house.log.lock().unwrap();
    let failed = log.iter().find(|record| record["event"] == "load-failed").unwrap();
    assert_eq!(failed["reason"], "the disk is on fire");
    assert!(log.iter().any(|record| record["event"] == "loaded"));
    let request = log.iter().find(|record| record["event"] == "request").unwrap();
    assert_eq!(
        (request["route"].as_str(), request["status"].as_u64()),
        (Some("/translate"), Some(200))
    );
}

#[test]
fn numbers_are_there() {
    let house = House::build();
    let body = json!({"q": "Good morning. Good night.", "source": "en", "target": "de"});
    assert_eq!(house.json("/translate", &body).status, 200);
    let metrics = house.get("/metrics");
    assert!(metrics.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    for name in [
        "padir_requests_total{route=\"/translate\",status=\"200\"} 1",
        "padir_request_seconds_bucket{le=\"",
        "padir_sentences_total 2",
        "padir_queue_sentences 0",
        "padir_steps_count 2",
        "padir_batch_seconds_count",
        "padir_model_loads_total 1",
    ] {
        assert!(metrics.body.contains(name), "{name}\n{}", metrics.body);
    }
}
