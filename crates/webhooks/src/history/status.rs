//! The rule for the status of a delivery.

use domain::delivery::DeliveryStatus;
use domain::webhook::WebhookFlags;

/// What decides the status of a delivery besides its webhook.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeliveryFacts {
    /// In its turn, or by a replay.
    pub(super) is_delivered: bool,
    /// Ahead of the cursor, in a lane, or behind another event of its record in one.
    pub(super) is_pending: bool,
    pub(super) has_failed: bool,
}

/// A pending event of a webhook that still wants events waits, also while the webhook is suspended or awaits a new
/// contract; once the service has disabled the webhook, an event that was tried has failed.
pub(super) fn delivery_status(flags: WebhookFlags, facts: DeliveryFacts) -> DeliveryStatus {
    let DeliveryFacts { is_delivered, is_pending, has_failed } = facts;
    let has_given_up = flags.disabled && has_failed;
    let will_be_sent = is_pending && flags.enabled && !flags.is_final() && !has_given_up;
    match (is_delivered, will_be_sent, has_failed) {
        (true, _, _) => DeliveryStatus::Delivered,
        (false, true, _) => DeliveryStatus::Waiting,
        (false, false, true) => DeliveryStatus::Failed,
        (false, false, false) => DeliveryStatus::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACTIVE: WebhookFlags = WebhookFlags {
        enabled: true,
        handshake_accepted: true,
        handshake_while_disabled: false,
        disabled: false,
        unsubscribed: false,
        deleted: false,
    };

    #[test]
    fn undelivered_event_waits_has_failed_or_is_unknown() {
        for (flags, is_pending, has_failed, status) in [
            (ACTIVE, true, true, DeliveryStatus::Waiting),
            (ACTIVE, true, false, DeliveryStatus::Waiting),
            (WebhookFlags { handshake_accepted: false, ..ACTIVE }, true, true, DeliveryStatus::Waiting),
            (ACTIVE, false, true, DeliveryStatus::Failed),
            (ACTIVE, false, false, DeliveryStatus::Unknown),
            (WebhookFlags { disabled: true, ..ACTIVE }, true, true, DeliveryStatus::Failed),
            (WebhookFlags { disabled: true, ..ACTIVE }, true, false, DeliveryStatus::Waiting),
            (WebhookFlags { enabled: false, ..ACTIVE }, true, false, DeliveryStatus::Unknown),
            (WebhookFlags { enabled: false, ..ACTIVE }, true, true, DeliveryStatus::Failed),
            (WebhookFlags { deleted: true, ..ACTIVE }, true, true, DeliveryStatus::Failed),
            (WebhookFlags { unsubscribed: true, ..ACTIVE }, true, true, DeliveryStatus::Failed),
        ] {
            let facts = DeliveryFacts { is_delivered: false, is_pending, has_failed };
            assert_eq!(delivery_status(flags, facts), status, "{flags:?} {facts:?}");
        }
    }

    #[test]
    fn delivered_event_stays_delivered_whatever_becomes_of_its_webhook() {
        for flags in
            [ACTIVE, WebhookFlags { deleted: true, ..ACTIVE }, WebhookFlags { disabled: true, ..ACTIVE }]
        {
            let facts = DeliveryFacts { is_delivered: true, is_pending: true, has_failed: true };
            assert_eq!(delivery_status(flags, facts), DeliveryStatus::Delivered);
        }
    }
}
