//! Where the files of a model lie: a directory, or an archive of one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use padir_base::hash::hash_bytes;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::binary::Binary;
use super::ctranslate2::{self, Settings, Tokens};
use super::error::{ImportError, ImportFault};
use super::marian::{self, Ids, Tensors};
use super::pytorch::PyTorchFile;
use super::zip::Archive;
use super::{Foreign, Format, Given, Origin, Pieces, Weights};
use crate::config::{Family, ModelConfig};
use crate::languages::{Language, Languages};
use crate::tensors::TensorFile;

/// The longest file of weights. Sizes in `model.bin` have 32 bits, and models for one pair of languages are far smaller.
const LONGEST_WEIGHTS: u64 = 1 << 34;
/// The longest vocabulary.
const LONGEST_VOCABULARY: u64 = 1 << 28;
/// The longest text.
const LONGEST_TEXT: u64 = 1 << 20;

const BINARY: &str = "model.bin";
const CONFIG: &str = "config.json";
const README: &str = "README.md";
const METADATA: &str = "metadata.json";
const SAFE: &str = "model.safetensors";
const PYTORCH: &str = "pytorch_model.bin";

/// The content of a file of weights.
pub(super) fn read_weights(path: &Path) -> Result<Vec<u8>, ImportError> {
    read_file(path, LONGEST_WEIGHTS)
}

fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, ImportError> {
    let failed = |error| ImportFault::Read(error).at(path);
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        let bytes = std::fs::metadata(path).map_or(limit + 1, |metadata| metadata.len());
        return Err(ImportFault::TooLong { bytes, limit }.at(path));
    }
    Ok(bytes)
}

/// Files below a place.
enum Files {
    Directory(PathBuf),
    /// Names begin with this.
    Archive(Archive, String),
}

impl Files {
    /// The whole name of a file, for messages.
    fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Directory(directory) => directory.join(name),
            Self::Archive(archive, prefix) => archive.path().join(format!("{prefix}{name}")),
        }
    }

    fn root(&self) -> &Path {
        match self {
            Self::Directory(directory) => directory,
            Self::Archive(archive, _) => archive.path(),
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::Directory(directory) => directory.join(name).is_file(),
            Self::Archive(archive, prefix) => {
                let name = format!("{prefix}{name}");
                archive.names().any(|other| other == name)
            }
        }
    }

    fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, ImportError> {
        match self {
            Self::Directory(directory) => {
                let path = directory.join(name);
                if path.is_file() { read_file(&path, limit).map(Some) } else { Ok(None) }
            }
            Self::Archive(archive, prefix) => {
                let content = archive.read(&format!("{prefix}{name}"), limit)?;
                Ok(content.map(std::borrow::Cow::into_owned))
            }
        }
    }

    fn text(&self, name: &str) -> Result<Option<String>, ImportError> {
        let bytes = self.read(name, LONGEST_TEXT)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// A JSON file; none if there is none.
    fn json<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<Option<T>, ImportError> {
        let Some(bytes) = self.read(name, LONGEST_TEXT)? else { return Ok(None) };
        let parsed = serde_json::from_slice(&bytes);
        parsed
            .map(Some)
            .map_err(|error| ImportFault::damaged(error.to_string()).at(&self.path(name)))
    }
}

/// Opens whatever stands there.
pub(super) fn open(path: &Path, given: &Given) -> Result<Foreign, ImportError> {
    if path.is_dir() {
        let files = Files::Directory(path.to_owned());
        if files.has(BINARY) {
            return ctranslate2_in(&files, "", given);
        }
        if files.has(&format!("model/{BINARY}")) {
            return ctranslate2_in(&files, "model/", given);
        }
        if files.has(CONFIG) && (files.has(SAFE) || files.has(PYTORCH)) {
            return marian_in(path, &files, given);
        }
        return Err(ImportFault::Unknown(other(path)).at(path));
    }
    let archive = Archive::parse_file(path)?;
    let Some(archive) = archive else { return Err(ImportFault::Unknown(None).at(path)) };
    let found = archive.names().find_map(|name| {
        let whole = name.strip_suffix(BINARY)?;
        whole.is_empty().then_some(whole).or_else(|| whole.strip_suffix('/').map(|_| whole))
    });
    let Some(place) = found.map(str::to_owned) else {
        return Err(ImportFault::Unknown(None).at(path));
    };
    match place.strip_suffix("model/") {
        Some(package) => {
            let package = package.to_owned();
            ctranslate2_in(&Files::Archive(archive, package), "model/", given)
        }
        None => ctranslate2_in(&Files::Archive(archive, place), "", given),
    }
}

