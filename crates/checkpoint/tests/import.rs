//! Files of other programs that are damaged, hostile, or of networks that cannot be represented.
//!
//! The sound ones are those of `reference/import/tiny.py`.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::{Path, PathBuf};

use padir_checkpoint::import::{Binary, Foreign, PyTorchFile};

fn tiny(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/import/tiny").join(name)
}

/// A copy of a directory.
fn copy(name: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(tiny(name)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), place.path().join(entry.file_name())).unwrap();
    }
    place
}

fn refusal(place: &Path) -> String {
    match Foreign::open(place) {
        Err(error) => error.to_string(),
        Ok(foreign) => {
            let parameters = foreign.config.parameters();
            let read = parameters.iter().try_for_each(|p| foreign.tensor(p).map(drop));
            read.expect_err("it is sound").to_string()
        }
    }
}

/// A `model.bin` of version 6 with these variables: name, shape, type, bytes.
fn binary(variables: &[(&str, &[u32], u8, &[u8])]) -> Vec<u8> {
    let name = |text: &str| {
        let mut bytes = (text.len() as u16 + 1).to_le_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes.push(0);
        bytes
    };
    let mut bytes = 6_u32.to_le_bytes().to_vec();
    bytes.extend(name("TransformerSpec"));
    bytes.extend(7_u32.to_le_bytes());
    bytes.extend((variables.len() as u32).to_le_bytes());
    for (text, shape, kind, data) in variables {
        bytes.extend(name(text));
        bytes.push(shape.len() as u8);
        bytes.extend(shape.iter().flat_map(|n| n.to_le_bytes()));
        bytes.push(*kind);
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(*data);
    }
    bytes.extend(0_u32.to_le_bytes());
    bytes
}

fn parse(bytes: Vec<u8>) -> Result<Binary, String> {
    Binary::parse(Path::new("model.bin"), bytes).map_err(|error| error.to_string())
}

#[test]
fn sound_models_are_opened() {
    let names =
        ["shared/hf", "separate/hf", "shared/ct2-float32", "shared/ct2-int16", "shared/ct2-int8"];
    for name in names {
        let foreign = Foreign::open(tiny(name)).unwrap();
        for parameter in foreign.config.parameters() {
            assert_eq!(foreign.tensor(&parameter).unwrap().len(), parameter.len(), "{name}");
        }
    }
}

#[test]
fn numbers_are_divided_by_the_scales_of_their_rows() {
    let scales = [2.0_f32.to_le_bytes(), 4.0_f32.to_le_bytes()].concat();
    let one = 10.0_f32.to_le_bytes();
    let file = parse(binary(&[
        ("a", &[2, 2], 1, &[4, 0xfe, 4, 0xfc]),
        ("a_scale", &[2], 0, &scales),
        ("b", &[2], 2, &[20, 0, 0xec, 0xff]),
        ("b_scale", &[], 0, &one),
        ("c", &[1], 4, &[0, 0xc1]),
        ("d", &[1], 5, &[0x20, 0x40]),
        ("e", &[], 1, &[0xff]),
        ("f", &[1], 3, &[1, 0, 0, 0]),
        ("g", &[2], 1, &[1, 2]),
    ]))
    .unwrap();
    assert_eq!(*file.read("a").unwrap(), [2.0, -1.0, 1.0, -1.0]);
    assert_eq!(*file.read("b").unwrap(), [2.0, -2.0]);
    assert_eq!((&*file.read("c").unwrap(), &*file.read("d").unwrap()), (&[-2.5][..], &[2.5][..]));
    assert_eq!(
        (file.integer("e"), file.integer("f"), file.integer("g")),
        (Some(-1), Some(1), None)
    );
    let refused = |name: &str| file.read(name).unwrap_err().to_string();
    assert_eq!(
        refused("f"),
        "model.bin: \"f\" is of type int32; weights are read as float32, float16, bfloat16, int16 and int8"
    );
    assert_eq!(refused("g"), "model.bin: lacks \"g_scale\"");
    assert_eq!(refused("h"), "model.bin: lacks \"h\"");
}

