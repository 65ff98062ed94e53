//! The Rust client against a running `aldaba dev`, from sign-in to the pull feed.

mod deliveries;
mod inbox_receiver;
mod keep_in_step;
mod management;
mod reading;
mod receivers;
mod sign_in;
mod token_refresh;

use std::future::Future;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use aldaba_client::Secret;
use aldaba_client::api::Api;
use aldaba_client::sign_in::{AuthorizationRequest, CompletedSignIn, PendingSignIn, Session, SignIn};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::harness::{Browser, Dev, IngestClient};

/// One service shared by these tests; each test creates its own companies.
pub(super) fn dev() -> &'static Dev {
    static DEV: OnceLock<Dev> = OnceLock::new();
    DEV.get_or_init(|| {
        let set = ["--set", "delivery.schedule=200ms,300ms,500ms", "--set", "delivery.timeout=2s"];
        let mut dev = Dev::start(&set);
        dev.process.clean_up_after_exit();
        dev
    })
}

/// An application that uses the client, with its runtime.
pub(super) struct ClientFixture {
    runtime: Runtime,
    sign_in: SignIn,
    user: &'static Value,
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

impl ClientFixture {
    pub(super) fn new() -> Self {
        Self::of("client")
    }

    /// With the client of this name in the ready line, and a user with one tenant.
    fn of(client: &str) -> Self {
        let (dev, runtime) = (dev(), Runtime::new().unwrap());
        let client = &dev.ready[client];
        let [id, secret, back] =
            ["client_id", "client_secret", "redirect_uri"].map(|name| text(&client[name]));
        let sign_in = SignIn::new(dev.text("auth_url"), id, Secret::new(secret), back).unwrap();
        let mut users = dev.ready["users"].as_array().unwrap().iter();
        let user = users.find(|user| user["tenants"].as_array().unwrap().len() == 1).unwrap();
        Self { runtime, sign_in, user }
    }

    pub(super) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(super) fn tenant(&self) -> &'static str {
        text(&self.user["tenants"][0])
    }

    pub(super) fn ingest_client(&self) -> IngestClient {
        IngestClient::new(dev().text("operator_url"), dev().text("operator_token"), self.tenant())
    }

    /// Starts a sign-in, completes it in a browser and returns the callback URL.
    fn called_back(&self, ask: &AuthorizationRequest) -> (PendingSignIn, String) {
        let started = self.sign_in.start(ask);
        let browser = Browser::new(dev().text("auth_url"));
        let page = browser.follow_redirects(browser.get(&started.url));
        let filled = [("username", text(&self.user["email"])), ("password", text(&self.user["password"]))];
        let page = browser.follow_redirects(browser.submit(&page.form("post"), &filled));
        let address = page.location().to_owned();
        assert!(address.contains("code="), "{page:?}");
        (started.pending, address)
    }

    pub(super) fn signed_in(&self) -> CompletedSignIn {
        let (pending, address) = self.called_back(
            &AuthorizationRequest::accounting().with_scopes_of(&AuthorizationRequest::payroll()),
        );
        self.run(self.sign_in.finish(&pending, &address)).unwrap()
    }

    fn session(&self) -> Session {
        Session::in_memory(self.sign_in.clone(), self.signed_in().tokens)
    }

    pub(super) fn api(&self) -> Api {
        let key = Secret::new(text(&dev().ready["subscription"]["primary_key"]));
        Api::new(dev().text("base_url"), key, self.session()).unwrap()
    }

    /// Creates a company and returns its id.
    pub(super) fn company(&self) -> String {
        static CREATED_COUNT: AtomicU32 = AtomicU32::new(0);
        let id = format!("cliente ñ/{}", CREATED_COUNT.fetch_add(1, Ordering::Relaxed));
        assert_eq!(self.ingest_client().send_lines(&[crate::harness::company(&id)]).counts(), (1, 0));
        id
    }
}
