//! What can happen to a record, and the names under which it is told.

use crate::catalogue::Resource;

/// The first part of every semantic name.
pub const APP_NAME: &str = "Svc";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    Created,
    Updated,
    Deleted,
    Disabled,
    ErrorOccurred,
}

impl EventKind {
    pub const ALL: [Self; 5] =
        [Self::Created, Self::Updated, Self::Deleted, Self::Disabled, Self::ErrorOccurred];

    /// What the store keeps; never changed.
    pub fn code(self) -> i16 {
        match self {
            Self::Created => 1,
            Self::Updated => 2,
            Self::Deleted => 3,
            Self::Disabled => 4,
            Self::ErrorOccurred => 5,
        }
    }

    pub fn by_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "Created",
            Self::Updated => "Updated",
            Self::Deleted => "Deleted",
            Self::Disabled => "Disabled",
            Self::ErrorOccurred => "ErrorOccurred",
        }
    }
}

/// The last part of the name: `CustomerCreated`, but plain `ErrorOccurred`.
pub fn event_type(resource: Resource, kind: EventKind) -> String {
    match kind {
        EventKind::ErrorOccurred => kind.word().to_owned(),
        _ => format!("{}{}", resource.singular(), kind.word()),
    }
}

/// `Svc.ACC.Customers.CustomerCreated` for the accounting family, `Customer.Created` for invoicing.
pub fn semantic_name(resource: Resource, kind: EventKind) -> String {
    match resource.area().domain() {
        Some(domain) => format!("{APP_NAME}.{domain}.{}.{}", resource.plural(), event_type(resource, kind)),
        None => format!("{}.{}", resource.word(), kind.word()),
    }
}

/// The kind that a semantic name stands for, among those that `resource` offers.
pub fn parse_semantic_name(resource: Resource, name: &str) -> Option<EventKind> {
    resource.event_kinds().into_iter().find(|kind| semantic_name(resource, *kind) == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Area;

    fn names(resource: Resource) -> Vec<String> {
        resource.event_kinds().into_iter().map(|kind| semantic_name(resource, kind)).collect()
    }

    #[test]
    fn the_contracts_names() {
        assert_eq!(
            names(Resource::accounts()),
            [
                "Svc.ACC.Accounts.AccountCreated",
                "Svc.ACC.Accounts.AccountUpdated",
                "Svc.ACC.Accounts.AccountDisabled",
                "Svc.ACC.Accounts.ErrorOccurred"
            ]
        );
        assert_eq!(
            names(Resource::find(Area::Core, "legalEntityLicences").unwrap()),
            [
                "Svc.COR.LegalEntityLicences.LegalEntityLicenceCreated",
                "Svc.COR.LegalEntityLicences.LegalEntityLicenceUpdated",
                "Svc.COR.LegalEntityLicences.LegalEntityLicenceDeleted",
                "Svc.COR.LegalEntityLicences.ErrorOccurred"
            ]
        );
        assert_eq!(
            names(Resource::find(Area::Import, "integrationFiles").unwrap())[0],
            "Svc.IMP.IntegrationFiles.IntegrationFileCreated"
        );
        assert_eq!(names(Resource::find(Area::Invoicing, "CompanyData").unwrap()), ["CompanyData.Updated"]);
    }

    #[test]
    fn names_lead_back_to_their_kind_within_their_resource() {
        for resource in Resource::all() {
            for kind in resource.event_kinds() {
                assert_eq!(parse_semantic_name(resource, &semantic_name(resource, kind)), Some(kind));
            }
        }
        assert_eq!(parse_semantic_name(Resource::customers(), "Svc.ACC.Accounts.AccountCreated"), None);
        assert_eq!(parse_semantic_name(Resource::customers(), "Svc.ACC.Customers.Acknowledge"), None);
    }

    #[test]
    fn codes_lead_back() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::by_code(kind.code()), Some(kind));
        }
    }
}
