//! What a failed attempt says about the receiver: derived from the status of its response and the reason that was kept.

use domain::delivery::AttemptView;

/// Who can do something about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Receiver,
    /// The network between this service and the receiver, or the receiver's.
    Network,
    Service,
}

impl Side {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Receiver => "receiver",
            Self::Network => "network",
            Self::Service => "service",
        }
    }
}

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Diagnosis {
    AddressNotPublic,
    AddressInvalid,
    NameUnresolved,
    ConnectionRefused,
    ConnectionFailed,
    CertificateExpired,
    CertificateIssuer,
    CertificateName,
    TlsNotSpoken,
    TlsFailed,
    ResolveTimeout,
    ConnectTimeout,
    TlsTimeout,
    ResponseTimeout,
    BodyTimeout,
    ConnectionBroken,
    NotHttp,
    ServiceFault,
    SetsCookie,
    AcknowledgeStatus,
    EchoBody,
    Redirect,
    Unauthorized,
    Missing,
    Gone,
    MethodNotAllowed,
    TooLarge,
    TooManyRequests,
    OtherClientError,
    ReceiverError,
    ReceiverUnavailable,
    OtherStatus,
    Unknown,
}

/// How the reasons of attempts without a response begin; the first that fits counts.
const REASONS: &[(&str, Diagnosis)] = &[
    ("the host is not a public address", Diagnosis::AddressNotPublic),
    ("the address is invalid", Diagnosis::AddressInvalid),
    ("the name ", Diagnosis::NameUnresolved),
    ("TLS failed: the certificate expired", Diagnosis::CertificateExpired),
    ("TLS failed: the certificate has expired", Diagnosis::CertificateExpired),
    ("TLS failed: the certificate's issuer", Diagnosis::CertificateIssuer),
    ("TLS failed: the certificate is for another name", Diagnosis::CertificateName),
    ("TLS failed: the receiver does not speak TLS", Diagnosis::TlsNotSpoken),
    ("TLS failed", Diagnosis::TlsFailed),
    ("timed out waiting for a free socket", Diagnosis::ServiceFault),
    ("timed out resolving the name", Diagnosis::ResolveTimeout),
    ("timed out connecting", Diagnosis::ConnectTimeout),
    ("timed out negotiating TLS", Diagnosis::TlsTimeout),
    ("timed out waiting for the response", Diagnosis::ResponseTimeout),
    ("timed out reading the response", Diagnosis::BodyTimeout),
    ("the connection broke", Diagnosis::ConnectionBroken),
    ("the response is not HTTP", Diagnosis::NotHttp),
    ("not sent because of an internal error", Diagnosis::ServiceFault),
    ("not sent: what it was decided on has changed", Diagnosis::ServiceFault),
];

impl Diagnosis {
    /// None where the attempt succeeded.
    pub fn of(attempt: &AttemptView) -> Option<Self> {
        if attempt.succeeded {
            return None;
        }
        Some(Self::of_failure(attempt.status, &attempt.reason))
    }

    /// Of a reason alone, where no attempt is kept: the status of a response is in it.
    pub fn of_reason(reason: &str) -> Self {
        let status = reason.strip_prefix("the response status was ").and_then(|rest| rest.split_once(';'));
        let status = status.and_then(|(status, _)| status.parse().ok());
        // These two do not depend on the status.
        let is_any =
            ["the response sets ", "the response body "].iter().any(|start| reason.starts_with(start));
        Self::of_failure(status.or_else(|| is_any.then_some(200)), reason)
    }

    fn of_failure(status: Option<u16>, reason: &str) -> Self {
        match status {
            Some(_) if reason.contains("sets a cookie") => Self::SetsCookie,
            Some(_) if reason.contains("the GUID of the query parameter echo") => Self::EchoBody,
            Some(200..300) => Self::AcknowledgeStatus,
            Some(status) => Self::of_status(status),
            None if reason.starts_with("cannot connect") && reason.ends_with("connection refused") => {
                Self::ConnectionRefused
            }
            None if reason.starts_with("cannot connect") => Self::ConnectionFailed,
            None => {
                let known = REASONS.iter().find(|(start, _)| reason.starts_with(start));
                known.map_or(Self::Unknown, |(_, diagnosis)| *diagnosis)
            }
        }
    }

