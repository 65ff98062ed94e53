//! A running server, in a process of its own or in that of the tests, and what tests ask of it.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;

use super::{HttpRequest, IngestClient, Installation, OperatorApi};

/// The setting that https addresses without TLS need: a proxy on this machine.
pub(crate) const BEHIND_PROXY: &str = "server.trusted_proxies=127.0.0.1";
/// The settings of every server. Tests wait for the end of a server more often than a load balancer does, and some set
/// `egress.loopback`.
pub(super) const COMMON_SETTINGS: [&str; 2] = ["server.drain_delay=0s", "egress.accept_loopback=true"];

/// Reads the messages of the service's panics.
type Panics = Box<dyn Fn() -> Vec<String> + Send + Sync>;

pub(crate) struct Server {
    pub(crate) installation: Installation,
    pub(crate) public_url: String,
    pub(crate) operator_url: String,
    tenant_count: AtomicU32,
    panics: Panics,
}

impl Server {
    pub(super) fn new(
        installation: Installation,
        public_url: String,
        operator_url: String,
        panics: Panics,
    ) -> Self {
        Self { installation, public_url, operator_url, tenant_count: AtomicU32::new(0), panics }
    }

    /// Creates a tenant and returns an ingest client for it.
    pub(crate) fn ingest_for_new_tenant(&self) -> IngestClient {
        let id = format!("tenant-{}", self.tenant_count.fetch_add(1, Ordering::Relaxed) + 1);
        OperatorApi(self).create("/tenants", &json!({ "name": "Asesoría", "id": id }));
        self.ingest_client(&id)
    }

    pub(crate) fn ingest_client(&self, tenant: &str) -> IngestClient {
        IngestClient::new(&self.operator_url, &self.installation.token(), tenant)
    }

    /// The value of a metric.
    #[track_caller]
    pub(crate) fn metric(&self, name: &str) -> u64 {
        metric(&self.operator_url, name)
    }

    /// Expects that the server responds and that nothing has panicked.
    #[track_caller]
    pub(crate) fn assert_healthy(&self) {
        let alive = HttpRequest::get(&format!("{}/livez", self.operator_url)).send();
        assert_eq!(alive.status, 200);
        assert_eq!(self.panics(), [""; 0]);
    }

    /// The messages of the service's panics so far.
    pub(super) fn panics(&self) -> Vec<String> {
        (self.panics)()
    }
}

/// The value of a metric, read from this operator address.
#[track_caller]
pub(crate) fn metric(operator_url: &str, name: &str) -> u64 {
    let metrics = HttpRequest::get(&format!("{operator_url}/metrics")).send();
    let line = metrics.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name}: {}", metrics.text())).parse().unwrap()
}
