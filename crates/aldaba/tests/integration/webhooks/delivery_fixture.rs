//! A server that gives up soon, an application, and its receiver: the stage of the stories about deliveries.

use hyper::Method;
use serde_json::{Value, json};

use super::{CUSTOMERS, expect_state, get, send};
use crate::harness::{
    ApiFixture, IngestClient, Installation, Receiver, ServeProcess, SubscriptionKeys, company, customer,
    wait_for,
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
    pub(super) server: &'static ServeProcess,
    pub(super) receiver: Receiver,
    pub(super) api: ApiFixture<'static>,
    pub(super) ingest: IngestClient,
}

/// A server that gives up soon, for all these stories.
fn delivery_server() -> &'static (ServeProcess, SubscriptionKeys) {
    static SERVER: std::sync::OnceLock<(ServeProcess, SubscriptionKeys)> = std::sync::OnceLock::new();
    SERVER.get_or_init(|| {
        let server = ServeProcess::start_shared(Installation::new(), &SETTINGS);
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

    /// Subscribes to what is created and updated.
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
        wait_for("the webhook to be as wanted", || (self.record(id)["isActive"] == is_active).then_some(()));
    }

    /// A webhook whose receiver has accepted.
    pub(super) fn contracted(&self, path: &str) -> String {
        let id = self.subscribe(path);
        self.wait_active(&id, true);
        id
    }

    pub(super) fn put(&self, id: &str, name: &str) {
        assert_eq!(self.ingest.send_lines(&[customer("c", id, name)]).counts(), (1, 0));
    }

    pub(super) fn status(&self, id: &str, enable: bool) {
        let body = json!({"webhookId": id, "enable": enable});
        expect_state(
            &send(&self.api, Method::PUT, &format!("{CUSTOMERS}/webhooks/status/{id}"), Some(&body)),
            7,
        );
    }

    /// Subscribes to what is told of banks.
    pub(super) fn subscribe_invoicing(&self, action: &str) -> String {
        let body = json!({
            "uri": self.receiver.url("/api/webhooks/incoming/Invoicing"), "entity": "Bank", "action": action,
            "secret": "s3cret", "isPaused": false, "applicationName": "Panel", "description": "d",
        });
        let made = send(&self.api, Method::POST, INVOICING, Some(&body));
        assert_eq!(made.status, 200, "{made:?}");
        made.json()["id"].as_str().unwrap().to_owned()
    }

    pub(super) fn invoicing(&self, id: &str) -> Value {
        get(&self.api, &format!("{INVOICING}/{id}")).json()
    }

    #[track_caller]
    pub(super) fn wait_invoicing(&self, id: &str, status: &str) {
        wait_for("the subscription to be as wanted", || {
            (self.invoicing(id)["status"] == status).then_some(())
        });
    }

    /// The deliveries of a webhook, newest first, once there are so many.
    #[track_caller]
    pub(super) fn deliveries(&self, id: &str, count: usize) -> Vec<Value> {
        let path = format!("{CUSTOMERS}/webhooks/{id}/deliveries?pageSize=100");
        wait_for("the history", || {
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
