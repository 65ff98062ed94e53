//! Webhooks: the event kinds they subscribe to, and the flags from which their status is derived.

use std::time::Duration;

use crate::catalogue::Resource;
use crate::event::EventKind;
use crate::ids::Guid;

pub type WebhookId = Guid;

/// An owner who asks for a handshake attempt gets one at most this often, for each webhook and for each receiver host.
pub const HANDSHAKE_REQUEST_PAUSE: Duration = Duration::from_secs(5);

/// A set of event kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventKinds(u8);

impl EventKinds {
    /// The stored form: one bit for each kind, at the position of its code.
    pub fn bits(self) -> i16 {
        self.0.into()
    }

    pub fn from_bits(bits: i16) -> Self {
        Self(u8::try_from(bits).unwrap_or_default())
    }

    pub fn contains(self, kind: EventKind) -> bool {
        self.0 & bit(kind) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = EventKind> {
        EventKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl FromIterator<EventKind> for EventKinds {
    fn from_iter<T: IntoIterator<Item = EventKind>>(kinds: T) -> Self {
        Self(kinds.into_iter().fold(0, |bits, kind| bits | bit(kind)))
    }
}

fn bit(kind: EventKind) -> u8 {
    1 << kind.code()
}

/// The family of a webhook. The two differ in their APIs and payloads, not in how they are delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    Accounting,
    Invoicing,
}

impl Family {
    pub fn of(resource: Resource) -> Self {
        if resource.is_accounting_family() { Self::Accounting } else { Self::Invoicing }
    }
}

/// The independent flags of a webhook, from which its status is derived.
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent of each other")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebhookFlags {
    /// The owner has neither disabled nor paused it.
    pub enabled: bool,
    /// The receiver accepted the current handshake.
    pub handshake_accepted: bool,
    /// The handshake is sent although the owner has disabled the webhook: its URL was changed meanwhile.
    pub handshake_while_disabled: bool,
    /// The service disabled it after the retry window.
    pub disabled: bool,
    pub unsubscribed: bool,
    pub deleted: bool,
}

impl WebhookFlags {
    pub fn is_active(self) -> bool {
        self.enabled && self.handshake_accepted && !self.disabled && !self.is_final()
    }

    /// Whether it is unsubscribed or deleted, which cannot be undone.
    pub fn is_final(self) -> bool {
        self.unsubscribed || self.deleted
    }

    /// Whether a handshake must be sent. A paused invoicing subscription continues its handshake, and a changed URL gets
    /// one even if its owner has disabled the webhook.
    pub fn needs_handshake(self, family: Family) -> bool {
        !self.handshake_accepted
            && !self.disabled
            && !self.is_final()
            && (self.enabled || self.handshake_while_disabled || family == Family::Invoicing)
    }

    /// The `status` of an invoicing subscription.
    pub fn status(self) -> &'static str {
        match self {
            Self { deleted: true, .. } => "Deleted",
            Self { disabled: true, .. } => "Disabled",
            Self { enabled: false, .. } => "Paused",
            Self { handshake_accepted: false, .. } => "Pending",
            _ => "Effective",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_the_bit_at_its_code() {
        let kinds: EventKinds = [EventKind::Created, EventKind::Disabled].into_iter().collect();
        assert_eq!(kinds.bits(), 0b1_0010);
        assert_eq!(EventKinds::from_bits(kinds.bits()), kinds);
        assert!(kinds.contains(EventKind::Created) && !kinds.contains(EventKind::Updated));
        assert_eq!(kinds.iter().collect::<Vec<_>>(), [EventKind::Created, EventKind::Disabled]);
    }

    #[test]
    fn webhook_is_active_only_if_every_flag_allows_it() {
        let active = WebhookFlags { enabled: true, handshake_accepted: true, ..WebhookFlags::default() };
        assert!(active.is_active());
        for flags in [
            WebhookFlags { enabled: false, ..active },
            WebhookFlags { handshake_accepted: false, ..active },
            WebhookFlags { disabled: true, ..active },
            WebhookFlags { unsubscribed: true, ..active },
            WebhookFlags { deleted: true, ..active },
        ] {
            assert!(!flags.is_active(), "{flags:?}");
        }
    }

    #[test]
    fn paused_invoicing_subscription_continues_its_handshake() {
        let paused = WebhookFlags::default();
        assert!(paused.needs_handshake(Family::Invoicing));
        assert!(!paused.needs_handshake(Family::Accounting));
        assert_eq!(paused.status(), "Paused");
        let pending = WebhookFlags { enabled: true, ..paused };
        assert!(pending.needs_handshake(Family::Accounting));
        assert_eq!(pending.status(), "Pending");
        assert!(!WebhookFlags { disabled: true, ..pending }.needs_handshake(Family::Invoicing));
        let moved = WebhookFlags { handshake_while_disabled: true, ..paused };
        assert!(moved.needs_handshake(Family::Accounting));
        assert_eq!(WebhookFlags { deleted: true, ..pending }.status(), "Deleted");
    }
}
