//! The ways in which a receiver misbehaves, and what the service must write about each.

use std::io::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::certificates::Flaw;

/// One way to misbehave.
#[derive(Debug)]
pub(super) struct Behaviour {
    /// What the receiver does, in words.
    pub(super) name: &'static str,
    pub(super) act: Act,
    /// What the reason of the failed attempt says; none where the answer counts as a success.
    pub(super) reason: Option<&'static str>,
    /// Whether the short form tries it.
    pub(super) is_in_short_form: bool,
}

/// What happens on the wire.
#[derive(Debug)]
pub(super) enum Act {
    /// Reads the request and never answers.
    Hang,
    /// Resets the connection, before or after it has read the request.
    Reset { after_request: bool },
    /// Sends these bytes, and again after every further request on the connection.
    Answer(&'static [u8]),
    /// Sends these bytes and closes the connection.
    AnswerAndClose(&'static [u8]),
    /// Sends these bytes without reading anything, and closes the connection.
    AnswerFirst(&'static [u8]),
    /// Sends the first bytes at once and the others one a second.
    Trickle(&'static [u8], &'static [u8]),
    /// Sends the first bytes and then the others again and again, up to 10 GiB.
    Flood(&'static [u8], &'static LazyLock<Vec<u8>>),
    /// Answers with 200 after a while.
    Slow(Duration),
    /// Redirects to a listener that nothing may reach, with this status.
    Redirect(u16),
    /// Shows a certificate with a flaw.
    Certificate(Flaw),
    /// Does not speak TLS where it should: sends these bytes as soon as it is greeted.
    Plain(&'static [u8]),
    /// Ends the TLS handshake by closing the connection.
    TlsClose,
    /// Never answers the TLS handshake.
    TlsHang,
}

impl Act {
    pub(super) fn needs_tls(&self) -> bool {
        matches!(self, Self::Certificate(_) | Self::Plain(_) | Self::TlsClose | Self::TlsHang)
    }

    /// Whether the connection lasts until the service closes it, because the answer does not come or does not end.
    pub(super) fn waits_for_close(&self) -> bool {
        matches!(self, Self::Hang | Self::Trickle(..) | Self::Flood(..) | Self::TlsHang)
    }
}

/// The receiver sends at most this much.
pub(super) const FLOOD_BYTES_MAX: u64 = 10 << 30;
const MEBIBYTE: usize = 1 << 20;

static LETTERS: LazyLock<Vec<u8>> = LazyLock::new(|| vec![b'x'; 64 * 1024]);
static ZEROS: LazyLock<Vec<u8>> = LazyLock::new(|| vec![b'0'; 64 * 1024]);
static INTERIM: LazyLock<Vec<u8>> = LazyLock::new(|| b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000));
static HEADERS: LazyLock<Vec<u8>> = LazyLock::new(|| b"x-more: and more\r\n".repeat(1000));
/// 64 MiB of zeros as one member of a gzip file, a thousandth of that long; members may follow each other.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..64 {
        // Writing to memory cannot fail.
        let _ = encoder.write_all(&vec![0; MEBIBYTE]);
    }
    encoder.finish().unwrap_or_default()
});

const NOT_HTTP: Option<&str> = Some("the response is not HTTP");
const NO_ANSWER: Option<&str> = Some("timed out waiting for the response");
const BROKEN: Option<&str> = Some("the connection broke");
const TOO_LONG: Option<&str> = Some("its headers are too long");
const STATUS_500: Option<&str> = Some("the response status was 500");

const fn of(name: &'static str, act: Act, reason: Option<&'static str>) -> Behaviour {
    Behaviour { name, act, reason, is_in_short_form: false }
}

const fn short(name: &'static str, act: Act, reason: Option<&'static str>) -> Behaviour {
    Behaviour { name, act, reason, is_in_short_form: true }
}

