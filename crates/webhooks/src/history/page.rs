//! Pages of deliveries, newest first. The store keeps attempts and successes apart; a page lists each event once, at its
//! newest attempt or success. A page costs a bounded number of store calls, whatever its size.

use std::collections::{HashMap, HashSet};

use domain::delivery::{
    DELIVERIES_PER_PAGE_MAX, DeliveryCursor, DeliveryPage, DeliveryPageQuery, DeliveryStatus, DeliveryView,
};
use domain::event::semantic_name;
use store::{AttemptRecord, DeliveryHistory, DeliveryQuery, History, LogEvent, Webhook};

use super::Result;
use super::view::DeliveryViews;

/// How many rows one read takes, and how many reads a page may take; past that the page ends early, and its `next` goes on.
const READ_ROWS_MIN: usize = 50;
const READ_ROWS_MAX: usize = 200;
/// Of a read whose rows are mostly not listed, but have to be looked up all the same.
const LOOKED_UP_ROWS: usize = 100;
const READS_MAX: usize = 3;

pub(super) async fn read<S: History + ?Sized>(
    store: &S,
    views: &DeliveryViews<'_>,
    query: &DeliveryPageQuery,
) -> Result<DeliveryPage> {
    let size = query.page_size.clamp(1, DELIVERIES_PER_PAGE_MAX);
    let needs_look_ups =
        query.status.is_some_and(|status| status != DeliveryStatus::Waiting) && query.record.is_none();
    let rows_max = if needs_look_ups {
        LOOKED_UP_ROWS
    } else if query.is_selective() {
        READ_ROWS_MAX
    } else {
        // Some rows are earlier attempts of an event that is already listed.
        (2 * size).clamp(READ_ROWS_MIN, READ_ROWS_MAX)
    };
    let mut page = DeliveryPage { deliveries: Vec::new(), next: query.start() };
    let mut seen = HashSet::new();
    for _ in 0..READS_MAX {
        let positions = read_positions(store, views, query, (page.next, rows_max)).await?;
        let is_last = positions.len() < rows_max;
        let mut found = read_views(store, views, query, &positions, &mut seen).await?;
        for position in positions {
            if page.deliveries.len() == size {
                return Ok(page);
            }
            page.next = Some(position);
            let view = found.remove(&position);
            page.deliveries.extend(view.filter(|view| is_selected(query, views.webhook, view)));
        }
        if is_last {
            page.next = None;
            return Ok(page);
        }
    }
    Ok(page)
}

fn is_selected(query: &DeliveryPageQuery, webhook: &Webhook, view: &DeliveryView) -> bool {
    let event = query.kind.map(|kind| semantic_name(webhook.resource, kind));
    query.status.is_none_or(|status| status == view.status)
        && (event.is_none() || event == view.event)
        && (query.record.is_none() || query.record == view.correlation_id)
}

/// Whether a delivery can be selected, as far as its event tells. What cannot is not looked up any further.
fn may_be_selected(
    query: &DeliveryPageQuery,
    views: &DeliveryViews<'_>,
    sequence: u64,
    event: Option<&LogEvent>,
) -> bool {
    let entry = event.map(|event| &event.entry);
    query.kind.is_none_or(|kind| entry.is_some_and(|entry| entry.kind == kind))
        && query
            .record
            .as_ref()
            .is_none_or(|record| entry.is_some_and(|entry| entry.correlation_id == *record))
        && (query.status != Some(DeliveryStatus::Waiting) || views.is_pending(sequence, event))
}

/// The next attempts and successes of the history, newest first.
async fn read_positions<S: History + ?Sized>(
    store: &S,
    views: &DeliveryViews<'_>,
    query: &DeliveryPageQuery,
    (before, rows_max): (Option<DeliveryCursor>, usize),
) -> Result<Vec<DeliveryCursor>> {
    let rows = DeliveryQuery {
        webhook: views.webhook.id,
        before: before.map(|cursor| (cursor.at, cursor.sequence)),
        since: query.since,
        only_failed: query.status.is_some_and(|status| status != DeliveryStatus::Delivered),
        rows_max,
    };
    let attempts = store.attempts(&rows).await?;
    let successes = store.successful_deliveries(&rows).await?;
    let mut positions: Vec<DeliveryCursor> = attempts
        .iter()
        .map(AttemptRecord::cursor)
        .chain(successes.iter().map(|success| (success.at, success.sequence)))
        .map(|(at, sequence)| DeliveryCursor { at, sequence })
        .collect();
    positions.sort_unstable_by(|a, b| b.cmp(a));
    positions.truncate(rows_max);
    Ok(positions)
}

/// The deliveries that are listed at one of these positions: those of events not seen before whose newest attempt or
/// success it is.
async fn read_views<S: History + ?Sized>(
    store: &S,
    views: &DeliveryViews<'_>,
    query: &DeliveryPageQuery,
    positions: &[DeliveryCursor],
    seen: &mut HashSet<u64>,
) -> Result<HashMap<DeliveryCursor, DeliveryView>> {
    let webhook = views.webhook;
    // Handshakes and tests belong to no event: their sequence is 0.
    let first: Vec<&DeliveryCursor> = positions
        .iter()
        .filter(|position| position.sequence != 0 && seen.insert(position.sequence))
        .collect();
    let sequences: Vec<u64> = first.iter().map(|position| position.sequence).collect();
    let events = store.find_events(&webhook.owner.tenant, webhook.resource, &sequences).await?;
    let events: HashMap<u64, LogEvent> = events
        .into_iter()
        .filter(|event| webhook.kinds.contains(event.entry.kind))
        .map(|event| (event.entry.sequence, event))
        .collect();
    let is_wanted = |position: &&DeliveryCursor| {
        may_be_selected(query, views, position.sequence, events.get(&position.sequence))
    };
    let wanted: Vec<&DeliveryCursor> = first.into_iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let sequences: Vec<u64> = wanted.iter().map(|position| position.sequence).collect();
    let deliveries = store.find_deliveries(webhook.id, &sequences).await?;
    let listed = wanted
        .into_iter()
        .zip(deliveries)
        .filter(|(position, delivery)| newest(delivery) == Some(**position));
    let view = |(position, delivery): (&DeliveryCursor, DeliveryHistory)| {
        let event = events.get(&position.sequence);
        (*position, views.view(delivery, event))
    };
    Ok(listed.map(view).collect())
}

/// The newest attempt or success, by which lists are ordered.
fn newest(delivery: &DeliveryHistory) -> Option<DeliveryCursor> {
    let attempts = delivery.attempts.iter().map(AttemptRecord::cursor);
    let all = attempts.chain(delivery.delivered.map(|success| (success.at, success.sequence)));
    all.max().map(|(at, sequence)| DeliveryCursor { at, sequence })
}

#[cfg(test)]
mod tests;
