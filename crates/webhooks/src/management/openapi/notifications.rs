//! What receivers are sent, as the document's own section of webhooks.

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
    "`sha256=` and the upper-case hexadecimal HMAC-SHA256 of the body under the secret.";
pub(super) const STANDARD: [(&str, &str); 3] = [
    ("webhook-id", "The `OutgoingId`: the same on every attempt."),
    ("webhook-timestamp", "When this attempt was made, in seconds since 1970."),
    (
        "webhook-signature",
        "Standard Webhooks' signatures; two of them while a new secret overlaps with the old one.",
    ),
];

pub(super) fn all() -> Paths {
    PathsBuilder::new()
        .path("accountingEvent", accounting())
        .path("invoicingEvent", invoicing())
        .path("invoicingHandshake", handshake())
        .build()
}

fn accounting() -> PathItem {
    let about = "A change of a resource of the accounting family, or the Acknowledge that comes before any. Answer any \
                 2xx within five seconds and without cookies, 200 to an Acknowledge, and 401 where the signature does \
                 not hold.";
    let header = domain::signature::ACCOUNTING_HEADER;
    told("A change, or an Acknowledge", about, header, "Notification", examples::notification())
}

fn invoicing() -> PathItem {
    let about = "A change of an invoicing entity. Answer any 2xx within five seconds and without cookies.";
    let header = domain::signature::INVOICING_HEADER;
    told("A change of an entity", about, header, "InvoicingNotification", examples::invoicing_notification())
}

fn told(summary: &str, about: &str, header: &str, schema: &str, example: Value) -> PathItem {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).example(Some(example));
    let body =
        RequestBodyBuilder::new().content(JSON, content.build()).required(Some(Required::True)).build();
    let headers = [(header, SIGNED)].into_iter().chain(STANDARD);
    let operation = headers
        .fold(OperationBuilder::new(), |operation, (name, about)| {
            operation.parameter(sent(name, ParameterIn::Header, about, None))
        })
        .summary(Some(summary))
        .description(Some(about))
        .request_body(Some(body))
        .response("2XX", ResponseBuilder::new().description("Taken.").build())
        .response("401", ResponseBuilder::new().description("The signature does not hold.").build());
    PathItem::new(HttpMethod::Post, operation)
}

/// The receiver proves that it is one.
fn handshake() -> PathItem {
    let echo = sent("echo", ParameterIn::Query, "A GUID.", Some("uuid"));
    let operation = OperationBuilder::new()
        .summary(Some("The handshake of an invoicing subscription"))
        .description(Some(
            "Answer any 2xx with the GUID as the body; only then is the subscription effective.",
        ))
        .parameter(echo)
        .response("2XX", ResponseBuilder::new().description("The GUID.").build());
    PathItem::new(HttpMethod::Get, operation)
}

fn sent(name: &str, place: ParameterIn, about: &str, format: Option<&str>) -> ParameterBuilder {
    let format = format.map(|name| SchemaFormat::Custom(name.to_owned()));
    let schema = ObjectBuilder::new().schema_type(Type::String).format(format);
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .description(Some(about))
        .required(Required::True)
        .schema(Some(schema))
}
