//! The names of events: event types and semantic names, derived from the resource and the event kind.

use crate::catalogue::Resource;
pub use crate::event_kind::EventKind;

/// The first part of every semantic name.
pub const APP_NAME: &str = "Svc";

/// The last part of the semantic name: `CustomerCreated`; for errors only `ErrorOccurred`.
pub fn event_type(resource: Resource, kind: EventKind) -> String {
    match kind {
        EventKind::ErrorOccurred => kind.as_str().to_owned(),
        _ => format!("{}{}", resource.singular(), kind.as_str()),
    }
}

/// `Svc.ACC.Customers.CustomerCreated` for the accounting family, `Customer.Created` for invoicing.
pub fn semantic_name(resource: Resource, kind: EventKind) -> String {
    match resource.area().domain() {
        Some(domain) => format!("{APP_NAME}.{domain}.{}.{}", resource.plural(), event_type(resource, kind)),
        None => format!("{}.{}", resource.as_str(), kind.as_str()),
    }
}

/// The event kind of `resource` that has this semantic name.
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
    fn names_are_those_of_the_contract() {
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
    fn semantic_names_parse_back_within_their_resource_only() {
        for resource in Resource::all() {
            for kind in resource.event_kinds() {
                assert_eq!(parse_semantic_name(resource, &semantic_name(resource, kind)), Some(kind));
            }
        }
        assert_eq!(parse_semantic_name(Resource::customers(), "Svc.ACC.Accounts.AccountCreated"), None);
        assert_eq!(parse_semantic_name(Resource::customers(), "Svc.ACC.Customers.Acknowledge"), None);
    }
}
