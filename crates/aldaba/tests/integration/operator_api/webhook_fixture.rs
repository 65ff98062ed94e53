//! The stage for webhooks: a server that calls receivers on this machine and tries again soon, and an application that
//! has subscribed.

use std::sync::OnceLock;

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{
    ApiFixture, Installation, OperatorApi, Receiver, ServeProcess, SubscriptionKeys, company, customer,
    wait_for,
};

pub(super) const SECRET: &str = "nobody must see this";

/// A server whose receivers may live on this machine, and that tries again soon.
pub(super) fn fixture() -> &'static ServeProcess {
    static SERVER: OnceLock<ServeProcess> = OnceLock::new();
    SERVER.get_or_init(|| {
        let set = [
            "gateway.rate_per_minute=0",
            "egress.loopback=true",
            "delivery.host_check=off",
            "delivery.schedule=1s",
        ];
        ServeProcess::start_shared(Installation::new(), &set)
    })
}

pub(super) fn operator() -> OperatorApi<'static> {
    OperatorApi(fixture())
}

/// An application with a tenant of its own, and its webhook for customers, which is active.
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
            // The receiver gives back what it finds behind echo.
            "thirdPartyApplicationName": "Panel", "url": receiver.url("/hook?echo=Done"),
            "secret": SECRET, "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
        });
        let made = api
            .request(Method::POST, "/accounting/api/customers/webhooks/subscribe")
            .header("content-type", "application/json")
            .body(body.to_string())
            .send();
        assert_eq!(made.status, 200, "{made:?}");
        let webhook = made.json()["webhookId"].as_str().unwrap().to_owned();
        let subscriber = Self { api, webhook, receiver };
        wait_for("the receiver to accept", || (subscriber.status_view()["status"] == "active").then_some(()));
        subscriber
    }

    /// What the receiver answers from now on.
    pub(super) fn respond_with(&self, status: u16) {
        self.receiver.respond_with(move |_| Some((status, "")));
    }

    /// The bodies with this text that have come so far.
    pub(super) fn bodies_with(&self, text: &str) -> Vec<String> {
        let bodies = self.receiver.requests().into_iter().map(|request| request.body);
        bodies.filter(|body| body.contains(text)).collect()
    }

    /// A customer comes; tells the number of the change.
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
    pub(super) fn status_view(&self) -> Value {
        self.get("")
    }

    /// One delivery, once it stands so.
    #[track_caller]
    pub(super) fn delivery(&self, sequence: u64, status: &str) -> Value {
        wait_for("the delivery", || {
            let one = self.get(&format!("/deliveries/{sequence}"));
            (one["status"] == status && (status != "waiting" || one["attempts"][0].is_object()))
                .then_some(one)
        })
    }

    /// A replay, once it is done.
    #[track_caller]
    pub(super) fn wait_for_replay(&self, number: i64) -> Value {
        wait_for("the replay", || {
            let replays = self.get("/replays");
            let one = replays["replays"].as_array().unwrap().iter().find(|one| one["number"] == number)?;
            (one["isDone"] == true).then(|| one.clone())
        })
    }
}
