//! The headers of answers.

use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ComponentsBuilder, ObjectBuilder, Ref};

use super::examples::REQUEST_ID;
use super::records::sequence;
use super::schema_types::{integer, object, text};

/// On every answer of a read that went well, also on 304.
pub(super) const OF_READS: [&str; 5] = ["Cache-Control", "ETag", "Vary", "X-Request-Id", "RateLimit"];
/// On pages, besides.
pub(super) const OF_PAGES: [&str; 3] = ["Link", "X-Pagination", "X-Sequence-Version"];

/// Where there is a limit, every answer that passed the gate tells how much of it is left.
const RATE: [&str; 3] = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

pub(super) fn all(components: ComponentsBuilder) -> ComponentsBuilder {
    let link = "<https://api.example.com/accounting/api/customers?pageNumber=2&pageSize=25>; rel=\"next\"";
    let seconds = |description, example| integer(description, 0, i64::from(u32::MAX), example);
    let always = [
        (
            "Cache-Control",
            text("May be kept, and must be asked about before it is used.", "private, no-cache"),
        ),
        (
            "ETag",
            text("The validator, for `If-None-Match`; it moves with what was read.", "W/\"8f3a-1192-1-25\""),
        ),
        ("Vary", text("What else the answer follows from.", "authorization, context, accept-encoding")),
        (
            "X-Request-Id",
            text("The answer's id; a caller's own is kept where it is well-formed.", REQUEST_ID),
        ),
        ("Link", text("Other pages: `first`, `prev`, `next`, `last`; of a feed always `next`.", link)),
        ("X-Pagination", pagination()),
        ("X-Sequence-Version", sequence("The log's position of this answer: follow the feed from here.")),
        ("Retry-After", seconds("When to try again, in seconds.", 2)),
    ];
    let sometimes = [
        ("RateLimit-Limit", seconds("Requests that are allowed in a minute; where there is a limit.", 300)),
        ("RateLimit-Remaining", seconds("Requests that are left now.", 299)),
        ("RateLimit-Reset", seconds("Seconds until the limit is whole again.", 1)),
        (
            "QuotaRetryAfter",
            seconds("When there are new calls, in seconds; where the day's are used up.", 27_000),
        ),
        (
            "WWW-Authenticate",
            text(
                "What is wrong with the token; absent where it is the key or the quota.",
                "Bearer error=\"invalid_token\"",
            ),
        ),
    ];
    let always = always.into_iter().map(|(name, schema)| (name, header(schema, true)));
    let sometimes = sometimes.into_iter().map(|(name, schema)| (name, header(schema, false)));
    always.chain(sometimes).fold(components, |components, (name, header)| components.header(name, header))
}

/// Adds headers by their names; `RateLimit` stands for all three, `QuotaRetryAfter` for one that is not always there.
pub(super) fn put(response: ResponseBuilder, names: &[&'static str]) -> ResponseBuilder {
    let spelled = names.iter().flat_map(|name| match *name {
        "RateLimit" => RATE.map(|name| (name, name)).to_vec(),
        "QuotaRetryAfter" => vec![("Retry-After", "QuotaRetryAfter")],
        one => vec![(one, one)],
    });
    spelled.fold(response, |response, (name, component)| {
        response.header_ref(name, Ref::new(format!("#/components/headers/{component}")))
    })
}

/// What its schema says of it is said of the header.
fn header(schema: ObjectBuilder, is_required: bool) -> Header {
    let mut schema = schema.build();
    let header = HeaderBuilder::new().description(schema.description.take());
    // The library has no word for it, and writes out what it does not know.
    let required = is_required.then(|| Extensions::from_iter([("required", true)]));
    header.schema(Some(schema)).extensions(required).build()
}

fn pagination() -> ObjectBuilder {
    let count = |description, example| integer(description, 0, i64::MAX, example);
    let inside = object(
        "Where the page lies.",
        [
            ("totalCount", count("How many records there are.", 60)),
            ("pageSize", count("How many a page holds.", 25)),
            ("currentPage", count("Which page this is.", 1)),
            ("totalPages", count("How many pages there are.", 3)),
        ],
    );
    let example = r#"{"totalCount":60,"pageSize":25,"currentPage":1,"totalPages":3}"#;
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("Where the page lies, as JSON."))
        .content_media_type("application/json")
        .content_schema(Some(inside))
        .examples([example])
}
