//! What a change does to a webhook: decided purely, for all stores.

use domain::Ticks;
use domain::webhook::WebhookFlags;

use super::{Handshake, NewWebhook, PreviousSecret, Webhook, WebhookChange};
use crate::audit::cleaned;

/// What else has to be written with the webhook's row.
#[expect(clippy::struct_excessive_bools, reason = "each is a thing to write, or not")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Nothing changed at all: the row stays as it is.
    pub(crate) none: bool,
    /// Its parked lanes go.
    pub(crate) drop_lanes: bool,
    /// Its parked lanes start anew: due now, no failure counted.
    pub(crate) renew_lanes: bool,
    /// What the engine had in hand does not count any more.
    pub(crate) resets: bool,
}

pub(crate) fn made(new: NewWebhook, now: Ticks) -> Webhook {
    Webhook {
        id: new.id,
        owner: new.owner,
        user: new.user,
        resource: new.resource,
        kinds: new.kinds,
        name: cleaned(new.name),
        description: cleaned(new.description),
        url: cleaned(new.url),
        secret: new.secret,
        previous_secret: None,
        host_mismatch: cleaned(new.host_mismatch),
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

/// Changes a webhook whose log stands at `head`; none where it is over.
pub(crate) fn change(
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
        WebhookChange::ChangeUrl(url) => move_to(webhook, url, now),
        WebhookChange::RotateSecret { secret, previous_valid_until } => {
            let old = std::mem::replace(&mut webhook.secret, secret.clone());
            webhook.previous_secret = (*previous_valid_until > now)
                .then_some(PreviousSecret { secret: old, until: *previous_valid_until });
            Effects::default()
        }
        WebhookChange::Unsubscribe => {
            webhook.unsubscribed_at = Some(now);
            Effects { drop_lanes: true, resets: true, ..Effects::default() }
        }
        WebhookChange::Delete => {
            webhook.deleted_at = Some(now);
            Effects { drop_lanes: true, resets: true, ..Effects::default() }
        }
    };
    if effects.resets {
        webhook.revision += 1;
    }
    Some(effects)
}

fn enable(webhook: &mut Webhook, flags: WebhookFlags, now: Ticks, head: u64) -> Effects {
    // Enabling an active webhook never moves its cursor.
    if flags.is_active() {
        return Effects { none: true, ..Effects::default() };
    }
    if !flags.enabled {
        // Its owner had it rest: it resumes from the next event.
        webhook.cursor = webhook.cursor.map(|_| head);
    }
    webhook.enabled = true;
    webhook.disabled = None;
    if !flags.handshake_accepted {
        webhook.handshake = next_handshake(webhook.handshake, now);
    }
    // What the service gave up is tried again from the first event that was not delivered.
    Effects { renew_lanes: true, resets: true, ..Effects::default() }
}

fn disable(webhook: &mut Webhook) -> Effects {
    if !webhook.enabled {
        return Effects { none: true, ..Effects::default() };
    }
    webhook.enabled = false;
    Effects { drop_lanes: true, resets: true, ..Effects::default() }
}

/// Events wait for the new address; none is lost.
fn move_to(webhook: &mut Webhook, url: &str, now: Ticks) -> Effects {
    webhook.url = cleaned(url.to_owned());
    webhook.disabled = None;
    webhook.host_mismatch.clear();
    webhook.handshake = next_handshake(webhook.handshake, now);
    Effects { renew_lanes: true, resets: true, ..Effects::default() }
}

fn next_handshake(before: Handshake, now: Ticks) -> Handshake {
    Handshake { number: before.number.saturating_add(1), at: now, accepted: false, retry: None }
}
