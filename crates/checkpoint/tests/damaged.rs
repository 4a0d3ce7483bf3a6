//! Files cut short or with flipped bits: an error or the same tensors, never a panic, and never
//! more memory than the file itself would fill.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use padir_base::random::Seed;
use padir_checkpoint::{Checkpoint, DecoderKind, Extras, ModelConfig, Preset, TensorFile, save};
use proptest::prelude::*;

/// A small valid checkpoint.
struct Valid {
    _root: tempfile::TempDir,
    place: PathBuf,
    bytes: Vec<u8>,
    tensors: BTreeMap<String, Vec<f32>>,
}

static VALID: LazyLock<Valid> = LazyLock::new(|| {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("m");
    let mut config = ModelConfig::preset(Preset::Tiny, 10, DecoderKind::Parallel);
    (config.d_model, config.d_ff, config.num_heads, config.d_kv) = (2, 3, 1, 2);
    (config.num_layers, config.num_decoder_layers) = (1, 1);
    let tensors: BTreeMap<_, _> = config.initial(Seed(1)).collect();
    save(&place, &config, |p| tensors.get(&p.name).map(Into::into), &Extras::default()).unwrap();
    let bytes = std::fs::read(place.join("model.safetensors")).unwrap();
    Valid { _root: root, place, bytes, tensors }
});

/// All parameters of the checkpoint with other bytes for its tensors.
fn open_with(bytes: &[u8]) -> Result<BTreeMap<String, Vec<f32>>, String> {
    let root = tempfile::tempdir().unwrap();
    std::fs::copy(VALID.place.join("config.json"), root.path().join("config.json")).unwrap();
    std::fs::write(root.path().join("model.safetensors"), bytes).unwrap();
    let checkpoint = Checkpoint::open(root.path()).map_err(|error| error.to_string())?;
    let parameters = checkpoint.config().parameters();
    let read = |name: &str| checkpoint.tensor(name).map(std::borrow::Cow::into_owned);
    (parameters.iter())
        .map(|p| read(&p.name).map(|numbers| (p.name.clone(), numbers)))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}

/// What a file of tensors makes us keep is no larger than the file.
fn open_alone(bytes: &[u8]) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("m.safetensors");
    std::fs::write(&path, bytes).unwrap();
    let Ok(file) = TensorFile::open(&path) else { return };
    let mut kept = 0;
    for info in file.tensors() {
        kept += info.name.len() + info.shape.len();
        if let Ok(numbers) = file.read(info.name) {
            assert_eq!(numbers.len(), info.shape.iter().product::<usize>());
            kept += info.dtype.bytes() * numbers.len();
        }
    }
    assert!(kept <= bytes.len(), "{kept} bytes out of {}", bytes.len());
}

#[test]
fn the_undamaged_file_is_read() {
    assert_eq!(open_with(&VALID.bytes).as_ref(), Ok(&VALID.tensors));
}

#[test]
fn a_damaged_name_of_the_checksums_is_an_error() {
    let mut damaged = VALID.bytes.clone();
    let key = damaged.windows(5).position(|window| window == b"xxh64").unwrap();
    damaged[key] = b'y';
    *damaged.last_mut().unwrap() ^= 1;
    assert!(open_with(&damaged).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_truncated_file_is_an_error(length in any::<prop::sample::Index>()) {
        let bytes = &VALID.bytes;
        prop_assert!(open_with(&bytes[..length.index(bytes.len())]).is_err());
    }

    #[test]
    fn flipped_bits_give_an_error_or_the_same_tensors(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..6),
    ) {
        let mut damaged = VALID.bytes.clone();
        for (place, mask) in flips {
            *place.get_mut(&mut damaged) ^= mask;
        }
        if let Ok(found) = open_with(&damaged) {
            prop_assert_eq!(&found, &VALID.tensors);
        }
        open_alone(&damaged);
    }

    #[test]
    fn any_header_is_read_or_refused(
        entries in prop::collection::vec(
            "\"[a-c]\":\\{\"dtype\":\"(F32|F16|BF16|I8)\",\"shape\":\\[([0-9]{1,20}(,[0-9]{1,20})?)?\\],\"data_offsets\":\\[[0-9]{1,20},[0-9]{1,20}\\]\\}",
            0..3,
        ),
        data in 0_usize..64,
    ) {
        let json = format!("{{{}}}", entries.join(","));
        let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
        bytes.extend(json.as_bytes());
        bytes.resize(bytes.len() + data, 0);
        open_alone(&bytes);
    }

    #[test]
    fn noise_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(open_with(&bytes).is_err());
    }
}
