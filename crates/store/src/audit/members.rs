//! The members of audited rows that an entry may show. Each list takes its struct apart, so that a new field does not
//! compile until it is decided whether the audit shows it.

use domain::Ticks;
use serde_json::{Value, json};

use super::MemberChange;
use crate::{
    Account, Client, Consent, Invitation, Membership, NamedToken, Pkce, RequestKind, SigningKey,
    Subscription, Team, TeamMember, TeamRequest, Tenant, Webhook,
};

/// A row whose changes are audited.
pub(crate) trait Audited {
    /// Names and values, without secrets, ids and what the service counts by itself.
    fn members(&self) -> Vec<(&'static str, Value)>;
}

/// The members that differ. A row that did not exist before, or no longer does, has only new or only old values; empty
/// ones are left out.
pub(crate) fn differences<T: Audited>(before: Option<&T>, after: Option<&T>) -> Vec<MemberChange> {
    let (before, after) = (before.map(T::members), after.map(T::members));
    let names: Vec<&str> =
        before.iter().chain(&after).next().into_iter().flatten().map(|(name, _)| *name).collect();
    let value = |members: &Option<Vec<(&str, Value)>>, at: usize| {
        members.as_ref().and_then(|members| members.get(at)).map_or(Value::Null, |(_, value)| value.clone())
    };
    let change = |(at, name): (usize, &str)| {
        let (from, to) = (value(&before, at), value(&after, at));
        (from != to).then(|| MemberChange { member: name.to_owned(), from, to })
    };
    names.into_iter().enumerate().filter_map(change).collect()
}

/// A secret that changed: only its name is shown.
pub(crate) fn secret(member: &str) -> MemberChange {
    MemberChange { member: member.to_owned(), from: Value::Null, to: Value::Null }
}

pub(crate) fn new_value(member: &str, to: impl Into<Value>) -> MemberChange {
    MemberChange { member: member.to_owned(), from: Value::Null, to: to.into() }
}

fn time(at: Option<Ticks>) -> Value {
    at.map_or(Value::Null, |at| at.iso().into())
}

/// Empty text as an absent value.
fn text(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { text.into() }
}

fn texts(texts: &[String]) -> Value {
    if texts.is_empty() { Value::Null } else { json!(texts) }
}

impl Audited for Tenant {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self { id: _, name, short_code, status, created_at: _, revision: _, sandbox_of } = self;
        vec![
            ("name", text(name)),
            ("shortCode", text(short_code)),
            ("status", status.as_str().into()),
            ("sandboxOf", sandbox_of.as_ref().map_or(Value::Null, |team| team.as_str().into())),
        ]
    }
}

impl Audited for Account {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self {
            id: _,
            realm: _,
            email,
            given_name,
            family_name,
            lang,
            password_hash: _,
            status,
            role,
            created_at: _,
            updated_at: _,
            revision: _,
        } = self;
        vec![
            ("email", text(email)),
            ("givenName", text(given_name)),
            ("familyName", text(family_name)),
            ("lang", text(lang)),
            ("status", status.as_str().into()),
            ("role", role.map_or(Value::Null, |role| role.as_str().into())),
        ]
    }
}

impl Audited for Invitation {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self {
            id: _,
            realm,
            email,
            name,
            lang,
            tenants,
            role,
            team,
            is_team_owner,
            invited_by: _,
            created_at: _,
            expires_at,
            accepted_at: _,
            revoked_at: _,
        } = self;
        let tenants: Vec<String> = tenants.iter().map(ToString::to_string).collect();
        vec![
            ("realm", realm.as_str().into()),
            ("email", text(email)),
            ("name", text(name)),
            ("lang", text(lang)),
            ("tenants", texts(&tenants)),
            ("role", role.map_or(Value::Null, |role| role.as_str().into())),
            ("team", text(team)),
            ("teamOwner", if *is_team_owner { true.into() } else { Value::Null }),
            ("expiresAt", time(Some(*expires_at))),
        ]
    }
}

impl Audited for Membership {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self {
            id: _,
            user: _,
            tenant: _,
            modules,
            key_user_correlation_id: _,
            equipo_user_id: _,
            second_client_id: _,
            created_at: _,
            last_used_at: _,
            is_admin,
        } = self;
        vec![("modules", text(modules)), ("admin", (*is_admin).into())]
    }
}

impl Audited for Client {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self {
            id: _,
            guid: _,
            name,
            kind,
            redirect_uris,
            post_logout_uris,
            backchannel_logout_uri,
            pkce,
            consent,
            callback_id_token,
            products,
            team,
            is_sandbox,
            status,
            created_at: _,
            revision: _,
        } = self;
        vec![
            ("name", text(name)),
            ("kind", kind.as_str().into()),
            ("redirectUris", texts(redirect_uris)),
            ("postLogoutUris", texts(post_logout_uris)),
            ("backchannelLogoutUri", json!(backchannel_logout_uri)),
            ("pkce", pkce_name(*pkce).into()),
            ("consent", (*consent == Consent::Required).into()),
            ("callbackIdToken", callback_id_token.as_str().into()),
            ("products", json!(products.names())),
            ("team", json!(team)),
            ("sandbox", if_true(*is_sandbox)),
            ("status", status.as_str().into()),
        ]
    }
}

impl Audited for Subscription {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self {
            id: _,
            name,
            products,
            team,
            is_sandbox,
            status,
            created_at: _,
            daily_quota,
            cancelled_at,
            revision: _,
        } = self;
        vec![
            ("name", text(name)),
            ("products", json!(products.names())),
            ("team", json!(team)),
            ("sandbox", if_true(*is_sandbox)),
            ("status", status.as_str().into()),
            ("dailyQuota", json!(daily_quota)),
            ("cancelledAt", time(*cancelled_at)),
        ]
    }
}

