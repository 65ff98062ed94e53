//! Decides purely what a change does to a webhook, for all stores.

use domain::Ticks;
use domain::webhook::{Family, HANDSHAKE_REQUEST_PAUSE, WebhookFlags};

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

impl Effects {
    fn none() -> Self {
        Self { unchanged: true, ..Self::default() }
    }
}

/// The change that an identical subscription request makes.
pub(crate) fn subscribe_again_change(new: &NewWebhook) -> WebhookChange {
    WebhookChange::SubscribeAgain { enabled: new.enabled, description: replace_nul(new.description.clone()) }
}

pub(crate) fn new_webhook(new: NewWebhook, now: Ticks) -> Webhook {
    let url = replace_nul(new.url);
    Webhook {
        id: new.id,
        owner: new.owner,
        user: new.user,
        resource: new.resource,
        kinds: new.kinds,
        name: replace_nul(new.name),
        description: replace_nul(new.description),
        original_url: url.clone(),
        url,
        secret: new.secret,
        previous_secret: None,
        host_mismatch: replace_nul(new.host_mismatch),
        created_at: now,
        enabled: new.enabled,
        handshake: Handshake {
            number: 1,
            at: now,
            accepted: false,
            retry: None,
            asked_at: None,
            while_disabled: false,
        },
        disabled: None,
        suspended_at: None,
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
        WebhookChange::Disable => disable(webhook, now),
        WebhookChange::SubscribeAgain { enabled, description } => {
            let effects = subscribe_again(webhook, flags, *enabled, now, head);
            let is_described = webhook.description == *description;
            webhook.description.clone_from(description);
            Effects { unchanged: effects.unchanged && is_described, ..effects }
        }
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
        return Effects::none();
    }
    let is_outstanding = !flags.handshake_accepted && !flags.disabled;
    let continues_handshake = is_outstanding && webhook.family() == Family::Invoicing;
    if flags.enabled && continues_handshake {
        return ask_for_handshake(webhook, now);
    }
    if !flags.enabled {
        // The owner had disabled it: it resumes with the next event.
        webhook.cursor = webhook.cursor.map(|_| head);
    }
    webhook.enabled = true;
    webhook.disabled = None;
    if continues_handshake {
        ask_for_handshake(webhook, now);
    } else if !flags.handshake_accepted {
        webhook.handshake = next_handshake(webhook.handshake, now);
    }
    // A webhook that the service disabled resumes with the first undelivered event.
    Effects { reset_lanes: true, bumps_revision: true, ..Effects::default() }
}

fn disable(webhook: &mut Webhook, now: Ticks) -> Effects {
    let asked =
        if webhook.family() == Family::Invoicing { ask_for_handshake(webhook, now) } else { Effects::none() };
    if !webhook.enabled {
        return asked;
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
    // The owner learns whether the new URL accepts, and then enables the webhook.
    webhook.handshake.while_disabled = !webhook.enabled;
    Effects { reset_lanes: true, bumps_revision: true, ..Effects::default() }
}

/// A disabled webhook is active again once its receiver accepts a new handshake. Pausing and resuming an invoicing
/// subscription does not need one.
fn subscribe_again(
    webhook: &mut Webhook,
    flags: WebhookFlags,
    enabled: bool,
    now: Ticks,
    head: u64,
) -> Effects {
    let is_disabled = flags.disabled || (webhook.family() == Family::Accounting && !flags.enabled);
    if !is_disabled {
        return match (flags.enabled, enabled) {
            (false, true) => enable(webhook, flags, now, head),
            (true, false) => disable(webhook, now),
            _ => ask_for_handshake(webhook, now),
        };
    }
    if !flags.enabled {
        webhook.cursor = webhook.cursor.map(|_| head);
    }
    webhook.enabled = enabled;
    webhook.disabled = None;
    webhook.handshake = next_handshake(webhook.handshake, now);
    Effects { drop_lanes: !enabled, reset_lanes: true, bumps_revision: true, ..Effects::default() }
}

/// Whether the same subscription request again has no effect on this webhook.
pub(crate) fn subscribe_again_changes_nothing(webhook: &Webhook, again: &WebhookChange, now: Ticks) -> bool {
    apply_change(&mut webhook.clone(), again, now, 0).is_some_and(|effects| effects.unchanged)
}

/// Makes an outstanding handshake due at once. The engine limits how often; a request that it has not answered yet
/// stands for those that follow within the pause.
fn ask_for_handshake(webhook: &mut Webhook, now: Ticks) -> Effects {
    let needs_handshake = webhook.flags().needs_handshake(webhook.family());
    let handshake = &mut webhook.handshake;
    let was_asked = handshake.asked_at.is_some_and(|at| at <= now && now.since(at) < HANDSHAKE_REQUEST_PAUSE);
    if !needs_handshake || was_asked {
        return Effects::none();
    }
    handshake.asked_at = Some(now);
    Effects::default()
}

fn next_handshake(before: Handshake, now: Ticks) -> Handshake {
    Handshake {
        number: before.number.saturating_add(1),
        at: now,
        accepted: false,
        retry: None,
        asked_at: None,
        while_disabled: false,
    }
}
