//! What statements about webhooks share in PostgreSQL.

use tokio_postgres::Row;

use super::rows::parse;
use crate::webhooks::SealedWebhook;
use crate::{Ports, Result, Webhook};

/// The host of the receiver, as the index `webhooks_by_host` has it.
pub(super) const HOST: &str = r"rtrim(lower(substring(w.url from '^[A-Za-z]+://(\[[^]]*\]|[^/:?#]*)')), '.')";

pub(super) const LANE: &str = "n.record_key, n.sequence, n.attempts, n.first_failed_at, n.next_at";

pub(super) const REPLAY: &str = "r.number, r.kind, r.asked_at, r.after_sequence, r.upto_sequence, r.position, r.delivered, r.failed, r.is_done";

/// The webhook with its tenant's number.
pub(super) fn open_sealed(found: Option<Row>, ports: &Ports) -> Result<Option<(i64, Webhook)>> {
    let open = |row| {
        let one: SealedWebhook = parse(&row)?;
        Ok((one.tenant_no, one.open(&ports.vault)?))
    };
    found.map(open).transpose()
}
