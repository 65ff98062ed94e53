//! The list of the read APIs' endpoints. Routes, the OpenAPI document and the counters iterate it.

use domain::{Area, Resource};
use store::ReadTarget;

/// One endpoint of the read APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Endpoint {
    List(Resource),
    Record(Resource),
    Feed(Resource),
    PayrollCompanies,
    InvoicingFeed,
}

impl Endpoint {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let family = Resource::accounting_family()
            .flat_map(|resource| [Self::List(resource), Self::Record(resource), Self::Feed(resource)]);
        family.chain([Self::PayrollCompanies, Self::InvoicingFeed])
    }

    pub(crate) fn area(self) -> Area {
        match self {
            Self::List(resource) | Self::Record(resource) | Self::Feed(resource) => resource.area(),
            Self::PayrollCompanies => Area::Payroll,
            Self::InvoicingFeed => Area::Invoicing,
        }
    }

    /// What its reads are counted under, for who read what.
    pub(crate) fn read_target(self) -> ReadTarget {
        match self {
            Self::List(resource) | Self::Record(resource) | Self::Feed(resource) => {
                ReadTarget::Resource(resource)
            }
            Self::PayrollCompanies => ReadTarget::Resource(Resource::payroll_companies()),
            Self::InvoicingFeed => ReadTarget::InvoicingFeed,
        }
    }

    /// The path below the base address; `{id}` is a correlationId.
    pub(crate) fn path(self) -> String {
        match self {
            Self::List(resource) => resource.path(),
            Self::Record(resource) => format!("{}/{{id}}", resource.path()),
            Self::Feed(resource) => format!("{}/changes", resource.path()),
            Self::PayrollCompanies => format!("{}/companies", Area::Payroll.prefix()),
            Self::InvoicingFeed => format!("{}/changes", Area::Invoicing.prefix()),
        }
    }
}
