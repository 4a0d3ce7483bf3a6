//! `padir serve`: a translation server.

use std::io::Write as _;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use clap::ValueEnum;
use padir_serve::{Handle, Keys, Limits, Load, LoadError, Loaded, Log, Options, Record, Server};
use serde_json::{Value, json};

use super::arithmetic::Arithmetic;
use super::translate::model_path::{self, Model};
use crate::console::Console;
use crate::hint::WithHint;
use crate::interrupt::{self, Reaction};

/// What tells a process to read its files again.
const SIGHUP: u8 = 1;

/// Serve translations over HTTP: LibreTranslate's interface, an interface of its own under /v1, and a page.
///
/// The page shows sentences being refined. Requests of many clients share batches and take turns. SIGHUP loads the models again; SIGTERM and Ctrl-C end the server once requests
/// that are under way are answered.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  padir serve
  padir serve --listen 127.0.0.1:0 --model models/tatoeba-en-de
  padir serve --models /srv/models --keys keys.toml --listen 0.0.0.0:5000 --log json
  curl -s localhost:5000/translate -d q='Good morning.' -d source=en -d target=de
  curl -sN localhost:5000/v1/translate/stream -H 'Content-Type: application/json' \\
    -d '{\"q\": \"Good morning.\", \"source\": \"en\", \"target\": \"de\", \"settings\": {\"steps\": 6}}'")]
pub(crate) struct Serve {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:5000")]
    listen: String,

    /// A directory of models; all that say what they translate are served [default: as `padir translate` finds them].
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    /// A model to serve; may be repeated.
    #[arg(long, value_name = "DIR", conflicts_with = "models")]
    model: Vec<PathBuf>,

    #[command(flatten)]
    arithmetic: Arithmetic,

    /// A TOML file of API keys: `[[key]]` with `name`, `sha256` and `requests_per_minute`. With it, a key is needed.
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    keys: Option<PathBuf>,

    /// Requests a minute of a client without a key; 0 means any number.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Access")]
    rate: u32,

    /// Which other sites may use the server from a browser: an origin, `*` for all, or `none`.
    #[arg(long, value_name = "ORIGIN", default_value = "*", help_heading = "Access")]
    cors: String,

    /// Bytes of a request, uploaded files included.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body, help_heading = "Limits")]
    max_body: usize,

    /// Characters of a request.
    #[arg(long, value_name = "N", default_value_t = Limits::default().characters, help_heading = "Limits")]
    max_characters: usize,

    /// Sentences of a request.
    #[arg(long, value_name = "N", default_value_t = Limits::default().sentences, help_heading = "Limits")]
    max_sentences: usize,

    /// Seconds of a request.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().time.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400), help_heading = "Limits")]
    max_time: u64,

    /// Requests at a time.
    #[arg(long, value_name = "N", default_value_t = Limits::default().requests, help_heading = "Limits")]
    max_requests: usize,

    /// Open connections; more wait to be accepted.
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections, help_heading = "Limits")]
    max_connections: usize,

    /// Sentences that wait for the engine.
    #[arg(long, value_name = "N", default_value_t = Limits::default().queue, help_heading = "Limits")]
    max_queue: usize,

    /// Refinement steps that a request may ask for.
    #[arg(long, value_name = "N", default_value_t = Limits::default().steps, help_heading = "Limits")]
    max_steps: usize,

    /// Most sentences that are decoded together. A sentence that arrives waits for one batch before its turn.
    #[arg(long, value_name = "N", default_value_t = Limits::default().batch, help_heading = "Limits")]
    batch: usize,

    /// Seconds that requests have to end when the server is told to stop.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().shutdown.as_secs(), value_parser = clap::value_parser!(u64).range(..=86_400), help_heading = "Limits")]
    grace: u64,

    /// A line for each request on stderr, without texts, keys and addresses.
    #[arg(long, value_enum, default_value_t = LogForm::Text)]
    log: LogForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogForm {
    /// For people.
    Text,
    /// For programs: one JSON object for each line.
    Json,
    /// Only what goes wrong.
    Off,
}

impl Serve {
    pub(crate) fn run(self, console: &Console) -> Result<()> {
        let keys = match &self.keys {
            Some(path) => Some(
                Keys::read(path).hint("each key is `[[key]]` with `name`, `sha256` (of `printf %s KEY | sha256sum`) and, if it has a rate, `requests_per_minute`")?,
            ),
            None => None,
        };
        self.check_limits()?;
        if keys.is_none() && is_wide(&self.listen) {
            console.note(format!(
                "warning: {} can be reached from other machines, and no key is needed; --keys FILE asks for one",
                self.listen
            ));
        }
        let form = if console.is_quiet() { LogForm::Off } else { self.log };
        let options = Options {
            listen: self.listen.clone(),
            limits: self.limits(),
            keys,
            cors: (self.cors != "none").then(|| self.cors.clone()),
            log: log(form),
        };
        let server = Server::bind(options, self.load(console.threads()))?;
        let (address, models) = (server.address(), server.models());
        listen_for_signals(server.handle());
        let json = console.wants_json();
        server.run(|| {
            // Whoever waits for the line waits for it on stderr, quiet or not.
            let _ = writeln!(std::io::stderr(), "listening on http://{address}");
            if json {
                let line = json!({"listening": format!("http://{address}"), "models": models});
                let _ = writeln!(console.out(), "{line}");
            }
        })?;
        Ok(())
    }

