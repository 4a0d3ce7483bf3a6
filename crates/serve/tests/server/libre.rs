//! LibreTranslate's interface.

use serde_json::json;

use crate::house::{House, open};
use padir_translate::Text;

const TEXT: &str = "My brother has been learning to play the piano for two years.";
const GERMAN: &str = "Mein Bruder lernt schon seit zwei Jahren Klavier zu spielen.";

#[test]
fn texts_are_translated_however_they_are_sent() {
    let house = House::build();
    let one = json!({"q": TEXT, "source": "en", "target": "de"});
    let encoded = TEXT.replace(' ', "+");
    let query = format!("/translate?q={encoded}&source=en&target=de");
    let multipart = format!(
        "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n{TEXT}\r\n--x\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\nen\r\n--x\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nde\r\n--x--\r\n"
    );
    let kind = ("Content-Type", "multipart/form-data; boundary=x");
    let replies = [
        ("JSON", house.json("/translate", &one)),
        ("a form", house.form("/translate", &format!("q={encoded}&source=en&target=de"))),
        ("the query", house.send("POST", &query, &[], b"")),
        ("multipart", house.send("POST", "/translate", &[kind], multipart.as_bytes())),
    ];
    for (name, reply) in replies {
        assert_eq!(reply.status, 200, "{name}: {}", reply.body);
        assert_eq!(reply.value(), json!({"translatedText": GERMAN}), "{name}");
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{name}");
    }
}

#[test]
fn answers_have_the_form_that_clients_expect() {
    let house = House::build();
    let ask = |body| house.json("/translate", &body).value();
    let list = ask(json!({"q": [TEXT, "", "😀 …"], "source": "en", "target": "de"}));
    assert_eq!(list, json!({"translatedText": [GERMAN, "", "😀 …"]}));
    let auto = ask(json!({"q": TEXT, "source": "auto", "target": "de", "alternatives": 2}));
    assert_eq!(auto["translatedText"], GERMAN);
    assert_eq!(auto["detectedLanguage"]["language"], "en");
    assert!(auto["detectedLanguage"]["confidence"].as_f64().unwrap() > 0.0);
    let others = auto["alternatives"].as_array().unwrap();
    assert!(!others.is_empty() && others.len() <= 2 && !others.contains(&json!(GERMAN)), "{auto}");
    let batch = ask(
        json!({"q": [TEXT, "Das ist schon deutsch, und so bleibt es."], "source": "auto", "target": "de", "alternatives": "1"}),
    );
    assert_eq!(batch["translatedText"][1], "Das ist schon deutsch, und so bleibt es.");
    assert_eq!(batch["detectedLanguage"][1]["language"], "de");
    assert_eq!(batch["alternatives"][1], json!([]));
    let page = "<div class=\"a\"><p>Good morning.</p><!-- no --><script>x = 1</script></div>";
    let html = ask(
        json!({"q": page, "source": "en", "target": "de", "format": "html", "alternatives": 3}),
    );
    assert_eq!(
        html,
        json!({"translatedText": page.replace("Good morning.", "Guten Morgen."), "alternatives": []})
    );
    let lines =
        ask(json!({"q": "Good morning.\n\n  Good morning.\n", "source": "en", "target": "de"}));
    assert_eq!(lines["translatedText"], "Guten Morgen.\n\n  Guten Morgen.\n");
    let back = ask(json!({"q": "Guten Morgen.", "source": "de", "target": "en"}));
    assert_eq!(back["translatedText"], "Good morning.");
}

