//! The response headers.

use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ComponentsBuilder, ObjectBuilder, Ref};

use super::examples::REQUEST_ID;
use super::records::sequence;
use super::schema_types::{integer, text};

/// On every successful response, also on 304.
pub(super) const OF_READS: [&str; 5] = ["Cache-Control", "ETag", "Vary", "X-Request-Id", "RateLimit"];
/// On pages besides those.
pub(super) const OF_PAGES: [&str; 3] = ["Link", "X-Pagination", "X-Sequence-Version"];

/// If there is a rate limit, every response behind the gate carries its state.
const RATE: [&str; 3] = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

pub(super) fn all(components: ComponentsBuilder) -> ComponentsBuilder {
    let link = "<https://api.example.com/accounting/api/customers?pageNumber=2&pageSize=25>; rel=\"next\"";
    let seconds = |description, example| integer(description, 0, i64::from(u32::MAX), example);
    let always = [
        (
            "Cache-Control",
            text("The response may be cached and must be revalidated before each use.", "private, no-cache"),
        ),
        (
            "ETag",
            text("The validator for `If-None-Match`; it changes with the data.", "W/\"8f3a-1192-1-25\""),
        ),
        (
            "Vary",
            text(
                "The request headers that the response depends on.",
                "authorization, context, accept-encoding",
            ),
        ),
        (
            "X-Request-Id",
            text(
                "The id of the request: the client's own if it is well-formed, else a generated one.",
                REQUEST_ID,
            ),
        ),
        (
            "Link",
            text("Links to other pages: `first`, `prev`, `next`, `last`; in a feed always `next`.", link),
        ),
        ("X-Pagination", pagination()),
        ("X-Sequence-Version", sequence("The log position of this response: follow the feed from here.")),
        ("Retry-After", seconds("Seconds to wait before the next attempt.", 2)),
    ];
    let sometimes = [
        ("RateLimit-Limit", seconds("Requests allowed per minute, if there is a limit.", 300)),
        ("RateLimit-Remaining", seconds("Requests left now.", 299)),
        ("RateLimit-Reset", seconds("Seconds until the limit is fully available again.", 1)),
        ("QuotaRetryAfter", seconds("Seconds until the quota is replenished, if it is used up.", 27_000)),
        (
            "WWW-Authenticate",
            text(
                "What is wrong with the token; absent if the key or the quota caused the error.",
                "Bearer error=\"invalid_token\"",
            ),
        ),
    ];
    let always = always.into_iter().map(|(name, schema)| (name, header(schema, true)));
    let sometimes = sometimes.into_iter().map(|(name, schema)| (name, header(schema, false)));
    always.chain(sometimes).fold(components, |components, (name, header)| components.header(name, header))
}

/// Adds headers by their names. `RateLimit` stands for all three of its headers, `QuotaRetryAfter` for a `Retry-After`
/// that is optional.
pub(super) fn put(response: ResponseBuilder, names: &[&'static str]) -> ResponseBuilder {
    let expanded = names.iter().flat_map(|name| match *name {
        "RateLimit" => RATE.map(|name| (name, name)).to_vec(),
        "QuotaRetryAfter" => vec![("Retry-After", "QuotaRetryAfter")],
        name => vec![(name, name)],
    });
    expanded.fold(response, |response, (name, component)| {
        response.header_ref(name, Ref::new(format!("#/components/headers/{component}")))
    })
}

/// Moves the description from the schema to the header.
fn header(schema: ObjectBuilder, is_required: bool) -> Header {
    let mut schema = schema.build();
    let header = HeaderBuilder::new().description(schema.description.take());
    // utoipa has no field `required` here; extensions are written as they are.
    let required = is_required.then(|| Extensions::from_iter([("required", true)]));
    header.schema(Some(schema)).extensions(required).build()
}

/// A text: generators take a JSON document inside a header for a file, or drop the header.
fn pagination() -> ObjectBuilder {
    let description = "The page's position in the list, as JSON: `totalCount` (the number of records), `pageSize` (of records per \
                       page), `currentPage` and `totalPages`.";
    let example = r#"{"totalCount":60,"pageSize":25,"currentPage":1,"totalPages":3}"#;
    ObjectBuilder::new().schema_type(Type::String).description(Some(description)).examples([example])
}
