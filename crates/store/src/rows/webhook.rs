//! Webhooks, the state of their deliveries, and attempts.

use domain::retry::RetryState;
use domain::webhook::EventKinds;
use domain::{Resource, Secret};

use super::{Columns, FromRow};
use crate::nodes::count_of;
use crate::webhooks::{DeliveryState, SealedWebhook, from_nanos};
use crate::{
    AttemptPurpose, AttemptRecord, AttemptTiming, DisabledByService, EventGap, Handshake, Lane, NodeDetails,
    RegisteredNode, Replay, ReplayKind, Webhook, WebhookOwner,
};

/// Selects webhooks of existing tenants.
pub(crate) const WEBHOOK: &str =
    "SELECT w.id, t.id AS tenant_id, w.client_id, w.user_id, w.resource, w.kinds, w.name, w.description, w.url, w.doubt,
         w.created_at, w.enabled, w.handshake, w.handshake_at, w.handshake_accepted, w.handshake_attempts,
         w.handshake_failed_at, w.handshake_next_at, w.disabled_at, w.disabled_why, w.unsubscribed_at, w.deleted_at,
         w.revision, w.cursor, w.lost_at, w.lost_after, w.lost_upto, w.tenant_no, w.secret, w.old_secret,
         w.old_secret_until, w.began, w.suspended_at, coalesce(w.original_url, w.url) AS original_url,
         w.handshake_asked_at, w.handshake_while_disabled
     FROM webhooks w JOIN tenants t ON t.no = w.tenant_no";
pub(crate) const LIVE: &str = "w.unsubscribed_at IS NULL AND w.deleted_at IS NULL";

impl FromRow for Handshake {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let retry = match row.read("handshake_attempts")? {
            None => None,
            Some(attempts) => Some(RetryState {
                attempts,
                first_failed_at: row.read("handshake_failed_at")?,
                next_at: row.read("handshake_next_at")?,
            }),
        };
        Ok(Self {
            number: row.read("handshake")?,
            at: row.read("handshake_at")?,
            accepted: row.read("handshake_accepted")?,
            retry,
            asked_at: row.read("handshake_asked_at")?,
            while_disabled: row.read("handshake_while_disabled")?,
        })
    }
}

/// Present if the service disabled the webhook.
impl FromRow for Option<DisabledByService> {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let Some(at) = row.read("disabled_at")? else { return Ok(None) };
        Ok(Some(DisabledByService { at, reason: row.read("disabled_why")? }))
    }
}

/// Present if the webhook lost events.
impl FromRow for Option<EventGap> {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let Some(at) = row.read("lost_at")? else { return Ok(None) };
        Ok(Some(EventGap { at, after: row.read("lost_after")?, through: row.read("lost_upto")? }))
    }
}

impl FromRow for SealedWebhook {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let webhook = Webhook {
            id: row.read("id")?,
            owner: WebhookOwner { tenant: row.read("tenant_id")?, client: row.read("client_id")? },
            user: row.read("user_id")?,
            resource: row.read_as("resource", Resource::from_code)?,
            kinds: EventKinds::from_bits(row.read("kinds")?),
            name: row.read("name")?,
            description: row.read("description")?,
            url: row.read("url")?,
            original_url: row.read("original_url")?,
            secret: Secret::new(""),
            previous_secret: None,
            host_mismatch: row.read("doubt")?,
            created_at: row.read("created_at")?,
            enabled: row.read("enabled")?,
            handshake: Handshake::from_row(row)?,
            disabled: FromRow::from_row(row)?,
            suspended_at: row.read("suspended_at")?,
            unsubscribed_at: row.read("unsubscribed_at")?,
            deleted_at: row.read("deleted_at")?,
            revision: row.read("revision")?,
            cursor: row.read("cursor")?,
            initial_cursor: row.read("began")?,
            event_gap: FromRow::from_row(row)?,
        };
        let old_secret: Option<Vec<u8>> = row.read("old_secret")?;
        Ok(Self {
            tenant_no: row.read("tenant_no")?,
            webhook,
            secret: row.read("secret")?,
            previous_secret: old_secret.zip(row.read("old_secret_until")?),
        })
    }
}

impl FromRow for DeliveryState {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            tenant_no: row.read("tenant_no")?,
            fence: row.read("fence")?,
            revision: row.read("revision")?,
            cursor: row.read("cursor")?,
            initial_cursor: row.read("began")?,
            handshake: Handshake::from_row(row)?,
            disabled: FromRow::from_row(row)?,
            suspended_at: row.read("suspended_at")?,
            event_gap: FromRow::from_row(row)?,
        })
    }
}

impl FromRow for Lane {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let retry = RetryState {
            attempts: row.read("attempts")?,
            first_failed_at: row.read("first_failed_at")?,
            next_at: row.read("next_at")?,
        };
        Ok(Self { record_key: row.read("record_key")?, sequence: row.read("sequence")?, retry })
    }
}

impl FromRow for Replay {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            number: row.read("number")?,
            kind: ReplayKind::from_code(row.read("kind")?),
            requested_at: row.read("asked_at")?,
            after: row.read("after_sequence")?,
            through: row.read("upto_sequence")?,
            position: row.read("position")?,
            delivered: row.read("delivered")?,
            failed: row.read("failed")?,
            is_done: row.read("is_done")?,
        })
    }
}

impl FromRow for AttemptRecord {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let span = |column| row.read(column).map(from_nanos);
        Ok(Self {
            at: row.read("at")?,
            purpose: AttemptPurpose::from_code(
                row.read("occasion")?,
                row.read("sequence")?,
                row.read("handshake")?,
            ),
            number: row.read("number")?,
            status: row.read("status")?,
            succeeded: row.read("succeeded")?,
            reason: row.read("reason")?,
            excerpt: row.read("excerpt")?,
            timing: AttemptTiming {
                resolve: span("resolve_ns")?,
                connect: span("connect_ns")?,
                tls: span("tls_ns")?,
                wait: span("wait_ns")?,
                total: span("total_ns")?,
            },
        })
    }
}

impl FromRow for RegisteredNode {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let count = |column| row.read(column).map(count_of);
        Ok(Self {
            id: row.read("id")?,
            seen_at: row.read("seen_at")?,
            shards: row.read("shards")?,
            details: NodeDetails {
                version: row.read("version")?,
                host: row.read("host")?,
                started_at: row.read("started_at")?,
                webhooks: count("webhooks")?,
                events_behind: count("events_behind")?,
                oldest_undelivered_at: row.read("oldest_undelivered_at")?,
                failing: count("failing")?,
                disabled: count("disabled")?,
                suspended: count("suspended")?,
                certificate_ends_at: row.read("certificate_ends_at")?,
                operator_certificate_ends_at: row.read("operator_certificate_ends_at")?,
            },
        })
    }
}
