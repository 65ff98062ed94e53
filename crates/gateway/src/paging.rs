//! Pages: which one is asked for, and the headers that tell where it lies.

use axum::http::header::{HeaderName, HeaderValue, LINK};
use bytes::Bytes;
use web::ErrorResponse;

use crate::query::Query;

pub(crate) const PAGE_SIZE_DEFAULT: u64 = 25;
pub(crate) const PAGE_SIZE_MAX: u64 = 1000;
const X_PAGINATION: HeaderName = HeaderName::from_static("x-pagination");
/// As long as the counts get.
const COUNTS_BYTES: usize = 144;
const LINKS: usize = 4;
/// What a link has besides its address.
const LINK_BYTES: usize = 80;
/// Offsets stay within what the store counts in.
pub(crate) const PAGE_NUMBER_MAX: u64 = 1_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paging {
    pub(crate) number: u64,
    pub(crate) size: u64,
}

impl Paging {
    pub(crate) fn of(query: &Query<'_>) -> Result<Self, ErrorResponse> {
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

    /// `X-Pagination` and `Link`, for a list of this many at an address, which is given in two parts. Written for every
    /// page that is read: into one piece of memory, without formatting.
    pub(crate) fn headers(
        self,
        total: u64,
        address: [&str; 2],
        query: &Query<'_>,
    ) -> impl Iterator<Item = (HeaderName, HeaderValue)> + use<> {
        let (pages, repeated) = (total.div_ceil(self.size), repeated(query));
        let address_bytes = address[0].len() + address[1].len() + repeated.len();
        let mut text = String::with_capacity(COUNTS_BYTES + LINKS * (address_bytes + LINK_BYTES));
        self.write_counts(total, pages, &mut text);
        let counts_bytes = text.len();
        self.write_links(pages, address, &repeated, &mut text);
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

    fn write_links(self, pages: u64, [origin, path]: [&str; 2], repeated: &str, text: &mut String) {
        let last = pages.max(1);
        let before = (self.number > 1).then(|| (self.number - 1).min(last));
        let after = (self.number < pages).then(|| self.number + 1);
        let relations = [
            (Some(1), ">; rel=\"first\""),
            (before, ">; rel=\"prev\""),
            (after, ">; rel=\"next\""),
            (Some(last), ">; rel=\"last\""),
        ];
        let start = text.len();
        for part in ["<", origin, path, "?", repeated, "pageNumber="] {
            text.push_str(part);
        }
        let same = start..text.len();
        let mut sizes = itoa::Buffer::new();
        let size = sizes.format(self.size);
        for (page, relation) in relations {
            let Some(page) = page else { continue };
            if text.len() > same.end {
                text.push_str(", ");
                text.extend_from_within(same.clone());
            }
            for part in [itoa::Buffer::new().format(page), "&pageSize=", size, relation] {
                text.push_str(part);
            }
        }
    }
}

const REPEATED: [&str; 2] = ["filter", "OrderBy"];

/// What links to other pages repeat of the query, up to where the page stands.
fn repeated(query: &Query<'_>) -> String {
    if query.only(&REPEATED).next().is_none() {
        return String::new();
    }
    let mut repeated = form_urlencoded::Serializer::new(String::new());
    repeated.extend_pairs(query.only(&REPEATED));
    repeated.finish() + "&"
}
