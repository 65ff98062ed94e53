//! One address, as the document tells it.

use axum::http::Method;
use domain::event::semantic_name;
use domain::{Resource, Scope};
use serde_json::{Value, json};
use utoipa::openapi::path::{Operation as Told, OperationBuilder, Parameter};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::{Response, ResponsesBuilder};
use utoipa::openapi::schema::{AllOfBuilder, ArrayBuilder};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Schema};

use super::examples::{self, OUTGOING, WEBHOOK};
use super::parts::{self, JSON};
use super::tag;
use super::words::one_of;
use crate::management::{Operation, Route, Side};

pub(super) fn operation(route: Route) -> Told {
    let (id, summary) = words(route);
    let told = OperationBuilder::new()
        .tag(tag(route.side))
        .operation_id(Some(id))
        .summary(Some(summary))
        .description(Some(about(route.operation)))
        .request_body(body(route))
        .securities(Some(requirements(route)));
    parameters(route).into_iter().fold(told, OperationBuilder::parameter).responses(responses(route)).build()
}

/// The operation's id and its summary.
fn words(route: Route) -> (String, &'static str) {
    let (verb, summary) = match route.operation {
        Operation::Events => ("list{}WebhookEvents", "The events that can be subscribed to"),
        Operation::Subscribe => ("subscribeTo{}", "Subscribe"),
        Operation::Unsubscribe => ("unsubscribeFrom{}", "Unsubscribe"),
        Operation::List => ("list{}Webhooks", "The caller's webhooks"),
        Operation::Record => ("get{}Webhook", "One webhook"),
        Operation::Status => ("set{}WebhookStatus", "Enable or disable a webhook"),
        Operation::Change => ("change{}Webhook", "Give a webhook another url"),
        Operation::Delete => ("delete{}Webhook", "Delete a webhook"),
        Operation::Secret => ("rotate{}WebhookSecret", "Give a webhook another secret"),
        Operation::Deliveries => ("list{}WebhookDeliveries", "What was delivered, and what was not"),
        Operation::Delivery => ("get{}WebhookDelivery", "One delivery"),
        Operation::ReplayOne => ("replay{}WebhookDelivery", "Send one delivery again"),
        Operation::Replay => ("replay{}Webhook", "Send all events of a span of time again"),
        Operation::Test => ("test{}Webhook", "Send a test event"),
        Operation::Health => ("get{}WebhookHealth", "How a webhook does"),
    };
    let name = match route.side {
        Side::Of(resource) => resource.plural(),
        Side::Invoicing => "Invoicing",
    };
    (verb.replace("{}", name), summary)
}

/// What else there is to say.
fn about(operation: Operation) -> &'static str {
    match operation {
        Operation::Events => "By their semantic names.",
        Operation::Subscribe => {
            "The receiver is then asked to accept a handshake; nothing is delivered before it has. The very same body \
             again is the same webhook; where it was disabled, it is enabled."
        }
        Operation::Unsubscribe => {
            "With the body of the subscription: name, url, secret and the set of event types. It is final."
        }
        Operation::List => "Those that are neither deleted nor unsubscribed.",
        Operation::Record => "Of the accounting family also where it is deleted.",
        Operation::Status => {
            "One that its owner had resting goes on from the next event; one that the service gave up, from the first \
             event that was not delivered. Without a contract, a new handshake starts."
        }
        Operation::Change => {
            "The new receiver has to accept a handshake; events wait for it, and none goes to the old one any more."
        }
        Operation::Delete => "It is final.",
        Operation::Secret => {
            "The contract's signature uses the new one at once; `webhook-signature` carries both for the overlap."
        }
        Operation::Deliveries => "Newest first; each event stands once, with its attempts.",
        Operation::Delivery => "With the body that is sent, to the letter.",
        Operation::ReplayOne => "The same body and `OutgoingId`, outside the order of all others.",
        Operation::Replay => {
            "In their order, the same bodies; only what came after the webhook's first contract."
        }
        Operation::Test => "An event that never happened, signed like any other.",
        Operation::Health => {
            "Rates and times over the last day (or `since`), what waits, and what to look after."
        }
    }
}

/// Each of the ways in which an address can be called.
fn requirements(route: Route) -> Vec<SecurityRequirement> {
    let scopes: Vec<&str> = [area_scope(route), Scope::Webhooks].map(Scope::name).into_iter().collect();
    let scopes = if scopes[0] == scopes[1] { vec![scopes[0]] } else { scopes };
    let none: [&str; 0] = [];
    let mut ways = Vec::new();
    for key in ["subscriptionKey", "subscriptionKeyInQuery"] {
        for token in ["signIn", "accessToken"] {
            ways.push(SecurityRequirement::new(key, none).add(token, scopes.clone()));
        }
    }
    ways
}

fn area_scope(route: Route) -> Scope {
    match route.area() {
        domain::Area::Core => Scope::Core,
        domain::Area::Accounting | domain::Area::Import => Scope::Accounting,
        domain::Area::Payroll => Scope::Payroll,
        domain::Area::Invoicing => Scope::Webhooks,
    }
}

fn parameters(route: Route) -> Vec<Parameter> {
    let path = route.path();
    let mut all = Vec::new();
    for (name, about, example) in [
        ("webhookId", "The webhook.", WEBHOOK),
        ("id", "The webhook.", WEBHOOK),
        ("outgoingId", "The `OutgoingId` of the notification.", OUTGOING),
    ] {
        if path.contains(&format!("{{{name}}}")) {
            all.push(parts::path_id(name, about, example));
        }
    }
    match route.operation {
        Operation::Deliveries => all.extend(parts::of_deliveries()),
        Operation::Health => {
            all.push(parts::since("What is counted is counted from then on; a day back without it."));
        }
        _ => {}
    }
    all
}

