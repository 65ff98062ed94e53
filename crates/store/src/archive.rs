//! Backups: any store can write one and any store can read one. A backup holds one snapshot, row by row, and
//! ends with row counts and a digest. Secrets stay hashed or sealed.

pub mod encryption;
mod file;

use async_trait::async_trait;
use domain::record::{RecordTail, State};
use domain::{Resource, Ticks};
use tokio::sync::mpsc;

use crate::{AuditContext, Result, StoreError};

pub use file::{read, verify, write};

/// After a restore every tenant's sequence continues this far above the backup's head, so that no sequence
/// assigned after the backup is assigned twice.
pub const HEADS_ADVANCE: u64 = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellValue {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Int,
    Text,
    Bytes,
}

/// A table of the schema: its columns and its sort key.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub name: &'static str,
    /// Each as `name:kind`; the kinds are i(nt), t(ext) and b(ytes).
    columns: &'static str,
    pub key: &'static str,
}

impl Table {
    pub fn columns(&self) -> impl Iterator<Item = (&'static str, ColumnType)> {
        self.columns.split(' ').filter_map(|column| column.split_once(':')).map(|(name, kind)| {
            let kind = match kind {
                "i" => ColumnType::Int,
                "t" => ColumnType::Text,
                _ => ColumnType::Bytes,
            };
            (name, kind)
        })
    }

    /// The column names as a comma-separated SQL list.
    pub(crate) fn column_list(&self) -> String {
        self.columns().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
    }

    pub fn find(name: &str) -> Option<&'static Self> {
        let name = present_name(name);
        TABLES.iter().find(|table| table.name == name)
    }
}

const fn table(name: &'static str, columns: &'static str, key: &'static str) -> Table {
    Table { name, columns, key }
}

