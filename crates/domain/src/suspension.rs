//! Why a webhook is suspended: its owner, an application in a tenant, may not receive anything now.

use serde::{Serialize, Serializer};

/// What keeps an owner from receiving deliveries. None of them is final: once access stands again, deliveries resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suspension {
    TenantDisabled,
    ClientDisabled,
    /// The application is not registered for the product that the webhook's data belongs to.
    ProductMissing,
    /// The application belongs to a team that has no active subscription to the product.
    TeamSubscriptionMissing,
    /// An authorization stands, but it does not cover the webhook's area and webhooks.
    ScopeMissing,
    UserDisabled,
    /// The store was restored from a backup, and the user has not signed in since.
    UserUnconfirmed,
    /// A user withdrew the application's access.
    Withdrawn,
    /// An administrator of the tenant withdrew the application's access.
    WithdrawnForTenant,
    /// The application's tokens were revoked.
    Revoked,
    MembershipRemoved,
    /// No user of the tenant has ever authorized the application.
    NotAuthorized,
}

impl Suspension {
    pub const ALL: [Self; 12] = [
        Self::TenantDisabled,
        Self::ClientDisabled,
        Self::ProductMissing,
        Self::TeamSubscriptionMissing,
        Self::ScopeMissing,
        Self::UserDisabled,
        Self::UserUnconfirmed,
        Self::Withdrawn,
        Self::WithdrawnForTenant,
        Self::Revoked,
        Self::MembershipRemoved,
        Self::NotAuthorized,
    ];

    /// The name in the APIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TenantDisabled => "tenant_disabled",
            Self::ClientDisabled => "client_disabled",
            Self::ProductMissing => "product_missing",
            Self::TeamSubscriptionMissing => "team_subscription_missing",
            Self::ScopeMissing => "scope_missing",
            Self::UserDisabled => "user_disabled",
            Self::UserUnconfirmed => "user_unconfirmed",
            Self::Withdrawn => "access_withdrawn",
            Self::WithdrawnForTenant => "access_withdrawn_for_tenant",
            Self::Revoked => "access_revoked",
            Self::MembershipRemoved => "membership_removed",
            Self::NotAuthorized => "not_authorized",
        }
    }

    /// What has happened, as a clause.
    pub fn cause(self) -> &'static str {
        match self {
            Self::TenantDisabled => "the tenant is disabled",
            Self::ClientDisabled => "the application is disabled",
            Self::ProductMissing => "the application is not registered for this product",
            Self::TeamSubscriptionMissing => {
                "the application's team has no active subscription to this product"
            }
            Self::ScopeMissing => "no user has allowed the application both this data and webhooks",
            Self::UserDisabled => "the user who authorized the application is disabled",
            Self::UserUnconfirmed => {
                "the store was restored from a backup, and the user who authorized the application has not signed in since"
            }
            Self::Withdrawn => "the user has withdrawn the application's access",
            Self::WithdrawnForTenant => {
                "an administrator has withdrawn the application's access for the whole tenant"
            }
            Self::Revoked => "the application's access was revoked",
            Self::MembershipRemoved => {
                "the user who authorized the application is no longer a member of the tenant"
            }
            Self::NotAuthorized => "no user of the tenant has authorized the application",
        }
    }

    /// What ends the suspension.
    fn remedy(self) -> &'static str {
        match self {
            Self::TenantDisabled => "the tenant is enabled",
            Self::ClientDisabled => "the application is enabled",
            Self::ProductMissing => "the application has this product",
            Self::TeamSubscriptionMissing => "the team has an active subscription to this product",
            Self::UserDisabled => "that user is enabled, or another one signs in to the application",
            Self::UserUnconfirmed => "that user signs in",
            Self::ScopeMissing => "a user signs in to the application with these scopes",
            Self::Withdrawn
            | Self::WithdrawnForTenant
            | Self::Revoked
            | Self::MembershipRemoved
            | Self::NotAuthorized => "a user of the tenant signs in to the application again",
        }
    }

    /// Why nothing is sent, and until when.
    pub fn explanation(self) -> String {
        format!(
            "Suspended: {}. Nothing is sent until {}; then deliveries resume with the first undelivered event.",
            self.cause(),
            self.remedy()
        )
    }
}

impl Serialize for Suspension {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_suspension_has_a_name_and_an_explanation_of_its_own() {
        let names: HashSet<_> = Suspension::ALL.map(Suspension::as_str).into_iter().collect();
        let texts: HashSet<_> = Suspension::ALL.map(Suspension::explanation).into_iter().collect();
        assert_eq!((names.len(), texts.len()), (Suspension::ALL.len(), Suspension::ALL.len()));
        assert!(texts.iter().all(|text| text.ends_with('.')), "{texts:?}");
    }
}
