//! Why a request got no response, described for the people who run the receiver. The texts never name an address of a
//! network that is not public: a subscriber must not learn where a name leads inside. The log names it, for the operator.

use std::error::Error as _;
use std::io;
use std::net::{IpAddr, SocketAddr};

use domain::Ticks;
use domain::egress::EgressPolicy;
use rustls::{CertificateError, Error as TlsError, PeerIncompatible};

use super::metered_stream::ResponseTooLong;
use super::request::Phase;

const NAMES_LISTED_MAX: usize = 4;
const NAME_CHARS_MAX: usize = 100;

/// Why a request got no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// The egress policy forbids one of the host's addresses.
    #[error("the host is not a public address")]
    Refused { address: IpAddr, why: &'static str },
    #[error("the address is invalid: {0}")]
    InvalidUrl(String),
    #[error("the name {name} does not resolve: {why}")]
    Unresolved { name: String, why: String },
    #[error("cannot connect{}: {why}", shown_address(*address))]
    Connect { address: SocketAddr, why: String },
    #[error("TLS failed: {0}")]
    Tls(String),
    #[error("timed out {0}")]
    TimedOut(Phase),
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error("the response is not HTTP: {0}")]
    NotHttp(String),
    /// The failure is on this side; the receiver has no part in it.
    #[error("not sent because of an internal error: {0}")]
    Internal(String),
    /// The caller does not allow it any more.
    #[error("not sent: what it was decided on has changed")]
    NotAllowed,
}

impl EgressError {
    /// One word for each kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "refused",
            Self::InvalidUrl(_) => "invalid_url",
            Self::Unresolved { .. } => "unresolved",
            Self::Connect { .. } => "connect",
            Self::Tls(_) => "tls",
            Self::TimedOut(Phase::Socket) | Self::Internal(_) | Self::NotAllowed => "internal",
            Self::TimedOut(_) => "timed_out",
            Self::Broken(_) => "broken",
            Self::NotHttp(_) => "not_http",
        }
    }

    /// Whether the failure is on this side, so that it must not count against the receiver.
    pub fn is_internal(&self) -> bool {
        matches!(self, Self::TimedOut(Phase::Socket) | Self::Internal(_) | Self::NotAllowed)
    }

    pub(super) fn from_connect(address: SocketAddr, error: &io::Error) -> Self {
        if is_resource_shortage(error) {
            return Self::Internal(without_os_code(error));
        }
        Self::Connect { address, why: without_os_code(error) }
    }

    pub(super) fn from_tls(error: &io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>());
        Self::Tls(match inner {
            Some(error) => describe_tls(error),
            None if error.kind() == io::ErrorKind::UnexpectedEof => {
                "the receiver ended the connection during the handshake".to_owned()
            }
            None if ResponseTooLong::is_in(error) => "the handshake does not end within 256 KiB".to_owned(),
            None => without_os_code(error),
        })
    }

    pub(super) fn from_http(error: &hyper::Error) -> Self {
        if error.is_parse_too_large() {
            return Self::NotHttp("its headers are too long".into());
        }
        if error.is_parse() {
            return Self::NotHttp(innermost(error));
        }
        if io_error(error).is_some_and(ResponseTooLong::is_in) {
            return Self::NotHttp(ResponseTooLong.to_string());
        }
        if error.is_incomplete_message() {
            return Self::Broken("it ended before the response was complete".into());
        }
        Self::Broken(io_error(error).map_or_else(|| innermost(error), without_os_code))
    }
}

/// ` to <address>` for a public address; nothing for one that only the operator's allow list opens.
fn shown_address(address: SocketAddr) -> String {
    let is_public = EgressPolicy::default().refusal_reason(address.ip()).is_none();
    if is_public { format!(" to {address}") } else { String::new() }
}

/// Whether the error is that of a connection that the peer had closed while it was idle.
pub(super) fn is_connection_gone(error: &hyper::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    let is_lost = |error: &io::Error| {
        matches!(
            error.kind(),
            BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof
        )
    };
    error.is_canceled()
        || error.is_closed()
        || error.is_incomplete_message()
        || io_error(error).is_some_and(is_lost)
}

fn io_error(error: &hyper::Error) -> Option<&io::Error> {
    error.source().and_then(|source| source.downcast_ref())
}

fn innermost(error: &hyper::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// This machine has no descriptor, port or memory left: EMFILE, ENFILE, EADDRNOTAVAIL, ENOBUFS, ENOMEM.
fn is_resource_shortage(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, OutOfMemory};
    matches!(error.kind(), AddrNotAvailable | OutOfMemory)
        || matches!(error.raw_os_error(), Some(23 | 24 | 105))
}

/// The message without the `(os error N)` that the standard library adds.
fn without_os_code(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}

fn describe_tls(error: &TlsError) -> String {
    match error {
        TlsError::InvalidCertificate(fault) => describe_certificate(fault),
        TlsError::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13) => {
            "the receiver speaks neither TLS 1.2 nor TLS 1.3".into()
        }
        TlsError::InvalidMessage(_) => "the receiver does not speak TLS on this port".into(),
        TlsError::AlertReceived(alert) => format!("the receiver ended the handshake: {alert:?}"),
        other => other.to_string(),
    }
}

fn describe_certificate(fault: &CertificateError) -> String {
    let day = |seconds: u64| Ticks::from_unix_seconds(i64::try_from(seconds).unwrap_or_default()).date();
    match fault {
        CertificateError::Expired => "the certificate has expired".into(),
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("the certificate expired on {}", day(not_after.as_secs()))
        }
        CertificateError::NotValidYet => "the certificate is not valid yet".into(),
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("the certificate is not valid before {}", day(not_before.as_secs()))
        }
        CertificateError::UnknownIssuer => {
            "the certificate's issuer is unknown: it is not trusted here, or the \
                                            receiver does not send its intermediate certificate"
                .into()
        }
        CertificateError::NotValidForName => "the certificate is for another name".into(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<_> =
                presented.iter().take(NAMES_LISTED_MAX).map(|name| presented_name(name)).collect();
            let names = if names.is_empty() { "no name".to_owned() } else { names.join(", ") };
            format!("the certificate is for another name: it has {names}, not {}", expected.to_str())
        }
        CertificateError::Revoked => "the certificate was revoked".into(),
        other => format!("the certificate is not valid: {other}"),
    }
}

/// The name alone: rustls writes `DnsName("receiver.example")`. Truncated, because the receiver chooses it.
fn presented_name(presented: &str) -> String {
    let inside = presented.split_once('(').map_or(presented, |(_, rest)| rest.trim_end_matches(')'));
    inside.trim_matches('"').chars().take(NAME_CHARS_MAX).collect()
}
