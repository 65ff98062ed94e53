//! Users who authorize applications, as the identity provider does when it exchanges a code.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::{AccountId, ClientId, GrantId, Guid, MembershipId, Scopes, Secret, TenantId, Ticks};
use store::memory::MemoryStore;
use store::{
    Account, Accounts as _, AuditContext, AuthorizationCode, CodeExchange, CodeOutcome, FIRST_REVISION,
    Grant, Grants as _, Membership, NewGrant, Status,
};

pub(crate) const USER: &str = "user";
pub(crate) const ALL_SCOPES: &str = "openid SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.COR.API SVC.ES.Webhooks";
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Adds the user, as a member of these tenants.
pub(crate) async fn add_account(store: &MemoryStore, tenants: &[&str], now: Ticks) {
    let user = Account {
        id: AccountId::new(USER),
        realm: domain::Realm::Users,
        role: None,
        email: "user@example.com".into(),
        given_name: "Eva".into(),
        family_name: String::new(),
        lang: "es".into(),
        password_hash: String::new(),
        status: Status::Active,
        created_at: now,
        updated_at: now,
        revision: FIRST_REVISION,
    };
    let membership = |tenant: &&str| Membership {
        id: MembershipId::new(format!("{USER} in {tenant}")),
        user: user.id.clone(),
        tenant: TenantId::new(*tenant),
        modules: String::new(),
        key_user_correlation_id: Guid::from_bytes([1; 16]),
        equipo_user_id: String::new(),
        second_client_id: String::new(),
        created_at: now,
        last_used_at: None,
        is_admin: false,
    };
    let memberships: Vec<Membership> = tenants.iter().map(membership).collect();
    store.add_account(&user, &memberships, &AuditContext::default()).await.unwrap();
}

/// The user signs in to the client.
pub(crate) async fn authorize(store: &MemoryStore, tenant: &str, client: &str, scopes: &str, now: Ticks) {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let (secret, client) = (Secret::new(format!("code {number}")), ClientId::new(client));
    let (user, tenant) = (AccountId::new(USER), TenantId::new(tenant));
    let expires_at = now + Duration::from_secs(3600);
    let code = AuthorizationCode {
        client: client.clone(),
        user: user.clone(),
        tenant: tenant.clone(),
        expires_at,
        details: String::new(),
    };
    store.store_code(&secret, &code, &MembershipId::new(""), now, &AuditContext::default()).await.unwrap();
    let grant = Grant {
        id: GrantId::new(format!("grant {number}")),
        client: client.clone(),
        user,
        tenant,
        details: String::new(),
        created_at: now,
        last_used_at: now,
        expires_at,
        revoked_at: None,
    };
    let new = NewGrant { grant, scopes: Scopes::parse(scopes).scopes, refresh: None, session: None };
    let exchange = CodeExchange { code: secret, client, now, context: AuditContext::default() };
    let outcome = store.take_code(&exchange, Box::new(|_| Some(new))).await.unwrap();
    assert!(matches!(outcome, CodeOutcome::Redeemed { .. }), "{outcome:?}");
}
