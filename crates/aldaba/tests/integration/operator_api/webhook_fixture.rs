//! Fixture for the webhook tests: a server that may call loopback receivers and retries soon, and a subscribed
//! application.

use std::sync::OnceLock;

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{
    ApiFixture, EmbeddedServer, OperatorApi, Receiver, Server, SubscriptionKeys, company, customer, wait_for,
};

pub(super) const SECRET: &str = "nobody must see this";

/// A server that may call receivers on loopback and retries after one second.
pub(super) fn fixture() -> &'static Server {
    static SERVER: OnceLock<EmbeddedServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let set = [
            "gateway.rate_per_minute=0",
            "egress.loopback=true",
            "delivery.host_check=off",
            "delivery.schedule=1s",
        ];
        EmbeddedServer::start_shared(&set)
    })
}

pub(super) fn operator() -> OperatorApi<'static> {
    OperatorApi(fixture())
}

/// An application with its own tenant and an active webhook for customers.
pub(super) struct Subscriber {
    pub(super) api: ApiFixture<'static>,
    pub(super) webhook: String,
    receiver: Receiver,
}

impl Subscriber {
    pub(super) fn new() -> Self {
        static KEYS: OnceLock<SubscriptionKeys> = OnceLock::new();
        let api = ApiFixture::on(fixture(), KEYS.get_or_init(|| SubscriptionKeys::new(fixture(), &[])));
        assert_eq!(api.ingest.send_lines(&[company("c")]).accepted, 1);
        let receiver = Receiver::open();
        let body = json!({
            // The receiver returns the value of the query's echo.
            "thirdPartyApplicationName": "Panel", "url": receiver.url("/hook?echo=Done"),
            "secret": SECRET, "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
        });
        let created = api
            .request(Method::POST, "/accounting/api/customers/webhooks/subscribe")
            .header("content-type", "application/json")
            .body(body.to_string())
            .send();
        assert_eq!(created.status, 200, "{created:?}");
        let webhook = created.json()["webhookId"].as_str().unwrap().to_owned();
        let subscriber = Self { api, webhook, receiver };
        wait_for("the receiver to accept", || (subscriber.view()["status"] == "active").then_some(()));
        subscriber
    }

    /// Sets the status of the receiver's responses.
    pub(super) fn respond_with(&self, status: u16) {
        self.receiver.respond_with(move |_| Some((status, "")));
    }

    /// Sets the status and the body of the receiver's responses.
    pub(super) fn respond_with_text(&self, status: u16, text: &'static str) {
        self.receiver.set_body(Some(text));
        self.respond_with(status);
    }

    /// The received bodies that contain this text.
    pub(super) fn bodies_with(&self, text: &str) -> Vec<String> {
        let bodies = self.receiver.requests().into_iter().map(|request| request.body);
        bodies.filter(|body| body.contains(text)).collect()
    }

    /// Creates a customer; returns the sequence number of the change.
    pub(super) fn customer(&self, id: &str) -> u64 {
        let answer = self.api.ingest.send_lines(&[customer("c", id, "Bar Manolo")]);
        assert_eq!(answer.accepted, 1);
        answer.head()
    }

    pub(super) fn at(&self, tail: &str) -> String {
        format!("/webhooks/{}{tail}", self.webhook)
    }

    #[track_caller]
    pub(super) fn get(&self, tail: &str) -> Value {
        let response = operator().get(&self.at(tail));
        assert_eq!(response.status, 200, "{response:?}");
        response.json()
    }

    #[track_caller]
    pub(super) fn view(&self) -> Value {
        self.get("")
    }

    /// Waits until a delivery has this status, and returns it.
    #[track_caller]
    pub(super) fn delivery(&self, sequence: u64, status: &str) -> Value {
        wait_for("the delivery", || {
            let one = self.get(&format!("/deliveries/{sequence}"));
            (one["status"] == status && (status != "waiting" || one["attempts"][0].is_object()))
                .then_some(one)
        })
    }

    /// Waits until a replay is done, and returns it.
    #[track_caller]
    pub(super) fn wait_for_replay(&self, number: i64) -> Value {
        wait_for("the replay", || {
            let replays = self.get("/replays");
            let one = replays["replays"].as_array().unwrap().iter().find(|one| one["number"] == number)?;
            (one["isDone"] == true).then(|| one.clone())
        })
    }
}
