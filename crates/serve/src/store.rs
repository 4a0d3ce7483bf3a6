//! Translated files that wait for their download: in memory, bounded in bytes and time, under names that cannot be guessed.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;

use crate::document::Kind;
use crate::error::Refusal;

/// A translated file.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    name: String,
    pub(crate) kind: Kind,
    pub(crate) content: Bytes,
    /// What it is called where it is saved.
    pub(crate) title: String,
    until: Instant,
}

/// Translated files, the oldest first.
pub(crate) struct Store {
    files: Mutex<VecDeque<Stored>>,
    /// Bytes of all of them.
    capacity: usize,
    time: Duration,
}

impl Store {
    pub(crate) fn new(capacity: usize, time: Duration) -> Self {
        Self { files: Mutex::default(), capacity, time }
    }

    /// Keeps a file for some time, in place of the oldest if there is no room. Returns its name.
    pub(crate) fn keep(
        &self,
        kind: Kind,
        title: String,
        content: String,
    ) -> Result<String, Refusal> {
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).map_err(|_| Refusal::Failed)?;
        let mut name = String::new();
        for byte in random {
            let _ = write!(name, "{byte:02x}");
        }
        name.push('.');
        name.push_str(kind.extension());
        if content.len() > self.capacity {
            return Err(Refusal::TooLarge(
                "the translated file is too large to be kept".to_owned(),
            ));
        }
        let (now, content) = (Instant::now(), Bytes::from(content));
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|file| file.until > now);
        let mut total: usize = files.iter().map(|file| file.content.len()).sum();
        while total + content.len() > self.capacity {
            total -= files.pop_front().map_or(total, |file| file.content.len());
        }
        files.push_back(Stored {
            name: name.clone(),
            kind,
            content,
            title,
            until: now + self.time,
        });
        Ok(name)
    }

    /// The file of a name.
    pub(crate) fn get(&self, name: &str) -> Option<Stored> {
        let now = Instant::now();
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().find(|file| file.name == name && file.until > now).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_as_long_as_there_is_room_and_time() {
        let store = Store::new(10, Duration::from_mins(1));
        let keep = |content: &str| store.keep(Kind::Text, String::new(), content.to_owned());
        let first = keep("1234").unwrap();
        let second = keep("5678").unwrap();
        assert_ne!(first, second);
        assert_eq!(first.len(), 36, "32 digits and .txt");
        assert_eq!(&store.get(&first).unwrap().content[..], b"1234");
        let third = keep("90ab").unwrap();
        assert!(store.get(&first).is_none(), "the oldest made room");
        assert!(store.get(&second).is_some() && store.get(&third).is_some());
        assert!(keep("more than ten bytes").is_err());
        let brief = Store::new(10, Duration::ZERO);
        let gone = brief.keep(Kind::Text, String::new(), "1".to_owned()).unwrap();
        assert!(brief.get(&gone).is_none());
    }
}
