//! Updates increment the revision, and change nothing if the stored revision is not the expected one.

use domain::ids::SubscriptionId;
use domain::subscription::Product;
use domain::{AccountId, ClientId, Realm, Secret, TeamId, TenantId};
use store::{
    Account, AccountUpdate, CallbackIdToken, Client, ClientSecret, ClientUpdate, Consent, KeySlot, Pkce,
    Status, StoreError, Subscription, SubscriptionUpdate, Tenant, TenantUpdate, UpdateOutcome,
};

use super::clients::{client, subscription};
use super::directory::{membership, user};
use super::fixture::{Fixture, by, new_tenant};
use super::sessions::{session, sign_in_entry};

pub(crate) async fn tenant_is_updated_only_at_the_expected_revision(fixture: Fixture) {
    let store = &fixture.store;
    let original = new_tenant("a", fixture.now());
    store.add_tenant(&original, &by()).await.unwrap();
    let update = TenantUpdate { status: Some(Status::Disabled) };
    for wrong in [0, 2, u64::MAX] {
        let refused = store.update_tenant(&original.id, &update, Some(wrong), &by()).await;
        assert_eq!(refused, Ok(UpdateOutcome::RevisionConflict), "{wrong}");
    }
    assert_eq!(store.find_tenant(&original.id).await, Ok(Some(original.clone())), "nothing changed");

    let disabled = Tenant { status: Status::Disabled, revision: 2, ..original.clone() };
    let updated = store.update_tenant(&original.id, &update, Some(1), &by()).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(disabled.clone())));
    assert_eq!(store.find_tenant(&original.id).await, Ok(Some(disabled.clone())));
    assert_eq!(
        store.update_tenant(&original.id, &update, Some(1), &by()).await,
        Ok(UpdateOutcome::RevisionConflict)
    );
    // Without an expected revision, and without a change, the revision still increases.
    let updated = store.update_tenant(&original.id, &TenantUpdate::default(), None, &by()).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(Tenant { revision: 3, ..disabled })));
    for expected in [None, Some(1)] {
        let missing = store.update_tenant(&TenantId::new("b"), &update, expected, &by()).await;
        assert_eq!(missing, Ok(UpdateOutcome::NotFound));
    }
}

pub(crate) async fn user_is_updated_only_at_the_expected_revision(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let maria = user(&fixture, "maria");
    store.add_account(&maria, &[], &by()).await.unwrap();
    let secret = Secret::new("session");
    store
        .begin_session(&secret, &session("maria", now), None, None, &sign_in_entry("maria", now))
        .await
        .unwrap();
    let password = AccountUpdate { password_hash: Some("$argon2id$new".into()), ..AccountUpdate::default() };
    let refused = store.update_account(&maria.id, &password, Some(2), &by()).await;
    assert_eq!(refused, Ok(UpdateOutcome::RevisionConflict));
    assert_eq!(store.find_account(&maria.id).await, Ok(Some(maria.clone())));
    assert!(
        store.find_session(Realm::Users, &secret, now).await.unwrap().is_some(),
        "the session is still valid"
    );

    let disable = AccountUpdate { status: Some(Status::Disabled), ..AccountUpdate::default() };
    let disabled = Account { status: Status::Disabled, revision: 2, ..maria.clone() };
    let updated = store.update_account(&maria.id, &disable, Some(1), &by()).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(disabled.clone())));
    let changed = Account { password_hash: "$argon2id$new".into(), revision: 3, ..disabled };
    let updated = store.update_account(&maria.id, &password, Some(2), &by()).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(changed.clone())));
    assert_eq!(store.find_account(&maria.id).await, Ok(Some(changed)));
    assert_eq!(
        store.find_session(Realm::Users, &secret, now).await.unwrap(),
        None,
        "a new password ends the sessions"
    );
    let missing = store.update_account(&AccountId::new("nobody"), &disable, Some(1), &by()).await;
    assert_eq!(missing, Ok(UpdateOutcome::NotFound));
}

pub(crate) async fn client_is_updated_only_at_the_expected_revision(fixture: Fixture) {
    let store = &fixture.store;
    let original = client(&fixture, "a");
    store.add_client(&original, &Secret::new("secret"), &by()).await.unwrap();
    let name = ClientUpdate { name: Some("Sur".into()), ..ClientUpdate::default() };
    let refused = store.update_client(&original.id, &name, Some(2), &by()).await;
    assert_eq!(refused, Ok(UpdateOutcome::RevisionConflict));
    assert_eq!(store.find_client(&original.id).await, Ok(Some(original.clone())));

    let renamed = Client { name: "Sur".into(), revision: 2, ..original.clone() };
    let updated = store.update_client(&original.id, &name, Some(1), &by()).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(renamed.clone())), "only the name changed");
    let all = ClientUpdate {
        name: Some("Norte".into()),
        redirect_uris: Some(vec!["https://norte.example/".into()]),
        post_logout_uris: Some(Vec::new()),
        backchannel_logout_uri: Some(Some("https://norte.example/signed-out".into())),
        pkce: Some(Pkce::Ignore),
        consent: Some(Consent::None),
        callback_id_token: Some(CallbackIdToken::Never),
        products: Some([Product::Invoicing].into_iter().collect()),
        team: Some(Some(TeamId::new("panel"))),
        is_sandbox: Some(true),
        status: Some(Status::Disabled),
    };
    let updated = store.update_client(&original.id, &all, Some(2), &by()).await;
    let changed = Client {
        name: "Norte".into(),
        redirect_uris: vec!["https://norte.example/".into()],
        post_logout_uris: Vec::new(),
        backchannel_logout_uri: Some("https://norte.example/signed-out".into()),
        pkce: Pkce::Ignore,
        consent: Consent::None,
        callback_id_token: CallbackIdToken::Never,
        products: [Product::Invoicing].into_iter().collect(),
        team: Some(TeamId::new("panel")),
        is_sandbox: true,
        status: Status::Disabled,
        revision: 3,
        ..original.clone()
    };
    assert_eq!(updated, Ok(UpdateOutcome::Updated(changed.clone())));
    let secret = ClientSecret { secret: Secret::new("new"), previous_valid_until: fixture.now() };
    assert_eq!(store.set_client_secret(&original.id, &secret, &by()).await, Ok(true));
    assert_eq!(store.find_client(&original.id).await, Ok(Some(Client { revision: 4, ..changed })));
    let missing = store.update_client(&ClientId::new("b"), &name, Some(1), &by()).await;
    assert_eq!(missing, Ok(UpdateOutcome::NotFound));
}

