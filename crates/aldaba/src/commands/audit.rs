//! `aldaba audit`.

use operator::audit::{AuditRequest, page};

use super::opened;
use crate::cli::Audit;
use crate::config::Sources;
use crate::exit::Outcome;
use crate::output::Output;

const TITLES: [&str; 8] = ["AT", "KIND", "USER", "CLIENT", "TENANT", "ADDRESS", "REQUEST", "NOTE"];

pub(crate) async fn run(args: Audit, sources: &Sources, output: Output) -> Outcome {
    let (_, opened) = opened(sources).await?;
    let Audit { kind, user, tenant, client, before, limit } = args;
    let ask = AuditRequest { kind, user, tenant, client, before, rows_max: Some(limit.into()) };
    let found = page(&*opened.store, &ask).await?;
    if output.json {
        output.result(&found, String::new);
    } else {
        output.list(&found.records, &TITLES, |one| {
            let text = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".into());
            vec![
                one.at.clone(),
                one.kind.to_owned(),
                text(if one.email.is_some() { &one.email } else { &one.user }),
                text(&one.client),
                text(&one.tenant),
                one.address.clone(),
                if one.request_id.is_empty() { "-".into() } else { one.request_id.clone() },
                one.note.clone(),
            ]
        });
        if let Some(next) = &found.next {
            output.say(&format!("There is more: --before {next}"));
        }
    }
    opened.store.close().await;
    Ok(())
}
