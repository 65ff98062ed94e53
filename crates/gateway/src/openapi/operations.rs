//! The operation of one endpoint. HEAD works too, but is not documented: generators would make a second method of each read.

use domain::Resource;
use domain::catalogue::Owner;
use utoipa::openapi::HttpMethod;
use utoipa::openapi::path::{OperationBuilder, PathItem};

use super::{parameters, responses, security, tags};
use crate::endpoint::Endpoint;

/// The path, with the id's full name.
pub(super) fn path(endpoint: Endpoint) -> String {
    endpoint.path().replace("{id}", "{correlationId}")
}

pub(super) fn item(endpoint: Endpoint) -> PathItem {
    let (id, summary, description) = describe(endpoint);
    let operation = OperationBuilder::new()
        .tag(tags::name(endpoint))
        .operation_id(Some(id))
        .summary(Some(summary))
        .description(Some(description));
    let operation = parameters::of(endpoint)
        .fold(operation, OperationBuilder::parameter_ref)
        .responses(responses::of(endpoint))
        .securities(Some(security::requirements(endpoint.area())));
    PathItem::new(HttpMethod::Get, operation)
}

/// The operation's id, summary and description.
fn describe(endpoint: Endpoint) -> (String, String, String) {
    match endpoint {
        Endpoint::List(resource) => (
            format!("list{}", resource.plural()),
            format!("List {}", to_words(resource.plural())),
            with_context(resource, "Returns one page, in the order of creation."),
        ),
        Endpoint::Record(resource) => (
            format!("get{}", resource.singular()),
            format!("Get one of the {}", to_words(resource.plural())),
            with_context(
                resource,
                "Returns the record with this `correlationId`, which lists, feeds and notifications carry.",
            ),
        ),
        Endpoint::Feed(resource) => (
            format!("list{}Changes", resource.singular()),
            format!("List the changes of {}", to_words(resource.plural())),
            with_context(resource, &feed(&[resource])),
        ),
        Endpoint::PayrollCompanies => (
            "listPayrollCompanies".to_owned(),
            "List payroll companies".to_owned(),
            "Returns one page, in the order of creation unless `OrderBy` is set.".to_owned(),
        ),
        Endpoint::InvoicingFeed => (
            "listInvoicingChanges".to_owned(),
            "List the changes of the invoicing entities".to_owned(),
            feed(&Resource::invoicing().collect::<Vec<_>>()),
        ),
    }
}

fn with_context(resource: Resource, description: &str) -> String {
    match resource.owner() {
        Owner::Company => format!("{description} The header `context` selects the company."),
        Owner::Tenant => format!(
            "{description} The header `context` is optional: `none`, or an existing company; next to a `correlationId`, that \
             company itself."
        ),
    }
}

fn feed(resources: &[Resource]) -> String {
    let events = resources.iter().flat_map(|resource| {
        resource.event_kinds().into_iter().map(|kind| domain::event::semantic_name(*resource, kind))
    });
    let events: Vec<String> = events.map(|name| format!("`{name}`")).collect();
    format!(
        "Returns the changes after the sequence number `after`, oldest first. There is always a `next` link: at the \
         end of the feed, request it again later. Events: {}.",
        events.join(", ")
    )
}

/// `IssuedInvoices` → `issued invoices`.
pub(super) fn to_words(pascal: &str) -> String {
    let mut words = String::with_capacity(pascal.len() + 4);
    for letter in pascal.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}
