//! The server that the attack tests share, and their tools: concurrent calls, raw bytes, a count of password hashes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Barrier, OnceLock};
use std::thread;

use super::{EmbeddedServer, HttpRequest, HttpResponse, Page, RawConnection, Server, WAIT_MAX};

/// A server shared by the attack tests. It allows an address any number of failed sign-ins.
pub(crate) fn attack_server() -> &'static Server {
    static TARGET: OnceLock<EmbeddedServer> = OnceLock::new();
    TARGET.get_or_init(|| EmbeddedServer::start_shared(&["identity.address_failures_max=1000000"]))
}

/// Runs the action `count` times at the same moment, each in its own thread.
pub(crate) fn run_concurrently<T: Send>(count: usize, action: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(count);
    thread::scope(|scope| {
        let run = |number| {
            let (start, action) = (&start, &action);
            scope.spawn(move || {
                start.wait();
                action(number)
            })
        };
        let threads: Vec<_> = (0..count).map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The number of passwords that a server has hashed so far.
#[track_caller]
pub(crate) fn password_hash_count(server: &Server) -> u64 {
    let metrics = HttpRequest::get(&format!("{}/metrics", server.operator_url)).send();
    let mut lines = metrics.text().lines();
    let line = lines.find_map(|line| line.strip_prefix("aldaba_password_hashes_total "));
    line.unwrap_or_else(|| panic!("no metric aldaba_password_hashes_total: {}", metrics.text()))
        .parse()
        .unwrap()
}

/// A GET with another `Host` header.
#[track_caller]
pub(crate) fn get_from_host(server: &Server, host: &str, path: &str, headers: &str) -> HttpResponse {
    // `RawConnection` appends the real host; it ends up in a header that the server does not read.
    let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}x-real-host: ");
    RawConnection::open(&server.public_url, &head).response().unwrap()
}

/// Sends these bytes and returns the status of the response, if one comes. The server may close the connection
/// before it has read all of them, so a failed write is ignored.
pub(crate) fn send_raw_bytes(server: &Server, bytes: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(server.public_url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
    stream.set_write_timeout(Some(WAIT_MAX)).unwrap();
    let _ = stream.write_all(bytes);
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).ok()?;
    std::str::from_utf8(&answer[9..]).ok()?.parse().ok()
}

impl Page {
    /// Expects an error page that redirects nowhere.
    #[track_caller]
    pub(crate) fn assert_error_page(&self) {
        assert_eq!((self.status, self.location()), (400, ""), "{self:?}");
        self.assert_security_headers();
    }

    /// Expects the headers that forbid foreign scripts, framing and caching.
    #[track_caller]
    pub(crate) fn assert_security_headers(&self) {
        assert_eq!(self.header("content-type"), "text/html; charset=utf-8", "{self:?}");
        let policy = self.header("content-security-policy");
        for rule in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action "] {
            assert!(policy.contains(rule), "{rule} is not in {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(self.header("x-frame-options"), "DENY");
        assert_eq!(self.header("x-content-type-options"), "nosniff");
        assert_eq!(self.header("referrer-policy"), "no-referrer");
        assert_eq!(self.header("cache-control"), "no-store");
    }

    /// Whether the page carries an authorization code.
    pub(crate) fn has_code(&self) -> bool {
        self.location().contains("code=") || self.text().contains("name=\"code\"")
    }

    /// The value of a form field.
    #[track_caller]
    pub(crate) fn value(&self, name: &str) -> String {
        let fields = self.forms().into_iter().flat_map(|form| form.fields);
        let found = fields.into_iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no field {name} in {}", self.text())).1
    }
}
