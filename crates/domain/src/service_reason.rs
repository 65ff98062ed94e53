//! Sentences that the service keeps about a webhook: why it disabled it, and why its host may be another's. Kept and sent in
//! English; taken apart here again, so that pages can say them in other languages.

use std::fmt;
use std::net::IpAddr;

/// Why the service disabled a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisabledReason<'a> {
    /// With the reason of the last failure.
    DeliveriesFailed {
        last: &'a str,
    },
    HandshakeNotAccepted {
        last: &'a str,
    },
    /// Its owner's access did not stand for longer than events are kept.
    NoAccess,
}

const DELIVERIES_FAILED: &str = "deliveries have failed for the whole window; the last one: ";
const HANDSHAKE_NOT_ACCEPTED: &str = "the receiver has not accepted the handshake; the last time: ";
const NO_ACCESS: &str = "its owner has had no access for longer than events are kept";

impl<'a> DisabledReason<'a> {
    /// None for a text that another version has written.
    pub fn parse(text: &'a str) -> Option<Self> {
        if let Some(last) = text.strip_prefix(DELIVERIES_FAILED) {
            Some(Self::DeliveriesFailed { last })
        } else if let Some(last) = text.strip_prefix(HANDSHAKE_NOT_ACCEPTED) {
            Some(Self::HandshakeNotAccepted { last })
        } else {
            (text == NO_ACCESS).then_some(Self::NoAccess)
        }
    }
}

impl fmt::Display for DisabledReason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeliveriesFailed { last } => write!(f, "{DELIVERIES_FAILED}{last}"),
            Self::HandshakeNotAccepted { last } => write!(f, "{HANDSHAKE_NOT_ACCEPTED}{last}"),
            Self::NoAccess => f.write_str(NO_ACCESS),
        }
    }
}

/// Why a receiver may not be its owner's: its host is not where the call came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostMismatch<'a> {
    pub host: &'a str,
    pub caller: IpAddr,
}

impl<'a> HostMismatch<'a> {
    pub fn parse(text: &'a str) -> Option<Self> {
        let rest = text.strip_prefix("the host ")?.strip_suffix(", where the call came from")?;
        let (host, caller) = rest.split_once(" is not at ")?;
        Some(Self { host, caller: caller.parse().ok()? })
    }
}

impl fmt::Display for HostMismatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the host {} is not at {}, where the call came from", self.host, self.caller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_can_be_taken_apart() {
        for reason in [
            DisabledReason::DeliveriesFailed { last: "the connection broke: reset" },
            DisabledReason::HandshakeNotAccepted { last: "" },
            DisabledReason::NoAccess,
        ] {
            assert_eq!(DisabledReason::parse(&reason.to_string()), Some(reason));
        }
        assert_eq!(DisabledReason::parse("something else"), None);
        let mismatch = HostMismatch { host: "hooks.example", caller: [192, 0, 2, 7].into() };
        assert_eq!(HostMismatch::parse(&mismatch.to_string()), Some(mismatch));
        assert_eq!(HostMismatch::parse("the host a is not at b, where the call came from"), None);
    }
}
