//! `aldaba webhooks`.

use operator::admin::{Admin, FamilyWord, WebhookAsk, WebhookShown, WebhookStatus};
use store::AuditContext;

use super::attempts::attempt_rows;
use crate::cli::{WebhookList, Webhooks};
use crate::config::Sources;
use crate::exit::{CommandResult, Failure};
use crate::output::{Output, fields, table};

const TITLES: [&str; 6] = ["WEBHOOK", "TENANT", "CLIENT", "RESOURCE", "STATUS", "URL"];

pub(crate) async fn run(command: Webhooks, sources: &Sources, output: Output) -> CommandResult {
    if let Webhooks::Delete { id, yes: false } = &command {
        let why = "its owner would have to subscribe again; give --yes if you mean it";
        return Err(Failure::Usage(format!("deleting {id} is final: {why}")));
    }
    let admin = super::admin(sources).await?;
    let context = AuditContext::default();
    match command {
        Webhooks::List(wanted) => list(&admin, wanted, output).await?,
        Webhooks::Show { id } => {
            let one = admin.webhook(&id).await?;
            output.result(&one, || text(&one));
        }
        Webhooks::Enable { id } => changed(&admin.enable_webhook(&id, &context).await?, output),
        Webhooks::Disable { id } => changed(&admin.disable_webhook(&id, &context).await?, output),
        Webhooks::Delete { id, .. } => changed(&admin.delete_webhook(&id, &context).await?, output),
        Webhooks::Test { id } => {
            let asked = admin.test_webhook(&id, &context).await?;
            let next = format!("see how it went with: aldaba webhooks show {id}");
            output.done(&asked, &format!("the running service sends a test event within a second; {next}"));
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn list(admin: &Admin, wanted: WebhookList, output: Output) -> CommandResult {
    let ask = WebhookAsk {
        tenant: wanted.tenant,
        client: wanted.client,
        family: wanted.family.as_deref().and_then(FamilyWord::parse),
        resource: wanted.resource,
        status: wanted.status.as_deref().and_then(WebhookStatus::parse),
        after: wanted.after,
        rows_max: Some(wanted.limit.into()),
    };
    let page = admin.webhooks(&ask).await?;
    if output.json {
        output.result(&page, String::new);
        return Ok(());
    }
    output.list(&page.webhooks, &TITLES, |one| {
        vec![
            one.id.clone(),
            one.tenant.clone(),
            one.client.clone(),
            one.resource.to_owned(),
            one.status.as_str().to_owned(),
            one.url.clone(),
        ]
    });
    if let Some(next) = &page.next {
        output.print_message(&format!("There is more: --after {next}"));
    }
    Ok(())
}

fn changed(one: &WebhookShown, output: Output) {
    output.done(one, &format!("webhook {} is {}. {}", one.id, one.status.as_str(), one.explanation));
}

/// Everything, for people.
fn text(one: &WebhookShown) -> String {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let mut told = vec![
        ("webhook", one.id.clone()),
        ("tenant", one.tenant.clone()),
        ("client", one.client.clone()),
        ("user", one.user.clone()),
        ("name", one.name.clone()),
        ("description", one.description.clone()),
        ("url", one.url.clone()),
        ("resource", format!("{} ({})", one.resource, one.family.as_str())),
        ("events", one.events.join(" ")),
        ("status", one.status.as_str().to_owned()),
        ("", one.explanation.clone()),
        ("created_at", one.created_at.clone()),
        ("disabled_at", or_dash(&one.disabled_at)),
        ("doubt", or_dash(&one.doubt)),
    ];
    let Some(health) = &one.health else { return fields(&told) };
    let rate = health.success_rate.map_or_else(|| "-".into(), |rate| format!("{:.2} %", rate * 100.0));
    let p95 = health.p95_milliseconds.map_or_else(|| "-".into(), |p95| format!("{p95} ms"));
    let handshake = if health.handshake.is_accepted { "accepted" } else { "not accepted" };
    let lost = health.lost.as_ref().map_or_else(
        || "-".into(),
        |lost| format!("events after {} up to {}, at {}", lost.after, lost.upto, lost.at),
    );
    told.extend([
        ("handshake", format!("{handshake}, {} failed attempts", health.handshake.failed_attempts)),
        ("last_delivery", or_dash(&health.last_delivered_at)),
        ("failing_since", or_dash(&health.failing_since)),
        ("next_attempt", or_dash(&health.next_attempt_at)),
        ("events_behind", health.events_behind.to_string()),
        ("lanes", health.lanes.to_string()),
        ("lost", lost),
        ("last_24h", format!("{} delivered, {} attempts failed", health.delivered, health.failed_attempts)),
        ("success_rate", rate),
        ("p95", p95),
    ]);
    let attempts = attempt_rows(&health.recent_attempts);
    if attempts.is_empty() {
        return fields(&told);
    }
    format!("{}\n\n{}", fields(&told), table(&super::attempts::TITLES, attempts))
}
