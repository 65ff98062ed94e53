//! Ingest over HTTP: `POST /operator/v1/tenants/{tenant}/changes`.

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use domain::problem::Problem;
use domain::{ErrorCode, FieldError, TenantId};
use http_body_util::BodyDataStream;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::schema::{AnyOfBuilder, Array, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::routes;
use web::{ErrorResponse, drain_in_background};

use super::document::{BadChanges, NotFound};
use super::error_response::{error_with_code, store_error_response};
use super::input::RequestOrigin;
use super::{AppState, Routes, SharedState};
use crate::admin::Authority;
use crate::ingest::{IngestError, IngestRequest};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const KEY_BYTES_MAX: usize = 255;
/// How much of a refused body is still read, so that its sender sees the response.
const DRAIN_BYTES_MAX: usize = 256 * 1024 * 1024;

/// One change of one record.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Change {
    area: Area,
    /// The last segment of the resource's path, `companies`, or the name of an invoicing entity.
    #[schema(examples("customers"))]
    resource: String,
    /// The company's correlationId; required for the accounting family, except for companies themselves.
    company: Option<String>,
    action: Action,
    /// The writer's id of the record; one is generated for an upsert without it.
    #[schema(min_length = 1, max_length = 200)]
    correlation_id: Option<String>,
    /// The record, for an upsert.
    #[schema(value_type = Option<Object>)]
    data: Option<Value>,
    user: Option<String>,
    source_interface: Option<String>,
    source_action: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code, reason = "named in the document; `domain` reads changes")]
enum Area {
    Accounting,
    Core,
    Import,
    Payroll,
    Invoicing,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code, reason = "named in the document; `domain` reads changes")]
enum Action {
    Upsert,
    Disable,
    Enable,
    Delete,
    Fail,
}

/// A body of changes. Invalid items are rejected one by one and not with the body, so the schema allows anything.
struct Changes;

impl PartialSchema for Changes {
    fn schema() -> RefOr<Schema> {
        let what = "An array of changes, or one change. A body that does not begin with `[` is read line by line. An \
            invalid change is counted as rejected, and the response says why.";
        let change = Ref::from_schema_name("Change");
        let any = AnyOfBuilder::new()
            .description(Some(what))
            .item(Array::new(change.clone()))
            .item(change)
            // Anything else that is read, and then rejected.
            .item(Array::new(ObjectBuilder::new().schema_type(SchemaType::AnyValue)))
            .item(ObjectBuilder::new().schema_type(Type::Object));
        Schema::AnyOf(any.build()).into()
    }
}

impl ToSchema for Changes {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Change::name().into(), Change::schema()));
        Change::schemas(schemas);
    }
}

/// The outcome of the changes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChangesAnswer)]
#[allow(dead_code, reason = "named in the document; the response is streamed")]
struct ChangesResponse {
    #[schema(format = "uuid")]
    process_id: String,
    /// Committed changes.
    accepted: u64,
    rejected: u64,
    /// The last sequence number of the tenant's log, as text.
    #[schema(pattern = "^[0-9]+$")]
    last_sequence_version: String,
    /// The first 1,000 rejected lines.
    errors: Vec<LineFault>,
    /// Accepted lines that look suspicious.
    #[schema(required = false)]
    warnings: Vec<LineFault>,
    /// The generated ids of lines that came without a correlationId.
    ids: Vec<GeneratedId>,
}

/// A fault of one line.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "named in the document")]
struct LineFault {
    /// Counted from 1.
    #[schema(minimum = 1)]
    line: u64,
    /// A stable code, for programs.
    #[schema(examples("unknown_record"))]
    code: String,
    /// The explanation, for people.
    message: String,
    #[schema(required = false, nullable = false)]
    field: Option<String>,
}

/// The id generated for a line.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MadeId)]
#[allow(dead_code, reason = "named in the document")]
struct GeneratedId {
    #[schema(minimum = 1)]
    line: u64,
    correlation_id: String,
}

pub(super) fn routes() -> Routes {
    vec![routes!(changes)]
}

