//! A running `aldaba serve`, and the server that tests share.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::{IngestClient, Installation, OperatorApi, RunningProcess, wait_for};

/// The setting that https addresses without TLS need: a proxy on this machine.
pub(crate) const BEHIND_PROXY: &str = "server.trusted_proxies=127.0.0.1";

pub(crate) struct ServeProcess {
    pub(crate) process: RunningProcess,
    pub(crate) installation: Installation,
    pub(crate) public_url: String,
    pub(crate) operator_url: String,
    tenant_count: AtomicU32,
}

/// A server that tests share; each test creates its own tenant on it.
pub(crate) fn shared_server() -> &'static ServeProcess {
    static SHARED: OnceLock<ServeProcess> = OnceLock::new();
    SHARED.get_or_init(|| ServeProcess::start_shared(Installation::new(), &[]))
}

impl ServeProcess {
    /// Starts on free ports, with settings as `key=value`, and waits for the log line with its addresses.
    pub(crate) fn start(installation: Installation, settings: &[&str]) -> Self {
        let any = "127.0.0.1:0";
        let arguments: Vec<&str> = settings.iter().flat_map(|&setting| ["--set", setting]).collect();
        // Tests wait for the end of a process more often than a load balancer does.
        let program = installation
            .program(&["--set", "server.drain_delay=0s"])
            .with(&["serve", "--listen", any, "--operator-listen", any])
            // For the tests that set egress.loopback.
            .with(&["--set", "egress.accept_loopback=true"])
            .with(&arguments);
        Self::running(program.start(), installation)
    }

    /// Waits for the log line with the addresses of a process that was started.
    pub(crate) fn running(mut process: RunningProcess, installation: Installation) -> Self {
        let line = wait_for("the log line `serving`", || {
            assert!(!process.has_exited(), "the process exited: {}", process.stderr());
            find_log_line(&process, "serving")
        });
        let url = |member: &str| format!("http://{}", line[member].as_str().unwrap());
        let (public_url, operator_url) = (url("public"), url("operator"));
        Self { process, installation, public_url, operator_url, tenant_count: AtomicU32::new(0) }
    }

    /// For a server in a `static`: its folder is deleted when the test process ends.
    pub(crate) fn start_shared(installation: Installation, settings: &[&str]) -> Self {
        let mut server = Self::start(installation, settings);
        server.process.clean_up_after_exit(&[server.installation.path().to_owned()]);
        server
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
        let alive = super::HttpRequest::get(&format!("{}/livez", self.operator_url)).send();
        assert_eq!(alive.status, 200);
        let stderr = self.process.stderr();
        assert!(!stderr.contains("panicked"), "{stderr}");
    }

    /// The first log line with this message.
    pub(crate) fn log_line(&self, message: &str) -> Option<Value> {
        find_log_line(&self.process, message)
    }

    /// Stops it, expects exit code 0 and returns its installation.
    #[track_caller]
    pub(crate) fn stop(self) -> Installation {
        let finished = self.process.stop();
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), ""), "{}", finished.stderr);
        self.installation
    }
}

/// The value of a metric, read from this operator address.
#[track_caller]
pub(crate) fn metric(operator_url: &str, name: &str) -> u64 {
    let metrics = super::HttpRequest::get(&format!("{operator_url}/metrics")).send();
    let line = metrics.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name}: {}", metrics.text())).parse().unwrap()
}

/// The first log line with this message.
fn find_log_line(process: &RunningProcess, message: &str) -> Option<Value> {
    let log = process.stderr();
    let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.find(|line| line["message"] == message)
}
