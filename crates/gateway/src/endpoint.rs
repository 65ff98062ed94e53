//! The addresses of the read APIs, one list: routes, documents and counters iterate it.

use domain::{Area, Resource};

/// One address that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Endpoint {
    List(Resource),
    One(Resource),
    Feed(Resource),
    PayrollCompanies,
    InvoicingFeed,
}

impl Endpoint {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let family =
            Resource::accounting_family().flat_map(|one| [Self::List(one), Self::One(one), Self::Feed(one)]);
        family.chain([Self::PayrollCompanies, Self::InvoicingFeed])
    }

    pub(crate) fn area(self) -> Area {
        match self {
            Self::List(resource) | Self::One(resource) | Self::Feed(resource) => resource.area(),
            Self::PayrollCompanies => Area::Payroll,
            Self::InvoicingFeed => Area::Invoicing,
        }
    }

    /// Below the base address; `{id}` stands for a correlationId.
    pub(crate) fn path(self) -> String {
        match self {
            Self::List(resource) => resource.path(),
            Self::One(resource) => format!("{}/{{id}}", resource.path()),
            Self::Feed(resource) => format!("{}/changes", resource.path()),
            Self::PayrollCompanies => format!("{}/companies", Area::Payroll.prefix()),
            Self::InvoicingFeed => format!("{}/changes", Area::Invoicing.prefix()),
        }
    }
}
