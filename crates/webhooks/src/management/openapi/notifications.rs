//! The notifications that receivers get, as the document's `webhooks` section.

use serde_json::Value;
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{SchemaFormat, Type};
use utoipa::openapi::{
    ContentBuilder, HttpMethod, ObjectBuilder, PathItem, Paths, PathsBuilder, Ref, Required,
};

use super::examples;
use super::parts::JSON;

pub(super) const SIGNED: &str =
    "`sha256=` and the upper-case hexadecimal HMAC-SHA256 of the body with the secret as key.";
pub(super) const STANDARD: [(&str, &str); 3] = [
    ("webhook-id", "The `OutgoingId`: the same on every attempt."),
    ("webhook-timestamp", "When this attempt was made, in seconds since 1970."),
    ("webhook-signature", "Standard Webhooks' signatures; two of them during the overlap after a rotation."),
];

pub(super) fn webhooks() -> Paths {
    PathsBuilder::new()
        .path("accountingEvent", accounting())
        .path("invoicingEvent", invoicing())
        .path("invoicingHandshake", handshake())
        .build()
}

fn accounting() -> PathItem {
    let description = "A change of a resource of the accounting family, or the Acknowledge that comes before any. Answer any \
                 2xx within five seconds and without cookies, 200 to an Acknowledge, and 401 where the signature does \
                 not match.";
    let header = domain::signature::ACCOUNTING_HEADER;
    notification(
        "receiveAccountingEvent",
        "A change, or an Acknowledge",
        description,
        header,
        "AccountingNotification",
        examples::notification(),
    )
}

fn invoicing() -> PathItem {
    let description =
        "A change of an invoicing entity. Answer any 2xx within five seconds and without cookies.";
    let header = domain::signature::INVOICING_HEADER;
    notification(
        "receiveInvoicingEvent",
        "A change of an entity",
        description,
        header,
        "InvoicingNotification",
        examples::invoicing_notification(),
    )
}

fn notification(
    id: &str,
    summary: &str,
    description: &str,
    header: &str,
    schema: &str,
    example: Value,
) -> PathItem {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).example(Some(example));
    let body =
        RequestBodyBuilder::new().content(JSON, content.build()).required(Some(Required::True)).build();
    let headers = [(header, SIGNED)].into_iter().chain(STANDARD);
    let operation = headers
        .fold(OperationBuilder::new(), |operation, (name, description)| {
            operation.parameter(parameter(name, ParameterIn::Header, description, None))
        })
        .operation_id(Some(id))
        .summary(Some(summary))
        .description(Some(description))
        .request_body(Some(body))
        .response("2XX", ResponseBuilder::new().description("Accepted.").build())
        .response("401", ResponseBuilder::new().description("The signature does not match.").build());
    PathItem::new(HttpMethod::Post, operation)
}

/// The receiver proves that it wants notifications.
fn handshake() -> PathItem {
    let echo = parameter("echo", ParameterIn::Query, "A GUID.", Some("uuid"));
    let operation = OperationBuilder::new()
        .operation_id(Some("receiveInvoicingHandshake"))
        .summary(Some("The handshake of an invoicing subscription"))
        .description(Some(
            "Answer any 2xx with the GUID as the body; only then is the subscription effective.",
        ))
        .parameter(echo)
        .response("2XX", ResponseBuilder::new().description("The GUID.").build());
    PathItem::new(HttpMethod::Get, operation)
}

fn parameter(name: &str, place: ParameterIn, description: &str, format: Option<&str>) -> ParameterBuilder {
    let format = format.map(|name| SchemaFormat::Custom(name.to_owned()));
    let schema = ObjectBuilder::new().schema_type(Type::String).format(format);
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .description(Some(description))
        .required(Required::True)
        .schema(Some(schema))
}
