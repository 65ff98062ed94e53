//! The service in process: real listeners on loopback, an embedded store in a temporary folder, injected clock and randomness.

use std::sync::Arc;

use aldaba::embedded::{EmbeddedService, Options};
use aldaba::{BasePorts, Supervisor, TaskFailure};
use domain::{Clock, Random};
use serde_json::Value;
use store::Store;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{Request, Response};

/// The bytes of "a master key that tests may read".
const MASTER_KEY: &str = "61206d6173746572206b65792074686174207465737473206d61792072656164";
const OPERATOR_TOKEN: &str = "the operator's token that tests may read";

/// What a server is started with.
#[derive(Debug)]
#[must_use]
pub struct TestServerBuilder {
    base: BasePorts,
    settings: Vec<(String, String)>,
}

impl TestServerBuilder {
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.base.clock = clock;
        self
    }

    /// On a machine with this clock, which the service compares with the store's.
    pub fn machine_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.base = BasePorts::with_machine_clock(clock);
        self
    }

    pub fn random(mut self, random: Arc<dyn Random>) -> Self {
        self.base.random = random;
        self
    }

    /// Sets a configuration key, as `--set` does.
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.push((key.to_owned(), value.to_owned()));
        self
    }

    #[track_caller]
    pub fn start(self) -> TestServer {
        let folder = tempfile::tempdir().unwrap();
        let defaults = [
            ("server.listen", "127.0.0.1:0".to_owned()),
            ("operator.listen", "127.0.0.1:0".to_owned()),
            ("store.url", format!("sqlite:{}", folder.path().join("aldaba.db").display())),
            ("egress.loopback", "true".to_owned()),
            ("gateway.rate_per_minute", "0".to_owned()),
            ("delivery.host_check", "off".to_owned()),
            ("server.drain", "1s".to_owned()),
            ("server.drain_delay", "0s".to_owned()),
            ("store.master_key", MASTER_KEY.to_owned()),
            ("operator.token", OPERATOR_TOKEN.to_owned()),
        ];
        let defaults = defaults.map(|(key, value)| (key.to_owned(), value));
        let options = Options {
            config: None,
            settings: defaults.into_iter().chain(self.settings).collect(),
            base: self.base,
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let service = runtime.block_on(EmbeddedService::start(options)).unwrap();
        TestServer { service: Some(service), runtime, _folder: folder }
    }
}

/// A running server. Dropping it stops the service in order.
#[derive(Debug)]
pub struct TestServer {
    service: Option<EmbeddedService>,
    runtime: Runtime,
    _folder: TempDir,
}

impl TestServer {
    /// On SQLite, with the machine's clock and randomness.
    #[track_caller]
    pub fn start() -> Self {
        Self::builder().start()
    }

    pub fn builder() -> TestServerBuilder {
        TestServerBuilder { base: BasePorts::system(), settings: Vec::new() }
    }

    fn service(&self) -> &EmbeddedService {
        self.service.as_ref().expect("the service runs until it is stopped")
    }

    pub fn base_url(&self) -> &str {
        &self.service().base_url
    }

    pub fn operator_url(&self) -> &str {
        &self.service().operator_url
    }

    pub fn operator_token(&self) -> &str {
        OPERATOR_TOKEN
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.service().store
    }

    pub fn supervisor(&self) -> &Supervisor {
        self.service().supervisor()
    }

    /// Runs a future on the server's runtime, for calls of the store.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// A GET of the public listener.
    #[track_caller]
    pub fn get(&self, path: &str) -> Response {
        Request::get(&format!("{}{path}", self.base_url())).send()
    }

    /// A POST to `/operator/v1` with the operator's token; the response must be a success.
    #[track_caller]
    pub fn operator_post(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}/operator/v1/{path}", self.operator_url());
        let response = Request::post(&url).bearer(OPERATOR_TOKEN).json(body).send();
        assert!((200..300).contains(&response.status), "{url}: {} {}", response.status, response.text());
        response.json()
    }

    /// A GET of the operator's listener, with the operator's token.
    #[track_caller]
    pub fn operator_get(&self, path: &str) -> Response {
        Request::get(&format!("{}{path}", self.operator_url())).bearer(OPERATOR_TOKEN).send()
    }

    /// Stops in order. Returns the failure of a background task, where there was one.
    pub fn stop(mut self) -> Option<TaskFailure> {
        let service = self.service.take()?;
        self.runtime.block_on(service.stop())
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(service) = self.service.take() {
            self.runtime.block_on(service.stop());
        }
    }
}
