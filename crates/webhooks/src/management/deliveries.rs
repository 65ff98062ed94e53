//! The deliveries of a webhook, newest first. The store keeps attempts and successes apart; here each event stands
//! once, at its newest moment.

use std::collections::HashSet;

use axum::http::header::{HeaderValue, LINK};
use domain::Ticks;
use store::{AttemptRecord, DeliveryHistory, DeliveryQuery, LoadedWebhook};
use web::ErrorResponse;

use super::call::Call;
use super::delivery::{Item, Status, Teller, newest_mark};
use super::refusal::bad;
use super::{Answer, Management, Side, answer, refusal};

pub(super) const PAGE_SIZE_DEFAULT: usize = 25;
pub(super) const PAGE_SIZE_MAX: usize = 100;
/// How many rows one look takes, and how many looks one page may take; past that the page ends early.
const ROWS_MAX: usize = 200;
const LOOKS_MAX: usize = 4;
/// As many as a webhook can have.
const LANES_MAX: usize = 2_000;

/// A place in the history: when, and the event's number.
type Mark = (Ticks, u64);

/// What is asked for.
struct Wanted {
    before: Option<Mark>,
    since: Option<Ticks>,
    status: Option<Status>,
    size: usize,
}

/// Where a page ends, and whether anything may come behind it.
struct Page {
    items: Vec<Item>,
    next: Option<Mark>,
}

impl Management {
    pub(super) async fn deliveries(&self, side: Side, call: &Call) -> Answer {
        let wanted = Wanted::of(call)?;
        let hook = self.owned_hook(side, call).await?;
        let page = self.page(&hook, &wanted).await?;
        let link = page.next.and_then(|next| self.next_link(call, &wanted, next));
        Ok(answer::with_header(answer::json(&page.items), LINK, link))
    }

    async fn page(&self, hook: &LoadedWebhook, wanted: &Wanted) -> Result<Page, ErrorResponse> {
        let lanes = self.ports.store.lanes(hook.webhook.id, LANES_MAX).await;
        let lanes = lanes.map_err(|error| refusal::store(&error))?;
        let teller = Teller::new(hook, &lanes);
        let mut page = Page { items: Vec::new(), next: wanted.before };
        let mut seen = HashSet::new();
        for _ in 0..LOOKS_MAX {
            let marks = self.marks(hook, wanted, page.next).await?;
            let is_last = marks.len() < ROWS_MAX;
            for mark in marks {
                if page.items.len() == wanted.size {
                    return Ok(page);
                }
                page.next = Some(mark);
                // Handshakes and tests are of no event; an event stands where it was last heard of.
                if mark.1 == 0 || !seen.insert(mark.1) {
                    continue;
                }
                let delivery = self.history_of(hook, mark.1).await?;
                if newest_mark(&delivery) != Some(mark) {
                    continue;
                }
                if wanted.status.is_some_and(|status| status != teller.status(&delivery)) {
                    continue;
                }
                let entry = self.entry(hook, mark.1).await?;
                page.items.push(teller.item(delivery, entry.as_ref()));
            }
            if is_last {
                return Ok(Page { next: None, ..page });
            }
        }
        Ok(page)
    }

    async fn history_of(
        &self,
        hook: &LoadedWebhook,
        sequence: u64,
    ) -> Result<DeliveryHistory, ErrorResponse> {
        let found = self.ports.store.delivery_history(hook.webhook.id, sequence).await;
        found.map_err(|error| refusal::store(&error))
    }

    /// The next moments of the history, newest first.
    async fn marks(
        &self,
        hook: &LoadedWebhook,
        wanted: &Wanted,
        before: Option<Mark>,
    ) -> Result<Vec<Mark>, ErrorResponse> {
        let query = DeliveryQuery {
            webhook: hook.webhook.id,
            before,
            since: wanted.since,
            only_failed: wanted.status.is_some_and(|status| status != Status::SuccessfulDelivery),
            rows_max: ROWS_MAX,
        };
        let history = &self.ports.store;
        let tried = history.attempts(&query).await.map_err(|error| refusal::store(&error))?;
        let delivered =
            history.successful_deliveries(&query).await.map_err(|error| refusal::store(&error))?;
        let delivered = delivered.iter().map(|one| (one.at, one.sequence));
        let mut marks: Vec<Mark> = tried.iter().map(AttemptRecord::cursor).chain(delivered).collect();
        marks.sort_unstable_by(|a, b| b.cmp(a));
        marks.truncate(ROWS_MAX);
        Ok(marks)
    }

    fn next_link(&self, call: &Call, wanted: &Wanted, next: Mark) -> Option<HeaderValue> {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        pairs.append_pair("before", &format!("{}-{}", next.0.0, next.1));
        pairs.append_pair("pageSize", &wanted.size.to_string());
        if let Some(status) = wanted.status {
            let word = Status::ALL.into_iter().find(|(one, _)| *one == status).map_or("", |(_, word)| word);
            pairs.append_pair("status", word);
        }
        if let Some(since) = wanted.since {
            pairs.append_pair("since", &since.iso());
        }
        let (base, path) = (&self.settings.base_url, call.uri.path());
        HeaderValue::try_from(format!("<{base}{path}?{}>; rel=\"next\"", pairs.finish())).ok()
    }
}

impl Wanted {
    fn of(call: &Call) -> Result<Self, ErrorResponse> {
        let size = match call.query("pageSize")? {
            None => PAGE_SIZE_DEFAULT,
            Some(text) => {
                text.parse().ok().filter(|size| (1..=PAGE_SIZE_MAX).contains(size)).ok_or_else(|| {
                    bad("pageSize", format!("pageSize must be a whole number from 1 to {PAGE_SIZE_MAX}."))
                })?
            }
        };
        let before = match call.query("before")? {
            None => None,
            Some(text) => Some(mark(&text).ok_or_else(|| {
                bad("before", "before must be the one of a next link; leave it out for the newest.")
            })?),
        };
        let status = match call.query("status")? {
            None => None,
            Some(text) => {
                let known = Status::ALL.into_iter().find(|(_, word)| text.eq_ignore_ascii_case(word));
                let wrong = || bad("status", "status must be delivered, waiting or failed.");
                Some(known.ok_or_else(wrong)?.0)
            }
        };
        Ok(Self { before, since: call.query_time("since")?, status, size })
    }
}

fn mark(text: &str) -> Option<Mark> {
    let (at, sequence) = text.split_once('-')?;
    Some((Ticks(at.parse().ok().filter(|at| *at >= 0)?), sequence.parse().ok()?))
}