#[test]
fn hostile_binaries_are_refused() {
    let nan = f32::NAN.to_le_bytes();
    let zero = [0; 4];
    let file =
        parse(binary(&[("a", &[1], 0, &nan), ("b", &[1], 1, &[1]), ("b_scale", &[1], 0, &zero)]));
    let file = file.unwrap();
    assert!(file.read("a").unwrap_err().to_string().contains("\"a\" holds NaN at index 0"));
    assert!(file.read("b").unwrap_err().to_string().contains("\"b\" holds inf at index 0"));
    let mut many = binary(&[]);
    many[26..30].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut tail = binary(&[]);
    tail.push(0);
    let cases = [
        ("nothing", Vec::new(), "the version of 4 bytes begins at byte 0, and only 0 bytes follow"),
        ("version 0", vec![0; 100], "is of binary version 0; versions 1 to 6 are read"),
        ("version 7", 7_u32.to_le_bytes().to_vec(), "is of binary version 7"),
        ("counts", many, "would hold 4294967295 variables"),
        ("surplus", tail, "1 bytes follow its end"),
        ("rank", binary(&[("a", &[1; 9], 0, &[0; 4])]), "\"a\" has 9 dimensions"),
        ("size", binary(&[("a", &[2], 0, &[0; 4])]), "\"a\" of shape [2] cannot take 4 bytes"),
        ("overflow", binary(&[("a", &[u32::MAX; 4], 0, &[])]), "cannot take 0 bytes"),
        (
            "type",
            binary(&[("a", &[1], 9, &[0; 4])]),
            "\"a\" is of type 9; numbers 0 to 5 are known",
        ),
        ("twice", binary(&[("a", &[], 1, &[0]), ("a", &[], 1, &[0])]), "\"a\" occurs twice"),
    ];
    for (name, bytes, expected) in cases {
        let error = parse(bytes).expect_err(name);
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn truncated_and_flipped_binaries_never_panic() {
    let whole = fs::read(tiny("shared/ct2-int8/model.bin")).unwrap();
    for end in (0..whole.len()).step_by(97).chain(0..200) {
        assert!(parse(whole[..end].to_vec()).is_err(), "{end}");
    }
    let place = copy("shared/ct2-int8");
    for at in (0..2000).chain((2000..whole.len()).step_by(211)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        let Ok(file) = parse(bytes.clone()) else { continue };
        for name in file.names() {
            let _ = file.read(name);
        }
        if at.is_multiple_of(50) {
            fs::write(place.path().join("model.bin"), &bytes).unwrap();
            if let Ok(foreign) = Foreign::open(place.path()) {
                foreign.config.parameters().iter().for_each(|p| drop(foreign.tensor(p)));
            }
        }
    }
}

/// Changes the byte of a switch in a `model.bin`.
fn switch(place: &Path, name: &str, value: u8) {
    let path = place.join("model.bin");
    let mut bytes = fs::read(&path).unwrap();
    let text = [name.as_bytes(), &[0]].concat();
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    // The name, rank 0, type, and the size of one byte.
    let at = at + text.len() + 6;
    bytes[at] = value;
    fs::write(path, bytes).unwrap();
}

#[test]
fn networks_that_cannot_be_represented_are_refused_by_name() {
    let switches = [
        ("encoder/pre_norm", 1, "cannot be represented: encoder/pre_norm"),
        ("decoder/alibi", 1, "cannot be represented: decoder/alibi"),
        (
            "encoder/multi_query_attention",
            1,
            "cannot be represented: encoder/multi_query_attention",
        ),
        ("decoder/activation", 5, "decoder/activation: number 5"),
        ("encoder/activation", 0, "activations that differ"),
    ];
    for (name, value, expected) in switches {
        let place = copy("shared/ct2-int8");
        switch(place.path(), name, value);
        let error = refusal(place.path());
        assert!(error.contains(expected), "{name}: {error}");
    }
    let texts = [
        ("config.json", r#"{"add_source_bos": true}"#, "add_source_bos"),
        ("config.json", r#"{"layer_norm_epsilon": 0.1}"#, "layer_norm_epsilon 0.1"),
        ("config.json", r#"{"unk_token": "@"}"#, "\"@\" is not in it"),
        ("config.json", "{", "is damaged: EOF"),
        ("shared_vocabulary.json", "{}", "is not a vocabulary"),
        (
            "shared_vocabulary.json",
            r#"["</s>", "<unk>"]"#,
            "\"decoder/embeddings/weight\" has the shape [72, 16]; it must be [2, 16]",
        ),
    ];
    for (file, text, expected) in texts {
        let place = copy("shared/ct2-int8");
        fs::write(place.path().join(file), text).unwrap();
        let error = refusal(place.path());
        assert!(error.contains(expected), "{file} {text}: {error}");
    }
    for (file, expected) in [
        ("shared_vocabulary.json", "holds no shared_vocabulary.json"),
        ("source.spm", "holds no sentencepiece.model, nor source.spm and target.spm"),
        ("model.bin", "holds no model of a known format"),
    ] {
        let place = copy("shared/ct2-int8");
        fs::remove_file(place.path().join(file)).unwrap();
        let error = refusal(place.path());
        assert!(error.contains(expected), "{file}: {error}");
    }
}

#[test]
fn marian_directories_are_checked() {
    let cases = [
        ("config.json", "{}", "`model_type` is missing"),
        (
            "vocab.json",
            r#"{"</s>": 3, "<unk>": 1}"#,
            "\"</s>\" has the id 3; by config.json it is 0",
        ),
        ("vocab.json", r#"{"</s>": 0}"#, "has no \"<unk>\""),
        ("vocab.json", "[]", "is not a vocabulary"),
        ("model.safetensors", "", "ends within its header"),
    ];
    for (file, text, expected) in cases {
        let place = copy("shared/hf");
        fs::write(place.path().join(file), text).unwrap();
        let error = refusal(place.path());
        assert!(error.contains(expected), "{file} {text}: {error}");
    }
    let place = copy("shared/hf");
    fs::copy(tiny("separate/hf/model.safetensors"), place.path().join("model.safetensors"))
        .unwrap();
    let error = refusal(place.path());
    assert!(error.contains("it must be"), "{error}");
    let place = copy("shared/hf");
    let config = fs::read_to_string(place.path().join("config.json")).unwrap();
    let config = config.replace("\"decoder_layers\": 1", "\"decoder_layers\": 2");
    fs::write(place.path().join("config.json"), config).unwrap();
    let error = refusal(place.path());
    assert!(error.contains("lacks \"model.decoder.layers.1."), "{error}");
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("tf_model.h5"), b"").unwrap();
    assert!(
        refusal(place.path()).ends_with("holds no model of a known format, but a TensorFlow model")
    );
    assert!(refusal(&place.path().join("nowhere")).contains("cannot be read"));
    assert!(refusal(&place.path().join("tf_model.h5")).contains("no model of a known format"));
}

#[test]
fn pytorch_files_of_both_kinds_hold_the_same() {
    let zip = PyTorchFile::open(tiny("shared/pytorch_model.bin")).unwrap();
    let legacy = PyTorchFile::open(tiny("shared/legacy.bin")).unwrap();
    assert!(zip.names().count() > 50);
    for name in zip.names() {
        assert_eq!(zip.shape(name), legacy.shape(name));
        assert_eq!(zip.read(name).unwrap(), legacy.read(name).unwrap(), "{name}");
    }
}

#[test]
fn damaged_pytorch_files_never_panic() {
    for name in ["shared/pytorch_model.bin", "shared/legacy.bin"] {
        let whole = fs::read(tiny(name)).unwrap();
        let parse = |bytes: Vec<u8>| PyTorchFile::parse(Path::new(name), bytes);
        for end in (0..whole.len()).step_by(977) {
            assert!(parse(whole[..end].to_vec()).is_err(), "{name} {end}");
        }
        for at in (0..whole.len()).step_by(61) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x11;
            if let Ok(file) = parse(bytes) {
                for tensor in file.names() {
                    let _ = file.read(tensor);
                }
            }
        }
    }
    // A pickle that would run a program.
    let place = copy("shared/hf");
    fs::remove_file(place.path().join("model.safetensors")).unwrap();
    let mut evil = fs::read(tiny("shared/legacy.bin")).unwrap();
    let at = evil.windows(12).position(|w| w == b"torch._utils").unwrap();
    evil[at..at + 12].copy_from_slice(b"os.path_____");
    fs::write(place.path().join("pytorch_model.bin"), evil).unwrap();
    let error = refusal(place.path());
    assert!(
        error.contains("asks for \"os.path_____._rebuild_tensor_v2\", which is no tensor"),
        "{error}"
    );
}
