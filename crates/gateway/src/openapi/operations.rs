//! One address, as the document tells it: asked with GET, or with HEAD for the headers alone.

use domain::Resource;
use domain::catalogue::Owner;
use utoipa::openapi::HttpMethod;
use utoipa::openapi::path::{Operation, OperationBuilder, PathItem, PathItemBuilder};

use super::responses::ReadMethod;
use super::{area_name, parameters, responses, security};
use crate::endpoint::Endpoint;

/// The address, with the id called by its name.
pub(super) fn path(endpoint: Endpoint) -> String {
    endpoint.path().replace("{id}", "{correlationId}")
}

pub(super) fn item(endpoint: Endpoint) -> PathItem {
    PathItemBuilder::new()
        .operation(HttpMethod::Get, operation(endpoint, ReadMethod::Get))
        .operation(HttpMethod::Head, operation(endpoint, ReadMethod::Head))
        .build()
}

fn operation(endpoint: Endpoint, method: ReadMethod) -> Operation {
    let (id, summary, description) = describe(endpoint);
    let operation = OperationBuilder::new().tag(area_name(endpoint.area()));
    let operation = match method {
        ReadMethod::Get => {
            operation.operation_id(Some(id)).summary(Some(summary)).description(Some(description))
        }
        ReadMethod::Head => {
            let description = "The same answer as to GET, without its body.";
            operation
                .operation_id(Some(format!("{id}Headers")))
                .summary(Some(format!("{summary}: the headers alone")))
                .description(Some(description))
        }
    };
    parameters::of(endpoint)
        .fold(operation, OperationBuilder::parameter_ref)
        .responses(responses::of(endpoint, method))
        .securities(Some(security::requirements(endpoint.area())))
        .build()
}

/// The operation's id, its summary, and what else there is to say.
fn describe(endpoint: Endpoint) -> (String, String, String) {
    match endpoint {
        Endpoint::List(resource) => (
            format!("list{}", resource.plural()),
            format!("A page of {}", to_words(resource.plural())),
            with_context(resource, "In the order in which they were made."),
        ),
        Endpoint::Record(resource) => (
            format!("get{}", resource.singular()),
            format!("One of the {}", to_words(resource.plural())),
            with_context(resource, "By its `correlationId`, as lists, feeds and notifications tell it."),
        ),
        Endpoint::Feed(resource) => (
            format!("list{}Changes", resource.singular()),
            format!("What happened to {}", to_words(resource.plural())),
            with_context(resource, &feed(&[resource])),
        ),
        Endpoint::PayrollCompanies => (
            "listPayrollCompanies".to_owned(),
            "A page of payroll companies".to_owned(),
            "In the order in which they were made, unless `OrderBy` says otherwise.".to_owned(),
        ),
        Endpoint::InvoicingFeed => (
            "listInvoicingChanges".to_owned(),
            "What happened to the invoicing entities".to_owned(),
            feed(&Resource::invoicing().collect::<Vec<_>>()),
        ),
    }
}

fn with_context(resource: Resource, description: &str) -> String {
    match resource.owner() {
        Owner::Company => format!("{description} The company stands in `context`."),
        Owner::Tenant => format!(
            "{description} The header `context` is not needed; where it is sent, it must be `none` or name a company that is \
             there, and beside a `correlationId` that same company."
        ),
    }
}

fn feed(resources: &[Resource]) -> String {
    let events = resources.iter().flat_map(|resource| {
        resource.event_kinds().into_iter().map(|kind| domain::event::semantic_name(*resource, kind))
    });
    let events: Vec<String> = events.map(|name| format!("`{name}`")).collect();
    format!(
        "The log, oldest first, from behind the number `after`. There is always a `next` link: who has read to the \
         end asks again later. Events: {}.",
        events.join(", ")
    )
}

/// `IssuedInvoices` as people write it: issued invoices.
fn to_words(pascal: &str) -> String {
    let mut describe = String::with_capacity(pascal.len() + 4);
    for letter in pascal.chars() {
        if letter.is_uppercase() && !describe.is_empty() {
            describe.push(' ');
        }
        describe.extend(letter.to_lowercase());
    }
    describe
}
