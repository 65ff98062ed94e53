//! The catalogue of resources: one table with a line for each kind of record. Routes, validation, events, API
//! documents and tests iterate it, so a new resource is a new line.

use std::fmt;

use crate::event_kind::EventKind;
use crate::scope::{Scope, Scopes};
use crate::subscription::Product;

/// Which API a resource belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    Accounting,
    Core,
    Import,
    Payroll,
    Invoicing,
}

impl Area {
    pub const ALL: [Self; 5] = [Self::Accounting, Self::Core, Self::Import, Self::Payroll, Self::Invoicing];

    /// The value of `area` in a change.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accounting => "accounting",
            Self::Core => "core",
            Self::Import => "import",
            Self::Payroll => "payroll",
            Self::Invoicing => "invoicing",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|area| area.as_str() == name)
    }

    /// The path prefix of the area's API, below the base URL.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Accounting => "/accounting/api",
            Self::Core => "/accounting-core/api",
            Self::Import => "/accounting-import/api",
            Self::Payroll => "/payroll/api",
            Self::Invoicing => "/invoicing/api",
        }
    }

    /// The `Domain` part of a semantic name; only the areas of the accounting family have one.
    pub fn domain(self) -> Option<&'static str> {
        match self {
            Self::Accounting => Some("ACC"),
            Self::Core => Some("COR"),
            Self::Import => Some("IMP"),
            Self::Payroll | Self::Invoicing => None,
        }
    }

    /// The scope that reading the area needs; invoicing has none of its own.
    pub fn scope(self) -> Option<Scope> {
        match self {
            Self::Accounting | Self::Import => Some(Scope::Accounting),
            Self::Core => Some(Scope::Core),
            Self::Payroll => Some(Scope::Payroll),
            Self::Invoicing => None,
        }
    }

    /// The product that the area's data belongs to.
    pub fn product(self) -> Product {
        match self {
            Self::Accounting | Self::Core | Self::Import => Product::Accounting,
            Self::Payroll => Product::Payroll,
            Self::Invoicing => Product::Invoicing,
        }
    }

    /// The scopes that webhooks of the area need.
    pub fn webhook_scopes(self) -> Scopes {
        self.scope().into_iter().fold(Scopes::default(), Scopes::with).with(Scope::Webhooks)
    }
}

/// Whether records of a resource can be disabled or deleted, and whether they have a `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// Never deleted, only disabled: accounts, customers, suppliers.
    Disabled,
    /// Deleted; without a state.
    Deleted,
    /// Can be disabled and can be deleted: companies.
    DisabledOrDeleted,
    /// Neither: there is exactly one record, which can only be updated.
    Never,
}

/// Whether a company or the tenant owns a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Company,
    Tenant,
}

struct Entry {
    /// The stored code; it never changes and is never reused for another resource.
    code: i16,
    area: Area,
    /// Below the area's prefix.
    path: &'static str,
    /// The value of `resource` in a change: the last segment of the path, or the name of the entity.
    name: &'static str,
    plural: &'static str,
    singular: &'static str,
    owner: Owner,
    lifecycle: Lifecycle,
}

const fn company_owned(
    code: i16,
    area: Area,
    path: &'static str,
    name: &'static str,
    plural: &'static str,
    singular: &'static str,
    lifecycle: Lifecycle,
) -> Entry {
    Entry { code, area, path, name, plural, singular, owner: Owner::Company, lifecycle }
}

const fn entity(code: i16, name: &'static str, lifecycle: Lifecycle) -> Entry {
    Entry {
        code,
        area: Area::Invoicing,
        path: "",
        name,
        plural: name,
        singular: name,
        owner: Owner::Tenant,
        lifecycle,
    }
}

