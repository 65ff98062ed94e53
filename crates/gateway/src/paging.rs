//! Pages: which one is asked for, and the headers that tell where it lies.

use std::fmt::Write as _;

use axum::http::header::{HeaderName, HeaderValue, LINK};
use web::Refusal;

use crate::query::Query;

pub(crate) const PAGE_SIZE_DEFAULT: u64 = 25;
pub(crate) const PAGE_SIZE_MAX: u64 = 1000;
/// Offsets stay within what the store counts in.
pub(crate) const PAGE_NUMBER_MAX: u64 = 1_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paging {
    pub(crate) number: u64,
    pub(crate) size: u64,
}

impl Paging {
    pub(crate) fn of(query: &Query) -> Result<Self, Refusal> {
        Ok(Self {
            number: query.number("pageNumber", 1, PAGE_NUMBER_MAX)?.unwrap_or(1),
            size: query.number("pageSize", 1, PAGE_SIZE_MAX)?.unwrap_or(PAGE_SIZE_DEFAULT),
        })
    }

    pub(crate) fn offset(self) -> u64 {
        (self.number - 1) * self.size
    }

    pub(crate) fn rows_max(self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }

    /// `X-Pagination` and `Link`, for a list of this many.
    pub(crate) fn headers(self, total: u64, path: &str, query: &Query) -> Vec<(HeaderName, HeaderValue)> {
        let pages = total.div_ceil(self.size);
        let told = format!(
            r#"{{"totalCount":{total},"pageSize":{},"currentPage":{},"totalPages":{pages}}}"#,
            self.size, self.number
        );
        let mut repeated = form_urlencoded::Serializer::new(String::new());
        repeated.extend_pairs(query.only(&["filter", "OrderBy"]));
        let mut repeated = repeated.finish();
        if !repeated.is_empty() {
            repeated.push('&');
        }
        let last = pages.max(1);
        let mut links = String::with_capacity(4 * (path.len() + repeated.len() + 64));
        let mut link = |page: u64, relation: &str| {
            let comma = if links.is_empty() { "" } else { ", " };
            let size = self.size;
            // Writing to memory does not fail.
            let _ = write!(
                links,
                "{comma}<{path}?{repeated}pageNumber={page}&pageSize={size}>; rel=\"{relation}\""
            );
        };
        link(1, "first");
        if self.number > 1 {
            link((self.number - 1).min(last), "prev");
        }
        if self.number < pages {
            link(self.number + 1, "next");
        }
        link(last, "last");
        let values = [(HeaderName::from_static("x-pagination"), told), (LINK, links)];
        values
            .into_iter()
            .filter_map(|(name, value)| Some((name, HeaderValue::try_from(value).ok()?)))
            .collect()
    }
}