/// What stands there instead.
fn other(directory: &Path) -> Option<&'static str> {
    let known = [
        ("model.safetensors.index.json", "a model split into several files"),
        ("pytorch_model.bin.index.json", "a model split into several files"),
        ("tf_model.h5", "a TensorFlow model"),
        ("flax_model.msgpack", "a Flax model"),
        (
            "model.npz",
            "a model of the Marian program itself; convert it with transformers or CTranslate2",
        ),
    ];
    known.into_iter().find(|(file, _)| directory.join(file).exists()).map(|(_, what)| what)
}

/// The metadata of an Argos package.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    from_code: Option<String>,
    to_code: Option<String>,
    from_name: Option<String>,
    to_name: Option<String>,
    target_prefix: Option<String>,
}

fn ctranslate2_in(files: &Files, model: &str, given: &Given) -> Result<Foreign, ImportError> {
    let name = |file: &str| format!("{model}{file}");
    let settings: Settings = files.json(&name(CONFIG))?.unwrap_or_default();
    let tokens = tokens(files, model)?;
    let (source_spm, target_spm) = sentencepieces(files, model, given)?;
    let missing = || ImportFault::Missing(BINARY).at(files.root());
    let bytes = files.read(&name(BINARY), LONGEST_WEIGHTS)?.ok_or_else(missing)?;
    let binary = Binary::parse(&files.path(&name(BINARY)), bytes)?;
    let (mut config, weights, tokens) = ctranslate2::convert(binary, &settings, tokens)?;
    let metadata: Option<Metadata> = files.json(METADATA)?;
    let argos = metadata.is_some() && !model.is_empty();
    let metadata = metadata.unwrap_or_default();
    if metadata.target_prefix.as_ref().is_some_and(|prefix| !prefix.is_empty()) {
        let what = "target_prefix: targets that begin with a given token".to_owned();
        return Err(ImportFault::Unsupported(what).at(&files.path(METADATA)));
    }
    config.languages = languages(metadata.from_code, metadata.to_code);
    let readme = files.text(README)?;
    let title =
        metadata.from_name.zip(metadata.to_name).map(|(from, to)| format!("{from} to {to}"));
    let origin = Origin {
        licence: readme.as_deref().and_then(licence_of),
        title,
        readme,
        weights_sha256: Some(hash_bytes(weights.binary().bytes())),
        num_beams: None,
    };
    let (vocab, target_vocab) = match &tokens.source {
        None => (&tokens.target, None),
        Some(source) => (source, Some(&tokens.target)),
    };
    let list = |tokens: &Vec<String>| ids_of(tokens).map_err(|fault| fault.at(files.root()));
    let pieces = Pieces {
        source_spm,
        target_spm,
        vocab: list(vocab)?,
        target_vocab: target_vocab.map(list).transpose()?,
    };
    let format = if argos { Format::Argos } else { Format::CTranslate2 };
    let weights = Weights::CTranslate2(Box::new(weights));
    Ok(Foreign { format, config, pieces, origin, weights })
}

/// The tokens of a CTranslate2 model.
fn tokens(files: &Files, model: &str) -> Result<Tokens, ImportError> {
    let find = |stem: &str| -> Result<Option<Vec<String>>, ImportError> {
        for extension in ["json", "txt"] {
            let name = format!("{model}{stem}_vocabulary.{extension}");
            if let Some(bytes) = files.read(&name, LONGEST_VOCABULARY)? {
                return ctranslate2::read_tokens(&files.path(&name), &bytes).map(Some);
            }
        }
        Ok(None)
    };
    if let Some(target) = find("shared")? {
        return Ok(Tokens { target, source: None });
    }
    match (find("source")?, find("target")?) {
        (Some(source), Some(target)) => Ok(Tokens { target, source: Some(source) }),
        _ => Err(ImportFault::Missing("shared_vocabulary.json").at(files.root())),
    }
}

/// The contents of two SentencePiece models, of sources and of targets.
type Two = (Vec<u8>, Vec<u8>);

