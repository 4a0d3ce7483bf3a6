//! `padir serve` as a user runs it.
#![cfg(all(feature = "serve", unix))]
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn padir(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_padir"));
    command.arg("serve").args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A server that listens, its address, and the rest of what it says.
struct Running {
    child: Child,
    address: String,
    said: BufReader<ChildStderr>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let models = models();
        let mut all = vec!["--listen", "127.0.0.1:0", "--models", models.to_str().unwrap()];
        all.extend(arguments);
        let mut child = padir(&all).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, address, said }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    fn post(&self, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_serves_loads_again_and_ends() {
    let mut server = Running::start(&["--log", "json"]);
    let answer = server.post("/translate", "q=Good+morning.&source=en&target=de");
    assert!(answer.ends_with(r#"{"translatedText":"Guten Morgen."}"#), "{answer}");
    let line = server.line();
    let record: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&record["route"], &record["status"]), (&"/translate".into(), &200.into()));
    assert!(!line.contains("morning"), "{line}");
    server.signal(Signal::SIGHUP);
    let line = server.line();
    assert!(line.contains(r#""event":"loaded""#) && line.contains("tatoeba-de-en"), "{line}");
    let answer = server.post("/translate", "q=Guten+Morgen.&source=de&target=en");
    assert!(answer.ends_with(r#"{"translatedText":"Good morning."}"#), "{answer}");
    server.signal(Signal::SIGTERM);
    let mut rest = String::new();
    server.said.read_to_string(&mut rest).unwrap();
    assert!(rest.contains(r#""event":"stopping""#), "{rest}");
    assert_eq!(server.child.wait().unwrap().code(), Some(0), "it was asked to end, and did");
}

#[test]
fn quiet_and_json() {
    let mut server = Running::start(&["--quiet", "--json"]);
    assert!(server.post("/translate", "q=Hi.&source=en&target=de").starts_with("HTTP/1.1 200"));
    server.signal(Signal::SIGINT);
    let mut rest = String::new();
    server.said.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "", "nothing but the address");
    let mut data = String::new();
    server.child.stdout.take().unwrap().read_to_string(&mut data).unwrap();
    let data: serde_json::Value = serde_json::from_str(&data).unwrap();
    assert_eq!(data["listening"], format!("http://{}", server.address));
    assert_eq!(data["models"], serde_json::json!(["tatoeba-de-en", "tatoeba-en-de"]));
}

#[test]
fn what_is_wrong_is_said_before_it_listens() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("keys.toml"), "[[key]]\nname = \"a\"\nsecret = \"x\"\n").unwrap();
    std::fs::create_dir(at("empty")).unwrap();
    let model = models().join("tatoeba-en-de");
    std::fs::create_dir(at("nameless")).unwrap();
    for file in std::fs::read_dir(&model).unwrap() {
        let file = file.unwrap();
        if file.file_name() != "README.md" {
            std::fs::copy(file.path(), directory.path().join("nameless").join(file.file_name()))
                .unwrap();
        }
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let models = models().to_str().unwrap().to_owned();
    let cases: [(&[&str], &str, &str); 8] = [
        (&["--models", &at("none")], "cannot search", ""),
        (&["--models", &at("empty")], "no models in", "--models names a directory"),
        (&["--model", &at("empty")], "does not say what it translates", "SOMETHING-FROM-TO"),
        (&["--model", &at("nameless")], "does not say what it translates", "SOMETHING-FROM-TO"),
        (&["--models", &models, "--keys", &at("keys.toml")], "unknown field `secret`", "[[key]]"),
        (&["--models", &models, "--keys", &at("none")], "cannot read", "[[key]]"),
        (&["--models", &models, "--listen", &taken], "cannot listen on", ""),
        (&["--models", &models, "--max-queue", "0"], "--max-queue is 0", ""),
    ];
    for (arguments, error, hint) in cases {
        let output = padir(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains(error) && said.contains(hint), "{arguments:?}: {said}");
        assert!(!said.contains("listening"), "{arguments:?}: {said}");
    }
}

#[test]
fn help_has_examples() {
    let output = padir(&["--help"]).output().unwrap();
    let help = String::from_utf8_lossy(&output.stdout);
    assert!(help.contains("Examples:") && help.contains("--keys"), "{help}");
}
