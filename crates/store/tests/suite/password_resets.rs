//! Password resets: a link works once, for an hour, in its realm; the new password ends every session.

use std::time::Duration;

use domain::{AccountId, Guid, OperatorRole, Realm, Secret, Ticks};
use store::{Account, AccountUpdate, PASSWORD_RESET_LIFE, RetentionCutoffs, Session};

use super::audit::entries_of_all;
use super::directory::user;
use super::fixture::{Fixture, by, concurrently};
use super::mails::mail;
use super::sessions::{session, sign_in_entry};

/// An account in each realm, with the same address.
async fn add_accounts(fixture: &Fixture) -> [Account; 3] {
    let accounts = Realm::ALL.map(|realm| Account {
        id: AccountId::new(realm.person()),
        realm,
        role: (realm == Realm::Operators).then_some(OperatorRole::Admin),
        ..user(fixture, "maria")
    });
    for account in &accounts {
        fixture.store.add_account(account, &[], &by()).await.unwrap();
    }
    accounts
}

pub(crate) async fn request(fixture: &Fixture, account: &Account, token: &str, number: u8) {
    let (now, token) = (fixture.now(), Secret::new(token));
    let until = now + PASSWORD_RESET_LIFE;
    let mail = mail(number, now);
    assert!(
        fixture.store.request_password_reset(&account.id, &token, until, Some(&mail), &by()).await.unwrap()
    );
}

async fn reset(fixture: &Fixture, realm: Realm, token: &str) -> Option<Account> {
    let told = mail(200, fixture.now());
    fixture.store.reset_password(realm, &Secret::new(token), "new-hash", Some(&told), &by()).await.unwrap()
}

async fn kinds(fixture: &Fixture) -> Vec<&'static str> {
    let mut kinds: Vec<_> =
        entries_of_all(&fixture.store).await.iter().map(|entry| entry.kind.as_str()).collect();
    kinds.retain(|kind| !kind.ends_with("_added") && *kind != "signed_in");
    kinds.sort_unstable();
    kinds
}

pub(crate) async fn reset_sets_the_password_once_and_ends_every_session(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let [maria, developer, _] = add_accounts(&fixture).await;
    let cookies = ["a", "b", "c"].map(Secret::new);
    for (number, cookie) in (0..).zip(&cookies) {
        let (realm, account) =
            if number < 2 { (Realm::Users, &maria) } else { (Realm::Developers, &developer) };
        let one = Session { id: Guid::from_bytes([number; 16]), realm, ..session(account.id.as_str(), now) };
        store.begin_session(cookie, &one, None, None, &sign_in_entry("user", now)).await.unwrap();
    }
    request(&fixture, &maria, "link", 1).await;
    let token = Secret::new("link");
    assert_eq!(store.find_password_reset(Realm::Users, &token, now).await, Ok(Some(maria.clone())));
    assert_eq!(store.waiting_mails(now).await, Ok(1));
    let account = reset(&fixture, Realm::Users, "link").await.unwrap();
    let expected = Account { password_hash: "new-hash".into(), revision: maria.revision + 1, ..maria };
    assert_eq!(account, expected, "nothing but the password changes");
    assert_eq!(store.find_account(&account.id).await, Ok(Some(account.clone())));
    assert_eq!(store.waiting_mails(now).await, Ok(2), "the owner is told");
    for cookie in &cookies[..2] {
        assert_eq!(store.find_session(Realm::Users, cookie, now).await, Ok(None));
    }
    assert!(store.find_session(Realm::Developers, &cookies[2], now).await.unwrap().is_some());

    assert_eq!(reset(&fixture, Realm::Users, "link").await, None, "the link works once");
    assert_eq!(store.find_password_reset(Realm::Users, &token, now).await, Ok(None));
    assert_eq!(kinds(&fixture).await, ["password_reset", "password_reset_requested", "user_changed"]);
}

