//! Every key, every kind of fault, and what a resumed run may change.

use std::fs;
use std::path::PathBuf;

use super::difference::{FREE, NEGOTIABLE};
use super::*;

/// The least a configuration needs, without asking for the files.
const LEAST: &str = r#"
[data]
vocabulary = "v.model"
[data.train]
source = "a.en"
target = "a.de"
[data.dev.dev]
source = "d.en"
target = "d.de"
[run]
dir = "runs/x"
"#;

fn parse(text: &str, flags: &[&str]) -> Result<Config, ConfigError> {
    let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
    Config::parse(Path::new("c.toml"), text, &flags, Files::Ignored)
}

fn problems(text: &str, flags: &[&str]) -> Vec<String> {
    match parse(text, flags) {
        Err(ConfigError::Problems { problems, .. }) => {
            problems.iter().map(ToString::to_string).collect()
        }
        other => panic!("no problems in {text:?}: {other:?}"),
    }
}

/// All dotted keys of a TOML text.
fn keys(text: &str) -> Vec<String> {
    fn walk(table: &toml::Table, prefix: &str, keys: &mut Vec<String>) {
        for (key, value) in table {
            let name = format!("{prefix}{key}");
            match value {
                toml::Value::Table(inner) => walk(inner, &format!("{name}."), keys),
                _ => keys.push(name),
            }
        }
    }
    let mut keys = Vec::new();
    walk(&text.parse().unwrap(), "", &mut keys);
    keys
}

#[test]
fn the_manual_names_every_key_with_its_default() {
    let manual = parse(MANUAL, &[]).unwrap();
    assert_eq!(keys(MANUAL), keys(&manual.to_toml()));
    let least = LEAST.replace("dev.dev", "dev.valid");
    let defaults = parse(&least, &[]).unwrap();
    assert_eq!(
        Config { data: manual.data.clone(), run: manual.run.clone(), ..defaults.clone() },
        manual
    );
    assert_eq!(RunConfig { dir: manual.run.dir.clone(), ..defaults.run }, manual.run);
}

#[test]
fn what_is_resolved_is_read_again() {
    let flags: [&[&str]; 7] = [
        &[],
        &["objective.corruption.noise.law=exactly", "objective.corruption.noise.k=2"],
        &["objective.corruption.noise={law = \"blocks\", blocks = [{positions = [0, 2]}]}"],
        &["objective.kind=ar", "device.fused=false"],
        &["optimiser.kind=adamw", "optimiser.schedule.kind=inverse-sqrt", "run.seed=9"],
        &[
            "model.length.predictor=fertility",
            "objective.corruption.noise_density=uniform",
            "objective.corruption.random_prob=0.1",
        ],
        &["data.train={shards = \"s\"}", "optimiser.schedule.kind=constant", "run.metric=dev.bleu"],
    ];
    for flags in flags {
        let config = parse(LEAST, flags).unwrap();
        let again = parse(&config.to_toml(), &[]).unwrap();
        assert_eq!(again, config, "{flags:?}");
        assert!(config.differences(&again).is_empty());
    }
}

#[test]
fn settings_arrive() {
    let config = parse(
        LEAST,
        &[
            "model.preset=tiny",
            "model.num_layers=12",
            "model.num_decoder_layers=1",
            "optimiser.kind=adamw",
            "optimiser.beta2=0.98",
            "optimiser.accumulate=4",
            "optimiser.schedule.peak=1",
            "run.max_steps=2e3",
            "batch.layout=padded",
            "data.source_language=en",
            "data.target_language=pt-BR",
            "data.train.source=[\"a.en\", \"b.en\"]",
            "data.train.target=[\"a.de\", \"b.de\"]",
        ],
    )
    .unwrap();
    let languages = config.data.languages();
    let codes = languages.pair().map(|(source, target)| (source.code(), target.code()));
    assert_eq!(codes, Some(("en", "pt-BR")));
    let model = config.model.to_config(8_100, 8_000);
    assert_eq!((model.d_model, model.num_layers, model.num_decoder_layers), (128, 12, 1));
    assert_eq!(model.symbols.mask.unwrap().0, 8_099);
    assert_eq!(config.optimiser.schedule.warmup, 200);
    assert_eq!(config.optimiser.schedule.rate(200).to_bits(), 1.0_f64.to_bits());
    let batch = config.batch_config();
    assert_eq!(batch.accumulate, 4);
    assert_eq!(batch.layout, padir_text::batch::Layout::Padded { multiple: 8 });
    assert_eq!((config.data.train_files().len(), config.data.dev_files().len()), (4, 2));
    assert!(matches!(config.optimiser.optimiser(),
        padir_kernels::optimiser::Optimiser::AdamW(adamw) if adamw.beta2.to_bits() == 0.98_f64.to_bits()));
}

