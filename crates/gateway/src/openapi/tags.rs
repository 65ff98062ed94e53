//! The tags: one for each resource, with its reads and its webhooks.

use domain::{Area, Resource};
use utoipa::openapi::tag::{Tag, TagBuilder};

use super::operations::to_words;
use crate::endpoint::Endpoint;

const PAYROLL_COMPANIES: &str = "PayrollCompanies";
const INVOICING: &str = "Invoicing";

/// The tag of an endpoint: the resource, in the plural.
pub(super) fn name(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::List(resource) | Endpoint::Record(resource) | Endpoint::Feed(resource) => resource.plural(),
        Endpoint::PayrollCompanies => PAYROLL_COMPANIES,
        Endpoint::InvoicingFeed => INVOICING,
    }
}

pub(super) fn all() -> Vec<Tag> {
    let of_resource = |resource: Resource| {
        let about = format!(
            "{}: the {}, their changes and their webhooks.",
            area_name(resource.area()),
            to_words(resource.plural())
        );
        (resource.plural(), about)
    };
    let others = [
        (PAYROLL_COMPANIES, "Payroll: the companies, with filtering and sorting.".to_owned()),
        (INVOICING, "Invoicing: the changes of all entities, and their webhooks.".to_owned()),
    ];
    Resource::accounting_family()
        .map(of_resource)
        .chain(others)
        .map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build())
        .collect()
}

fn area_name(area: Area) -> &'static str {
    match area {
        Area::Accounting => "Accounting",
        Area::Core => "Accounting core",
        Area::Import => "Accounting import",
        Area::Payroll => "Payroll",
        Area::Invoicing => "Invoicing",
    }
}
