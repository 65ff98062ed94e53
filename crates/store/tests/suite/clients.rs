//! OAuth clients and subscriptions: stored unchanged; a client's secret can only be matched, the current keys of a
//! subscription can be revealed.

use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::subscription::{Product, Products};
use domain::{ClientId, ClientKind, Guid, Secret, TeamId, Ticks};
use store::{
    AuditKind, AuditQuery, CallbackIdToken, Client, ClientSecret, ClientUpdate, Consent, FIRST_REVISION,
    KeySlot, ListFilter, ListQuery, Pkce, RevealedKey, Status, StoreError, Subscription,
};

use super::fixture::{Fixture, by};

pub(crate) fn client(fixture: &Fixture, id: &str) -> Client {
    Client {
        id: ClientId::new(id),
        guid: Guid::from_bytes([3; 16]),
        name: "ERP \"Norte\"".into(),
        redirect_uris: vec!["https://erp.example/ñ".into(), "http://localhost:8765/callback".into()],
        post_logout_uris: vec!["https://erp.example/bye".into()],
        pkce: Pkce::Required,
        consent: Consent::Required,
        kind: ClientKind::Web,
        backchannel_logout_uri: None,
        callback_id_token: CallbackIdToken::Auto,
        products: Products::all(),
        team: None,
        is_sandbox: false,
        status: Status::Active,
        created_at: fixture.now(),
        revision: FIRST_REVISION,
    }
}

pub(crate) fn subscription(fixture: &Fixture, id: &str) -> Subscription {
    Subscription {
        id: SubscriptionId::new(id),
        name: "Norte".into(),
        products: [Product::Accounting, Product::Invoicing].into_iter().collect(),
        team: None,
        is_sandbox: false,
        status: Status::Active,
        created_at: fixture.now(),
        daily_quota: None,
        cancelled_at: None,
        revision: FIRST_REVISION,
    }
}

pub(crate) async fn clients_are_stored_unchanged(fixture: Fixture) {
    let store = &fixture.store;
    let late = Client { created_at: fixture.now() + Duration::from_secs(1), ..client(&fixture, "a") };
    let plain = Client {
        redirect_uris: Vec::new(),
        post_logout_uris: Vec::new(),
        pkce: Pkce::Ignore,
        consent: Consent::None,
        kind: ClientKind::Native,
        callback_id_token: CallbackIdToken::Never,
        products: [Product::Payroll].into_iter().collect(),
        status: Status::Disabled,
        ..client(&fixture, "b")
    };
    let third = Client {
        pkce: Pkce::IfSent,
        kind: ClientKind::ResourceServer,
        backchannel_logout_uri: Some("https://erp.example/signed-out".into()),
        callback_id_token: CallbackIdToken::Always,
        products: [Product::Accounting, Product::Invoicing].into_iter().collect(),
        team: Some(TeamId::new("panel")),
        is_sandbox: true,
        ..client(&fixture, "c")
    };
    for client in [&late, &plain, &third] {
        store.add_client(client, &Secret::new("secret"), &by()).await.unwrap();
        assert_eq!(store.find_client(&client.id).await, Ok(Some(client.clone())));
    }
    for unknown in ["", "A", "a\0"] {
        assert_eq!(store.find_client(&ClientId::new(unknown)).await, Ok(None), "{unknown:?}");
    }
    assert_eq!(
        store.list_clients(&ListFilter::default(), &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![plain.clone(), third.clone(), late.clone()])
    );
    let exists = StoreError::Exists("a client \"a\"".into());
    assert_eq!(store.add_client(&client(&fixture, "a"), &Secret::new("other"), &by()).await, Err(exists));

    assert_eq!(store.set_client_status(&late.id, Status::Disabled, &by()).await, Ok(true));
    let updated = Client { status: Status::Disabled, revision: 2, ..late.clone() };
    assert_eq!(store.find_client(&late.id).await, Ok(Some(updated)));
    assert_eq!(store.client_secret_matches(&late.id, &Secret::new("secret"), fixture.now()).await, Ok(true));
    assert_eq!(store.set_client_status(&ClientId::new("d"), Status::Active, &by()).await, Ok(false));
    assert_eq!(store.find_client(&ClientId::new("d")).await, Ok(None));
}