#[rustfmt::skip]
static ACCOUNTING_FAMILY: [Entry; 19] = [
    company_owned(1, Area::Accounting, "accounts", "accounts", "Accounts", "Account", Lifecycle::Disabled),
    company_owned(2, Area::Accounting, "charges", "charges", "Charges", "Charge", Lifecycle::Deleted),
    company_owned(3, Area::Accounting, "payments", "payments", "Payments", "Payment", Lifecycle::Deleted),
    company_owned(4, Area::Accounting, "customers", "customers", "Customers", "Customer", Lifecycle::Disabled),
    company_owned(5, Area::Accounting, "suppliers", "suppliers", "Suppliers", "Supplier", Lifecycle::Disabled),
    company_owned(6, Area::Accounting, "inputInvoices", "inputInvoices", "InputInvoices", "InputInvoice", Lifecycle::Deleted),
    company_owned(7, Area::Accounting, "issuedInvoices", "issuedInvoices", "IssuedInvoices", "IssuedInvoice", Lifecycle::Deleted),
    company_owned(8, Area::Accounting, "journals", "journals", "Journals", "Journal", Lifecycle::Deleted),
    Entry { owner: Owner::Tenant, ..company_owned(9, Area::Accounting, "companies", "companies", "Companies", "Company", Lifecycle::DisabledOrDeleted) },
    company_owned(10, Area::Accounting, "accountingYears", "accountingYears", "AccountingYears", "AccountingYear", Lifecycle::Deleted),
    company_owned(11, Area::Core, "persons", "persons", "Persons", "Person", Lifecycle::Deleted),
    company_owned(12, Area::Core, "corporateLegalEntities", "corporateLegalEntities", "CorporateLegalEntities", "CorporateLegalEntity", Lifecycle::Deleted),
    company_owned(13, Area::Core, "individualLegalEntities", "individualLegalEntities", "IndividualLegalEntities", "IndividualLegalEntity", Lifecycle::Deleted),
    company_owned(14, Area::Core, "activities", "activities", "Activities", "Activity", Lifecycle::Deleted),
    company_owned(15, Area::Core, "activities/estimations", "estimations", "Estimations", "Estimation", Lifecycle::Deleted),
    company_owned(16, Area::Core, "legalEntityLicences", "legalEntityLicences", "LegalEntityLicences", "LegalEntityLicence", Lifecycle::Deleted),
    company_owned(17, Area::Core, "activities/prorates", "prorates", "Prorates", "Prorate", Lifecycle::Deleted),
    company_owned(18, Area::Core, "incomeAllocationLegalEntities", "incomeAllocationLegalEntities", "IncomeAllocationLegalEntities", "IncomeAllocationLegalEntity", Lifecycle::Deleted),
    company_owned(19, Area::Import, "integrationFiles", "integrationFiles", "IntegrationFiles", "IntegrationFile", Lifecycle::Deleted),
];

static PAYROLL: [Entry; 1] = [Entry {
    owner: Owner::Tenant,
    ..company_owned(40, Area::Payroll, "companies", "companies", "Companies", "Company", Lifecycle::Deleted)
}];

static INVOICING: [Entry; 18] = [
    entity(101, "Customer", Lifecycle::Deleted),
    entity(102, "Product", Lifecycle::Deleted),
    entity(103, "Supplier", Lifecycle::Deleted),
    entity(104, "Representative", Lifecycle::Deleted),
    entity(105, "Contact", Lifecycle::Deleted),
    entity(106, "Due", Lifecycle::Deleted),
    entity(107, "SaleInvoice", Lifecycle::Deleted),
    entity(108, "PurchaseInvoice", Lifecycle::Deleted),
    entity(109, "SaleOffer", Lifecycle::Deleted),
    entity(110, "SaleOrder", Lifecycle::Deleted),
    entity(111, "PurchaseOrder", Lifecycle::Deleted),
    entity(112, "SaleDeliveryNote", Lifecycle::Deleted),
    entity(113, "PurchaseDeliveryNote", Lifecycle::Deleted),
    entity(114, "Bank", Lifecycle::Deleted),
    entity(115, "IncomeType", Lifecycle::Deleted),
    entity(116, "ExpenseType", Lifecycle::Deleted),
    entity(117, "CompanyData", Lifecycle::Never),
    entity(118, "CompanySettings", Lifecycle::Never),
];

