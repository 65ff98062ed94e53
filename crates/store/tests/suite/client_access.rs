//! Revoking a client's access for a user in a tenant: every grant and every pending code of it ends, and nothing else.

use std::time::Duration;

use domain::{AccountId, ClientId, GrantId, Secret, TenantId, Ticks};
use store::{
    AuditEntry, AuditKind, AuditQuery, AuthorizationCode, ClientAccess, CodeExchange, CodeOutcome, Grant,
    RefreshOutcome,
};

use super::codes::{approve, code, context, exchange, grant, membership_id, other_client, our_client};
use super::fixture::{Fixture, by, concurrently};
use super::refresh_tokens::rotation;

/// The user, client and tenant of `code` and `grant`.
pub(crate) fn access() -> ClientAccess {
    ClientAccess { user: AccountId::new("maria"), client: our_client(), tenant: TenantId::new("tenant-1") }
}

/// Accesses that differ from `access` in one member.
fn others() -> [ClientAccess; 3] {
    [
        ClientAccess { user: AccountId::new("jon"), ..access() },
        ClientAccess { client: other_client(), ..access() },
        ClientAccess { tenant: TenantId::new("tenant-2"), ..access() },
    ]
}

fn code_for(access: &ClientAccess, now: Ticks) -> AuthorizationCode {
    let ClientAccess { user, client, tenant } = access.clone();
    AuthorizationCode { user, client, tenant, ..code(now) }
}

fn exchange_for(access: &ClientAccess, code: &Secret, now: Ticks) -> CodeExchange {
    CodeExchange { client: access.client.clone(), ..exchange(code, &our_client(), now) }
}

async fn store_code(fixture: &Fixture, access: &ClientAccess, name: &str) -> Secret {
    let (secret, now) = (Secret::new(name), fixture.now());
    fixture.store.store_code(&secret, &code_for(access, now), &membership_id(), now, &by()).await.unwrap();
    secret
}

/// Issues a grant for this access, with a refresh token if one is named.
async fn issue_grant(fixture: &Fixture, access: &ClientAccess, id: &str, token: Option<&str>) -> Grant {
    let now = fixture.now();
    let secret = store_code(fixture, access, &format!("code of {id}")).await;
    let ClientAccess { user, client, tenant } = access.clone();
    let new_grant = Grant { user, client, tenant, ..grant(id, now) };
    let decision = approve(&new_grant, token.map(|token| (token, new_grant.expires_at)));
    fixture.store.take_code(&exchange_for(access, &secret, now), decision).await.unwrap();
    new_grant
}

async fn revocations(fixture: &Fixture) -> Vec<AuditEntry> {
    let query = AuditQuery { kind: Some(AuditKind::Revoked), rows_max: 1000, ..AuditQuery::default() };
    let mut entries: Vec<_> =
        fixture.store.audit(&query).await.unwrap().into_iter().map(|record| record.entry).collect();
    entries.sort_by_key(|entry| (entry.at, entry.grant.clone()));
    entries
}

fn ids<const N: usize>(names: [&str; N]) -> Vec<GrantId> {
    names.into_iter().map(GrantId::new).collect()
}

pub(crate) async fn revoking_client_access_revokes_its_grants_and_codes(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let second = issue_grant(&fixture, &access(), "g2", Some("token-1")).await;
    let first = issue_grant(&fixture, &access(), "g1", None).await;
    let waiting =
        [store_code(&fixture, &access(), "code-1").await, store_code(&fixture, &access(), "code-2").await];
    let later = now + Duration::from_secs(5);
    let revoked_ids = store.revoke_client_access(&access(), later, &context(), "señora, \"basta\"").await;
    assert_eq!(revoked_ids, Ok(ids(["g1", "g2"])));
    for new_grant in [&first, &second] {
        let revoked = Grant { revoked_at: Some(later), ..new_grant.clone() };
        assert_eq!(store.find_grant(&new_grant.id).await, Ok(Some(revoked)));
    }
    assert_eq!(store.live_grants(&access().user, later).await, Ok(Vec::new()));
    assert_eq!(store.rotate_refresh(&rotation(1, later)).await, Ok(RefreshOutcome::Revoked));
    for secret in &waiting {
        let taken = store.take_code(&exchange(secret, &our_client(), later), Box::new(|_| None)).await;
        assert_eq!(taken, Ok(CodeOutcome::Unknown));
    }
    let entry = |new_grant: &Grant| {
        AuditEntry::new(AuditKind::Revoked, later, &context()).for_grant(new_grant).note("señora, \"basta\"")
    };
    let recorded = [entry(&first), entry(&second)];
    assert_eq!(revocations(&fixture).await, recorded);

    let again =
        store.revoke_client_access(&access(), later + Duration::from_secs(1), &context(), "again").await;
    assert_eq!(again, Ok(Vec::new()));
    assert_eq!(revocations(&fixture).await, recorded, "a revoked grant is not revoked again");
    // A used code is still known, and the user may grant access again.
    let used = store
        .take_code(&exchange(&Secret::new("code of g1"), &our_client(), later), Box::new(|_| None))
        .await;
    assert_eq!(used, Ok(CodeOutcome::Reused { revoked: Some(first.id) }));
    let renewed = issue_grant(&fixture, &access(), "g3", None).await;
    assert_eq!(store.find_grant(&renewed.id).await, Ok(Some(renewed)));
}

