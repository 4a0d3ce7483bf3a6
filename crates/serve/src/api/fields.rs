//! The fields of a request, wherever they stand: in a JSON object, in form data, in multipart form data, or in the query.
//!
//! LibreTranslate's clients use all four. A field that stands twice in a form is a list.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header;
use futures_util::StreamExt;
use serde_json::{Map, Value};
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use crate::error::Refusal;

/// A body is read to its end even if it is too large, so that the client reads the answer; up to this many times what is allowed.
const DRAINED: usize = 16;

/// What a request says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// The fields.
    pub values: Map<String, Value>,
    /// The file, if one was uploaded.
    pub file: Option<Upload>,
}

/// An uploaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// What the client calls it.
    pub name: String,
    /// What is in it.
    pub content: Vec<u8>,
}

/// Fields that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FieldsError {
    /// Not what its type says.
    #[error("{0}")]
    Syntax(String),
    /// Another type.
    #[error("the body is {0}")]
    Type(String),
}

impl From<FieldsError> for Refusal {
    fn from(error: FieldsError) -> Self {
        match error {
            FieldsError::Syntax(reason) => Self::Invalid(reason),
            FieldsError::Type(kind) => Self::BodyType(kind),
        }
    }
}

/// The fields of a query and of a body that is JSON or a form.
///
/// # Errors
/// If the body is something else, or not what it says.
pub fn fields_of(kind: &str, query: Option<&str>, body: &[u8]) -> Result<Fields, FieldsError> {
    let mut fields = Fields::default();
    if let Some(query) = query {
        fields.add_form(query.as_bytes());
    }
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        _ if body.is_empty() => {}
        kind if kind == "application/json" || may_be_json(kind, body) => fields.add_json(body)?,
        "" | "application/x-www-form-urlencoded" => fields.add_form(body),
        other => return Err(FieldsError::Type(other.chars().take(60).collect())),
    }
    Ok(fields)
}

/// Who does not say what a body is may mean JSON.
fn may_be_json(kind: &str, body: &[u8]) -> bool {
    matches!(kind, "" | "text/plain") && body.trim_ascii_start().starts_with(b"{")
}

impl Fields {
    fn add_json(&mut self, body: &[u8]) -> Result<(), FieldsError> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| FieldsError::Syntax(format!("the body is not JSON: {error}")))?;
        match value {
            Value::Object(values) => {
                self.values.extend(values);
                Ok(())
            }
            _ => Err(FieldsError::Syntax("the body is JSON, but not an object".to_owned())),
        }
    }

    fn add_form(&mut self, body: &[u8]) {
        for (key, value) in form_urlencoded::parse(body) {
            self.add(key.into_owned(), value.into_owned());
        }
    }

    fn add(&mut self, key: String, value: String) {
        match self.values.get_mut(&key) {
            None => {
                self.values.insert(key, Value::String(value));
            }
            Some(Value::Array(list)) => list.push(Value::String(value)),
            Some(first) => *first = Value::Array(vec![first.take(), Value::String(value)]),
        }
    }

    /// Reads a request, until a point in time and up to so many bytes.
    pub(crate) async fn read(
        request: Request,
        most: usize,
        until: Instant,
    ) -> Result<Self, Refusal> {
        let (parts, body) = request.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        let late = |_| Refusal::invalid("the body did not arrive in time");
        let body = timeout_at(until, read_body(body, most)).await.map_err(late)??;
        if !kind.to_ascii_lowercase().starts_with("multipart/form-data") {
            return Ok(fields_of(&kind, parts.uri.query(), &body)?);
        }
        let mut fields = fields_of("", parts.uri.query(), &[])?;
        fields.add_multipart(Request::from_parts(parts, Body::from(body))).await?;
        Ok(fields)
    }

    async fn add_multipart(&mut self, request: Request) -> Result<(), Refusal> {
        let wrong =
            |reason: String| Refusal::Invalid(format!("the form data is damaged: {reason}"));
        let form = Multipart::from_request(request, &()).await;
        let mut form = form.map_err(|error| wrong(error.body_text()))?;
        while let Some(part) = form.next_field().await.map_err(|error| wrong(error.body_text()))? {
            let name = part.name().unwrap_or_default().to_owned();
            let file_name = part.file_name().map(str::to_owned);
            let content = part.bytes().await.map_err(|error| wrong(error.body_text()))?;
            match file_name {
                Some(file_name) => {
                    self.file = Some(Upload { name: file_name, content: content.to_vec() });
                }
                None => self.add(name, String::from_utf8_lossy(&content).into_owned()),
            }
        }
        Ok(())
    }

    /// A field that is a string.
    pub(crate) fn string(&self, key: &str) -> Result<Option<&str>, Refusal> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Refusal::Invalid(format!("Invalid request: {key} must be a string"))),
        }
    }

    /// A field that must be there.
    pub(crate) fn needed(&self, key: &str) -> Result<&str, Refusal> {
        let missing = || Refusal::Invalid(format!("Invalid request: missing {key} parameter"));
        self.string(key)?.ok_or_else(missing)
    }
}

/// Reads a body. What is more than allowed is read and thrown away, within bounds.
async fn read_body(body: Body, most: usize) -> Result<Bytes, Refusal> {
    let mut stream = body.into_data_stream();
    let (mut all, mut length) = (Vec::new(), 0_usize);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Refusal::invalid("the body did not arrive"))?;
        length = length.saturating_add(chunk.len());
        if length <= most {
            all.extend_from_slice(&chunk);
        } else if length > most.saturating_mul(DRAINED) {
            break;
        }
    }
    if length > most {
        return Err(Refusal::TooLarge(format!("the body has more than {most} bytes")));
    }
    Ok(Bytes::from(all))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_stand_anywhere() {
        let cases = [
            (
                "application/json; charset=utf-8",
                None,
                r#"{"q":["a","b"]}"#,
                json!({"q": ["a", "b"]}),
            ),
            (
                "application/x-www-form-urlencoded",
                None,
                "q=a+b%21&x=",
                json!({"q": "a b!", "x": ""}),
            ),
            ("", Some("q=%C3%A4"), "", json!({"q": "ä"})),
            (
                "application/x-www-form-urlencoded",
                Some("q=a"),
                "q=b&q=c",
                json!({"q": ["a", "b", "c"]}),
            ),
            ("text/plain", None, r#" {"q": 1}"#, json!({"q": 1})),
            ("", None, "q=1", json!({"q": "1"})),
        ];
        for (kind, query, body, expected) in cases {
            let fields = fields_of(kind, query, body.as_bytes()).unwrap();
            assert_eq!(Value::Object(fields.values), expected, "{kind} {query:?} {body}");
        }
        let wrong = |kind: &str, body: &str| {
            fields_of(kind, None, body.as_bytes()).unwrap_err().to_string()
        };
        assert!(wrong("application/json", "{").starts_with("the body is not JSON: EOF"));
        assert_eq!(wrong("application/json", "[]"), "the body is JSON, but not an object");
        assert_eq!(wrong("image/png", "x"), "the body is image/png");
    }
}
