//! `aldaba serve` on a site, and the one that all tests share which need none of their own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use super::{Door, Running, Site, until};

pub(crate) struct Serve {
    pub(crate) running: Running,
    pub(crate) site: Site,
    pub(crate) public_url: String,
    pub(crate) operator_url: String,
    tenants_made: AtomicU32,
}

/// A server for everyone; each test takes a tenant of its own there.
pub(crate) fn shared() -> &'static Serve {
    static SHARED: OnceLock<Serve> = OnceLock::new();
    SHARED.get_or_init(|| Serve::for_all(Site::new(), &[]))
}

impl Serve {
    /// Starts on free ports and waits until it says where.
    pub(crate) fn start(site: Site, arguments: &[&str]) -> Self {
        let any = "127.0.0.1:0";
        let program = site.program(&["serve", "--listen", any, "--operator-listen", any]).with(arguments);
        let mut running = program.start();
        let line = until("the server's first line", || {
            assert!(!running.has_ended(), "it ended: {}", running.stderr());
            logged(&running, "serving")
        });
        let url = |member: &str| format!("http://{}", line[member].as_str().unwrap());
        let (public_url, operator_url) = (url("public"), url("operator"));
        Self { running, site, public_url, operator_url, tenants_made: AtomicU32::new(0) }
    }

    /// With settings on the command line, each `key=value`.
    pub(crate) fn set(site: Site, settings: &[&str]) -> Self {
        let arguments: Vec<&str> = settings.iter().flat_map(|&one| ["--set", one]).collect();
        Self::start(site, &arguments)
    }

    /// The same for more than one test: it ends with the last of them, and its folder with it.
    pub(crate) fn for_all(site: Site, settings: &[&str]) -> Self {
        let mut serve = Self::set(site, settings);
        serve.running.outlive(&[serve.site.path().to_owned()]);
        serve
    }

    /// The door of a tenant that nobody else uses, made beside the running server.
    pub(crate) fn new_tenant(&self) -> Door {
        let id = format!("tenant-{}", self.tenants_made.fetch_add(1, Ordering::Relaxed) + 1);
        self.site.add_tenant(&id);
        self.door(&id)
    }

    pub(crate) fn door(&self, tenant: &str) -> Door {
        Door::new(&self.operator_url, &self.site.token(), tenant)
    }

    /// A number among its measures.
    #[track_caller]
    pub(crate) fn measure(&self, name: &str) -> u64 {
        measure(&self.operator_url, name)
    }

    /// It answers, and nothing in it has panicked.
    #[track_caller]
    pub(crate) fn is_well(&self) {
        let alive = super::Call::get(&format!("{}/livez", self.operator_url)).send();
        assert_eq!(alive.status, 200);
        let stderr = self.running.stderr();
        assert!(!stderr.contains("panicked"), "{stderr}");
    }

    /// Ends it in order and gives back its site.
    #[track_caller]
    pub(crate) fn stop(self) -> Site {
        let done = self.running.stop();
        assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{}", done.stderr);
        self.site
    }
}

/// A number among the measures of whoever listens there.
#[track_caller]
pub(crate) fn measure(operator_url: &str, name: &str) -> u64 {
    let measures = super::Call::get(&format!("{operator_url}/metrics")).send();
    let line = measures.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name}: {}", measures.text())).parse().unwrap()
}

/// A line of the log with this message, once it is there.
fn logged(running: &Running, message: &str) -> Option<Value> {
    let said = running.stderr();
    let mut lines = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.find(|line| line["message"] == message)
}
