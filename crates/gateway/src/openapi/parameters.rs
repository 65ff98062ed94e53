//! The parameters of the read APIs.

use domain::Resource;
use domain::catalogue::Owner;
use serde_json::json;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{ComponentsBuilder, ObjectBuilder, Ref, Required};

use super::examples::{self, COMPANY};
use super::records::correlation_id;
use super::schema_types::{formatted, integer, text};
use crate::endpoint::Endpoint;
use crate::reads::feed;
use crate::{context, paging};

const CONTEXT: &str = "The company of the request, as the text of a JSON object: `clientId` is the company's \
    `correlationId`.";
const FILTER: &str = "Selects companies, in a subset of OData: fields `companyCode`, `companyName`, \
    `identifierNumber`, `lastUpdate`; `eq ne gt ge lt le`, `and or not`, parentheses, `contains(field,'text')`, \
    `startswith`, `endswith`. Numbers bare, text in single quotes (`''` stands for one), dates bare or quoted, \
    as in `2026-01-31` or `2026-01-31T08:30:00Z`. At most 4,000 characters.";
const ORDER_BY: &str = "A comma-separated list of fields, each optionally followed by `asc` or `desc`. Ties are sorted \
    by `companyCode`.";

/// The shared parameters, by the names of their components.
pub(super) fn shared(components: ComponentsBuilder) -> ComponentsBuilder {
    let all = [
        ("companyId", path_id(Resource::companies())),
        ("recordId", path_id(Resource::accounts())),
        ("context", context()),
        ("pageNumber", page_number()),
        ("pageSize", page_size(paging::PAGE_SIZE_DEFAULT, paging::PAGE_SIZE_MAX)),
        ("feedSize", page_size(feed::PAGE_SIZE_DEFAULT, feed::PAGE_SIZE_MAX)),
        ("after", after()),
        ("filter", filter()),
        ("orderBy", order_by()),
        ("ifNoneMatch", if_none_match()),
    ];
    all.into_iter().fold(components, |components, (name, parameter)| components.parameter(name, parameter))
}

/// References to the parameters of an endpoint.
pub(super) fn of(endpoint: Endpoint) -> impl Iterator<Item = Ref> {
    let own: &[&str] = match endpoint {
        Endpoint::List(_) => &["pageNumber", "pageSize"],
        Endpoint::Record(resource) if resource == Resource::companies() => &["companyId"],
        Endpoint::Record(_) => &["recordId"],
        Endpoint::Feed(_) | Endpoint::InvoicingFeed => &["after", "feedSize"],
        Endpoint::PayrollCompanies => &["filter", "orderBy", "pageNumber", "pageSize"],
    };
    // An optional context is described only in the operation's text: tools that try the API from the document would
    // fill it in.
    let context = needs_context(endpoint).then_some("context");
    let names = own.iter().copied().chain(context).chain(["ifNoneMatch"]);
    names.map(|name| Ref::new(format!("#/components/parameters/{name}")))
}

fn needs_context(endpoint: Endpoint) -> bool {
    match endpoint {
        Endpoint::List(resource) | Endpoint::Record(resource) | Endpoint::Feed(resource) => {
            resource.owner() == Owner::Company
        }
        Endpoint::PayrollCompanies | Endpoint::InvoicingFeed => false,
    }
}

fn parameter(name: &str, place: ParameterIn, description: &str, schema: ObjectBuilder) -> ParameterBuilder {
    ParameterBuilder::new().name(name).parameter_in(place).description(Some(description)).schema(Some(schema))
}

fn path_id(resource: Resource) -> Parameter {
    let id = examples::id(resource);
    let schema = correlation_id("Any text, percent-encoded in the path.", id);
    parameter("correlationId", ParameterIn::Path, "The record's id.", schema)
        .required(Required::True)
        .example(Some(id.into()))
        .build()
}

/// A string, although it holds JSON: generators of clients cannot serialise an object in a header, and leave out
/// operations that require one.
fn context() -> Parameter {
    let example = json!({"clientId": COMPANY}).to_string();
    let schema = formatted("The text of a JSON object with exactly one member.", "company-context", &example);
    parameter(context::CONTEXT, ParameterIn::Header, CONTEXT, schema)
        .required(Required::True)
        .example(Some(example.into()))
        .build()
}

fn query(name: &str, description: &str, schema: ObjectBuilder) -> Parameter {
    parameter(name, ParameterIn::Query, description, schema).required(Required::False).build()
}

fn page_number() -> Parameter {
    let max = signed(paging::PAGE_NUMBER_MAX);
    let schema = integer("Starts at 1.", 1, max, 1).default(Some(1.into()));
    query("pageNumber", "The page to return. A page past the end is empty.", schema)
}

fn page_size(default: u64, max: u64) -> Parameter {
    let schema = integer("The last page may have fewer.", 1, signed(max), signed(default));
    query("pageSize", "The maximum number of items per page.", schema.default(Some(default.into())))
}

fn after() -> Parameter {
    let schema = integer("A `sequenceVersion`.", 0, i64::MAX, 0).default(Some(0.into()));
    query(
        "after",
        "The `sequenceVersion` of the last change that the client has; 0 for all changes in the log.",
        schema,
    )
}

fn filter() -> Parameter {
    let schema =
        formatted("An expression.", "payroll-filter", "lastUpdate gt 2026-01-31").max_length(Some(4000));
    query("filter", FILTER, schema)
}

fn order_by() -> Parameter {
    let schema = formatted("A list of fields.", "payroll-order", "companyCode");
    query("OrderBy", ORDER_BY, schema)
}

fn if_none_match() -> Parameter {
    let schema =
        text("One or more ETags, or `*`.", "W/\"8f3a-1192-1-25\"").examples(["W/\"8f3a-1192-1-25\"", "*"]);
    let description =
        "ETags of the responses that the client has: if one is current, the response is 304 without a body.";
    parameter("If-None-Match", ParameterIn::Header, description, schema).required(Required::False).build()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
