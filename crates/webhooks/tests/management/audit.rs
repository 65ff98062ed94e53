//! Every mutating route of the management API leaves an audit entry that names the user, the client and the webhook.

use axum::http::Method;
use domain::Resource;
use serde_json::{Value, json};
use store::{Audit as _, AuditEntry, AuditQuery};
use webhooks::management::{Operation, Route, RouteGroup};

use crate::fixture::{Fixture, Reply, URI};

/// The kind of entry that an operation leaves. A new operation does not compile until it is listed.
fn expected_kind(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::Subscribe => Some("webhook_subscribed"),
        Operation::Unsubscribe => Some("webhook_unsubscribed"),
        Operation::Status | Operation::Change | Operation::Test => Some("webhook_changed"),
        Operation::Delete => Some("webhook_deleted"),
        Operation::Secret => Some("webhook_secret_rotated"),
        Operation::ReplayDelivery | Operation::Replay => Some("webhook_replayed"),
        Operation::Events
        | Operation::List
        | Operation::Record
        | Operation::Deliveries
        | Operation::Delivery
        | Operation::Health => None,
    }
}

/// Newest first.
async fn entries(fixture: &Fixture) -> Vec<AuditEntry> {
    let query = AuditQuery { rows_max: 10_000, ..AuditQuery::default() };
    fixture.store.audit(&query).await.unwrap().into_iter().map(|record| record.entry).collect()
}

/// One webhook of its own for each route.
struct Subject<'a> {
    fixture: &'a Fixture,
    group: RouteGroup,
    number: usize,
}

impl Subject<'_> {
    async fn subscription(&self) -> Value {
        let (number, url) = (self.number, format!("https://receiver.example/hook/{}", self.number));
        match self.group {
            RouteGroup::Resource(resource) => {
                let events = self.fixture.resource_request(resource, Operation::Events).send().await.body;
                json!({
                    "thirdPartyApplicationName": "App", "url": url, "secret": "hush-1", "eventTypes": events,
                })
            }
            RouteGroup::Invoicing => json!({
                "uri": URI, "entity": "Bank", "action": "Created", "secret": "hush-1", "isPaused": false,
                "applicationName": format!("App {number}"), "description": "",
            }),
        }
    }

    async fn send(&self, operation: Operation, webhook: &str, outgoing: &str, body: Option<Value>) -> Reply {
        let request = match self.group {
            RouteGroup::Resource(resource) => self.fixture.resource_request(resource, operation),
            RouteGroup::Invoicing => self.fixture.invoicing(operation),
        };
        let request = request.webhook(webhook).outgoing(outgoing);
        match body {
            Some(body) => request.body(&body).send().await,
            None => request.send().await,
        }
    }

    /// Subscribes, accepts the handshake, and delivers one event; returns the webhook and the delivery's id.
    async fn prepare(&self) -> (String, String) {
        let body = self.subscription().await;
        let webhook = self.send(Operation::Subscribe, "", "", Some(body)).await.id().to_owned();
        self.fixture.accept_handshake(&webhook).await;
        let sequence = self.fixture.apply(&self.change()).await;
        self.fixture.record_delivery(&webhook, sequence).await;
        let deliveries = self.send(Operation::Deliveries, &webhook, "", None).await;
        let outgoing = deliveries.body[0]["outgoingId"].as_str();
        (webhook, outgoing.unwrap_or_else(|| panic!("{deliveries:?}")).to_owned())
    }

    /// A change whose event the webhook gets.
    fn change(&self) -> String {
        let id = format!("r{}", self.number);
        let line = match self.group {
            RouteGroup::Resource(resource) => {
                let (area, name) = (resource.area().as_str(), resource.as_str());
                let mut line = json!({"area": area, "resource": name, "action": "fail", "correlationId": id});
                if resource != Resource::companies() {
                    line["company"] = json!("c");
                }
                line
            }
            RouteGroup::Invoicing => json!({
                "area": "invoicing", "resource": "Bank", "action": "upsert", "correlationId": id, "data": {},
            }),
        };
        line.to_string()
    }

    async fn body(&self, operation: Operation, webhook: &str) -> Option<Value> {
        let is_invoicing = self.group == RouteGroup::Invoicing;
        match operation {
            Operation::Subscribe | Operation::Unsubscribe => Some(self.subscription().await),
            Operation::Status if is_invoicing => Some(json!({"isPaused": true})),
            Operation::Status => Some(json!({"webhookId": webhook, "enable": false})),
            Operation::Change => {
                let url = format!("https://other.example/hook/{}", self.number);
                Some(json!({"webhookId": webhook, "url": url}))
            }
            Operation::Secret => Some(json!({"secret": "hush-2"})),
            Operation::Replay => Some(json!({"from": "0001-01-01T00:00:00Z"})),
            _ => None,
        }
    }
}

#[tokio::test]
async fn every_mutating_route_leaves_an_audit_entry() {
    let fixture = Fixture::with(|settings| settings.webhooks_max = 10_000).with_tenants().await;
    let routes: Vec<Route> = Route::all().filter(|route| route.method() != Method::GET).collect();
    let mut audited = 0;
    for (number, route) in routes.iter().enumerate() {
        let (operation, subject) =
            (route.operation, Subject { fixture: &fixture, group: route.group, number });
        let (webhook, outgoing) = match operation {
            Operation::Subscribe => Default::default(),
            _ => subject.prepare().await,
        };
        let before = entries(&fixture).await.len();
        fixture.advance(1);
        let body = subject.body(operation, &webhook).await;
        let reply = subject.send(operation, &webhook, &outgoing, body).await;
        assert!((200..300).contains(&reply.status), "{route:?}: {reply:?}");
        let all = entries(&fixture).await;
        assert_eq!(all.len(), before + 1, "{route:?}");
        let entry = &all[0];
        assert_eq!(Some(entry.kind.as_str()), expected_kind(operation), "{route:?}");
        assert_eq!(entry.context.actor.to_string(), "user:user-1");
        assert_eq!((&*entry.context.request_id, &*entry.context.address), ("request-1", "203.0.114.7"));
        assert_eq!(entry.client.as_ref().map(ToString::to_string).as_deref(), Some("app-1"));
        assert_eq!(entry.tenant.as_ref().map(ToString::to_string).as_deref(), Some("tenant-a"));
        let webhook = if webhook.is_empty() { reply.id() } else { &webhook };
        assert_eq!(entry.object, Some(format!("webhook:{webhook}")));
        assert!(!format!("{entry:?}").contains("hush"), "{entry:?}");
        audited += 1;
    }
    assert!(
        Route::all()
            .filter(|route| route.method() == Method::GET)
            .all(|route| expected_kind(route.operation).is_none())
    );
    println!("{audited} of {} mutating webhook routes leave an audit entry", routes.len());
}

/// A subscriber learns that a host is not public, not where it leads.
#[tokio::test]
async fn refusal_does_not_name_the_private_address() {
    let fixture = Fixture::new().with_tenants().await;
    let subject =
        Subject { fixture: &fixture, group: RouteGroup::Resource(Resource::customers()), number: 1 };
    let mut body = subject.subscription().await;
    for url in ["https://inside.example/", "https://localhost/", "https://169.254.169.254/"] {
        body["url"] = json!(url);
        let reply = subject.send(Operation::Subscribe, "", "", Some(body.clone())).await;
        assert_eq!(reply.status, 400, "{reply:?}");
        assert_eq!(reply.body["message"], "url is not accepted: the host is not a public address.");
    }
}
