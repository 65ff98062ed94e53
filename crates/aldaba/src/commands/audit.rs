//! `aldaba audit`: prints the audit log, as a table or as NDJSON.

use domain::Clock as _;
use operator::audit::{AuditRecordView, AuditRequest, ChangeView, page};
use serde_json::Value;

use super::open_store;
use crate::cli::Audit;
use crate::config::Sources;
use crate::exit::CommandResult;
use crate::output::{Output, table};
use crate::wiring::SystemClock;

const TITLES: [&str; 9] = ["AT", "KIND", "ACTOR", "USER", "CLIENT", "TENANT", "ADDRESS", "REQUEST", "WHAT"];
/// The entries of a table, and of one read.
const PAGE_ROWS: usize = 100;

pub(crate) async fn run(args: Audit, sources: &Sources, output: Output) -> CommandResult {
    let (_, opened) = open_store(sources).await?;
    let Audit { kind, user, tenant, client, actor, since, before, limit } = args;
    let since = since.map(|since| since.time(SystemClock.now()));
    let all = if output.json { usize::MAX } else { PAGE_ROWS };
    let mut left = limit.map_or(all, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let mut request =
        AuditRequest { kind, user, tenant, client, actor, since, before, ..AuditRequest::default() };
    let mut rows = Vec::new();
    let next = loop {
        request.rows_max = Some(left.min(PAGE_ROWS));
        let found = page(&*opened.store, &request).await?;
        left -= found.records.len();
        for record in &found.records {
            if output.json {
                output.result(record, String::new);
            } else {
                rows.push(row(record));
            }
        }
        if found.next.is_none() || left == 0 {
            break found.next;
        }
        request.before = found.next;
    };
    if !output.json {
        output.result(&(), || table(&TITLES, rows));
        if let Some(next) = &next {
            output.print_message(&format!("More entries: --before {next}"));
        }
    }
    opened.store.close().await;
    Ok(())
}

fn row(entry: &AuditRecordView) -> Vec<String> {
    let text = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".into());
    vec![
        entry.at.clone(),
        entry.kind.to_owned(),
        entry.actor.clone(),
        text(if entry.email.is_some() { &entry.email } else { &entry.user }),
        text(&entry.client),
        text(&entry.tenant),
        if entry.address.is_empty() { "-".into() } else { entry.address.clone() },
        if entry.request_id.is_empty() { "-".into() } else { entry.request_id.clone() },
        what(entry),
    ]
}

/// The object, what changed, how often, and the note.
fn what(entry: &AuditRecordView) -> String {
    let value = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let change = |change: &ChangeView| match (&change.from, &change.to) {
        (Value::Null, Value::Null) => format!("{} (not shown)", change.member),
        (from, to) => format!("{}: {} → {}", change.member, value(from), value(to)),
    };
    let changes = entry.changes.iter().map(change).collect::<Vec<_>>().join("; ");
    let count = if entry.count > 1 { format!("{} times", entry.count) } else { String::new() };
    let object = entry.object.clone().unwrap_or_default();
    // A note about an object begins with it.
    let object = if entry.note.contains(object.split(':').next_back().unwrap_or_default()) {
        String::new()
    } else {
        object
    };
    let parts = [object, changes, count, entry.note.clone()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}
