//! Lists of records: page by page, as a stream, or as a snapshot from which the change feed continues without a gap.

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;

use domain::Resource;
use futures_util::{StreamExt as _, stream};
use http::header::{ETAG, HeaderMap, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::BoxStream;
use super::client::{Api, Call};
use super::filter::{Filter, OrderBy};
use super::records::PayrollCompany;
use crate::Error;
use crate::http_client::parse_body;
use crate::url::encode_query;

const PAGE_SIZE_MAX: u32 = 1000;
const PAGE_SIZE_DEFAULT: u32 = 100;
const SNAPSHOT_TRIES_MAX: u32 = 5;
const SNAPSHOT_RECORDS_MAX: usize = 1_000_000;

/// A list of records. It is lazy: requests are sent when pages are read.
pub struct List<T> {
    api: Api,
    resource: Resource,
    company: Option<String>,
    page_size: u32,
    parameters: Vec<(&'static str, String)>,
    item: PhantomData<fn() -> T>,
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        Self {
            api: self.api.clone(),
            resource: self.resource,
            company: self.company.clone(),
            page_size: self.page_size,
            parameters: self.parameters.clone(),
            item: PhantomData,
        }
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List")
            .field("resource", &self.resource)
            .field("company", &self.company)
            .finish_non_exhaustive()
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The records of this page.
    pub items: Vec<T>,
    /// Counted from 1.
    pub number: u32,
    /// The number of pages of the whole list.
    pub pages_total: u32,
    /// The number of records of the whole list.
    pub records_total: u64,
    /// The position of the tenant's log when the page was read: follow the feed from there.
    pub position: Option<u64>,
    /// The etag, for [`List::page_if_changed`].
    pub etag: Option<String>,
}

/// All records of a list, and the log position from which the feed has the later changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot<T> {
    /// All records of the list.
    pub records: Vec<T>,
    /// The log position to follow the feed from.
    pub position: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pagination {
    total_count: u64,
    total_pages: u32,
}

impl<T: DeserializeOwned + Send + 'static> List<T> {
    pub(super) fn new(api: &Api, resource: Resource, company: Option<&str>) -> Self {
        Self {
            api: api.clone(),
            resource,
            company: company.map(ToOwned::to_owned),
            page_size: PAGE_SIZE_DEFAULT,
            parameters: Vec::new(),
            item: PhantomData,
        }
    }

    /// The number of records per page: 1 to 1,000. The default is 100.
    pub fn page_size(mut self, records: u32) -> Self {
        self.page_size = records;
        self
    }

    /// One page, counted from 1. A page after the last is empty; an empty page before that is an error.
    pub async fn page(&self, number: u32) -> Result<Page<T>, Error> {
        let page = self.read_page(number, None).await?;
        page.ok_or_else(|| Error::InvalidResponse {
            call: self.resource.path(),
            reason: "304 to an unconditional request".into(),
        })
    }

    /// One page, or `None` if it still has this etag.
    pub async fn page_if_changed(&self, number: u32, etag: &str) -> Result<Option<Page<T>>, Error> {
        let etag = HeaderValue::from_str(etag)
            .map_err(|error| Error::invalid_input("the etag", error.to_string()))?;
        self.read_page(number, Some(etag)).await
    }

    /// All records as a stream; pages are read as needed.
    ///
    /// The order is that of creation, so records created meanwhile come at the end. If records are deleted meanwhile,
    /// the stream may skip one; [`List::snapshot`] does not.
    pub fn stream(&self) -> BoxStream<T> {
        struct StreamState<T> {
            list: List<T>,
            next: Option<u32>,
            items: VecDeque<T>,
        }
        let state = StreamState { list: self.clone(), next: Some(1), items: VecDeque::new() };
        stream::try_unfold(state, |mut state| async move {
            loop {
                if let Some(item) = state.items.pop_front() {
                    return Ok(Some((item, state)));
                }
                let Some(number) = state.next else { return Ok(None) };
                let page = state.list.page(number).await?;
                state.next = (number < page.pages_total).then_some(number + 1);
                state.items = page.items.into();
            }
        })
        .boxed()
    }

    /// All records at once, with the position from which the feed continues without a gap. If records were deleted
    /// meanwhile, the list is read again.
    pub async fn snapshot(&self) -> Result<Snapshot<T>, Error> {
        for _ in 0..SNAPSHOT_TRIES_MAX {
            let read = self.read_all().await?;
            if !self.resource.can_be_deleted() || !self.was_deleted_since(read.position).await? {
                return Ok(read);
            }
        }
        Err(Error::ConcurrentDeletions { tries: SNAPSHOT_TRIES_MAX })
    }

    async fn read_all(&self) -> Result<Snapshot<T>, Error> {
        let first = self.page(1).await?;
        let unreadable =
            |reason: &str| Error::InvalidResponse { call: self.resource.path(), reason: reason.into() };
        // Later pages may contain newer changes, which the feed then repeats. That is harmless.
        let position = first.position.ok_or_else(|| unreadable("there is no X-Sequence-Version"))?;
        let (mut records, mut pages) = (first.items, first.pages_total);
        let mut number = 1;
        while number < pages {
            number += 1;
            let page = self.page(number).await?;
            // The list may have become shorter or longer since the first page.
            pages = page.pages_total;
            records.extend(page.items);
            if records.len() > SNAPSHOT_RECORDS_MAX {
                return Err(Error::invalid_input(
                    "a snapshot",
                    "there are more than a million records; use the stream",
                ));
            }
        }
        Ok(Snapshot { records, position })
    }

    async fn was_deleted_since(&self, position: u64) -> Result<bool, Error> {
        let mut feed = self.api.changes(self.resource, self.company.as_deref(), position);
        loop {
            let changes = feed.next_page().await?;
            if changes.is_empty() {
                return Ok(false);
            }
            if changes.iter().any(|change| change.kind() == Some(crate::EventKind::Deleted)) {
                return Ok(true);
            }
        }
    }

    async fn read_page(&self, number: u32, etag: Option<HeaderValue>) -> Result<Option<Page<T>>, Error> {
        if !(1..=PAGE_SIZE_MAX).contains(&self.page_size) {
            return Err(Error::invalid_input(
                "the page size",
                format!("it must be from 1 to {PAGE_SIZE_MAX}"),
            ));
        }
        let (number_text, size) = (number.to_string(), self.page_size.to_string());
        let parameters = self.parameters.iter().map(|(name, value)| (*name, value.as_str()));
        let pairs = [("pageNumber", number_text.as_str()), ("pageSize", &size)];
        let path = self.resource.path();
        let call = Call::get(format!("{path}?{}", encode_query(pairs.into_iter().chain(parameters))));
        let response = self.api.send(Call { etag, ..call.context(self.company.as_deref()) }).await?;
        if response.status() == http::StatusCode::NOT_MODIFIED {
            return Ok(None);
        }
        let call = format!("GET {path}");
        let invalid = |reason: String| Error::InvalidResponse { call: call.clone(), reason };
        let items: Vec<T> = parse_body(&call, &response)?;
        let headers = response.headers();
        let pagination: Pagination = text(headers, "x-pagination")
            .and_then(|text| serde_json::from_str(text).ok())
            .ok_or_else(|| invalid("X-Pagination is missing".into()))?;
        let pages_total = pagination.total_pages;
        // It would look like the end of the list, and an application that mirrors the list would delete the rest.
        if items.is_empty() && number <= pages_total {
            return Err(invalid(format!("page {number} of {pages_total} is empty")));
        }
        Ok(Some(Page {
            items,
            number,
            pages_total,
            records_total: pagination.total_count,
            position: text(headers, "x-sequence-version").and_then(|text| text.parse().ok()),
            etag: text(headers, ETAG.as_str()).map(ToOwned::to_owned),
        }))
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

impl List<PayrollCompany> {
    /// Only companies that match the filter; see [`filter`](super::filter).
    pub fn filter(mut self, filter: &Filter) -> Self {
        self.parameters.retain(|(name, _)| *name != "filter");
        self.parameters.push(("filter", filter.to_string()));
        self
    }

    /// Orders the list.
    pub fn order_by(mut self, order: &OrderBy) -> Self {
        self.parameters.retain(|(name, _)| *name != "OrderBy");
        self.parameters.push(("OrderBy", order.to_string()));
        self
    }
}
