//! What is written is read; what is not a shard is refused, whatever its bytes.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use padir_base::TokenId;
use padir_base::hash::{Sha256, hash_bytes};
use proptest::prelude::*;

use super::header::{BYTES, Header};
use super::*;

type Sentences = (Vec<u32>, Vec<u32>);

fn lexicon(size: u32) -> Lexicon {
    Lexicon { hash: Sha256([7; 32]), size }
}

fn ids(sentence: &[u32]) -> Vec<TokenId> {
    sentence.iter().copied().map(TokenId).collect()
}

fn write(path: &Path, size: u32, extent: Extent, pairs: &[Sentences]) -> Volume {
    let mut writer = ShardWriter::create(path, lexicon(size), extent).unwrap();
    for (source, target) in pairs {
        writer.push(&ids(source), &ids(target)).unwrap();
    }
    writer.finish(None).unwrap()
}

fn read_all(set: &ShardSet) -> Result<Vec<Sentences>, ShardError> {
    let strip = |mut tokens: Vec<TokenId>| {
        assert_eq!(tokens.pop(), Some(TokenId::EOS));
        tokens.into_iter().map(|token| token.0).collect()
    };
    (0..set.pairs())
        .map(|pair| {
            let (mut source, mut target) = (Vec::new(), Vec::new());
            set.read_pair(pair, &mut source, &mut target)?;
            Ok((strip(source), strip(target)))
        })
        .collect()
}

fn some_pairs(n: u32) -> Vec<Sentences> {
    (0..n)
        .map(|i| ((0..i % 7).map(|j| 2 + i + j).collect(), vec![3 + i; (i % 5) as usize]))
        .collect()
}

/// A shard of 150 pairs, written once: flushing it to the disk takes longer than any test.
static SHARD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let root = tempfile::tempdir().unwrap();
    let set = root.path().join("set");
    write(&set, 500, Extent::default(), &some_pairs(150));
    fs::read(set.join("shard-00000.bin")).unwrap()
});

