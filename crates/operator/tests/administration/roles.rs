//! What a role does not permit is refused by the administration itself, whoever calls it, and changes nothing.

use std::time::Duration;

use domain::subscription::Products;
use domain::{OperatorRole, Realm, Secret, TenantId};
use operator::admin::{
    Admin, AdminError, Authority, NewClient, NewInvitation, NewSubscription, NewUser, Permission, UserChange,
};
use operator::ingest::IngestRequest;
use store::{
    AuditContext, AuditQuery, CallbackIdToken, ClientUpdate, Consent, KeySlot, Pkce, Status,
    SubscriptionUpdate, TeamUpdate, TenantUpdate,
};

use super::fixture::Api;

fn acting(admin: &Admin, role: OperatorRole) -> Admin {
    admin.acting(Authority::new(AuditContext::default(), role))
}

fn new_client(id: &str) -> NewClient {
    NewClient {
        id: Some(id.into()),
        name: id.into(),
        kind: domain::ClientKind::Web,
        redirect_uris: vec!["https://app.example/cb".into()],
        post_logout_uris: Vec::new(),
        backchannel_logout_uri: None,
        pkce: Some(Pkce::IfSent),
        consent: Consent::None,
        callback_id_token: CallbackIdToken::Auto,
        products: Products::all(),
        team: None,
    }
}

fn new_user(email: &str) -> NewUser {
    let password = Secret::new("una contraseña larga");
    NewUser {
        email: email.into(),
        given_name: "Eva".into(),
        family_name: String::new(),
        lang: "es".into(),
        password,
        tenants: Vec::new(),
    }
}

fn new_invitation(email: &str) -> NewInvitation {
    NewInvitation {
        realm: Realm::Operators,
        email: email.into(),
        name: String::new(),
        lang: "es".into(),
        tenants: Vec::new(),
        role: None,
        team: String::new(),
        is_team_owner: false,
    }
}

fn new_subscription() -> NewSubscription {
    NewSubscription { name: "s".into(), products: Products::all(), daily_quota: None, team: None }
}

async fn audit_entries(admin: &Admin) -> usize {
    admin.store.audit(&AuditQuery { rows_max: 1000, ..AuditQuery::default() }).await.unwrap().len()
}

