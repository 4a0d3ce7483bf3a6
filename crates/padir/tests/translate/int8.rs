//! Models of int8 weights: what they say of themselves, and the way back.

use std::fs;

use serde_json::Value;

use crate::house::{House, SENTENCES, text};

fn run(house: &House, arguments: &[&str]) {
    let done = house.run_any(arguments, b"");
    assert!(done.status.success(), "{arguments:?}: {}", text(&done.stderr));
}

fn config(house: &House, model: &str) -> Value {
    let text = fs::read_to_string(house.path(model).join("config.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// transformers takes a quantisation of an unknown method for none, and loads nonsense; one without a method it refuses.
/// `reference/model/quantised.py` shows that it does.
#[test]
fn int8_weights_are_called_so_in_a_way_that_transformers_refuses() {
    let house = House::build();
    run(&house, &["quantize", "ar", "--output", "small"]);
    let small = config(&house, "small");
    assert_eq!(small["torch_dtype"], "int8", "{small}");
    let how = small["quantization_config"].as_object().unwrap();
    assert_eq!(how["bits"], 8, "{small}");
    assert!(!how.contains_key("quant_method"), "{small}");
    let whole = config(&house, "ar");
    assert!(whole.get("quantization_config").is_none(), "{whole}");
    assert_eq!(whole["torch_dtype"], "float32", "{whole}");
}

#[test]
fn int8_models_of_before_can_still_be_used() {
    let house = House::build();
    run(&house, &["quantize", "ar", "--output", "small"]);
    let translated = house.translate(&["--model", "small"], SENTENCES);
    let mut old = config(&house, "small");
    old.as_object_mut().unwrap().remove("quantization_config").unwrap();
    old["torch_dtype"] = "float32".into();
    fs::write(house.path("small/config.json"), old.to_string()).unwrap();
    assert_eq!(house.translate(&["--model", "small"], SENTENCES), translated);
    run(&house, &["dequantize", "small", "--output", "large"]);
    run(&house, &["quantize", "large", "--output", "again"]);
    assert!(config(&house, "again").get("quantization_config").is_some());
}

#[test]
fn there_and_back_changes_nothing() {
    let house = House::build();
    for model in ["ar", "padir"] {
        run(&house, &["quantize", model, "--output", "small", "--force"]);
        run(&house, &["dequantize", "small", "--output", "large", "--force"]);
        run(&house, &["quantize", "large", "--output", "again", "--force"]);
        for file in fs::read_dir(house.path("small")).unwrap() {
            let name = file.unwrap().file_name();
            let read = |place: &str| fs::read(house.path(place).join(&name)).unwrap();
            assert_eq!(read("small"), read("again"), "{model}: {}", name.display());
        }
        assert_eq!(config(&house, "large"), config(&house, model));
        let single = house.translate(&["--model", "small", "--f32"], SENTENCES);
        assert_eq!(house.translate(&["--model", "large"], SENTENCES), single, "{model}");
        let bytes =
            |place: &str| fs::metadata(house.path(place).join("model.safetensors")).unwrap().len();
        assert_eq!(bytes("large"), bytes(model));
    }
    let made = house.run_any(&["dequantize", "small", "--output", "new", "--json"], b"");
    let report: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert!(report["bytes"].as_u64() > report["bytes_before"].as_u64(), "{report}");
}

#[test]
fn what_cannot_be_dequantised_is_told() {
    let house = House::build();
    run(&house, &["quantize", "ar", "--output", "small"]);
    for (arguments, expected) in [
        (vec!["dequantize", "ar", "--output", "large"], "ar has no int8 weights"),
        (vec!["dequantize", "vocab", "--output", "large"], "config.json"),
        (vec!["dequantize", "small", "--output", "./small"], "is both read and written"),
        (vec!["dequantize", "small", "--output", "ar"], "ar exists"),
    ] {
        let failed = house.run_any(&arguments, b"");
        assert_eq!(failed.status.code(), Some(1), "{arguments:?}");
        assert!(text(&failed.stderr).contains(expected), "{}", text(&failed.stderr));
    }
    assert!(!house.path("large").exists());
}