/// A set of one shard, and the path of that shard.
fn one_shard(root: &Path) -> std::path::PathBuf {
    let path = root.join("set").join("shard-00000.bin");
    fs::create_dir(root.join("set")).unwrap();
    fs::write(&path, SHARD.as_slice()).unwrap();
    path
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_written_is_read(
        wide in any::<bool>(),
        per_shard in 60_u64..400,
        bytes in 4000_usize..40_000,
        lengths in prop::collection::vec((0_usize..20, 0_usize..20), 0..300),
    ) {
        let size = if wide { 70_000 } else { 65_536 };
        let token = |i: usize| 2 + (i as u32).wrapping_mul(2_654_435_761) % (size - 2);
        let pairs: Vec<Sentences> = lengths
            .iter()
            .enumerate()
            .map(|(i, &(s, t))| {
                ((0..s).map(|j| token(i + j)).collect(), (0..t).map(|j| token(i * j)).collect())
            })
            .collect();
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("set");
        let volume = write(&path, size, Extent { pairs: per_shard, bytes }, &pairs);
        let mut set = ShardSet::open(&path).unwrap();
        prop_assert_eq!(read_all(&set).unwrap(), pairs.clone());
        set.release().unwrap();
        set.verify(|_| {}).unwrap();
        prop_assert_eq!(read_all(&set).unwrap(), pairs);

        let mut found = Vec::new();
        set.read_lengths(0..u64::MAX, &mut found);
        let expected: Vec<PairLengths> = lengths
            .iter()
            .map(|&(s, t)| PairLengths { source: s as u16 + 1, target: t as u16 + 1 })
            .collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(volume.pairs, set.pairs());
        prop_assert_eq!(volume.source_tokens, set.source_tokens());
        prop_assert_eq!(volume.target_tokens, set.target_tokens());
        prop_assert_eq!(volume.shards as usize, set.shards());
        let on_disk: u64 = fs::read_dir(&path).unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
        prop_assert_eq!(volume.bytes, on_disk);
        prop_assert_eq!(volume.bytes, set.bytes());
    }

    /// Any change of the file is noticed by `open` or by `verify`; before that, reading gives
    /// tokens of the vocabulary or an error.
    #[test]
    fn damage_is_refused(at in 0_usize..20_000, flip in 1_u8..=255) {
        let root = tempfile::tempdir().unwrap();
        let path = one_shard(root.path());
        let mut bytes = fs::read(&path).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= flip;
        fs::write(&path, &bytes).unwrap();
        match ShardSet::open(path.parent().unwrap()) {
            Err(error) => prop_assert!(error.to_string().contains("shard-00000.bin: ")),
            Ok(set) => {
                prop_assert!(at >= BYTES + 4 * 150, "byte {} is checked when opening", at);
                let error = set.verify(|_| {}).unwrap_err();
                prop_assert!(error.to_string().ends_with("tokens are damaged: their checksum does not fit"));
                let _ = read_all(&set);
            }
        }
    }

    #[test]
    fn cut_or_extended_shards_are_refused(length in 0_usize..3000) {
        let root = tempfile::tempdir().unwrap();
        let path = one_shard(root.path());
        let mut bytes = fs::read(&path).unwrap();
        prop_assume!(bytes.len() != length);
        bytes.resize(length, 0);
        fs::write(&path, &bytes).unwrap();
        let error = ShardSet::open(path.parent().unwrap()).unwrap_err().to_string();
        prop_assert!(error.contains("truncated: ") || error.contains("bytes long, but"), "{}", error);
    }

    #[test]
    fn random_bytes_are_refused(
        mut bytes in prop::collection::vec(any::<u8>(), 0..600),
        magic in any::<bool>(),
        version in any::<bool>(),
    ) {
        let root = tempfile::tempdir().unwrap();
        let path = one_shard(root.path());
        for (wanted, at, field) in [(magic, 0, b"PADIRSHD".as_slice()), (version, 8, &[1, 0, 0, 0])] {
            if wanted && bytes.len() >= at + field.len() {
                bytes[at..at + field.len()].copy_from_slice(field);
            }
        }
        fs::write(&path, &bytes).unwrap();
        prop_assert!(ShardSet::open(path.parent().unwrap()).is_err());
    }

    /// Headers whose checksum is right but whose numbers are not: no allocation, no panic.
    #[test]
    fn absurd_headers_are_refused(
        pairs in prop_oneof![0_u64..300, any::<u64>()],
        source_tokens in prop_oneof![0_u64..3000, any::<u64>()],
        target_tokens in prop_oneof![0_u64..3000, any::<u64>()],
        size in prop_oneof![0_u32..600, any::<u32>()],
    ) {
        let root = tempfile::tempdir().unwrap();
        let path = one_shard(root.path());
        let mut bytes = fs::read(&path).unwrap();
        let head: &[u8; BYTES] = bytes[..BYTES].try_into().unwrap();
        let (honest, _) = Header::decode(head).unwrap();
        let lexicon = Lexicon { size, ..honest.lexicon };
        let forged = Header { lexicon, pairs, source_tokens, target_tokens, ..honest.clone() };
        bytes[..BYTES].copy_from_slice(&forged.encode().0);
        fs::write(&path, &bytes).unwrap();
        if let Ok(set) = ShardSet::open(path.parent().unwrap()) {
            prop_assert!((pairs, source_tokens, target_tokens)
                == (honest.pairs, honest.source_tokens, honest.target_tokens));
            prop_assert_eq!(read_all(&set).is_ok(), size > largest_token());
        }
    }
}

fn largest_token() -> u32 {
    some_pairs(150).into_iter().flat_map(|(s, t)| [s, t].concat()).max().unwrap()
}