pub(crate) async fn reset_link_is_for_its_realm_and_expires(fixture: Fixture) {
    let store = &fixture.store;
    let accounts = add_accounts(&fixture).await;
    for (number, account) in (1..).zip(&accounts) {
        request(&fixture, account, account.realm.person(), number).await;
        for other in Realm::ALL.into_iter().filter(|realm| *realm != account.realm) {
            let token = Secret::new(account.realm.person());
            assert_eq!(store.find_password_reset(other, &token, fixture.now()).await, Ok(None));
            assert_eq!(reset(&fixture, other, account.realm.person()).await, None);
        }
    }
    fixture.clock.advance(PASSWORD_RESET_LIFE.saturating_sub(Duration::from_secs(1)));
    assert!(reset(&fixture, Realm::Users, "user").await.is_some());
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(reset(&fixture, Realm::Developers, "developer").await, None, "expired");
    let found = store.find_account(&accounts[1].id).await.unwrap();
    assert_eq!(found.as_ref(), Some(&accounts[1]));
    let nobody = store
        .request_password_reset(
            &AccountId::new("nobody"),
            &Secret::new("x"),
            fixture.now(),
            Some(&mail(9, fixture.now())),
            &by(),
        )
        .await;
    assert_eq!(nobody, Ok(false));
}

pub(crate) async fn newer_link_or_password_makes_a_link_void(fixture: Fixture) {
    let store = &fixture.store;
    let [maria, ..] = add_accounts(&fixture).await;
    request(&fixture, &maria, "first", 1).await;
    request(&fixture, &maria, "second", 2).await;
    assert_eq!(reset(&fixture, Realm::Users, "first").await, None);
    let update = AccountUpdate { password_hash: Some("other".into()), ..AccountUpdate::default() };
    assert!(store.update_account(&maria.id, &update, None, &by()).await.unwrap().is_updated());
    assert_eq!(reset(&fixture, Realm::Users, "second").await, None, "the password was changed otherwise");
    let name = AccountUpdate { given_name: Some("M".into()), ..AccountUpdate::default() };
    request(&fixture, &maria, "third", 3).await;
    assert!(store.update_account(&maria.id, &name, None, &by()).await.unwrap().is_updated());
    assert!(reset(&fixture, Realm::Users, "third").await.is_some());
}

pub(crate) async fn concurrent_uses_of_a_link_set_one_password(fixture: Fixture) {
    let [maria, ..] = add_accounts(&fixture).await;
    request(&fixture, &maria, "link", 1).await;
    let other = fixture.reopen().await.store;
    let now = fixture.now();
    let outcomes = concurrently(10, &[&fixture.store, &other], |number, store| async move {
        let (hash, told) = (format!("hash {number}"), mail(100 + u8::try_from(number).unwrap(), now));
        store.reset_password(Realm::Users, &Secret::new("link"), &hash, Some(&told), &by()).await.unwrap()
    })
    .await;
    let set: Vec<&Account> = outcomes.iter().flatten().collect();
    assert_eq!(set.len(), 1);
    assert_eq!(fixture.store.find_account(&maria.id).await.unwrap().as_ref(), Some(set[0]));
    assert_eq!(fixture.store.waiting_mails(now).await, Ok(2));
}

pub(crate) async fn expired_reset_links_are_deleted(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let [maria, ..] = add_accounts(&fixture).await;
    request(&fixture, &maria, "link", 1).await;
    let expire = async |now: Ticks| {
        let zero = Ticks(0);
        let cutoffs = RetentionCutoffs {
            now,
            processes: zero,
            audit: zero,
            calls: zero,
            reads: zero,
            deliveries: zero,
            mails: zero,
        };
        store.expire(cutoffs, 100).await.unwrap().links
    };
    assert_eq!(expire(now + PASSWORD_RESET_LIFE).await, 0);
    assert_eq!(expire(now + PASSWORD_RESET_LIFE + Duration::from_secs(1)).await, 1);
}
