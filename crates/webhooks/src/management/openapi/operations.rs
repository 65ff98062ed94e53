//! One route as an operation of the OpenAPI document.

use axum::http::Method;
use domain::{Resource, Scope};
use serde_json::{Value, json};
use utoipa::openapi::path::{Operation as OpenApiOperation, OperationBuilder, Parameter};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::{Response, ResponsesBuilder};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Schema};

use super::examples::{self, OUTGOING, WEBHOOK};
use super::parts::{self, JSON};
use super::{subscriptions, tag};
use crate::management::{Operation, Route, RouteGroup};

pub(super) fn operation(route: Route) -> OpenApiOperation {
    let (id, summary) = id_and_summary(route);
    let operation = OperationBuilder::new()
        .tag(tag(route.group))
        .operation_id(Some(id))
        .summary(Some(summary))
        .description(Some(description(route.operation)))
        .request_body(body(route))
        .securities(Some(requirements(route)));
    parameters(route)
        .into_iter()
        .fold(operation, OperationBuilder::parameter)
        .responses(responses(route))
        .build()
}

/// The operation's id and its summary.
fn id_and_summary(route: Route) -> (String, &'static str) {
    let (verb, summary) = match route.operation {
        Operation::Events => ("list{}WebhookEvents", "The events that can be subscribed to"),
        Operation::Subscribe => ("subscribeTo{}", "Subscribe"),
        Operation::Unsubscribe => ("unsubscribeFrom{}", "Unsubscribe"),
        Operation::List => ("list{}Webhooks", "The caller's webhooks"),
        Operation::Record => ("get{}Webhook", "One webhook"),
        Operation::Status => ("set{}WebhookStatus", "Enable or disable a webhook"),
        Operation::Change => ("change{}Webhook", "Change the url of a webhook"),
        Operation::Delete => ("delete{}Webhook", "Delete a webhook"),
        Operation::Secret => ("rotate{}WebhookSecret", "Rotate the secret of a webhook"),
        Operation::Deliveries => ("list{}WebhookDeliveries", "The deliveries of a webhook"),
        Operation::Delivery => ("get{}WebhookDelivery", "One delivery"),
        Operation::ReplayDelivery => ("replay{}WebhookDelivery", "Send one delivery again"),
        Operation::Replay => ("replay{}Webhook", "Send the events of a span of time again"),
        Operation::Test => ("test{}Webhook", "Send a test event"),
        Operation::Health => ("get{}WebhookHealth", "The health of a webhook"),
    };
    let name = match route.group {
        RouteGroup::Resource(resource) => resource.plural(),
        RouteGroup::Invoicing => "Invoicing",
    };
    (verb.replace("{}", name), summary)
}

/// The operation's description.
fn description(operation: Operation) -> &'static str {
    match operation {
        Operation::Events => "By their semantic names.",
        Operation::Subscribe => {
            "The receiver then has to accept a handshake; nothing is delivered before it has. The same body again returns \
             the same webhook; it makes an outstanding handshake due at once and sends a disabled webhook a new one."
        }
        Operation::Unsubscribe => {
            "Takes the body of the subscription: name, url, secret and the set of event types. It is final."
        }
        Operation::List => "Lists the webhooks that are neither deleted nor unsubscribed.",
        Operation::Record => "A deleted webhook of the accounting family can still be read.",
        Operation::Status => {
            "A webhook that its owner had disabled goes on with the next event; one that the service had disabled, with the \
             first undelivered event. Without a contract a new handshake starts."
        }
        Operation::Change => {
            "The new receiver has to accept a handshake; events wait until then, and none is sent to the old url any more."
        }
        Operation::Delete => "Deletion is permanent.",
        Operation::Secret => {
            "The contract's signature uses the new secret at once; `webhook-signature` carries both during the overlap."
        }
        Operation::Deliveries => "Newest first; each event is listed once, with its attempts.",
        Operation::Delivery => "With the body of the notification, byte for byte.",
        Operation::ReplayDelivery => {
            "Sends the same body and `OutgoingId`, outside the order of the other deliveries."
        }
        Operation::Replay => {
            "Sends the same bodies in their order; only events newer than the webhook's first contract."
        }
        Operation::Test => {
            "Sends a generated event, signed like any other: `event`, or the first one that the webhook subscribes to."
        }
        Operation::Health => {
            "Rates and times over the last day (or since `since`), waiting events, and warnings."
        }
    }
}

/// The combinations of key and token that authorize a request.
fn requirements(route: Route) -> Vec<SecurityRequirement> {
    let scopes: Vec<&str> = [area_scope(route), Scope::Webhooks].map(Scope::name).into_iter().collect();
    let scopes = if scopes[0] == scopes[1] { vec![scopes[0]] } else { scopes };
    let none: [&str; 0] = [];
    let with = |token| SecurityRequirement::new("subscriptionKey", none).add(token, scopes.clone());
    vec![with("signIn"), with("accessToken")]
}

fn area_scope(route: Route) -> Scope {
    route.area().scope().unwrap_or(Scope::Webhooks)
}

fn parameters(route: Route) -> Vec<Parameter> {
    let path = route.path();
    let mut all = Vec::new();
    for (name, description, example) in [
        ("webhookId", "The webhook.", WEBHOOK),
        ("id", "The webhook.", WEBHOOK),
        ("outgoingId", "The `OutgoingId` of the notification.", OUTGOING),
    ] {
        if path.contains(&format!("{{{name}}}")) {
            all.push(parts::path_id(name, description, example));
        }
    }
    match route.operation {
        Operation::Deliveries => all.extend(parts::delivery_parameters()),
        Operation::Test => all.push(parts::test_event(route)),
        Operation::Health => {
            all.push(parts::since("The start of the counts; 24 hours ago without it."));
        }
        _ => {}
    }
    all
}

