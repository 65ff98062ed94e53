//! Webhook management: one row per webhook, each change in one transaction. `decide` determines the effect of a
//! change for all stores.

mod checkpoint_writes;
mod db_codes;
mod decide;
mod deliveries;
mod history;
mod host;
mod leases;
mod pack;
mod sealed_webhook;
mod search;
mod stats;
mod team;

use async_trait::async_trait;
use domain::receiver_url::ReceiverUrl;
use domain::retry::RetryState;
use domain::webhook::{EventKinds, Family, WebhookFlags};
use domain::{AccountId, ClientId, Resource, Secret, TeamId, TenantId, Ticks, WebhookId};

pub(crate) use checkpoint_writes::{
    CheckpointWrites, DeliveryState, WebhookKey, WebhookNotice, decide_checkpoints, reset_retry,
};
pub(crate) use db_codes::{EVENT, from_nanos, nanos};
pub(crate) use decide::{apply_change, new_webhook, subscribe_again_change, subscribe_again_changes_nothing};
pub use deliveries::{
    ChangedWebhooks, CheckpointResult, Deliveries, DisabledOwners, EventGap, HandshakeStep, Lane,
    LoadedWebhook, LogEvent, LogTail, SHARDS, ShardLease, SuspensionStep, WebhookCheckpoint, shard_of,
};
pub use history::{
    AttemptPurpose, AttemptRecord, AttemptTiming, DeliveryHistory, DeliveryQuery, History, Replay,
    ReplayKind, ReplayStep, SuccessfulDelivery, WebhookStats,
};
pub(crate) use history::{BEHIND_MAX, COUNTED_ROWS_MAX, P95_OF_MAX, percentile_95};
pub use host::receiver_host;
pub(crate) use leases::{Lease, rebalance};
pub use leases::{LeaseRenewal, RenewedLeases};
pub(crate) use pack::{
    NARROW_NUMBERS_MAX, PACK_SPAN, Pack, PackRange, PackRanges, newest, pack, successes_of, unpack,
};
pub(crate) use sealed_webhook::{SealedSecrets, SealedWebhook, family_codes};
pub(crate) use search::search_page;
pub use search::{SEARCHED_WEBHOOKS_MAX, WebhookSearch, WebhookSearches};
pub use stats::read_webhook_stats;
pub(crate) use team::page_of;
pub use team::{
    LISTED_BEHIND_MAX, ListedWebhook, ListedWebhooks, TEAM_WEBHOOKS_MAX, TeamWebhookQuery, TeamWebhooks,
};

use crate::rows::LIVE;
use crate::{AuditContext, Result, Vault};

/// Purpose of the fingerprints that detect identical webhooks.
const WEBHOOK_BODY: &str = "webhook body";
/// Purpose of the keys from which outgoing ids are derived.
const OUTGOING_IDS: &str = "outgoing ids";

/// The key from which a webhook's outgoing ids are derived: the same on every node and after every restart.
pub(crate) fn id_key(vault: &Vault, webhook: WebhookId) -> [u8; 32] {
    vault.fingerprint(OUTGOING_IDS, &Secret::new(webhook.to_string()))
}

/// The owner of a webhook; no other client sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WebhookOwner {
    pub tenant: TenantId,
    pub client: ClientId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub owner: WebhookOwner,
    /// The user who subscribed.
    pub user: AccountId,
    pub resource: Resource,
    pub kinds: EventKinds,
    /// The application's name.
    pub name: String,
    pub description: String,
    pub url: String,
    /// The URL of the subscription request; `url` differs from it after a change.
    pub original_url: String,
    pub secret: Secret,
    /// The previous secret, while requests are signed with both.
    pub previous_secret: Option<PreviousSecret>,
    /// Why the receiver's host may not belong to the caller; empty if it does.
    pub host_mismatch: String,
    pub created_at: Ticks,
    pub enabled: bool,
    pub handshake: Handshake,
    /// Set if the service disabled the webhook.
    pub disabled: Option<DisabledByService>,
    /// Since when the engine has found that the owner's access does not stand.
    pub suspended_at: Option<Ticks>,
    pub unsubscribed_at: Option<Ticks>,
    pub deleted_at: Option<Ticks>,
    /// Increases when the owner or the operator resets the cursor or the lanes: the engine's earlier work
    /// becomes stale. A new secret does not change it.
    pub revision: u64,
    /// Everything up to this sequence is delivered, parked in a lane, or not for this webhook. None before the
    /// first accepted handshake.
    pub cursor: Option<u64>,
    /// The first cursor: the webhook is only entitled to events after it.
    pub initial_cursor: Option<u64>,
    /// Events that were pruned before they could be delivered.
    pub event_gap: Option<EventGap>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousSecret {
    pub secret: Secret,
    pub until: Ticks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Increases with each handshake.
    pub number: u32,
    /// When the handshake was requested.
    pub at: Ticks,
    pub accepted: bool,
    pub retry: Option<RetryState>,
    /// When the owner asked for an attempt that does not wait for the schedule; none if that attempt was made.
    pub asked_at: Option<Ticks>,
    /// It is sent although the owner has disabled the webhook.
    pub while_disabled: bool,
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
            handshake_while_disabled: self.handshake.while_disabled,
            disabled: self.disabled.is_some(),
            unsubscribed: self.unsubscribed_at.is_some(),
            deleted: self.deleted_at.is_some(),
        }
    }

    /// Detects identical webhooks: no two live ones share it.
    pub(crate) fn fingerprint(&self, vault: &Vault) -> [u8; 32] {
        self.fingerprint_with(vault, &canonical(&self.url))
    }

    /// The fingerprint with the URL of the subscription request; several live webhooks may share it.
    pub(crate) fn original_fingerprint(&self, vault: &Vault) -> [u8; 32] {
        self.fingerprint_with(vault, &canonical(&self.original_url))
    }

    /// The fingerprints under which an identical webhook may be stored. Webhooks from before schema 12 have one of the
    /// URL as it was written.
    pub(crate) fn identical_fingerprints(&self, vault: &Vault) -> [[u8; 32]; 3] {
        let with_port = ReceiverUrl::parse(&self.url, true)
            .map_or_else(|_| self.url.clone(), |url| format!("{}{}", url.origin(), url.path_and_query()));
        [&canonical(&self.url), &with_port, &self.url].map(|url| self.fingerprint_with(vault, url))
    }

    pub fn family(&self) -> Family {
        Family::of(self.resource)
    }

    /// A keyed hash of everything that identifies a webhook.
    fn fingerprint_with(&self, vault: &Vault, url: &str) -> [u8; 32] {
        let parts = [
            self.owner.tenant.as_str(),
            self.owner.client.as_str(),
            &self.resource.code().to_string(),
            &self.kinds.bits().to_string(),
            &self.name,
            url,
            self.secret.reveal(),
        ];
        // Length prefixes keep the parts apart.
        let text = Secret::new(parts.map(|part| format!("{}:{part}", part.len())).concat());
        vault.fingerprint(WEBHOOK_BODY, &text)
    }
}