/// The SentencePiece models of sources and targets: given, in the model's directory, or beside it.
fn sentencepieces(files: &Files, model: &str, given: &Given) -> Result<Two, ImportError> {
    if let Some((source, target)) = given.read()? {
        return Ok((source, target));
    }
    let read = |name: &str| files.read(name, LONGEST_VOCABULARY);
    for place in [model, ""] {
        let (source, target) =
            (read(&format!("{place}source.spm"))?, read(&format!("{place}target.spm"))?);
        if let Some(two) = source.zip(target) {
            return Ok(two);
        }
        for name in ["sentencepiece.model", "spm.model", "sentencepiece.bpe.model"] {
            if let Some(both) = read(&format!("{place}{name}"))? {
                return Ok((both.clone(), both));
            }
        }
    }
    // A model's directory within a package.
    if let Files::Directory(directory) = files
        && model.is_empty()
        && let Some(beside) = directory.parent().map(|parent| parent.join("sentencepiece.model"))
        && directory.file_name().is_some_and(|name| name == "model")
        && beside.is_file()
    {
        let both = read_file(&beside, LONGEST_VOCABULARY)?;
        return Ok((both.clone(), both));
    }
    if files.has("bpe.model") {
        let what = "bpe.model: segmentation by subword-nmt's codes".to_owned();
        return Err(ImportFault::Unsupported(what).at(files.root()));
    }
    Err(ImportFault::Missing("sentencepiece.model, nor source.spm and target.spm").at(files.root()))
}

fn marian_in(path: &Path, files: &Files, given: &Given) -> Result<Foreign, ImportError> {
    let missing = |name: &'static str| move || ImportFault::Missing(name).at(path);
    let text = files.text(CONFIG)?.ok_or_else(missing(CONFIG))?;
    let config_path = files.path(CONFIG);
    let mut config = ModelConfig::from_json(&text)
        .map_err(|error| ImportFault::Config(error).at(&config_path))?;
    let Family::Marian(family) = config.family.clone() else {
        let what = "a model that is not Marian; padir reads T5 as it is".to_owned();
        return Err(ImportFault::Unsupported(what).at(&config_path));
    };
    let (source_spm, target_spm) = match given.read()? {
        Some(two) => two,
        None => (
            files.read("source.spm", LONGEST_VOCABULARY)?.ok_or_else(missing("source.spm"))?,
            files.read("target.spm", LONGEST_VOCABULARY)?.ok_or_else(missing("target.spm"))?,
        ),
    };
    let vocab = files.read("vocab.json", LONGEST_VOCABULARY)?.ok_or_else(missing("vocab.json"))?;
    let mut target_vocab = files.read("target_vocab.json", LONGEST_VOCABULARY)?;
    let vocab_path = files.path("vocab.json");
    let ids = Ids::parse(&vocab_path, &vocab)?;
    let rows = family.source_vocab_size.unwrap_or(config.symbols.vocab_size);
    ids.check(rows, config.symbols.eos).map_err(at(&vocab_path))?;
    config.symbols.unk = ids.unknown().map_err(at(&vocab_path))?;
    match (&target_vocab, family.source_vocab_size) {
        (Some(own), Some(_)) => {
            let path = files.path("target_vocab.json");
            let ids = Ids::parse(&path, own)?;
            ids.check(config.symbols.vocab_size, config.symbols.eos).map_err(at(&path))?;
            config.symbols.unk = ids.unknown().map_err(at(&path))?;
        }
        // One table of embeddings: the second list would only repeat the first.
        (Some(_), None) => target_vocab = None,
        (None, _) => {}
    }
    let (format, tensors) = if files.has(SAFE) {
        (Format::Marian, Tensors::Safe(TensorFile::open(path.join(SAFE))?))
    } else {
        (Format::MarianPyTorch, Tensors::PyTorch(PyTorchFile::open(path.join(PYTORCH))?))
    };
    let weights = marian::Weights::new(tensors, &config)?;
    if config.languages == Languages::default() {
        let tokenizer: Map<String, Value> =
            files.json("tokenizer_config.json")?.unwrap_or_default();
        let code = |key: &str| tokenizer.get(key).and_then(Value::as_str).map(str::to_owned);
        config.languages = languages(code("source_lang"), code("target_lang"));
    }
    let generation: Map<String, Value> = files.json("generation_config.json")?.unwrap_or_default();
    let top: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
    let beams = generation.get("num_beams").or_else(|| top.get("num_beams"));
    let beams = beams.and_then(Value::as_u64).and_then(|beams| usize::try_from(beams).ok());
    let readme = files.text(README)?;
    let origin = Origin {
        licence: readme.as_deref().and_then(licence_of),
        title: None,
        readme,
        weights_sha256: weights.tensors().hash(),
        num_beams: beams.filter(|beams| (1..=64).contains(beams)),
    };
    let pieces = Pieces { source_spm, target_spm, vocab, target_vocab };
    let weights = Weights::Marian(Box::new(weights));
    Ok(Foreign { format, config, pieces, origin, weights })
}

