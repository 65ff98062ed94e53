//! Updates increment the revision, and change nothing where another revision than the expected one is stored.

use domain::ids::SubscriptionId;
use domain::{ClientId, Secret, TenantId, UserId};
use store::{
    Client, ClientSecret, ClientUpdate, Consent, KeySlot, Pkce, Status, StoreError, Subscription,
    SubscriptionUpdate, Tenant, TenantUpdate, UpdateOutcome, User, UserUpdate,
};

use super::applications::{client, subscription};
use super::directory::{membership, user};
use super::sessions::{begun, session};
use super::stage::{Stage, tenant};

pub(crate) async fn a_tenant_is_updated_at_its_revision_only(stage: Stage) {
    let store = &stage.store;
    let one = tenant("a", stage.now());
    store.add_tenant(&one).await.unwrap();
    let update = TenantUpdate { status: Some(Status::Disabled) };
    for wrong in [0, 2, u64::MAX] {
        let refused = store.update_tenant(&one.id, &update, Some(wrong)).await;
        assert_eq!(refused, Ok(UpdateOutcome::RevisionConflict), "{wrong}");
    }
    assert_eq!(store.find_tenant(&one.id).await, Ok(Some(one.clone())), "nothing changed");

    let disabled = Tenant { status: Status::Disabled, revision: 2, ..one.clone() };
    let updated = store.update_tenant(&one.id, &update, Some(1)).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(disabled.clone())));
    assert_eq!(store.find_tenant(&one.id).await, Ok(Some(disabled.clone())));
    assert_eq!(store.update_tenant(&one.id, &update, Some(1)).await, Ok(UpdateOutcome::RevisionConflict));
    // Without an expected revision, and without a change, the revision still moves on.
    let updated = store.update_tenant(&one.id, &TenantUpdate::default(), None).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(Tenant { revision: 3, ..disabled })));
    for expected in [None, Some(1)] {
        let missing = store.update_tenant(&TenantId::new("b"), &update, expected).await;
        assert_eq!(missing, Ok(UpdateOutcome::NotFound));
    }
}

pub(crate) async fn a_user_is_updated_at_its_revision_only(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let maria = user(&stage, "maria");
    store.add_user(&maria, &[]).await.unwrap();
    let secret = Secret::new("session");
    store.begin_session(&secret, &session("maria", now), None, &begun("maria", now)).await.unwrap();
    let password = UserUpdate { password_hash: Some("$argon2id$new".into()), ..UserUpdate::default() };
    let refused = store.update_user(&maria.id, &password, Some(2)).await;
    assert_eq!(refused, Ok(UpdateOutcome::RevisionConflict));
    assert_eq!(store.find_user(&maria.id).await, Ok(Some(maria.clone())));
    assert!(store.find_session(&secret, now).await.unwrap().is_some(), "the session goes on");

    let disable = UserUpdate { status: Some(Status::Disabled), ..UserUpdate::default() };
    let disabled = User { status: Status::Disabled, revision: 2, ..maria.clone() };
    let updated = store.update_user(&maria.id, &disable, Some(1)).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(disabled.clone())));
    let changed = User { password_hash: "$argon2id$new".into(), revision: 3, ..disabled };
    let updated = store.update_user(&maria.id, &password, Some(2)).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(changed.clone())));
    assert_eq!(store.find_user(&maria.id).await, Ok(Some(changed)));
    assert_eq!(store.find_session(&secret, now).await.unwrap(), None, "a new password ends the sessions");
    let missing = store.update_user(&UserId::new("nobody"), &disable, Some(1)).await;
    assert_eq!(missing, Ok(UpdateOutcome::NotFound));
}

pub(crate) async fn a_client_is_updated_at_its_revision_only(stage: Stage) {
    let store = &stage.store;
    let one = client(&stage, "a");
    store.add_client(&one, &Secret::new("secret")).await.unwrap();
    let name = ClientUpdate { name: Some("Sur".into()), ..ClientUpdate::default() };
    let refused = store.update_client(&one.id, &name, Some(2)).await;
    assert_eq!(refused, Ok(UpdateOutcome::RevisionConflict));
    assert_eq!(store.find_client(&one.id).await, Ok(Some(one.clone())));

    let renamed = Client { name: "Sur".into(), revision: 2, ..one.clone() };
    let updated = store.update_client(&one.id, &name, Some(1)).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(renamed.clone())), "only the name changed");
    let all = ClientUpdate {
        name: Some("Norte".into()),
        redirect_uris: Some(vec!["https://norte.example/".into()]),
        post_logout_uris: Some(Vec::new()),
        pkce: Some(Pkce::Ignore),
        consent: Some(Consent::None),
        callback_id_token: Some(false),
        status: Some(Status::Disabled),
    };
    let updated = store.update_client(&one.id, &all, Some(2)).await;
    let changed = Client {
        name: "Norte".into(),
        redirect_uris: vec!["https://norte.example/".into()],
        post_logout_uris: Vec::new(),
        pkce: Pkce::Ignore,
        consent: Consent::None,
        callback_id_token: false,
        status: Status::Disabled,
        revision: 3,
        ..one.clone()
    };
    assert_eq!(updated, Ok(UpdateOutcome::Updated(changed.clone())));
    let secret = ClientSecret { secret: Secret::new("new"), previous_valid_until: stage.now() };
    assert_eq!(store.set_client_secret(&one.id, &secret).await, Ok(true));
    assert_eq!(store.find_client(&one.id).await, Ok(Some(Client { revision: 4, ..changed })));
    let missing = store.update_client(&ClientId::new("b"), &name, Some(1)).await;
    assert_eq!(missing, Ok(UpdateOutcome::NotFound));
}

