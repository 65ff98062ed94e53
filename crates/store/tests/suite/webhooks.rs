//! Webhooks as their owners manage them: the same body is the same webhook, and nobody else's.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::event::EventKind;
use domain::webhook::Family;
use domain::{ClientId, Guid, Resource, Secret};
use store::{
    NewWebhook, StoreError, SubscribeOutcome, Webhook, WebhookChange, WebhookChangeOutcome, WebhookOwner,
    WebhookQuery,
};

use super::stage::{Stage, at_once, tenant};
use super::webhook_fixtures::{MAX, body, contracted, found, made, owner, point, written};

fn invoicing() -> Resource {
    Resource::all().find(|one| Family::of(*one) == Family::Invoicing).unwrap()
}

async fn again(stage: &Stage, body: &NewWebhook) -> Webhook {
    let id = Guid::from_bytes([77; 16]);
    match stage.store.subscribe(NewWebhook { id, ..body.clone() }, MAX).await.unwrap() {
        SubscribeOutcome::Existing(webhook) => webhook,
        other => panic!("it was to be found: {other:?}"),
    }
}

pub(crate) async fn a_new_webhook_is_kept_as_given_and_awaits_its_contract(stage: Stage) {
    let desk = stage.desk().await;
    let asked = NewWebhook { host_mismatch: "otro host".into(), ..body(&stage, &desk, "a") };
    let webhook = made(&stage.store, asked.clone()).await;
    assert_eq!(found(&stage.reopen().await.store, webhook.id).await, webhook);
    let kept = (&webhook.owner, &webhook.user, webhook.resource, webhook.kinds, &webhook.name, &webhook.url);
    assert_eq!(kept, (&asked.owner, &asked.user, asked.resource, asked.kinds, &asked.name, &asked.url));
    assert_eq!(webhook.secret.reveal(), asked.secret.reveal());
    assert_eq!((&webhook.description, &webhook.host_mismatch), (&asked.description, &asked.host_mismatch));
    assert_eq!((webhook.created_at, webhook.revision, webhook.cursor), (stage.now(), 1, None));
    assert!(webhook.flags().needs_handshake(Family::Accounting) && !webhook.flags().is_active());
    assert_eq!(stage.store.find_webhook(Guid::from_bytes([5; 16])).await, Ok(None));
    let same_id = NewWebhook { name: "b".into(), ..asked };
    assert!(matches!(stage.store.subscribe(same_id, MAX).await, Err(StoreError::Exists(_))));
}

/// A body may have anything in it that its sender likes.
pub(crate) async fn a_nul_in_a_body_is_no_obstacle(stage: Stage) {
    let desk = stage.desk().await;
    let odd = NewWebhook { secret: Secret::new("s\0"), ..body(&stage, &desk, "a\0b") };
    let webhook = made(&stage.store, odd.clone()).await;
    assert_eq!((webhook.name.as_str(), webhook.secret.reveal()), ("a\u{fffd}b", "s\0"));
    assert_eq!(again(&stage, &odd).await, webhook);
    assert_eq!(found(&stage.store, webhook.id).await, webhook);
}

pub(crate) async fn the_same_body_is_the_same_webhook(stage: Stage) {
    let (desk, other) = (stage.desk().await, stage.desk().await);
    let first = body(&stage, &desk, "a");
    let webhook = made(&stage.store, first.clone()).await;
    assert_eq!(again(&stage, &first).await, webhook);
    let described = NewWebhook { description: "otra".into(), host_mismatch: "d".into(), ..first.clone() };
    assert_eq!(again(&stage, &described).await, webhook, "what it is called does not matter");
    assert_eq!(stage.store.find_identical_webhook(&first).await, Ok(Some(webhook.clone())));

    let fresh = || body(&stage, &desk, "a");
    let client = WebhookOwner { client: ClientId::new("other"), ..owner(&desk) };
    for different in [
        NewWebhook { name: "b".into(), ..fresh() },
        NewWebhook { url: "https://erp.example/b".into(), ..fresh() },
        NewWebhook { secret: Secret::new("another"), ..fresh() },
        NewWebhook { kinds: [EventKind::Created].into_iter().collect(), ..fresh() },
        NewWebhook { resource: Resource::accounts(), ..fresh() },
        NewWebhook { owner: client, ..fresh() },
        NewWebhook { owner: owner(&other), ..fresh() },
    ] {
        assert_eq!(stage.store.find_identical_webhook(&different).await, Ok(None));
        made(&stage.store, different).await;
    }
    let nowhere = WebhookOwner { tenant: domain::TenantId::new("nobody"), ..owner(&desk) };
    let nobody = NewWebhook { owner: nowhere, ..fresh() };
    assert_eq!(stage.store.find_identical_webhook(&nobody).await, Ok(None));
    assert_eq!(stage.store.subscribe(nobody, MAX).await, Err(StoreError::UnknownTenant("nobody".into())));
}