#[test]
fn alignments_have_defaults_of_their_own_and_are_written_as_they_are_read() {
    let text = format!("{LEAST}[objective]\nkind = \"ctc\"\n[model]\npreset = \"small-6-1\"\n");
    let config = parse(&text, &[]).unwrap();
    let Objective::Ctc(ctc) = config.objective.kind else { panic!("another objective") };
    let rates = [0, 10_000, 20_000, u64::MAX].map(|step| ctc.glancing_rate(step));
    for (found, expected) in rates.into_iter().zip([0.5, 0.4, 0.3, 0.3]) {
        assert!((found - expected).abs() < 1e-12, "{rates:?}");
    }
    let model = config.model.to_config(8_100, 8_000);
    assert_eq!((model.num_layers, model.num_decoder_layers), (6, 1));
    assert_eq!((model.symbols.blank.unwrap().0, model.symbols.mask.unwrap().0), (8_098, 8_099));
    assert_eq!(model.parallel().unwrap().slots(3), Some(8), "at least so many");
    assert_eq!(model.parallel().unwrap().slots(20), Some(40));
    assert_eq!(model.validate(), Ok(()));
    assert_eq!(config.run.decode.decoding.method(), padir_decode::Method::Ctc);
    assert_eq!(parse(&config.to_toml(), &[]).unwrap(), config);
}

