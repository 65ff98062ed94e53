//! The claims of access tokens and id_tokens, as the contract defines them, and the parsing of presented tokens.

use aws_lc_rs::digest::{SHA256, digest};
use domain::second_factor::{SECOND_FACTOR_METHOD, has_second_factor};
use domain::{AccountId, Caller, ClientId, GrantId, Guid, Scopes, TenantId, Ticks};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use store::{Client, TenantMembership};

use crate::settings::{CLOCK_TOLERANCE, ID_TOKEN_TTL, Settings};

/// The claims of an access token that is issued.
#[derive(Debug, Serialize)]
pub(crate) struct IssuedAccessClaims<'a> {
    #[serde(rename = "$id")]
    id: &'static str,
    iss: &'a str,
    aud: &'a str,
    exp: i64,
    nbf: i64,
    iat: i64,
    auth_time: i64,
    jti: String,
    client_id: &'a str,
    scope: Vec<&'static str>,
    sub: &'a str,
    idp: &'static str,
    amr: Vec<&'a str>,
    usr: &'a str,
    owapp: String,
    mem: &'a str,
    oun: String,
    #[serde(rename = "svc.es.clientid")]
    svc_client_id: &'a str,
    #[serde(rename = "svc.es.idcda")]
    svc_idcda: &'a str,
    #[serde(flatten)]
    accounting: Option<AccountingClaims<'a>>,
    #[serde(flatten)]
    payroll: Option<PayrollClaims<'a>>,
}

#[derive(Debug, Serialize)]
struct AccountingClaims<'a> {
    given_name: &'a str,
    lang: &'a str,
    email: &'a str,
    #[serde(rename = "svc.es.modules")]
    modules: &'a str,
    #[serde(rename = "svc.es.keyusercorrelationid")]
    key_user: String,
}

#[derive(Debug, Serialize)]
struct PayrollClaims<'a> {
    #[serde(rename = "svc.es.equipouserid")]
    equipo_user: &'a str,
    #[serde(rename = "svc.es.secondclientid")]
    second_client: &'a str,
}

/// The input for the claims of an access token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenSubject<'a> {
    pub(crate) client: &'a Client,
    pub(crate) membership: &'a TenantMembership,
    pub(crate) grant: &'a GrantId,
    pub(crate) scopes: Scopes,
    pub(crate) authenticated_at: Ticks,
    /// Authentication methods, separated by spaces.
    pub(crate) methods: &'a str,
    pub(crate) now: Ticks,
}

/// The claims of an access token. Its `jti` begins with the id of the grant, so that revoking the grant revokes it.
pub(crate) fn access_claims<'a>(
    of: &TokenSubject<'a>,
    settings: &'a Settings,
    audience: &'a str,
    unique: &str,
) -> IssuedAccessClaims<'a> {
    let TenantMembership { user, tenant, membership } = of.membership;
    let now = of.now.unix_seconds();
    IssuedAccessClaims {
        id: "1",
        iss: &settings.issuer,
        aud: audience,
        exp: (of.now + settings.access_token_ttl).unix_seconds(),
        nbf: now,
        iat: now,
        auth_time: of.authenticated_at.unix_seconds(),
        jti: format!("{}.{unique}", of.grant),
        client_id: of.client.id.as_str(),
        scope: of.scopes.names(),
        sub: user.id.as_str(),
        idp: "idsrv",
        amr: of.methods.split(' ').collect(),
        usr: user.id.as_str(),
        owapp: of.client.guid.to_string(),
        mem: membership.id.as_str(),
        oun: guid_of(&tenant.id).to_string(),
        svc_client_id: tenant.id.as_str(),
        svc_idcda: &tenant.short_code,
        accounting: of.scopes.is_accounting().then(|| AccountingClaims {
            given_name: &user.given_name,
            lang: &user.lang,
            email: &user.email,
            modules: &membership.modules,
            key_user: membership.key_user_correlation_id.to_string(),
        }),
        payroll: of.scopes.is_payroll().then_some(PayrollClaims {
            equipo_user: &membership.equipo_user_id,
            second_client: &membership.second_client_id,
        }),
    }
}

/// The tenant's id as a GUID. If the operator chose an id that is not a GUID, one is derived from it.
fn guid_of(tenant: &TenantId) -> Guid {
    Guid::parse(tenant.as_str()).unwrap_or_else(|| {
        let hash = digest(&SHA256, tenant.as_str().as_bytes());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(hash.as_ref().get(..16).unwrap_or(&[0; 16]));
        Guid::derived_from(bytes)
    })
}

/// The claims of an id_token, for the callback (without personal data) or the token endpoint.
#[derive(Debug, Serialize)]
pub(crate) struct IdClaims<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: &'a str,
    exp: i64,
    iat: i64,
    auth_time: i64,
    amr: Vec<&'a str>,
    /// `2fa` if the user has given a second factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    acr: Option<&'static str>,
    /// Names the session to this client alone; a back-channel logout has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nonce: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) c_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at_hash: Option<String>,
    #[serde(flatten)]
    pub(crate) profile: Option<ProfileClaims<'a>>,
    #[serde(flatten)]
    pub(crate) tenant: Option<TenantClaims<'a>>,
}