fn body(route: Route) -> Option<RequestBody> {
    let (schema, example) = match (route.side, route.operation) {
        (Side::Of(resource), Operation::Subscribe | Operation::Unsubscribe) => {
            ("WebhookSubscription", examples::subscription(resource))
        }
        (Side::Of(_), Operation::Status) => ("WebhookStatus", json!({"webhookId": WEBHOOK, "enable": true})),
        (Side::Of(_), Operation::Change) => {
            ("WebhookMove", json!({"webhookId": WEBHOOK, "url": "https://other.example/webhooks"}))
        }
        (Side::Invoicing, Operation::Subscribe) => {
            ("InvoicingSubscription", examples::invoicing_subscription())
        }
        (Side::Invoicing, Operation::Status) => ("InvoicingPause", json!({"isPaused": true})),
        (_, Operation::Secret) => {
            ("WebhookSecret", json!({"secret": "another-random-text", "overlapHours": 24}))
        }
        (_, Operation::Replay) => {
            ("WebhookReplaySpan", json!({"from": "2026-11-15T08:00:00Z", "to": "2026-11-15T09:00:00Z"}))
        }
        _ => return None,
    };
    let content = ContentBuilder::new().schema(Some(narrowed(route, schema))).example(Some(example));
    Some(RequestBodyBuilder::new().content(JSON, content.build()).required(Some(Required::True)).build())
}

/// The schema of this name; of a subscription, with the names that its resource offers.
fn narrowed(route: Route, schema: &str) -> RefOr<Schema> {
    let common = Ref::from_schema_name(schema);
    let (Side::Of(resource), "WebhookSubscription") = (route.side, schema) else { return common.into() };
    let offered = resource.event_kinds().into_iter().map(|kind| semantic_name(resource, kind));
    let names = ArrayBuilder::new().items(one_of("An event of this resource.", offered));
    let own = ObjectBuilder::new().property("eventTypes", names);
    AllOfBuilder::new().item(common).item(own).into()
}

fn responses(route: Route) -> ResponsesBuilder {
    let (status, good) = good(route);
    let has_body = body(route).is_some();
    let is_read = route.method() == Method::GET;
    let sends = matches!(route.operation, Operation::Replay | Operation::ReplayOne | Operation::Test);
    let mut refusals = vec![400, 401, 403, 404, 429, 503];
    refusals.extend(has_body.then_some(413));
    refusals.extend((has_body || sends || route.operation == Operation::Delete).then_some(409));
    refusals.extend(is_read.then_some(304));
    let responses = ResponsesBuilder::new().response(status, good);
    refusals.into_iter().fold(responses, |responses, status| {
        responses.response(status.to_string(), parts::refusal(status, route.has_result()))
    })
}

fn good(route: Route) -> (&'static str, Response) {
    let of_list = |name: &str, example: Value, about: &str| {
        let items: RefOr<Schema> = ArrayBuilder::new().items(Ref::from_schema_name(name)).into();
        parts::of(about, items, json!([example]))
    };
    let done = |state| parts::answer("Done.", "WebhookResult", examples::result(state));
    let event = match route.side {
        Side::Of(resource) => examples::names(resource)[0].as_str().unwrap_or_default().to_owned(),
        Side::Invoicing => "SaleInvoice.Created".to_owned(),
    };
    let told = match (route.side, route.operation) {
        (Side::Of(resource), Operation::Events) => names(resource),
        (Side::Of(_), Operation::Subscribe) => done(3),
        (Side::Of(_), Operation::Unsubscribe) => done(4),
        (Side::Of(_), Operation::Delete) => done(5),
        (Side::Of(_), Operation::Change) => done(6),
        (Side::Of(_), Operation::Status) => done(7),
        (Side::Of(resource), Operation::List) => {
            of_list("Webhook", examples::record(resource), "The webhooks.")
        }
        (Side::Of(resource), Operation::Record) => {
            parts::answer("The webhook.", "Webhook", examples::record(resource))
        }
        (Side::Invoicing, Operation::List) => {
            of_list("InvoicingWebhook", examples::invoicing_record(), "The webhooks.")
        }
        (_, Operation::Secret) => parts::answer("Done.", "WebhookSecretRotated", examples::rotated()),
        (_, Operation::Deliveries) => {
            parts::linked(of_list("WebhookDelivery", examples::delivery(&event), "The deliveries."))
        }
        (_, Operation::Delivery) => {
            let mut example = examples::delivery(&event);
            example["body"] = examples::notification().to_string().into();
            parts::answer("The delivery.", "WebhookDelivery", example)
        }
        (_, Operation::Replay | Operation::ReplayOne) => {
            return ("202", parts::answer("It will be sent.", "WebhookReplay", examples::replay("events")));
        }
        (_, Operation::Test) => {
            return ("202", parts::answer("It will be sent.", "WebhookReplay", examples::replay("test")));
        }
        (_, Operation::Health) => parts::answer("How it does.", "WebhookHealth", examples::health()),
        (Side::Invoicing, _) => {
            parts::answer("The webhook.", "InvoicingWebhook", examples::invoicing_record())
        }
    };
    ("200", told)
}

fn names(resource: Resource) -> Response {
    let text = ObjectBuilder::new().schema_type(utoipa::openapi::schema::Type::String);
    let items: RefOr<Schema> = ArrayBuilder::new().items(text).into();
    parts::of("Semantic names.", items, examples::names(resource))
}
