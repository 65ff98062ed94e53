//! Webhooks as their owners manage them: one row each, found by its owner, changed in one transaction. What a change
//! does is decided in one place (`decide`), for all three stores.

mod codes;
mod decide;
mod deliveries;
mod history;
mod leases;
mod pack;
mod sealed;
mod settle;

use async_trait::async_trait;
use domain::retry::RetryState;
use domain::webhook::{EventKinds, Family, WebhookFlags};
use domain::{ClientId, Resource, Secret, TenantId, Ticks, UserId, WebhookId};

pub(crate) use codes::{EVENT, nanos, of_nanos};
pub(crate) use decide::{change, made};
pub use deliveries::{
    ChangedWebhooks, CheckpointResult, Deliveries, DisabledOwners, EventGap, HandshakeStep, Lane,
    LoadedWebhook, LogEvent, LogTail, SHARDS, ShardLease, WebhookCheckpoint, shard_of,
};
pub use history::{
    AttemptPurpose, AttemptRecord, AttemptTiming, DeliveryHistory, DeliveryQuery, History, Replay,
    ReplayKind, ReplayStep, SuccessfulDelivery, WebhookStats,
};
pub(crate) use history::{BEHIND_MAX, P95_OF_MAX, percentile_95};
pub(crate) use leases::{Lease, held_by, share_out};
pub(crate) use pack::{PACK_NUMBERS_MAX, PACK_SPAN, Pack, last_of, newest, pack, unpack};
pub(crate) use sealed::{Sealed, Secrets, family_codes};
pub(crate) use settle::{Ledger, Position, Whose, anew, settle};

use crate::{AuditEntry, Result, Vault};

/// Purpose of the fingerprints by which a body is found again.
const WEBHOOK_BODY: &str = "webhook body";
/// Purpose of the keys from which the ids of deliveries are derived.
const OUTGOING_IDS: &str = "outgoing ids";

/// From which the ids of a webhook's deliveries are derived: the same on every node, after every restart.
pub(crate) fn id_key(vault: &Vault, webhook: WebhookId) -> [u8; 32] {
    vault.fingerprint(OUTGOING_IDS, &Secret::new(webhook.to_string()))
}

/// Whose a webhook is. Nobody else sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WebhookOwner {
    pub tenant: TenantId,
    pub client: ClientId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub owner: WebhookOwner,
    /// Who subscribed.
    pub user: UserId,
    pub resource: Resource,
    pub kinds: EventKinds,
    /// The application's name.
    pub name: String,
    pub description: String,
    pub url: String,
    pub secret: Secret,
    /// The one before, while it still signs beside the current one.
    pub previous_secret: Option<PreviousSecret>,
    /// Why the receiver's host may not be the caller's; empty: no doubt.
    pub host_mismatch: String,
    pub created_at: Ticks,
    pub enabled: bool,
    pub handshake: Handshake,
    /// By the service.
    pub disabled: Option<DisabledByService>,
    pub unsubscribed_at: Option<Ticks>,
    pub deleted_at: Option<Ticks>,
    /// Moves where its owner (or the operator) sets its cursor or its lanes anew: what the engine had in hand before
    /// does not count any more. A new secret leaves it.
    pub revision: u64,
    /// Everything up to this number is delivered, parked in a lane, or none of its business. None: before the
    /// first acceptance.
    pub cursor: Option<u64>,
    /// The first cursor: only what comes after it was ever meant for this webhook.
    pub initial_cursor: Option<u64>,
    /// What it will never be told, because the log no longer has it.
    pub event_gap: Option<EventGap>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousSecret {
    pub secret: Secret,
    pub until: Ticks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Counts up with each new one.
    pub number: u32,
    /// When it was asked for.
    pub at: Ticks,
    pub accepted: bool,
    pub retry: Option<RetryState>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisabledByService {
    pub at: Ticks,
    pub reason: String,
}

impl Webhook {
    pub fn flags(&self) -> WebhookFlags {
        WebhookFlags {
            enabled: self.enabled,
            handshake_accepted: self.handshake.accepted,
            disabled: self.disabled.is_some(),
            unsubscribed: self.unsubscribed_at.is_some(),
            deleted: self.deleted_at.is_some(),
        }
    }

    /// Whether subscribing to it again has to enable it.
    pub(crate) fn rests(&self) -> bool {
        let flags = self.flags();
        !flags.enabled || flags.disabled
    }

    /// By which it is found again: no two live ones have the same.
    pub(crate) fn fingerprint(&self, vault: &Vault) -> [u8; 32] {
        vault.fingerprint(WEBHOOK_BODY, &self.likeness())
    }

    pub fn family(&self) -> Family {
        Family::of(self.resource)
    }

    /// What a body must be equal to, to be this webhook's: two live webhooks are never alike in it.
    fn likeness(&self) -> Secret {
        let parts = [
            self.owner.tenant.as_str(),
            self.owner.client.as_str(),
            &self.resource.code().to_string(),
            &self.kinds.bits().to_string(),
            &self.name,
            &self.url,
            self.secret.reveal(),
        ];
        // Lengths keep what follows one another apart.
        Secret::new(parts.map(|part| format!("{}:{part}", part.len())).concat())
    }
}

/// What is asked for with a new webhook.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    pub id: WebhookId,
    pub owner: WebhookOwner,
    pub user: UserId,
    pub resource: Resource,
    pub kinds: EventKinds,
    pub name: String,
    pub description: String,
    pub url: String,
    pub secret: Secret,
    pub host_mismatch: String,
    pub enabled: bool,
}