/// Everything that a receiver does wrong.
#[rustfmt::skip]
pub(super) static BEHAVIOURS: &[Behaviour] = &[
    short("never answers", Act::Hang, NO_ANSWER),
    of("resets the connection at once", Act::Reset { after_request: false }, Some("connection reset by peer")),
    short("resets the connection after the request", Act::Reset { after_request: true }, BROKEN),
    of("closes the connection without an answer", Act::AnswerAndClose(b""), BROKEN),
    of("closes the connection within the status line", Act::AnswerAndClose(b"HTTP/1.1 20"), BROKEN),
    of("closes the connection within the body",
       Act::AnswerAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"), BROKEN),
    of("sends the answer's head one byte a second", Act::Trickle(b"", b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"), NO_ANSWER),
    of("sends the answer's body one byte a second",
       Act::Trickle(b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n", b"twenty bytes of body"), Some("timed out reading the response")),
    short("answers 500 with a body of 10 GiB",
       Act::Flood(b"HTTP/1.1 500 No\r\ncontent-length: 10737418240\r\n\r\n", &LETTERS), STATUS_500),
    of("answers 500 with a body without end", Act::Flood(b"HTTP/1.1 500 No\r\n\r\n", &LETTERS), STATUS_500),
    of("answers 500 with chunks without end",
       Act::Flood(b"HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\nfffffff\r\n", &LETTERS), STATUS_500),
    short("answers 500 with a gzip bomb of 10 TiB",
       Act::Flood(b"HTTP/1.1 500 No\r\ncontent-encoding: gzip\r\ncontent-type: application/json\r\n\r\n", &BOMB), STATUS_500),
    of("sends 100 Continue for ever", Act::Flood(b"", &INTERIM), Some("it does not end within 256 KiB")),
    of("sends a chunk's length without end",
       Act::Flood(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", &ZEROS), Some("it does not end within 256 KiB")),
    of("sends headers without end", Act::Flood(b"HTTP/1.1 200 OK\r\n", &HEADERS), TOO_LONG),
    of("sends one header without end", Act::Flood(b"HTTP/1.1 200 OK\r\nx-long: ", &LETTERS), TOO_LONG),
    of("sends what is not HTTP", Act::AnswerAndClose(b"SSH-2.0-OpenSSH_9.7\r\n\r\n"), NOT_HTTP),
    of("sends zeros", Act::AnswerAndClose(&[0; 64]), NOT_HTTP),
    short("sends two lengths", Act::Answer(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc"), NOT_HTTP),
    of("sends a negative length", Act::Answer(b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n"), NOT_HTTP),
    of("sends a length of more than 64 bits", Act::Answer(b"HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551616\r\n\r\n"), NOT_HTTP),
    of("sends a chunk of a length that is no number",
       Act::Answer(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n"), BROKEN),
    of("sends a chunk of more than 64 bits",
       Act::Answer(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10000000000000000\r\n"), BROKEN),
    of("sends a carriage return within a header", Act::Answer(b"HTTP/1.1 200 OK\r\nx-a: b\rc: d\r\ncontent-length: 0\r\n\r\n"), NOT_HTTP),
    of("answers 500 and at once 200",
       Act::Answer(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"), STATUS_500),
    of("switches to another protocol",
       Act::Answer(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"), Some("the response status was 101")),
    of("answers before it reads",
       Act::AnswerFirst(b"HTTP/1.1 503 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"), Some("")),
    short("sets a cookie", Act::Answer(b"HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n"), Some("the response sets a cookie")),
    of("redirects with 302", Act::Redirect(302), Some("the response status was 302")),
    short("redirects with 307", Act::Redirect(307), Some("the response status was 307")),
    of("redirects with 308", Act::Redirect(308), Some("the response status was 308")),
    short("has an expired certificate", Act::Certificate(Flaw::Expired), Some("TLS failed: the certificate expired on 2021-01-01")),
    of("has a certificate for another name", Act::Certificate(Flaw::WrongName), Some("TLS failed: the certificate is for another name")),
    of("has a self-signed certificate", Act::Certificate(Flaw::SelfSigned), Some("TLS failed: the certificate's issuer is unknown")),
    of("speaks plain HTTP on its TLS port", Act::Plain(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"), Some("TLS failed: the receiver does not speak TLS")),
    of("closes the connection in the TLS handshake", Act::TlsClose, Some("TLS failed")),
    of("never answers the TLS handshake", Act::TlsHang, Some("timed out negotiating TLS")),
    of("ends its lines with a line feed alone", Act::Answer(b"HTTP/1.1 200 OK\ncontent-length: 0\n\n"), None),
    of("answers 200 with a body of 10 GiB",
       Act::Flood(b"HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n", &LETTERS), None),
    of("answers 200 with a gzip bomb of 10 TiB",
       Act::Flood(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-type: application/json\r\n\r\n", &BOMB), None),
];

/// Those that send without end.
pub(super) fn floods() -> impl Iterator<Item = &'static Behaviour> {
    BEHAVIOURS.iter().filter(|behaviour| matches!(behaviour.act, Act::Flood(..)))
}
