//! The operator's API over HTTP.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use domain::problem::Problem;
use domain::{Fault, Random, TenantId};
use http_body_util::BodyDataStream;
use prometheus_client::metrics::counter::Counter;
use store::{Store, StoreError, Tally};
use web::{Measures, Refusal, linger};

use crate::OperatorToken;
use crate::admin::AdminError;
use crate::audit::{self, AuditAsk};
use crate::door::{Delivery, Door, DoorError};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const KEY_BYTES_MAX: usize = 255;
/// How much of a refused body is still read, so that its sender sees the answer: an operator's, a stranger's.
const LINGER_BYTES_MAX: usize = 256 * 1024 * 1024;
const LINGER_STRANGER_BYTES_MAX: usize = 64 * 1024 * 1024;
const RETRY_AFTER_SECONDS: &str = "5";

/// What the operator's side stands on.
pub struct Operator {
    store: Arc<dyn Store>,
    door: Door,
    token: OperatorToken,
    accepted: Counter,
    rejected: Counter,
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Operator")
    }
}

impl Operator {
    pub fn new(
        store: Arc<dyn Store>,
        random: Arc<dyn Random>,
        token: OperatorToken,
        measures: &Measures,
    ) -> Self {
        let (accepted, rejected) = (Counter::default(), Counter::default());
        measures.with_registry(|registry| {
            registry.register("changes_accepted", "Changes accepted and committed", accepted.clone());
            registry.register("changes_rejected", "Changes refused", rejected.clone());
        });
        Self { door: Door::new(store.clone(), random), store, token, accepted, rejected }
    }

    /// Counts what a request brings in; what an earlier one under its key had brought in was counted then.
    fn counting(&self) -> impl FnMut(&Tally) + use<> {
        let (accepted, rejected) = (self.accepted.clone(), self.rejected.clone());
        let mut counted = None;
        move |tally| {
            let now = (tally.accepted, tally.rejected);
            let before = counted.replace(now).unwrap_or(now);
            accepted.inc_by(now.0 - before.0);
            rejected.inc_by(now.1 - before.1);
        }
    }
}

/// The map of the operator's API.
pub fn router(operator: Operator) -> Router {
    let operator = Arc::new(operator);
    Router::new()
        .route("/operator/v1/tenants/{tenant}/changes", post(changes))
        .route("/operator/v1/tenants/{tenant}/changes/", post(changes))
        .route("/operator/v1/audit", get(audit))
        .route("/operator/v1/audit/", get(audit))
        .route_layer(middleware::from_fn_with_state(operator.clone(), gate))
        .with_state(operator)
}

async fn gate(State(operator): State<Arc<Operator>>, request: Request, next: Next) -> Response {
    if operator.token.admits(request.headers()) {
        return next.run(request).await;
    }
    let (challenge, message) = if request.headers().contains_key("authorization") {
        ("Bearer error=\"invalid_token\"", "The operator's token is wrong.")
    } else {
        ("Bearer", "The operator's token is missing; send it as Authorization: Bearer <token>.")
    };
    linger(request.into_body(), LINGER_STRANGER_BYTES_MAX);
    Refusal::new(StatusCode::UNAUTHORIZED, message)
        .header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
        .into_response()
}

const AUDIT_PARAMS: &str =
    "The query can have kind, user, tenant, client, before and pageSize, each once, and nothing else.";

/// The query of the audit.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AuditParams {
    kind: Option<String>,
    user: Option<String>,
    tenant: Option<String>,
    client: Option<String>,
    before: Option<String>,
    page_size: Option<String>,
}

async fn audit(
    State(operator): State<Arc<Operator>>,
    query: Result<Query<AuditParams>, QueryRejection>,
) -> Result<Response, Refusal> {
    let wrong = |message: String| coded(400, "invalid_parameter", message);
    let Query(asked) = query.map_err(|_| wrong(AUDIT_PARAMS.into()))?;
    let AuditParams { kind, user, tenant, client, before, page_size } = asked;
    let rows_max = page_size.map(|text| audit::read_page_size(&text)).transpose().map_err(wrong)?;
    let ask = AuditAsk { kind, user, tenant, client, before, rows_max };
    let page = audit::page(&*operator.store, &ask).await;
    page.map(|page| axum::Json(page).into_response()).map_err(|error| match error {
        AdminError::Invalid(why) => wrong(why),
        AdminError::Missing(_) => coded(404, "not_found", error.to_string()),
        AdminError::Store(error) => store_refusal(&error),
    })
}

async fn changes(
    State(operator): State<Arc<Operator>>,
    tenant: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    mut body: Body,
) -> Result<Response, Refusal> {
    // Boxed, so that the layers above pass on a pointer and not the door's whole state.
    let taken = Box::pin(take(&operator, tenant, &headers, &mut body)).await;
    if taken.is_err() {
        linger(body, LINGER_BYTES_MAX);
    }
    taken
}

async fn take(
    operator: &Operator,
    tenant: Result<Path<String>, PathRejection>,
    headers: &HeaderMap,
    body: &mut Body,
) -> Result<Response, Refusal> {
    let Path(tenant) = tenant.map_err(|wrong| Refusal::new(wrong.status(), wrong.body_text()))?;
    check_type(headers)?;
    let idempotency_key = idempotency_key(headers)?;
    let delivery = Delivery { tenant: TenantId::new(tenant), idempotency_key };
    let taken = operator.door.take(&delivery, BodyDataStream::new(body), operator.counting()).await;
    taken.map(IntoResponse::into_response).map_err(|error| door_refusal(&error))
}

/// Bodies are JSON lines or a JSON array, as they are.
fn check_type(headers: &HeaderMap) -> Result<(), Refusal> {
    const TYPES: [&str; 5] =
        ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/json", "text/plain"];
    if let Some(encoding) = headers.get(CONTENT_ENCODING)
        && encoding != "identity"
    {
        let message = "Send the body without Content-Encoding.";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let Some(given) = headers.get(CONTENT_TYPE) else {
        return Ok(());
    };
    let essence = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if TYPES.iter().any(|known| essence.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    let message =
        format!("Content-Type is {essence:?}; send application/x-ndjson, or application/json for an array.");
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default();
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        let message = format!("Idempotency-Key must be 1 to {KEY_BYTES_MAX} printable ASCII characters.");
        let fault = Fault::new("invalid_header", message.clone()).at("Idempotency-Key");
        return Err(Problem::new(400, message).with(fault).into());
    }
    Ok(Some(key.to_owned()))
}

/// How the door's errors look from outside; each says what stays.
fn door_refusal(error: &DoorError) -> Refusal {
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

fn coded(status: u16, code: &'static str, message: String) -> Refusal {
    Problem::new(status, message.clone()).with(Fault::new(code, message)).into()
}

/// How the store's errors look from outside.
fn store_refusal(error: &StoreError) -> Refusal {
    let later = |code, message: String| {
        coded(503, code, message).header(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS))
    };
    match error {
        StoreError::UnknownTenant(tenant) => {
            coded(404, "unknown_tenant", format!("There is no tenant \"{tenant}\"."))
        }
        StoreError::KeyInUse(_) => coded(
            409,
            "idempotency_key_in_use",
            "Another request under this Idempotency-Key is under way; wait for its end, then try again."
                .into(),
        ),
        StoreError::Full(why) => {
            later("store_full", format!("Nothing can be written now: {why}. Reads go on."))
        }
        StoreError::Unavailable(why) => {
            later("store_unavailable", format!("The store does not answer now: {why}."))
        }
        other => {
            tracing::error!(error = %other, "the store failed");
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side.")
        }
    }
}
