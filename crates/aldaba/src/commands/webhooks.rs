//! `aldaba webhooks`.

use domain::WebhookStatus;
use operator::admin::{WebhookAdmin, WebhookFamily, WebhookJson, WebhookListQuery};

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
    let admin = super::webhook_admin(sources).await?;
    let authority = super::authority();
    match command {
        Webhooks::List(args) => list(&admin, args, output).await?,
        Webhooks::Show { id } => {
            let webhook = admin.show(&id).await?;
            output.result(&webhook, || text(&webhook));
        }
        Webhooks::Enable { id } => print_changed(&admin.enable(&id, &authority).await?, output),
        Webhooks::Disable { id } => print_changed(&admin.disable(&id, &authority).await?, output),
        Webhooks::Delete { id, .. } => print_changed(&admin.delete(&id, &authority).await?, output),
        Webhooks::Test { id } => {
            let replay = admin.send_test_event(&id, &authority).await?;
            let next = format!("see the result with: aldaba webhooks show {id}");
            output.done(&replay, &format!("the running service sends a test event within a second; {next}"));
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn list(admin: &WebhookAdmin, args: WebhookList, output: Output) -> CommandResult {
    let query = WebhookListQuery {
        tenant: args.tenant,
        client: args.client,
        team: args.team,
        host: args.host,
        family: args.family.as_deref().and_then(WebhookFamily::parse),
        resource: args.resource,
        status: args.status.as_deref().and_then(WebhookStatus::parse),
        after: args.after,
        rows_max: Some(args.limit.into()),
    };
    let page = admin.list(&query).await?;
    if output.json {
        output.result(&page, String::new);
        return Ok(());
    }
    output.list(&page.webhooks, &TITLES, |webhook| {
        vec![
            webhook.id.clone(),
            webhook.tenant.clone(),
            webhook.client.clone(),
            webhook.resource.to_owned(),
            webhook.status.as_str().to_owned(),
            webhook.url.clone(),
        ]
    });
    if let Some(next) = &page.next {
        output.print_message(&format!("There is more: --after {next}"));
    }
    Ok(())
}

fn print_changed(webhook: &WebhookJson, output: Output) {
    let line = format!("webhook {} is {}. {}", webhook.id, webhook.status.as_str(), webhook.explanation);
    output.done(webhook, &line);
}

/// All fields, for people.
fn text(webhook: &WebhookJson) -> String {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let mut rows = vec![
        ("webhook", webhook.id.clone()),
        ("tenant", webhook.tenant.clone()),
        ("client", webhook.client.clone()),
        ("user", webhook.user.clone()),
        ("name", webhook.name.clone()),
        ("description", webhook.description.clone()),
        ("url", webhook.url.clone()),
        ("resource", format!("{} ({})", webhook.resource, webhook.family.as_str())),
        ("events", webhook.events.join(" ")),
        ("status", webhook.status.as_str().to_owned()),
        ("", webhook.explanation.clone()),
        ("created_at", webhook.created_at.clone()),
        ("disabled_at", or_dash(&webhook.disabled_at)),
        ("doubt", or_dash(&webhook.doubt)),
    ];
    let Some(health) = &webhook.health else { return fields(&rows) };
    let rate = health.success_rate.map_or_else(|| "-".into(), |rate| format!("{:.2} %", rate * 100.0));
    let p95 = health.p95_milliseconds.map_or_else(|| "-".into(), |p95| format!("{p95} ms"));
    let handshake = if health.handshake.is_accepted { "accepted" } else { "not accepted" };
    let lost = health.lost.as_ref().map_or_else(
        || "-".into(),
        |lost| format!("events after {} up to {}, at {}", lost.after, lost.upto, lost.at),
    );
    rows.extend([
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
        return fields(&rows);
    }
    format!("{}\n\n{}", fields(&rows), table(&super::attempts::TITLES, attempts))
}
