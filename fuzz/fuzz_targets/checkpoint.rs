//! Any bytes as a checkpoint: a length, then that much of config.json, then model.safetensors. What opens can be read without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use padir_checkpoint::{Checkpoint, GenerationConfig, ModelConfig, TensorFile};

fuzz_target!(|bytes: &[u8]| {
    let Some((length, rest)) = bytes.split_first_chunk::<2>() else { return };
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (config, tensors) = rest.split_at(length);
    if let Ok(text) = str::from_utf8(config) {
        let _ = GenerationConfig::from_json(text);
        if let Ok(config) = ModelConfig::from_json(text) {
            assert_eq!(ModelConfig::from_json(&config.to_json()).as_ref(), Ok(&config));
        }
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join("config.json"), config).expect("room");
    std::fs::write(directory.path().join("model.safetensors"), tensors).expect("room");
    if let Ok(file) = TensorFile::open(directory.path().join("model.safetensors")) {
        for tensor in file.tensors() {
            let _ = file.read(tensor.name);
        }
    }
    if let Ok(checkpoint) = Checkpoint::open(directory.path()) {
        let _ = checkpoint.verify();
    }
});
