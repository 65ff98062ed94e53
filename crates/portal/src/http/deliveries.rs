//! The deliveries of a webhook of the team.

use domain::Ticks;
use domain::delivery::{
    DELIVERIES_PER_PAGE_MAX, DeliveryCursor, DeliveryName, DeliveryPageQuery, DeliveryStatus, ReplayRequest,
};
use domain::event::parse_semantic_name;
use operator::admin::WebhookContent;
use pages::{Format, PageContext, PageError, Params, Response};
use store::Webhook;

use crate::context::Context;
use crate::text::deliveries::DeliveryText;
use crate::text::webhooks::replay_refusal;
use crate::views::deliveries::{DeliveriesPage, DeliveryRow, SuspendedPage};
use crate::views::delivery::{OneDeliveryPage, ReplayJson};

const ROWS: usize = 25;
/// As many reads as a filtered file of deliveries takes at most, which look at 20,000 deliveries.
const CSV_READS_MAX: usize = 34;
const CSV_ROWS_MAX: usize = 1000;
const RECORD_CHARS_MAX: usize = 200;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let webhook = team_webhook(context).await?;
    if let Some(hidden) = suspended(context, &webhook).await? {
        return Ok(context.show(&hidden));
    }
    let (reads_max, rows_max) =
        if context.format == Format::Csv { (CSV_READS_MAX, CSV_ROWS_MAX) } else { (1, ROWS) };
    let mut query = page_query(context, &webhook)?;
    let (mut rows, mut next) = (Vec::new(), query.before);
    for _ in 0..reads_max {
        query.before = next;
        let page = context.portal.ports.history.deliveries(&webhook, &query).await?;
        rows.extend(page.deliveries.iter().map(DeliveryRow::new));
        next = page.next;
        if next.is_none() || rows.len() >= rows_max {
            break;
        }
    }
    Ok(context.show(&DeliveriesPage::new(&webhook, rows, next)))
}

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    let webhook = team_webhook(context).await?;
    if let Some(hidden) = suspended(context, &webhook).await? {
        return Ok(context.show(&hidden));
    }
    let sequence = sequence(context)?;
    let ports = &context.portal.ports;
    let delivery = ports.history.delivery(&webhook, DeliveryName::Sequence(sequence)).await?;
    let success = ports.store.delivery_history(webhook.id, sequence).await?.delivered;
    Ok(context.show(&OneDeliveryPage::new(&webhook, delivery, success)))
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    if form.get("do") != Some("replay") {
        return Err(PageError::no_action());
    }
    team_webhook(context).await?;
    let developer = context.developer();
    let (webhook, audit) = developer.changeable_webhook(context.segment("webhook")).await?;
    let request = ReplayRequest::Delivery(DeliveryName::Sequence(sequence(context)?));
    let requested = context.portal.ports.history.request_replay(&webhook, request, audit).await;
    let replay = requested.map_err(|error| match replay_refusal(context.lang(), &error) {
        Some(why) => PageError::Refused(why),
        None => error.into(),
    })?;
    Ok(context.done(&context.here(&[], []), "replay_started", &ReplayJson::new(&replay)))
}

/// The webhook that the URL names, if its client is of the URL's team: a developer may belong to several.
async fn team_webhook(context: &Context) -> Result<Webhook, PageError> {
    let webhook = context.developer().require_webhook(context.segment("webhook")).await?;
    let client = context.portal.ports.store.find_client(&webhook.owner.client).await?;
    let is_of_team = client.is_some_and(|client| client.team.as_ref() == Some(&context.team.id));
    if is_of_team { Ok(webhook) } else { Err(PageError::NotFound) }
}

/// What is shown instead of any delivery while the client may not receive the tenant's data.
async fn suspended(context: &Context, webhook: &Webhook) -> Result<Option<SuspendedPage>, PageError> {
    Ok(match context.developer().may_see_content(webhook).await? {
        WebhookContent::Visible => None,
        WebhookContent::Hidden(suspension) => Some(SuspendedPage::new(webhook, suspension)),
    })
}

fn sequence(context: &Context) -> Result<u64, PageError> {
    context.segment("sequence").parse().map_err(|_| PageError::NotFound)
}

/// What the URL asks for. A condition that cannot be understood is refused: leaving it out would show too much.
fn page_query(context: &Context, webhook: &Webhook) -> Result<DeliveryPageQuery, PageError> {
    let text = DeliveryText::of(context.lang());
    let query = &context.query;
    let refused = |why: &str| PageError::Refused(why.to_owned());
    let time = |name: &str| match query.get(name) {
        None => Ok(None),
        Some(typed) => parse_time(typed).map(Some).ok_or_else(|| refused(text.wrong_time)),
    };
    let status = match query.get("status") {
        None => None,
        Some(name) => Some(DeliveryStatus::parse(name).ok_or_else(|| refused(text.wrong_status))?),
    };
    let kind = match query.get("event") {
        None => None,
        Some(name) => {
            let kind = parse_semantic_name(webhook.resource, name);
            Some(kind.ok_or_else(|| refused(text.wrong_event))?)
        }
    };
    let record = query.get("record").map(str::trim).filter(|record| !record.is_empty());
    if record.is_some_and(|record| record.chars().count() > RECORD_CHARS_MAX) {
        return Err(refused(text.wrong_record));
    }
    let before = match query.get("before") {
        None => None,
        Some(cursor) => Some(cursor.parse::<DeliveryCursor>().map_err(|_| refused(text.wrong_page))?),
    };
    Ok(DeliveryPageQuery {
        status,
        kind,
        record: record.map(Box::from),
        since: time("since")?,
        until: time("until")?,
        before,
        page_size: if context.format == Format::Csv { DELIVERIES_PER_PAGE_MAX } else { ROWS },
    })
}

/// A time with its zone, or one as a browser's form sends it, in UTC.
fn parse_time(typed: &str) -> Option<Ticks> {
    let is_minute = typed.len() == "2026-11-15T08:30".len();
    Ticks::parse_iso(typed)
        .or_else(|| Ticks::parse_iso(&format!("{typed}{}", if is_minute { ":00Z" } else { "Z" })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_forms_and_of_programs_are_read() {
        let at = Ticks::parse_iso("2026-11-15T08:30:00Z");
        assert!(at.is_some());
        for typed in ["2026-11-15T08:30", "2026-11-15T08:30:00", "2026-11-15T08:30:00Z"] {
            assert_eq!(parse_time(typed), at, "{typed}");
        }
        assert_eq!(parse_time("yesterday"), None);
    }
}