/// A kind of record: one line of the catalogue.
#[derive(Clone, Copy)]
pub struct Resource(&'static Entry);

impl Resource {
    /// The 19 resources of the accounting family, in the contract's order.
    pub fn accounting_family() -> impl ExactSizeIterator<Item = Self> {
        ACCOUNTING_FAMILY.iter().map(Self)
    }

    /// The 18 invoicing entities, in the contract's order.
    pub fn invoicing() -> impl ExactSizeIterator<Item = Self> {
        INVOICING.iter().map(Self)
    }

    /// All resources: the accounting family, payroll companies and the invoicing entities.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::accounting_family().chain(PAYROLL.iter().map(Self)).chain(Self::invoicing())
    }

    pub fn find(area: Area, name: &str) -> Option<Self> {
        Self::all().find(|resource| resource.area() == area && resource.as_str() == name)
    }

    pub fn from_code(code: i16) -> Option<Self> {
        Self::all().find(|resource| resource.code() == code)
    }

    pub fn companies() -> Self {
        Self(&ACCOUNTING_FAMILY[8])
    }

    pub fn accounts() -> Self {
        Self(&ACCOUNTING_FAMILY[0])
    }

    pub fn customers() -> Self {
        Self(&ACCOUNTING_FAMILY[3])
    }

    pub fn payroll_companies() -> Self {
        Self(&PAYROLL[0])
    }

    pub fn code(self) -> i16 {
        self.0.code
    }

    pub fn area(self) -> Area {
        self.0.area
    }

    pub fn as_str(self) -> &'static str {
        self.0.name
    }

    pub fn plural(self) -> &'static str {
        self.0.plural
    }

    pub fn singular(self) -> &'static str {
        self.0.singular
    }

    pub fn owner(self) -> Owner {
        self.0.owner
    }

    /// The path of the resource's list, below the base URL.
    pub fn path(self) -> String {
        format!("{}/{}", self.area().prefix(), self.0.path)
    }

    pub fn is_accounting_family(self) -> bool {
        self.area().domain().is_some()
    }

    pub fn has_state(self) -> bool {
        matches!(self.0.lifecycle, Lifecycle::Disabled | Lifecycle::DisabledOrDeleted)
    }

    pub fn can_be_deleted(self) -> bool {
        matches!(self.0.lifecycle, Lifecycle::Deleted | Lifecycle::DisabledOrDeleted)
    }

    /// The event of the first upsert of a record.
    pub fn first_event(self) -> EventKind {
        if self.0.lifecycle == Lifecycle::Never { EventKind::Updated } else { EventKind::Created }
    }

    /// The event of disabling a record. Companies have no `Disabled` event, so theirs is `Updated`.
    pub fn disabled_event(self) -> EventKind {
        if self.0.lifecycle == Lifecycle::Disabled { EventKind::Disabled } else { EventKind::Updated }
    }

    /// The event kinds that webhooks can subscribe to.
    pub fn event_kinds(self) -> Vec<EventKind> {
        let mut kinds = match self.0.lifecycle {
            Lifecycle::Disabled => vec![EventKind::Created, EventKind::Updated, EventKind::Disabled],
            Lifecycle::Deleted | Lifecycle::DisabledOrDeleted => {
                vec![EventKind::Created, EventKind::Updated, EventKind::Deleted]
            }
            Lifecycle::Never => vec![EventKind::Updated],
        };
        match self.area() {
            Area::Payroll => kinds.clear(),
            Area::Invoicing => {}
            Area::Accounting | Area::Core | Area::Import => kinds.push(EventKind::ErrorOccurred),
        }
        kinds
    }
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.code() == other.code()
    }
}

impl Eq for Resource {}

impl std::hash::Hash for Resource {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.code().hash(state);
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.area().as_str(), self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_resolve_to_their_resource() {
        let codes: HashSet<i16> = Resource::all().map(Resource::code).collect();
        assert_eq!(codes.len(), 19 + 1 + 18);
        for resource in Resource::all() {
            assert_eq!(Resource::from_code(resource.code()), Some(resource));
            assert_eq!(Resource::find(resource.area(), resource.as_str()), Some(resource));
        }
        assert_eq!(Resource::from_code(0), None);
    }

    #[test]
    fn name_is_the_last_segment_of_the_path() {
        for resource in Resource::accounting_family() {
            assert_eq!(resource.path().rsplit('/').next(), Some(resource.as_str()));
            assert_eq!(resource.plural().to_lowercase(), resource.as_str().to_lowercase());
        }
        assert_eq!(Resource::companies().as_str(), "companies");
        assert_eq!(Resource::accounts().as_str(), "accounts");
        assert_eq!(Resource::customers().as_str(), "customers");
        assert_eq!(
            Resource::find(Area::Core, "prorates").unwrap().path(),
            "/accounting-core/api/activities/prorates"
        );
    }

    #[test]
    fn only_accounts_customers_and_suppliers_are_never_deleted() {
        let undeletable: Vec<_> =
            Resource::accounting_family().filter(|r| !r.can_be_deleted()).map(Resource::as_str).collect();
        assert_eq!(undeletable, ["accounts", "customers", "suppliers"]);
        let stateful: Vec<_> = Resource::all().filter(|r| r.has_state()).map(Resource::as_str).collect();
        assert_eq!(stateful, ["accounts", "customers", "suppliers", "companies"]);
    }

    #[test]
    fn only_companies_of_the_accounting_family_are_owned_by_the_tenant() {
        let owned_by_tenant: Vec<_> =
            Resource::accounting_family().filter(|r| r.owner() == Owner::Tenant).collect();
        assert_eq!(owned_by_tenant, [Resource::companies()]);
    }

    #[test]
    fn company_data_and_settings_offer_only_updated() {
        for resource in Resource::invoicing() {
            let only_updated = resource.event_kinds() == [EventKind::Updated];
            assert_eq!(only_updated, ["CompanyData", "CompanySettings"].contains(&resource.as_str()));
        }
    }
}
