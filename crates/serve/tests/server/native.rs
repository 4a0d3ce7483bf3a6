//! Our own interface.

use serde_json::{Value, json};

use crate::house::{House, events};

const TEXT: &str = "My brother has been learning to play the piano for two years.";

#[test]
fn settings_scores_and_confidences() {
    let house = House::build();
    let body = json!({"q": TEXT, "source": "en", "target": "de", "nbest": 3, "tokens": true,
        "settings": {"steps": 2, "lengths": 4, "stop": {"rule": "never"}}});
    let reply = house.json("/v1/translate", &body);
    assert_eq!(reply.status, 200, "{}", reply.body);
    let text = &reply.value()["translations"][0];
    assert_eq!(text["model"], "tatoeba-en-de");
    let best = &text["sentences"][0]["nbest"];
    assert_eq!(best.as_array().unwrap().len(), 3);
    assert_eq!(best[0]["steps"], 2, "never stops early");
    assert_eq!(best[0]["text"], text["text"]);
    assert!(best[0]["score"].as_f64() >= best[1]["score"].as_f64());
    let tokens = best[0]["tokens"].as_array().unwrap();
    let pieces: String = tokens.iter().map(|token| token["piece"].as_str().unwrap()).collect();
    assert_eq!(pieces.replace('▁', " ").trim(), best[0]["text"].as_str().unwrap());
    let sure = |token: &Value| (0.0..=1.0).contains(&token["confidence"].as_f64().unwrap());
    assert!(tokens.iter().all(sure));
    let models = house.get("/v1/models").value();
    assert_eq!(models[0]["settings"]["method"], "refine");
    assert!(house.get("/v1/manual").body.contains("`steps`"));
}

#[test]
fn settings_are_checked_as_on_the_command_line() {
    let house = House::build();
    let cases = [
        (json!({"stepps": 3}), "refine has no setting `stepps`; is `steps` meant?"),
        (json!({"steps": 0}), "`steps` is 0; it must be from 1 to 10000"),
        (json!({"steps": 101}), "101 steps; this server takes at most 100"),
        (json!({"lengths": 1000}), "a search of this size takes 1000 times"),
        (json!({"method": "beam"}), "beam needs an autoregressive model; this is a parallel model"),
        (json!({"method": 7}), "there is no decoding method `7`"),
        (json!({"max_length": 60000}), "`max_length` is 60000; the model has 256 positions"),
    ];
    for (settings, expected) in cases {
        let body = json!({"q": "x", "source": "en", "target": "de", "settings": settings});
        let reply = house.json("/v1/translate", &body);
        assert_eq!(reply.status, 400, "{settings}");
        assert!(reply.error().starts_with(expected), "{settings}: {}", reply.body);
    }
    let cases = [
        (json!({"q": "x"}), "missing field `target`"),
        (json!({"q": "x", "target": "de", "nbset": 3}), "unknown field `nbset`"),
        (json!({"q": "x", "source": "en", "target": "de", "nbest": 0}), "`nbest` is 0"),
    ];
    for (body, expected) in cases {
        let reply = house.json("/v1/translate", &body);
        assert_eq!(reply.status, 400, "{body}");
        assert!(reply.error().starts_with(expected), "{}", reply.body);
    }
}

