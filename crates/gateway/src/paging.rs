//! Pages: which one is asked for, and the headers that tell where it lies.

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
    pub(crate) fn of(query: &Query<'_>) -> Result<Self, Refusal> {
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

    /// `X-Pagination` and `Link`, for a list of this many at an address, which is given in two parts.
    pub(crate) fn headers(
        self,
        total: u64,
        address: [&str; 2],
        query: &Query<'_>,
    ) -> Vec<(HeaderName, HeaderValue)> {
        let pages = total.div_ceil(self.size);
        let mut told = String::with_capacity(128);
        let counts = [
            ("{\"totalCount\":", total),
            (",\"pageSize\":", self.size),
            (",\"currentPage\":", self.number),
            (",\"totalPages\":", pages),
        ];
        for (name, count) in counts {
            told.push_str(name);
            told.push_str(itoa::Buffer::new().format(count));
        }
        told.push('}');
        let links = self.links(pages, address, &repeated(query));
        let values = [(HeaderName::from_static("x-pagination"), told), (LINK, links)];
        values
            .into_iter()
            .filter_map(|(name, value)| Some((name, HeaderValue::try_from(value).ok()?)))
            .collect()
    }

    fn links(self, pages: u64, address: [&str; 2], repeated: &str) -> String {
        let last = pages.max(1);
        let before = (self.number > 1).then(|| (self.number - 1).min(last));
        let after = (self.number < pages).then(|| self.number + 1);
        let relations = [
            (Some(1), ">; rel=\"first\""),
            (before, ">; rel=\"prev\""),
            (after, ">; rel=\"next\""),
            (Some(last), ">; rel=\"last\""),
        ];
        let bytes: usize = address.iter().map(|part| part.len()).sum();
        let mut links = String::with_capacity(relations.len() * (bytes + repeated.len() + 80));
        let (mut numbers, mut sizes) = (itoa::Buffer::new(), itoa::Buffer::new());
        let size = sizes.format(self.size);
        for (page, relation) in relations {
            let Some(page) = page else { continue };
            let [origin, path] = address;
            let start = if links.is_empty() { "<" } else { ", <" };
            let page = numbers.format(page);
            // Plain pushes: this is written for every page that is read.
            for part in
                [start, origin, path, "?", repeated, "pageNumber=", page, "&pageSize=", size, relation]
            {
                links.push_str(part);
            }
        }
        links
    }
}

/// What links to other pages repeat of the query, up to where the page stands.
fn repeated(query: &Query<'_>) -> String {
    let mut repeated = form_urlencoded::Serializer::new(String::new());
    repeated.extend_pairs(query.only(&["filter", "OrderBy"]));
    let mut repeated = repeated.finish();
    if !repeated.is_empty() {
        repeated.push('&');
    }
    repeated
}
