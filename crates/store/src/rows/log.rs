//! Records, the log of their changes, and the audit.

use domain::Resource;
use domain::event::EventKind;
use domain::record::State;

use super::{Columns, FromRow};
use crate::audit::changes_from_json;
use crate::plan::{CollectionCounters, NO_COMPANY, StoredRecord};
use crate::reads::ReadRowKey;
use crate::{
    Actor, AuditContext, AuditEntry, AuditKind, AuditRecord, FoundRecord, IngestProgress, LogBounds,
    LogEntry, LogEvent,
};

impl FromRow for LogEntry {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            sequence: row.read("sequence")?,
            resource: row.read_as("resource", Resource::from_code)?,
            kind: row.read_as("kind", EventKind::from_code)?,
            company: row.read("company")?,
            correlation_id: row.read("correlation_id")?,
            version: row.read("version")?,
            conversation: row.read("conversation")?,
            process: row.read("process")?,
            user: row.read("user_name")?,
            source_interface: row.read("source_interface")?,
            source_action: row.read("source_action")?,
            changes: row.read("changes")?,
            envelope: row.read("envelope")?,
        })
    }
}

impl FromRow for StoredRecord {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            ordinal: row.read("ordinal")?,
            state: State::from_code(row.read("state")?),
            version: row.read("version")?,
            sequence: row.read("sequence")?,
            body: row.read("body")?,
        })
    }
}

impl FromRow for CollectionCounters {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            next_ordinal: row.read("next_ordinal")?,
            live: row.read("live")?,
            version: row.read("version")?,
        })
    }
}

/// Absent where nothing was ever stored.
impl FromRow for Option<CollectionCounters> {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let is_there = row.read::<Option<i64>>("next_ordinal")?.is_some();
        is_there.then(|| CollectionCounters::from_row(row)).transpose()
    }
}

/// What the search for an id finds.
impl FromRow for FoundRecord {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let company: Option<Box<str>> = row.read("company")?;
        let is_of_a_company = row.read::<i64>("company_no")? != NO_COMPANY;
        Ok(Self {
            tenant: row.read("tenant_id")?,
            company: company.filter(|_| is_of_a_company),
            resource: row.read_as("resource", Resource::from_code)?,
            correlation_id: row.read("correlation_id")?,
        })
    }
}

/// A row of the reads of a tenant, and its packed hours.
impl FromRow for (ReadRowKey, Vec<u8>) {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let key = ReadRowKey {
            tenant_no: row.read("tenant_no")?,
            day: row.read("day")?,
            client: row.read("client_id")?,
            resource: row.read("resource")?,
            company: row.read("company")?,
        };
        Ok((key, row.read("hours")?))
    }
}

impl FromRow for IngestProgress {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            line: row.read("line")?,
            hash: row.read("hash")?,
            process: row.read("process")?,
            counts: row.read_as("tally", |counts: Box<str>| serde_json::from_str(&counts).ok())?,
        })
    }
}

impl FromRow for LogEvent {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self { entry: LogEntry::from_row(row)?, record_key: row.read("record_key")? })
    }
}

impl FromRow for LogBounds {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self { floor: row.read("floor")?, head: row.read("head")? })
    }
}

impl FromRow for AuditRecord {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        let entry = AuditEntry {
            at: row.read("at")?,
            kind: row.read_as("kind", |kind: Box<str>| AuditKind::from_name(&kind))?,
            user: row.read("user_id")?,
            tenant: row.read("tenant_id")?,
            client: row.read("client_id")?,
            grant: row.read("grant_id")?,
            object: row.read("object")?,
            context: AuditContext {
                actor: Actor::from_parts(&row.read::<Box<str>>("actor_kind")?, row.read("actor_id")?),
                address: row.read("address")?,
                request_id: row.read("request_id")?,
            },
            changes: changes_from_json(&row.read::<Box<str>>("changes")?),
            count: row.read("count")?,
            note: row.read("note")?,
        };
        Ok(Self { id: row.read("id")?, entry })
    }
}