pub(crate) async fn client_secret_rotation_has_an_overlap(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let (erp, other) = (client(&fixture, "a"), client(&fixture, "b"));
    store.add_client(&erp, &Secret::new("first"), &by()).await.unwrap();
    store.add_client(&other, &Secret::new("other"), &by()).await.unwrap();
    let matches = async |secret: &str, at: Ticks| {
        store.client_secret_matches(&erp.id, &Secret::new(secret), at).await.unwrap()
    };
    assert!(matches("first", now).await);
    for wrong in ["", "First", "first ", "other"] {
        assert!(!matches(wrong, now).await, "{wrong:?}");
    }
    let unknown = ClientId::new("nobody");
    assert_eq!(store.client_secret_matches(&unknown, &Secret::new("first"), now).await, Ok(false));

    assert_eq!(store.previous_client_secret_until(&erp.id).await, Ok(None));
    let until = now + Duration::from_mins(1);
    let second = ClientSecret { secret: Secret::new("second"), previous_valid_until: until };
    assert_eq!(store.set_client_secret(&erp.id, &second, &by()).await, Ok(true));
    assert!(matches("second", now).await && matches("first", now).await);
    assert_eq!(store.previous_client_secret_until(&erp.id).await, Ok(Some(until)));
    assert_eq!(store.previous_client_secret_until(&unknown).await, Ok(None));
    assert!(matches("first", Ticks(until.0 - 1)).await);
    assert!(!matches("first", until).await, "the overlap has ended");

    let third = ClientSecret { secret: Secret::new("third"), previous_valid_until: until };
    assert_eq!(store.set_client_secret(&erp.id, &third, &by()).await, Ok(true));
    assert!(matches("third", now).await && matches("second", now).await);
    assert!(!matches("first", now).await, "only one previous secret is valid");
    assert_eq!(store.set_client_secret(&unknown, &third, &by()).await, Ok(false));
    assert_eq!(store.client_secret_matches(&other.id, &Secret::new("other"), now).await, Ok(true));
}

pub(crate) async fn public_clients_have_no_secret(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    for kind in ClientKind::ALL {
        let one = Client { kind, ..client(&fixture, kind.as_str()) };
        store.add_client(&one, &Secret::new("first"), &by()).await.unwrap();
        let matches =
            async |secret: &str| store.client_secret_matches(&one.id, &Secret::new(secret), now).await;
        assert_eq!(matches("first").await, Ok(!kind.is_public()), "{kind:?}");
        assert_eq!(matches("").await, Ok(false), "{kind:?}");
        let second = ClientSecret { secret: Secret::new("second"), previous_valid_until: now };
        assert_eq!(store.set_client_secret(&one.id, &second, &by()).await, Ok(!kind.is_public()), "{kind:?}");
        assert_eq!(matches("second").await, Ok(!kind.is_public()), "{kind:?}");
    }
}

