//! The audit trail: who did what, when and from where, written in the transaction of the action itself. It never holds
//! secrets.

mod actor;
mod entries;
mod kind;
mod members;
mod query;
mod sandboxes;
mod second_factors;

use async_trait::async_trait;
use domain::{AccountId, ClientId, GrantId, Guid, Realm, Secret, TenantId, Ticks};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use actor::{Actor, ActorFilter};
pub(crate) use entries::*;
pub use kind::AuditKind;
pub(crate) use members::new_value;
pub(crate) use query::AuditIndex;
pub use query::{AUDIT_LOOKS_MAX, AuditQuery, AuditRecords};

use crate::{Result, Vault};

/// Purpose of the hash that names a counted entry.
const COUNTED_ENTRY: &str = "counted audit entry";
const MINUTE_TICKS: i64 = 60 * 10_000_000;

/// Who acts, and where the request came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditContext {
    pub actor: Actor,
    pub address: String,
    pub request_id: String,
}

impl AuditContext {
    /// The same request, once it is known who sent it.
    #[must_use]
    pub fn by(&self, actor: Actor) -> Self {
        Self { actor, ..self.clone() }
    }
}

/// A member that an action changed. A secret has neither an old nor a new value here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberChange {
    pub member: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub from: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub to: Value,
}

/// One audited action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Ticks,
    pub kind: AuditKind,
    pub user: Option<AccountId>,
    pub tenant: Option<TenantId>,
    pub client: Option<ClientId>,
    pub grant: Option<GrantId>,
    /// What the action was about, where it is none of the above: `webhook:<id>`, `subscription:<id>`, …
    pub object: Option<String>,
    pub context: AuditContext,
    pub changes: Vec<MemberChange>,
    /// How often it happened; more than one only for failed sign-ins, which are counted per minute.
    pub count: u64,
    /// A short text for people.
    pub note: String,
}

impl AuditEntry {
    pub fn new(kind: AuditKind, at: Ticks, context: &AuditContext) -> Self {
        Self {
            at,
            kind,
            user: context.actor.user().cloned(),
            tenant: None,
            client: context.actor.client().cloned(),
            grant: None,
            object: None,
            context: context.clone(),
            changes: Vec::new(),
            count: 1,
            note: String::new(),
        }
    }

    /// The entry that counts this action with its like: one for each kind, account and minute. Its time is the start of the
    /// minute. Without an account there is one for all, so that nobody fills the table with invented accounts.
    #[must_use]
    pub(crate) fn counted(mut self, vault: &Vault) -> AuditRecord {
        self.at = Ticks(self.at.0 - self.at.0.rem_euclid(MINUTE_TICKS));
        let user = self.user.as_ref().map(AccountId::as_str).or(self.object.as_deref()).unwrap_or_default();
        let hash = vault.fingerprint(COUNTED_ENTRY, &Secret::new(format!("{} {user}", self.kind.as_str())));
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        AuditRecord { id: Guid::from_bytes(id), entry: self }
    }

    pub fn user(mut self, user: &AccountId) -> Self {
        self.user = Some(user.clone());
        self
    }

    /// Names the account that the action was about: a user as such, others as the object.
    pub fn account(self, realm: Realm, id: &AccountId) -> Self {
        match realm {
            Realm::Users => self.user(id),
            Realm::Developers | Realm::Operators => self.object(realm.person(), id),
        }
    }

    pub fn tenant(mut self, tenant: &TenantId) -> Self {
        self.tenant = Some(tenant.clone());
        self
    }

    pub fn client(mut self, client: &ClientId) -> Self {
        self.client = Some(client.clone());
        self
    }

    /// Names what the action was about.
    pub fn object(mut self, kind: &str, id: impl std::fmt::Display) -> Self {
        self.object = Some(format!("{kind}:{id}"));
        self
    }

    pub fn changes(mut self, changes: Vec<MemberChange>) -> Self {
        self.changes = changes;
        self
    }

    #[must_use]
    pub(crate) fn with_change(mut self, change: MemberChange) -> Self {
        self.changes.push(change);
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Sets the grant, its user, its tenant and its client.
    pub fn for_grant(mut self, grant: &crate::Grant) -> Self {
        self.grant = Some(grant.id.clone());
        self.user(&grant.user).tenant(&grant.tenant).client(&grant.client)
    }

    /// Replaces NULs, which PostgreSQL's text columns reject: a NUL sent by a client must not keep the action
    /// out of the audit trail.
    pub(crate) fn without_nul(mut self) -> Self {
        for text in [&mut self.context.address, &mut self.context.request_id, &mut self.note] {
            if let Some(replace_nul) = without_nul(text) {
                *text = replace_nul;
            }
        }
        self.object = self.object.map(replace_nul);
        self.context.actor = self.context.actor.map_id(replace_nul);
        self.user = self.user.map(|id| without_nul(id.as_str()).map_or(id, AccountId::new));
        self.tenant = self.tenant.map(|id| without_nul(id.as_str()).map_or(id, TenantId::new));
        self.client = self.client.map(|id| without_nul(id.as_str()).map_or(id, ClientId::new));
        self.grant = self.grant.map(|id| without_nul(id.as_str()).map_or(id, GrantId::new));
        self
    }
}

/// The changes as they are stored: empty text for none. JSON escapes every control character.
pub(crate) fn changes_to_json(changes: &[MemberChange]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    serde_json::to_string(changes).unwrap_or_default()
}

pub(crate) fn changes_from_json(json: &str) -> Vec<MemberChange> {
    serde_json::from_str(json).unwrap_or_default()
}

/// The text with U+FFFD for each NUL.
pub(crate) fn replace_nul(text: String) -> String {
    without_nul(&text).unwrap_or(text)
}

/// The text with U+FFFD for each NUL, or none if it has no NUL.
fn without_nul(text: &str) -> Option<String> {
    text.contains('\0').then(|| text.replace('\0', "\u{fffd}"))
}

/// The position of a record in the audit trail, which is ordered newest first, ties by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditCursor {
    pub at: Ticks,
    pub id: Guid,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    pub id: Guid,
    pub entry: AuditEntry,
}

impl AuditRecord {
    pub fn cursor(&self) -> AuditCursor {
        AuditCursor { at: self.entry.at, id: self.id }
    }
}

#[async_trait]
pub trait Audit: Send + Sync + 'static {
    /// Appends a record. A NUL in a text is stored as U+FFFD.
    async fn record(&self, entry: &AuditEntry) -> Result<()>;
    /// Adds one to the record of the same kind, user and minute, and appends it where there is none. The record shows the
    /// client, address and request of the last one.
    async fn count(&self, entry: &AuditEntry) -> Result<()>;
    /// A page, newest first. It may be shorter than its size, or empty, and have a next.
    async fn audit_page(&self, query: &AuditQuery) -> Result<AuditRecords>;
    /// The records of a page alone: all that match, up to `rows_max`, where one index has all conditions of the query.
    async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        Ok(self.audit_page(query).await?.records)
    }
}
