//! Limits and keys.

use std::io::Write;
use std::time::Duration;

use padir_serve::Keys;
use serde_json::json;

use crate::house::{House, connect, head, load, read, sentences};

/// `printf %s open-sesame | sha256sum`
const SESAME: &str = "d7ecdf25eaf3deba0f2628771dbdd22d4138ab6cf38f91ed02a2ca0dec7c8ab7";

fn one() -> serde_json::Value {
    json!({"q": "Good morning.", "source": "en", "target": "de"})
}

#[test]
fn what_is_too_large_is_answered_and_not_dropped() {
    let house = House::with(
        |options| {
            options.limits.body = 10_000;
            options.limits.characters = 500;
            options.limits.sentences = 5;
        },
        load(),
    );
    let long = json!({"q": "x".repeat(100_000), "source": "en", "target": "de"});
    let reply = house.json("/translate", &long);
    assert_eq!(
        (reply.status, reply.error()),
        (413, "the body has more than 10000 bytes".to_owned())
    );
    let wide = json!({"q": "x ".repeat(300), "source": "en", "target": "de"});
    let reply = house.json("/translate", &wide);
    assert_eq!(
        (reply.status, reply.error()),
        (413, "600 characters; at most 500 are translated".to_owned())
    );
    let many = json!({"q": vec!["Yes."; 6], "source": "en", "target": "de"});
    for path in ["/translate", "/v1/translate", "/v1/translate/stream"] {
        assert_eq!(house.json(path, &many).status, 413, "{path}");
    }
    assert_eq!(house.json("/translate", &one()).status, 200, "the next one is welcome");
}

#[test]
fn a_full_queue_says_when_to_come_back() {
    let house = House::with(|options| options.limits.queue = 10, load());
    let body = json!({"q": sentences(11), "source": "en", "target": "de"});
    let reply = house.json("/translate", &body);
    assert_eq!((reply.status, reply.error()), (503, "too many sentences wait".to_owned()));
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert_eq!(house.json("/translate", &one()).status, 200);
}

#[test]
fn too_many_requests_are_turned_away_and_slow_ones_end() {
    let house = House::with(
        |options| {
            options.limits.requests = 1;
            options.limits.time = Duration::from_secs(2);
        },
        load(),
    );
    let body = one().to_string();
    let kind = [("Content-Type", "application/json")];
    // It never sends its last byte.
    let mut slow = connect(
        house.address,
        &head("POST", "/translate", &kind, body.len()),
        &body.as_bytes()[..5],
    );
    slow.flush().unwrap();
    while house.metric("padir_active_requests") < 1.0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let busy = house.json("/translate", &one());
    assert_eq!((busy.status, busy.error()), (503, "too many requests at a time".to_owned()));
    assert_eq!(busy.header("retry-after"), Some("1"));
    assert_eq!(house.get("/health").status, 200, "the server lives");
    let reply = read(slow);
    assert_eq!((reply.status, reply.error()), (400, "the body did not arrive in time".to_owned()));
    assert_eq!(house.json("/translate", &one()).status, 200, "there is room again");
}

#[test]
fn time_is_up_at_some_point() {
    let house = House::with(|options| options.limits.time = Duration::from_millis(50), load());
    let body = json!({"q": sentences(2000), "source": "en", "target": "de"});
    let reply = house.json("/translate", &body);
    assert_eq!(reply.status, 503, "{}", reply.body);
    assert_eq!(reply.header("retry-after"), Some("5"));
}

#[test]
fn keys_and_rates() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.toml");
    let text = format!("[[key]]\nname = \"a\"\nsha256 = \"{SESAME}\"\nrequests_per_minute = 4\n");
    std::fs::write(&path, text).unwrap();
    let keys = Keys::read(&path).unwrap();
    let house = House::with(|options| options.keys = Some(keys), load());
    let with = |key: &str| {
        let mut body = one();
        body["api_key"] = json!(key);
        house.json("/translate", &body)
    };
    assert_eq!(house.json("/translate", &one()).status, 400, "a key is needed");
    let wrong = with("open-barley");
    assert_eq!((wrong.status, wrong.error()), (403, "Invalid API key".to_owned()));
    assert_eq!(with("open-sesame").status, 200);
    let body = one().to_string();
    let kind = ("Content-Type", "application/json");
    for header in [("Authorization", "Bearer open-sesame"), ("X-API-Key", "open-sesame")] {
        let reply = house.send("POST", "/v1/translate", &[kind, header], body.as_bytes());
        assert_eq!(reply.status, 200, "{header:?}: {}", reply.body);
    }
    assert_eq!(with("open-sesame").status, 200);
    let slow = with("open-sesame");
    assert_eq!(
        (slow.status, slow.error()),
        (429, "Slowdown: 4 requests a minute are allowed".to_owned())
    );
    let wait: u64 = slow.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=15).contains(&wait), "{wait}");
    assert_eq!(house.get("/frontend/settings").value()["keyRequired"], true);
    let log = house.log.lock().unwrap();
    let all = serde_json::to_string(&*log).unwrap();
    assert!(!all.contains("sesame") && !all.contains("morning") && !all.contains("127.0"), "{all}");
}
