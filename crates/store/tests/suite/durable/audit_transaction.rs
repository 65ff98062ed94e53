//! Audit and mutation are one transaction: where the entry cannot be written, nothing is changed.

use std::time::Duration;

use domain::{AccountId, Guid, Realm, RequestId, Secret, TeamId, Ticks};
use store::{
    AccountUpdate, Client, ClientSecret, ClientUpdate, FactorEffects, GrantSession, InvitationLink, KeySlot,
    Logout, LogoutEnd, MemberStep, ReceiverMode, ReplayKind, Session, Status, SubscriptionUpdate, TeamRole,
    TeamUpdate, TenantUpdate, WebhookChange,
};

use super::rows::{fill_every_table, rows};
use crate::suite::clients::{client, subscription};
use crate::suite::codes::{code, context, membership_id};
use crate::suite::directory::{membership, user};
use crate::suite::fixture::{Fixture, StoreKind, by, new_tenant};
use crate::suite::invitations::{invitation, person};
use crate::suite::mails::mail;
use crate::suite::operators::named_token;
use crate::suite::postgres_database::connect;
use crate::suite::requests::{approval, new_client, request};
use crate::suite::sandboxes::{new_sandbox, reset_of};
use crate::suite::second_factors::{codes, totp};
use crate::suite::sessions::{session, sign_in_entry, sign_out_entry};
use crate::suite::signing_keys::signing_key;
use crate::suite::teams::{add_developer, member_change, team};
use crate::suite::webhook_fixtures::{create_webhook, new_webhook};

pub(super) async fn execute(fixture: &Fixture, sql: &str) {
    if fixture.kind == StoreKind::Sqlite {
        rusqlite::Connection::open(fixture.file()).unwrap().execute_batch(sql).unwrap();
    } else {
        connect(&fixture.url()).await.batch_execute(sql).await.unwrap();
    }
}

pub(crate) async fn mutation_without_its_audit_entry_is_rolled_back(fixture: Fixture) {
    let tenant = fill_every_table(&fixture).await;
    let webhook = create_webhook(&fixture.store, new_webhook(&fixture, &tenant, "third")).await;
    add_developer(&fixture, "leo").await;
    fixture.store.add_team(&team(&fixture, "other"), &by()).await.unwrap();
    let logout = queued_logout(&fixture).await;
    let mut before = rows(fixture.handle.archive()).await;
    execute(&fixture, "ALTER TABLE audit RENAME TO audit_elsewhere").await;
    let mut failed = every_mutation(&fixture, &tenant.id, webhook.id).await;
    failed.extend(sandbox_mutations(&fixture).await);
    let ended = fixture.store.logout_ended(&logout, &LogoutEnd::Delivered, fixture.now()).await;
    failed.push(("logout_ended", ended.is_err()));
    execute(&fixture, "ALTER TABLE audit_elsewhere RENAME TO audit").await;
    for (name, is_error) in failed {
        assert!(is_error, "{name} succeeded without an audit entry");
    }
    let mut after = rows(fixture.handle.archive()).await;
    for (table, rows) in &mut after {
        assert_eq!(before.remove(table).as_ref(), Some(&*rows), "{table}");
    }
}

/// A back-channel logout that is due.
async fn queued_logout(fixture: &Fixture) -> Logout {
    let (store, now, cookie) = (&fixture.store, fixture.now(), Secret::new("told"));
    let uri = Some("https://told.example/logout".to_owned());
    let told = Client { backchannel_logout_uri: uri, ..client(fixture, "told") };
    store.add_client(&told, &Secret::new("told-secret"), &by()).await.unwrap();
    let one = Session { id: Guid::from_bytes([77; 16]), ..session("maria", now) };
    store.begin_session(&cookie, &one, None, None, &sign_in_entry("maria", now)).await.unwrap();
    let in_session = GrantSession { id: one.id, expires_at: one.expires_at };
    store.join_session(in_session, &one.account, &told.id, &by()).await.unwrap();
    store.end_session(Realm::Users, &cookie, &sign_out_entry("maria", now)).await.unwrap();
    store.due_logouts(now, Duration::from_secs(60), 9).await.unwrap().remove(0).logout
}

