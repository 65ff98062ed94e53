//! A server to be attacked, and the means: many at once, headers by hand, a look at the work it does.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Barrier, OnceLock};
use std::thread;

use super::{BOUND, Call, Page, Raw, Reply, Serve, Site};

/// A server for all attacks that need none of their own. It lets an address fail as often as it likes.
pub(crate) fn target() -> &'static Serve {
    static TARGET: OnceLock<Serve> = OnceLock::new();
    TARGET.get_or_init(|| Serve::for_all(Site::new(), &["identity.address_failures_max=1000000"]))
}

/// Does the same so many times at the same moment, each in a thread of its own.
pub(crate) fn at_once<T: Send>(count: usize, act: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(count);
    thread::scope(|scope| {
        let run = |number| {
            let (start, act) = (&start, &act);
            scope.spawn(move || {
                start.wait();
                act(number)
            })
        };
        let threads: Vec<_> = (0..count).map(run).collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// How many passwords a server has hashed so far.
#[track_caller]
pub(crate) fn hashes(serve: &Serve) -> u64 {
    let measures = Call::get(&format!("{}/metrics", serve.operator_url)).send();
    let mut lines = measures.text().lines();
    let line = lines.find_map(|line| line.strip_prefix("aldaba_password_hashes_total "));
    line.unwrap_or_else(|| panic!("no hashes are counted: {}", measures.text())).parse().unwrap()
}

/// A GET that claims to have come to another host.
#[track_caller]
pub(crate) fn get_from_host(serve: &Serve, host: &str, path: &str, headers: &str) -> Reply {
    // The host that is added stands in a header that nobody reads.
    let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}x-real-host: ");
    Raw::open(&serve.public_url, &head).reply().unwrap()
}

/// Sends these very bytes; the status of the answer, where one comes. A server need not read to the end what
/// it refuses, so the sending may be cut off.
pub(crate) fn status_of(serve: &Serve, bytes: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(serve.public_url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(BOUND)).unwrap();
    stream.set_write_timeout(Some(BOUND)).unwrap();
    let _ = stream.write_all(bytes);
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).ok()?;
    std::str::from_utf8(&answer[9..]).ok()?.parse().ok()
}

impl Page {
    /// It is a page of ours that leads nowhere.
    #[track_caller]
    pub(crate) fn is_refusal(&self) {
        assert_eq!((self.status, self.location()), (400, ""), "{self:?}");
        self.is_policed();
    }

    /// Nothing foreign can run in it, frame it, or be kept of it.
    #[track_caller]
    pub(crate) fn is_policed(&self) {
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
