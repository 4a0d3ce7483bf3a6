//! Checkpoints as their users meet them: written, opened, damaged, replaced.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use padir_base::random::Seed;
use padir_checkpoint::{
    Checkpoint, CheckpointError, CheckpointWriter, DecoderKind, Extras, GenerationConfig,
    ModelConfig, Preset, TensorFault, TensorFile, TensorWriter, save,
};

type Weights = HashMap<String, Vec<f32>>;
type Spoil = fn(&mut Weights, &str);

fn tiny(kind: DecoderKind) -> ModelConfig {
    let mut config = ModelConfig::preset(Preset::Tiny, 60, kind);
    (config.d_model, config.d_ff, config.num_heads, config.d_kv) = (16, 24, 2, 4);
    config
}

fn weights_of(config: &ModelConfig) -> Weights {
    config.initial(Seed(1)).collect()
}

fn save_weights(
    place: &Path,
    config: &ModelConfig,
    weights: &Weights,
) -> Result<(), CheckpointError> {
    save(place, config, |p| weights.get(&p.name).map(Into::into), &Extras::default())
}

/// A directory with a checkpoint in it.
struct Saved {
    _root: tempfile::TempDir,
    place: PathBuf,
    config: ModelConfig,
    weights: Weights,
}

impl Saved {
    fn new(kind: DecoderKind) -> Self {
        let root = tempfile::tempdir().unwrap();
        let (place, config) = (root.path().join("model"), tiny(kind));
        let weights = weights_of(&config);
        save_weights(&place, &config, &weights).unwrap();
        Self { _root: root, place, config, weights }
    }

    /// Writes the tensors again, after changing their list.
    fn rewrite(&self, change: impl FnOnce(&mut Vec<(String, Vec<usize>, Vec<f32>)>)) {
        let mut tensors: Vec<_> = (self.config.parameters().into_iter())
            .map(|p| (p.name.clone(), p.shape, self.weights[&p.name].clone()))
            .collect();
        change(&mut tensors);
        let plan = tensors.iter().map(|(name, shape, _)| (name.clone(), shape.clone()));
        let path = self.place.join("model.safetensors");
        let mut writer = TensorWriter::create(path, plan, &[]).unwrap();
        for (_, _, numbers) in &tensors {
            writer.push(numbers).unwrap();
        }
        writer.finish().unwrap();
    }

    fn assert_intact(&self) {
        let checkpoint = Checkpoint::open(&self.place).unwrap();
        assert_eq!(checkpoint.config(), &self.config);
        for (name, numbers) in &self.weights {
            assert_eq!(*checkpoint.tensor(name).unwrap(), numbers[..], "{name}");
        }
        let litter = fs::read_dir(self.place.parent().unwrap()).unwrap().count();
        assert_eq!(litter, 1, "something is left beside the checkpoint");
    }
}

#[test]
fn what_is_saved_is_opened() {
    for kind in [DecoderKind::Causal, DecoderKind::Parallel] {
        let saved = Saved::new(kind);
        saved.assert_intact();
        let checkpoint = Checkpoint::open(&saved.place).unwrap();
        checkpoint.verify().unwrap();
        assert_eq!(checkpoint.generation().keys()["pad_token_id"], 0);
        assert_eq!(checkpoint.file("tokenizer.json", 100).unwrap(), None);
        assert!(checkpoint.tensor("no.such.weight").is_err());
    }
}