pub(crate) async fn origins_of_active_browser_applications_are_found(fixture: Fixture) {
    let store = &fixture.store;
    let uris = |uris: &[&str]| uris.iter().map(|uri| (*uri).to_owned()).collect::<Vec<_>>();
    let panel = Client {
        kind: ClientKind::Browser,
        redirect_uris: uris(&[
            "https://panel.example/a",
            "https://panel.example/b",
            "http://localhost:5173/",
        ]),
        ..client(&fixture, "panel")
    };
    let twin = Client {
        kind: ClientKind::Browser,
        redirect_uris: uris(&["https://panel.example/other"]),
        ..client(&fixture, "twin")
    };
    let web = Client { redirect_uris: uris(&["https://web.example/"]), ..client(&fixture, "web") };
    for one in [&panel, &twin, &web] {
        store.add_client(one, &Secret::new("s"), &by()).await.unwrap();
    }
    let found = async |origin: &str| store.is_client_origin(origin).await.unwrap();
    assert!(found("https://panel.example").await && found("http://localhost:5173").await);
    let other = [
        "https://web.example",
        "https://panel.example/",
        "http://panel.example",
        "https://panel.example:8443",
    ];
    for origin in other.into_iter().chain(["", "null", "https://evil.example", "http://localhost:5174"]) {
        assert!(!found(origin).await, "{origin}");
    }

    let update =
        ClientUpdate { redirect_uris: Some(uris(&["https://new.example/"])), ..ClientUpdate::default() };
    let _ = store.update_client(&panel.id, &update, None, &by()).await.unwrap();
    assert!(found("https://new.example").await && !found("http://localhost:5173").await);
    assert!(found("https://panel.example").await, "the other application's");
    assert_eq!(store.set_client_status(&twin.id, Status::Disabled, &by()).await, Ok(true));
    assert!(!found("https://panel.example").await);
    assert_eq!(store.set_client_status(&twin.id, Status::Active, &by()).await, Ok(true));
    assert!(found("https://panel.example").await);
}

pub(crate) async fn subscriptions_are_found_by_either_key(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let late = Subscription { created_at: now + Duration::from_secs(1), ..subscription(&fixture, "a") };
    let empty = Subscription { products: Products::default(), ..subscription(&fixture, "b") };
    store.add_subscription(&late, &Secret::new("a1"), &Secret::new("a2"), &by()).await.unwrap();
    store.add_subscription(&empty, &Secret::new("b1"), &Secret::new("b2"), &by()).await.unwrap();
    assert_eq!(
        store.list_subscriptions(&ListFilter::default(), &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![empty.clone(), late.clone()])
    );
    let found = async |key: &str| store.find_subscription_by_key(&Secret::new(key), now).await.unwrap();
    assert_eq!(found("a1").await, Some(late.clone()));
    assert_eq!(found("a2").await, Some(late.clone()));
    assert_eq!(found("b2").await, Some(empty.clone()));
    for unknown in ["", "A1", "a1 ", "a"] {
        assert_eq!(found(unknown).await, None, "{unknown:?}");
    }

    assert_eq!(store.set_subscription_status(&late.id, Status::Disabled, &by()).await, Ok(true));
    let disabled = Subscription { status: Status::Disabled, revision: 2, ..late.clone() };
    assert_eq!(found("a1").await, Some(disabled), "a disabled subscription is found too");
    let unknown = SubscriptionId::new("nobody");
    assert_eq!(store.set_subscription_status(&unknown, Status::Active, &by()).await, Ok(false));

    let again = store.add_subscription(&late, &Secret::new("c1"), &Secret::new("c2"), &by()).await;
    assert_eq!(again, Err(StoreError::Exists("a subscription \"a\"".into())));
    let third = subscription(&fixture, "c");
    let same_key = store.add_subscription(&third, &Secret::new("c1"), &Secret::new("b1"), &by()).await;
    assert_eq!(same_key, Err(StoreError::Exists("such a key".into())));
    assert_eq!(
        store
            .list_subscriptions(&ListFilter::default(), &ListQuery::default())
            .await
            .map(|page| page.rows)
            .unwrap()
            .len(),
        2,
        "nothing of the refused subscription is stored"
    );
    assert_eq!(found("c1").await, None);
    assert_eq!(found("b1").await, Some(empty));
}

