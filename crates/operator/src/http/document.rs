//! The OpenAPI document: built from the routes that are served, with the responses that all operations share.

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

use super::{HandlerResult, Routes, guarded_routes, with_trailing_slashes};

const SCHEME: &str = "operatorToken";

/// The error body.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "named in the document; `web` writes it")]
struct ApiError {
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status_code: u16,
    /// What is wrong, for programs. A code never changes its meaning; the page `/docs/errors` of the public listener lists all.
    #[schema(pattern = "^[a-z]+(_[a-z]+)*$", examples("missing_member"))]
    code: String,
    /// What was wrong, and what to do.
    message: String,
    /// The response's `X-Request-Id`, which the log records too.
    request_id: String,
    /// The individual faults.
    #[schema(required = false)]
    errors: Vec<ApiFault>,
}

/// One fault.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "named in the document; `web` writes it")]
struct ApiFault {
    /// A stable code, for programs.
    #[schema(examples("missing_member"))]
    code: String,
    /// The explanation, for people.
    message: String,
    /// The member, parameter or header at fault.
    #[schema(required = false, nullable = false)]
    field: Option<String>,
}

/// Shared error responses by their component name.
const PROBLEMS: [(&str, &str); 30] = [
    ("BadRequest", "The request is invalid; the error names the fault"),
    ("Unauthorized", "The token is missing or wrong, has expired or is revoked"),
    ("Forbidden", "The role of the token does not permit this (`insufficient_role`)"),
    ("NotFound", "No such object exists"),
    ("RequestTimeout", "The body arrived too slowly"),
    ("Conflict", "An object with this id, name or e-mail address exists already"),
    ("NotConfirmed", "`confirm` is not the id of the tenant"),
    ("Cancelled", "The subscription is cancelled permanently"),
    (
        "NotRevealable",
        "The key was made by a version that stored only its hash (`not_revealable`): replace it. Or the subscription is \
         cancelled permanently",
    ),
    ("PublicClient", "The client is public and has no secret (`public_client`)"),
    ("RevisionConflict", "Another revision is stored; read the object again and repeat the change"),
    (
        "SubscriptionConflict",
        "The subscription is cancelled permanently; or another revision is stored: read it again and repeat the change",
    ),
    (
        "MemberConflict",
        "The developer is a member already, is the team's last owner, or the team has as many members as it may have",
    ),
    ("SandboxApart", "A sandbox is for its own user alone, and that user for no other tenant"),
    (
        "SandboxConflict",
        "Sandboxes are switched off, the team or this one is disabled, it is not complete, or the team has made all events of the day",
    ),
    (
        "AskConflict",
        "The team is disabled, has too many pending requests, or its client has this redirect address already",
    ),
    (
        "DecisionConflict",
        "The request is not pending any more, cannot be carried out now, or has another revision",
    ),
    (
        "OperatorConflict",
        "Another revision is stored; or the operator is the last one with the role admin (`last_admin`)",
    ),
    ("WebhookOver", "The webhook is unsubscribed or deleted permanently"),
    (
        "NotNow",
        "The webhook is not active, was not entitled to the event, or has too many replays in progress",
    ),
    (
        "SelectionConflict",
        "More than 200 webhooks match (`too_many_webhooks`), or others than those of the digest (`selection_changed`)",
    ),
    (
        "BackupConflict",
        "A backup is being made already (`backup_running`), or the backup directory is not configured or cannot be used \
         (`backup_directory`)",
    ),
    ("InvitationEnded", "The invitation was accepted or revoked; invite again"),
    (
        "EditConflict",
        "The record was changed since you read it (`record_changed`), does not exist (`unknown_record`), or its company or \
         account does not exist",
    ),
    ("KeyConflict", "The Idempotency-Key is in use, or was used for another body"),
    ("NextKeyExists", "The next signing key exists already (`next_key_exists`)"),
    ("ContentTooLarge", "The body is larger than 64 KiB"),
    ("UnsupportedMediaType", "The Content-Type or Content-Encoding is not supported"),
    ("Failed", "An internal error"),
    ("Unavailable", "The store is full or unavailable"),
];

