//! The status of a webhook: one word that follows from its flags and its owner, and what that word means to people.

use serde::{Serialize, Serializer};

use crate::suspension::Suspension;
use crate::webhook::WebhookFlags;

/// Only an active webhook receives events; unsubscribed and deleted are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebhookStatus {
    Active,
    /// The receiver has not accepted the handshake yet.
    AwaitingContract,
    /// Its owner's access does not stand; [`Suspension`] says why.
    Suspended,
    /// By its owner, or by the operator.
    Disabled,
    /// Deliveries failed until the end of the retry window.
    DisabledByService,
    Unsubscribed,
    Deleted,
}

impl WebhookStatus {
    pub const ALL: [Self; 7] = [
        Self::Active,
        Self::AwaitingContract,
        Self::Suspended,
        Self::Disabled,
        Self::DisabledByService,
        Self::Unsubscribed,
        Self::Deleted,
    ];

    /// `is_suspended`: whether its owner may not receive anything now.
    pub fn of(flags: WebhookFlags, is_suspended: bool) -> Self {
        match flags {
            WebhookFlags { deleted: true, .. } => Self::Deleted,
            WebhookFlags { unsubscribed: true, .. } => Self::Unsubscribed,
            WebhookFlags { disabled: true, .. } => Self::DisabledByService,
            WebhookFlags { enabled: false, .. } => Self::Disabled,
            _ if is_suspended => Self::Suspended,
            WebhookFlags { handshake_accepted: false, .. } => Self::AwaitingContract,
            _ => Self::Active,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::AwaitingContract => "awaiting_contract",
            Self::Suspended => "suspended",
            Self::Disabled => "disabled",
            Self::DisabledByService => "disabled_by_service",
            Self::Unsubscribed => "unsubscribed",
            Self::Deleted => "deleted",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    pub fn is_final(self) -> bool {
        matches!(self, Self::Unsubscribed | Self::Deleted)
    }

    /// What the status means, and what to do. `has_begun`: whether any handshake was ever accepted;
    /// `disabled_reason`: why the service disabled the webhook.
    pub fn explanation(
        self,
        has_begun: bool,
        disabled_reason: &str,
        suspension: Option<Suspension>,
    ) -> String {
        let text = match self {
            Self::Active => "Events are delivered.",
            Self::AwaitingContract if has_begun => {
                "The receiver has not accepted the handshake yet; events wait until it does."
            }
            Self::AwaitingContract => {
                "The receiver has not accepted the handshake yet; events count from its acceptance on."
            }
            Self::Suspended => return suspension.unwrap_or(Suspension::NotAuthorized).explanation(),
            Self::Disabled => {
                "Disabled by its owner or by the operator; once enabled, it goes on with the next event."
            }
            Self::DisabledByService => {
                return format!(
                    "Disabled by the service: {disabled_reason}. Check that the receiver answers, then enable the \
                     webhook: it goes on with the first undelivered event."
                );
            }
            Self::Unsubscribed => "Unsubscribed by its owner. This is permanent.",
            Self::Deleted => "Deleted permanently.",
        };
        text.to_owned()
    }
}

impl Serialize for WebhookStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_states_come_before_disabled_and_disabled_before_suspended() {
        let active = WebhookFlags { enabled: true, handshake_accepted: true, ..WebhookFlags::default() };
        for (flags, alone, suspended) in [
            (active, WebhookStatus::Active, WebhookStatus::Suspended),
            (
                WebhookFlags { handshake_accepted: false, ..active },
                WebhookStatus::AwaitingContract,
                WebhookStatus::Suspended,
            ),
            (WebhookFlags { enabled: false, ..active }, WebhookStatus::Disabled, WebhookStatus::Disabled),
            (
                WebhookFlags { disabled: true, enabled: false, ..active },
                WebhookStatus::DisabledByService,
                WebhookStatus::DisabledByService,
            ),
            (
                WebhookFlags { unsubscribed: true, disabled: true, ..active },
                WebhookStatus::Unsubscribed,
                WebhookStatus::Unsubscribed,
            ),
            (
                WebhookFlags { unsubscribed: true, deleted: true, ..active },
                WebhookStatus::Deleted,
                WebhookStatus::Deleted,
            ),
        ] {
            assert_eq!(WebhookStatus::of(flags, false), alone, "{flags:?}");
            assert_eq!(WebhookStatus::of(flags, true), suspended, "{flags:?}");
        }
    }

    #[test]
    fn every_status_has_a_name_of_its_own_and_an_explanation() {
        for status in WebhookStatus::ALL {
            assert_eq!(WebhookStatus::parse(status.as_str()), Some(status));
            assert!(status.explanation(false, "no delivery succeeded for 24 h", None).ends_with('.'));
        }
        assert_eq!(WebhookStatus::parse("sleeping"), None);
        let disabled =
            WebhookStatus::DisabledByService.explanation(true, "no delivery succeeded for 24 h", None);
        assert!(disabled.contains("no delivery succeeded for 24 h"), "{disabled}");
        let [first, later] =
            [false, true].map(|has_begun| WebhookStatus::AwaitingContract.explanation(has_begun, "", None));
        assert!(
            first.contains("count from its acceptance") && later.contains("events wait"),
            "{first} {later}"
        );
    }
}
