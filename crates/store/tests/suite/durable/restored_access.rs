//! The access that a backup contains: it stands at once, or after each user's next sign-in.

use std::time::Duration;

use domain::{Realm, Secret};
use store::{RestoredAccess, Status, StoreError, TokenState, WebhookOwner};

use super::backup::{Backup, restore_with};
use crate::suite::fixture::{Fixture, by, master_key};
use crate::suite::live_grants::issue_grant_with_owners;
use crate::suite::operators::named_token;
use crate::suite::sessions::{session, sign_in_entry};
use crate::suite::webhook_fixtures::{create_webhook, new_webhook_of};

/// Both fixtures have the same randomness: the entry of the restore needs a time of its own.
async fn later_fixture(fixture: &Fixture) -> Fixture {
    let target = Fixture::open(fixture.kind).await;
    target.clock.advance(Duration::from_millis(500));
    target
}

pub(crate) async fn confirmed_access_stands_after_the_users_next_sign_in(fixture: Fixture) {
    let now = fixture.now();
    let active = issue_grant_with_owners(&fixture, "active").await;
    let disabled = issue_grant_with_owners(&fixture, "disabled").await;
    let owner = WebhookOwner { tenant: active.tenant.clone(), client: active.client.clone() };
    let webhook = create_webhook(&fixture.store, new_webhook_of(&fixture, owner, "active")).await;
    fixture.store.set_account_status(&disabled.user, Status::Disabled, &by()).await.unwrap();
    let cookie = Secret::new("cookie");
    let entry = sign_in_entry("active", now);
    fixture.store.begin_session(&cookie, &session("active", now), None, None, &entry).await.unwrap();
    let backup = Backup::of(&fixture.handle, &fixture).await;

    let target = later_fixture(&fixture).await;
    let access = RestoredAccess::Confirm;
    restore_with(&backup.path(), &backup.summary, target.handle.archive(), access).await.unwrap();
    let store = &target.store;
    assert_eq!(store.find_session(Realm::Users, &cookie, now).await, Ok(None), "sessions do not survive");
    assert_eq!(store.is_grant_live(&active.id).await, Ok(false));
    let statuses = [
        store.find_account(&active.user).await.unwrap().unwrap().status,
        store.find_account(&disabled.user).await.unwrap().unwrap().status,
    ];
    assert_eq!(statuses, [Status::Unconfirmed, Status::Disabled]);
    let before = store.changed_webhooks(0).await.unwrap().last_change;
    let later = now + Duration::from_secs(1);
    let entry = sign_in_entry("active", later);
    store.begin_session(&cookie, &session("active", later), None, None, &entry).await.unwrap();
    assert_eq!(store.is_grant_live(&active.id).await, Ok(true));
    assert_eq!(store.is_grant_live(&disabled.id).await, Ok(false));
    let reloaded = store.changed_webhooks(before).await.unwrap().webhooks;
    assert_eq!(reloaded, [webhook.id], "the engine learns that its owner has access again");
}

/// Those that stood may have been revoked since.
pub(crate) async fn confirmed_restore_revokes_named_tokens(fixture: Fixture) {
    let (token, secret) = (named_token(&fixture, "1", "nightly"), Secret::new("secret-1"));
    fixture.store.add_operator_token(&token, &secret, &by()).await.unwrap();
    let backup = Backup::of(&fixture.handle, &fixture).await;
    let state_after = async |access| {
        let target = later_fixture(&fixture).await;
        restore_with(&backup.path(), &backup.summary, target.handle.archive(), access).await.unwrap();
        let found = target.store.find_operator_token_by_secret(&secret).await.unwrap().unwrap();
        found.state(target.now())
    };
    assert_eq!(state_after(RestoredAccess::Confirm).await, TokenState::Revoked);
    assert_eq!(state_after(RestoredAccess::Keep).await, TokenState::Live);
}

pub(crate) async fn kept_access_stands_at_once(fixture: Fixture) {
    let issued = issue_grant_with_owners(&fixture, "active").await;
    let backup = Backup::of(&fixture.handle, &fixture).await;
    let target = later_fixture(&fixture).await;
    backup.restore(&target.handle).await.unwrap();
    assert_eq!(target.store.is_grant_live(&issued.id).await, Ok(true));
}

pub(crate) async fn store_with_an_unfinished_restore_does_not_open(fixture: Fixture) {
    let target = later_fixture(&fixture).await;
    target.handle.archive().begin_restore().await.unwrap();
    let refused = target.reopen_with(&master_key()).await.err();
    assert_eq!(refused, Some(StoreError::UnfinishedRestore));
    target.handle.archive().end_restore().await.unwrap();
    target.reopen().await;
}
