//! Edits of records by hand. They go through the ingest of all changes; the audit entry, with who and why, is written in the
//! transaction of the change.

use std::convert::Infallible;

use bytes::Bytes;
use domain::json::{Object, write_string};
use domain::{ErrorCode, FieldError};
use futures_util::stream;
use serde::Serialize;
use store::{AuditEntry, AuditKind, MemberChange, RECORD_CHANGED, RecordEdit};
use utoipa::ToSchema;

use super::super::{Admin, AdminError, Permission, Result};
use super::{CollectionName, RecordName};
use crate::checks::check_text;
use crate::ingest::{Ingest, IngestError, IngestRequest};

pub const EDIT_REASON_CHARS_MAX: usize = 500;
/// Who changed the record, as events name it: applications are told that it was the operator, not which person.
const EVENT_USER: &str = "operator";
const EVENT_SOURCE: &str = "aldaba";
const EVENT_ACTION: &str = "edit";
/// How many entries of the record's log are searched for the edit's own.
const OWN_ENTRY_ROWS: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditAction {
    /// Replaces the record by this JSON object, or creates it.
    Upsert(String),
    Disable,
    Enable,
    Delete,
}

impl EditAction {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Upsert(_) => "upsert",
            Self::Disable => "disable",
            Self::Enable => "enable",
            Self::Delete => "delete",
        }
    }

    /// The action with this name; `data` is for an upsert alone.
    pub fn parse(name: &str, data: Option<&str>) -> Option<Self> {
        match (name, data) {
            ("upsert", data) => Some(Self::Upsert(data.unwrap_or_default().to_owned())),
            ("disable", _) => Some(Self::Disable),
            ("enable", _) => Some(Self::Enable),
            ("delete", _) => Some(Self::Delete),
            _ => None,
        }
    }
}

/// What is to be done, and why.
#[derive(Clone, Debug)]
pub struct NewRecordEdit {
    pub action: EditAction,
    /// For the audit.
    pub reason: String,
    /// The record's sequence as the editor read it, 0 if there was no record; none edits whatever is stored.
    pub expected_sequence: Option<u64>,
}

/// What an edit did.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EditedRecord)]
pub struct EditedRecordJson {
    /// The request id of the change, which its log entry and its notifications carry.
    #[schema(format = "uuid")]
    pub process_id: String,
    /// The number of the change in the log; null if the record already had this content, so that nothing changed.
    #[schema(required = true)]
    pub sequence_version: Option<String>,
    /// What looks suspicious in the record.
    pub warnings: Vec<String>,
}

impl Admin {
    /// Edits a record by hand.
    pub async fn edit_record(&self, name: &RecordName, edit: &NewRecordEdit) -> Result<EditedRecordJson> {
        let context = self.require(Permission::Changes)?;
        check_text(&edit.reason, 1, EDIT_REASON_CHARS_MAX)
            .map_err(|why| AdminError::Invalid(format!("reason: {why}")))?;
        let CollectionName { tenant, resource, company } = &name.collection;
        self.tenant(tenant).await?;
        let line = change_line(name, &edit.action)?;
        let (area, resource_name) = (resource.area().as_str(), resource.as_str());
        let mut changes = vec![new_value("action", edit.action.as_str()), new_value("id", &name.id)];
        changes.extend(company.as_ref().map(|company| new_value("company", company)));
        let audit = AuditEntry::new(AuditKind::RecordEdited, self.now(), context)
            .tenant(tenant)
            .object("record", format!("{area}/{resource_name}"))
            .changes(changes)
            .note(edit.reason.trim());
        let mut request = IngestRequest::new(&self.authority, tenant.clone())?;
        request.is_json = true;
        request.edit = Some(RecordEdit { audit, expected_sequence: edit.expected_sequence });
        let ingest = Ingest::new(self.store.clone(), self.random.clone()).for_clients(self.clock.clone());
        let body = stream::iter([Ok::<_, Infallible>(Bytes::from(line))]);
        let done = Box::pin(ingest.run(&request, body, |_| {})).await.map_err(|error| match error {
            IngestError::Store(error, _) => AdminError::Store(error),
            other => AdminError::Invalid(other.to_string()),
        })?;
        if let Some(error) = done.counts.errors.into_iter().next() {
            return Err(refusal(error.fault));
        }
        let log = self.store.read_record_log(&name.log_query(None, OWN_ENTRY_ROWS)).await?;
        let own = log.iter().find(|event| event.entry.process == done.process);
        let warnings = done.counts.warnings.into_iter();
        Ok(EditedRecordJson {
            process_id: done.process.to_string(),
            sequence_version: own.map(|event| event.entry.sequence.to_string()),
            warnings: warnings.map(|warning| warning.fault.message).collect(),
        })
    }
}

