//! Which audit records a page has. A page looks at a bounded number of records, whatever its conditions.

use domain::{AccountId, ClientId, Guid, TenantId, Ticks};

use super::{ActorFilter, AuditCursor, AuditKind, AuditRecord};

/// So many records a page looks at. Those that its index leaves out are not counted.
pub const AUDIT_LOOKS_MAX: usize = 10_000;

/// Filters for audit records; all conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// Only records older than this one.
    pub before: Option<AuditCursor>,
    pub kind: Option<AuditKind>,
    pub user: Option<AccountId>,
    pub tenant: Option<TenantId>,
    pub client: Option<ClientId>,
    pub actor: Option<ActorFilter>,
    /// What the action was about, as in `webhook:<id>`.
    pub object: Option<String>,
    /// What one request did.
    pub request_id: Option<String>,
    /// Only records of this time or later.
    pub since: Option<Ticks>,
    /// Only records from before this time.
    pub until: Option<Ticks>,
    pub rows_max: usize,
    /// None: `AUDIT_LOOKS_MAX`, which is also the most.
    pub looks_max: Option<usize>,
}

impl AuditQuery {
    /// The cursor to start from; without one, the greatest possible.
    pub(crate) fn start(&self) -> AuditCursor {
        let last = AuditCursor { at: Ticks(i64::MAX), id: Guid::from_bytes([0xff; 16]) };
        let until = self.until.map(|at| AuditCursor { at, id: Guid::from_bytes([0; 16]) });
        self.before.into_iter().chain(until).min().unwrap_or(last)
    }

    /// The earliest time to read.
    pub(crate) fn end(&self) -> Ticks {
        self.since.unwrap_or(Ticks(i64::MIN))
    }

    pub(crate) fn looks_max(&self) -> usize {
        self.looks_max.unwrap_or(AUDIT_LOOKS_MAX).clamp(1, AUDIT_LOOKS_MAX)
    }

    /// The index that finds the fewest records.
    pub(crate) fn index(&self) -> AuditIndex {
        match self {
            Self { request_id: Some(_), .. } => AuditIndex::Request,
            Self { object: Some(_), .. } => AuditIndex::Object,
            Self { user: None, tenant: None, client: Some(_), kind: Some(AuditKind::Granted), .. } => {
                AuditIndex::GrantedToClient
            }
            Self { user: Some(_), .. } => AuditIndex::User,
            Self { actor: Some(ActorFilter { id: Some(_), .. }), .. } => AuditIndex::Actor,
            Self { tenant: Some(_), .. } => AuditIndex::Tenant,
            Self { client: Some(_), .. } => AuditIndex::Client,
            Self { kind: Some(_), .. } => AuditIndex::Kind,
            Self { actor: Some(_), .. } => AuditIndex::ActorKind,
            _ => AuditIndex::Time,
        }
    }

    /// The page of what was found. `last_looked_at`: the last record that was looked at, where there may be more.
    pub(crate) fn page(
        &self,
        records: Vec<AuditRecord>,
        last_looked_at: Option<AuditCursor>,
    ) -> AuditRecords {
        let is_full = records.len() >= self.rows_max;
        let older = last_looked_at.filter(|cursor| cursor.at >= self.end());
        let next = if is_full { records.last().map(AuditRecord::cursor) } else { older };
        AuditRecords { records, next }
    }
}

/// A page of audit records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditRecords {
    pub records: Vec<AuditRecord>,
    /// `AuditQuery::before` of the next page; `None` on the last page.
    pub next: Option<AuditCursor>,
}

/// The index that a page reads; conditions that it does not have are checked on each record. Each has the time and the id
/// of a record after its own columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuditIndex {
    Time,
    Request,
    Object,
    /// The client, of grants alone.
    GrantedToClient,
    User,
    /// The id of the actor.
    Actor,
    Tenant,
    Client,
    Kind,
    ActorKind,
}