/// Every table of the schema except those of `NOT_ARCHIVED`.
#[rustfmt::skip]
pub static TABLES: [Table; 42] = [
    table("meta", "name:t value:b", "name"),
    table("tenants", "no:i id:t name:t short_code:t standing:i created_at:i revision:i sandbox_team:t", "no"),
    table("heads", "tenant_no:i head:i floor:i version:i", "tenant_no"),
    table("erased_tenants", "tenant_no:i", "tenant_no"),
    table("records", "tenant_no:i company_no:i resource:i ordinal:i correlation_id:t state:i version:i sequence:i body:t", "tenant_no, company_no, resource, ordinal"),
    table("collections", "tenant_no:i company_no:i resource:i next_ordinal:i live:i version:i", "tenant_no, company_no, resource"),
    table("gaps", "tenant_no:i company_no:i resource:i block:i dead:i", "tenant_no, company_no, resource, block"),
    table("departed_companies", "tenant_no:i company_no:i", "tenant_no, company_no"),
    table("payroll_companies", "tenant_no:i ordinal:i code:i name:t identifier:t last_update:i", "tenant_no, ordinal"),
    table("log", "tenant_no:i sequence:i resource:i kind:i company_no:i record_key:i version:i conversation:b process:b company:t correlation_id:t user_name:t source_interface:t source_action:t changes:t envelope:i", "tenant_no, sequence"),
    table("processes", "tenant_no:i idempotency_key:t line:i hash:b process:b tally:t touched_at:i", "tenant_no, idempotency_key"),
    table("accounts", "id:t email:t given_name:t lang:t password_hash:t standing:i created_at:i revision:i realm:i role:i family_name:t updated_at:i", "id"),
    table("memberships", "id:t user_id:t tenant_id:t modules:t key_user_correlation_id:b equipo_user_id:t second_client_id:t created_at:i last_used_at:i admin:i", "id"),
    table("invitations", "id:t realm:i email:t name:t lang:t tenants:t role:i team:t team_owner:i invited_by_kind:t invited_by_id:t created_at:i expires_at:i accepted_at:i revoked_at:i", "id"),
    table("clients", "id:t guid:b name:t redirect_uris:t post_logout_uris:t pkce:i consent:i callback_id_token:i standing:i created_at:i secret_hash:b old_secret_hash:b old_secret_until:i revision:i products:i team_id:t sandbox:i kind:i backchannel_logout_uri:t", "id"),
    table("client_origins", "origin:t client_id:t", "origin, client_id"),
    table("subscriptions", "id:t name:t products:i standing:i created_at:i daily_quota:i cancelled_at:i revision:i team_id:t sandbox:i", "id"),
    table("teams", "id:t name:t standing:i created_at:i revision:i", "id"),
    table("team_members", "team_id:t account_id:t role:i created_at:i muted_notices:i notices_read_at:i", "team_id, account_id"),
    table("requests", "id:t team_id:t details:t state:i note:t asked_by:t created_at:i decided_by:t decided_at:i reason:t result:t revision:i", "id"),
    table("sandboxes", "team_id:t tenant_id:t user_id:t password:b receiver:b receiver_mode:i created_at:i loaded_at:i events_day:i events:i received:i", "team_id"),
    table("subscription_keys", "hash:b subscription_id:t slot:i valid_until:i last_used_at:i sealed:b", "hash"),
    table("notices", "id:b team_id:t kind:i object:t subject:t name:t detail:t since:i at:i mailed_at:i", "id"),
    table("operator_tokens", "id:t name:t role:i hash:b created_at:i created_by:t expires_at:i last_used_at:i revoked_at:i", "id"),
    table("codes", "hash:b client_id:t expires_at:i details:t used_at:i grant_id:t user_id:t tenant_id:t", "hash"),
    table("grants", "id:t client_id:t user_id:t tenant_id:t details:t created_at:i revoked_at:i expires_at:i last_used_at:i", "id"),
    table("refresh_tokens", "hash:b grant_id:t client_id:t expires_at:i used_at:i successor:b", "hash"),
    table("authorizations", "tenant_id:t client_id:t user_id:t membership_id:t scopes:t created_at:i ended_at:i ended_why:t", "tenant_id, client_id, user_id"),
    table("signing_keys", "kid:t sealed:b public_jwk:t created_at:i signs_from:i retired_at:i", "kid"),
    table("sessions", "hash:b user_id:t authenticated_at:i methods:t expires_at:i id:b realm:i address:t user_agent:t", "hash"),
    table("second_factors", "id:b account_id:t realm:i kind:i name:t hash:b sealed:b counter:i created_at:i last_used_at:i", "id"),
    table("recovery_codes", "hash:b account_id:t", "hash"),
    table("calls", "subscription_id:t day:i route:t calls:i failed:i", "subscription_id, day, route"),
    table("reads", "tenant_no:i day:i client_id:t resource:i company:t hours:b", "tenant_no, day, client_id, resource, company"),
    table("nodes", "id:b seen_at:i version:t host:t started_at:i webhooks:i events_behind:i oldest_undelivered_at:i failing:i disabled:i suspended:i certificate_ends_at:i operator_certificate_ends_at:i", "id"),
    table("audit", "at:i id:b kind:t user_id:t tenant_id:t client_id:t grant_id:t address:t request_id:t note:t actor_kind:t actor_id:t object:t changes:t count:i", "at, id"),
    table("webhooks", "tenant_no:i id:b client_id:t user_id:t resource:i kinds:i name:t description:t url:t secret:b old_secret:b old_secret_until:i doubt:t fingerprint:b created_at:i enabled:i handshake:i handshake_at:i handshake_accepted:i handshake_attempts:i handshake_failed_at:i handshake_next_at:i disabled_at:i disabled_why:t unsubscribed_at:i deleted_at:i revision:i cursor:i began:i lost_at:i lost_after:i lost_upto:i shard:i moved:i replays:i suspended_at:i original_url:t original_fingerprint:b handshake_asked_at:i handshake_while_disabled:i", "tenant_no, id"),
    table("webhook_moves", "no:i moved:i", "no"),
    table("lanes", "tenant_no:i webhook:b record_key:i sequence:i attempts:i first_failed_at:i next_at:i", "tenant_no, webhook, record_key"),
    table("attempts", "tenant_no:i webhook:b at:i sequence:i occasion:i number:i handshake:i status:i succeeded:i reason:t excerpt:t resolve_ns:i connect_ns:i tls_ns:i wait_ns:i total_ns:i", "tenant_no, webhook, at, sequence, occasion, number"),
    table("delivered", "tenant_no:i webhook:b last_at:i last_sequence:i first_sequence:i first_at:i events:i packed:b", "tenant_no, webhook, last_at, last_sequence, first_sequence"),
    table("replays", "tenant_no:i webhook:b number:i kind:i asked_at:i after_sequence:i upto_sequence:i position:i delivered:i failed:i is_done:i", "tenant_no, webhook, number"),
];

/// Tables that no backup contains. After a restore, nodes acquire their shard leases anew, guesses of the past do not
/// count, a new key encrypts tickets (so that no challenge of the past is accepted), the links of invitations and password
/// resets are void, and no mail and no back-channel logout of the past is sent again: it may be sent already. The log of calls and the figures begin anew,
/// and the receivers of sandboxes have got nothing yet.
pub const NOT_ARCHIVED: [&str; 13] = [
    "call_log",
    "call_log_head",
    "figures",
    "invitation_links",
    "logouts",
    "mails",
    "password_resets",
    "received_requests",
    "session_clients",
    "shard_leases",
    "sign_in_buckets",
    "ticket_keys",
    "used_challenges",
];

/// The oldest schema whose backups can be restored.
pub(crate) const OLDEST_RESTORABLE_SCHEMA: i64 = 6;

