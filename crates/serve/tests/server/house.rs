//! A server on loopback with the models of the repository, and a client of a few lines.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use padir_serve::{Handle, Load, LoadError, Loaded, Options, Server};
use padir_translate::Translator;
use serde_json::Value;

pub(crate) struct House {
    pub(crate) address: SocketAddr,
    pub(crate) handle: Handle,
    /// What the server said of its work.
    pub(crate) log: Arc<Mutex<Vec<Value>>>,
    thread: Option<JoinHandle<()>>,
}

pub(crate) fn directory(pair: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models").join(format!("tatoeba-{pair}"))
}

pub(crate) fn open(pair: &str) -> Translator {
    Translator::open(directory(pair), padir_translate::Options::default()).unwrap()
}

pub(crate) fn load() -> Load {
    Box::new(|| {
        let loaded = |pair: &str| -> Result<Loaded, LoadError> {
            let (source, target) = pair.split_once('-').unwrap();
            let translator =
                Translator::open(directory(pair), padir_translate::Options::default())?;
            let name = format!("tatoeba-{pair}");
            Ok(Loaded { name, source: source.into(), target: target.into(), translator })
        };
        ["en-de", "de-en"].into_iter().map(loaded).collect()
    })
}

impl House {
    pub(crate) fn build() -> Self {
        Self::with(|_| {}, load())
    }

    pub(crate) fn with(change: impl FnOnce(&mut Options), load: Load) -> Self {
        let log = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&log);
        let mut options = Options {
            listen: "127.0.0.1:0".to_owned(),
            log: Box::new(move |record| {
                kept.lock().unwrap().push(serde_json::to_value(record).unwrap());
            }),
            ..Options::default()
        };
        // Whoever tests is not in a hurry: machines may be slow.
        options.limits.time = Duration::from_mins(10);
        change(&mut options);
        let server = Server::bind(options, load).unwrap();
        let (address, handle) = (server.address(), server.handle());
        let thread = Some(std::thread::spawn(move || server.run(|| {}).unwrap()));
        Self { address, handle, log, thread }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn json(&self, path: &str, body: &Value) -> Reply {
        let body = body.to_string();
        self.send("POST", path, &[("Content-Type", "application/json")], body.as_bytes())
    }

    pub(crate) fn form(&self, path: &str, body: &str) -> Reply {
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        self.send("POST", path, &[kind], body.as_bytes())
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        send(self.address, method, path, headers, body)
    }

    /// A number of Prometheus.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let all = self.get("/metrics").body;
        let line = all.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse().ok()).unwrap_or(0.0)
    }

    pub(crate) fn stop(mut self) {
        self.handle.stop();
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.handle.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn error(&self) -> String {
        self.value()["error"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn connect(address: SocketAddr, head: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(10))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    stream
}

pub(crate) fn head(method: &str, path: &str, headers: &[(&str, &str)], length: usize) -> String {
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: here:1\r\nConnection: close\r\nContent-Length: {length}\r\n"
    );
    for (key, value) in headers {
        head.extend([key, ": ", value, "\r\n"]);
    }
    head + "\r\n"
}

pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Reply {
    let stream = connect(address, &head(method, path, headers, body.len()), body);
    read(stream)
}

pub(crate) fn read(mut stream: TcpStream) -> Reply {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let text = String::from_utf8(all).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunked(body) } else { body.to_owned() };
    Reply { status, head: head.to_owned(), body }
}

fn unchunked(mut rest: &str) -> String {
    let mut whole = Vec::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap();
        whole.extend_from_slice(&after.as_bytes()[..length]);
        rest = after[length..].strip_prefix("\r\n").unwrap_or("");
        if length == 0 {
            break;
        }
    }
    String::from_utf8(whole).unwrap()
}

/// The events of a stream.
pub(crate) fn events(reply: &Reply) -> Vec<(String, Value)> {
    let event = |message: &str| {
        let field =
            |name: &str| message.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let data = serde_json::from_str(field("data:")?).unwrap();
        Some((field("event:")?.to_owned(), data))
    };
    reply.body.split("\n\n").filter_map(event).collect()
}

/// Different sentences.
pub(crate) fn sentences(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("I have {i} books and {} pens in my house.", i * 7 + 3)).collect()
}