impl<'a> IdClaims<'a> {
    pub(crate) fn new(settings: &'a Settings, client: &'a ClientId, user: &'a AccountId, now: Ticks) -> Self {
        Self {
            iss: &settings.issuer,
            aud: client.as_str(),
            sub: user.as_str(),
            exp: (now + ID_TOKEN_TTL).unix_seconds(),
            iat: now.unix_seconds(),
            auth_time: now.unix_seconds(),
            amr: Vec::new(),
            acr: None,
            sid: None,
            nonce: None,
            c_hash: None,
            at_hash: None,
            profile: None,
            tenant: None,
        }
    }

    /// Sets when and how the user authenticated.
    pub(crate) fn set_authentication(&mut self, at: Ticks, methods: &'a str) {
        self.auth_time = at.unix_seconds();
        self.amr = methods.split(' ').collect();
        self.acr = has_second_factor(methods).then_some(SECOND_FACTOR_METHOD);
    }
}

/// The user's profile, as far as the scopes allow it.
#[derive(Debug, Serialize)]
pub(crate) struct ProfileClaims<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    given_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    family_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The e-mail address, which people sign in with; so it needs access to that as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    preferred_username: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locale: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
    /// Always true: the operator made the account for this address, or a link to it did, and it never changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    email_verified: Option<bool>,
}

impl<'a> ProfileClaims<'a> {
    pub(crate) fn of(user: &'a store::Account, scopes: Scopes) -> Self {
        let (name, email) = (scopes.has_name_access(), scopes.has_email_access());
        Self {
            given_name: name.then_some(user.given_name.as_str()),
            family_name: Some(user.family_name.as_str()).filter(|family| name && !family.is_empty()),
            name: name.then(|| user.full_name()),
            preferred_username: (name && email).then_some(user.email.as_str()),
            locale: name.then_some(user.lang.as_str()),
            updated_at: name.then(|| user.updated_at.unix_seconds()),
            email: email.then_some(user.email.as_str()),
            email_verified: email.then_some(true),
        }
    }
}

/// The tenant that the user has chosen.
#[derive(Debug, Serialize)]
pub(crate) struct TenantClaims<'a> {
    tenant_id: &'a str,
    tenant_name: &'a str,
}

impl<'a> TenantClaims<'a> {
    pub(crate) fn of(tenant: &'a store::Tenant) -> Self {
        Self { tenant_id: tenant.id.as_str(), tenant_name: &tenant.name }
    }
}

/// The claims that are read from a presented access token.
#[derive(Debug, Deserialize)]
pub(crate) struct AccessTokenClaims {
    iss: String,
    aud: String,
    pub(crate) exp: i64,
    pub(crate) nbf: i64,
    pub(crate) iat: i64,
    pub(crate) jti: String,
    client_id: String,
    scope: Vec<String>,
    sub: String,
    #[serde(rename = "svc.es.clientid")]
    tenant: String,
}

impl AccessTokenClaims {
    /// The validity period, with clock tolerance on both sides.
    pub(crate) fn validity(&self) -> (Ticks, Ticks) {
        let (from, until) = (Ticks::from_unix_seconds(self.nbf), Ticks::from_unix_seconds(self.exp));
        (from.minus(CLOCK_TOLERANCE), until + CLOCK_TOLERANCE)
    }

    fn is_own(&self, settings: &Settings) -> bool {
        self.iss == settings.issuer && self.aud == settings.audience()
    }

    /// Whether this was an access token of this issuer.
    pub(crate) fn is_expired(&self, settings: &Settings, now: Ticks) -> bool {
        self.is_own(settings) && self.validity().1 <= now
    }

    /// The caller, if this is a valid access token of this issuer at `now`.
    pub(crate) fn caller(&self, settings: &Settings, now: Ticks) -> Option<Caller> {
        let (from, until) = self.validity();
        if !self.is_own(settings) || until <= now || from > now {
            return None;
        }
        Some(Caller {
            user: AccountId::new(self.sub.as_str()),
            tenant: TenantId::new(self.tenant.as_str()),
            client: ClientId::new(self.client_id.as_str()),
            grant: GrantId::new(self.jti.split_once('.')?.0),
            scopes: Scopes::parse(&self.scope.join(" ")).scopes,
            expires_at: Ticks::from_unix_seconds(self.exp),
        })
    }
}

/// The claims that are read from an `id_token_hint`, which may have expired.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct IdTokenHint {
    iss: String,
    pub(crate) aud: String,
    pub(crate) sub: String,
    /// Access tokens and logout tokens have a `jti`, whatever its value; they are not accepted as hints.
    #[serde(default, rename = "jti", deserialize_with = "is_present")]
    has_jti: bool,
}

/// True for any value, null among them.
fn is_present<'de, D: Deserializer<'de>>(member: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(member).map(|_| true)
}

impl IdTokenHint {
    pub(crate) fn is_valid_for(&self, settings: &Settings) -> bool {
        self.iss == settings.issuer && !self.has_jti
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_with_a_jti_of_any_value_is_refused() {
        let settings = crate::fuzzing::settings();
        let is_accepted = |more: &str| {
            let claims = format!(r#"{{"iss":"{}","aud":"app","sub":"maria"{more}}}"#, settings.issuer);
            serde_json::from_str::<IdTokenHint>(&claims).is_ok_and(|hint| hint.is_valid_for(&settings))
        };
        assert!(is_accepted("") && is_accepted(r#","exp":0"#));
        for jti in [r#""grant.1""#, "null", r#""""#, "1", "[]", "{}", "false"] {
            assert!(!is_accepted(&format!(r#","jti":{jti}"#)), "{jti}");
        }
    }
}