/// A forged shard whose lengths fit their checksum but not the tokens.
#[test]
fn lengths_that_do_not_add_up_are_refused() {
    let cases = [
        ("a sentence without tokens", 0_u16, "a sentence has no tokens, not even its end"),
        ("a sentence too long", 999, "the lengths do not add up to the source tokens"),
    ];
    for (name, length, expected) in cases {
        let root = tempfile::tempdir().unwrap();
        let path = one_shard(root.path());
        let mut bytes = fs::read(&path).unwrap();
        bytes[BYTES..BYTES + 2].copy_from_slice(&length.to_le_bytes());
        let head: &[u8; BYTES] = bytes[..BYTES].try_into().unwrap();
        let mut header = Header::decode(head).unwrap().0;
        header.lengths_hash = hash_bytes(&bytes[BYTES..BYTES + 600]);
        bytes[..BYTES].copy_from_slice(&header.encode().0);
        fs::write(&path, &bytes).unwrap();
        let error = ShardSet::open(path.parent().unwrap()).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn refusals_say_what_is_wrong() {
    type Spoil = fn(&Path);
    let cases: [(&str, Spoil, &str); 8] = [
        (
            "text",
            |p| fs::write(p.join("shard-00000.bin"), "Wiederaufnahme der Sitzungsperiode").unwrap(),
            "shard-00000.bin: not a padir shard: it begins with \"Wiederaufnah\"",
        ),
        (
            "an empty file",
            |p| fs::write(p.join("shard-00000.bin"), "").unwrap(),
            "shard-00000.bin: truncated: 0 bytes of 256",
        ),
        (
            "a future version",
            |p| change(&p.join("shard-00000.bin"), 8, 9),
            "shard-00000.bin: a shard of format version 9, but this padir reads version 1",
        ),
        (
            "a flipped bit in the header",
            |p| change(&p.join("shard-00000.bin"), 33, 9),
            "shard-00000.bin: the header is damaged: its checksum does not fit its content",
        ),
        (
            "a missing shard in the middle",
            |p| fs::remove_file(p.join("shard-00001.bin")).unwrap(),
            "set: the set is incomplete: shard-00001.bin is missing",
        ),
        (
            "a missing last shard",
            |p| fs::remove_file(p.join("shard-00002.bin")).unwrap(),
            "set: the set is incomplete: shard-00002.bin is missing",
        ),
        (
            "two shards swapped",
            |p| {
                fs::rename(p.join("shard-00000.bin"), p.join("x")).unwrap();
                fs::rename(p.join("shard-00001.bin"), p.join("shard-00000.bin")).unwrap();
                fs::rename(p.join("x"), p.join("shard-00001.bin")).unwrap();
            },
            "shard-00000.bin: does not continue nothing: the two are not from the same set",
        ),
        (
            "a shard too many",
            |p| {
                fs::copy(p.join("shard-00002.bin"), p.join("shard-00003.bin")).unwrap();
            },
            "shard-00003.bin: the set ended with shard-00002.bin, so this shard does not belong to it",
        ),
    ];
    for (name, spoil, expected) in cases {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("set");
        write(&path, 500, Extent { pairs: 50, ..Extent::default() }, &some_pairs(150));
        spoil(&path);
        let error = ShardSet::open(&path).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{name}: {error}");
    }
}

fn change(path: &Path, at: usize, value: u8) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] = value;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_shard_of_another_set_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let (ours, theirs) = (root.path().join("ours"), root.path().join("theirs"));
    let extent = Extent { pairs: 50, ..Extent::default() };
    write(&ours, 500, extent, &some_pairs(150));
    let mut others = some_pairs(150);
    others[3].0.push(77);
    write(&theirs, 500, extent, &others);
    fs::copy(theirs.join("shard-00001.bin"), ours.join("shard-00001.bin")).unwrap();
    let error = ShardSet::open(&ours).unwrap_err().to_string();
    assert!(
        error.ends_with("does not continue shard-00000.bin: the two are not from the same set")
    );
}

#[test]
fn nothing_regular_is_needed_to_refuse() {
    let root = tempfile::tempdir().unwrap();
    let message = |path: &Path| ShardSet::open(path).unwrap_err().to_string();
    assert!(message(root.path()).ends_with(": no shards here"));
    assert!(message(&root.path().join("absent")).ends_with("absent: cannot be read"));
    fs::create_dir(root.path().join("shard-00000.bin")).unwrap();
    assert!(message(root.path()).ends_with("shard-00000.bin: not a regular file"));
}

#[test]
fn another_vocabulary_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = one_shard(root.path());
    let set = ShardSet::open(path.parent().unwrap()).unwrap();
    let [seven, eight, nine] = [7, 8, 9].map(|byte| Sha256([byte; 32]));
    set.require_hash([seven, nine]).unwrap();
    set.require_hash([nine, seven]).unwrap();
    let error = set.require_hash([eight, nine]).unwrap_err().to_string();
    assert!(error.contains("set: encoded with vocabulary 0707"), "{error}");
}

