//! The catalogue: every kind of record that Aldaba keeps, each one line of one table. Routes, checks,
//! events, documents and tests iterate it; a new resource is a new line.

use std::fmt;

use crate::event_kind::EventKind;

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

    /// The word that a change uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accounting => "accounting",
            Self::Core => "core",
            Self::Import => "import",
            Self::Payroll => "payroll",
            Self::Invoicing => "invoicing",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|area| area.as_str() == word)
    }

    /// Where the area's API starts, below the base address.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Accounting => "/accounting/api",
            Self::Core => "/accounting-core/api",
            Self::Import => "/accounting-import/api",
            Self::Payroll => "/payroll/api",
            Self::Invoicing => "/invoicing/api",
        }
    }

    /// The domain part of a semantic name, for the areas of the accounting family.
    pub fn domain(self) -> Option<&'static str> {
        match self {
            Self::Accounting => Some("ACC"),
            Self::Core => Some("COR"),
            Self::Import => Some("IMP"),
            Self::Payroll | Self::Invoicing => None,
        }
    }
}

/// How the life of a record may end, and whether it has a `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Never deleted, only disabled: accounts, customers, suppliers.
    Disabled,
    /// Deleted; has no state.
    Deleted,
    /// Deleted, and can be disabled before: companies.
    DisabledOrDeleted,
    /// Neither: there is exactly one, and it is only ever updated.
    Never,
}

/// Who a record belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Company,
    Tenant,
}

struct Entry {
    /// What the store keeps; never changed, never given to another resource.
    code: i16,
    area: Area,
    /// Below the area's prefix.
    path: &'static str,
    /// The word that a change uses: the path's last segment, or the entity's name.
    word: &'static str,
    plural: &'static str,
    singular: &'static str,
    owner: Owner,
    ending: Ending,
}

const fn of(
    code: i16,
    area: Area,
    path: &'static str,
    word: &'static str,
    plural: &'static str,
    singular: &'static str,
    ending: Ending,
) -> Entry {
    Entry { code, area, path, word, plural, singular, owner: Owner::Company, ending }
}

const fn entity(code: i16, name: &'static str, ending: Ending) -> Entry {
    Entry {
        code,
        area: Area::Invoicing,
        path: "",
        word: name,
        plural: name,
        singular: name,
        owner: Owner::Tenant,
        ending,
    }
}

#[rustfmt::skip]
static FAMILY: [Entry; 19] = [
    of(1, Area::Accounting, "accounts", "accounts", "Accounts", "Account", Ending::Disabled),
    of(2, Area::Accounting, "charges", "charges", "Charges", "Charge", Ending::Deleted),
    of(3, Area::Accounting, "payments", "payments", "Payments", "Payment", Ending::Deleted),
    of(4, Area::Accounting, "customers", "customers", "Customers", "Customer", Ending::Disabled),
    of(5, Area::Accounting, "suppliers", "suppliers", "Suppliers", "Supplier", Ending::Disabled),
    of(6, Area::Accounting, "inputInvoices", "inputInvoices", "InputInvoices", "InputInvoice", Ending::Deleted),
    of(7, Area::Accounting, "issuedInvoices", "issuedInvoices", "IssuedInvoices", "IssuedInvoice", Ending::Deleted),
    of(8, Area::Accounting, "journals", "journals", "Journals", "Journal", Ending::Deleted),
    Entry { owner: Owner::Tenant, ..of(9, Area::Accounting, "companies", "companies", "Companies", "Company", Ending::DisabledOrDeleted) },
    of(10, Area::Accounting, "accountingYears", "accountingYears", "AccountingYears", "AccountingYear", Ending::Deleted),
    of(11, Area::Core, "persons", "persons", "Persons", "Person", Ending::Deleted),
    of(12, Area::Core, "corporateLegalEntities", "corporateLegalEntities", "CorporateLegalEntities", "CorporateLegalEntity", Ending::Deleted),
    of(13, Area::Core, "individualLegalEntities", "individualLegalEntities", "IndividualLegalEntities", "IndividualLegalEntity", Ending::Deleted),
    of(14, Area::Core, "activities", "activities", "Activities", "Activity", Ending::Deleted),
    of(15, Area::Core, "activities/estimations", "estimations", "Estimations", "Estimation", Ending::Deleted),
    of(16, Area::Core, "legalEntityLicences", "legalEntityLicences", "LegalEntityLicences", "LegalEntityLicence", Ending::Deleted),
    of(17, Area::Core, "activities/prorates", "prorates", "Prorates", "Prorate", Ending::Deleted),
    of(18, Area::Core, "incomeAllocationLegalEntities", "incomeAllocationLegalEntities", "IncomeAllocationLegalEntities", "IncomeAllocationLegalEntity", Ending::Deleted),
    of(19, Area::Import, "integrationFiles", "integrationFiles", "IntegrationFiles", "IntegrationFile", Ending::Deleted),
];

static PAYROLL: [Entry; 1] = [Entry {
    owner: Owner::Tenant,
    ..of(40, Area::Payroll, "companies", "companies", "Companies", "Company", Ending::Deleted)
}];

