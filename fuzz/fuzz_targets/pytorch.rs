//! Any bytes as a pickle and as a `pytorch_model.bin` of either kind. What opens can be read without a panic.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use padir_checkpoint::import::{Pickled, PyTorchFile};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(pickled) = Pickled::parse(bytes) {
        let _ = pickled.tensors();
    }
    if let Ok(file) = PyTorchFile::parse(Path::new("pytorch_model.bin"), bytes.to_vec()) {
        for name in file.names() {
            if let Ok(numbers) = file.read(name) {
                let shape = file.shape(name).expect("it was read");
                assert_eq!(numbers.len(), shape.iter().product::<usize>());
            }
        }
    }
});