/// Sets of error responses that operations name in their `responses`.
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
    /// The query is invalid.
    BadQuery: "400" "BadRequest";
    /// The body is invalid.
    BadBody: "400" "BadRequest", "408" "RequestTimeout", "413" "ContentTooLarge", "415" "UnsupportedMediaType";
    /// The changes cannot be read, or conflict with their Idempotency-Key.
    BadChanges: "400" "BadRequest", "409" "KeyConflict", "415" "UnsupportedMediaType";
    /// The record cannot be edited so.
    EditConflict: "409" "EditConflict";
    /// The object that the path names does not exist. 400: the path is not valid UTF-8.
    NotFound: "400" "BadRequest", "404" "NotFound";
    /// An irreversible operation needs a confirmation.
    Unconfirmed: "409" "NotConfirmed";
    /// The subscription is cancelled.
    Cancelled: "409" "Cancelled";
    /// The key cannot be shown.
    NotRevealable: "409" "NotRevealable";
    /// The client has no secret.
    PublicClient: "409" "PublicClient";
    /// Another revision is stored.
    RevisionConflict: "409" "RevisionConflict";
    /// The subscription is cancelled, or another revision is stored.
    SubscriptionConflict: "409" "SubscriptionConflict";
    /// The members of a team cannot change so.
    MemberConflict: "409" "MemberConflict";
    /// The membership would join a sandbox with something else.
    SandboxApart: "409" "SandboxApart";
    /// The sandbox is closed, not complete, or has had its events of the day.
    SandboxConflict: "409" "SandboxConflict";
    /// The team cannot ask for this now.
    AskConflict: "409" "AskConflict";
    /// The request cannot be decided so.
    DecisionConflict: "409" "DecisionConflict";
    /// Another revision is stored, or nobody else could manage operators.
    OperatorConflict: "409" "OperatorConflict";
    /// The webhook is unsubscribed or deleted.
    WebhookOver: "409" "WebhookOver";
    /// The webhook cannot be sent anything now.
    NotNow: "409" "NotNow";
    /// Too many webhooks match, or others than before.
    SelectionConflict: "409" "SelectionConflict";
    /// A backup is being made, or there is no directory for it.
    BackupConflict: "409" "BackupConflict";
    /// The invitation was accepted or revoked.
    InvitationEnded: "409" "InvitationEnded";
    /// There is one next signing key at a time.
    NextKeyExists: "409" "NextKeyExists";
    /// The id or e-mail address is in use.
    AlreadyExists: "409" "Conflict";
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
async fn show() -> HandlerResult {
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
    api.merge(guarded_routes().into_openapi());
    api.merge(with_trailing_slashes(routes()).into_openapi());
    for item in api.paths.paths.values_mut() {
        changes(item).for_each(forbid);
        operations(item).for_each(complete);
    }
    let components = api.components.get_or_insert_default();
    let bearer = Http::builder()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "`operator.token` of the configuration, which has the role admin, or a named token (`/operator/v1/tokens`)",
        ))
        .build();
    components.add_security_scheme(SCHEME, SecurityScheme::Http(bearer));
    components.schemas.insert("ApiError".into(), ApiError::schema());
    components.schemas.insert("ApiFault".into(), ApiFault::schema());
    components.responses.extend(PROBLEMS.map(|(name, why)| (name.to_owned(), described(name, why).into())));
    api
}

const INTRODUCTION: &str = "Administration of tenants, users, operators, invitations, teams, clients, subscriptions, tokens and webhooks, \
    ingest of changes, records and their history, and the audit log. Every request carries a token, whose role decides what it may change: `viewer` \
    nothing, `support` everything but accounts, keys and configuration, `admin` everything. Lists are paged: send the `next` of a page as \
    `after` of the following one. All errors have the same body, whose `code` is for programs. A trailing slash is accepted.";

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch].into_iter().flatten()
}

/// The operations that are more than a read.
fn changes(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.put, &mut item.post, &mut item.delete, &mut item.patch].into_iter().flatten()
}

/// Adds the refusal of a role that does not permit the operation.
fn forbid(operation: &mut Operation) {
    operation.responses.responses.insert("403".into(), problem("Forbidden"));
}

/// Adds the error responses of every guarded operation, and the header of every response.
fn complete(operation: &mut Operation) {
    // An empty body of changes is valid.
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
            response
                .headers
                .insert("X-Request-Id".into(), header("The id of this request in the log").into());
        }
    }
}

fn described(name: &str, why: &str) -> Response {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name("ApiError"))).build();
    let response = ResponseBuilder::new()
        .description(why)
        .content("application/json", body)
        .header("X-Request-Id", header("The id of this request in the log"));
    match name {
        "Unauthorized" => response.header("WWW-Authenticate", header("The authentication scheme")),
        "Unavailable" => response.header("Retry-After", header("Seconds to wait before the next try")),
        _ => response,
    }
    .build()
}

fn header(description: &str) -> Header {
    HeaderBuilder::new().schema(Some(String::schema())).description(Some(description)).build()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json, to_value};

    use super::*;

    fn members(schema: &Value, found: &mut Vec<String>) {
        if let Some(object) = schema["properties"].as_object() {
            found.extend(object.keys().cloned());
        }
        match schema {
            Value::Object(object) => object.values().for_each(|inner| members(inner, found)),
            Value::Array(items) => items.iter().for_each(|item| members(item, found)),
            _ => {}
        }
    }

    #[test]
    fn members_are_named_in_camel_case() {
        let mut found = Vec::new();
        members(&to_value(openapi()).unwrap()["components"]["schemas"], &mut found);
        assert!(found.iter().any(|name| name == "redirectUris"));
        let wrong: Vec<_> = found.iter().filter(|name| name.contains('_')).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn bodies_with_dependent_members_list_what_is_accepted() {
        let schemas = &to_value(openapi()).unwrap()["components"]["schemas"];
        let request = schemas["NewRequest"]["oneOf"].as_array().unwrap();
        for (variant, kind) in request.iter().zip(["client", "redirectUri", "subscription"]) {
            assert_eq!(variant["required"], json!(["team", "developer", kind]));
            for other in ["client", "redirectUri", "subscription"].into_iter().filter(|other| *other != kind)
            {
                assert_eq!(variant["properties"][other], json!({"type": "null"}), "{kind}");
            }
        }
        assert_eq!(request.len(), 3);
        let invitation = schemas["NewInvitation"]["oneOf"].as_array().unwrap();
        let realms: Vec<_> =
            invitation.iter().map(|variant| &variant["properties"]["realm"]["enum"][0]).collect();
        assert_eq!(realms, ["users", "operators", "developers", "developers"]);
        assert_eq!(invitation[3]["required"], json!(["realm", "email", "team"]));
        assert_eq!(invitation[0]["properties"]["team"], json!({"type": "null"}));
    }
}
