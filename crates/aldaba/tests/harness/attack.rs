//! A server to be attacked, and the means: many at once, headers by hand, a look at the work it does.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Barrier, OnceLock};
use std::thread;

use super::{HttpRequest, HttpResponse, Installation, Page, RawConnection, ServeProcess, WAIT_MAX};

/// A server for all attacks that need none of their own. It lets an address fail as often as it likes.
pub(crate) fn attack_server() -> &'static ServeProcess {
    static TARGET: OnceLock<ServeProcess> = OnceLock::new();
    TARGET.get_or_init(|| {
        ServeProcess::start_shared(Installation::new(), &["identity.address_failures_max=1000000"])
    })
}

/// Does the same so many times at the same moment, each in a thread of its own.
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
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// How many passwords a server has hashed so far.
#[track_caller]
pub(crate) fn password_hash_count(server: &ServeProcess) -> u64 {
    let metrics = HttpRequest::get(&format!("{}/metrics", server.operator_url)).send();
    let mut lines = metrics.text().lines();
    let line = lines.find_map(|line| line.strip_prefix("aldaba_password_hashes_total "));
    line.unwrap_or_else(|| panic!("no hashes are counted: {}", metrics.text())).parse().unwrap()
}

/// A GET that claims to have come to another host.
#[track_caller]
pub(crate) fn get_from_host(server: &ServeProcess, host: &str, path: &str, headers: &str) -> HttpResponse {
    // The host that is added stands in a header that nobody reads.
    let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}x-real-host: ");
    RawConnection::open(&server.public_url, &head).response().unwrap()
}

/// Sends these very bytes; the status of the answer, where one comes. A server need not read to the end what
/// it refuses, so the sending may be cut off.
pub(crate) fn send_raw_bytes(server: &ServeProcess, bytes: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(server.public_url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
    stream.set_write_timeout(Some(WAIT_MAX)).unwrap();
    let _ = stream.write_all(bytes);
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).ok()?;
    std::str::from_utf8(&answer[9..]).ok()?.parse().ok()
}

impl Page {
    /// It is a page of ours that leads nowhere.
    #[track_caller]
    pub(crate) fn assert_error_page(&self) {
        assert_eq!((self.status, self.location()), (400, ""), "{self:?}");
        self.assert_security_headers();
    }

    /// Nothing foreign can run in it, frame it, or be kept of it.
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

    /// Whether a code came of it.
    pub(crate) fn has_code(&self) -> bool {
        self.location().contains("code=") || self.text().contains("name=\"code\"")
    }

    /// The value of a field that is filled in already.
    #[track_caller]
    pub(crate) fn value(&self, name: &str) -> String {
        let fields = self.forms().into_iter().flat_map(|form| form.fields);
        let found = fields.into_iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no field {name} in {}", self.text())).1
    }
}
