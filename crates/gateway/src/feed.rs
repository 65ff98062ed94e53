//! The pull feed: the log itself, for who wants to ask instead of being told.

use std::sync::Arc;

use axum::http::header::{HeaderValue, LINK};
use bytes::Bytes;
use domain::Resource;
use domain::catalogue::Owner;
use domain::event::semantic_name;
use serde::Serialize;
use store::{LogEntry, LogPage, LogQuery};

use crate::asked::Asked;
use crate::context::Context;
use crate::query::Query;
use crate::reads::Answer;
use crate::ready::Ready;
use crate::{Gateway, refusal};

pub(crate) const PAGE_SIZE_DEFAULT: u64 = 100;
pub(crate) const PAGE_SIZE_MAX: u64 = 1000;

/// One change, as a reader gets it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change<'a> {
    sequence_version: String,
    event: String,
    correlation_id: &'a str,
    version: String,
    user: &'a str,
    process_id: String,
}

impl Gateway {
    /// The feed of all invoicing entities of the tenant.
    pub(crate) async fn invoicing_feed(&self, asked: &Asked) -> Answer {
        let entities: Vec<Resource> = Resource::invoicing().collect();
        self.feed(&entities, asked).await
    }

    /// The feed of some resources, of one company where they belong to companies.
    pub(crate) async fn feed(&self, resources: &[Resource], asked: &Asked) -> Answer {
        let query = Query::of(&asked.uri);
        let after = query.number("after", 0, i64::MAX as u64)?.unwrap_or(0);
        let size = query.number("pageSize", 1, PAGE_SIZE_MAX)?.unwrap_or(PAGE_SIZE_DEFAULT);
        let context = Context::of(&asked.headers)?;
        let is_of_company = resources.iter().any(|resource| resource.owner() == Owner::Company);
        let company = match context {
            context if is_of_company => Some(context.company()?),
            Context::Company(id) => Some(id),
            Context::Absent | Context::None => None,
        };
        if let Some(company) = &company {
            self.check_company(asked, company).await?;
        }
        let events = resources
            .iter()
            .flat_map(|resource| resource.event_kinds().into_iter().map(|kind| (*resource, kind)))
            .collect();
        let wanted = LogQuery {
            tenant: asked.caller.tenant.clone(),
            events: Some(events),
            company,
            after,
            rows_max: usize::try_from(size).unwrap_or(usize::MAX),
        };
        match self.store.read_log(&wanted).await.map_err(|error| refusal::store(&error))? {
            LogPage::BelowFloor { floor } => Err(refusal::below_floor(floor)),
            LogPage::Entries(entries) => Ok(self.feed_page(asked, after, size, &entries).answer(asked).await),
        }
    }

    fn feed_page(&self, asked: &Asked, after: u64, size: u64, entries: &[LogEntry]) -> Arc<Ready> {
        let last = entries.last().map_or(after, |entry| entry.sequence);
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        pairs.append_pair("after", &last.to_string()).append_pair("pageSize", &size.to_string());
        let path = asked.uri.path();
        let next = format!("<{}{path}?{}>; rel=\"next\"", self.settings.base_url, pairs.finish());
        let changes: Vec<Change<'_>> = entries.iter().map(Change::of).collect();
        let body = serde_json::to_string(&changes).unwrap_or_default();
        // What lies between two numbers never changes, but more may follow the last.
        let rows = entries.len() as u64;
        let next = HeaderValue::from_str(&next).map(|next| (LINK, next));
        Arc::new(Ready::new(asked, last, &[after, rows], Bytes::from(body)).with(next))
    }
}

impl<'a> Change<'a> {
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
