//! Tenant erasure: the tenant is gone at once; its rows are purged later in batches.

use std::time::Duration;

use domain::{AccountId, GrantId, Realm, Secret};
use store::{CodeOutcome, ListQuery, RefreshOutcome, RefreshRotation, StoreError};

use super::codes::{approve, code, context, exchange, grant, membership_id, our_client};
use super::directory::{membership, user};
use super::fixture::{Fixture, by, concurrently, new_tenant};
use super::test_tenant::{TestTenant, company, customer, delete, entity, journal, payroll};

const PURGE_ROWS_MAX: usize = 16;

/// Records of every kind, a deleted company, an idempotency key, a member and a grant with its token.
async fn fill_tenant(fixture: &Fixture, tenant: &TestTenant, name: &str) {
    let (store, now) = (&tenant.store, fixture.now());
    tenant
        .accept([company("c1"), company("c2"), payroll(1, "Norte", None), entity("Bank", "b1", "{}")])
        .await;
    let journals = (0..40).map(|number| journal("c1", &format!("j{number}"), "{}"));
    tenant.accept(journals.chain([journal("c2", "j1", "{}"), customer("c1", "k1", "Ana")])).await;
    tenant.accept([delete(journal("c1", "j7", "{}")), delete(company("c2"))]).await;
    store.apply_changes(tenant.chunk("import", 0, [customer("c1", "k2", "Berta")])).await.unwrap();
    store
        .add_membership(&membership(fixture, &format!("m {name}"), "maria", &tenant.id), &by())
        .await
        .unwrap();
    let mut issued = grant(&format!("g {name}"), now);
    issued.tenant = tenant.id.clone();
    let secret = Secret::new(format!("code {name}"));
    store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    let token = format!("token {name}");
    let decision = approve(&issued, Some((&token, now + Duration::from_secs(1000))));
    store.take_code(&exchange(&secret, &our_client(), now), decision).await.unwrap();
}

fn rotation(fixture: &Fixture, name: &str) -> RefreshRotation {
    RefreshRotation {
        presented: Secret::new(format!("token {name}")),
        client: our_client(),
        successor: Secret::new(format!("next token {name}")),
        successor_expires_at: None,
        tokens_until: fixture.now(),
        grace: Duration::from_secs(30),
        now: fixture.now(),
        context: context(),
    }
}

/// Asserts that nothing of the tenant can be found or used.
async fn assert_gone(fixture: &Fixture, tenant: &TestTenant, name: &str) {
    let store = &tenant.store;
    assert_eq!(store.find_tenant(&tenant.id).await, Ok(None));
    let unknown = StoreError::UnknownTenant(tenant.id.to_string());
    assert_eq!(tenant.try_send([company("c3")]).await, Err(unknown.clone()));
    assert_eq!(store.log_bounds(&tenant.id).await, Err(unknown));
    assert!(!tenant.has(&company("c1")).await);
    assert!(!tenant.has(&entity("Bank", "b1", "{}")).await);
    assert_eq!(store.company_ids(&tenant.id, 10).await, Ok(Vec::new()));
    assert_eq!(tenant.find_page(None, company("any").resource, 0, 10).await, None);
    assert_eq!(store.find_ingest_progress(&tenant.id, "import").await, Ok(None));
    assert_eq!(store.find_grant(&GrantId::new(format!("g {name}"))).await, Ok(None));
    assert_eq!(store.rotate_refresh(&rotation(fixture, name)).await, Ok(RefreshOutcome::Unknown));
    let members = store
        .list_memberships(&AccountId::new("maria"), &ListQuery::default())
        .await
        .map(|page| page.rows)
        .unwrap();
    assert!(members.iter().all(|membership| membership.tenant != tenant.id));
    let code = Secret::new(format!("code {name}"));
    let reused =
        store.take_code(&exchange(&code, &our_client(), fixture.now()), Box::new(|_| None)).await.unwrap();
    assert!(matches!(reused, CodeOutcome::Reused { .. }));
}

