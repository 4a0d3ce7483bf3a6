//! Files and markup: what of them is text, and the same with the text translated.

pub(crate) mod html;
pub(crate) mod srt;

use html::Html;
use srt::Srt;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Plain text.
    Text,
    /// Subtitles.
    Srt,
    /// A web page.
    Html,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Text, Self::Srt, Self::Html];

    /// By the end of a file's name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let (_, end) = name.rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            "txt" => Some(Self::Text),
            "srt" => Some(Self::Srt),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }

    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Srt => "srt",
            Self::Html => "html",
        }
    }

    /// Nothing that a browser would run as a page of this server.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Text | Self::Srt => "text/plain; charset=utf-8",
            Self::Html => "text/html; charset=utf-8",
        }
    }
}

/// Something with texts in it.
pub(crate) enum Document {
    Text(String),
    Srt(Srt),
    Html(Html),
}

impl Document {
    pub(crate) fn parse(kind: Kind, content: &str) -> Self {
        match kind {
            Kind::Text => Self::Text(content.to_owned()),
            Kind::Srt => Self::Srt(Srt::parse(content)),
            Kind::Html => Self::Html(Html::parse(content)),
        }
    }

    /// Its texts.
    pub(crate) fn texts(&self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text.clone()],
            Self::Srt(srt) => srt.texts(),
            Self::Html(html) => html.texts(),
        }
    }

    /// The same with other texts, as many as there are.
    pub(crate) fn with(&self, texts: Vec<String>) -> String {
        match self {
            Self::Text(_) => texts.into_iter().next().unwrap_or_default(),
            Self::Srt(srt) => srt.with(texts),
            Self::Html(html) => html.with(texts),
        }
    }
}
