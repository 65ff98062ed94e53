//! Calls of the APIs as their subscription's team sees them: one value per call, with the true reason of a refusal.

use std::fmt;

use crate::ids::{ClientId, SubscriptionId, TenantId};
use crate::time::Ticks;

/// One call with a known subscription key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// When the call arrived.
    pub at: Ticks,
    pub subscription: SubscriptionId,
    pub method: String,
    /// The route's template, with parameter names in braces.
    pub route: String,
    pub status: u16,
    pub latency_micros: u64,
    pub request_id: String,
    /// Set where the token was valid; never for a client of another team than the key's.
    pub client: Option<ClientId>,
    /// The same for the tenant.
    pub tenant: Option<TenantId>,
    /// Set where the call got an error.
    pub refusal: Option<Refusal>,
}

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $text:literal),* $(,)?) => {
        /// Why a call got an error. Responses say less: this is for the team of the subscription.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Refusal { $($(#[$doc])* $name),* }

        impl Refusal {
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The stored form, which is also the one in APIs.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

refusals! {
    /// The subscription is suspended.
    SubscriptionSuspended = "subscription_suspended",
    /// The subscription does not include the API's product.
    KeyNotForProduct = "key_not_for_product",
    TokenMissing = "token_missing",
    /// Not an access token of this service: malformed, forged, or of another issuer.
    TokenInvalid = "token_invalid",
    TokenExpired = "token_expired",
    /// Its grant was revoked, or the user's authorization has ended.
    TokenRevoked = "token_revoked",
    /// The token belongs to a client of another team.
    KeyOfAnotherTeam = "key_of_another_team",
    /// Either the key or the client is for the sandbox, and the other is not.
    SandboxMismatch = "sandbox_mismatch",
    ScopeMissing = "scope_missing",
    /// The client is not registered for the API's product.
    ClientNotForProduct = "client_not_for_product",
    RateLimited = "rate_limited",
    QuotaExceeded = "quota_exceeded",
    CompanyHeaderMissing = "company_header_missing",
    CompanyHeaderInvalid = "company_header_invalid",
    /// The header `context` names another company than the path.
    CompanyHeaderMismatch = "company_header_mismatch",
    CompanyUnknown = "company_unknown",
    /// There is no such record, webhook or delivery.
    ResourceUnknown = "resource_unknown",
    /// A query parameter is not valid.
    ParameterInvalid = "parameter_invalid",
    /// The feed no longer has the changes after the given number.
    FeedBelowFloor = "feed_below_floor",
    /// The body is not valid.
    BodyInvalid = "body_invalid",
    /// The state of the resource does not allow the call.
    Conflict = "conflict",
    /// Any other error of the caller.
    Other = "other",
    /// The service could not reach its data for a moment.
    ServiceUnavailable = "service_unavailable",
    /// An error of the service.
    ServiceError = "service_error",
}

impl Refusal {
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|refusal| refusal.as_str() == name)
    }

    /// The reason of an error response that says no more than its status. None for a success.
    pub fn of_status(status: u16) -> Option<Self> {
        match status {
            0..=399 => None,
            400 | 413 | 415 | 422 => Some(Self::BodyInvalid),
            404 | 410 => Some(Self::ResourceUnknown),
            409 => Some(Self::Conflict),
            429 => Some(Self::RateLimited),
            503 => Some(Self::ServiceUnavailable),
            400..=499 => Some(Self::Other),
            _ => Some(Self::ServiceError),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_round_trip() {
        let names: std::collections::BTreeSet<_> = Refusal::ALL.iter().map(|one| one.as_str()).collect();
        assert_eq!(names.len(), Refusal::ALL.len());
        for refusal in Refusal::ALL {
            assert_eq!(Refusal::from_name(refusal.as_str()), Some(*refusal));
        }
        assert_eq!(Refusal::from_name("nothing"), None);
    }

    #[test]
    fn every_error_status_has_a_reason() {
        for status in 100..600 {
            assert_eq!(Refusal::of_status(status).is_some(), status >= 400, "{status}");
        }
        assert_eq!(Refusal::of_status(404), Some(Refusal::ResourceUnknown));
        assert_eq!(Refusal::of_status(500), Some(Refusal::ServiceError));
    }
}
