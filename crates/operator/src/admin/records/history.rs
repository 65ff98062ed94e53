//! The history of a record: its entries in the change log, newest first.

use domain::Ticks;
use domain::event::semantic_name;
use domain::log_entry::LogEntry;
use serde::{Deserialize, Serialize, Serializer};
use store::StoreError;
use utoipa::ToSchema;

use super::super::{Admin, Result};
use super::{RECORD_ROWS_MAX, RecordName};

/// The changes of a record, newest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordHistory)]
pub struct RecordHistoryJson {
    pub changes: Vec<RecordChangeJson>,
    /// Send it as `before` to get older changes; null at the end.
    #[schema(required = true)]
    pub next: Option<String>,
    /// The log of the tenant no longer has changes up to this number; 0 if it has all.
    #[schema(pattern = "^[0-9]+$", examples("0"))]
    pub pruned_through: String,
}

/// One change of a record.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordChange)]
pub struct RecordChangeJson {
    /// Its number in the log of the tenant.
    #[schema(pattern = "^[0-9]+$", examples("1018"))]
    pub sequence_version: String,
    #[serde(serialize_with = "iso")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Ticks,
    /// `Created`, `Updated`, `Disabled`, `Deleted` or `ErrorOccurred`.
    #[schema(examples("Updated"))]
    pub kind: &'static str,
    /// The semantic name of its event.
    #[schema(examples("Svc.ACC.Customers.CustomerUpdated"))]
    pub event: String,
    /// Who made the change, as its sender wrote it; empty where it did not say.
    #[schema(examples("maria"))]
    pub user: String,
    #[schema(examples("ERP"))]
    pub source_interface: String,
    #[schema(examples("Save"))]
    pub source_action: String,
    /// The request that brought the change.
    #[schema(format = "uuid")]
    pub process_id: String,
    /// Invoicing: the members that changed, with their new values. Null elsewhere: the log does not keep values.
    #[schema(required = true)]
    pub members: Option<Vec<ChangedMemberJson>>,
}

/// A member that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all(serialize = "camelCase", deserialize = "PascalCase"))]
#[schema(as = ChangedMember)]
pub struct ChangedMemberJson {
    #[schema(examples("name"))]
    pub name: String,
    /// The new value as text: empty for an empty text, for null, and for a member that was removed.
    #[schema(examples("Caja Rural"))]
    pub value: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn iso<S: Serializer>(at: &Ticks, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.iso())
}

impl From<LogEntry> for RecordChangeJson {
    fn from(entry: LogEntry) -> Self {
        Self {
            sequence_version: entry.sequence.to_string(),
            at: entry.version,
            kind: entry.kind.as_str(),
            event: semantic_name(entry.resource, entry.kind),
            user: entry.user.into(),
            source_interface: entry.source_interface.into(),
            source_action: entry.source_action.into(),
            process_id: entry.process.to_string(),
            members: entry.changes.as_deref().map(changed_members),
        }
    }
}

/// The members that an invoicing entry lists.
pub(super) fn changed_members(changes: &str) -> Vec<ChangedMemberJson> {
    serde_json::from_str(changes).unwrap_or_default()
}

impl Admin {
    /// The changes of a record before this number, or the newest ones.
    pub async fn record_history(
        &self,
        name: &RecordName,
        before: Option<u64>,
        rows_max: usize,
    ) -> Result<RecordHistoryJson> {
        let tenant = &name.collection.tenant;
        self.tenant(tenant).await?;
        let rows_max = rows_max.clamp(1, RECORD_ROWS_MAX);
        let mut log = self.store.read_record_log(&name.log_query(before, rows_max + 1)).await?;
        if log.is_empty() && before.is_none() {
            self.check_stored(name).await?;
        }
        let has_more = log.len() > rows_max;
        log.truncate(rows_max);
        let next = log.last().filter(|_| has_more).map(|last| last.entry.sequence.to_string());
        let bounds = match self.store.log_bounds(tenant).await {
            Err(StoreError::UnknownTenant(_)) => return Err(name.missing()),
            bounds => bounds?,
        };
        Ok(RecordHistoryJson {
            changes: log.into_iter().map(|event| event.entry.into()).collect(),
            next,
            pruned_through: bounds.floor.to_string(),
        })
    }

    /// `NotFound` unless the record is stored. Its log may be empty: entries expire.
    pub(super) async fn check_stored(&self, name: &RecordName) -> Result<()> {
        let of = &name.collection;
        let found = self.store.find_record(&of.tenant, of.company.as_deref(), of.resource, &name.id).await?;
        found.map(drop).ok_or_else(|| name.missing())
    }
}