pub(crate) async fn of_many_who_subscribe_at_once_one_makes_it(stage: Stage) {
    let (desk, there) = (stage.desk().await, stage.reopen().await.store);
    for round in 0..5 {
        let name = format!("a{round}");
        let answers = at_once(12, &[&stage.store, &there], |_, store| {
            let body = body(&stage, &desk, &name);
            async move { store.subscribe(body, MAX).await.unwrap() }
        })
        .await;
        let new = answers.iter().filter(|answer| matches!(answer, SubscribeOutcome::Created(_)));
        assert_eq!(new.count(), 1);
        let ids: BTreeSet<Guid> = answers
            .iter()
            .map(|answer| match answer {
                SubscribeOutcome::Created(one) | SubscribeOutcome::Existing(one) => one.id,
                SubscribeOutcome::LimitReached => panic!("there was room"),
            })
            .collect();
        assert_eq!(ids.len(), 1);
    }
}

pub(crate) async fn an_owner_has_so_many_and_no_more(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let subscribe = async |name: &str| store.subscribe(body(&stage, &desk, name), 2).await.unwrap();
    let first = made(store, body(&stage, &desk, "a")).await;
    // Both families count together.
    made(store, NewWebhook { resource: invoicing(), ..body(&stage, &desk, "b") }).await;
    assert_eq!(subscribe("c").await, SubscribeOutcome::LimitReached);
    assert_eq!(subscribe("a").await, SubscribeOutcome::Existing(first.clone()), "it is there");
    let other = WebhookOwner { client: ClientId::new("other"), ..owner(&desk) };
    made(store, NewWebhook { owner: other, ..body(&stage, &desk, "c") }).await;
    store.change_webhook(first.id, None, WebhookChange::Unsubscribe).await.unwrap();
    assert!(matches!(subscribe("c").await, SubscribeOutcome::Created(_)));
    assert_eq!(subscribe("d").await, SubscribeOutcome::LimitReached);

    let (crowd, there) = (stage.desk().await, stage.reopen().await.store);
    let answers = at_once(10, &[store, &there], |number, store| {
        let body = body(&stage, &crowd, &format!("n{number}"));
        async move { store.subscribe(body, 3).await.unwrap() }
    })
    .await;
    assert_eq!(answers.iter().filter(|one| matches!(one, SubscribeOutcome::Created(_))).count(), 3);
    assert_eq!(answers.iter().filter(|one| **one == SubscribeOutcome::LimitReached).count(), 7);
}

pub(crate) async fn subscribing_again_enables_what_rests(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let asked = body(&stage, &desk, "a");
    let awaiting = made(store, asked.clone()).await;
    assert_eq!(again(&stage, &asked).await, awaiting, "one handshake is under way, not two");
    store.change_webhook(awaiting.id, None, WebhookChange::Disable).await.unwrap();
    let enabled = again(&stage, &asked).await;
    assert!(enabled.enabled && enabled.handshake.number == 2 && enabled.revision == 3);
    assert_eq!(found(store, awaiting.id).await, enabled);

    let mut gives_up = point(store, &enabled).await;
    gives_up.disabled = Some("nobody answered\0".into());
    written(store, gives_up).await;
    let disabled = found(store, awaiting.id).await.disabled.unwrap();
    assert_eq!((disabled.at, disabled.reason.as_str()), (stage.now(), "nobody answered\u{fffd}"));
    let enabled = again(&stage, &asked).await;
    assert_eq!((enabled.disabled, enabled.handshake.number), (None, 3));
    let active = contracted(&stage, &desk, "b").await;
    assert_eq!(again(&stage, &body(&stage, &desk, "b")).await, active);
}

pub(crate) async fn after_an_unsubscribe_the_same_body_makes_a_new_one(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let first = made(store, body(&stage, &desk, "a")).await;
    store.change_webhook(first.id, None, WebhookChange::Unsubscribe).await.unwrap();
    assert_eq!(store.find_identical_webhook(&body(&stage, &desk, "a")).await, Ok(None));
    let second = made(store, body(&stage, &desk, "a")).await;
    store.change_webhook(second.id, None, WebhookChange::Delete).await.unwrap();
    let third = made(store, body(&stage, &desk, "a")).await;
    assert_eq!(BTreeSet::from([first.id, second.id, third.id]).len(), 3);
    assert!(found(store, first.id).await.unsubscribed_at.is_some());
    assert!(found(store, second.id).await.deleted_at.is_some());
}

