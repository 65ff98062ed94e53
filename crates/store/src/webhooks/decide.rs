//! Decides purely what a change does to a webhook, for all stores.

use domain::Ticks;
use domain::webhook::WebhookFlags;

use super::{Handshake, NewWebhook, PreviousSecret, Webhook, WebhookChange};
use crate::audit::replace_nul;

/// What must be written besides the webhook's row.
#[expect(clippy::struct_excessive_bools, reason = "each flag is an independent write")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Nothing changed, so the row is not written.
    pub(crate) unchanged: bool,
    /// Delete the parked lanes.
    pub(crate) drop_lanes: bool,
    /// Reset the parked lanes: due immediately, no failures.
    pub(crate) reset_lanes: bool,
    /// Checkpoints of the previous revision become stale.
    pub(crate) bumps_revision: bool,
}

pub(crate) fn new_webhook(new: NewWebhook, now: Ticks) -> Webhook {
    Webhook {
        id: new.id,
        owner: new.owner,
        user: new.user,
        resource: new.resource,
        kinds: new.kinds,
        name: replace_nul(new.name),
        description: replace_nul(new.description),
        url: replace_nul(new.url),
        secret: new.secret,
        previous_secret: None,
        host_mismatch: replace_nul(new.host_mismatch),
        created_at: now,
        enabled: new.enabled,
        handshake: Handshake { number: 1, at: now, accepted: false, retry: None },
        disabled: None,
        unsubscribed_at: None,
        deleted_at: None,
        revision: 1,
        cursor: None,
        initial_cursor: None,
        event_gap: None,
    }
}

/// Applies a change to a webhook; `head` is the head of its tenant's log. None if the webhook is unsubscribed
/// or deleted.
pub(crate) fn apply_change(
    webhook: &mut Webhook,
    change: &WebhookChange,
    now: Ticks,
    head: u64,
) -> Option<Effects> {
    let flags = webhook.flags();
    let ends = *change == WebhookChange::Delete && !flags.deleted;
    if flags.is_final() && !ends {
        return None;
    }
    let effects = match change {
        WebhookChange::Enable => enable(webhook, flags, now, head),
        WebhookChange::Disable => disable(webhook),
        WebhookChange::ChangeUrl(url) => change_url(webhook, url, now),
        WebhookChange::RotateSecret { secret, previous_valid_until } => {
            let old = std::mem::replace(&mut webhook.secret, secret.clone());
            webhook.previous_secret = (*previous_valid_until > now)
                .then_some(PreviousSecret { secret: old, until: *previous_valid_until });
            Effects::default()
        }
        WebhookChange::Unsubscribe => {
            webhook.unsubscribed_at = Some(now);
            Effects { drop_lanes: true, bumps_revision: true, ..Effects::default() }
        }
        WebhookChange::Delete => {
            webhook.deleted_at = Some(now);
            Effects { drop_lanes: true, bumps_revision: true, ..Effects::default() }
        }
    };
    if effects.bumps_revision {
        webhook.revision += 1;
    }
    Some(effects)
}

fn enable(webhook: &mut Webhook, flags: WebhookFlags, now: Ticks, head: u64) -> Effects {
    // Enabling an active webhook never moves its cursor.
    if flags.is_active() {
        return Effects { unchanged: true, ..Effects::default() };
    }
    if !flags.enabled {
        // The owner had disabled it: it resumes with the next event.
        webhook.cursor = webhook.cursor.map(|_| head);
    }
    webhook.enabled = true;
    webhook.disabled = None;
    if !flags.handshake_accepted {
        webhook.handshake = next_handshake(webhook.handshake, now);
    }
    // A webhook that the service disabled resumes with the first undelivered event.
    Effects { reset_lanes: true, bumps_revision: true, ..Effects::default() }
}

fn disable(webhook: &mut Webhook) -> Effects {
    if !webhook.enabled {
        return Effects { unchanged: true, ..Effects::default() };
    }
    webhook.enabled = false;
    Effects { drop_lanes: true, bumps_revision: true, ..Effects::default() }
}

/// Events wait until the new URL has accepted a handshake; none is lost.
fn change_url(webhook: &mut Webhook, url: &str, now: Ticks) -> Effects {
    webhook.url = replace_nul(url.to_owned());
    webhook.disabled = None;
    webhook.host_mismatch.clear();
    webhook.handshake = next_handshake(webhook.handshake, now);
    Effects { reset_lanes: true, bumps_revision: true, ..Effects::default() }
}

fn next_handshake(before: Handshake, now: Ticks) -> Handshake {
    Handshake { number: before.number.saturating_add(1), at: now, accepted: false, retry: None }
}
