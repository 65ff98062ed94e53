//! What is counted and logged beside the deliveries: the log of calls, usage, figures and the audit trail.

use domain::figures::{FigureCounts, Outcome, Resolution, Series};
use domain::{CallRecord, ClientId, Random as _, Refusal};
use store::{AuditEntry, AuditKind, CALLS_KEPT, CallCount, FigureDelta, WebhookCheckpoint};

use super::data::{Size, Writer};
use super::team::Team;
use crate::Fallible;

pub(super) const ROUTE: &str = "/accounting/api/customers";
const USAGE_DAYS: i64 = 30;
const ROUTES: usize = 40;
/// Rows in one transaction.
const BATCH: usize = 2_000;

pub(super) async fn write(writer: &Writer, team: &Team, size: &Size) -> Fallible<()> {
    calls(writer, team).await?;
    usage(writer, team).await?;
    figures_of_team(writer, team, size).await?;
    audit(writer, team, size).await
}

/// As many calls of each subscription as are kept; one in ten was refused.
async fn calls(writer: &Writer, team: &Team) -> Fallible<()> {
    for subscription in &team.subscriptions {
        let call = |number: u64| {
            let refusal = number.is_multiple_of(10).then_some(Refusal::ScopeMissing);
            CallRecord {
                at: writer.at(number, CALLS_KEPT as u64),
                subscription: subscription.clone(),
                method: "GET".into(),
                route: ROUTE.into(),
                status: if refusal.is_some() { 403 } else { 200 },
                latency_micros: 400 + number,
                request_id: writer.random.guid().to_string(),
                client: Some(team.clients[0].clone()),
                tenant: None,
                refusal,
            }
        };
        let calls: Vec<CallRecord> = (0..CALLS_KEPT as u64).map(call).collect();
        writer.store.append_calls(&calls, &[]).await?;
    }
    Ok(())
}

async fn usage(writer: &Writer, team: &Team) -> Fallible<()> {
    let today = writer.now.day();
    for subscription in &team.subscriptions {
        let routes =
            (0..ROUTES).flat_map(|route| (today - USAGE_DAYS + 1..=today).map(move |day| (route, day)));
        let count = |(route, day): (usize, i64)| CallCount {
            subscription: subscription.clone(),
            day,
            route: format!("{ROUTE}/{route}"),
            calls: 1_000,
            failed: 10,
        };
        writer.store.record_usage(&routes.map(count).collect::<Vec<_>>(), &[]).await?;
    }
    Ok(())
}

/// A week of hours of every webhook, and a day of minutes of every subscription.
async fn figures_of_team(writer: &Writer, team: &Team, size: &Size) -> Fallible<()> {
    let webhooks = team.webhooks.iter().map(|one| Series::WebhookDeliveries(one.webhook.id));
    figures(writer, webhooks, Resolution::Hour, size).await?;
    let subscriptions = team.subscriptions.iter().map(|id| Series::SubscriptionCalls(id.clone()));
    figures(writer, subscriptions, Resolution::Minute, size).await
}

/// The same counts in each series: a week of hours, or a day of minutes.
pub(super) async fn figures(
    writer: &Writer,
    series: impl Iterator<Item = Series>,
    resolution: Resolution,
    size: &Size,
) -> Fallible<()> {
    let mut counts = FigureCounts::default();
    for number in 0..100 {
        let outcome = if number % 20 == 0 { Outcome::Failed } else { Outcome::Succeeded };
        counts.count(outcome, Some(500 * (number + 1)));
    }
    let spans = match (resolution, size.is_small) {
        (Resolution::Hour, true) => 24,
        (Resolution::Hour, false) => 7 * 24,
        (Resolution::Minute, true) => 60,
        (Resolution::Minute, false) => 24 * 60,
    };
    let back = |number: u32| writer.now.minus(resolution.span() * number);
    let delta = |series: Series| {
        (0..spans).map(move |number| FigureDelta { series: series.clone(), at: back(number), counts })
    };
    let deltas: Vec<FigureDelta> = series.flat_map(delta).collect();
    for batch in deltas.chunks(BATCH) {
        writer.store.add_figures(batch).await?;
    }
    Ok(())
}

/// A client whose users signed in long ago and have refreshed their tokens since.
async fn audit(writer: &Writer, team: &Team, size: &Size) -> Fallible<()> {
    let busy = team.busy();
    let client: &ClientId = &team.clients[0];
    let entry = |number: u64| {
        let at = writer.at(number + 1, size.audit + 1);
        AuditEntry::new(AuditKind::Refreshed, at, &writer.by).user(&team.user).client(client)
    };
    let entries: Vec<AuditEntry> = (0..size.audit).map(entry).collect();
    for batch in entries.chunks(BATCH) {
        let checkpoint = writer.checkpoint(busy.id, busy.revision);
        let checkpoint = WebhookCheckpoint { audit: batch.to_vec(), ..checkpoint };
        writer.write_checkpoints(vec![checkpoint]).await?;
    }
    Ok(())
}