/// The URL in one spelling.
fn canonical(url: &str) -> String {
    ReceiverUrl::parse(url, true).map_or_else(|_| url.to_owned(), |url| url.canonical())
}

/// A subscription request.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    pub id: WebhookId,
    pub owner: WebhookOwner,
    pub user: AccountId,
    pub resource: Resource,
    pub kinds: EventKinds,
    pub name: String,
    pub description: String,
    pub url: String,
    pub secret: Secret,
    pub host_mismatch: String,
    pub enabled: bool,
}

/// The result of a subscription request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscribeOutcome {
    Created(Webhook),
    /// An identical webhook exists; the request had the effect of `WebhookChange::SubscribeAgain` on it.
    Existing(Webhook),
    /// The owner has reached its limit of webhooks.
    LimitReached,
}

/// A change by the owner or the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookChange {
    /// Resumes deliveries; without an accepted handshake, a new one starts.
    Enable,
    Disable,
    /// The same subscription request again. An outstanding handshake is due at once; a disabled webhook gets a new one;
    /// an invoicing subscription takes over whether it is paused, and its description.
    SubscribeAgain {
        enabled: bool,
        description: String,
    },
    /// A new URL, which must accept a new handshake.
    ChangeUrl(String),
    /// A new secret; requests are also signed with the previous one until then.
    RotateSecret {
        secret: Secret,
        previous_valid_until: Ticks,
    },
    Unsubscribe,
    Delete,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookChangeOutcome {
    Changed(Webhook),
    /// The webhook was deleted, or unsubscribed and this change is not a deletion. Both are final.
    Ended(Webhook),
    /// The change would make it identical to another live webhook of the owner.
    Duplicate,
    Unknown,
}

impl WebhookChangeOutcome {
    /// The changed webhook, or `before` if it was not changed.
    pub(crate) fn webhook_or(self, before: Webhook) -> Webhook {
        if let Self::Changed(after) = self { after } else { before }
    }

    /// Whether the change modified the webhook.
    pub(crate) fn is_changed_from(&self, before: &Webhook) -> bool {
        matches!(self, Self::Changed(after) if after != before)
    }
}

/// Filters for webhooks; all conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct WebhookQuery {
    pub tenant: Option<TenantId>,
    pub client: Option<ClientId>,
    /// Only webhooks of this team's clients.
    pub team: Option<TeamId>,
    /// Only webhooks of receivers at this host, in the form of [`receiver_host`].
    pub host: Option<String>,
    pub resource: Option<Resource>,
    pub family: Option<Family>,
    /// Also unsubscribed and deleted webhooks.
    pub include_ended: bool,
    /// Only webhooks after this one, in order of creation, ties by id.
    pub after: Option<(Ticks, WebhookId)>,
    pub rows_max: usize,
}

impl WebhookQuery {
    /// The conditions on a row `w` of the table that have no parameters.
    pub(crate) fn other_conditions(&self, include_ended: bool) -> Vec<String> {
        let mut conditions = Vec::new();
        if let Some(resource) = self.resource {
            conditions.push(format!("w.resource = {}", resource.code()));
        }
        if let Some(family) = self.family {
            conditions.push(format!("w.resource IN ({})", family_codes(family)));
        }
        if !include_ended {
            conditions.push(LIVE.to_owned());
        }
        conditions
    }
}

/// Every mutation and its audit entry are one transaction.
#[async_trait]
pub trait Webhooks: Send + Sync + 'static {
    /// Creates a webhook unless an identical live one exists. `webhooks_max` limits the owner's live webhooks.
    async fn subscribe(
        &self,
        new: NewWebhook,
        webhooks_max: usize,
        context: &AuditContext,
    ) -> Result<SubscribeOutcome>;

    /// The owner's live webhook that this request subscribed. If none is identical to it, the one that was before its
    /// URL changed, unless there are several.
    async fn find_subscribed_webhook(&self, body: &NewWebhook) -> Result<Option<Webhook>>;

    async fn find_webhook(&self, id: WebhookId) -> Result<Option<Webhook>>;

    /// In order of creation.
    async fn webhooks(&self, query: &WebhookQuery) -> Result<Vec<Webhook>>;

    /// Changes a webhook; if `owner` is given, only one of theirs.
    async fn change_webhook(
        &self,
        id: WebhookId,
        owner: Option<&WebhookOwner>,
        change: WebhookChange,
        context: &AuditContext,
    ) -> Result<WebhookChangeOutcome>;
}
