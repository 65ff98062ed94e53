//! `aldaba deliveries`.

use domain::delivery::{DeliveryPageQuery, DeliveryStatus};
use operator::admin::{DeliveryJson, ReplayJson, WebhookAdmin};

use super::attempts::attempt_rows;
use crate::cli::{Deliveries, DeliveryList, Replay};
use crate::config::Sources;
use crate::exit::{CommandResult, Failure};
use crate::output::{Output, fields, table};

const TITLES: [&str; 6] = ["SEQUENCE", "OUTGOING_ID", "EVENT", "RECORD", "STATUS", "LAST"];

pub(crate) async fn run(command: Deliveries, sources: &Sources, output: Output) -> CommandResult {
    let admin = super::webhook_admin(sources).await?;
    match command {
        Deliveries::List(args) => list(&admin, args, output).await?,
        Deliveries::Show { webhook, delivery } => {
            let delivery = admin.delivery(&webhook, &delivery).await?;
            output.result(&delivery, || text(&delivery));
        }
        Deliveries::Replay(args) => {
            let replay = replay(&admin, &args).await?;
            let next = format!("see its progress with: aldaba webhooks show {}", args.webhook);
            let what = format!("the running service sends events {}", span(&replay));
            output.done(&replay, &format!("{what} again within a second; {next}"));
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn list(admin: &WebhookAdmin, args: DeliveryList, output: Output) -> CommandResult {
    let status = args.status.as_deref().and_then(DeliveryStatus::parse);
    let query = DeliveryPageQuery {
        status: if args.failed { Some(DeliveryStatus::Failed) } else { status },
        kind: None,
        record: args.record.map(String::into_boxed_str),
        since: args.since.map(|since| since.time(admin.clock.now())),
        until: args.until.map(|until| until.time(admin.clock.now())),
        before: args.before,
        page_size: args.limit.into(),
    };
    let page = admin.deliveries(&args.webhook, query, args.event.as_deref()).await?;
    if output.json {
        output.result(&page, String::new);
        return Ok(());
    }
    output.list(&page.deliveries, &TITLES, |delivery| {
        vec![
            delivery.sequence_version.clone(),
            or_dash(delivery.outgoing_id.as_ref()),
            or_dash(delivery.event.as_ref()),
            or_dash(delivery.correlation_id.as_ref()),
            delivery.status.as_str().to_owned(),
            last_result(delivery),
        ]
    });
    if let Some(next) = &page.next {
        output.print_message(&format!("There is more: --before {next}"));
    }
    Ok(())
}

async fn replay(admin: &WebhookAdmin, args: &Replay) -> Result<ReplayJson, Failure> {
    let (webhook, authority) = (&args.webhook, super::authority());
    Ok(match (&args.delivery, args.from) {
        (Some(delivery), _) => admin.replay_delivery(webhook, delivery, &authority).await?,
        (None, Some(from)) => admin.replay_span(webhook, from, args.to, &authority).await?,
        (None, None) => {
            let why = "name a delivery by its OutgoingId, or give --from for a span of time";
            return Err(Failure::Usage(why.into()));
        }
    })
}

/// `1018`, or `1018 to 1027`.
fn span(replay: &ReplayJson) -> String {
    let first =
        replay.after.parse().map_or_else(|_| replay.after.clone(), |after: u64| (after + 1).to_string());
    if first == replay.upto { first } else { format!("{first} to {}", replay.upto) }
}

/// When it was delivered, or how the last attempt failed.
fn last_result(delivery: &DeliveryJson) -> String {
    let failure = delivery.attempts.last().filter(|_| delivery.delivered_at.is_none());
    failure.map_or_else(
        || or_dash(delivery.delivered_at.as_ref()),
        |attempt| format!("{} {}", attempt.at, attempt.reason),
    )
}

fn or_dash(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| "-".into())
}

/// All fields, for people.
fn text(delivery: &DeliveryJson) -> String {
    let rows = [
        ("outgoing_id", or_dash(delivery.outgoing_id.as_ref())),
        ("sequence", delivery.sequence_version.clone()),
        ("event", or_dash(delivery.event.as_ref())),
        ("company", or_dash(delivery.company.as_ref())),
        ("record", or_dash(delivery.correlation_id.as_ref())),
        ("status", delivery.status.as_str().to_owned()),
        ("delivered_at", or_dash(delivery.delivered_at.as_ref())),
        ("next_attempt", or_dash(delivery.next_attempt_at.as_ref())),
    ];
    let mut parts = vec![fields(&rows)];
    if !delivery.attempts.is_empty() {
        parts.push(table(&super::attempts::TITLES, attempt_rows(&delivery.attempts)));
    }
    if let Some(answer) =
        delivery.attempts.last().map(|attempt| &attempt.excerpt).filter(|text| !text.is_empty())
    {
        parts.push(format!("last response:\n{answer}"));
    }
    if let Some(body) = &delivery.body {
        parts.push(format!("body:\n{body}"));
    }
    parts.join("\n\n")
}