    fn of_status(status: u16) -> Self {
        match status {
            300..400 => Self::Redirect,
            401 | 403 => Self::Unauthorized,
            404 => Self::Missing,
            405 => Self::MethodNotAllowed,
            410 => Self::Gone,
            413 => Self::TooLarge,
            429 => Self::TooManyRequests,
            400..500 => Self::OtherClientError,
            502..=504 => Self::ReceiverUnavailable,
            500..600 => Self::ReceiverError,
            _ => Self::OtherStatus,
        }
    }

    pub fn side(self) -> Side {
        match self {
            Self::ServiceFault | Self::Unknown => Side::Service,
            Self::ConnectionFailed | Self::ConnectTimeout | Self::ResolveTimeout | Self::ConnectionBroken => {
                Side::Network
            }
            _ => Side::Receiver,
        }
    }

    /// The name in JSON and CSV.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AddressNotPublic => "address_not_public",
            Self::AddressInvalid => "address_invalid",
            Self::NameUnresolved => "name_unresolved",
            Self::ConnectionRefused => "connection_refused",
            Self::ConnectionFailed => "connection_failed",
            Self::CertificateExpired => "certificate_expired",
            Self::CertificateIssuer => "certificate_issuer",
            Self::CertificateName => "certificate_name",
            Self::TlsNotSpoken => "tls_not_spoken",
            Self::TlsFailed => "tls_failed",
            Self::ResolveTimeout => "resolve_timeout",
            Self::ConnectTimeout => "connect_timeout",
            Self::TlsTimeout => "tls_timeout",
            Self::ResponseTimeout => "response_timeout",
            Self::BodyTimeout => "body_timeout",
            Self::ConnectionBroken => "connection_broken",
            Self::NotHttp => "not_http",
            Self::ServiceFault => "service_fault",
            Self::SetsCookie => "sets_cookie",
            Self::AcknowledgeStatus => "acknowledge_status",
            Self::EchoBody => "echo_body",
            Self::Redirect => "redirect",
            Self::Unauthorized => "unauthorized",
            Self::Missing => "missing",
            Self::Gone => "gone",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::TooLarge => "too_large",
            Self::TooManyRequests => "too_many_requests",
            Self::OtherClientError => "client_error",
            Self::ReceiverError => "receiver_error",
            Self::ReceiverUnavailable => "receiver_unavailable",
            Self::OtherStatus => "other_status",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use domain::Ticks;
    use domain::delivery::{AttemptMilliseconds, AttemptOccasion};
    use webhooks::egress::{EgressError, Phase};

    use super::*;
    use crate::webhooks::text::diagnosis::words;

    fn failed(status: Option<u16>, reason: &str) -> AttemptView {
        AttemptView {
            occasion: AttemptOccasion::Event,
            at: Ticks(1),
            number: 1,
            status,
            succeeded: false,
            reason: reason.into(),
            excerpt: String::new(),
            milliseconds: AttemptMilliseconds::default(),
        }
    }

    /// Each kind of error with what it is diagnosed as. A new one does not compile without a line here.
    fn expected(error: &EgressError) -> Diagnosis {
        match error {
            EgressError::Refused { .. } => Diagnosis::AddressNotPublic,
            EgressError::InvalidUrl(_) => Diagnosis::AddressInvalid,
            EgressError::Unresolved { .. } => Diagnosis::NameUnresolved,
            EgressError::Connect { why, .. } if why == "connection refused" => Diagnosis::ConnectionRefused,
            EgressError::Connect { .. } => Diagnosis::ConnectionFailed,
            EgressError::Tls(why) if why.contains("expired") => Diagnosis::CertificateExpired,
            EgressError::Tls(why) if why.contains("issuer") => Diagnosis::CertificateIssuer,
            EgressError::Tls(why) if why.contains("another name") => Diagnosis::CertificateName,
            EgressError::Tls(why) if why.contains("speak TLS") => Diagnosis::TlsNotSpoken,
            EgressError::Tls(_) => Diagnosis::TlsFailed,
            EgressError::TimedOut(phase) => match phase {
                Phase::Socket => Diagnosis::ServiceFault,
                Phase::Resolve => Diagnosis::ResolveTimeout,
                Phase::Connect => Diagnosis::ConnectTimeout,
                Phase::Tls => Diagnosis::TlsTimeout,
                Phase::Response => Diagnosis::ResponseTimeout,
                Phase::Body => Diagnosis::BodyTimeout,
            },
            EgressError::Broken(_) => Diagnosis::ConnectionBroken,
            EgressError::NotHttp(_) => Diagnosis::NotHttp,
            EgressError::Internal(_) | EgressError::NotAllowed => Diagnosis::ServiceFault,
        }
    }