fn new_value(member: &str, to: &str) -> MemberChange {
    MemberChange { member: member.to_owned(), from: serde_json::Value::Null, to: to.into() }
}

/// The change as the ingest API takes it: an array of one object.
fn change_line(name: &RecordName, action: &EditAction) -> Result<String> {
    let resource = name.collection.resource;
    let mut line = String::from("[{");
    let mut member = |name: &str, value: &str| {
        if !line.ends_with('{') {
            line.push(',');
        }
        write_string(name, &mut line);
        line.push(':');
        write_string(value, &mut line);
    };
    member("area", resource.area().as_str());
    member("resource", resource.as_str());
    if let Some(company) = &name.collection.company {
        member("company", company);
    }
    member("action", action.as_str());
    member("correlationId", &name.id);
    member("user", EVENT_USER);
    member("sourceInterface", EVENT_SOURCE);
    member("sourceAction", EVENT_ACTION);
    if let EditAction::Upsert(data) = action {
        // Parsed here, so that it is one object and nothing else gets into the array.
        let data = Object::parse(data.as_bytes())
            .map_err(|error| AdminError::Invalid(format!("the record is not a JSON object: {error}")))?;
        line.push_str(",\"data\":");
        line.push_str(data.text());
    }
    line.push_str("}]");
    Ok(line)
}

/// Why the ingest did not accept the change.
fn refusal(fault: FieldError) -> AdminError {
    let FieldError { code, message: why, .. } = fault;
    match ErrorCode::from_name(&code) {
        Some(
            code @ (RECORD_CHANGED
            | ErrorCode::UnknownRecord
            | ErrorCode::UnknownCompany
            | ErrorCode::AccountNotFound),
        ) => AdminError::Conflict { code, why },
        _ => AdminError::Invalid(why),
    }
}

#[cfg(test)]
mod tests {
    use domain::Guid;
    use domain::change::{Action, Change};

    use super::*;

    fn line(action: &EditAction) -> Result<String> {
        let of = CollectionName::parse("t", "accounting", "journals", Some("c \"1\"")).unwrap();
        change_line(&of.record("j\n1"), action)
    }

    #[test]
    fn line_is_a_change_of_the_record() {
        let text = line(&EditAction::Upsert("{\n  \"a\": [1.50]\n}".into())).unwrap();
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap();
        let change = Change::parse(inner.as_bytes(), || Guid::from_bytes([0; 16])).unwrap().change;
        assert_eq!((change.correlation_id.as_str(), &*change.user), ("j\n1", "operator"));
        assert_eq!(change.company.unwrap().as_str(), "c \"1\"");
        assert!(matches!(change.action, Action::Upsert(upsert) if upsert.members == "\"a\":[1.50]"));
    }

    #[test]
    fn data_is_one_object_and_nothing_else() {
        for data in ["", "[]", "{}},{", "{},\"action\":\"delete\"", "{\"a\":1", "\"{}\"", "null"] {
            let refused = line(&EditAction::Upsert(data.into()));
            assert!(matches!(refused, Err(AdminError::Invalid(_))), "{data:?}: {refused:?}");
        }
    }
}