#[test]
fn companions_travel_with_the_model() {
    let root = tempfile::tempdir().unwrap();
    let config = tiny(DecoderKind::Parallel);
    let generation = GenerationConfig::from_json(r#"{"max_length": 33}"#).unwrap();
    let extras = Extras {
        generation: Some(generation),
        tokenizer: Some(b"{}"),
        sentencepiece: Some(b"model"),
        ..Extras::default()
    };
    let place = root.path().join("m");
    let writer = CheckpointWriter::create(&place, &config, &extras).unwrap();
    let weights = weights_of(&config);
    writer.tensors(|p| weights.get(&p.name).map(Into::into)).unwrap();
    fs::write(writer.path().join("optimiser.bin"), b"state").unwrap();
    writer.commit().unwrap();
    let checkpoint = Checkpoint::open(&place).unwrap();
    assert_eq!(checkpoint.generation().keys()["max_length"], 33);
    let file = |name| checkpoint.file(name, 5).unwrap().unwrap();
    assert_eq!(file("tokenizer.json"), b"{}");
    assert_eq!(file("spiece.model"), b"model");
    assert_eq!(file("optimiser.bin"), b"state");
    let error = checkpoint.file("optimiser.bin", 4).unwrap_err().to_string();
    assert!(error.ends_with("is 5 bytes long; at most 4 are read"), "{error}");
    assert!(fs::read_to_string(place.join("README.md")).unwrap().contains("# A translation model"));
}

/// Written by `reference/model/t5_logits.py` with Hugging Face transformers.
#[test]
fn a_checkpoint_of_transformers_is_opened() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/model/t5_tiny");
    let checkpoint = Checkpoint::open(place).unwrap();
    checkpoint.verify().unwrap();
    let config = checkpoint.config();
    assert_eq!(config.decoder_kind(), DecoderKind::Causal);
    assert_eq!((config.d_model, config.num_heads, config.relative_bias.num_buckets), (32, 3, 8));
    let norm = checkpoint.tensor("decoder.final_layer_norm.weight").unwrap();
    assert!(norm.len() == 32 && norm.iter().all(|x| (x - 1.0).abs() < 1.0));
}

#[test]
fn repetitions_of_the_table_are_accepted() {
    let saved = Saved::new(DecoderKind::Causal);
    saved.rewrite(|tensors| {
        let (_, shape, table) = tensors[0].clone();
        for name in ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"]
        {
            tensors.push((name.to_owned(), shape.clone(), table.clone()));
        }
    });
    saved.assert_intact();
    saved.rewrite(|tensors| {
        tensors.push(("lm_head.weight".to_owned(), vec![1, 16], vec![0.0; 16]));
    });
    let error = Checkpoint::open(&saved.place).unwrap_err().to_string();
    assert!(error.contains("tensor \"lm_head.weight\" has the shape [1, 16]"), "{error}");
}

#[test]
fn tensors_of_another_model_are_refused() {
    let saved = Saved::new(DecoderKind::Parallel);
    let refusal = || {
        let error = Checkpoint::open(&saved.place).expect_err("refused");
        assert!(!error.hint().is_empty());
        error.to_string()
    };
    saved.rewrite(|tensors| drop(tensors.drain(3..9)));
    assert!(
        refusal().contains("lacks the tensors \"encoder.block.0.layer.0.SelfAttention.v.weight\"")
    );
    assert!(refusal().ends_with("and 3 more"), "{}", refusal());
    saved.rewrite(|tensors| tensors.push(("adapter.weight".into(), vec![1], vec![0.0])));
    assert!(refusal().ends_with("holds, foreign to this model, the tensor \"adapter.weight\""));
    saved.rewrite(|tensors| tensors[1].1.reverse());
    assert!(refusal().ends_with("has the shape [16, 8]; by config.json it is [8, 16]"));
}

#[test]
fn a_directory_without_a_model_says_what_it_lacks() {
    let saved = Saved::new(DecoderKind::Causal);
    let refusal = || Checkpoint::open(&saved.place).expect_err("refused").to_string();
    fs::remove_file(saved.place.join("model.safetensors")).unwrap();
    assert!(refusal().ends_with("holds no model.safetensors"), "{}", refusal());
    fs::write(saved.place.join("pytorch_model.bin"), b"PK").unwrap();
    assert!(refusal().contains("but a PyTorch archive"), "{}", refusal());
    fs::write(saved.place.join("config.json"), b"{\"d_model\": 8}").unwrap();
    assert!(refusal().ends_with("config.json: `model_type` is missing"), "{}", refusal());
    fs::remove_file(saved.place.join("config.json")).unwrap();
    assert!(refusal().ends_with("holds no config.json"), "{}", refusal());
    let error = Checkpoint::open("/no/such/model").unwrap_err().to_string();
    assert_eq!(error, "cannot read /no/such/model/config.json");
}

