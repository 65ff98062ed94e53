//! Responses and parameters that many operations share.

use domain::Resource;
use domain::delivery::{DELIVERIES_PER_PAGE_DEFAULT, DELIVERIES_PER_PAGE_MAX, DeliveryStatus};
use domain::event::semantic_name;
use serde_json::Value;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, Type};
use utoipa::openapi::{ComponentsBuilder, ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Schema};

use super::examples;
use crate::management::{Route, RouteGroup};

pub(super) const JSON: &str = "application/json";

/// An error of the management API: its status, name, description, code, the field that it names, and a message.
struct DocumentedError(u16, &'static str, &'static str, &'static str, Option<&'static str>, &'static str);

const ERRORS: [DocumentedError; 4] = [
    DocumentedError(
        400,
        "BadRequest",
        "The body, a parameter or the header `context` is not valid; `errors` lists every fault.",
        "invalid_url",
        Some("url"),
        "url must use https, as in https://receiver.example/.",
    ),
    DocumentedError(
        404,
        "NotFound",
        "The webhook or delivery does not exist, or belongs to another owner: the response is the same.",
        "not_found",
        Some("webhookId"),
        "There is no such webhook.",
    ),
    DocumentedError(
        409,
        "Conflict",
        "The webhook is deleted or unsubscribed, or not active where an event has to be sent; or a limit is reached.",
        "deleted",
        Some("webhookId"),
        "The webhook has been deleted. Deletion is permanent.",
    ),
    DocumentedError(
        413,
        "TooLarge",
        "The body is too long.",
        "body_too_large",
        None,
        "The body may have 64 KiB at most.",
    ),
];

/// Each error twice: as an operation result, and as the plain error body.
pub(super) fn responses(components: ComponentsBuilder) -> ComponentsBuilder {
    ERRORS.iter().fold(
        components,
        |components, DocumentedError(status, name, description, code, field, message)| {
            let result = examples::refused(*status, code, *field, message);
            let error = examples::error(*status, code, *field, message);
            components
                .response(
                    format!("WebhookResult{name}"),
                    json_response(description, "WebhookRefused", result),
                )
                .response(format!("Webhook{name}"), json_response(description, "Error", error))
        },
    )
}

/// A reference to the error's response; those of the gate are in the gateway's document.
pub(super) fn error_response(status: u16, has_result: bool) -> Ref {
    let documented = ERRORS
        .iter()
        .find(|DocumentedError(documented, ..)| *documented == status)
        .map(|DocumentedError(_, name, ..)| *name);
    Ref::from_response_name(match (documented, has_result) {
        (Some(name), true) => format!("WebhookResult{name}"),
        (Some(name), false) => format!("Webhook{name}"),
        (None, _) => gateway_response(status).to_owned(),
    })
}

fn gateway_response(status: u16) -> &'static str {
    match status {
        304 => "NotModified",
        401 => "Unauthorized",
        403 => "Forbidden",
        429 => "TooManyRequests",
        _ => "ServiceUnavailable",
    }
}

pub(super) fn json_response(description: &str, schema: &str, example: Value) -> Response {
    response_with(description, Ref::from_schema_name(schema), example)
}

pub(super) fn response_with(description: &str, schema: impl Into<RefOr<Schema>>, example: Value) -> Response {
    ResponseBuilder::new()
        .description(description)
        .content(JSON, ContentBuilder::new().schema(Some(schema)).example(Some(example)).build())
        .build()
}

/// The same, with a `Link` to the next page.
pub(super) fn with_link(response: Response) -> Response {
    let description = "The next page, where there may be one: `<…>; rel=\"next\"`.";
    let link = HeaderBuilder::new()
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build();
    let mut response = response;
    response.headers.insert("Link".to_owned(), link.into());
    response
}

pub(super) fn path_id(name: &str, description: &str, example: &str) -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::Custom("uuid".to_owned())))
        .examples([example]);
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .description(Some(description))
        .required(Required::True)
        .schema(Some(schema))
        .build()
}

fn query(name: &str, description: &str, schema: ObjectBuilder) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .description(Some(description))
        .required(Required::False)
        .schema(Some(schema))
        .build()
}

pub(super) fn since(description: &str) -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .examples(["2026-11-15T00:00:00Z"]);
    query("since", description, schema)
}

/// The query parameter that chooses a test event.
pub(super) fn test_event(route: Route) -> Parameter {
    let names: Vec<String> = match route.group {
        RouteGroup::Resource(resource) => semantic_names(resource).collect(),
        RouteGroup::Invoicing => Resource::invoicing().flat_map(semantic_names).collect(),
    };
    let first = names.first().cloned().unwrap_or_default();
    let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).examples([first]);
    query("event", "The event, which the webhook must subscribe to.", schema)
}

fn semantic_names(resource: Resource) -> impl Iterator<Item = String> {
    resource.event_kinds().into_iter().map(move |kind| semantic_name(resource, kind))
}

/// The query parameters of a list of deliveries.
pub(super) fn delivery_parameters() -> [Parameter; 4] {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let size = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(isize::try_from(DELIVERIES_PER_PAGE_MAX).ok())
        .default(Some(DELIVERIES_PER_PAGE_DEFAULT.into()))
        .examples([DELIVERIES_PER_PAGE_DEFAULT]);
    let status =
        text().enum_values(Some(DeliveryStatus::LISTED.map(DeliveryStatus::as_str))).examples(["failed"]);
    let before = text().pattern(Some("^[0-9]{1,18}-[0-9]{1,18}$")).examples(["639000000000000000-1192"]);
    [
        query("before", "The end of the page before, as in its `next` link.", before),
        query(
            "pageSize",
            "How many deliveries a page has at most; it may have fewer and still have a next page.",
            size,
        ),
        query("status", "Only deliveries with this status.", status),
        since("Only deliveries with an attempt or a success at or after this time."),
    ]
}
