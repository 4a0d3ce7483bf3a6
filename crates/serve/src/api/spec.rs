//! The description of all interfaces, made from the code.

use axum::Json;
use utoipa::OpenApi;

use super::{files, libre, native, operation, stream};

/// All paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "padir serve",
        description = "Translation by parallel decoding. The first part is LibreTranslate's interface; /v1 is padir's own. Errors are `{\"error\": \"…\"}`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    paths(
        libre::translate,
        libre::detect,
        libre::languages,
        libre::settings,
        files::translate_file,
        files::download_file,
        native::translate,
        native::models,
        native::manual,
        stream::translate,
        operation::health,
        operation::ready,
        operation::metrics,
    ),
    components(schemas(stream::StartEvent, stream::StepEvent, native::TranslateResponse))
)]
struct Spec;

/// The description.
pub(crate) fn description() -> utoipa::openapi::OpenApi {
    Spec::openapi()
}

pub(crate) async fn spec() -> Json<utoipa::openapi::OpenApi> {
    Json(description())
}
