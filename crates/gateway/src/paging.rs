//! Paging: the requested page, and the headers `X-Pagination` and `Link`.

use axum::http::header::{HeaderName, HeaderValue, LINK};
use bytes::Bytes;
use web::ErrorResponse;

use crate::query::Query;

pub(crate) const PAGE_SIZE_DEFAULT: u64 = 25;
pub(crate) const PAGE_SIZE_MAX: u64 = 1000;
const X_PAGINATION: HeaderName = HeaderName::from_static("x-pagination");
/// The maximum length of `X-Pagination`.
const COUNTS_BYTES: usize = 144;
const LINKS: usize = 4;
/// The maximum length of a link without its address.
const LINK_BYTES: usize = 80;
/// Keeps offsets within a signed 64-bit integer.
pub(crate) const PAGE_NUMBER_MAX: u64 = 1_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paging {
    pub(crate) number: u64,
    pub(crate) size: u64,
}

impl Paging {
    pub(crate) fn parse(query: &Query<'_>) -> Result<Self, ErrorResponse> {
        Ok(Self {
            number: query.number_if_given("pageNumber", 1, PAGE_NUMBER_MAX)?.unwrap_or(1),
            size: query.number_if_given("pageSize", 1, PAGE_SIZE_MAX)?.unwrap_or(PAGE_SIZE_DEFAULT),
        })
    }

    pub(crate) fn offset(self) -> u64 {
        (self.number - 1) * self.size
    }

    pub(crate) fn rows_max(self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }

    /// `X-Pagination` and `Link` of a list with `total` records. `address` is the base URL and the path. This runs for
    /// every page that is read: it writes both into one allocation, without formatting.
    pub(crate) fn headers(
        self,
        total: u64,
        address: [&str; 2],
        query: &Query<'_>,
    ) -> impl Iterator<Item = (HeaderName, HeaderValue)> + use<> {
        let (pages, parameters) = (total.div_ceil(self.size), list_parameters(query));
        let address_bytes = address[0].len() + address[1].len() + parameters.len();
        let mut text = String::with_capacity(COUNTS_BYTES + LINKS * (address_bytes + LINK_BYTES));
        self.write_counts(total, pages, &mut text);
        let counts_bytes = text.len();
        self.write_links(pages, address, &parameters, &mut text);
        let mut counts = Bytes::from(text);
        let links = counts.split_off(counts_bytes);
        let values = [(X_PAGINATION, counts), (LINK, links)];
        values
            .into_iter()
            .filter_map(|(name, value)| Some((name, HeaderValue::from_maybe_shared(value).ok()?)))
    }

    fn write_counts(self, total: u64, pages: u64, text: &mut String) {
        let counts = [
            ("{\"totalCount\":", total),
            (",\"pageSize\":", self.size),
            (",\"currentPage\":", self.number),
            (",\"totalPages\":", pages),
        ];
        for (name, count) in counts {
            text.push_str(name);
            text.push_str(itoa::Buffer::new().format(count));
        }
        text.push('}');
    }

    fn write_links(self, pages: u64, [base_url, path]: [&str; 2], parameters: &str, text: &mut String) {
        let last = pages.max(1);
        let previous = (self.number > 1).then(|| (self.number - 1).min(last));
        let next = (self.number < pages).then(|| self.number + 1);
        let relations = [
            (Some(1), ">; rel=\"first\""),
            (previous, ">; rel=\"prev\""),
            (next, ">; rel=\"next\""),
            (Some(last), ">; rel=\"last\""),
        ];
        let start = text.len();
        for part in ["<", base_url, path, "?", parameters, "pageNumber="] {
            text.push_str(part);
        }
        let common = start..text.len();
        let mut sizes = itoa::Buffer::new();
        let size = sizes.format(self.size);
        for (page, relation) in relations {
            let Some(page) = page else { continue };
            if text.len() > common.end {
                text.push_str(", ");
                text.extend_from_within(common.clone());
            }
            for part in [itoa::Buffer::new().format(page), "&pageSize=", size, relation] {
                text.push_str(part);
            }
        }
    }
}

const LIST_PARAMETERS: [&str; 2] = ["filter", "OrderBy"];

/// The parameters that select and order the list, for the links to its other pages: encoded, with a trailing `&`.
fn list_parameters(query: &Query<'_>) -> String {
    if query.select(&LIST_PARAMETERS).next().is_none() {
        return String::new();
    }
    let mut parameters = form_urlencoded::Serializer::new(String::new());
    parameters.extend_pairs(query.select(&LIST_PARAMETERS));
    parameters.finish() + "&"
}