/// Columns that a later schema appended to a table, with the value that rows of older backups get:
/// schema, table, value.
const APPENDED_COLUMNS: &[(i64, &str, CellValue)] = &[
    (7, "tenants", CellValue::Int(1)),
    (7, "accounts", CellValue::Int(1)),
    (7, "clients", CellValue::Int(1)),
    (7, "subscriptions", CellValue::Int(1)),
    (8, "memberships", CellValue::Int(0)),
    (8, "webhooks", CellValue::Null),
    // All products.
    (9, "clients", CellValue::Int(7)),
    // Actor (kind and id), object, changes, count.
    (11, "audit", CellValue::Text(String::new())),
    (11, "audit", CellValue::Null),
    (11, "audit", CellValue::Null),
    (11, "audit", CellValue::Text(String::new())),
    (11, "audit", CellValue::Int(1)),
    // Their first url is their present one; nobody has asked for a handshake.
    (12, "webhooks", CellValue::Null),
    (12, "webhooks", CellValue::Null),
    (12, "webhooks", CellValue::Null),
    (12, "webhooks", CellValue::Int(0)),
    // Every account was a user's.
    (15, "accounts", CellValue::Int(0)),
    (15, "accounts", CellValue::Null),
    // No session outlives a restore.
    (15, "sessions", CellValue::Bytes(Vec::new())),
    (15, "sessions", CellValue::Int(0)),
    (15, "sessions", CellValue::Text(String::new())),
    (15, "sessions", CellValue::Text(String::new())),
    // No team, and not for the sandbox.
    (19, "clients", CellValue::Null),
    (19, "clients", CellValue::Int(0)),
    (19, "subscriptions", CellValue::Null),
    (19, "subscriptions", CellValue::Int(0)),
    // Keys from before this schema cannot be revealed.
    (21, "subscription_keys", CellValue::Null),
    // Every notice is mailed, and none is read.
    (22, "team_members", CellValue::Int(0)),
    (22, "team_members", CellValue::Null),
    // Not a sandbox.
    (23, "tenants", CellValue::Null),
    // The nodes of the past said nothing about themselves.
    (26, "nodes", CellValue::Text(String::new())),
    (26, "nodes", CellValue::Text(String::new())),
    (26, "nodes", CellValue::Int(0)),
    (26, "nodes", CellValue::Int(0)),
    (26, "nodes", CellValue::Int(0)),
    (26, "nodes", CellValue::Null),
    (26, "nodes", CellValue::Int(0)),
    (26, "nodes", CellValue::Int(0)),
    (26, "nodes", CellValue::Int(0)),
    (26, "nodes", CellValue::Null),
    (26, "nodes", CellValue::Null),
    // A web application that is not told of the end of sessions.
    (31, "clients", CellValue::Int(0)),
    (31, "clients", CellValue::Null),
    // No family name, and a profile as at first.
    (32, "accounts", CellValue::Text(String::new())),
    (32, "accounts", CellValue::Null),
];

/// The names that tables have in backups of older schemas.
const FORMER_NAMES: [(&str, &str); 1] = [("users", "accounts")];

pub(crate) fn present_name(name: &str) -> &str {
    FORMER_NAMES.iter().find(|(former, _)| *former == name).map_or(name, |(_, present)| present)
}