pub(crate) async fn keys_are_rotated_slot_by_slot(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let norte = subscription(&fixture, "a");
    store.add_subscription(&norte, &Secret::new("p1"), &Secret::new("s1"), &by()).await.unwrap();
    let is_valid = async |key: &str, at: Ticks| {
        let found = store.find_subscription_by_key(&Secret::new(key), at).await.unwrap();
        found.is_some_and(|found| found.id == norte.id)
    };
    let until = now + Duration::from_mins(1);
    let rotate =
        async |slot, key: &str| store.rotate_key(&norte.id, slot, &Secret::new(key), until, &by()).await;
    assert_eq!(rotate(KeySlot::Primary, "p2").await, Ok(true));
    assert!(is_valid("p2", now).await && is_valid("p1", now).await && is_valid("s1", now).await);
    assert!(is_valid("p1", Ticks(until.0 - 1)).await);
    assert!(!is_valid("p1", until).await, "the overlap has ended");
    assert!(is_valid("p2", until).await && is_valid("s1", until).await);

    assert_eq!(rotate(KeySlot::Primary, "p3").await, Ok(true));
    assert!(is_valid("p1", now).await && is_valid("p2", now).await && is_valid("p3", now).await);
    assert_eq!(rotate(KeySlot::Secondary, "s2").await, Ok(true));
    assert!(is_valid("s1", now).await && !is_valid("s1", until).await && is_valid("s2", until).await);
    assert!(is_valid("p3", until).await, "the other slot is unchanged");

    assert_eq!(rotate(KeySlot::Primary, "s2").await, Err(StoreError::Exists("such a key".into())));
    assert!(
        is_valid("p3", until).await && is_valid("s2", until).await,
        "the refused rotation changed nothing"
    );
    let unknown = SubscriptionId::new("nobody");
    let missing = store.rotate_key(&unknown, KeySlot::Primary, &Secret::new("x"), until, &by()).await;
    assert_eq!(missing, Ok(false));
    assert_eq!(store.find_subscription_by_key(&Secret::new("x"), now).await, Ok(None));
}

pub(crate) async fn current_key_is_revealed_with_an_audit_entry(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let norte = subscription(&fixture, "a");
    store.add_subscription(&norte, &Secret::new("p1"), &Secret::new("s1"), &by()).await.unwrap();
    store
        .add_subscription(&subscription(&fixture, "b"), &Secret::new("p"), &Secret::new("s"), &by())
        .await
        .unwrap();
    let reveal = async |slot| store.reveal_key(&norte.id, slot, &by()).await.unwrap();
    let key = |text: &str| RevealedKey::Revealed(Secret::new(text));
    assert_eq!(reveal(KeySlot::Primary).await, key("p1"));
    assert_eq!(reveal(KeySlot::Secondary).await, key("s1"));
    let until = now + Duration::from_mins(1);
    let rotated = store.rotate_key(&norte.id, KeySlot::Primary, &Secret::new("p2"), until, &by()).await;
    assert_eq!(rotated, Ok(true));
    assert_eq!(reveal(KeySlot::Primary).await, key("p2"), "not the replaced one, which is still valid");
    let infos = store.subscription_keys(&norte.id).await.unwrap();
    let revealable: Vec<bool> = infos.iter().map(|info| info.is_revealable).collect();
    assert_eq!(revealable, [true, false, true]);
    let query =
        AuditQuery { kind: Some(AuditKind::SubscriptionKeyRevealed), rows_max: 9, ..AuditQuery::default() };
    assert_eq!(store.audit(&query).await.unwrap().len(), 3);

    let none = SubscriptionId::new("none");
    assert_eq!(store.reveal_key(&none, KeySlot::Primary, &by()).await, Ok(RevealedKey::NotFound));
    store.cancel_subscription(&norte.id, now, &by()).await.unwrap();
    assert_eq!(reveal(KeySlot::Primary).await, RevealedKey::NotFound);
    assert_eq!(store.audit(&query).await.unwrap().len(), 3, "nothing was revealed");
}

pub(crate) async fn development_credentials_are_stored_in_plain_text(fixture: Fixture) {
    let store = &fixture.store;
    assert_eq!(store.dev_credentials().await, Ok(None));
    store.save_dev_credentials(r#"{"ñ":1}"#).await.unwrap();
    store.save_dev_credentials(r#"{"ñ":2}"#).await.unwrap();
    assert_eq!(store.dev_credentials().await, Ok(Some(r#"{"ñ":2}"#.into())));
    let reopened = fixture.reopen().await.store;
    assert_eq!(reopened.dev_credentials().await, Ok(Some(r#"{"ñ":2}"#.into())));
}
