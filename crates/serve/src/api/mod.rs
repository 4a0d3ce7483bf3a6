//! What clients can ask for.

pub(crate) mod fields;
pub(crate) mod files;
pub(crate) mod libre;
pub(crate) mod native;
pub(crate) mod operation;
pub(crate) mod spec;
pub(crate) mod stream;
pub(crate) mod website;

use std::sync::Arc;

use axum::Router;
use axum::http::Method;
use axum::routing::{get, post};

use crate::app::App;
use crate::error::Refusal;

/// All routes.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let work = Router::new()
        .route("/", post(website::translate))
        .route("/translate", post(libre::translate))
        .route("/detect", post(libre::detect))
        .route("/translate_file", post(files::translate_file))
        .route("/v1/translate", post(native::translate))
        .route("/v1/translate/stream", post(stream::translate))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(app), crate::app::bound));
    Router::new()
        .merge(work)
        .route("/", get(website::page))
        .route("/app.js", get(website::script))
        .route("/style.css", get(website::style))
        .route("/docs", get(website::docs))
        .route("/languages", get(libre::languages))
        .route("/frontend/settings", get(libre::settings))
        .route("/download_file/{name}", get(files::download_file))
        .route("/v1/models", get(native::models))
        .route("/v1/manual", get(native::manual))
        .route("/spec", get(spec::spec))
        .route("/health", get(operation::health))
        .route("/ready", get(operation::ready))
        .route("/metrics", get(operation::metrics))
        .fallback(|| async { Refusal::Missing("there is nothing at this address") })
        .method_not_allowed_fallback(
            |method: Method| async move { Refusal::Method(method.to_string()) },
        )
        .layer(axum::middleware::from_fn_with_state(Arc::clone(app), crate::app::observe))
        .with_state(Arc::clone(app))
}
