//! The page. It translates without JavaScript, by a form that is sent to its own address.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::libre::choose;
use crate::app::{Active, App, How};
use crate::error::Refusal;
use crate::page::{self, Shown};

/// Nothing from elsewhere, and nothing in the page's own markup, is run.
const POLICY: (HeaderName, &str) = (
    header::CONTENT_SECURITY_POLICY,
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);
const FRESH: (HeaderName, &str) = (header::CACHE_CONTROL, "no-cache");

fn html(status: StatusCode, page: String) -> Response {
    let kind = (header::CONTENT_TYPE, "text/html; charset=utf-8");
    (status, [kind, POLICY, FRESH], page).into_response()
}

pub(crate) async fn page(State(app): State<Arc<App>>) -> Response {
    html(StatusCode::OK, page::render(&app.catalogue(), &Shown::default(), app.gate.needs_key()))
}

pub(crate) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), FRESH], page::SCRIPT)
}

pub(crate) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8"), FRESH], page::STYLE)
}

pub(crate) async fn docs() -> Response {
    html(StatusCode::OK, page::DOCS.to_owned())
}

/// Translates what was sent from the form of the page.
pub(crate) async fn translate(
    State(app): State<Arc<App>>,
    Extension(active): Extension<Active>,
    request: Request,
) -> Response {
    let mut shown = Shown::default();
    let outcome = fill(&app, &active, request, &mut shown).await;
    let status = match &outcome {
        Ok(()) => StatusCode::OK,
        Err(refusal) => refusal.status(),
    };
    shown.error = outcome.err().map(|refusal| refusal.to_string());
    html(status, page::render(&app.catalogue(), &shown, app.gate.needs_key()))
}

async fn fill(
    app: &App,
    active: &Active,
    request: Request,
    shown: &mut Shown,
) -> Result<(), Refusal> {
    let (client, fields) = app.admit(active, request).await?;
    fields.needed("q")?.clone_into(&mut shown.text);
    let pair = fields.string("pair")?.unwrap_or_default().to_owned();
    let (source, target) = pair.split_once('|').unwrap_or(("auto", pair.as_str()));
    let choice = choose(&app.catalogue(), &shown.text, source, target)?;
    let item = choice.item(shown.text.clone());
    let translated = app.translate(active, &client, &[item], &How::default()).await?;
    shown.translation = translated.first().map(crate::app::Translated::text).unwrap_or_default();
    shown.pair = pair;
    Ok(())
}