#[test]
fn impossible_alignments_are_refused() {
    let cases = [
        (
            "[objective]\nkind = \"ctc\"\n[model.length]\npredictor = \"token\"",
            "`model.length.predictor` must be \"upsample\"",
        ),
        (
            "[model]\ninitial = \"mask\"\n[model.length]\npredictor = \"upsample\"",
            "which only the objective \"ctc\" can train",
        ),
        (
            "[objective]\nkind = \"ctc\"\n[model.length]\nfactor = 3",
            "`batch.max_source` is 128, which makes 384 slots, but `model.max_positions` is 256",
        ),
        (
            "[objective]\nkind = \"ctc\"\nlength_weight = 2.0",
            "the objective \"ctc\" has no such setting",
        ),
        (
            "[objective]\nkind = \"ctc\"\nglancing_start = 1.5",
            "`objective.glancing_start` is 1.5; it must be a number between 0 and 1",
        ),
        (
            "[objective]\nkind = \"padir\"\ndeep_supervision = true",
            "the objective \"padir\" has no such setting",
        ),
    ];
    for (text, expected) in cases {
        let found = problems(&format!("{LEAST}{text}\n"), &[]);
        assert!(found.iter().any(|line| line.contains(expected)), "{text:?}: {found:?}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of all faults")]
fn each_fault_is_told_with_its_line() {
    let cases = [
        ("[batch]\ntokenz = 3", "c.toml:13: `batch.tokenz` is not a key; is `tokens` meant?"),
        ("[bath]\ntokens = 3", "c.toml:12: `bath` is not a key; is `batch` meant?"),
        (
            "[batch]\ntokens = \"3\"",
            "c.toml:13: `batch.tokens` is \"3\"; it must be a whole number, at least 1",
        ),
        (
            "[batch]\ntokens = -1",
            "c.toml:13: `batch.tokens` is -1; it must be a whole number, at least 1",
        ),
        (
            "[batch]\ntokens = 0.5",
            "c.toml:13: `batch.tokens` is 0.5; it must be a whole number, at least 1",
        ),
        (
            "[batch]\nmax_source = 70000",
            "c.toml:13: `batch.max_source` is 70000; it must be a whole number between 1 and 65535",
        ),
        (
            "[model]\npreset = \"huge\"",
            "c.toml:13: `model.preset` is \"huge\"; it must be paper, small, tiny, and with a shallow",
        ),
        ("model = 3", "c.toml:12: `run.model` is not a key"),
        (
            "[model]\n\n\nnum_heads = 0",
            "c.toml:15: `model.num_heads` is 0; it must be a whole number between 1 and 4096",
        ),
        (
            "[model]\nrelative_attention_num_buckets = 33",
            "c.toml:13: `relative_attention_num_buckets` is 33; it must be even",
        ),
        (
            "[model]\nd_model = 1e6\nd_ff = 1e6\nnum_layers = 100",
            "c.toml:12: the model would have ",
        ),
        (
            "[model.length]\nclasses = 300",
            "c.toml:13: `length.classes` is 300, but `max_positions` is 256",
        ),
        (
            "[objective]\nkind = \"ar\"\nstages = 3",
            "c.toml:14: `objective.stages` is set; the objective \"ar\" has no such setting",
        ),
        (
            "[objective.corruption]\ncorrect_prob = 0.5",
            "c.toml:12: `correct_prob` and `random_prob` add up to 1.35; at most 1 is possible",
        ),
        (
            "[objective.corruption]\nnoise_density = \"often\"",
            "c.toml:13: `objective.corruption.noise_density` is \"often\"; it must be a number between 0 and 1, or \"uniform\"",
        ),
        (
            "[objective.corruption]\nnoise_density = 0.5\nnoise = { law = \"all\" }",
            "c.toml:13: `objective.corruption.noise_density` is set; `noise` says already where noise falls",
        ),
        (
            "[objective.corruption]\nnoise = 0.5",
            "c.toml:13: `objective.corruption.noise` is 0.5; it must be a mask law",
        ),
        (
            "[objective.corruption]\nnoise = { law = \"often\" }",
            "c.toml:13: `objective.corruption.noise` is not a mask law, such as { law = \"rate\", rate = 0.5 }: unknown variant `often`",
        ),
        (
            "[objective.corruption.noise]\nlaw = \"rate\"\nraet = 0.5",
            "c.toml:12: `objective.corruption.noise` is not a mask law, such as { law = \"rate\", rate = 0.5 }: unknown field `raet`",
        ),
        (
            "[objective.corruption]\nnois = { law = \"all\" }",
            "c.toml:13: `objective.corruption.nois` is not a key; is `noise` meant?",
        ),
        ("[optimiser]\nbeta1 = 0.9", "c.toml:13: `optimiser.beta1` is not a key"),
        (
            "[optimiser]\nema = 1",
            "c.toml:13: `optimiser.ema` is 1; it must be a number, at least 0 and below 1",
        ),
        (
            "[optimiser]\nclip_norm = nan",
            "c.toml:13: `optimiser.clip_norm` is nan; it must be a number, at least 0",
        ),
        (
            "[optimiser.schedule]\nsteps = 10\nwarmup = 11",
            "c.toml:14: `optimiser.schedule.warmup` is 11; it must be at most `steps`, 10",
        ),
        (
            "[batch]\nmax_target = 200",
            "c.toml:13: `batch.max_target` is 200, but the longest length",
        ),
        ("[batch]\ntokens = 100", "c.toml:13: `batch.tokens` is 100, too few"),
        ("max_steps = 0", "c.toml:12: nothing ends the run"),
        (
            "metric = \"test.bleu\"",
            "c.toml:12: `run.metric` is \"test.bleu\", but there is no `data.dev.test`",
        ),
        (
            "metric = \"dev.taste\"",
            "c.toml:12: `run.metric` is \"dev.taste\"; it must be the name of a dev set",
        ),
        (
            "metric = \"dev.bleu\"\ndecode = { lines = 0 }",
            "c.toml:12: `run.metric` is \"dev.bleu\", but `run.decode.lines` is 0",
        ),
        (
            "metric = \"dev.length_accuracy\"\n[objective]\nkind = \"ar\"",
            "c.toml:12: `run.metric` is \"dev.length_accuracy\", but this model predicts no lengths",
        ),
        (
            "metric = \"dev.length_accuracy\"\n[model.length]\npredictor = \"oracle\"",
            "c.toml:12: `run.metric` is \"dev.length_accuracy\", but this model predicts no lengths",
        ),
        (
            "[model]\ninitial = \"mask\"",
            "c.toml:13: decoding is to start from masks, but `objective.corruption` makes none",
        ),
        (
            "[objective]\nkind = \"cmlm\"\nstages = 3",
            "c.toml:14: `objective.stages` is set; the objective \"cmlm\" has no such setting",
        ),
        (
            "[objective]\nkind = \"cmlm\"\n[model]\ninitial = \"random\"",
            "c.toml:15: decoding is to start from random tokens, but the objective \"cmlm\" shows none",
        ),
        (
            "[objective]\nkind = \"sundae\"\n[model]\ninitial = \"mask\"",
            "c.toml:15: decoding is to start from masks, but the objective \"sundae\" makes none",
        ),
        (
            "[objective]\nkind = \"sundae\"\ntemperature = 0",
            "c.toml:14: `objective.temperature` is 0; it must be a number above 0",
        ),
        (
            "[objective]\nkind = \"inat\"\npoison_prob = 2",
            "c.toml:14: `objective.poison_prob` is 2; it must be a number between 0 and 1",
        ),
        (
            "[objective]\nkind = \"disco\"\n[model]\nlearned_positions = false",
            "c.toml:15: `objective` is \"disco\", which needs `learned_positions`",
        ),
        (
            "[run.decode]\nmethod = \"easy-first\"\n[objective]\nkind = \"cmlm\"",
            "c.toml:13: easy-first does not fit a model that was trained with the objective \"cmlm\"",
        ),
        (
            "[run.decode]\nsteps = 4\n[objective]\nkind = \"nat\"",
            "c.toml:13: `steps` is 4; a model that was trained with the objective \"nat\" takes one",
        ),
        (
            "[model.length]\npredictor = \"pooled\"\nhidden_layers = 9",
            "c.toml:14: `model.length.hidden_layers` is 9; it must be",
        ),
        (
            "[objective]\nkind = \"ar\"\n[model]\nrejecter = true",
            "c.toml:15: `model.rejecter` is set; an autoregressive model has no such setting",
        ),
        (
            "save_minutes = -1",
            "c.toml:12: `run.save_minutes` is -1; it must be a number, at least 0",
        ),
        (
            "[device]\nkind = \"wgpu\"\nfused = true",
            "c.toml:14: `device.fused` is true; only the cpu has fused layers",
        ),
    ];
    for (text, expected) in cases {
        let found = problems(&format!("{LEAST}{text}\n"), &[]);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{text:?}: {found:?}");
    }
}

/// What no training can do is refused before there is one; 127 tokens are the longest target without its end.
#[test]
fn impossible_laws_of_noise_are_refused() {
    let cases = [
        (r#"{ law = "rate", rate = 1.5 }"#, "a masking rate must lie between 0 and 1, not 1.5"),
        (r#"{ law = "exactly", k = 128 }"#, "cannot hide 128 of 127 positions"),
        (r#"{ law = "unsure", below = 0.5 }"#, "the law depends on how sure predictions are"),
        (r#"{ law = "linear", steps = 0 }"#, "a schedule needs at least one step"),
        (r#"{ law = "repeats", phrase = 0 }"#, "a phrase has at least one token"),
        (r#"{ law = "blocks", blocks = [] }"#, "no block has a positive weight"),
        (r#"{ law = "blocks", blocks = [{ positions = [3, 3] }] }"#, "names position 3 twice"),
        (r#"{ law = "blocks", blocks = [{ positions = [127] }] }"#, "there are 127 positions"),
        (
            r#"{ law = "adaptive", cases = [{ when = [7, 8], then = { law = "exactly", k = 3 } }], otherwise = { law = "all" } }"#,
            "cannot hide 3 of 2 positions",
        ),
    ];
    let start =
        "c.toml:13: `objective.corruption.noise` is impossible for targets of up to 127 tokens: ";
    for (law, expected) in cases {
        let found = problems(&format!("{LEAST}[objective.corruption]\nnoise = {law}\n"), &[]);
        let fits = |found: &String| found.starts_with(start) && found.contains(expected);
        assert!(found.len() == 1 && fits(&found[0]), "{law}: {found:?}");
    }
}

/// Decoding may start from masks if the law makes some.
#[test]
fn laws_of_noise_tell_whether_there_are_masks() {
    let cases = [
        (r#"{ law = "rate", rate = 0 }"#, false),
        (r#"{ law = "rate", rate = 0.1 }"#, true),
        (r#"{ law = "exactly", k = 0 }"#, false),
        (r#"{ law = "blocks", blocks = [{ positions = [] }] }"#, false),
        (r#"{ law = "uniform-count" }"#, true),
        (r#"{ law = "adaptive", cases = [], otherwise = { law = "exactly", k = 0 } }"#, false),
    ];
    for (law, masks) in cases {
        let text = format!("{LEAST}[objective.corruption]\nrandom_prob = 0.1\nnoise = {law}\n");
        assert_eq!(parse(&text, &["model.initial=mask"]).is_ok(), masks, "{law}");
    }
}

#[test]
fn flags_are_named_instead_of_lines() {
    let cases = [
        (
            "batch.tokens=many",
            "--set batch.tokens=many: `batch.tokens` is \"many\"; it must be a whole number",
        ),
        (
            "data.source_language=German, please",
            "--set data.source_language=German, please: `data.source_language` is \"German, please\"; it must be the code of a language",
        ),
        ("batch.toks=1", "--set batch.toks=1: `batch.toks` is not a key"),
        ("batch", "--set batch: there is no `=` between key and value"),
        ("batch.=1", "--set batch.=1: the key is empty"),
        ("run..dir=1", "--set run..dir=1: a part of the key is empty"),
        ("run.dir.x=1", "--set run.dir.x=1: `run.dir` is not a table"),
        ("model={d_model=true}", "--set model={d_model=true}: `model.d_model` is true"),
    ];
    for (flag, expected) in cases {
        let found = problems(LEAST, &[flag]);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{flag:?}: {found:?}");
    }
}

#[test]
fn all_faults_are_reported_at_once_in_the_order_of_the_file() {
    let text =
        "[batch]\ntokens = true\nmax_pair = 1\n[run]\nmax_steps = \"x\"\n[model]\nd_kv = 0\n";
    let found = problems(text, &["run.keep=0"]);
    let expected = [
        "c.toml: `data.train.source` is missing",
        "c.toml: `data.train.target` is missing",
        "c.toml: `data.vocabulary` is missing",
        "c.toml:2: `batch.tokens` is true; it must be a whole number, at least 1",
        "c.toml:3: `batch.max_pair` is not a key; is `max_pairs` meant?",
        "c.toml:4: `run.dir` is missing",
        "c.toml:5: `run.max_steps` is \"x\"; it must be a whole number, at least 0",
        "c.toml:7: `model.d_kv` is 0; it must be a whole number between 1 and 1048576",
        "--set run.keep=0: `run.keep` is 0; it must be a whole number, at least 1",
    ];
    assert_eq!(found, expected);
}

#[test]
fn broken_toml_is_told_with_its_lines() {
    let found = problems("[data\nvocabulary = \"v\"\nx = = 3\n", &[]);
    assert!(found[0].starts_with("c.toml:1: "), "{found:?}");
    assert!(found.iter().any(|problem| problem.starts_with("c.toml:3: ")), "{found:?}");
}

#[test]
fn a_text_is_not_listed_line_by_line() {
    let text = "Two men are talking.\nA dog = runs = through the snow.\n".repeat(4000);
    let text = Config::preview("c.toml", &text, &[]).unwrap_err().to_string();
    assert!(text.lines().count() < 25, "{} lines", text.lines().count());
    assert!(text.starts_with(|c: char| c.is_ascii_digit()), "{text}");
    assert!(text.ends_with(" more") && text.contains("\n  c.toml:1: "), "{text}");
}

#[test]
fn absent_files_are_told_together() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    fs::write(at("a.en"), "x\n").unwrap();
    fs::write(at("v.model"), "no vocabulary").unwrap();
    let text = LEAST.replace("\"a.", &format!("\"{}/a.", directory.path().display()));
    let text = text.replace("v.model", &at("v.model")).replace("\"d.en", "\"/no/d.en");
    let text = text.replace("\"d.de\"", &format!("[{:?}, \"\"]", at("a.en")));
    let path = PathBuf::from(at("c.toml"));
    fs::write(&path, &text).unwrap();
    let error = Config::read(&path, &[]).unwrap_err().to_string();
    assert!(error.starts_with("4 problems in "), "{error}");
    let expected = [
        ("c.toml:3: ", "v.model"),
        ("c.toml:6: the file ", "a.de does not exist"),
        ("c.toml:8: the file /no/d.en does not exist", ""),
        ("c.toml:9: `data.dev.dev.target` is [", "it must be a path or a list of paths"),
    ];
    for (line, (start, end)) in error.lines().skip(1).zip(expected) {
        assert!(line.contains(start) && line.contains(end), "{start:?}: {error}");
    }
    assert!(Config::read("/no/such.toml", &[]).unwrap_err().to_string().contains("/no/such.toml"));
}

#[test]
fn a_resumed_run_may_change_budgets_and_nothing_it_learns_from() {
    let old = parse(LEAST, &["optimiser.schedule.steps=5000"]).unwrap();
    let cases: [(&[&str], &[&str]); 6] = [
        (&["run.max_steps=7", "run.threads=3", "run.decode.lines=1", "run.dir=y"], &[]),
        (&["data.source_language=en"], &[]),
        (
            &["data.dev={}", "data.vocabulary=elsewhere"],
            &["`run.metric` was \"dev.loss\" and is not set"],
        ),
        (&["run.seed=2"], &["`run.seed` was 1 and is 2"]),
        (&["objective.kind=ar"], &["`model.initial` was \"random\" and is not set"]),
        (
            &["model.d_ff=8", "model.length.predictor=affine"],
            &[
                "`model.d_ff` was 1024 and is 8",
                "`model.length.classes` was 128 and is not set",
                "`model.length.predictor` was \"token\" and is \"affine\"",
            ],
        ),
    ];
    for (flags, expected) in cases {
        let flags: Vec<&str> = [&["optimiser.schedule.steps=5000"], flags].concat();
        let found = old.differences(&parse(LEAST, &flags).unwrap());
        assert!(found.len() >= expected.len(), "{flags:?}: {found:?}");
        assert_eq!(found.is_empty(), expected.is_empty(), "{flags:?}: {found:?}");
        for sentence in expected {
            assert!(found.iter().any(|found| found.sentence == *sentence), "{flags:?}: {found:?}");
        }
    }
    let mut every = keys(MANUAL);
    every.extend(keys(&parse(LEAST, &["optimiser.kind=adamw"]).unwrap().to_toml()));
    for known in FREE.iter().chain(&NEGOTIABLE).filter(|key| **key != "data.train.shards") {
        assert!(every.iter().any(|key| key.starts_with(known)), "{known} is no key");
    }
}

#[test]
fn how_parameters_move_is_negotiable_and_what_they_are_is_not() {
    let old = parse(LEAST, &["optimiser.schedule.steps=5000"]).unwrap();
    let cases = [
        ("optimiser.schedule.peak=0.001", true),
        ("optimiser.schedule.warmup=7", true),
        ("optimiser.schedule.kind=constant", true),
        ("optimiser.clip_norm=1", true),
        ("optimiser.clip_threshold=0.5", true),
        ("model.dropout_rate=0.3", true),
        ("optimiser.kind=adamw", false),
        ("optimiser.min_factored=64", false),
        ("optimiser.accumulate=2", false),
        ("optimiser.ema=0.9", false),
        ("model.d_ff=8", false),
        ("batch.tokens=500", false),
        ("run.seed=2", false),
    ];
    for (flag, negotiable) in cases {
        let flags = if flag.contains("constant") {
            vec![flag]
        } else {
            vec!["optimiser.schedule.steps=5000", flag]
        };
        let found = old.differences(&parse(LEAST, &flags).unwrap());
        assert!(!found.is_empty(), "{flag}");
        assert_eq!(found.iter().all(|found| found.negotiable), negotiable, "{flag}: {found:?}");
    }
}

#[test]
fn metrics_have_a_better_direction() {
    let loss = Metric::parse("a.b.loss").unwrap();
    assert_eq!((loss.set.as_str(), loss.measure), ("a.b", Measure::Loss));
    assert!(loss.improves(2.0, 1.0) && !loss.improves(1.0, 2.0) && !loss.improves(1.0, 1.0));
    assert!(loss.improves(f64::NAN, 9.0) && !loss.improves(9.0, f64::NAN));
    assert!(Metric::parse("dev.bleu").unwrap().improves(1.0, 2.0));
    assert_eq!((Metric::parse("bleu"), Metric::parse(".bleu")), (None, None));
}
