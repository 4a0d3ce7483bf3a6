//! API keys and rates.
//!
//! A file of keys holds their hashes, so that whoever reads it cannot use them:
//!
//! ```toml
//! [[key]]
//! name = "weblate"
//! sha256 = "…"                 # printf %s "$KEY" | sha256sum
//! requests_per_minute = 600    # none for any number
//! ```
//!
//! A key that is sent is hashed and compared with every hash, in a time that does not depend on where they differ. Rates are token
//! buckets: a minute's worth may come at once. O(keys) a request.

use std::collections::HashMap;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::error::Refusal;

/// Most clients whose rates are remembered; those with a full bucket are forgotten first.
const MAX_BUCKETS: usize = 10_000;

/// A file of keys that cannot be used.
#[derive(Debug, Error)]
pub enum KeysError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{}: {reason}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its line.
        reason: String,
    },
}

/// The keys of a server.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Keys {
    keys: Vec<Key>,
}

#[derive(Debug, PartialEq, Eq)]
struct Key {
    name: String,
    hash: [u8; 32],
    rate: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    key: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    sha256: String,
    requests_per_minute: Option<u32>,
}

impl Keys {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, has no keys, or a name or hash is wrong.
    pub fn read(path: &Path) -> Result<Self, KeysError> {
        let text = fs::read_to_string(path)
            .map_err(|source| KeysError::Read { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|reason| KeysError::Form { path: path.to_owned(), reason })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: File =
            toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        let mut keys: Vec<Key> = Vec::new();
        for Entry { name, sha256, requests_per_minute: rate } in file.key {
            let hash = hash_of(&sha256)
                .ok_or_else(|| format!("`sha256` of {name:?} is not 64 hexadecimal digits"))?;
            if rate == Some(0) {
                return Err(format!(
                    "`requests_per_minute` of {name:?} is 0; it must be at least 1"
                ));
            }
            if keys.iter().any(|key| key.name == name) {
                return Err(format!("there are two keys {name:?}"));
            }
            keys.push(Key { name, hash, rate });
        }
        if keys.is_empty() {
            return Err("there is no [[key]]".to_owned());
        }
        Ok(Self { keys })
    }

    /// The name and the rate of a key.
    fn find(&self, secret: &str) -> Option<&Key> {
        let hash: [u8; 32] = Sha256::digest(secret.as_bytes()).into();
        // All are compared, and each as a whole.
        let mut found = None;
        for key in &self.keys {
            if equal(&key.hash, &hash) {
                found = Some(key);
            }
        }
        found
    }
}

/// Compares in a time that does not depend on the bytes.
fn equal(a: &[u8; 32], b: &[u8; 32]) -> bool {
    let difference = a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b));
    std::hint::black_box(difference) == 0
}

fn hash_of(digits: &str) -> Option<[u8; 32]> {
    let digits = digits.trim().as_bytes();
    let mut hash = [0; 32];
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |d: u8| char::from(d).to_digit(16);
        *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
    }
    Some(hash)
}

/// Who sends requests, as far as turns and rates are concerned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// The holder of a key, by the key's name.
    Key(String),
    /// Somebody at an address.
    Address(IpAddr),
}