    fn errors() -> Vec<EgressError> {
        let address: SocketAddr = ([93, 184, 216, 34], 443).into();
        let connect = |why: &str| EgressError::Connect { address, why: why.into() };
        let tls = |why: &str| EgressError::Tls(why.into());
        let mut errors = vec![
            EgressError::Refused { address: address.ip(), why: "private" },
            EgressError::InvalidUrl("no host".into()),
            EgressError::Unresolved { name: "receiver.example".into(), why: "no address".into() },
            connect("connection refused"),
            connect("no route to host"),
            tls("the certificate expired on 2026-11-01"),
            tls("the certificate has expired"),
            tls("the certificate's issuer is unknown: it is not trusted here"),
            tls("the certificate is for another name: it has a.example, not b.example"),
            tls("the receiver does not speak TLS on this port"),
            tls("the receiver ended the handshake: HandshakeFailure"),
            EgressError::Broken("it ended before the response was complete".into()),
            EgressError::NotHttp("its headers are too long".into()),
            EgressError::Internal("the node stops".into()),
            EgressError::NotAllowed,
        ];
        let phases =
            [Phase::Socket, Phase::Resolve, Phase::Connect, Phase::Tls, Phase::Response, Phase::Body];
        errors.extend(phases.map(EgressError::TimedOut));
        errors
    }

    #[test]
    fn every_error_of_the_egress_is_diagnosed() {
        for error in errors() {
            let diagnosis = Diagnosis::of(&failed(None, &error.to_string())).unwrap();
            assert_eq!(diagnosis, expected(&error), "{error}");
            assert_eq!(Diagnosis::of_reason(&error.to_string()), diagnosis, "{error}");
            assert_eq!(diagnosis.side() == Side::Service, error.is_internal(), "{error}");
        }
        assert_eq!(Diagnosis::of(&failed(None, "something new")), Some(Diagnosis::Unknown));
    }

    #[test]
    fn every_status_is_diagnosed_in_both_languages() {
        let reason = "the response status was N; expected a 2xx status";
        assert_eq!(Diagnosis::of_reason(&reason.replace('N', "503")), Diagnosis::ReceiverUnavailable);
        let acknowledge = "the response status was 202; an Acknowledge must be answered with 200";
        let cookie = "the response sets a cookie; responses must not have a Set-Cookie header";
        let echo = "the response body is not the GUID of the query parameter echo";
        for (status, reason, diagnosis) in [
            (301, reason, Diagnosis::Redirect),
            (308, reason, Diagnosis::Redirect),
            (400, reason, Diagnosis::OtherClientError),
            (401, reason, Diagnosis::Unauthorized),
            (403, reason, Diagnosis::Unauthorized),
            (404, reason, Diagnosis::Missing),
            (405, reason, Diagnosis::MethodNotAllowed),
            (410, reason, Diagnosis::Gone),
            (413, reason, Diagnosis::TooLarge),
            (422, reason, Diagnosis::OtherClientError),
            (429, reason, Diagnosis::TooManyRequests),
            (500, reason, Diagnosis::ReceiverError),
            (502, reason, Diagnosis::ReceiverUnavailable),
            (503, reason, Diagnosis::ReceiverUnavailable),
            (599, reason, Diagnosis::ReceiverError),
            (799, reason, Diagnosis::OtherStatus),
            (202, acknowledge, Diagnosis::AcknowledgeStatus),
            (200, cookie, Diagnosis::SetsCookie),
            (500, cookie, Diagnosis::SetsCookie),
            (200, echo, Diagnosis::EchoBody),
        ] {
            let found = Diagnosis::of(&failed(Some(status), reason)).unwrap();
            assert_eq!(found, diagnosis, "{status}");
            let (es, en) = (words(ui::Lang::Es, found), words(ui::Lang::En, found));
            if !reason.contains('N') {
                assert_eq!(Diagnosis::of_reason(reason), found, "{reason}");
            }
            assert!(es.what != en.what && es.to_do != en.to_do && !es.what.is_empty(), "{status}");
        }
    }

    #[test]
    fn success_has_no_diagnosis() {
        let attempt = AttemptView { succeeded: true, ..failed(Some(200), "") };
        assert_eq!(Diagnosis::of(&attempt), None);
    }
}
