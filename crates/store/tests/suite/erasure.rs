//! A tenant that is erased is gone for everybody at once; its rows follow in batches.

use std::time::Duration;

use domain::{GrantId, Secret, UserId};
use store::{CodeOutcome, ListQuery, RefreshOutcome, RefreshRotation, StoreError};

use super::codes::{chosen, code, context, grant, makes, ours, taking};
use super::desk::{Desk, company, customer, delete, entity, journal, payroll};
use super::directory::{membership, user};
use super::stage::{Stage, at_once, tenant};

const PURGE_ROWS_MAX: usize = 16;

/// Records of every kind, a deleted company, an idempotency key, a member and a grant with its token.
async fn furnish(stage: &Stage, desk: &Desk, name: &str) {
    let (store, now) = (&desk.store, stage.now());
    desk.accept([company("c1"), company("c2"), payroll(1, "Norte", None), entity("Bank", "b1", "{}")]).await;
    let journals = (0..40).map(|number| journal("c1", &format!("j{number}"), "{}"));
    desk.accept(journals.chain([journal("c2", "j1", "{}"), customer("c1", "k1", "Ana")])).await;
    desk.accept([delete(journal("c1", "j7", "{}")), delete(company("c2"))]).await;
    store.apply_changes(desk.chunk("import", 0, [customer("c1", "k2", "Berta")])).await.unwrap();
    store.add_membership(&membership(stage, &format!("m {name}"), "maria", &desk.tenant)).await.unwrap();
    let mut given = grant(&format!("g {name}"), now);
    given.tenant = desk.tenant.clone();
    let secret = Secret::new(format!("code {name}"));
    store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
    let token = format!("token {name}");
    let judge = makes(&given, Some((&token, now + Duration::from_secs(1000))));
    store.take_code(&taking(&secret, &ours(), now), judge).await.unwrap();
}

fn rotation(stage: &Stage, name: &str) -> RefreshRotation {
    RefreshRotation {
        presented: Secret::new(format!("token {name}")),
        client: ours(),
        successor: Secret::new(format!("next token {name}")),
        successor_expires_at: None,
        tokens_until: stage.now(),
        grace: Duration::from_secs(30),
        now: stage.now(),
        context: context(),
    }
}

/// Nothing of the tenant can be found or used.
async fn is_gone(stage: &Stage, desk: &Desk, name: &str) {
    let store = &desk.store;
    assert_eq!(store.find_tenant(&desk.tenant).await, Ok(None));
    let unknown = StoreError::UnknownTenant(desk.tenant.to_string());
    assert_eq!(desk.try_send([company("c3")]).await, Err(unknown.clone()));
    assert_eq!(store.log_bounds(&desk.tenant).await, Err(unknown));
    assert!(!desk.has(&company("c1")).await);
    assert!(!desk.has(&entity("Bank", "b1", "{}")).await);
    assert_eq!(store.company_ids(&desk.tenant, 10).await, Ok(Vec::new()));
    assert_eq!(desk.find_page(None, company("any").resource, 0, 10).await, None);
    assert_eq!(store.find_ingest_progress(&desk.tenant, "import").await, Ok(None));
    assert_eq!(store.find_grant(&GrantId::new(format!("g {name}"))).await, Ok(None));
    assert_eq!(store.rotate_refresh(&rotation(stage, name)).await, Ok(RefreshOutcome::Unknown));
    let members = store
        .list_memberships(&UserId::new("maria"), &ListQuery::default())
        .await
        .map(|page| page.rows)
        .unwrap();
    assert!(members.iter().all(|membership| membership.tenant != desk.tenant));
    let code = Secret::new(format!("code {name}"));
    let reused = store.take_code(&taking(&code, &ours(), stage.now()), Box::new(|_| None)).await.unwrap();
    assert!(matches!(reused, CodeOutcome::Reused { .. }));
}