pub(crate) async fn webhooks_are_listed_in_the_order_of_their_making(stage: Stage) {
    let (desk, other, store) = (stage.desk().await, stage.desk().await, &stage.store);
    let mut all = Vec::new();
    for number in 0..6 {
        // Two at each moment: ties go by id.
        if number % 2 == 0 {
            stage.clock.forward(Duration::from_secs(1));
        }
        let resource = if number == 3 { invoicing() } else { Resource::customers() };
        let whose = if number == 4 { &other } else { &desk };
        let one = NewWebhook { resource, ..body(&stage, whose, &format!("n{number}")) };
        all.push(made(store, one).await);
    }
    store.change_webhook(all[0].id, None, WebhookChange::Unsubscribe).await.unwrap();
    all[0] = found(store, all[0].id).await;
    all.sort_by_key(|one| (one.created_at, one.id));
    let everything = WebhookQuery { rows_max: 100, include_ended: true, ..WebhookQuery::default() };
    assert_eq!(store.webhooks(&everything).await, Ok(all.clone()));
    let ask = async |query: WebhookQuery, fits: &dyn Fn(&Webhook) -> bool| {
        let expected: Vec<Webhook> = all.iter().filter(|one| fits(one)).cloned().collect();
        assert!(!expected.is_empty());
        assert_eq!(store.webhooks(&query).await, Ok(expected), "{query:?}");
    };
    let tenant = || Some(desk.tenant.clone());
    let live = WebhookQuery { include_ended: false, ..everything.clone() };
    ask(live.clone(), &|one| one.unsubscribed_at.is_none()).await;
    ask(WebhookQuery { tenant: tenant(), ..everything.clone() }, &|one| one.owner.tenant == desk.tenant)
        .await;
    let whose = WebhookQuery { tenant: tenant(), client: Some(ClientId::new("erp")), ..live.clone() };
    ask(whose, &|one| one.owner.tenant == desk.tenant && one.unsubscribed_at.is_none()).await;
    let family = WebhookQuery { family: Some(Family::Invoicing), ..everything.clone() };
    ask(family, &|one| one.resource == invoicing()).await;
    let resource = WebhookQuery { resource: Some(Resource::customers()), ..everything.clone() };
    ask(resource, &|one| one.resource == Resource::customers()).await;
    let nobody = WebhookQuery { client: Some(ClientId::new("no\0body")), ..everything.clone() };
    assert_eq!(store.webhooks(&nobody).await, Ok(Vec::new()));

    let mut paged: Vec<Webhook> = Vec::new();
    loop {
        let after = paged.last().map(|one| (one.created_at, one.id));
        let page = store.webhooks(&WebhookQuery { after, rows_max: 2, ..everything.clone() }).await.unwrap();
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, all);
}

pub(crate) async fn a_webhook_is_changed_by_its_owner_alone(stage: Stage) {
    let (desk, other, store) = (stage.desk().await, stage.desk().await, &stage.store);
    let webhook = made(store, body(&stage, &desk, "a")).await;
    let stranger = WebhookOwner { client: ClientId::new("other"), ..owner(&desk) };
    for nobody in [stranger, owner(&other)] {
        let tried = store.change_webhook(webhook.id, Some(&nobody), WebhookChange::Delete).await;
        assert_eq!(tried, Ok(WebhookChangeOutcome::Unknown));
    }
    let unknown = store.change_webhook(Guid::from_bytes([5; 16]), None, WebhookChange::Enable).await;
    assert_eq!(unknown, Ok(WebhookChangeOutcome::Unknown));
    assert_eq!(found(store, webhook.id).await, webhook);
    let own = store.change_webhook(webhook.id, Some(&owner(&desk)), WebhookChange::Disable).await.unwrap();
    assert!(matches!(own, WebhookChangeOutcome::Changed(one) if !one.enabled));
}

/// A tenant's webhooks go with it at once; their rows follow, and who comes after under its name has none of them.
pub(crate) async fn an_erased_tenant_leaves_no_webhook(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let other = stage.desk().await;
    let webhook = contracted(&stage, &desk, "a").await;
    let kept = contracted(&stage, &other, "a").await;
    super::webhook_fixtures::in_trouble(&stage, &webhook).await;
    let late = point(store, &webhook).await;
    let before = store.changed_webhooks(0).await.unwrap().last_change;
    store.erase_tenant(&desk.tenant).await.unwrap();
    assert_eq!(store.find_webhook(webhook.id).await, Ok(None));
    assert_eq!(store.load_webhook(webhook.id).await, Ok(None));
    assert_eq!(store.checkpoint(vec![late]).await, Ok(vec![store::CheckpointResult::Stale]));
    assert_eq!(store.request_replay(webhook.id, store::ReplayKind::Test, 0, 0).await, Ok(None));
    let changed = store.change_webhook(webhook.id, None, WebhookChange::Delete).await;
    assert_eq!(changed, Ok(WebhookChangeOutcome::Unknown));
    if stage.kind != super::stage::Kind::Memory {
        assert!(store.changed_webhooks(before).await.unwrap().webhooks.contains(&webhook.id));
    }

    store.add_tenant(&tenant(desk.tenant.as_str(), stage.now())).await.unwrap();
    let new = made(store, body(&stage, &desk, "a")).await;
    desk.purge_all(3).await;
    assert_eq!(found(store, new.id).await, new);
    assert_eq!(store.lanes(new.id, 10).await, Ok(Vec::new()));
    assert_eq!(found(store, kept.id).await, kept);
}