/// Calls every method that needs the role `admin`; each with valid input, most on objects that exist.
async fn admin_methods(
    by: &Admin,
    subscription: &str,
    invitation: &str,
) -> Vec<(&'static str, Result<(), AdminError>)> {
    let user = by.user("eva@example.com").await.unwrap();
    let tenant = TenantId::new("norte");
    let uris = ["https://app.example/other".to_owned()];
    let user_change = UserChange { status: Some(Status::Disabled), ..UserChange::default() };
    let client_update = ClientUpdate { name: Some("B".into()), ..ClientUpdate::default() };
    let quota = SubscriptionUpdate { daily_quota: Some(Some(7)), ..SubscriptionUpdate::default() };
    let tenant_update = TenantUpdate { status: Some(Status::Active) };
    let overlap = Duration::ZERO;
    vec![
        ("add_tenant", by.add_tenant(Some("sur"), "Sur", None).await.map(drop)),
        ("update_tenant", by.update_tenant(&tenant, &tenant_update, None).await.map(drop)),
        ("update_tenant, nothing", by.update_tenant(&tenant, &TenantUpdate::default(), None).await.map(drop)),
        ("set_tenant_status", by.set_tenant_status(&tenant, Status::Active).await.map(drop)),
        ("add_user", by.add_user(new_user("new@example.com")).await.map(drop)),
        ("update_user", by.update_user(&user, user_change, None).await.map(drop)),
        ("update_user, nothing", by.update_user(&user, UserChange::default(), None).await.map(drop)),
        ("set_user_status", by.set_user_status(&user.email, Status::Active).await.map(drop)),
        ("set_password", by.set_password(&user.email, Secret::new("otra contraseña")).await.map(drop)),
        ("send_password_reset", by.send_password_reset(Realm::Users, &user.email).await.map(drop)),
        ("end_sessions", by.end_sessions(Realm::Users, &user.email).await.map(drop)),
        ("reset_second_factors", by.reset_second_factors(Realm::Users, &user.email).await.map(drop)),
        ("add_membership", by.add_membership(&user, &tenant).await.map(drop)),
        ("set_membership_admin", by.set_membership_admin(&user, &tenant, true).await),
        ("remove_membership", by.remove_membership(&user.email, &tenant).await),
        ("invite", by.invite(new_invitation("invited@example.com")).await.map(drop)),
        ("resend_invitation", by.resend_invitation(invitation).await.map(drop)),
        ("revoke_invitation", by.revoke_invitation(invitation).await.map(drop)),
        ("add_team", by.add_team(Some("sur"), "Sur").await.map(drop)),
        ("update_team", by.update_team("panel", TeamUpdate::default(), None).await.map(drop)),
        ("set_team_status", by.set_team_status("panel", Status::Active).await.map(drop)),
        ("add_client", by.add_client(new_client("other")).await.map(drop)),
        ("update_client", by.update_client("app", client_update, None).await.map(drop)),
        ("set_client_status", by.set_client_status("app", Status::Active).await.map(drop)),
        ("add_redirect_uris", by.add_redirect_uris("app", &uris).await.map(drop)),
        ("remove_redirect_uris", by.remove_redirect_uris("app", &uris).await.map(drop)),
        ("rotate_client_secret", by.rotate_client_secret("app", overlap).await.map(drop)),
        ("add_subscription", by.add_subscription(new_subscription()).await.map(drop)),
        ("update_subscription", by.update_subscription(subscription, quota, None).await.map(drop)),
        ("set_subscription_status", by.set_subscription_status(subscription, Status::Active).await.map(drop)),
        ("set_daily_quota", by.set_daily_quota(subscription, None).await.map(drop)),
        ("rotate_key", by.rotate_key(subscription, KeySlot::Primary, overlap).await.map(drop)),
        ("cancel_subscription", by.cancel_subscription(subscription).await.map(drop)),
        ("erase_tenant", by.erase_tenant(&tenant).await.map(drop)),
    ]
}

#[tokio::test]
async fn accounts_keys_and_configuration_are_for_admins_alone() {
    let api = Api::new();
    let admin = acting(&api.admin, OperatorRole::Admin);
    admin.add_tenant(Some("norte"), "Norte", None).await.unwrap();
    admin.add_user(new_user("eva@example.com")).await.unwrap();
    admin.add_team(Some("panel"), "Panel").await.unwrap();
    admin.add_client(new_client("app")).await.unwrap();
    let subscription = admin.add_subscription(new_subscription()).await.unwrap().0.id;
    let invitation = admin.invite(new_invitation("jon@example.com")).await.unwrap().invitation.id;
    let before = audit_entries(&admin).await;
    for role in [OperatorRole::Viewer, OperatorRole::Support] {
        for (method, result) in
            admin_methods(&acting(&admin, role), subscription.as_str(), invitation.as_str()).await
        {
            assert!(matches!(result, Err(AdminError::Forbidden(_))), "{method} as {role:?}: {result:?}");
        }
    }
    assert_eq!(audit_entries(&admin).await, before);
    for (method, result) in admin_methods(&admin, subscription.as_str(), invitation.as_str()).await {
        assert!(result.is_ok(), "{method}: {result:?}");
    }
}

#[test]
fn changes_need_the_role_support() {
    for role in OperatorRole::ALL {
        let by = Authority::new(AuditContext::default(), role);
        let request = IngestRequest::new(&by, TenantId::new("norte"));
        assert_eq!(request.is_ok(), Permission::Changes.is_given_to(role), "{role:?}");
    }
}