fn body(route: Route) -> Option<RequestBody> {
    let (schema, example) = match (route.group, route.operation) {
        (RouteGroup::Resource(resource), Operation::Subscribe | Operation::Unsubscribe) => {
            (subscriptions::name(resource), examples::subscription(resource))
        }
        (RouteGroup::Resource(_), Operation::Status) => {
            ("WebhookStatus".to_owned(), json!({"webhookId": WEBHOOK, "enable": true}))
        }
        (RouteGroup::Resource(_), Operation::Change) => {
            ("WebhookMove".to_owned(), json!({"webhookId": WEBHOOK, "url": "https://other.example/webhooks"}))
        }
        (RouteGroup::Invoicing, Operation::Subscribe) => {
            ("InvoicingSubscription".to_owned(), examples::invoicing_subscription())
        }
        (RouteGroup::Invoicing, Operation::Status) => {
            ("InvoicingPause".to_owned(), json!({"isPaused": true}))
        }
        (_, Operation::Secret) => {
            ("WebhookSecret".to_owned(), json!({"secret": "another-random-text", "overlapHours": 24}))
        }
        (_, Operation::Replay) => (
            "WebhookReplaySpan".to_owned(),
            json!({"from": "2026-11-15T08:00:00Z", "to": "2026-11-15T09:00:00Z"}),
        ),
        _ => return None,
    };
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).example(Some(example));
    Some(RequestBodyBuilder::new().content(JSON, content.build()).required(Some(Required::True)).build())
}

fn responses(route: Route) -> ResponsesBuilder {
    let (status, success) = success(route);
    let has_body = body(route).is_some();
    let is_read = route.method() == Method::GET;
    let sends = matches!(route.operation, Operation::Replay | Operation::ReplayDelivery | Operation::Test);
    let mut refusals = vec![400, 401, 403, 404, 429, 503];
    refusals.extend(has_body.then_some(413));
    refusals.extend((has_body || sends || route.operation == Operation::Delete).then_some(409));
    refusals.extend(is_read.then_some(304));
    let responses = ResponsesBuilder::new().response(status, success);
    refusals.into_iter().fold(responses, |responses, status| {
        responses.response(status.to_string(), parts::error_response(status, route.has_result()))
    })
}

fn success(route: Route) -> (&'static str, Response) {
    let list_of = |name: &str, example: Value, description: &str| {
        let items: RefOr<Schema> = ArrayBuilder::new().items(Ref::from_schema_name(name)).into();
        parts::response_with(description, items, json!([example]))
    };
    let done = |state| parts::json_response("Done.", "WebhookResult", examples::result(state));
    let event = match route.group {
        RouteGroup::Resource(resource) => {
            examples::names(resource)[0].as_str().unwrap_or_default().to_owned()
        }
        RouteGroup::Invoicing => "SaleInvoice.Created".to_owned(),
    };
    let response = match (route.group, route.operation) {
        (RouteGroup::Resource(resource), Operation::Events) => names(resource),
        (RouteGroup::Resource(_), Operation::Subscribe) => done(3),
        (RouteGroup::Resource(_), Operation::Unsubscribe) => done(4),
        (RouteGroup::Resource(_), Operation::Delete) => done(5),
        (RouteGroup::Resource(_), Operation::Change) => done(6),
        (RouteGroup::Resource(_), Operation::Status) => done(7),
        (RouteGroup::Resource(resource), Operation::List) => {
            list_of("Webhook", examples::record(resource), "The webhooks.")
        }
        (RouteGroup::Resource(resource), Operation::Record) => {
            parts::json_response("The webhook.", "Webhook", examples::record(resource))
        }
        (RouteGroup::Invoicing, Operation::List) => {
            list_of("InvoicingWebhook", examples::invoicing_record(), "The webhooks.")
        }
        (_, Operation::Secret) => parts::json_response("Done.", "WebhookSecretRotated", examples::rotated()),
        (_, Operation::Deliveries) => {
            parts::with_link(list_of("WebhookDelivery", examples::delivery(&event), "The deliveries."))
        }
        (_, Operation::Delivery) => {
            let mut example = examples::delivery(&event);
            example["body"] = examples::notification().to_string().into();
            parts::json_response("The delivery.", "WebhookDelivery", example)
        }
        (_, Operation::Replay | Operation::ReplayDelivery) => {
            return (
                "202",
                parts::json_response("The replay was accepted.", "WebhookReplay", examples::replay("events")),
            );
        }
        (_, Operation::Test) => {
            return (
                "202",
                parts::json_response(
                    "The test event will be sent.",
                    "WebhookReplay",
                    examples::replay("test"),
                ),
            );
        }
        (_, Operation::Health) => parts::json_response("The health.", "WebhookHealth", examples::health()),
        (RouteGroup::Invoicing, _) => {
            parts::json_response("The webhook.", "InvoicingWebhook", examples::invoicing_record())
        }
    };
    ("200", response)
}

fn names(resource: Resource) -> Response {
    let text = ObjectBuilder::new().schema_type(utoipa::openapi::schema::Type::String);
    let items: RefOr<Schema> = ArrayBuilder::new().items(text).into();
    parts::response_with("Semantic names.", items, examples::names(resource))
}
