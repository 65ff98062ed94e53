//! The changes door over HTTP: `POST /operator/v1/tenants/{tenant}/changes`.

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use domain::problem::Problem;
use domain::{FieldError, TenantId};
use http_body_util::BodyDataStream;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::schema::{AnyOfBuilder, Array, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::routes;
use web::{ErrorResponse, drain_in_background};

use super::document::{BadChanges, Missing};
use super::refusal::{coded, store_refusal};
use super::{Desk, Operator, Routes};
use crate::door::{Delivery, DoorError};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const KEY_BYTES_MAX: usize = 255;
/// How much of a refused body is still read, so that its sender sees the answer.
const DRAIN_BYTES_MAX: usize = 256 * 1024 * 1024;

/// One change of one record.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Change {
    area: Area,
    /// The last segment of the resource's path, `companies`, or the name of an invoicing entity.
    #[schema(examples("customers"))]
    resource: String,
    /// The company's correlationId; the accounting family needs it, except for companies themselves.
    company: Option<String>,
    action: Action,
    /// What the writer calls the record; one is made for an upsert that has none.
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

/// A body of changes. What is no change is no reason to refuse it, so the document takes anything.
struct Changes;

impl PartialSchema for Changes {
    fn schema() -> RefOr<Schema> {
        let what = "An array of changes, or one. What does not begin with `[` is read line by line. Whatever is no \
            change is counted as rejected, and the answer says why.";
        let change = Ref::from_schema_name("Change");
        let any = AnyOfBuilder::new()
            .description(Some(what))
            .item(Array::new(change.clone()))
            .item(change)
            .item(ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::Array, Type::Object])));
        Schema::AnyOf(any.build()).into()
    }
}

impl ToSchema for Changes {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Change::name().into(), Change::schema()));
        Change::schemas(schemas);
    }
}

/// What became of the changes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "named in the document; the door writes its answer piece by piece")]
struct ChangesAnswer {
    #[schema(format = "uuid")]
    process_id: String,
    /// Committed: they are safe.
    accepted: u64,
    rejected: u64,
    /// The tenant's last number, as text.
    #[schema(pattern = "^[0-9]+$")]
    last_sequence_version: String,
    /// The first thousand lines that were rejected.
    errors: Vec<LineFault>,
    /// Lines that were accepted and look odd.
    #[schema(required = false)]
    warnings: Vec<LineFault>,
    /// Lines that came without a correlationId.
    ids: Vec<MadeId>,
}

/// What is wrong with one line.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "named in the document")]
struct LineFault {
    /// Counted from 1.
    #[schema(minimum = 1)]
    line: u64,
    /// For programs.
    #[schema(examples("unknown_record"))]
    code: String,
    /// For people.
    message: String,
    #[schema(required = false, nullable = false)]
    field: Option<String>,
}

/// The id that was made for a line.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "named in the document")]
struct MadeId {
    #[schema(minimum = 1)]
    line: u64,
    correlation_id: String,
}

pub(super) fn routes() -> Routes {
    vec![routes!(changes)]
}

/// Bring in changes
///
/// A body of any length, as JSON lines or as one array; what is counted as accepted is committed. Under an
/// Idempotency-Key a load that broke off can be sent again: what is in already is skipped.
#[utoipa::path(
    post,
    path = "/operator/v1/tenants/{tenant}/changes",
    operation_id = "applyChanges",
    tag = "Changes",
    params(
        ("tenant" = String, Path, description = "The tenant's id"),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, nullable = false,
            pattern = "^[!-~]([ -~]*[!-~])?[\\t ]*$",
            description = "Makes a retry safe; remembered for a day after its last use")
    ),
    request_body(content(
        (String = "application/x-ndjson"),
        (Changes = "application/json", example = json!([{"area": "core", "resource": "persons", "action": "delete", "correlationId": "p-1"}]))
    )),
    responses(
        (status = 200, description = "Every line was looked at", body = ChangesAnswer),
        BadChanges,
        Missing
    )
)]
async fn changes(
    State(operator): Desk,
    tenant: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    mut body: Body,
) -> Result<Response, ErrorResponse> {
    // Boxed, so that the layers above pass on a pointer and not the door's whole state.
    let taken = Box::pin(take(&operator, tenant, &headers, &mut body)).await;
    if taken.is_err() {
        drain_in_background(body, DRAIN_BYTES_MAX);
    }
    taken
}

async fn take(
    operator: &Operator,
    tenant: Result<Path<String>, PathRejection>,
    headers: &HeaderMap,
    body: &mut Body,
) -> Result<Response, ErrorResponse> {
    let Path(tenant) = tenant.map_err(|wrong| ErrorResponse::new(wrong.status(), wrong.body_text()))?;
    let is_json = check_type(headers)?;
    let idempotency_key = idempotency_key(headers)?;
    let delivery = Delivery { tenant: TenantId::new(tenant), idempotency_key, is_json };
    let taken = operator.door.take(&delivery, BodyDataStream::new(body), operator.counting()).await;
    taken.map(IntoResponse::into_response).map_err(|error| door_refusal(&error))
}

/// Bodies are JSON lines or a JSON array, as they are. Returns whether this one is said to be JSON.
fn check_type(headers: &HeaderMap) -> Result<bool, ErrorResponse> {
    const TYPES: [&str; 5] =
        ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/json", "text/plain"];
    if let Some(encoding) = headers.get(CONTENT_ENCODING)
        && encoding != "identity"
    {
        let message = "Send the body without Content-Encoding.";
        return Err(ErrorResponse::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
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
    Err(ErrorResponse::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ErrorResponse> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default();
    let is_printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if key.is_empty() || key.len() > KEY_BYTES_MAX || !is_printable {
        let message = format!("Idempotency-Key must be 1 to {KEY_BYTES_MAX} printable ASCII characters.");
        let fault = FieldError::new("invalid_header", message.clone()).at("Idempotency-Key");
        return Err(Problem::new(400, message).with(fault).into());
    }
    Ok(Some(key.to_owned()))
}

/// How the door's errors look from outside; each says what stays.
fn door_refusal(error: &DoorError) -> ErrorResponse {
    let tally = error.tally();
    let stays = format!(
        "{} accepted and {} rejected before stay as they are (lastSequenceVersion {}).",
        tally.accepted, tally.rejected, tally.last_sequence
    );
    match error {
        DoorError::Store(error, _) => {
            let mut refusal = store_refusal(error);
            if tally.accepted + tally.rejected > 0 {
                refusal.problem.message = format!("{} {stays}", refusal.problem.message);
            }
            refusal
        }
        DoorError::CutOff(why, _) => {
            let message = format!(
                "The body was cut off ({why}). {stays} Send the rest, or all again under an Idempotency-Key."
            );
            coded(400, "body_cut_off", message)
        }
        DoorError::NotChanges(why, _) => {
            coded(400, "not_changes", format!("The body cannot be read on: {why}. {stays}"))
        }
        DoorError::OtherBody(_) => coded(
            409,
            "idempotency_key_reused",
            "Another body was sent under this Idempotency-Key before; use a new key for new changes.".into(),
        ),
    }
}
