//! Responses and parameters that many operations share.

use domain::delivery::{DELIVERIES_PER_PAGE_DEFAULT, DELIVERIES_PER_PAGE_MAX, DeliveryStatus};
use domain::event::semantic_name;
use domain::{ErrorCode, Resource};
use serde_json::Value;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, Type};
use utoipa::openapi::{ComponentsBuilder, ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Schema};

use super::examples;
use crate::management::{Route, RouteGroup};

pub(super) const JSON: &str = "application/json";

/// An error of the management API.
struct DocumentedError {
    name: &'static str,
    description: &'static str,
    /// All have the same status; the first is that of the example.
    codes: &'static [ErrorCode],
    /// The field and the message of the example.
    field: Option<&'static str>,
    message: &'static str,
}

impl DocumentedError {
    fn code(&self) -> ErrorCode {
        self.codes.first().copied().unwrap_or(ErrorCode::InternalError)
    }

    /// The description, with the codes.
    fn description(&self) -> String {
        let codes: Vec<String> = self.codes.iter().map(|code| format!("`{code}`")).collect();
        format!("{} `code`: {}.", self.description, codes.join(", "))
    }
}

const ERRORS: [DocumentedError; 4] = [
    DocumentedError {
        name: "BadRequest",
        description: "The body, a parameter or the header `context` is not valid; `errors` lists every fault.",
        codes: &[
            ErrorCode::InvalidUrl,
            ErrorCode::RefusedAddress,
            ErrorCode::UnresolvedHost,
            ErrorCode::ReservedAddress,
            ErrorCode::ForeignHost,
            ErrorCode::UnknownEventType,
            ErrorCode::UnknownEntity,
            ErrorCode::UnknownAction,
            ErrorCode::InvalidContext,
            ErrorCode::InvalidParameter,
            ErrorCode::InvalidJson,
            ErrorCode::MissingMember,
            ErrorCode::InvalidMember,
            ErrorCode::DuplicateMember,
            ErrorCode::BodyCutOff,
        ],
        field: Some("url"),
        message: "url must use https, as in https://receiver.example/.",
    },
    DocumentedError {
        name: "NotFound",
        description: "The webhook or delivery does not exist, or belongs to another owner: the response is the same.",
        codes: &[ErrorCode::NotFound, ErrorCode::NothingToReplay],
        field: Some("webhookId"),
        message: "There is no such webhook.",
    },
    DocumentedError {
        name: "Conflict",
        description: "The webhook is deleted or unsubscribed, or not active where an event has to be sent; or a limit is \
                      reached.",
        codes: &[
            ErrorCode::Deleted,
            ErrorCode::Unsubscribed,
            ErrorCode::Exists,
            ErrorCode::NotOffered,
            ErrorCode::TooManyWebhooks,
            ErrorCode::NotSubscribed,
            ErrorCode::NotEntitled,
            ErrorCode::Inactive,
            ErrorCode::Suspended,
            ErrorCode::TooManyReplays,
        ],
        field: Some("webhookId"),
        message: "The webhook has been deleted. Deletion is permanent.",
    },
    DocumentedError {
        name: "TooLarge",
        description: "The body is too long.",
        codes: &[ErrorCode::BodyTooLarge],
        field: None,
        message: "The body may have 64 KiB at most.",
    },
];

/// Each error twice: as an operation result, and as the plain error body.
pub(super) fn responses(components: ComponentsBuilder) -> ComponentsBuilder {
    ERRORS.iter().fold(components, |components, one| {
        let result = examples::refused(one.code(), one.field, one.message);
        let error = examples::error(one.code(), one.field, one.message);
        let (name, description) = (one.name, one.description());
        components
            .response(format!("WebhookResult{name}"), json_response(&description, "WebhookRefused", result))
            .response(format!("Webhook{name}"), json_response(&description, "ApiError", error))
    })
}

/// A reference to the error's response; those of the gate are in the gateway's document.
pub(super) fn error_response(status: u16, has_result: bool) -> Ref {
    let documented = ERRORS.iter().find(|one| one.code().status() == status).map(|one| one.name);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_a_response_have_its_status() {
        for one in &ERRORS {
            assert!(one.codes.iter().all(|code| code.status() == one.code().status()), "{}", one.name);
        }
    }
}
