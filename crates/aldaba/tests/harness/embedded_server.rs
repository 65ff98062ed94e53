//! A server in the process of the tests, on a runtime of its own, with the machine's clock and randomness.
//!
//! It must be the only one in this process that opens the files of its store, but for other connections of SQLite:
//! POSIX ends all locks of a process on a file when the process closes any descriptor of it.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use aldaba::embedded::{EmbeddedService, Options};
use aldaba::{BasePorts, TaskFailure};
use tokio::runtime::{Builder, Runtime};

use super::panics::{self, ServiceThreads};
use super::server::COMMON_SETTINGS;
use super::{Installation, Server, wait_for};

/// How long a server may take to stop before it is abandoned.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);
/// How long blocking work may go on after the service has stopped; as long as in the program.
const BLOCKING_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) struct EmbeddedServer {
    // Stops before the server's folder is deleted.
    running: Running,
    server: Server,
}

/// A server that tests share; each test creates its own tenant on it.
pub(crate) fn shared_server() -> &'static Server {
    static SHARED: OnceLock<EmbeddedServer> = OnceLock::new();
    SHARED.get_or_init(|| EmbeddedServer::start_shared(&[]))
}

impl EmbeddedServer {
    /// Starts on free ports, with settings as `key=value`.
    #[track_caller]
    pub(crate) fn start(installation: Installation, settings: &[&str]) -> Self {
        static STARTED_COUNT: AtomicU32 = AtomicU32::new(0);
        let threads = ServiceThreads::new(STARTED_COUNT.fetch_add(1, Ordering::Relaxed));
        let listeners = ["server.listen=127.0.0.1:0", "operator.listen=127.0.0.1:0"];
        let settings = [&listeners[..], &COMMON_SETTINGS, settings].concat();
        let options = Options {
            config: Some(installation.config()),
            settings: settings.into_iter().map(pair).collect(),
            base: BasePorts::system(),
        };
        let mut runtime = Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).thread_name(threads.name()).enable_all().build().unwrap();
        let service = runtime.block_on(EmbeddedService::start(options));
        let service = service.unwrap_or_else(|error| panic!("the server does not start: {error}"));
        let (public_url, operator_url) = (service.base_url.clone(), service.operator_url.clone());
        let panics = Box::new(move || panics::messages(&threads));
        let server = Server::new(installation, public_url, operator_url, panics);
        Self { running: Running { service: Some(service), runtime: Some(runtime) }, server }
    }

    /// For a server in a `static`, on an SQLite store: its folder is deleted when the test process ends.
    #[track_caller]
    pub(crate) fn start_shared(settings: &[&str]) -> Self {
        let installation = Installation::new();
        installation.delete_after_exit();
        Self::start(installation, settings)
    }

    /// Stops it, expects that no background task has failed and returns its installation.
    #[track_caller]
    pub(crate) fn stop(mut self) -> Installation {
        assert_eq!(self.running.stop(), None);
        self.server.installation
    }
}

impl Deref for EmbeddedServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// A service and its runtime; `None` once stopped.
struct Running {
    service: Option<EmbeddedService>,
    runtime: Option<Runtime>,
}

impl Running {
    /// Stops in order. Returns the failure of a background task, where there was one.
    #[track_caller]
    fn stop(&mut self) -> Option<TaskFailure> {
        let (service, runtime) = (self.service.take()?, self.runtime.take()?);
        let stopped = runtime.block_on(async { tokio::time::timeout(STOP_TIMEOUT, service.stop()).await });
        runtime.shutdown_timeout(BLOCKING_TIMEOUT);
        stopped.unwrap_or_else(|late| panic!("the server does not stop: {late}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The test has failed already. A second panic would end the process.
            self.service.take();
            if let Some(runtime) = self.runtime.take() {
                runtime.shutdown_background();
            }
        } else {
            self.stop();
        }
    }
}

fn pair(setting: &str) -> (String, String) {
    let (key, value) = setting.split_once('=').unwrap_or_else(|| panic!("not key=value: {setting}"));
    (key.to_owned(), value.to_owned())
}

#[test]
fn only_panics_of_its_own_service_count() {
    let [server, other] = [(); 2].map(|()| EmbeddedServer::start(Installation::new(), &[]));
    server.running.service.as_ref().unwrap().supervisor().panic_task("figures");
    let seen = wait_for("the panic", || Some(server.panics()).filter(|seen| !seen.is_empty()));
    assert!(seen.len() == 1 && seen[0].contains("a test asked for this panic"), "{seen:?}");
    assert!(std::thread::spawn(|| panic!("a test failed")).join().is_err());
    assert_eq!((server.panics().len(), other.panics().len()), (1, 0));
}