/// The part of a migration that fills new tables from old ones, where a backup is older than the migration.
pub(crate) fn backfill_of(migration: &'static str, number: i64, backup_schema: i64) -> &'static str {
    let backfill = migration.split_once("-- backfill").filter(|_| backup_schema < number);
    backfill.and_then(|(_, rest)| rest.split_once('\n')).map_or("", |(_, sql)| sql)
}

/// A query that says whether any table has a row besides the vault check, which every store has. The table
/// names are the constants of `TABLES`.
pub(crate) fn occupied_sql() -> String {
    let occupied = |table: &Table| {
        let condition = if table.name == "meta" { " WHERE name <> 'vault'" } else { "" };
        format!("EXISTS (SELECT 1 FROM {}{condition})", table.name)
    };
    let each: Vec<String> = TABLES.iter().map(occupied).collect();
    format!("SELECT {}", each.join(" OR "))
}

/// Some rows of one table.
#[derive(Clone, Debug)]
pub struct RowChunk {
    pub table: &'static Table,
    pub rows: Vec<Vec<CellValue>>,
}

impl RowChunk {
    /// Appends the columns that the backup's schema did not have yet.
    pub(crate) fn upgrade(&mut self, from_schema: i64) {
        if from_schema < 12 && self.table.name == "records" {
            self.rows.iter_mut().for_each(|row| reorder_members(row));
        }
        for (schema, table, value) in APPENDED_COLUMNS {
            if from_schema < *schema && self.table.name == *table {
                self.rows.iter_mut().for_each(|row| row.push(value.clone()));
            }
        }
    }
}

/// Before schema 12 the members that the store sets came last in every body.
fn reorder_members(record: &mut [CellValue]) {
    let [
        _,
        _,
        CellValue::Int(resource),
        _,
        CellValue::Text(correlation_id),
        CellValue::Int(state),
        CellValue::Int(version),
        CellValue::Int(sequence),
        CellValue::Text(body),
    ] = record
    else {
        return;
    };
    let code = |number: i64| i16::try_from(number).unwrap_or(-1);
    let Some(resource) = Resource::from_code(code(*resource)) else { return };
    if [Resource::companies(), Resource::customers(), Resource::accounts()].contains(&resource) {
        let tail = RecordTail {
            resource,
            correlation_id,
            state: State::from_code(code(*state)),
            version: Ticks(*version),
            sequence: crate::plan::unsigned(*sequence),
        };
        *body = tail.body_of(&tail.members_of(body));
    }
}

/// Rows per chunk.
pub(crate) const CHUNK_ROWS: usize = 500;

/// The operations that backup and restore need from a store.
#[async_trait]
pub trait Archive: Send + Sync {
    /// Sends every row of every table, in the order of `TABLES`, from one snapshot.
    async fn dump(&self, out: mpsc::Sender<RowChunk>) -> Result<()>;

    /// Whether the store holds no data yet.
    async fn is_empty(&self) -> Result<bool>;

    /// Inserts rows unchanged.
    async fn load(&self, chunk: RowChunk) -> Result<()>;

    async fn count_rows(&self, table: &'static Table) -> Result<u64>;

    /// Marks the store as incomplete: it does not open until [`end_restore`](Self::end_restore).
    async fn begin_restore(&self) -> Result<()>;

    /// In one transaction: decides about the access that the backup contains (ends browser sessions and deletes
    /// authorization codes that were not redeemed, which may have ended since, and with `Confirm` makes every active account
    /// unconfirmed and revokes the named tokens of the operator's API), advances every tenant's head, moves the tenant number sequence past the loaded tenants, fills what a
    /// backup of an older schema lacks, and audits the restore.
    async fn finish_restore(
        &self,
        heads_advance: u64,
        backup: &BackupSummary,
        access: RestoredAccess,
        context: &AuditContext,
    ) -> Result<()>;

    /// The store is complete.
    async fn end_restore(&self) -> Result<()>;

    /// Fails unless this store's master key opens the given vault check.
    fn check_vault(&self, sealed_check: &[u8]) -> Result<()>;

    fn schema(&self) -> i64;
}

/// What becomes of the access that users had given to applications when the backup was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoredAccess {
    /// It stands as in the backup, even if it was withdrawn since.
    Keep,
    /// It stands again when the user has signed in.
    Confirm,
}

impl RestoredAccess {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Confirm => "confirm",
        }
    }
}

/// The totals of a backup.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BackupSummary {
    pub schema: i64,
    pub taken_at: String,
    pub rows: u64,
    pub tables: std::collections::BTreeMap<String, u64>,
    pub sha256: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the backup cannot be read or written: {0}")]
    File(#[from] std::io::Error),
    #[error("this is not a complete Aldaba backup: {0}")]
    Damaged(String),
    #[error(
        "the backup's schema is version {found}, this program's is {known}; restore it with the program that made it, then upgrade"
    )]
    OtherSchema { found: i64, known: i64 },
    #[error("the store is not empty; restore into a new one")]
    NotEmpty,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_bodies_get_the_order_of_the_contract() {
        let int = CellValue::Int;
        let text = |text: &str| CellValue::Text(text.into());
        let row = |resource: Resource, body: &str| {
            let resource = int(resource.code().into());
            vec![int(1), int(1), resource, int(1), text("a"), int(1), int(0), int(7), text(body)]
        };
        let end = r#""version":"0001-01-01T00:00:00.0000000Z","sequenceVersion":"7"}"#;
        let tail = format!(r#""correlationId":"a","state":"Enabled",{end}"#);
        let suppliers = Resource::find(domain::Area::Accounting, "suppliers").unwrap();
        let table = Table::find("records").unwrap();
        let rows = vec![
            row(Resource::accounts(), &format!(r#"{{"code":"4","description":"d",{tail}"#)),
            row(suppliers, &format!(r#"{{"code":"4",{tail}"#)),
        ];
        let mut chunk = RowChunk { table, rows: rows.clone() };
        chunk.upgrade(11);
        let expected =
            format!(r#"{{"correlationId":"a","code":"4","description":"d","state":"Enabled",{end}"#);
        assert_eq!(chunk.rows, [row(Resource::accounts(), &expected), rows[1].clone()]);
        let mut current = RowChunk { table, rows: rows.clone() };
        current.upgrade(12);
        assert_eq!(current.rows, rows);
    }
}
