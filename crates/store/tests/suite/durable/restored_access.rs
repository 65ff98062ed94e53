//! The access that a backup contains: it stands at once, or after each user's next sign-in.

use std::time::Duration;

use domain::Secret;
use store::{RestoredAccess, Status};

use super::backup::{Backup, restore_with};
use crate::suite::fixture::{Fixture, by};
use crate::suite::live_grants::issue_grant_with_owners;
use crate::suite::sessions::{session, sign_in_entry};

pub(crate) async fn confirmed_access_stands_after_the_users_next_sign_in(fixture: Fixture) {
    let now = fixture.now();
    let active = issue_grant_with_owners(&fixture, "active").await;
    let disabled = issue_grant_with_owners(&fixture, "disabled").await;
    fixture.store.set_user_status(&disabled.user, Status::Disabled, &by()).await.unwrap();
    let cookie = Secret::new("cookie");
    let entry = sign_in_entry("active", now);
    fixture.store.begin_session(&cookie, &session("active", now), None, &entry).await.unwrap();
    let backup = Backup::of(&fixture.handle, &fixture).await;

    let target = Fixture::open(fixture.kind).await;
    let access = RestoredAccess::Confirm;
    restore_with(&backup.path(), &backup.summary, target.handle.archive(), access).await.unwrap();
    let store = &target.store;
    assert_eq!(store.find_session(&cookie, now).await, Ok(None), "sessions do not survive");
    assert_eq!(store.is_grant_live(&active.id).await, Ok(false));
    let statuses = [
        store.find_user(&active.user).await.unwrap().unwrap().status,
        store.find_user(&disabled.user).await.unwrap().unwrap().status,
    ];
    assert_eq!(statuses, [Status::Unconfirmed, Status::Disabled]);
    let later = now + Duration::from_secs(1);
    let entry = sign_in_entry("active", later);
    store.begin_session(&cookie, &session("active", later), None, &entry).await.unwrap();
    assert_eq!(store.is_grant_live(&active.id).await, Ok(true));
    assert_eq!(store.is_grant_live(&disabled.id).await, Ok(false));
}

pub(crate) async fn kept_access_stands_at_once(fixture: Fixture) {
    let issued = issue_grant_with_owners(&fixture, "active").await;
    let backup = Backup::of(&fixture.handle, &fixture).await;
    let target = Fixture::open(fixture.kind).await;
    backup.restore(&target.handle).await.unwrap();
    assert_eq!(target.store.is_grant_live(&issued.id).await, Ok(true));
}
