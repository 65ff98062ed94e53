//! `aldaba audit`: prints the audit log.

use operator::audit::{AuditRequest, page};

use super::open_store;
use crate::cli::Audit;
use crate::config::Sources;
use crate::exit::CommandResult;
use crate::output::Output;

const TITLES: [&str; 8] = ["AT", "KIND", "USER", "CLIENT", "TENANT", "ADDRESS", "REQUEST", "NOTE"];

pub(crate) async fn run(args: Audit, sources: &Sources, output: Output) -> CommandResult {
    let (_, opened) = open_store(sources).await?;
    let Audit { kind, user, tenant, client, before, limit } = args;
    let ask = AuditRequest { kind, user, tenant, client, before, rows_max: Some(limit.into()) };
    let found = page(&*opened.store, &ask).await?;
    if output.json {
        output.result(&found, String::new);
    } else {
        output.list(&found.records, &TITLES, |entry| {
            let text = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".into());
            vec![
                entry.at.clone(),
                entry.kind.to_owned(),
                text(if entry.email.is_some() { &entry.email } else { &entry.user }),
                text(&entry.client),
                text(&entry.tenant),
                entry.address.clone(),
                if entry.request_id.is_empty() { "-".into() } else { entry.request_id.clone() },
                entry.note.clone(),
            ]
        });
        if let Some(next) = &found.next {
            output.print_message(&format!("More entries: --before {next}"));
        }
    }
    opened.store.close().await;
    Ok(())
}
