//! The checks of a receiver's URL at subscription: its form, its address, and whether its host is the caller's.

use std::net::IpAddr;

use domain::receiver_url::ReceiverUrl;
use domain::service_reason::HostMismatch;
use domain::{ErrorCode, TenantId};
use web::ErrorResponse;

use super::body::JsonBody;
use super::errors::error_with_code;
use super::{Management, errors};
use crate::AddressedReceiver;

/// What to do with a host that does not resolve to the subscriber's address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostCheck {
    #[default]
    Off,
    /// Mark it on the subscription and in the audit.
    Warn,
    /// Refuse it.
    Enforce,
}

impl HostCheck {
    pub const ALL: [Self; 3] = [Self::Off, Self::Warn, Self::Enforce];

    /// The value in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Enforce => "enforce",
        }
    }
}

/// Longer than any valid URL, so that the URL parser reports what is wrong.
const CHARS_MAX: usize = 8192;

impl Management {
    /// Parses the URL in a member; checks its form only.
    pub(super) fn parse_url(&self, members: &mut JsonBody, name: &'static str) -> Option<ReceiverUrl> {
        let text = members.text(name, CHARS_MAX)?;
        if let Some(url) = self.built_in_receivers.parse(&text) {
            return Some(url);
        }
        match ReceiverUrl::parse(&text, self.settings.is_local) {
            Ok(url) => Some(url),
            Err(why) => {
                members.add_fault(name, ErrorCode::InvalidUrl, format!("{name} {why}."));
                None
            }
        }
    }

    /// Refuses a URL whose host resolves to a forbidden address or does not resolve, and the built-in receiver of another
    /// tenant.
    pub(super) async fn check_receiver(
        &self,
        url: &ReceiverUrl,
        tenant: &TenantId,
        name: &'static str,
    ) -> Result<(), ErrorResponse> {
        self.check_address(url, tenant).await.map_err(|error| errors::action_error(&error, name))
    }

    /// Why the host may not be the caller's; empty where it is, or where the check is off.
    pub(super) async fn host_mismatch(
        &self,
        url: &ReceiverUrl,
        caller: IpAddr,
        name: &'static str,
    ) -> Result<String, ErrorResponse> {
        let is_built_in = self.built_in_receivers.receiver_of(url) != AddressedReceiver::Outside;
        if is_built_in || self.settings.host_check == HostCheck::Off {
            return Ok(String::new());
        }
        let caller = caller.to_canonical();
        let addresses = self.ports.egress.addresses(url.host()).await.unwrap_or_default();
        if addresses.iter().any(|address| address.to_canonical() == caller) {
            return Ok(String::new());
        }
        let host_mismatch = HostMismatch { host: &url.host().to_string(), caller }.to_string();
        if self.settings.host_check == HostCheck::Enforce {
            return Err(error_with_code(
                ErrorCode::ForeignHost,
                Some(name),
                &format!("{name} is not accepted: {host_mismatch}."),
            ));
        }
        Ok(host_mismatch)
    }
}
