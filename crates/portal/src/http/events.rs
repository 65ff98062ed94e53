//! The event catalogue, and one event.

use crate::catalogue::{Event, catalogue};
use crate::context::Context;
use crate::error::PortalError;
use crate::pages::event::EventPage;
use crate::pages::events::EventsPage;
use crate::response::Response;

/// Longer searches find nothing.
const SEARCH_CHARS_MAX: usize = 100;

#[allow(clippy::unused_async, reason = "every page is asynchronous")]
pub(crate) async fn list(context: &Context) -> Result<Response, PortalError> {
    let search = context.query.get("q").map(str::trim).unwrap_or_default();
    let area = context.query.get("area").unwrap_or_default();
    let is_wanted = |event: &&Event| {
        (area.is_empty() || event.area == area)
            && search.chars().count() <= SEARCH_CHARS_MAX
            && event.matches(search)
    };
    let events = catalogue().all().filter(is_wanted).collect();
    Ok(context.show(&EventsPage { search: search.to_owned(), area: area.to_owned(), events }))
}

#[allow(clippy::unused_async, reason = "every page is asynchronous")]
pub(crate) async fn get(context: &Context) -> Result<Response, PortalError> {
    let event = catalogue().find(context.segment("event")).ok_or(PortalError::NotFound)?;
    Ok(context.show(&EventPage { event }))
}
