//! A webhook: what it asks for, and the facts that its state follows from.

use crate::catalogue::Resource;
use crate::event::EventKind;
use crate::ids::Guid;

pub type WebhookId = Guid;

/// A set of kinds of event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventKinds(u8);

impl EventKinds {
    /// What the store keeps: a bit for each kind, by its code.
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

/// Which of the two families a webhook belongs to: they differ in their forms, not in how they are delivered.
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

/// What has happened to a webhook; whether it is active follows from it.
#[expect(clippy::struct_excessive_bools, reason = "facts, each for itself; the state follows from them")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebhookFlags {
    /// Its owner wants it: not disabled, not paused.
    pub enabled: bool,
    /// The receiver has accepted the current handshake.
    pub handshake_accepted: bool,
    /// The service gave up after the window.
    pub disabled: bool,
    pub unsubscribed: bool,
    pub deleted: bool,
}

impl WebhookFlags {
    pub fn is_active(self) -> bool {
        self.enabled && self.handshake_accepted && !self.disabled && !self.is_final()
    }

    /// Unsubscribed and deleted are final.
    pub fn is_final(self) -> bool {
        self.unsubscribed || self.deleted
    }

    /// Whether the receiver has to be asked. An invoicing subscription that is paused goes on with its handshake.
    pub fn needs_handshake(self, family: Family) -> bool {
        !self.handshake_accepted
            && !self.disabled
            && !self.is_final()
            && (self.enabled || family == Family::Invoicing)
    }

    /// The word of an invoicing subscription's status.
    pub fn status(self) -> &'static str {
        match self {
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
    fn kinds_are_kept_as_bits_by_their_codes() {
        let kinds: EventKinds = [EventKind::Created, EventKind::Disabled].into_iter().collect();
        assert_eq!(kinds.bits(), 0b1_0010);
        assert_eq!(EventKinds::from_bits(kinds.bits()), kinds);
        assert!(kinds.contains(EventKind::Created) && !kinds.contains(EventKind::Updated));
        assert_eq!(kinds.iter().collect::<Vec<_>>(), [EventKind::Created, EventKind::Disabled]);
    }

    #[test]
    fn a_webhook_is_active_only_where_every_fact_agrees() {
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
    fn the_handshake_goes_on_while_an_invoicing_subscription_is_paused() {
        let paused = WebhookFlags::default();
        assert!(paused.needs_handshake(Family::Invoicing));
        assert!(!paused.needs_handshake(Family::Accounting));
        assert_eq!(paused.status(), "Paused");
        let pending = WebhookFlags { enabled: true, ..paused };
        assert!(pending.needs_handshake(Family::Accounting));
        assert_eq!(pending.status(), "Pending");
        assert!(!WebhookFlags { disabled: true, ..pending }.needs_handshake(Family::Invoicing));
    }
}