impl Audited for Team {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self { id: _, name, status, created_at: _, revision: _ } = self;
        vec![("name", text(name)), ("status", status.as_str().into())]
    }
}

impl Audited for TeamMember {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self { team: _, account, role, created_at: _ } = self;
        vec![("developer", json!(account)), ("role", role.as_str().into())]
    }
}

impl Audited for TeamRequest {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self {
            id: _,
            team,
            kind,
            state,
            note,
            asked_by: _,
            created_at: _,
            decided_by: _,
            decided_at: _,
            reason,
            result,
            revision: _,
        } = self;
        let mut members = vec![("team", json!(team)), ("kind", kind.as_str().into())];
        members.extend(asked_members(kind));
        members.extend([
            ("state", state.as_str().into()),
            ("note", text(note)),
            ("reason", text(reason)),
            ("result", json!(result)),
        ]);
        members
    }
}

fn asked_members(kind: &RequestKind) -> Vec<(&'static str, Value)> {
    match kind {
        RequestKind::Client { name, kind, redirect_uris, products, pkce, is_sandbox } => vec![
            ("name", text(name)),
            ("clientKind", kind.as_str().into()),
            ("redirectUris", texts(redirect_uris)),
            ("products", json!(products.names())),
            ("pkce", pkce_name(*pkce).into()),
            ("sandbox", if_true(*is_sandbox)),
        ],
        RequestKind::RedirectUri { client, uri } => {
            vec![("client", json!(client)), ("redirectUri", text(uri))]
        }
        RequestKind::Subscription { name, product, is_sandbox } => vec![
            ("name", text(name)),
            ("product", product.as_str().into()),
            ("sandbox", if_true(*is_sandbox)),
        ],
    }
}

fn pkce_name(pkce: Pkce) -> &'static str {
    match pkce {
        Pkce::Required => "required",
        Pkce::IfSent => "if-sent",
        Pkce::Ignore => "ignore",
    }
}

/// False as an absent value.
fn if_true(is_so: bool) -> Value {
    if is_so { true.into() } else { Value::Null }
}

impl Audited for NamedToken {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self { id: _, name, role, created_at: _, created_by: _, expires_at, last_used_at: _, revoked_at } =
            self;
        vec![
            ("name", text(name)),
            ("role", role.as_str().into()),
            ("expiresAt", time(*expires_at)),
            ("revokedAt", time(*revoked_at)),
        ]
    }
}

impl Audited for SigningKey {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self { kid: _, private: _, public_jwk: _, created_at: _, signs_from, retired_at } = self;
        vec![("signsFrom", time(Some(*signs_from))), ("retiredAt", time(*retired_at))]
    }
}

impl Audited for Webhook {
    fn members(&self) -> Vec<(&'static str, Value)> {
        let Self {
            id: _,
            owner: _,
            user: _,
            resource,
            kinds,
            name,
            description,
            url,
            original_url: _,
            secret: _,
            previous_secret: _,
            host_mismatch: _,
            created_at: _,
            enabled,
            handshake: _,
            disabled,
            suspended_at: _,
            unsubscribed_at,
            deleted_at,
            revision: _,
            cursor: _,
            initial_cursor: _,
            event_gap: _,
        } = self;
        let kinds: Vec<&str> = kinds.iter().map(domain::event::EventKind::as_str).collect();
        vec![
            ("resource", format!("{}/{}", resource.area().as_str(), resource.as_str()).into()),
            ("events", json!(kinds)),
            ("name", text(name)),
            ("description", text(description)),
            ("url", shown_url(url)),
            ("enabled", (*enabled).into()),
            ("disabledByService", disabled.as_ref().map_or(Value::Null, |one| text(&one.reason))),
            ("unsubscribedAt", time(*unsubscribed_at)),
            ("deletedAt", time(*deleted_at)),
        ]
    }
}

/// Without the query, which may hold a credential of the receiver. A digest keeps two queries apart.
fn shown_url(url: &str) -> Value {
    match url.split_once('?') {
        None => url.into(),
        Some((address, query)) => {
            let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, query.as_bytes());
            let digest = domain::secret::hex(digest.as_ref().get(..4).unwrap_or_default());
            format!("{address}?… (query {digest})").into()
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::TenantId;

    use super::*;
    use crate::Status;

    fn tenant(name: &str, status: Status) -> Tenant {
        let id = TenantId::new("t");
        Tenant {
            id,
            name: name.into(),
            short_code: String::new(),
            status,
            created_at: Ticks(0),
            revision: 1,
            sandbox_of: None,
        }
    }

    #[test]
    fn only_members_that_differ_are_listed() {
        let (old, new) = (tenant("A", Status::Active), tenant("A", Status::Disabled));
        let status = |from: Value, to: Value| MemberChange { member: "status".into(), from, to };
        assert_eq!(differences(Some(&old), Some(&new)), [status("active".into(), "disabled".into())]);
        assert_eq!(differences(Some(&old), Some(&old)), []);
        assert_eq!(differences(None, Some(&old)), [new_value("name", "A"), new_value("status", "active")]);
        let gone = differences(Some(&old), None);
        assert_eq!((gone.len(), &gone[1]), (2, &status("active".into(), Value::Null)));
    }

    #[test]
    fn query_of_a_url_is_not_shown() {
        assert_eq!(shown_url("https://h/x"), "https://h/x");
        let shown = shown_url("https://h/x?token=hush").to_string();
        assert!(shown.contains("https://h/x?") && !shown.contains("hush"), "{shown}");
        assert_ne!(shown_url("https://h/x?a"), shown_url("https://h/x?b"));
    }
}