/// Lets clients in, or does not.
#[derive(Debug)]
pub(crate) struct Gate {
    keys: Option<Keys>,
    /// Of clients without a key.
    rate: Option<u32>,
    buckets: Mutex<HashMap<Client, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Gate {
    pub(crate) fn new(keys: Option<Keys>, rate: Option<u32>) -> Self {
        Self { keys, rate, buckets: Mutex::default() }
    }

    /// Whether a key is needed.
    pub(crate) fn needs_key(&self) -> bool {
        self.keys.is_some()
    }

    /// Lets a client in that may have sent a key.
    pub(crate) fn admit(&self, address: IpAddr, secret: Option<&str>) -> Result<Client, Refusal> {
        let (client, rate) = match (&self.keys, secret.filter(|secret| !secret.is_empty())) {
            (None, _) => (Client::Address(address), self.rate),
            (Some(_), None) => return Err(Refusal::NoKey),
            (Some(keys), Some(secret)) => {
                let key = keys.find(secret).ok_or(Refusal::WrongKey)?;
                (Client::Key(key.name.clone()), key.rate)
            }
        };
        if let Some(rate) = rate {
            self.spend(&client, rate, Instant::now())?;
        }
        Ok(client)
    }

    fn spend(&self, client: &Client, rate: u32, now: Instant) -> Result<(), Refusal> {
        let full = f64::from(rate);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(client) {
            // Who was silent for a minute has a full bucket, which is what a new client has.
            buckets.retain(|_, bucket| now.duration_since(bucket.at).as_secs() < 60);
            if buckets.len() >= MAX_BUCKETS {
                return Err(Refusal::Busy("too many clients"));
            }
        }
        let bucket = buckets.entry(client.clone()).or_insert(Bucket { tokens: full, at: now });
        let earned = now.duration_since(bucket.at).as_secs_f64() * full / 60.0;
        *bucket = Bucket { tokens: (bucket.tokens + earned).min(full), at: now };
        if bucket.tokens < 1.0 {
            let wait = ((1.0 - bucket.tokens) * 60.0 / full).ceil() as u64;
            return Err(Refusal::Rate { rate, wait: wait.max(1) });
        }
        bucket.tokens -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    /// `printf %s open-sesame | sha256sum`
    const SESAME: &str = "d7ecdf25eaf3deba0f2628771dbdd22d4138ab6cf38f91ed02a2ca0dec7c8ab7";

    fn keys(rate: &str) -> Keys {
        Keys::parse(&format!("[[key]]\nname = \"a\"\nsha256 = \"{SESAME}\"\n{rate}")).unwrap()
    }

    #[test]
    fn keys_are_known_by_their_hashes() {
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let gate = Gate::new(Some(keys("")), Some(1));
        assert_eq!(gate.admit(here, Some("open-sesame")), Ok(Client::Key("a".to_owned())));
        assert_eq!(gate.admit(here, Some("open-barley")), Err(Refusal::WrongKey));
        assert_eq!(gate.admit(here, None), Err(Refusal::NoKey));
        assert_eq!(gate.admit(here, Some("")), Err(Refusal::NoKey));
        let open = Gate::new(None, None);
        assert_eq!(open.admit(here, Some("whatever")), Ok(Client::Address(here)));
    }

    #[test]
    fn rates_are_kept() {
        let gate = Gate::new(None, Some(3));
        let (client, start) = (Client::Address(IpAddr::V4(Ipv4Addr::LOCALHOST)), Instant::now());
        let after = |seconds| gate.spend(&client, 3, start + Duration::from_secs(seconds));
        assert_eq!((after(0), after(0), after(0)), (Ok(()), Ok(()), Ok(())));
        assert_eq!(after(0), Err(Refusal::Rate { rate: 3, wait: 20 }));
        assert_eq!((after(20), after(20).is_err()), (Ok(()), true));
        assert_eq!((after(3600), after(3600), after(3600)), (Ok(()), Ok(()), Ok(())));
        assert!(after(3600).is_err(), "a minute's worth is saved up, not an hour's");
    }

    #[test]
    fn bad_files_are_refused_with_the_reason() {
        let cases = [
            ("", "there is no [[key]]"),
            ("[[key]]\nname = 1\nsha256 = \"\"", "invalid type: integer"),
            ("[[key]]\nname = \"a\"\nsha256 = \"00\"", "`sha256` of \"a\" is not 64"),
            ("[[key]]\nname = \"a\"\nsecret = \"x\"", "unknown field `secret`"),
        ];
        for (text, expected) in cases {
            let error = Keys::parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let zero = format!("[[key]]\nname=\"a\"\nsha256=\"{SESAME}\"\nrequests_per_minute=0");
        assert!(Keys::parse(&zero).unwrap_err().contains("is 0"));
    }
}