static INVOICING: [Entry; 18] = [
    entity(101, "Customer", Ending::Deleted),
    entity(102, "Product", Ending::Deleted),
    entity(103, "Supplier", Ending::Deleted),
    entity(104, "Representative", Ending::Deleted),
    entity(105, "Contact", Ending::Deleted),
    entity(106, "Due", Ending::Deleted),
    entity(107, "SaleInvoice", Ending::Deleted),
    entity(108, "PurchaseInvoice", Ending::Deleted),
    entity(109, "SaleOffer", Ending::Deleted),
    entity(110, "SaleOrder", Ending::Deleted),
    entity(111, "PurchaseOrder", Ending::Deleted),
    entity(112, "SaleDeliveryNote", Ending::Deleted),
    entity(113, "PurchaseDeliveryNote", Ending::Deleted),
    entity(114, "Bank", Ending::Deleted),
    entity(115, "IncomeType", Ending::Deleted),
    entity(116, "ExpenseType", Ending::Deleted),
    entity(117, "CompanyData", Ending::Never),
    entity(118, "CompanySettings", Ending::Never),
];

/// One line of the catalogue.
#[derive(Clone, Copy)]
pub struct Resource(&'static Entry);

impl Resource {
    /// The 19 resources of the accounting family, in the contract's order.
    pub fn family() -> impl ExactSizeIterator<Item = Self> {
        FAMILY.iter().map(Self)
    }

    /// The 18 entities of invoicing, in the contract's order.
    pub fn invoicing() -> impl ExactSizeIterator<Item = Self> {
        INVOICING.iter().map(Self)
    }

    /// Everything that is kept: the family, payroll's companies, invoicing's entities.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::family().chain(PAYROLL.iter().map(Self)).chain(Self::invoicing())
    }

    pub fn find(area: Area, word: &str) -> Option<Self> {
        Self::all().find(|resource| resource.area() == area && resource.as_str() == word)
    }

    pub fn from_code(code: i16) -> Option<Self> {
        Self::all().find(|resource| resource.code() == code)
    }

    pub fn companies() -> Self {
        Self(&FAMILY[8])
    }

    pub fn accounts() -> Self {
        Self(&FAMILY[0])
    }

    pub fn customers() -> Self {
        Self(&FAMILY[3])
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
        self.0.word
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

    /// The path of the resource's list, below the base address.
    pub fn path(self) -> String {
        format!("{}/{}", self.area().prefix(), self.0.path)
    }

    pub fn is_family(self) -> bool {
        self.area().domain().is_some()
    }

    pub fn has_state(self) -> bool {
        matches!(self.0.ending, Ending::Disabled | Ending::DisabledOrDeleted)
    }

    pub fn can_be_deleted(self) -> bool {
        matches!(self.0.ending, Ending::Deleted | Ending::DisabledOrDeleted)
    }

    /// The event of a record that is seen for the first time.
    pub fn first_event(self) -> EventKind {
        if self.0.ending == Ending::Never { EventKind::Updated } else { EventKind::Created }
    }

    /// The event of a record that is disabled; companies have none of their own.
    pub fn disabled_event(self) -> EventKind {
        if self.0.ending == Ending::Disabled { EventKind::Disabled } else { EventKind::Updated }
    }

    /// The kinds of event that can be subscribed to.
    pub fn event_kinds(self) -> Vec<EventKind> {
        let mut kinds = match self.0.ending {
            Ending::Disabled => vec![EventKind::Created, EventKind::Updated, EventKind::Disabled],
            Ending::Deleted | Ending::DisabledOrDeleted => {
                vec![EventKind::Created, EventKind::Updated, EventKind::Deleted]
            }
            Ending::Never => vec![EventKind::Updated],
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
    fn codes_are_unique_and_found_again() {
        let codes: HashSet<i16> = Resource::all().map(Resource::code).collect();
        assert_eq!(codes.len(), 19 + 1 + 18);
        for resource in Resource::all() {
            assert_eq!(Resource::from_code(resource.code()), Some(resource));
            assert_eq!(Resource::find(resource.area(), resource.as_str()), Some(resource));
        }
        assert_eq!(Resource::from_code(0), None);
    }

    #[test]
    fn words_are_the_last_segment_of_the_path() {
        for resource in Resource::family() {
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
        let lasting: Vec<_> =
            Resource::family().filter(|r| !r.can_be_deleted()).map(Resource::as_str).collect();
        assert_eq!(lasting, ["accounts", "customers", "suppliers"]);
        let stateful: Vec<_> = Resource::all().filter(|r| r.has_state()).map(Resource::as_str).collect();
        assert_eq!(stateful, ["accounts", "customers", "suppliers", "companies"]);
    }

    #[test]
    fn only_companies_belong_to_the_tenant_in_the_family() {
        let tenants: Vec<_> = Resource::family().filter(|r| r.owner() == Owner::Tenant).collect();
        assert_eq!(tenants, [Resource::companies()]);
    }

    #[test]
    fn company_data_and_settings_offer_only_updated() {
        for resource in Resource::invoicing() {
            let only_updated = resource.event_kinds() == [EventKind::Updated];
            assert_eq!(only_updated, ["CompanyData", "CompanySettings"].contains(&resource.as_str()));
        }
    }
}
