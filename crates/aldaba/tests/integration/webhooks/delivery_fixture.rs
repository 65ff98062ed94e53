//! Fixture for the delivery tests: a server with short retry settings, an application, and its receiver.

use hyper::Method;
use serde_json::{Value, json};

use super::{CUSTOMERS, expect_state, get, send};
use crate::harness::{
    ApiFixture, EmbeddedServer, IngestClient, Receiver, Server, SubscriptionKeys, company, customer, wait_for,
};

pub(super) const INVOICING: &str = "/invoicing/api/webhooks";
const SETTINGS: [&str; 6] = [
    "gateway.rate_per_minute=0",
    "egress.loopback=true",
    "delivery.host_check=off",
    "delivery.schedule=200ms,300ms,300ms",
    "delivery.window=3s",
    "delivery.timeout=1s",
];

pub(super) struct DeliveryFixture {
    pub(super) server: &'static Server,
    pub(super) receiver: Receiver,
    pub(super) api: ApiFixture<'static>,
    pub(super) ingest: IngestClient,
}

/// The server with short retry settings that these tests share.
fn delivery_server() -> &'static (EmbeddedServer, SubscriptionKeys) {
    static SERVER: std::sync::OnceLock<(EmbeddedServer, SubscriptionKeys)> = std::sync::OnceLock::new();
    SERVER.get_or_init(|| {
        let server = EmbeddedServer::start_shared(&SETTINGS);
        let keys = SubscriptionKeys::new(&server, &[]);
        (server, keys)
    })
}

impl DeliveryFixture {
    pub(super) fn new() -> Self {
        let (server, keys) = delivery_server();
        let api = ApiFixture::on(server, keys);
        let ingest = server.ingest_client(&api.sign_in.tenants[0]);
        ingest.send_lines(&[company("c")]);
        Self { server, receiver: Receiver::open(), api, ingest }
    }

    /// Subscribes to created and updated customers.
    pub(super) fn subscribe(&self, path: &str) -> String {
        let body = json!({
            "thirdPartyApplicationName": "Panel", "url": self.receiver.url(path), "secret": "s3cret",
            "eventTypes": ["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerUpdated"],
        });
        expect_state(
            &send(&self.api, Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"), Some(&body)),
            3,
        )
    }

    pub(super) fn record(&self, id: &str) -> Value {
        get(&self.api, &format!("{CUSTOMERS}/webhooks/{id}")).json()
    }

    #[track_caller]
    pub(super) fn wait_active(&self, id: &str, is_active: bool) {
        wait_for("the webhook to reach the expected state", || {
            (self.record(id)["isActive"] == is_active).then_some(())
        });
    }

    /// A webhook whose receiver has accepted the handshake.
    pub(super) fn active_webhook(&self, path: &str) -> String {
        let id = self.subscribe(path);
        self.wait_active(&id, true);
        id
    }

    pub(super) fn put(&self, id: &str, name: &str) {
        assert_eq!(self.ingest.send_lines(&[customer("c", id, name)]).counts(), (1, 0));
    }

    pub(super) fn set_enabled(&self, id: &str, enable: bool) {
        let body = json!({"webhookId": id, "enable": enable});
        expect_state(
            &send(&self.api, Method::PUT, &format!("{CUSTOMERS}/webhooks/status/{id}"), Some(&body)),
            7,
        );
    }

    /// Subscribes to one action on banks.
    pub(super) fn subscribe_invoicing(&self, action: &str) -> String {
        let body = json!({
            "uri": self.receiver.url("/api/webhooks/incoming/Invoicing"), "entity": "Bank", "action": action,
            "secret": "s3cret", "isPaused": false, "applicationName": "Panel", "description": "d",
        });
        let created = send(&self.api, Method::POST, INVOICING, Some(&body));
        assert_eq!(created.status, 200, "{created:?}");
        created.json()["id"].as_str().unwrap().to_owned()
    }

    pub(super) fn invoicing(&self, id: &str) -> Value {
        get(&self.api, &format!("{INVOICING}/{id}")).json()
    }

    #[track_caller]
    pub(super) fn wait_invoicing(&self, id: &str, status: &str) {
        wait_for("the subscription to reach the expected status", || {
            (self.invoicing(id)["status"] == status).then_some(())
        });
    }

    /// Waits for `count` deliveries of a webhook; returns all, newest first.
    #[track_caller]
    pub(super) fn deliveries(&self, id: &str, count: usize) -> Vec<Value> {
        let path = format!("{CUSTOMERS}/webhooks/{id}/deliveries?pageSize=100");
        wait_for("the deliveries", || {
            let all = get(&self.api, &path).json().as_array().unwrap().clone();
            (all.len() >= count).then_some(all)
        })
    }

    /// The attempts to reach a webhook's receiver, newest first.
    pub(super) fn attempts(&self, id: &str) -> Vec<Value> {
        let health = get(&self.api, &format!("{CUSTOMERS}/webhooks/{id}/health")).json();
        health["recentAttempts"].as_array().unwrap().clone()
    }
}
