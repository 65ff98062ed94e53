//! What a read can be asked with.

use domain::Resource;
use domain::catalogue::Owner;
use serde_json::json;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::AdditionalProperties;
use utoipa::openapi::{ComponentsBuilder, ContentBuilder, ObjectBuilder, Ref, Required};

use super::examples::{self, COMPANY};
use super::records::correlation_id;
use super::schema_types::{formatted, integer, object, text};
use crate::endpoint::Endpoint;
use crate::reads::feed;
use crate::{context, paging};

const CONTEXT: &str = "Which company the call is about: a JSON object with its `correlationId`.";
const FILTER: &str = "Which companies, in a subset of OData: fields `companyCode`, `companyName`, \
    `identifierNumber`, `lastUpdate`; `eq ne gt ge lt le`, `and or not`, parentheses, `contains(field,'text')`, \
    `startswith`, `endswith`. Numbers bare, text in single quotes (`''` stands for one), dates bare or quoted, \
    as in `2026-01-31` or `2026-01-31T08:30:00Z`. At most 4,000 characters.";
const ORDER_BY: &str = "A comma-separated list of fields, each with `asc` or `desc` behind it or neither. Companies \
    that are equal come by their code.";

/// The parameters that stand once, by the names under which addresses refer to them.
pub(super) fn shared(components: ComponentsBuilder) -> ComponentsBuilder {
    let all = [
        ("company", path_id(Resource::companies())),
        ("record", path_id(Resource::accounts())),
        ("context", context()),
        ("pageNumber", page_number()),
        ("pageSize", sized(paging::PAGE_SIZE_DEFAULT, paging::PAGE_SIZE_MAX)),
        ("feedSize", sized(feed::PAGE_SIZE_DEFAULT, feed::PAGE_SIZE_MAX)),
        ("after", after()),
        ("filter", filter()),
        ("orderBy", order_by()),
        ("ifNoneMatch", if_none_match()),
    ];
    all.into_iter().fold(components, |components, (name, parameter)| components.parameter(name, parameter))
}

/// The parameters of an address, in the order in which a reader needs them.
pub(super) fn of(endpoint: Endpoint) -> impl Iterator<Item = Ref> {
    let own: &[&str] = match endpoint {
        Endpoint::List(_) => &["pageNumber", "pageSize"],
        Endpoint::Record(resource) if resource == Resource::companies() => &["company"],
        Endpoint::Record(_) => &["record"],
        Endpoint::Feed(_) | Endpoint::InvoicingFeed => &["after", "feedSize"],
        Endpoint::PayrollCompanies => &["filter", "orderBy", "pageNumber", "pageSize"],
    };
    // Where the context is not needed it is not sent, so it is told of in words alone: pages that are made
    // from the document would fill it in.
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
    let schema = correlation_id("Any text, percent-encoded.", id);
    parameter("correlationId", ParameterIn::Path, "The record's id.", schema)
        .required(Required::True)
        .example(Some(id.into()))
        .build()
}

fn context() -> Parameter {
    let id = correlation_id("The company's `correlationId`.", COMPANY);
    let schema = object("One member, and no other.", [("clientId", id)])
        .additional_properties(Some(AdditionalProperties::FreeForm(false)));
    let content = ContentBuilder::new().schema(Some(schema)).example(Some(json!({"clientId": COMPANY})));
    ParameterBuilder::new()
        .name(context::CONTEXT)
        .parameter_in(ParameterIn::Header)
        .description(Some(CONTEXT))
        .required(Required::True)
        .content("application/json", content.build())
        .build()
}

fn query(name: &str, description: &str, schema: ObjectBuilder) -> Parameter {
    parameter(name, ParameterIn::Query, description, schema).required(Required::False).build()
}

fn page_number() -> Parameter {
    let most = signed(paging::PAGE_NUMBER_MAX);
    let schema = integer("Counted from 1.", 1, most, 1).default(Some(1.into()));
    query("pageNumber", "Which page; past the end it is empty.", schema)
}

fn sized(default: u64, most: u64) -> Parameter {
    let schema = integer("As many as there are, and no more than this.", 1, signed(most), signed(default));
    query("pageSize", "How many a page holds.", schema.default(Some(default.into())))
}

fn after() -> Parameter {
    let schema = integer("A `sequenceVersion`.", 0, i64::MAX, 0).default(Some(0.into()));
    query("after", "The number of the last change that the reader has; 0 for all that are kept.", schema)
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
    let schema = text("One or more, or `*`.", "W/\"8f3a-1192-1-25\"").examples(["W/\"8f3a-1192-1-25\"", "*"]);
    let description =
        "Validators that the reader has: where one still holds, the answer is 304 without a body.";
    parameter("If-None-Match", ParameterIn::Header, description, schema).required(Required::False).build()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