    fn check_limits(&self) -> Result<()> {
        let counts = [
            ("--max-body", self.max_body),
            ("--max-characters", self.max_characters),
            ("--max-sentences", self.max_sentences),
            ("--max-requests", self.max_requests),
            ("--max-connections", self.max_connections),
            ("--max-queue", self.max_queue),
            ("--max-steps", self.max_steps),
            ("--batch", self.batch),
        ];
        for (option, count) in counts {
            if !(1..=1 << 32).contains(&count) {
                bail!("{option} is {count}; it must be from 1 to {}", 1_u64 << 32);
            }
        }
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            body: self.max_body,
            characters: self.max_characters,
            sentences: self.max_sentences,
            time: Duration::from_secs(self.max_time),
            requests: self.max_requests,
            connections: self.max_connections,
            queue: self.max_queue,
            steps: self.max_steps,
            batch: self.batch,
            rate: (self.rate > 0).then_some(self.rate),
            shutdown: Duration::from_secs(self.grace),
            ..Limits::default()
        }
    }

    /// Finds and opens the models, now and whenever they are loaded again.
    fn load(&self, threads: usize) -> Load {
        let (directory, named) = (self.models.clone(), self.model.clone());
        let arithmetic = self.arithmetic;
        Box::new(move || {
            let load = || -> Result<Vec<Loaded>> {
                let models = find(directory.as_deref(), &named)?;
                models.into_iter().map(|model| open(model, arithmetic, threads)).collect()
            };
            load().map_err(LoadError::from)
        })
    }
}

/// The models that are to be served.
fn find(directory: Option<&Path>, named: &[PathBuf]) -> Result<Vec<Model>> {
    if !named.is_empty() {
        let model = |path: &PathBuf| {
            let name = path.canonicalize().unwrap_or_else(|_| path.clone());
            let name = name.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            Model::of(name, path.clone())
        };
        return Ok(named.iter().map(model).collect());
    }
    let directories = match directory {
        Some(directory) => vec![directory.to_owned()],
        None => model_path::model_paths(),
    };
    for directory in &directories {
        let mut models = model_path::models(directory)?;
        models.retain(|model| model.languages.is_some());
        // Of models for the same languages the first by name, as `padir translate` chooses.
        let mut seen = Vec::new();
        models.retain(|model| {
            let new = !seen.contains(&model.languages);
            seen.push(model.languages.clone());
            new
        });
        if !models.is_empty() {
            return Ok(models);
        }
    }
    let searched: Vec<String> =
        directories.iter().map(|directory| directory.display().to_string()).collect();
    let place = if searched.is_empty() {
        "anywhere".to_owned()
    } else {
        format!("in {}", searched.join(", "))
    };
    Err(anyhow!("no models {place}")).hint("--models names a directory of models, --model a model")
}

fn open(model: Model, arithmetic: Arithmetic, threads: usize) -> Result<Loaded> {
    let Some((source, target)) = model.languages else {
        let path = model.path.display().to_string();
        return Err(anyhow!("{path} does not say what it translates"))
            .hint("name the directory SOMETHING-FROM-TO, as in tatoeba-en-de");
    };
    let translator = arithmetic.open(&model.path, threads)?;
    Ok(Loaded { name: model.name, source, target, translator })
}

/// Whether an address can be reached from other machines.
fn is_wide(listen: &str) -> bool {
    let addresses = listen.to_socket_addrs();
    addresses.is_ok_and(|mut all| all.any(|address| !is_loopback(address.ip())))
}

fn is_loopback(address: IpAddr) -> bool {
    address.is_loopback()
}

/// The first signal lets requests end, the second does not. SIGHUP loads the models again.
fn listen_for_signals(handle: Handle) {
    interrupt::react_to_each(move |signal| {
        if signal == SIGHUP {
            handle.reload();
            return Reaction::GoOn;
        }
        if handle.stop() { Reaction::GoOn } else { Reaction::End }
    });
}

/// Prints records.
fn log(form: LogForm) -> Log {
    Box::new(move |record| {
        let fault = matches!(
            record,
            Record::LoadFailed { .. } | Record::DecodingFailed { .. } | Record::Abandoned { .. }
        );
        if form == LogForm::Off && !fault {
            return;
        }
        let line = match form {
            LogForm::Json => in_json(record),
            LogForm::Text | LogForm::Off => in_words(record),
        };
        // A closed stderr must not end the work.
        let _ = writeln!(std::io::stderr(), "{line}");
    })
}

fn in_json(record: &Record<'_>) -> String {
    let mut fields = serde_json::to_value(record).unwrap_or_default();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    if let (Value::Object(fields), Ok(now)) = (&mut fields, now) {
        let seconds = (now.as_secs_f64() * 1000.0).round() / 1000.0;
        fields.insert("time".to_owned(), Value::from(seconds));
    }
    fields.to_string()
}

fn in_words(record: &Record<'_>) -> String {
    match record {
        Record::Request { method, route, status, milliseconds } => {
            format!("{status} {method} {route} {milliseconds} ms")
        }
        Record::Loaded { models } => format!("loaded {}", models.join(", ")),
        Record::LoadFailed { reason } => {
            format!("cannot load the models again: {reason}; the old ones go on")
        }
        Record::DecodingFailed { model, reason } => format!("{model} failed: {reason}"),
        Record::Stopping => "stopping; requests that are under way are answered".to_owned(),
        Record::Abandoned { connections } => {
            format!("{connections} connections did not end in time")
        }
    }
}
