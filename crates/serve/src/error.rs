//! Why a server does not start, and why a request is refused.
//!
//! Answers to clients are JSON, `{"error": "…"}`, as LibreTranslate's are. They never name a path of the file system: what went
//! wrong inside of the server is for its log.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use padir_decode::SettingsError;
use padir_translate::TranslateError;
use serde::Serialize;
use thiserror::Error;
use utoipa::ToSchema;

use crate::catalogue::LoadError;

/// A server that cannot start or go on.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The models cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There is nothing to serve.
    #[error("there are no models to serve")]
    NoModels,
    /// Two models for the same languages.
    #[error("{first} and {second} both translate {source_language} to {target_language}")]
    TwoModels {
        /// The name of one.
        first: String,
        /// The name of the other.
        second: String,
        /// The language they translate from.
        source_language: String,
        /// The language they translate into.
        target_language: String,
    },
    /// The runtime or a thread cannot start.
    #[error("cannot start threads")]
    Threads(#[source] std::io::Error),
}

/// A request that is not answered as asked.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum Refusal {
    /// The client asked for something impossible.
    #[error("{0}")]
    Invalid(String),
    /// A key is needed.
    #[error(
        "this server needs an API key; send it as `api_key` or in the header `Authorization: Bearer`"
    )]
    NoKey,
    /// Not a key of this server.
    #[error("Invalid API key")]
    WrongKey,
    /// No such thing.
    #[error("{0}")]
    Missing(&'static str),
    /// Not with this method.
    #[error("this address does not answer {0}")]
    Method(String),
    /// A body of a type that is not read.
    #[error("the body is {0}; it must be JSON, form data or multipart form data")]
    BodyType(String),
    /// More than a limit.
    #[error("{0}")]
    TooLarge(String),
    /// Too many requests of one client.
    #[error("Slowdown: {rate} requests a minute are allowed")]
    Rate {
        /// The rate that was exceeded.
        rate: u32,
        /// Seconds until the next one is accepted.
        wait: u64,
    },
    /// Too many requests of all clients.
    #[error("{0}")]
    Busy(&'static str),
    /// The time is up.
    #[error("the request took more than {0} seconds")]
    Late(u64),
    /// Our own fault.
    #[error("the server failed")]
    Failed,
}

/// An error, as clients read it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// What is wrong.
    pub(crate) error: String,
}

impl Refusal {
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid(reason.into())
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) | Self::NoKey => StatusCode::BAD_REQUEST,
            Self::WrongKey => StatusCode::FORBIDDEN,
            Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Rate { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy(_) | Self::Late(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Seconds after which another attempt makes sense.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Rate { wait, .. } => Some(*wait),
            Self::Busy(_) => Some(1),
            Self::Late(_) => Some(5),
            _ => None,
        }
    }
}

impl From<SettingsError> for Refusal {
    fn from(error: SettingsError) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<&TranslateError> for Refusal {
    fn from(error: &TranslateError) -> Self {
        match error {
            TranslateError::Settings(_)
            | TranslateError::TemplateMethod(_)
            | TranslateError::TemplateParts(_)
            | TranslateError::TemplateToken(_)
            | TranslateError::Unspellable(_) => Self::Invalid(error.to_string()),
            // Others may name files.
            _ => Self::Failed,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = ErrorBody { error: self.to_string() };
        let mut response = (self.status(), axum::Json(body)).into_response();
        if let Some(seconds) = self.retry_after() {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