#[test]
fn a_stream_tells_of_every_step_and_then_the_result() {
    let house = House::build();
    let body = json!({"q": format!("{TEXT} Good morning."), "source": "en", "target": "de",
        "settings": {"steps": 3, "lengths": 2, "stop": {"rule": "never"}}});
    let reply = house.json("/v1/translate/stream", &body);
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    let all = events(&reply);
    assert_eq!(all[0].0, "start");
    assert_eq!(all[0].1["sentences"][1], json!({"text": 0, "source": "Good morning."}));
    let steps: Vec<&Value> =
        all.iter().filter(|(name, _)| name == "step").map(|(_, data)| data).collect();
    assert_eq!(steps.len(), 2 * 2 * 3, "sentences, lengths, steps");
    for step in &steps {
        let count = step["pieces"].as_array().unwrap().len();
        assert_eq!(step["confidences"].as_array().unwrap().len(), count);
        assert!(
            step["changed"].as_array().unwrap().iter().all(|i| i.as_u64() < Some(count as u64))
        );
        assert_eq!(step["max_steps"], 3);
    }
    let (name, result) = all.last().unwrap();
    assert_eq!(name, "result");
    let plain = house.json("/v1/translate", &body).value();
    assert_eq!(*result, plain, "a stream ends with the same answer");
    let wrong =
        house.json("/v1/translate/stream", &json!({"q": "x", "source": "en", "target": "xx"}));
    assert_eq!(wrong.status, 400);
    let empty = json!({"q": "", "source": "en", "target": "de"});
    let all = events(&house.json("/v1/translate/stream", &empty));
    assert_eq!(all.last().unwrap().1["translations"][0]["text"], "");
}

#[test]
fn forced_words_stay_at_every_step() {
    let house = House::build();
    let with = |text: &str, words: &[usize]| {
        json!({"q": TEXT, "source": "en", "target": "de", "tokens": true,
            "force": {"text": text, "words": words}})
    };
    let start = "Mein Bruder lernt schon seit zwei Jahren Geige zu spielen.";
    let free = house.json("/v1/translate", &with(start, &[])).value();
    let free = free["translations"][0]["text"].as_str().unwrap().to_owned();
    assert!(free.contains("Klavier"), "nothing is forced: {free}");
    let all = events(&house.json("/v1/translate/stream", &with(start, &[7])));
    let steps = all.iter().filter(|(name, _)| name == "step");
    for (_, step) in steps {
        let pieces: String =
            step["pieces"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(pieces.contains("▁Geige"), "{pieces}");
    }
    let text = all.last().unwrap().1["translations"][0]["text"].as_str().unwrap();
    assert_eq!(text, start);
    // A word that does not fit at all stays, too.
    let odd = house.json("/v1/translate", &with("Mein Zebra lernt Klavier.", &[1])).value();
    assert!(odd["translations"][0]["text"].as_str().unwrap().contains("Zebra"), "{odd}");
    let two = json!({"q": "One. Two.", "source": "en", "target": "de", "force": {"text": "Eins", "words": [0]}});
    let cases = [
        (with("Mein Bruder", &[2]), "`force.words` has 2; `force.text` has 2 words"),
        (with("", &[]), "the template has 1 positions"),
        (with("Mein 龘", &[1]), "the model cannot spell \"龘\""),
        (two, "`force` is for one sentence; there are 2"),
    ];
    for (body, expected) in cases {
        let reply = house.json("/v1/translate", &body);
        assert_eq!(reply.status, 400, "{}", reply.body);
        assert!(reply.error().starts_with(expected), "{}", reply.body);
    }
}

#[test]
fn a_forced_word_stays_whatever_the_sentence() {
    let house = House::build();
    let sources = [
        "The old man reads a book in the garden.",
        "We are going to the station tomorrow morning.",
        "Tom has two dogs and a cat.",
        "I would like a glass of water.",
        "She does not speak German.",
        "Where did you buy this green hat?",
    ];
    let ask = |body: &Value| {
        let reply = house.json("/v1/translate", body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.value()["translations"][0]["text"].as_str().unwrap().to_owned()
    };
    for source in sources {
        let plain = ask(&json!({"q": source, "source": "en", "target": "de"}));
        let count = plain.split_whitespace().count();
        for (word, other) in [(0, "Morgen"), (count / 2, "Elefanten"), (count - 1, "vielleicht")] {
            let mut words: Vec<&str> = plain.split_whitespace().collect();
            words[word] = other;
            let force = json!({"text": words.join(" "), "words": [word]});
            let text = ask(&json!({"q": source, "source": "en", "target": "de", "force": force}));
            assert!(text.contains(other), "{other} is not in {text:?}");
        }
    }
}
