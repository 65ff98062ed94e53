//! The API's OpenAPI document: made from the same map that serves, with what every answer has in common.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::IntoResponse as _;
use bytes::Bytes;
use serde::Serialize;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, Header, InfoBuilder, License, OpenApi, OpenApiBuilder, Ref, RefOr,
};
use utoipa::{IntoResponses, PartialSchema as _, ToSchema};
use utoipa_axum::routes;

use super::{Answered, Routes, map, with};

const SCHEME: &str = "operatorToken";

/// The error body.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "named in the document; `web` writes it")]
struct Problem {
    /// The status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status_code: u16,
    /// What was wrong, and what to do.
    message: String,
    /// The answer's `X-Request-Id`, which the log has too.
    request_id: String,
    /// Each fault, where there is more to say.
    #[schema(required = false)]
    errors: Vec<Fault>,
}

/// One fault.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "named in the document; `web` writes it")]
struct Fault {
    /// For programs; it does not change.
    #[schema(examples("missing_member"))]
    code: String,
    /// For people.
    message: String,
    /// The member, parameter or header.
    #[schema(required = false, nullable = false)]
    field: Option<String>,
}

/// Problems by the name under which operations refer to them.
const PROBLEMS: [(&str, &str); 14] = [
    ("BadRequest", "Something in the request is wrong; the error names it"),
    ("Unauthorized", "The operator's token is missing or wrong"),
    ("NotFound", "There is no such thing"),
    ("RequestTimeout", "The body took too long to come"),
    ("Conflict", "There is such a thing already"),
    ("NotConfirmed", "`confirm` is not the id of what is to go"),
    ("Cancelled", "The subscription is cancelled, which is final"),
    ("WebhookOver", "The webhook is unsubscribed or deleted, which is final"),
    ("NotNow", "The webhook is not active, was never entitled to it, or has too many replays under way"),
    ("KeyConflict", "The Idempotency-Key is in use, or was used for another body"),
    ("ContentTooLarge", "The body is larger than 64 KiB"),
    ("UnsupportedMediaType", "The body's type or encoding is not taken"),
    ("Failed", "Something went wrong on our side"),
    ("Unavailable", "The store is full or does not answer"),
];

/// What an operation may answer besides; named in its `responses`.
macro_rules! problem_sets {
    ($($(#[$doc:meta])* $name:ident: $($status:literal $problem:literal),*;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                BTreeMap::from([$(($status.to_owned(), problem($problem))),*])
            }
        }
    )*};
}

problem_sets! {
    /// The query cannot be read.
    BadQuery: "400" "BadRequest";
    /// The body cannot be read.
    BadBody: "400" "BadRequest", "408" "RequestTimeout", "413" "ContentTooLarge", "415" "UnsupportedMediaType";
    /// The changes cannot be read, or not under this Idempotency-Key.
    BadChanges: "400" "BadRequest", "409" "KeyConflict", "415" "UnsupportedMediaType";
    /// What the path names is not there. A path can also be no text at all.
    Missing: "400" "BadRequest", "404" "NotFound";
    /// What is asked for good must be confirmed.
    Unconfirmed: "409" "NotConfirmed";
    /// The subscription is over.
    Over: "409" "Cancelled";
    /// The webhook is over.
    Final: "409" "WebhookOver";
    /// Nothing can be sent to the webhook now.
    NotNow: "409" "NotNow";
    /// It is there already.
    Taken: "409" "Conflict";
}

fn problem(name: &str) -> RefOr<Response> {
    Ref::from_response_name(name).into()
}

pub(super) fn routes() -> Routes {
    vec![routes!(show)]
}

/// Show this document
#[utoipa::path(
    get,
    path = "/operator/v1/openapi.json",
    operation_id = "getOpenApi",
    tag = "Document",
    responses((status = 200, description = "This document", body = Object)),
    security(())
)]
async fn show() -> Answered {
    static TEXT: LazyLock<Bytes> =
        LazyLock::new(|| serde_json::to_vec(&openapi()).unwrap_or_default().into());
    Ok(([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], TEXT.clone()).into_response())
}

/// The OpenAPI 3.1 document of the operator's API.
pub fn openapi() -> OpenApi {
    let mut api = OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Aldaba: the operator's API")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(INTRODUCTION))
                .license(Some(License::new(env!("CARGO_PKG_LICENSE"))))
                .build(),
        )
        .components(Some(Components::new()))
        .security(Some([SecurityRequirement::new(SCHEME, Vec::<String>::new())]))
        .build();
    api.merge(map().into_openapi());
    api.merge(with(routes()).into_openapi());
    for item in api.paths.paths.values_mut() {
        operations(item).for_each(complete);
    }
    let components = api.components.get_or_insert_default();
    let bearer = Http::builder()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("`operator.token` of the configuration"))
        .build();
    components.add_security_scheme(SCHEME, SecurityScheme::Http(bearer));
    components.schemas.insert("Problem".into(), Problem::schema());
    components.schemas.insert("Fault".into(), Fault::schema());
    components.responses.extend(PROBLEMS.map(|(name, why)| (name.to_owned(), described(name, why).into())));
    api
}

const INTRODUCTION: &str = "Administration of tenants, users, clients, subscriptions and webhooks, the changes \
    door and the audit. Every call carries the operator's token. Lists come in pages: `next` of one is `after` of the \
    following one. Every error has the same body. A trailing slash is fine.";

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch].into_iter().flatten()
}

/// Adds what every operation behind the gate can answer, and the header that every answer has.
fn complete(operation: &mut Operation) {
    // Changes may come to nothing: an empty body is fine.
    if let Some(RefOr::T(body)) = &mut operation.request_body
        && body.content.contains_key("application/x-ndjson")
    {
        body.required = None;
    }
    let responses = &mut operation.responses.responses;
    if operation.security.is_none() {
        for (status, name) in [("401", "Unauthorized"), ("500", "Failed"), ("503", "Unavailable")] {
            responses.insert(status.into(), problem(name));
        }
    }
    for response in responses.values_mut() {
        if let RefOr::T(response) = response {
            response.headers.insert("X-Request-Id".into(), header("What the log calls this request").into());
        }
    }
}

fn described(name: &str, why: &str) -> Response {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let response = ResponseBuilder::new()
        .description(why)
        .content("application/json", body)
        .header("X-Request-Id", header("What the log calls this request"));
    match name {
        "Unauthorized" => response.header("WWW-Authenticate", header("How to prove who calls")),
        "Unavailable" => response.header("Retry-After", header("Seconds after which to try again")),
        _ => response,
    }
    .build()
}

fn header(description: &str) -> Header {
    HeaderBuilder::new().schema(Some(String::schema())).description(Some(description)).build()
}
