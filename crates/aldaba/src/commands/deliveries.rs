//! `aldaba deliveries`.

use operator::admin::{Admin, DeliveryAsk, DeliveryShown, DeliveryStatus, ReplayShown};
use store::AuditContext;

use super::attempts::attempt_rows;
use crate::cli::{Deliveries, DeliveryList, Replay, Since};
use crate::config::Sources;
use crate::exit::{CommandResult, Failure};
use crate::output::{Output, fields, table};

const TITLES: [&str; 6] = ["SEQUENCE", "OUTGOING_ID", "EVENT", "RECORD", "STATUS", "LAST"];

pub(crate) async fn run(command: Deliveries, sources: &Sources, output: Output) -> CommandResult {
    let admin = super::admin(sources).await?;
    match command {
        Deliveries::List(wanted) => list(&admin, wanted, output).await?,
        Deliveries::Show { webhook, delivery } => {
            let one = admin.delivery(&webhook, &delivery).await?;
            output.result(&one, || text(&one));
        }
        Deliveries::Replay(wanted) => {
            let asked = replay(&admin, &wanted).await?;
            let next = format!("see how it goes with: aldaba webhooks show {}", wanted.webhook);
            let what = format!("the running service sends events {}", span(&asked));
            output.done(&asked, &format!("{what} again within a second; {next}"));
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn list(admin: &Admin, wanted: DeliveryList, output: Output) -> CommandResult {
    let named = wanted.status.as_deref().and_then(DeliveryStatus::parse);
    let ask = DeliveryAsk {
        status: if wanted.failed { Some(DeliveryStatus::Failed) } else { named },
        since: wanted.since.map(|since| match since {
            Since::Ago(span) => admin.clock.now().minus(span),
            Since::At(moment) => moment,
        }),
        before: wanted.before,
        rows_max: Some(wanted.limit.into()),
    };
    let page = admin.deliveries(&wanted.webhook, &ask).await?;
    if output.json {
        output.result(&page, String::new);
        return Ok(());
    }
    output.list(&page.deliveries, &TITLES, |one| {
        vec![
            one.sequence_version.clone(),
            or_dash(one.outgoing_id.as_ref()),
            or_dash(one.event.as_ref()),
            or_dash(one.correlation_id.as_ref()),
            one.status.as_str().to_owned(),
            last(one),
        ]
    });
    if let Some(next) = &page.next {
        output.print_message(&format!("There is more: --before {next}"));
    }
    Ok(())
}

async fn replay(admin: &Admin, wanted: &Replay) -> Result<ReplayShown, Failure> {
    let (webhook, context) = (&wanted.webhook, AuditContext::default());
    Ok(match (&wanted.delivery, wanted.from) {
        (Some(delivery), _) => admin.replay_delivery(webhook, delivery, &context).await?,
        (None, Some(from)) => admin.replay_span(webhook, from, wanted.to, &context).await?,
        (None, None) => {
            let why = "name a delivery by its OutgoingId, or give --from for a span of time";
            return Err(Failure::Usage(why.into()));
        }
    })
}

/// `1018`, or `1018 to 1027`.
fn span(asked: &ReplayShown) -> String {
    let first =
        asked.after.parse().map_or_else(|_| asked.after.clone(), |after: u64| (after + 1).to_string());
    if first == asked.upto { first } else { format!("{first} to {}", asked.upto) }
}

/// What was heard of it last.
fn last(one: &DeliveryShown) -> String {
    let failure = one.attempts.last().filter(|_| one.delivered_at.is_none());
    failure.map_or_else(
        || or_dash(one.delivered_at.as_ref()),
        |attempt| format!("{} {}", attempt.at, attempt.reason),
    )
}

fn or_dash(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| "-".into())
}

/// Everything, for people.
fn text(one: &DeliveryShown) -> String {
    let told = [
        ("outgoing_id", or_dash(one.outgoing_id.as_ref())),
        ("sequence", one.sequence_version.clone()),
        ("event", or_dash(one.event.as_ref())),
        ("company", or_dash(one.company.as_ref())),
        ("record", or_dash(one.correlation_id.as_ref())),
        ("status", one.status.as_str().to_owned()),
        ("delivered_at", or_dash(one.delivered_at.as_ref())),
        ("next_attempt", or_dash(one.next_attempt_at.as_ref())),
    ];
    let mut parts = vec![fields(&told)];
    if !one.attempts.is_empty() {
        parts.push(table(&super::attempts::TITLES, attempt_rows(&one.attempts)));
    }
    if let Some(answer) = one.attempts.last().map(|attempt| &attempt.excerpt).filter(|text| !text.is_empty())
    {
        parts.push(format!("last answer:\n{answer}"));
    }
    if let Some(body) = &one.body {
        parts.push(format!("body:\n{body}"));
    }
    parts.join("\n\n")
}