/// Apply changes
///
/// A body of any length, as JSON lines or as one array. Every change counted as accepted is committed. With an
/// Idempotency-Key an interrupted body can be sent again: committed lines are skipped.
#[utoipa::path(
    post,
    path = "/operator/v1/tenants/{tenant}/changes",
    operation_id = "applyChanges",
    tag = "Changes",
    params(
        ("tenant" = String, Path, description = "The tenant's id"),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, nullable = false,
            pattern = "^[!-~]([ -~]*[!-~])?[\\t ]*$",
            description = "Makes a retry safe; stored for a day after its last use")
    ),
    request_body(content(
        (String = "application/x-ndjson"),
        (Changes = "application/json", example = json!([{"area": "core", "resource": "persons", "action": "delete", "correlationId": "p-1"}]))
    )),
    responses(
        (status = 200, description = "The outcome of every line", body = ChangesResponse),
        BadChanges,
        NotFound
    )
)]
async fn changes(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    tenant: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    mut body: Body,
) -> Result<Response, ErrorResponse> {
    // Boxed, so that the layers above move a pointer and not the whole state of the ingest.
    let outcome = Box::pin(ingest_body(&state, &authority, tenant, &headers, &mut body)).await;
    if outcome.is_err() {
        drain_in_background(body, DRAIN_BYTES_MAX);
    }
    outcome
}

async fn ingest_body(
    state: &AppState,
    authority: &Authority,
    tenant: Result<Path<String>, PathRejection>,
    headers: &HeaderMap,
    body: &mut Body,
) -> Result<Response, ErrorResponse> {
    let Path(tenant) =
        tenant.map_err(|wrong| ErrorResponse::new(ErrorCode::InvalidPath, wrong.body_text()))?;
    let mut request = IngestRequest::new(authority, TenantId::new(tenant))?;
    request.is_json = check_type(headers)?;
    request.idempotency_key = idempotency_key(headers)?;
    let outcome = state.ingest.run(&request, BodyDataStream::new(body), state.change_counter()).await;
    outcome.map(IntoResponse::into_response).map_err(|error| ingest_error_response(&error))
}

/// Accepts uncompressed JSON lines or a JSON array. Returns whether the body is declared as JSON.
fn check_type(headers: &HeaderMap) -> Result<bool, ErrorResponse> {
    const TYPES: [&str; 5] =
        ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/json", "text/plain"];
    if let Some(encoding) = headers.get(CONTENT_ENCODING)
        && encoding != "identity"
    {
        let message = "Send the body without Content-Encoding.";
        return Err(ErrorResponse::new(ErrorCode::UnsupportedMediaType, message));
    }
    let Some(given) = headers.get(CONTENT_TYPE) else {
        return Ok(false);
    };
    let essence = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if TYPES.iter().any(|known| essence.eq_ignore_ascii_case(known)) {
        return Ok(essence.eq_ignore_ascii_case("application/json"));
    }
    let message =
        format!("Content-Type is {essence:?}; send application/x-ndjson, or application/json for an array.");
    Err(ErrorResponse::new(ErrorCode::UnsupportedMediaType, message))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ErrorResponse> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default();
    let is_printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if key.is_empty() || key.len() > KEY_BYTES_MAX || !is_printable {
        let message = format!("Idempotency-Key must be 1 to {KEY_BYTES_MAX} printable ASCII characters.");
        let fault = FieldError::new(ErrorCode::InvalidHeader, message.clone()).at("Idempotency-Key");
        return Err(Problem::new(ErrorCode::InvalidHeader, message).with(fault).into());
    }
    Ok(Some(key.to_owned()))
}

/// Maps ingest errors to HTTP; each message says which changes are committed.
fn ingest_error_response(error: &IngestError) -> ErrorResponse {
    let counts = error.counts();
    let committed = format!(
        "{} accepted and {} rejected before stay as they are (lastSequenceVersion {}).",
        counts.accepted, counts.rejected, counts.last_sequence
    );
    match error {
        IngestError::Store(error, _) => {
            let mut error_response = store_error_response(error);
            if counts.accepted + counts.rejected > 0 {
                error_response.problem.message = format!("{} {committed}", error_response.problem.message);
            }
            error_response
        }
        IngestError::CutOff(why, _) => {
            let message = format!(
                "The body was cut off ({why}). {committed} Send the rest, or all again under an Idempotency-Key."
            );
            error_with_code(ErrorCode::BodyCutOff, message)
        }
        IngestError::NotChanges(why, _) => {
            error_with_code(ErrorCode::NotChanges, format!("The body cannot be read on: {why}. {committed}"))
        }
        IngestError::OtherBody(_) => error_with_code(
            ErrorCode::IdempotencyKeyReused,
            "Another body was sent under this Idempotency-Key before; use a new key for new changes.".into(),
        ),
    }
}