pub(crate) async fn revoking_client_access_leaves_everything_else(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let mut unaffected = Vec::new();
    let mut codes = Vec::new();
    for (number, other) in others().into_iter().enumerate() {
        unaffected.push(issue_grant(&fixture, &other, &format!("other {number}"), None).await);
        let secret = store_code(&fixture, &other, &format!("waiting {number}")).await;
        codes.push((other, secret));
    }
    let revoked = issue_grant(&fixture, &access(), "revoked", None).await;
    store.revoke_grant(&revoked.id, now, &context(), "before").await.unwrap();
    unaffected.push(Grant { revoked_at: Some(now), ..revoked });
    let end = grant("any", now).expires_at;
    unaffected.push(issue_grant(&fixture, &access(), "expired", None).await);
    fixture.clock.set(Ticks(now.0 + 1));
    issue_grant(&fixture, &access(), "live", None).await;
    fixture.clock.set(now);
    let unknown_names = ["", "MARIA", "maria\0", "tenant-1\0", "erp-norte\0"];
    for unknown in unknown_names {
        let unknown_accesses = [
            ClientAccess { user: AccountId::new(unknown), ..access() },
            ClientAccess { client: ClientId::new(unknown), ..access() },
            ClientAccess { tenant: TenantId::new(unknown), ..access() },
        ];
        for unknown_accesses in &unknown_accesses {
            assert_eq!(
                store.revoke_client_access(unknown_accesses, now, &context(), "").await,
                Ok(Vec::new()),
                "{unknown_accesses:?}"
            );
        }
    }
    assert_eq!(revocations(&fixture).await.len(), 1);

    assert_eq!(store.revoke_client_access(&access(), end, &context(), "").await, Ok(ids(["live"])));
    for grant in unaffected {
        assert_eq!(store.find_grant(&grant.id).await, Ok(Some(grant)));
    }
    assert_eq!(revocations(&fixture).await.len(), 2);
    for (other, secret) in codes {
        let taken = store.take_code(&exchange_for(&other, &secret, now), Box::new(|_| None)).await;
        assert_eq!(taken, Ok(CodeOutcome::Redeemed { code: code_for(&other, now), grant: None }));
    }
}

/// Concurrent revocations revoke and audit each grant once.
pub(crate) async fn concurrent_revocations_revoke_each_grant_once(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let second_store = fixture.reopen().await.store;
    for round in 0..5 {
        let mut issued = Vec::new();
        for number in 0..10 {
            issued.push(issue_grant(&fixture, &access(), &format!("g{round}{number}"), None).await.id);
            store_code(&fixture, &access(), &format!("waiting {round} {number}")).await;
        }
        let answers = concurrently(20, &[store, &second_store], |_, store| async move {
            store.revoke_client_access(&access(), now, &context(), "").await.unwrap()
        })
        .await;
        let found: Vec<_> = answers.into_iter().filter(|revoked_ids| !revoked_ids.is_empty()).collect();
        assert_eq!(found, [issued]);
        assert_eq!(revocations(&fixture).await.len(), 10 * (round + 1));
    }
}

/// A code redeemed concurrently is either unknown or its grant is revoked.
pub(crate) async fn code_redeemed_during_the_revocation_is_revoked_too(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let second_store = fixture.reopen().await.store;
    for round in 0..10 {
        for number in 0..12 {
            store_code(&fixture, &access(), &format!("code {round} {number}")).await;
        }
        let answers = concurrently(13, &[store, &second_store], |number, store| async move {
            if number == 6 {
                store.revoke_client_access(&access(), now, &context(), "").await.unwrap();
                return CodeOutcome::Unknown;
            }
            let number = if number > 6 { number - 1 } else { number };
            let secret = Secret::new(format!("code {round} {number}"));
            let decision = approve(&grant(&format!("g {round} {number}"), now), None);
            store.take_code(&exchange(&secret, &our_client(), now), decision).await.unwrap()
        })
        .await;
        for taken in answers {
            match taken {
                CodeOutcome::Unknown => {}
                CodeOutcome::Redeemed { grant: Some(new_grant), .. } => {
                    let unaffected = store.find_grant(&new_grant.id).await.unwrap().unwrap();
                    assert_eq!(unaffected.revoked_at, Some(now), "{} was not revoked", new_grant.id);
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(store.live_grants(&access().user, now).await, Ok(Vec::new()));
    }
}

pub(crate) async fn panicking_revocation_is_rolled_back(fixture: Fixture) {
    let (store, now) = (fixture.store.clone(), fixture.now());
    let new_grant = issue_grant(&fixture, &access(), "g1", None).await;
    let waiting = store_code(&fixture, &access(), "code-1").await;
    fixture.random.panic_next();
    let store_handle = store.clone();
    let broken =
        tokio::spawn(async move { store_handle.revoke_client_access(&access(), now, &context(), "").await })
            .await;
    assert!(!matches!(broken, Ok(Ok(_))), "the revocation fails");
    assert_eq!(store.find_grant(&new_grant.id).await, Ok(Some(new_grant)));
    assert_eq!(revocations(&fixture).await, []);
    let taken = store.take_code(&exchange(&waiting, &our_client(), now), Box::new(|_| None)).await;
    assert_eq!(taken, Ok(CodeOutcome::Redeemed { code: code(now), grant: None }));
    assert_eq!(store.revoke_client_access(&access(), now, &context(), "").await, Ok(ids(["g1"])));
}
