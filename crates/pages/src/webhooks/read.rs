//! What the pages of webhooks and deliveries read, and what their forms ask for.

use domain::Ticks;
use domain::delivery::{
    DELIVERIES_PER_PAGE_MAX, DeliveryCursor, DeliveryName, DeliveryPageQuery, DeliveryStatus, FigureSpan,
    ReplayRequest,
};
use domain::event::parse_semantic_name;
use futures_util::try_join;
use store::{Store, Webhook};
use ui::Lang;
use webhooks::history::{History, HistoryError};

use super::Reader;
use super::deliveries::{DeliveriesPage, DeliveryRow};
use super::delivery::OneDeliveryPage;
use super::figures::{Content, FigureRow, Figures, ReplayRow};
use super::text::deliveries::DeliveryText;
use super::text::webhooks::{OneWebhookText, replay_refusal};
use crate::{Format, PageError, PageRequest, Params};

const ROWS: usize = 25;
/// As many reads as a filtered file of deliveries takes at most, which look at 20,000 deliveries.
const CSV_READS_MAX: usize = 34;
const CSV_ROWS_MAX: usize = 1000;
const RECORD_CHARS_MAX: usize = 200;
/// The newest replays that the page lists.
const REPLAYS_MAX: usize = 10;

/// The figures of the span that the URL names, and the newest tests and replays.
pub async fn content(
    context: &PageRequest,
    history: &History,
    webhook: &Webhook,
) -> Result<Content, PageError> {
    let span = if context.query.get("span") == Some("week") { FigureSpan::Week } else { FigureSpan::Day };
    let (figures, replays) = try_join!(history.figures(webhook, span), history.replays(webhook))?;
    Ok(Content {
        figures: Figures {
            span: if span == FigureSpan::Week { "week" } else { "day" },
            total: FigureRow::new(&figures.total),
            hours: figures.points.iter().map(FigureRow::new).collect(),
        },
        replays: replays.iter().take(REPLAYS_MAX).map(ReplayRow::new).collect(),
    })
}

/// The deliveries that the URL asks for.
pub async fn deliveries(
    context: &PageRequest,
    history: &History,
    webhook: &Webhook,
) -> Result<DeliveriesPage, PageError> {
    let (reads_max, rows_max) =
        if context.format == Format::Csv { (CSV_READS_MAX, CSV_ROWS_MAX) } else { (1, ROWS) };
    let mut query = page_query(context, webhook)?;
    let (mut rows, mut next) = (Vec::new(), query.before);
    for _ in 0..reads_max {
        query.before = next;
        let page = history.deliveries(webhook, &query).await?;
        rows.extend(page.deliveries.iter().map(DeliveryRow::new));
        next = page.next;
        if next.is_none() || rows.len() >= rows_max {
            break;
        }
    }
    Ok(DeliveriesPage::new(webhook, rows, next))
}

/// The delivery that the URL names.
pub async fn delivery(
    context: &PageRequest,
    history: &History,
    store: &dyn Store,
    webhook: &Webhook,
) -> Result<OneDeliveryPage, PageError> {
    let sequence = sequence(context)?;
    let delivery = history.delivery(webhook, DeliveryName::Sequence(sequence)).await?;
    let success = store.delivery_history(webhook.id, sequence).await?.delivered;
    Ok(OneDeliveryPage::new(webhook, delivery, success))
}

/// The number in the log of the delivery that the URL names.
pub fn sequence(context: &PageRequest) -> Result<u64, PageError> {
    context.segment("sequence").parse().map_err(|_| PageError::NotFound)
}

/// The span of a form that sends events again.
pub fn replay_span(lang: Lang, form: &Params) -> Result<ReplayRequest, PageError> {
    let text = OneWebhookText::of(lang);
    let time = |name: &str| {
        let invalid = || PageError::Refused(text.time_invalid.to_owned());
        form.get(name).map(|typed| Ticks::parse_iso(typed.trim()).ok_or_else(invalid)).transpose()
    };
    let from = time("from")?.ok_or_else(|| PageError::Refused(text.from_needed.to_owned()))?;
    Ok(ReplayRequest::Span { from, to: time("to")? })
}

/// Why a test or a replay was refused, in the language of the page.
pub fn not_replayed(lang: Lang, reader: Reader, error: HistoryError) -> PageError {
    match replay_refusal(lang, reader, &error) {
        Some(why) => PageError::Refused(why),
        None => error.into(),
    }
}

/// What the URL asks for. A condition that cannot be understood is refused: leaving it out would show too much.
fn page_query(context: &PageRequest, webhook: &Webhook) -> Result<DeliveryPageQuery, PageError> {
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