/// What became of a wish to subscribe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscribeOutcome {
    Created(Webhook),
    /// One with the very same body is there; where it was disabled, it is enabled.
    Existing(Webhook),
    /// The owner has as many as it may have.
    LimitReached,
}

/// What an owner (or the operator) does to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookChange {
    /// Resumes; where there is no contract, a new handshake starts.
    Enable,
    Disable,
    /// A new address, which has to accept a new handshake.
    ChangeUrl(String),
    /// A new secret; the one that was signs beside it until then.
    RotateSecret {
        secret: Secret,
        previous_valid_until: Ticks,
    },
    Unsubscribe,
    Delete,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookChangeOutcome {
    Changed(Webhook),
    /// Deleted (or, but for deleting it, unsubscribed) before: final.
    Ended(Webhook),
    /// It would be alike another live one of the same owner.
    Duplicate,
    Unknown,
}

impl WebhookChangeOutcome {
    /// Whether the webhook is another than it was.
    pub(crate) fn is_other_than(&self, before: &Webhook) -> bool {
        matches!(self, Self::Changed(after) if after != before)
    }
}

/// Which webhooks are wanted; all conditions hold together.
#[derive(Clone, Debug, Default)]
pub struct WebhookQuery {
    pub tenant: Option<TenantId>,
    pub client: Option<ClientId>,
    pub resource: Option<Resource>,
    pub family: Option<Family>,
    /// Those that are unsubscribed or deleted too.
    pub include_ended: bool,
    /// Only what lies behind this one, in order of creation, ties by id.
    pub after: Option<(Ticks, WebhookId)>,
    pub rows_max: usize,
}

#[async_trait]
pub trait Webhooks: Send + Sync + 'static {
    /// Makes a webhook, unless a live one with the very same body is there. `webhooks_max`: as many live ones as the
    /// owner may have.
    async fn subscribe(&self, new: NewWebhook, webhooks_max: usize) -> Result<SubscribeOutcome> {
        self.subscribe_audited(new, webhooks_max, None).await
    }

    /// The same; a webhook that is made and its entry in the audit are one transaction.
    async fn subscribe_audited(
        &self,
        new: NewWebhook,
        webhooks_max: usize,
        entry: Option<AuditEntry>,
    ) -> Result<SubscribeOutcome>;

    /// The owner's live webhook with this very body.
    async fn find_identical_webhook(&self, body: &NewWebhook) -> Result<Option<Webhook>>;

    async fn find_webhook(&self, id: WebhookId) -> Result<Option<Webhook>>;

    /// In order of creation.
    async fn webhooks(&self, query: &WebhookQuery) -> Result<Vec<Webhook>>;

    /// Changes a webhook; where `owner` is given, only one of theirs.
    async fn change_webhook(
        &self,
        id: WebhookId,
        owner: Option<&WebhookOwner>,
        change: WebhookChange,
    ) -> Result<WebhookChangeOutcome> {
        self.change_webhook_audited(id, owner, change, None).await
    }

    /// The same; where something changes, it and its entry in the audit are one transaction.
    async fn change_webhook_audited(
        &self,
        id: WebhookId,
        owner: Option<&WebhookOwner>,
        change: WebhookChange,
        entry: Option<AuditEntry>,
    ) -> Result<WebhookChangeOutcome>;
}