impl Given {
    fn read(&self) -> Result<Option<Two>, ImportError> {
        let read = |path: &Option<PathBuf>| {
            path.as_deref().map(|path| read_file(path, LONGEST_VOCABULARY)).transpose()
        };
        match (read(&self.source_spm)?, read(&self.target_spm)?) {
            (None, None) => Ok(None),
            (Some(source), Some(target)) => Ok(Some((source, target))),
            (Some(both), None) | (None, Some(both)) => Ok(Some((both.clone(), both))),
        }
    }
}

/// Adds its file to a fault.
fn at(path: &Path) -> impl FnOnce(ImportFault) -> ImportError {
    move |fault| fault.at(path)
}

fn languages(source: Option<String>, target: Option<String>) -> Languages {
    let language = |code: Option<String>| code.and_then(|code| Language::try_from(code).ok());
    Languages { source: language(source), target: language(target) }
}

/// A list of tokens as a JSON object of ids.
fn ids_of(tokens: &[String]) -> Result<Vec<u8>, ImportFault> {
    // Sorted, whatever features serde_json is built with.
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, token) in tokens.iter().enumerate() {
        if ids.insert(token, id).is_some() {
            let token: String = token.chars().take(80).collect();
            return Err(ImportFault::Vocabulary(format!("{token:?} occurs twice")));
        }
    }
    let mut text = serde_json::to_vec_pretty(&ids)
        .map_err(|error| ImportFault::Vocabulary(error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

/// The licence that a text names: the field `license` of its head, or a well-known name after the word "licensed".
fn licence_of(readme: &str) -> Option<String> {
    let mut lines = readme.lines();
    if lines.next().is_some_and(|line| line.trim_end() == "---") {
        let mut head = lines.take_while(|line| line.trim_end() != "---");
        let found = head.find_map(|line| line.strip_prefix("license:"));
        let found = found.map(|name| name.trim().trim_matches(['"', '\'']).to_owned());
        if found.as_ref().is_some_and(|name| !name.is_empty()) {
            return found;
        }
    }
    let (_, rest) = readme.split_once("licensed")?;
    let rest = rest.lines().next()?.trim_start().trim_start_matches("under ").to_uppercase();
    let known = [
        ("CC-BY 4.0", "CC-BY-4.0"),
        ("CC-BY-4.0", "CC-BY-4.0"),
        ("CC BY 4.0", "CC-BY-4.0"),
        ("CC-BY-SA 4.0", "CC-BY-SA-4.0"),
        ("CC0", "CC0-1.0"),
        ("APACHE-2.0", "Apache-2.0"),
        ("APACHE 2.0", "Apache-2.0"),
        ("MIT", "MIT"),
        ("MPL-2.0", "MPL-2.0"),
    ];
    known.into_iter().find(|(name, _)| rest.starts_with(name)).map(|(_, spdx)| spdx.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_found_where_they_stand() {
        let cases = [
            ("---\nlanguage: en\nlicense: apache-2.0\n---\n# x", Some("apache-2.0")),
            ("---\nlicense: \"cc-by-4.0\"\n---\n", Some("cc-by-4.0")),
            ("The model is licensed CC-BY 4.0\n", Some("CC-BY-4.0")),
            ("It is licensed under Apache 2.0.", Some("Apache-2.0")),
            ("It is licensed to nobody.", None),
            ("", None),
        ];
        for (readme, expected) in cases {
            assert_eq!(licence_of(readme).as_deref(), expected, "{readme:?}");
        }
    }

    #[test]
    fn a_token_has_one_id() {
        let list =
            |tokens: &[&str]| ids_of(&tokens.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
        assert_eq!(list(&["b", "a"]).unwrap(), b"{\n  \"a\": 1,\n  \"b\": 0\n}\n");
        assert!(list(&["a", "a"]).unwrap_err().to_string().contains("\"a\" occurs twice"));
    }
}
