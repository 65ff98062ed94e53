//! Answers and parameters that stand in many places.

use domain::delivery::{DELIVERIES_PER_PAGE_DEFAULT, DELIVERIES_PER_PAGE_MAX, DeliveryStatus};
use serde_json::Value;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, Type};
use utoipa::openapi::{ComponentsBuilder, ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Schema};

use super::examples;

pub(super) const JSON: &str = "application/json";

/// A refusal of the management: its status, name, meaning, code, the field that it names, and a message.
struct Refused(u16, &'static str, &'static str, &'static str, Option<&'static str>, &'static str);

const REFUSED: [Refused; 4] = [
    Refused(
        400,
        "BadRequest",
        "The body, a parameter or the header `context` cannot be taken; `errors` names what is wrong, all of it.",
        "invalid_url",
        Some("url"),
        "url must use https, as in https://receiver.example/.",
    ),
    Refused(
        404,
        "NotFound",
        "There is no such webhook (or delivery), or it is another's: the answer is the same.",
        "not_found",
        Some("webhookId"),
        "There is no such webhook.",
    ),
    Refused(
        409,
        "Conflict",
        "It is deleted or unsubscribed, or not active where something is to be sent; or there are too many.",
        "deleted",
        Some("webhookId"),
        "The webhook is deleted, finally.",
    ),
    Refused(
        413,
        "TooLarge",
        "The body is too long.",
        "body_too_large",
        None,
        "The body may have 64 KiB at most.",
    ),
];

/// Each refusal twice: as an operation result, and as the plain error body.
pub(super) fn responses(components: ComponentsBuilder) -> ComponentsBuilder {
    REFUSED.iter().fold(components, |components, Refused(status, name, about, code, field, message)| {
        let result = examples::refused(*status, code, *field, message);
        let error = examples::error(*status, code, *field, message);
        components
            .response(format!("WebhookResult{name}"), answer(about, "WebhookRefused", result))
            .response(format!("Webhook{name}"), answer(about, "Error", error))
    })
}

/// Where the answer of that refusal stands; those of the gate are the gateway's.
pub(super) fn refusal(status: u16, has_result: bool) -> Ref {
    let own = REFUSED.iter().find(|Refused(own, ..)| *own == status).map(|Refused(_, name, ..)| *name);
    Ref::from_response_name(match (own, has_result) {
        (Some(name), true) => format!("WebhookResult{name}"),
        (Some(name), false) => format!("Webhook{name}"),
        (None, _) => gates(status).to_owned(),
    })
}

fn gates(status: u16) -> &'static str {
    match status {
        304 => "NotModified",
        401 => "Unauthorized",
        403 => "Forbidden",
        429 => "TooManyRequests",
        _ => "ServiceUnavailable",
    }
}

pub(super) fn answer(about: &str, schema: &str, example: Value) -> Response {
    of(about, Ref::from_schema_name(schema), example)
}

pub(super) fn of(about: &str, schema: impl Into<RefOr<Schema>>, example: Value) -> Response {
    ResponseBuilder::new()
        .description(about)
        .content(JSON, ContentBuilder::new().schema(Some(schema)).example(Some(example)).build())
        .build()
}

/// The same, with a link to what comes next.
pub(super) fn linked(response: Response) -> Response {
    let about = "The next page, where there may be one: `<…>; rel=\"next\"`.";
    let link = HeaderBuilder::new()
        .description(Some(about))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build();
    let mut response = response;
    response.headers.insert("Link".to_owned(), link.into());
    response
}

pub(super) fn path_id(name: &str, about: &str, example: &str) -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::Custom("uuid".to_owned())))
        .examples([example]);
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .description(Some(about))
        .required(Required::True)
        .schema(Some(schema))
        .build()
}

fn query(name: &str, about: &str, schema: ObjectBuilder) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .description(Some(about))
        .required(Required::False)
        .schema(Some(schema))
        .build()
}

pub(super) fn since(about: &str) -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .examples(["2026-11-15T00:00:00Z"]);
    query("since", about, schema)
}

/// What a list of deliveries can be asked with.
pub(super) fn of_deliveries() -> [Parameter; 4] {
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
        query("before", "Where the page before ended, as its `next` link tells.", before),
        query("pageSize", "How many a page holds at most; it may hold fewer, and yet have a next.", size),
        query("status", "Only those that stand so.", status),
        since("Only what happened from then on."),
    ]
}