#[test]
fn unwritable_pairs_are_refused_and_the_rest_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let mut writer =
        ShardWriter::create(root.path().join("set"), lexicon(100), Extent::default()).unwrap();
    let long = vec![9; MAX_LENGTH];
    let cases: [(&[u32], &str); 4] = [
        (&[2, 100], "pair 0 contains 100, which the vocabulary does not have"),
        (&[0], "pair 0 contains 0, which is padding"),
        (&[5, 1], "pair 0 contains 1, which ends a sentence"),
        (&long, "pair 0 has a side of 65536 tokens; a shard holds at most 65535"),
    ];
    for (sentence, expected) in cases {
        for (source, target) in [(sentence, &[][..]), (&[], sentence)] {
            let error = writer.push(&ids(source), &ids(target)).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
        }
    }
    writer.push(&ids(&long[1..]), &[]).unwrap();
    writer.finish(None).unwrap();
    let set = ShardSet::open(root.path().join("set")).unwrap();
    assert_eq!(read_all(&set).unwrap(), [(long[1..].to_vec(), vec![])]);
    let error = set.read_pair(1, &mut Vec::new(), &mut Vec::new()).unwrap_err().to_string();
    assert!(error.ends_with("pair 1 does not exist: the set has 1"), "{error}");
}

#[test]
fn an_abandoned_set_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let extent = Extent { pairs: 2, ..Extent::default() };
    let mut writer = ShardWriter::create(root.path().join("set"), lexicon(100), extent).unwrap();
    for _ in 0..9 {
        writer.push(&ids(&[5, 6]), &ids(&[7])).unwrap();
    }
    assert!(!root.path().join("set").exists());
    drop(writer);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn what_a_killed_writer_left_is_cleared_away() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("set");
    let staging = root.path().join(".set.part");
    fs::create_dir(&staging).unwrap();
    for name in ["lock", "shard-00000.bin", "shard-00009.bin", ".padir-Ab3.part", "manifest.json"] {
        fs::write(staging.join(name), "half").unwrap();
    }
    assert!(matches!(*ShardSet::open(&path).unwrap_err().fault, Fault::Read(_)));
    write(&path, 500, Extent::default(), &some_pairs(3));
    let names: Vec<_> = fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["shard-00000.bin"]);
    assert!(!staging.exists());
}

#[test]
fn two_writers_of_one_set_are_noticed() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("set");
    let create = || ShardWriter::create(&path, lexicon(100), Extent::default());
    let mut first = create().unwrap();
    let error = create().unwrap_err().to_string();
    assert!(error.ends_with("set: another process is writing this set"), "{error}");
    first.push(&ids(&[5]), &ids(&[6])).unwrap();
    first.finish(None).unwrap();
    let error = create().unwrap_err().to_string();
    assert!(error.ends_with("set: already exists"), "{error}");
}

#[test]
fn an_empty_directory_gives_way_and_a_full_one_does_not() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("set");
    fs::create_dir(&path).unwrap();
    write(&path, 500, Extent::default(), &[]);
    assert_eq!(ShardSet::open(&path).unwrap().pairs(), 0);

    for taken in [root.path().to_owned(), path.join("shard-00000.bin")] {
        let error = ShardWriter::create(&taken, lexicon(9), Extent::default()).unwrap_err();
        assert!(error.to_string().ends_with(": already exists"), "{error}");
    }
}

#[test]
fn a_set_is_replaced_as_a_whole_and_anything_else_stays() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("set");
    let replace = || ShardWriter::replace(&path, lexicon(500), Extent::default());
    write(&path, 500, Extent { pairs: 1, ..Extent::default() }, &some_pairs(3));
    let mut writer = replace().unwrap();
    writer.push(&ids(&[7]), &ids(&[8])).unwrap();
    assert_eq!(ShardSet::open(&path).unwrap().pairs(), 3, "until the new one is complete");
    writer.finish(None).unwrap();
    assert_eq!(read_all(&ShardSet::open(&path).unwrap()).unwrap().len(), 1);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "something was left");
    fs::write(path.join("thesis.tex"), "precious").unwrap();
    let error = replace().unwrap_err().to_string();
    assert!(error.ends_with("holds thesis.tex, which is no part of a set of shards"), "{error}");
}

#[test]
fn the_digest_names_the_content() {
    let root = tempfile::tempdir().unwrap();
    let extent = Extent { pairs: 50, ..Extent::default() };
    let digest = |name: &str, pairs: &[Sentences]| {
        let path = root.path().join(name);
        write(&path, 500, extent, pairs);
        ShardSet::open(&path).unwrap().digest()
    };
    let pairs = some_pairs(150);
    let mut other = pairs.clone();
    other[0].1.push(9);
    assert_eq!(digest("a", &pairs), digest("b", &pairs));
    assert_ne!(digest("c", &pairs), digest("d", &other));
}