/// The same for the mutations of sandboxes.
async fn sandbox_mutations(fixture: &Fixture) -> Vec<(&'static str, bool)> {
    let (store, by, panel) = (&fixture.store, &by(), TeamId::new("panel"));
    vec![
        ("add_sandbox", {
            let new = new_sandbox(fixture, "other", 9);
            store.add_sandbox(&TeamId::new("other"), &new, by).await.is_err()
        }),
        ("reset_sandbox", store.reset_sandbox(&panel, &reset_of(fixture, "panel", 2), by).await.is_err()),
        ("set_receiver_mode", store.set_receiver_mode(&panel, ReceiverMode::Fail, by).await.is_err()),
    ]
}

fn disabled_with_new_password() -> AccountUpdate {
    let (status, password_hash) = (Some(Status::Disabled), Some("h".into()));
    AccountUpdate { status, password_hash, ..AccountUpdate::default() }
}

/// Tries each mutation; returns which of them failed.
async fn every_mutation(
    fixture: &Fixture,
    tenant: &domain::TenantId,
    webhook: domain::WebhookId,
) -> Vec<(&'static str, bool)> {
    let (store, now, by) = (&fixture.store, fixture.now(), &by());
    let (maria, erp, one) = (user(fixture, "maria"), client(fixture, "erp"), subscription(fixture, "s1"));
    let secret = ClientSecret { secret: Secret::new("client-secret-3"), previous_valid_until: now };
    let [a, b, c] = ["a", "b", "c"].map(Secret::new);
    let user_update = disabled_with_new_password();
    let tenant_update = TenantUpdate { status: Some(Status::Disabled) };
    let (ana, token) = (AccountId::new("ana"), named_token(fixture, "t1", "nightly ñ"));
    let rename = AccountUpdate { given_name: Some("Ana".into()), ..AccountUpdate::default() };
    let client_update = ClientUpdate { name: Some("x".into()), ..ClientUpdate::default() };
    let quota = SubscriptionUpdate { daily_quota: Some(Some(9)), ..SubscriptionUpdate::default() };
    let invited = invitation(fixture, "i1", Realm::Developers);
    let link = InvitationLink { token: &a, expires_at: now, mail: None };
    let (panel, team_update) = (TeamId::new("panel"), TeamUpdate { name: Some("x".into()), status: None });
    let join = member_change("panel", "leo", MemberStep::Add(TeamRole::Member));
    let test_tenant = crate::suite::test_tenant::TestTenant::new(store.clone(), tenant.clone());
    vec![
        ("add_tenant", store.add_tenant(&new_tenant("x", now), by).await.is_err()),
        ("update_tenant", store.update_tenant(tenant, &tenant_update, None, by).await.is_err()),
        ("erase_tenant", store.erase_tenant(tenant, by).await.is_err()),
        ("add_account", store.add_account(&user(fixture, "eva"), &[], by).await.is_err()),
        ("update_account", store.update_account(&maria.id, &user_update, None, by).await.is_err()),
        ("add_membership", {
            store.add_membership(&membership(fixture, "m9", "ana", tenant), by).await.is_err()
        }),
        ("remove_membership", store.remove_membership(&maria.id, tenant, by).await.is_err()),
        ("add_client", store.add_client(&client(fixture, "new"), &a, by).await.is_err()),
        ("update_client", store.update_client(&erp.id, &client_update, None, by).await.is_err()),
        ("set_client_secret", store.set_client_secret(&erp.id, &secret, by).await.is_err()),
        ("add_subscription", {
            store.add_subscription(&subscription(fixture, "s9"), &a, &b, by).await.is_err()
        }),
        ("update_subscription", store.update_subscription(&one.id, &quota, None, by).await.is_err()),
        ("rotate_key", store.rotate_key(&one.id, KeySlot::Primary, &c, now, by).await.is_err()),
        ("reveal_key", store.reveal_key(&one.id, KeySlot::Primary, by).await.is_err()),
        ("cancel_subscription", store.cancel_subscription(&one.id, now, by).await.is_err()),
        ("add_team", store.add_team(&team(fixture, "new"), by).await.is_err()),
        ("update_team", store.update_team(&panel, &team_update, None, by).await.is_err()),
        ("change_team_member", store.change_team_member(&join, by).await.is_err()),
        ("set_notice_preferences", {
            let (eva, all) = (AccountId::new("eva"), domain::NoticeKinds::all());
            store.set_notice_preferences(&panel, &eva, all, by).await.is_err()
        }),
        ("add_request", store.add_request(&request(fixture, "new", new_client()), by).await.is_err()),
        ("decide_request", {
            store.decide_request(&RequestId::new("r1"), &approval(9), None, by).await.is_err()
        }),
        ("add_operator_token", {
            store.add_operator_token(&named_token(fixture, "t9", "new"), &a, by).await.is_err()
        }),
        ("revoke_operator_token", store.revoke_operator_token(&token.id, now, by).await.is_err()),
        ("update_operator", store.update_operator(&ana, &rename, None, by).await.is_err()),
        ("add_signing_key", {
            store.add_signing_key(&signing_key("kid-2", now), Some("kid-1"), by).await.is_err()
        }),
        ("retire_signing_key", store.retire_signing_key("kid-1", now, by).await.is_err()),
        ("delete_signing_key", store.delete_signing_key("kid-1", by).await.is_err()),
        ("store_code", store.store_code(&a, &code(now), &membership_id(), now, by).await.is_err()),
        ("subscribe", {
            store.subscribe(new_webhook(fixture, &test_tenant, "fourth"), 100, by).await.is_err()
        }),
        ("change_webhook", {
            store.change_webhook(webhook, None, WebhookChange::Disable, by).await.is_err()
        }),
        ("request_replay", { store.request_replay(webhook, ReplayKind::Test, (0, 0), by).await.is_err() }),
        ("revoke_grant", store.revoke_grant(&domain::GrantId::new("g1"), now, &context(), "").await.is_err()),
        ("make_invitation", {
            let one = invitation(fixture, "i9", Realm::Users);
            store.make_invitation(&one, &link, by).await.is_err()
        }),
        ("resend_invitation", store.resend_invitation(&invited.id, &link, by).await.is_err()),
        ("revoke_invitation", store.revoke_invitation(&invited.id, by).await.is_err()),
        ("accept_invitation", {
            let token = Secret::new("invitation-link-1");
            store.accept_invitation(Realm::Developers, &token, &person("nora"), by).await.is_err()
        }),
        ("request_password_reset", {
            store.request_password_reset(&maria.id, &a, now, Some(&mail(8, now)), by).await.is_err()
        }),
        ("reset_password", {
            let token = Secret::new("reset-link-1");
            store.reset_password(Realm::Users, &token, "hash", None, by).await.is_err()
        }),
        ("begin_session", {
            store
                .begin_session(&b, &session("maria", now), None, None, &sign_in_entry("maria", now))
                .await
                .is_err()
        }),
        ("add_second_factor", {
            let effects = &FactorEffects::default();
            store.add_second_factor(&totp(9, "maria", now), &codes(fixture), None, effects, by).await.is_err()
        }),
        ("rename_second_factor", {
            store.rename_second_factor(&maria.id, totp(1, "maria", now).id, "x", by).await.is_err()
        }),
        ("remove_second_factor", {
            let (id, effects) = (totp(1, "maria", now).id, &FactorEffects::default());
            store.remove_second_factor(&maria.id, id, effects, by).await.is_err()
        }),
        ("reset_second_factors", {
            store.reset_second_factors(&maria.id, &FactorEffects::default(), by).await.is_err()
        }),
        ("set_recovery_codes", {
            let effects = FactorEffects::default();
            store.set_recovery_codes(&maria.id, &codes(fixture), &effects, by).await.is_err()
        }),
        ("end_session", {
            store
                .end_session(Realm::Users, &Secret::new("session-1"), &sign_out_entry("maria", Ticks(9)))
                .await
                .is_err()
        }),
    ]
}
