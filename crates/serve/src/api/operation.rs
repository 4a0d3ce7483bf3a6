//! What operators and their programs ask for.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::error::{ErrorBody, Refusal};

/// How the server is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatusBody {
    /// `ok`.
    status: &'static str,
}

/// Says that the process lives.
#[utoipa::path(
    get, path = "/health", tag = "operation",
    responses((status = 200, description = "It lives", body = StatusBody))
)]
pub(crate) async fn health() -> Json<StatusBody> {
    Json(StatusBody { status: "ok" })
}

/// Says whether new requests are welcome: models are loaded, and the server is not about to stop.
#[utoipa::path(
    get, path = "/ready", tag = "operation",
    responses(
        (status = 200, description = "It is ready", body = StatusBody),
        (status = 503, description = "It is about to stop", body = ErrorBody),
    )
)]
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<Json<StatusBody>, Refusal> {
    if app.is_ready() {
        Ok(Json(StatusBody { status: "ok" }))
    } else {
        Err(Refusal::Busy("the server stops"))
    }
}

/// Gives numbers to Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "operation",
    responses((status = 200, description = "OpenMetrics text", content_type = "application/openmetrics-text", body = String))
)]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    app.metrics.queue.set(app.queue.len() as i64);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    (StatusCode::OK, [(header::CONTENT_TYPE, kind)], app.metrics.text()).into_response()
}
