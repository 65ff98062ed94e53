//! What changed between two versions of a record, as far as the log has it. The log keeps the new values of changed members
//! for invoicing alone; for other records it says who changed them and when, but not what.

use std::collections::{BTreeMap, BTreeSet};

use domain::Area;
use domain::event::EventKind;
use domain::log_entry::LogEntry;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::{Admin, AdminError, Result};
use super::history::changed_members;
use super::{RecordChangeJson, RecordName};

/// How many changes of the record are read: those between the two versions, and before them as far as this reaches.
const ROWS_MAX: usize = 500;

/// What changed between two versions of a record.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordDiff)]
pub struct RecordDiffJson {
    /// The older version.
    pub from: RecordChangeJson,
    /// The newer version.
    pub to: RecordChangeJson,
    /// How many changes lie between: after the older version, up to the newer one.
    pub changes: u64,
    /// The members whose values differ. Null where the log does not keep values: everywhere but in invoicing.
    #[schema(required = true)]
    pub members: Option<Vec<MemberDiffJson>>,
}

/// A member whose value differs. Empty text also stands for null and for an absent member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = MemberDiff)]
pub struct MemberDiffJson {
    #[schema(examples("name"))]
    pub name: String,
    /// The older value; null where the log no longer has it.
    #[schema(required = true)]
    pub from: Option<String>,
    /// The newer value; null where the log no longer has it.
    #[schema(required = true)]
    pub to: Option<String>,
}

impl Admin {
    /// Two versions of a record, named by the numbers of their changes in any order.
    pub async fn record_diff(&self, name: &RecordName, one: u64, other: u64) -> Result<RecordDiffJson> {
        let tenant = &name.collection.tenant;
        self.tenant(tenant).await?;
        let (from, to) = (one.min(other), one.max(other));
        let log = self.store.read_record_log(&name.log_query(Some(to.saturating_add(1)), ROWS_MAX)).await?;
        let missing = |sequence: u64| {
            AdminError::NotFound(format!(
                "version {sequence} of record \"{}\" among the {ROWS_MAX} changes up to version {to}",
                name.id
            ))
        };
        let at = |sequence: u64| log.iter().position(|event| event.entry.sequence == sequence);
        let newer = at(to).ok_or_else(|| missing(to))?;
        let older = at(from).ok_or_else(|| missing(from))?;
        let members = if name.collection.resource.area() == Area::Invoicing {
            let is_whole = log.len() < ROWS_MAX && self.store.log_bounds(tenant).await?.floor == 0;
            Some(differences(log.iter().map(|event| &event.entry).rev(), is_whole, from))
        } else {
            None
        };
        Ok(RecordDiffJson {
            from: log[older].entry.clone().into(),
            to: log[newer].entry.clone().into(),
            changes: u64::try_from(older - newer).unwrap_or_default(),
            members,
        })
    }
}

/// What is known of a record's members at some version.
#[derive(Clone, Default)]
struct KnownMembers {
    values: BTreeMap<String, String>,
    /// A member without a value here is absent from the record; otherwise nothing is known of it.
    is_complete: bool,
}

impl KnownMembers {
    fn apply(&mut self, entry: &LogEntry) {
        if matches!(entry.kind, EventKind::Created | EventKind::Deleted) {
            *self = Self { values: BTreeMap::new(), is_complete: true };
        }
        for change in changed_members(entry.changes.as_deref().unwrap_or_default()) {
            self.values.insert(change.name, change.value);
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        let absent = || self.is_complete.then(String::new);
        self.values.get(name).cloned().or_else(absent)
    }
}

/// The members that differ after the entry with the sequence `from` and after the last entry. `entries`: oldest first.
/// `is_whole`: the first of them is the record's first.
fn differences<'a>(
    entries: impl Iterator<Item = &'a LogEntry>,
    is_whole: bool,
    from: u64,
) -> Vec<MemberDiffJson> {
    let mut now = KnownMembers { is_complete: is_whole, ..KnownMembers::default() };
    let mut before = now.clone();
    let mut touched = BTreeSet::new();
    for entry in entries {
        now.apply(entry);
        if entry.sequence <= from {
            before = now.clone();
        } else {
            let changes = changed_members(entry.changes.as_deref().unwrap_or_default());
            touched.extend(changes.into_iter().map(|change| change.name));
        }
    }
    touched.extend(before.values.keys().cloned());
    let difference = |name: String| {
        let (from, to) = (before.value(&name), now.value(&name));
        (from != to).then_some(MemberDiffJson { name, from, to })
    };
    touched.into_iter().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use domain::{Guid, Resource, Ticks};

    use super::*;

    fn entry(sequence: u64, kind: EventKind, members: &[(&str, &str)]) -> LogEntry {
        let change = |(name, value): &(&str, &str)| serde_json::json!({"Name": name, "Value": value});
        let changes: Vec<serde_json::Value> = members.iter().map(change).collect();
        LogEntry {
            sequence,
            resource: Resource::find(Area::Invoicing, "Bank").unwrap(),
            kind,
            company: "".into(),
            correlation_id: "b".into(),
            version: Ticks(0),
            conversation: Guid::from_bytes([0; 16]),
            process: Guid::from_bytes([0; 16]),
            user: "".into(),
            source_interface: "".into(),
            source_action: "".into(),
            changes: Some(serde_json::to_string(&changes).unwrap().into()),
            envelope: 1,
        }
    }

    fn diff_lines(entries: &[LogEntry], is_whole: bool, from: u64) -> Vec<String> {
        let value = |value: Option<String>| value.unwrap_or_else(|| "?".into());
        let all = differences(entries.iter(), is_whole, from).into_iter();
        all.map(|one| format!("{}: {} > {}", one.name, value(one.from), value(one.to))).collect()
    }

    #[test]
    fn members_differ_by_their_last_values() {
        use EventKind::{Created, Updated};
        let entries = [
            entry(1, Created, &[("name", "Caja"), ("city", "León")]),
            entry(2, Updated, &[("name", "Caja Rural"), ("swift", "X")]),
            entry(3, Updated, &[("name", "Caja"), ("city", "")]),
        ];
        assert_eq!(diff_lines(&entries, false, 1), ["city: León > ", "swift:  > X"]);
        assert_eq!(diff_lines(&entries, false, 2), ["city: León > ", "name: Caja Rural > Caja"]);
        assert_eq!(diff_lines(&entries, false, 3), Vec::<String>::new());
    }

    #[test]
    fn values_that_the_log_no_longer_has_are_unknown() {
        let entries = [
            entry(7, EventKind::Updated, &[("name", "Caja Rural")]),
            entry(8, EventKind::Updated, &[("name", "Caja"), ("city", "León")]),
        ];
        assert_eq!(diff_lines(&entries, false, 7), ["city: ? > León", "name: Caja Rural > Caja"]);
        assert_eq!(diff_lines(&entries, true, 7), ["city:  > León", "name: Caja Rural > Caja"]);
    }

    #[test]
    fn deleted_record_has_no_members() {
        let entries = [
            entry(1, EventKind::Created, &[("name", "Caja"), ("city", "León")]),
            entry(2, EventKind::Deleted, &[]),
            entry(3, EventKind::Created, &[("name", "Caja")]),
        ];
        assert_eq!(diff_lines(&entries[..2], false, 1), ["city: León > ", "name: Caja > "]);
        assert_eq!(diff_lines(&entries, false, 1), ["city: León > "]);
        assert_eq!(diff_lines(&entries, false, 2), ["name:  > Caja"]);
    }
}
