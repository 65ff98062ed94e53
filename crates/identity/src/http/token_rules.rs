//! The rules of the token endpoint that need no store: what binds a code to its request, and the scopes of a refresh.

use domain::scope::RequestedScopes;
use domain::subscription::Products;
use domain::{Scope, Scopes};
use store::Client;

use super::client_auth::matches_challenge;
use crate::flow::step::check_scopes;
use crate::grant::CodeBinding;
use crate::oauth_error::OAuthError;

const NO_SCOPE_LEFT: &str = "The client may no longer have any of the scopes that were granted.";

/// The parameters that bind a code to its authorization request.
#[derive(Clone)]
pub(super) struct CodeProof {
    pub(super) redirect_uri: Option<String>,
    pub(super) code_verifier: Option<String>,
    /// Whether the client must use PKCE according to its present configuration.
    pub(super) is_required: bool,
    /// The client's present products.
    pub(super) products: Products,
}

impl CodeProof {
    /// What differs from the authorization request that the code was issued for.
    pub(super) fn mismatch(&self, binding: &CodeBinding) -> Option<&'static str> {
        if !is_useful(binding.details.scopes().allowed_for(self.products)) {
            return Some(NO_SCOPE_LEFT);
        }
        match self.redirect_uri.as_deref() {
            None => return Some("redirect_uri is missing. Send the one of the authorization request."),
            Some(uri) if uri != binding.redirect_uri => {
                return Some("redirect_uri differs from the one of the authorization request.");
            }
            Some(_) => {}
        }
        if binding.ignores_pkce && !self.is_required {
            return None;
        }
        match (&binding.challenge, &self.code_verifier) {
            (None, None) if self.is_required => {
                Some("This client must use PKCE, and its authorization request had no code_challenge.")
            }
            (None, None) => None,
            (Some(_), None) => Some("code_verifier is missing."),
            (Some(challenge), Some(code_verifier)) if matches_challenge(code_verifier, challenge) => None,
            (Some(_), Some(_)) => {
                Some("code_verifier does not match the code_challenge of the authorization request.")
            }
            // An attacker may have removed the challenge from the authorization request (PKCE downgrade).
            (None, Some(_)) => {
                Some("code_verifier was sent, but the authorization request had no code_challenge.")
            }
        }
    }
}

/// The scopes of a refresh.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefreshScopes {
    pub(super) scopes: Scopes,
    /// Whether the response must contain `scope`, because it differs from what the client expects.
    pub(super) reports_scope: bool,
}

/// The scopes of the grant that the client may still have, or the requested subset of them. Unknown names are passed
/// over, as in an authorization request.
pub(super) fn refresh_scopes(
    requested: Option<&str>,
    granted: Scopes,
    client: &Client,
) -> Result<RefreshScopes, OAuthError> {
    let invalid = |description: String| OAuthError::new("invalid_scope", description);
    let Some(list) = requested else {
        let scopes = granted.allowed_for(client.products);
        if !is_useful(scopes) {
            return Err(invalid(NO_SCOPE_LEFT.into()));
        }
        return Ok(RefreshScopes { scopes, reports_scope: scopes != granted });
    };
    let RequestedScopes { scopes, has_unknown } = Scopes::parse(list);
    if scopes.is_empty() {
        return Err(invalid("None of the requested scopes is known.".into()));
    }
    let refused = scopes.without(granted);
    if !refused.is_empty() {
        return Err(invalid(format!("The scope {refused} was not granted.")));
    }
    check_scopes(scopes, client)?;
    Ok(RefreshScopes { scopes, reports_scope: has_unknown })
}

/// Whether a token with these scopes is of any use.
fn is_useful(scopes: Scopes) -> bool {
    !scopes.without(Scopes::default().with(Scope::OfflineAccess)).is_empty()
}

#[cfg(test)]
mod tests {
    use domain::subscription::Product;

    use super::*;
    use crate::flow::tests::client;

    fn refreshed(requested: Option<&str>, products: &[Product]) -> Result<(String, bool), String> {
        let granted = "openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks SVC.ES.EquipoContex";
        let client = Client { products: products.iter().copied().collect(), ..client(store::Consent::None) };
        refresh_scopes(requested, Scopes::parse(granted).scopes, &client)
            .map(|granted| (granted.scopes.to_string(), granted.reports_scope))
            .map_err(|error| format!("{}: {}", error.code, error.description))
    }

    #[test]
    fn refresh_without_scope_drops_what_is_no_longer_allowed_and_says_so() {
        let all = "openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.EquipoContex SVC.ES.Webhooks";
        assert_eq!(refreshed(None, &Product::ALL), Ok((all.into(), false)));
        let payroll = "openid offline_access SVC.ES.EquipoContex";
        assert_eq!(refreshed(None, &[Product::Payroll]), Ok((payroll.into(), true)));
        let invoicing = "openid offline_access SVC.ES.Webhooks";
        assert_eq!(refreshed(None, &[Product::Invoicing]), Ok((invoicing.into(), true)));
    }

    #[test]
    fn refresh_with_scope_names_what_is_refused() {
        let scope = Some("openid SVC.ES.NEWPOL.ACC.API");
        assert_eq!(refreshed(scope, &Product::ALL), Ok(("openid SVC.ES.NEWPOL.ACC.API".into(), false)));
        let refused = refreshed(scope, &[Product::Payroll]).unwrap_err();
        assert!(refused.starts_with("invalid_scope: ") && refused.contains("scope SVC.ES.NEWPOL.ACC.API:"));
        let refused = refreshed(Some("openid SVC.ES.NEWPOL.COR.API"), &Product::ALL).unwrap_err();
        assert_eq!(refused, "invalid_scope: The scope SVC.ES.NEWPOL.COR.API was not granted.");
        assert_eq!(refreshed(Some("openid address"), &Product::ALL), Ok(("openid".into(), true)));
        assert!(refreshed(Some("address"), &Product::ALL).unwrap_err().contains("is known"));
    }

    #[test]
    fn token_with_nothing_but_offline_access_is_of_no_use() {
        assert!(!is_useful(Scopes::parse("offline_access").scopes) && !is_useful(Scopes::default()));
        assert!(is_useful(Scopes::parse("offline_access openid").scopes));
    }
}