#[test]
fn what_is_wrong_is_said_as_json() {
    let house = House::build();
    let en_de = |more: serde_json::Value| {
        let mut body = json!({"q": "x", "source": "en", "target": "de"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let cases = [
        (json!({"source": "en", "target": "de"}), "Invalid request: missing q parameter"),
        (json!({"q": "x", "target": "de"}), "Invalid request: missing source parameter"),
        (json!({"q": "x", "source": "en"}), "Invalid request: missing target parameter"),
        (en_de(json!({"q": 7})), "Invalid request: q must be a string or an array of strings"),
        (en_de(json!({"q": ["x", 7]})), "Invalid request: q must be a string or an array of"),
        (en_de(json!({"source": "xx"})), "xx is not supported"),
        (en_de(json!({"target": "en"})), "en is not available as a target language from en"),
        (en_de(json!({"format": "pdf"})), "Invalid request: format must be text or html"),
        (en_de(json!({"alternatives": -1})), "Invalid request: alternatives must be from 0"),
    ];
    for (body, expected) in cases {
        let reply = house.json("/translate", &body);
        assert_eq!(reply.status, 400, "{body}");
        assert!(reply.error().starts_with(expected), "{body}: {}", reply.body);
    }
    let kind = [("Content-Type", "application/json")];
    let broken = house.send("POST", "/translate", &kind, b"{\"q\"");
    assert!(broken.status == 400 && broken.error().starts_with("the body is not JSON"));
    let odd = house.send("POST", "/translate", &[("Content-Type", "image/png")], b"x");
    assert_eq!(odd.status, 415);
    assert_eq!(house.get("/nowhere").status, 404);
    assert_eq!(house.get("/nowhere").error(), "there is nothing at this address");
    let wrong = house.get("/translate");
    assert_eq!((wrong.status, wrong.error()), (405, "this address does not answer GET".to_owned()));
}

#[test]
fn everything_else_is_there() {
    let house = House::build();
    let languages = house.get("/languages").value();
    assert_eq!(languages[0], json!({"code": "en", "name": "English", "targets": ["de"]}));
    let detected = house.form("/detect", "q=Wo+ist+bitte+der+Bahnhof%3F").value();
    assert_eq!(detected[0]["language"], "de");
    let settings = house.get("/frontend/settings").value();
    assert_eq!(settings["language"]["target"], json!({"code": "de", "name": "German"}));
    assert_eq!(settings["keyRequired"], false);
    assert_eq!(settings["supportedFilesFormat"], json!([".txt", ".srt", ".html"]));
    assert_eq!(house.get("/health").value(), json!({"status": "ok"}));
    assert_eq!(house.get("/ready").status, 200);
    let spec = house.get("/spec").value();
    assert_eq!(spec["openapi"], "3.1.0");
    for path in ["/translate", "/v1/translate", "/v1/translate/stream", "/metrics"] {
        assert!(spec["paths"][path].is_object(), "{path}");
    }
    let preflight = house.send("OPTIONS", "/translate", &[], b"");
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-methods"), Some("GET, POST"));
}

#[test]
fn files_are_translated_and_fetched() {
    let house = House::build();
    let upload = |name: &str, content: &str| {
        let body = format!(
            "--x\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\nen\r\n--x\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nde\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{content}\r\n--x--\r\n"
        );
        let kind = [("Content-Type", "multipart/form-data; boundary=x")];
        house.send("POST", "/translate_file", &kind, body.as_bytes())
    };
    let cases = [
        ("a.txt", "Good morning.\n", "Guten Morgen.\n"),
        ("../../B.HTML", "<p>Good morning.</p>", "<p>Guten Morgen.</p>"),
        (
            "c.srt",
            "1\n00:00:01,000 --> 00:00:02,000\nGood morning.\n",
            "1\n00:00:01,000 --> 00:00:02,000\nGuten Morgen.\n",
        ),
    ];
    for (name, content, expected) in cases {
        let reply = upload(name, content);
        assert_eq!(reply.status, 200, "{name}: {}", reply.body);
        let url = reply.value()["translatedFileUrl"].as_str().unwrap().to_owned();
        let path = url.strip_prefix("http://here:1").unwrap();
        let file = house.get(path);
        assert_eq!((file.status, file.body.as_str()), (200, expected), "{name}");
        let attached = file.header("content-disposition").unwrap();
        assert!(attached.starts_with("attachment; filename=\"translated_de."), "{attached}");
    }
    assert_eq!(upload("a.pdf", "x").status, 400);
    let none = house.form("/translate_file", "source=en&target=de");
    assert_eq!(none.error(), "Invalid request: missing file parameter");
    assert_eq!(house.get("/download_file/../../etc/passwd").status, 404);
    assert_eq!(house.get("/download_file/0.txt").status, 404);
}

#[test]
fn the_server_says_what_the_library_says() {
    let house = House::build();
    let mut translator = open("en-de");
    let texts = [TEXT, "Where is the station? I do not know.", "Tom is 30 years old."];
    for text in texts {
        let alone = translator.translate(&[Text::new(0, text)], 1, &mut ()).unwrap();
        let served = house.json("/translate", &json!({"q": text, "source": "en", "target": "de"}));
        assert_eq!(served.value()["translatedText"], alone[0].text());
    }
}

#[test]
fn the_page_translates_without_a_script() {
    let house = House::build();
    let page = house.get("/");
    assert!(page.status == 200 && page.body.contains("<option value=\"en|de\">"), "{}", page.body);
    assert!(page.header("content-security-policy").unwrap().contains("script-src 'self'"));
    assert!(!page.body.contains("{{") && !page.body.contains("https://"), "nothing from elsewhere");
    let filled = house.form("/", "q=Good+morning.+%3Cb%3E&pair=en%7Cde");
    assert!(filled.body.contains("Guten Morgen"), "{}", filled.body);
    assert!(filled.body.contains("Good morning. &lt;b&gt;</textarea>"));
    assert!(filled.body.contains("<option value=\"en|de\" selected>"));
    let wrong = house.form("/", "q=x&pair=en%7Cxx");
    assert!(wrong.status == 400 && wrong.body.contains("xx is not supported"));
    for (path, kind) in
        [("/app.js", "text/javascript"), ("/style.css", "text/css"), ("/docs", "text/html")]
    {
        let asset = house.get(path);
        assert!(asset.status == 200 && asset.header("content-type").unwrap().starts_with(kind));
    }
}
