//! A receiver's address, as somebody who subscribes gives it: read, looked up, and compared with who calls.

use std::net::IpAddr;

use domain::receiver_url::ReceiverUrl;
use web::ErrorResponse;

use super::Management;
use super::body::Members;
use super::refusal::coded;
use crate::egress::EgressError;

/// What is made of a host that is not where its subscriber calls from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostCheck {
    #[default]
    Off,
    /// It is told on the subscription and in the audit.
    Warn,
    /// It is refused.
    Enforce,
}

impl HostCheck {
    pub const ALL: [Self; 3] = [Self::Off, Self::Warn, Self::Enforce];

    /// The word of the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Enforce => "enforce",
        }
    }
}

/// Longer than any address that is taken, so that the reader of addresses says what is wrong.
const CHARS_MAX: usize = 8192;

impl Management {
    /// The address under this name, by its form alone.
    pub(super) fn url_of(&self, members: &mut Members, name: &'static str) -> Option<ReceiverUrl> {
        let text = members.text(name, CHARS_MAX)?;
        match ReceiverUrl::parse(&text, self.settings.is_local) {
            Ok(url) => Some(url),
            Err(why) => {
                members.wrong(name, "invalid_url", format!("{name} {why}."));
                None
            }
        }
    }

    /// Refuses an address that may not be called, or that leads nowhere now.
    pub(super) async fn check_receiver(
        &self,
        url: &ReceiverUrl,
        name: &'static str,
    ) -> Result<(), ErrorResponse> {
        let Err(failure) = self.ports.egress.check(url).await else { return Ok(()) };
        let (code, message) = match &failure {
            EgressError::Refused { .. } => ("refused_address", format!("{name} cannot be taken: {failure}.")),
            EgressError::Unresolved { .. } => {
                ("unresolved_host", format!("{name} cannot be taken: {failure}."))
            }
            EgressError::TimedOut(_) => (
                "unresolved_host",
                format!("{name} cannot be looked up now: the servers of its name do not answer. Try again."),
            ),
            other => {
                tracing::warn!(failure = %other, "a receiver's address could not be looked up");
                ("unresolved_host", format!("{name} cannot be looked up now. Try again."))
            }
        };
        Err(coded(400, code, Some(name), &message))
    }

    /// Why the host may not be the caller's; empty where there is no doubt, or nobody asks.
    pub(super) async fn host_mismatch(
        &self,
        url: &ReceiverUrl,
        caller: IpAddr,
        name: &'static str,
    ) -> Result<String, ErrorResponse> {
        if self.settings.host_check == HostCheck::Off {
            return Ok(String::new());
        }
        let caller = caller.to_canonical();
        let addresses = self.ports.egress.addresses(url.host()).await.unwrap_or_default();
        if addresses.iter().any(|address| address.to_canonical() == caller) {
            return Ok(String::new());
        }
        let host_mismatch = format!("the host {} is not at {caller}, where the call came from", url.host());
        if self.settings.host_check == HostCheck::Enforce {
            return Err(coded(
                400,
                "foreign_host",
                Some(name),
                &format!("{name} cannot be taken: {host_mismatch}."),
            ));
        }
        Ok(host_mismatch)
    }
}
