//! The change feed: pages of the log, for clients that pull changes instead of receiving webhooks.

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{HeaderValue, LINK};
use bytes::Bytes;
use domain::Resource;
use domain::catalogue::Owner;
use domain::event::semantic_name;
use serde::Serialize;
use store::{LogEntry, LogPage, LogQuery};
use web::ErrorResponse;

use super::ReadRequest;
use crate::cached_response::CachedResponse;
use crate::context::Context;
use crate::query::Query;
use crate::{Gateway, errors};

pub(crate) const PAGE_SIZE_DEFAULT: u64 = 100;
pub(crate) const PAGE_SIZE_MAX: u64 = 1000;

/// One change, as the feed renders it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeView<'a> {
    sequence_version: String,
    event: String,
    correlation_id: &'a str,
    version: String,
    user: &'a str,
    process_id: String,
}

impl Gateway {
    /// Reads the feed of these resources: of one company if they belong to companies.
    pub(super) async fn read_feed(
        &self,
        resources: &[Resource],
        request: &ReadRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let query = Query::parse(&request.uri);
        let after = query.number("after", 0, i64::MAX as u64)?.unwrap_or(0);
        let size = query.number_if_given("pageSize", 1, PAGE_SIZE_MAX)?.unwrap_or(PAGE_SIZE_DEFAULT);
        let context = Context::from_headers(&request.headers)?;
        let is_of_company = resources.iter().any(|resource| resource.owner() == Owner::Company);
        let company = match context {
            context if is_of_company => Some(context.company()?),
            Context::Company(id) => Some(id),
            Context::Absent | Context::None => None,
        };
        if let Some(company) = &company {
            self.check_company(request, company).await?;
        }
        let events = resources
            .iter()
            .flat_map(|resource| resource.event_kinds().into_iter().map(|kind| (*resource, kind)))
            .collect();
        let query = LogQuery {
            tenant: request.caller.tenant.clone(),
            events: Some(events),
            company,
            after,
            rows_max: usize::try_from(size).unwrap_or(usize::MAX),
        };
        match self.store.read_log(&query).await.map_err(|error| errors::store(&error))? {
            LogPage::BelowFloor { floor } => Err(errors::below_floor(floor)),
            LogPage::Entries(entries) => {
                Ok(self.feed_response(request, after, size, &entries).into_response(request).await)
            }
        }
    }

    fn feed_response(
        &self,
        request: &ReadRequest,
        after: u64,
        size: u64,
        entries: &[LogEntry],
    ) -> CachedResponse {
        let last = entries.last().map_or(after, |entry| entry.sequence);
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        pairs.append_pair("after", &last.to_string()).append_pair("pageSize", &size.to_string());
        let path = request.uri.path();
        let next = format!("<{}{path}?{}>; rel=\"next\"", self.settings.base_url, pairs.finish());
        let changes: Vec<ChangeView<'_>> = entries.iter().map(ChangeView::of).collect();
        let body = serde_json::to_string(&changes).unwrap_or_default();
        // Entries between two sequence numbers never change, but new ones may follow the last: the ETag needs the count.
        let rows = entries.len() as u64;
        let next = HeaderValue::from_str(&next).map(|next| (LINK, next));
        CachedResponse::new(request, last, &[after, rows], Bytes::from(body)).with_headers(next)
    }
}

impl<'a> ChangeView<'a> {
    fn of(entry: &'a LogEntry) -> Self {
        Self {
            sequence_version: entry.sequence.to_string(),
            event: semantic_name(entry.resource, entry.kind),
            correlation_id: &entry.correlation_id,
            version: entry.version.iso(),
            user: &entry.user,
            process_id: entry.process.to_string(),
        }
    }
}
