//! The backups' page: list, make one, download.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue,
};
use operator::operations::backups::BackupContent;
use pages::{PageContext, PageError, Params, Response};

use super::views::backups::BackupsPage;
use crate::actors;
use crate::context::Context;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let list = context.operations().backups().await?;
    let started_by = list.run.as_ref().map(|run| run.started_by.clone()).unwrap_or_default();
    let labels = actors::labels(context, std::iter::once(started_by.as_str())).await?;
    let started_by = labels.into_values().next().unwrap_or_default();
    Ok(context.show(&BackupsPage { list, started_by }))
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let operations = context.operations();
    match form.get("do") {
        Some("start") => {
            let run = operations.start_backup().await?;
            Ok(context.done(&context.console_path("backups"), "backup_started", &run))
        }
        Some("download") => {
            let content = operations.download_backup(form.get("backup").unwrap_or_default()).await?;
            Ok(attachment(content))
        }
        _ => Err(PageError::no_action()),
    }
}

/// The file, streamed.
fn attachment(content: BackupContent) -> Response {
    let headers: [(HeaderName, String); 4] = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_LENGTH, content.bytes.to_string()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", content.name)),
        (CACHE_CONTROL, "no-store".to_owned()),
    ];
    let mut response = Response::new(Body::from_stream(content.pieces));
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