pub(crate) async fn a_subscription_is_updated_at_its_revision_only(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let one = subscription(&stage, "a");
    store.add_subscription(&one, &Secret::new("a1"), &Secret::new("a2")).await.unwrap();
    let quota = SubscriptionUpdate { daily_quota: Some(Some(7)), ..SubscriptionUpdate::default() };
    let refused = store.update_subscription(&one.id, &quota, Some(2)).await;
    assert_eq!(refused, Ok(UpdateOutcome::RevisionConflict));
    assert_eq!(store.find_subscription(&one.id).await, Ok(Some(one.clone())));

    let limited = Subscription { daily_quota: Some(7), revision: 2, ..one.clone() };
    let updated = store.update_subscription(&one.id, &quota, Some(1)).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(limited.clone())));
    let both = SubscriptionUpdate { status: Some(Status::Disabled), daily_quota: Some(None) };
    let updated = store.update_subscription(&one.id, &both, Some(2)).await;
    let disabled = Subscription { status: Status::Disabled, daily_quota: None, revision: 3, ..limited };
    assert_eq!(updated, Ok(UpdateOutcome::Updated(disabled)));
    assert_eq!(store.rotate_key(&one.id, KeySlot::Primary, &Secret::new("a3"), now).await, Ok(true));
    assert_eq!(store.find_subscription(&one.id).await.unwrap().unwrap().revision, 4);
    assert_eq!(store.cancel_subscription(&one.id, now).await, Ok(true));
    assert_eq!(store.find_subscription(&one.id).await.unwrap().unwrap().revision, 5);
    for expected in [None, Some(1), Some(5)] {
        let cancelled = store.update_subscription(&one.id, &quota, expected).await;
        assert_eq!(cancelled, Ok(UpdateOutcome::Cancelled));
    }
    let missing = store.update_subscription(&SubscriptionId::new("b"), &quota, Some(1)).await;
    assert_eq!(missing, Ok(UpdateOutcome::NotFound));
}

/// Of many who read the same revision and update it, one succeeds.
pub(crate) async fn concurrent_updates_of_one_revision_succeed_once(stage: Stage) {
    let one = client(&stage, "a");
    stage.store.add_client(&one, &Secret::new("secret")).await.unwrap();
    let updates: Vec<_> = (0..8)
        .map(|number| {
            let (store, id) = (stage.store.clone(), one.id.clone());
            let update = ClientUpdate { name: Some(format!("n{number}")), ..ClientUpdate::default() };
            tokio::spawn(async move { store.update_client(&id, &update, Some(1)).await.unwrap() })
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
    assert_eq!(stage.store.find_client(&one.id).await, Ok(updated.pop()));
}

pub(crate) async fn a_user_is_added_with_all_memberships_or_not_at_all(stage: Stage) {
    let store = &stage.store;
    let (north, south) = (stage.desk().await.tenant, stage.desk().await.tenant);
    let maria = user(&stage, "maria");
    let at = |id: &str, tenant: &TenantId| membership(&stage, id, "maria", tenant);
    let unknown = TenantId::new("nowhere");
    let refused = store.add_user(&maria, &[at("m1", &north), at("m2", &unknown)]).await;
    assert_eq!(refused, Err(StoreError::UnknownTenant("nowhere".into())));
    let refused = store.add_user(&maria, &[at("m1", &north), at("m2", &north)]).await;
    assert_eq!(refused, Err(StoreError::Exists("such a membership".into())));
    assert_eq!(store.find_user(&maria.id).await, Ok(None));
    assert_eq!(store.find_tenant_membership(&maria.id, &north).await, Ok(None));

    store.add_user(&maria, &[at("m1", &north), at("m2", &south)]).await.unwrap();
    for tenant in [&north, &south] {
        assert!(store.find_tenant_membership(&maria.id, tenant).await.unwrap().is_some());
    }
}