pub(crate) async fn erased_tenant_is_gone_and_others_are_unchanged(fixture: Fixture) {
    let (erased, other) = (fixture.add_tenant().await, fixture.add_tenant().await);
    fixture.store.add_account(&user(&fixture, "maria"), &[], &by()).await.unwrap();
    fill_tenant(&fixture, &erased, "erased").await;
    fill_tenant(&fixture, &other, "other").await;
    let (log, ids) = (other.log().await, other.ids(&journal("c1", "j", "{}")).await);

    assert_eq!(fixture.store.erase_tenant(&erased.id, &by()).await, Ok(true));
    assert_eq!(fixture.store.erase_tenant(&erased.id, &by()).await, Ok(false));
    assert_gone(&fixture, &erased, "erased").await;
    assert_eq!(fixture.store.purge(0).await, Ok(0));
    erased.purge_all(PURGE_ROWS_MAX).await;
    assert_gone(&fixture, &erased, "erased").await;
    assert_eq!(erased.purge_all(PURGE_ROWS_MAX).await, 0);

    assert_eq!(other.log().await, log);
    assert_eq!(other.ids(&journal("c1", "j", "{}")).await, ids);
    assert!(other.store.find_ingest_progress(&other.id, "import").await.unwrap().is_some());
    assert!(other.store.find_grant(&GrantId::new("g other")).await.unwrap().is_some());
    let rotated = other.store.rotate_refresh(&rotation(&fixture, "other")).await.unwrap();
    assert!(matches!(rotated, RefreshOutcome::Rotated { .. }));
    assert_eq!(
        other
            .store
            .list_memberships(&AccountId::new("maria"), &ListQuery::default())
            .await
            .map(|page| page.rows)
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        fixture.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows).unwrap().len(),
        1
    );
    assert_eq!(
        fixture
            .store
            .list_accounts(Realm::Users, &ListQuery::default())
            .await
            .map(|page| page.rows)
            .unwrap()
            .len(),
        1,
        "users belong to no tenant"
    );
}

pub(crate) async fn erased_tenants_id_can_be_reused(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    fill_tenant(&fixture, &tenant, "first").await;
    tenant.store.erase_tenant(&tenant.id, &by()).await.unwrap();
    tenant.store.add_tenant(&new_tenant(tenant.id.as_str(), fixture.now()), &by()).await.unwrap();
    assert_eq!(tenant.log_lines().await, [""; 0]);
    assert!(!tenant.has(&company("c1")).await);
    assert_eq!(tenant.accept([company("c1"), journal("c1", "j1", "{}")]).await.last_sequence, 2);

    tenant.purge_all(PURGE_ROWS_MAX).await;
    assert_eq!(tenant.log_lines().await, ["1 companies c1 Created", "2 journals j1 Created"]);
    assert_eq!(tenant.ids(&journal("c1", "j", "{}")).await, ["j1"]);
    assert_eq!(tenant.store.find_ingest_progress(&tenant.id, "import").await, Ok(None));
    assert_eq!(
        tenant
            .store
            .list_memberships(&AccountId::new("maria"), &ListQuery::default())
            .await
            .map(|page| page.rows),
        Ok(Vec::new())
    );
}

/// Of concurrent erasures, with concurrent writes, exactly one returns true, and nothing remains.
pub(crate) async fn concurrent_erasures_have_one_winner(fixture: Fixture) {
    let second_store = fixture.reopen().await.store;
    for _ in 0..5 {
        let tenant = fixture.add_tenant().await;
        tenant.accept([company("c1")]).await;
        let answers = concurrently(16, &[&fixture.store, &second_store], |number, store| {
            let tenant = tenant.via(&store);
            async move {
                // Both stores get writes and erasures.
                if number % 4 < 2 {
                    let sent = tenant.try_send([journal("c1", &format!("j{number}"), "{}")]).await;
                    let unknown = StoreError::UnknownTenant(tenant.id.to_string());
                    assert!(sent.is_ok() || sent == Err(unknown));
                    return false;
                }
                tenant.store.erase_tenant(&tenant.id, &by()).await.unwrap()
            }
        })
        .await;
        assert_eq!(answers.iter().filter(|erased| **erased).count(), 1);
        assert_eq!(tenant.store.find_tenant(&tenant.id).await, Ok(None));
        tenant.purge_all(PURGE_ROWS_MAX).await;
    }
}