pub(crate) async fn subscription_is_updated_only_at_the_expected_revision(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let original = subscription(&fixture, "a");
    store.add_subscription(&original, &Secret::new("a1"), &Secret::new("a2"), &by()).await.unwrap();
    let quota = SubscriptionUpdate { daily_quota: Some(Some(7)), ..SubscriptionUpdate::default() };
    let refused = store.update_subscription(&original.id, &quota, Some(2), &by()).await;
    assert_eq!(refused, Ok(UpdateOutcome::RevisionConflict));
    assert_eq!(store.find_subscription(&original.id).await, Ok(Some(original.clone())));

    let limited = Subscription { daily_quota: Some(7), revision: 2, ..original.clone() };
    let updated = store.update_subscription(&original.id, &quota, Some(1), &by()).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(limited.clone())));
    let both = SubscriptionUpdate {
        status: Some(Status::Disabled),
        daily_quota: Some(None),
        ..SubscriptionUpdate::default()
    };
    let updated = store.update_subscription(&original.id, &both, Some(2), &by()).await;
    let disabled = Subscription { status: Status::Disabled, daily_quota: None, revision: 3, ..limited };
    assert_eq!(updated, Ok(UpdateOutcome::Updated(disabled)));
    assert_eq!(
        store.rotate_key(&original.id, KeySlot::Primary, &Secret::new("a3"), now, &by()).await,
        Ok(true)
    );
    assert_eq!(store.find_subscription(&original.id).await.unwrap().unwrap().revision, 4);
    assert_eq!(store.cancel_subscription(&original.id, now, &by()).await, Ok(true));
    assert_eq!(store.find_subscription(&original.id).await.unwrap().unwrap().revision, 5);
    for expected in [None, Some(1), Some(5)] {
        let cancelled = store.update_subscription(&original.id, &quota, expected, &by()).await;
        assert_eq!(cancelled, Ok(UpdateOutcome::Cancelled));
    }
    let missing = store.update_subscription(&SubscriptionId::new("b"), &quota, Some(1), &by()).await;
    assert_eq!(missing, Ok(UpdateOutcome::NotFound));
}

/// Of concurrent updates with the same expected revision, one succeeds.
pub(crate) async fn concurrent_updates_of_one_revision_succeed_once(fixture: Fixture) {
    let original = client(&fixture, "a");
    fixture.store.add_client(&original, &Secret::new("secret"), &by()).await.unwrap();
    let updates: Vec<_> = (0..8)
        .map(|number| {
            let (store, id) = (fixture.store.clone(), original.id.clone());
            let update = ClientUpdate { name: Some(format!("n{number}")), ..ClientUpdate::default() };
            tokio::spawn(async move { store.update_client(&id, &update, Some(1), &by()).await.unwrap() })
        })
        .collect();
    let mut updated = Vec::new();
    for update in updates {
        match update.await.unwrap() {
            UpdateOutcome::Updated(client) => updated.push(client),
            other => assert_eq!(other, UpdateOutcome::RevisionConflict),
        }
    }
    assert_eq!(updated.len(), 1);
    assert_eq!(fixture.store.find_client(&original.id).await, Ok(updated.pop()));
}

pub(crate) async fn user_is_added_with_all_memberships_or_not_at_all(fixture: Fixture) {
    let store = &fixture.store;
    let (north, south) = (fixture.add_tenant().await.id, fixture.add_tenant().await.id);
    let maria = user(&fixture, "maria");
    let membership_of = |id: &str, tenant: &TenantId| membership(&fixture, id, "maria", tenant);
    let unknown = TenantId::new("nowhere");
    let refused =
        store.add_account(&maria, &[membership_of("m1", &north), membership_of("m2", &unknown)], &by()).await;
    assert_eq!(refused, Err(StoreError::UnknownTenant("nowhere".into())));
    let refused =
        store.add_account(&maria, &[membership_of("m1", &north), membership_of("m2", &north)], &by()).await;
    assert_eq!(refused, Err(StoreError::Exists("such a membership".into())));
    assert_eq!(store.find_account(&maria.id).await, Ok(None));
    assert_eq!(store.find_tenant_membership(&maria.id, &north).await, Ok(None));

    store
        .add_account(&maria, &[membership_of("m1", &north), membership_of("m2", &south)], &by())
        .await
        .unwrap();
    for tenant in [&north, &south] {
        assert!(store.find_tenant_membership(&maria.id, tenant).await.unwrap().is_some());
    }
}