pub(crate) async fn an_erased_tenant_is_gone_and_another_is_not(stage: Stage) {
    let (erased, other) = (stage.desk().await, stage.desk().await);
    stage.store.add_user(&user(&stage, "maria"), &[]).await.unwrap();
    furnish(&stage, &erased, "erased").await;
    furnish(&stage, &other, "other").await;
    let (log, ids) = (other.log().await, other.ids(&journal("c1", "j", "{}")).await);

    assert_eq!(stage.store.erase_tenant(&erased.tenant).await, Ok(true));
    assert_eq!(stage.store.erase_tenant(&erased.tenant).await, Ok(false));
    is_gone(&stage, &erased, "erased").await;
    assert_eq!(stage.store.purge(0).await, Ok(0));
    erased.purge_all(PURGE_ROWS_MAX).await;
    is_gone(&stage, &erased, "erased").await;
    assert_eq!(erased.purge_all(PURGE_ROWS_MAX).await, 0);

    assert_eq!(other.log().await, log);
    assert_eq!(other.ids(&journal("c1", "j", "{}")).await, ids);
    assert!(other.store.find_ingest_progress(&other.tenant, "import").await.unwrap().is_some());
    assert!(other.store.find_grant(&GrantId::new("g other")).await.unwrap().is_some());
    let rotated = other.store.rotate_refresh(&rotation(&stage, "other")).await.unwrap();
    assert!(matches!(rotated, RefreshOutcome::Rotated { .. }));
    assert_eq!(
        other
            .store
            .list_memberships(&UserId::new("maria"), &ListQuery::default())
            .await
            .map(|page| page.rows)
            .unwrap()
            .len(),
        1
    );
    assert_eq!(stage.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows).unwrap().len(), 1);
    assert_eq!(
        stage.store.list_users(&ListQuery::default()).await.map(|page| page.rows).unwrap().len(),
        1,
        "users belong to no tenant"
    );
}

pub(crate) async fn an_erased_tenants_id_can_be_taken_anew(stage: Stage) {
    let desk = stage.desk().await;
    furnish(&stage, &desk, "first").await;
    desk.store.erase_tenant(&desk.tenant).await.unwrap();
    desk.store.add_tenant(&tenant(desk.tenant.as_str(), stage.now())).await.unwrap();
    assert_eq!(desk.told().await, [""; 0]);
    assert!(!desk.has(&company("c1")).await);
    assert_eq!(desk.accept([company("c1"), journal("c1", "j1", "{}")]).await.last_sequence, 2);

    desk.purge_all(PURGE_ROWS_MAX).await;
    assert_eq!(desk.told().await, ["1 companies c1 Created", "2 journals j1 Created"]);
    assert_eq!(desk.ids(&journal("c1", "j", "{}")).await, ["j1"]);
    assert_eq!(desk.store.find_ingest_progress(&desk.tenant, "import").await, Ok(None));
    assert_eq!(
        desk.store.list_memberships(&UserId::new("maria"), &ListQuery::default()).await.map(|page| page.rows),
        Ok(Vec::new())
    );
}

/// However many erase at once, and whoever writes meanwhile: one of them did it, and nothing is left.
pub(crate) async fn of_many_who_erase_one_did_it(stage: Stage) {
    let there = stage.reopen().await.store;
    for _ in 0..5 {
        let desk = stage.desk().await;
        desk.accept([company("c1")]).await;
        let answers = at_once(16, &[&stage.store, &there], |number, store| {
            let desk = desk.at(&store);
            async move {
                // Two at each handle write, two erase, and so on.
                if number % 4 < 2 {
                    let sent = desk.try_send([journal("c1", &format!("j{number}"), "{}")]).await;
                    let unknown = StoreError::UnknownTenant(desk.tenant.to_string());
                    assert!(sent.is_ok() || sent == Err(unknown));
                    return false;
                }
                desk.store.erase_tenant(&desk.tenant).await.unwrap()
            }
        })
        .await;
        assert_eq!(answers.iter().filter(|erased| **erased).count(), 1);
        assert_eq!(desk.store.find_tenant(&desk.tenant).await, Ok(None));
        desk.purge_all(PURGE_ROWS_MAX).await;
    }
}