#[test]
fn a_failed_save_leaves_the_old_checkpoint_intact() {
    let saved = Saved::new(DecoderKind::Causal);
    let name = "decoder.final_layer_norm.weight";
    let cases: [(&str, Spoil); 4] = [
        ("NaN", |w, name| w.get_mut(name).unwrap()[3] = f32::NAN),
        ("infinity", |w, name| w.get_mut(name).unwrap()[0] = f32::INFINITY),
        ("missing", |w, name| drop(w.remove(name))),
        ("short", |w, name| w.get_mut(name).unwrap().truncate(15)),
    ];
    for (case, spoil) in cases {
        let mut weights = saved.weights.clone();
        weights.values_mut().flatten().for_each(|x| *x += 1.0);
        spoil(&mut weights, name);
        let error = save_weights(&saved.place, &saved.config, &weights).expect_err(case);
        assert!(error.to_string().contains(name), "{case}: {error}");
        saved.assert_intact();
    }
    let mut impossible = saved.config.clone();
    impossible.d_kv = 0;
    let error = save_weights(&saved.place, &impossible, &saved.weights).unwrap_err();
    assert!(error.to_string().contains("`d_kv` is 0"), "{error}");
    let writer = CheckpointWriter::create(&saved.place, &saved.config, &Extras::default()).unwrap();
    assert!(writer.commit().is_err(), "there are no weights in it");
    saved.assert_intact();
}

/// The device that is always full stands where the weights would go.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_checkpoint_intact() {
    let saved = Saved::new(DecoderKind::Causal);
    let writer = CheckpointWriter::create(&saved.place, &saved.config, &Extras::default()).unwrap();
    std::os::unix::fs::symlink("/dev/full", writer.path().join("model.safetensors")).unwrap();
    let error = writer.tensors(|p| saved.weights.get(&p.name).map(Into::into)).unwrap_err();
    let CheckpointError::Tensors(error) = error else { panic!("{error}") };
    let TensorFault::Write(cause) = &error.fault else { panic!("{error}") };
    assert_eq!(cause.kind(), std::io::ErrorKind::StorageFull);
    drop(writer);
    saved.assert_intact();
}

#[test]
fn a_directory_that_is_no_checkpoint_is_not_replaced() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("thesis.tex"), "precious").unwrap();
    let config = tiny(DecoderKind::Causal);
    let error = save_weights(root.path(), &config, &weights_of(&config)).unwrap_err();
    assert!(error.hint().contains("that does not exist yet"));
    assert_eq!(fs::read_to_string(root.path().join("thesis.tex")).unwrap(), "precious");
}

#[test]
fn a_crash_between_the_renames_loses_nothing() {
    let saved = Saved::new(DecoderKind::Parallel);
    let parent = saved.place.parent().unwrap();
    fs::rename(&saved.place, parent.join(".model.old")).unwrap();
    fs::create_dir(parent.join(".model.part")).unwrap();
    Checkpoint::open(&saved.place).unwrap().verify().unwrap();
    save_weights(&saved.place, &saved.config, &saved.weights).unwrap();
    saved.assert_intact();
}

/// Readers see one checkpoint or the other, never a shape from here and weights from there.
#[test]
fn readers_never_see_a_mixture() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("m");
    let small = tiny(DecoderKind::Causal);
    let mut large = tiny(DecoderKind::Parallel);
    large.num_layers = 3;
    let save_one = |config: &ModelConfig| {
        let value = config.num_layers as f32;
        save(&place, config, |p| Some(Cow::Owned(vec![value; p.len()])), &Extras::default())
            .unwrap();
    };
    save_one(&small);
    let done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = HashMap::new();
            while !done.load(Ordering::Relaxed) {
                let checkpoint = Checkpoint::open(&place).unwrap();
                let layers = checkpoint.config().num_layers;
                assert_eq!(
                    *checkpoint.tensor("shared.weight").unwrap(),
                    vec![layers as f32; 60 * 16]
                );
                checkpoint.verify().unwrap();
                *seen.entry(layers).or_insert(0) += 1;
            }
            seen
        });
        for _ in 0..20 {
            save_one(&large);
            save_one(&small);
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert!(seen.values().sum::<usize>() > 0, "{seen:?}");
}

#[test]
fn a_map_outlives_its_replacement() {
    let saved = Saved::new(DecoderKind::Causal);
    let checkpoint = Checkpoint::open(&saved.place).unwrap();
    let zeros = |p: &padir_checkpoint::Parameter| Some(Cow::Owned(vec![0.0; p.len()]));
    save(&saved.place, &saved.config, zeros, &Extras::default()).unwrap();
    for (name, numbers) in &saved.weights {
        assert_eq!(*checkpoint.tensor(name).unwrap(), numbers[..], "{name}");
    }
    let file = TensorFile::open(saved.place.join("model.safetensors")).unwrap();
    assert!(file.read("shared.weight").unwrap().iter().all(|&x| x == 0.0));
}
