//! Withdrawals: all that a client may do for a user in a tenant ends at once, and nothing else does.

use std::time::Duration;

use domain::{ClientId, GrantId, Secret, TenantId, Ticks, UserId};
use store::{
    AuditEntry, AuditKind, AuditQuery, AuthorizationCode, ClientAccess, CodeExchange, CodeOutcome, Grant,
    RefreshOutcome,
};

use super::codes::{chosen, code, context, grant, makes, ours, taking, theirs};
use super::refresh::rotation;
use super::stage::{Stage, at_once};

/// Whom `code` and `grant` are of.
pub(crate) fn access() -> ClientAccess {
    ClientAccess { user: UserId::new("maria"), client: ours(), tenant: TenantId::new("tenant-1") }
}

/// All that differ from `access` in one thing.
fn others() -> [ClientAccess; 3] {
    [
        ClientAccess { user: UserId::new("jon"), ..access() },
        ClientAccess { client: theirs(), ..access() },
        ClientAccess { tenant: TenantId::new("tenant-2"), ..access() },
    ]
}

fn code_of(access: &ClientAccess, now: Ticks) -> AuthorizationCode {
    let ClientAccess { user, client, tenant } = access.clone();
    AuthorizationCode { user, client, tenant, ..code(now) }
}

fn taking_of(access: &ClientAccess, code: &Secret, now: Ticks) -> CodeExchange {
    CodeExchange { client: access.client.clone(), ..taking(code, &ours(), now) }
}

async fn keep(stage: &Stage, access: &ClientAccess, name: &str) -> Secret {
    let (secret, now) = (Secret::new(name), stage.now());
    stage.store.store_code(&secret, &code_of(access, now), &chosen(), now).await.unwrap();
    secret
}

/// A grant of this access, with a refresh token where one is named.
async fn give(stage: &Stage, access: &ClientAccess, id: &str, token: Option<&str>) -> Grant {
    let now = stage.now();
    let secret = keep(stage, access, &format!("code of {id}")).await;
    let ClientAccess { user, client, tenant } = access.clone();
    let made = Grant { user, client, tenant, ..grant(id, now) };
    let judge = makes(&made, token.map(|token| (token, made.expires_at)));
    stage.store.take_code(&taking_of(access, &secret, now), judge).await.unwrap();
    made
}

async fn revocations(stage: &Stage) -> Vec<AuditEntry> {
    let query = AuditQuery { kind: Some(AuditKind::Revoked), rows_max: 1000, ..AuditQuery::default() };
    let mut entries: Vec<_> =
        stage.store.audit(&query).await.unwrap().into_iter().map(|record| record.entry).collect();
    entries.sort_by_key(|entry| (entry.at, entry.grant.clone()));
    entries
}

fn ids<const N: usize>(names: [&str; N]) -> Vec<GrantId> {
    names.into_iter().map(GrantId::new).collect()
}

pub(crate) async fn what_a_client_may_do_for_a_user_is_taken_back(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let second = give(&stage, &access(), "g2", Some("token-1")).await;
    let first = give(&stage, &access(), "g1", None).await;
    let waiting = [keep(&stage, &access(), "code-1").await, keep(&stage, &access(), "code-2").await];
    let later = now + Duration::from_secs(5);
    let gone = store.revoke_client_access(&access(), later, &context(), "señora, \"basta\"").await;
    assert_eq!(gone, Ok(ids(["g1", "g2"])));
    for made in [&first, &second] {
        let revoked = Grant { revoked_at: Some(later), ..made.clone() };
        assert_eq!(store.find_grant(&made.id).await, Ok(Some(revoked)));
    }
    assert_eq!(store.live_grants(&access().user, later).await, Ok(Vec::new()));
    assert_eq!(store.rotate_refresh(&rotation(1, later)).await, Ok(RefreshOutcome::Revoked));
    for secret in &waiting {
        let taken = store.take_code(&taking(secret, &ours(), later), Box::new(|_| None)).await;
        assert_eq!(taken, Ok(CodeOutcome::Unknown));
    }
    let entry = |made: &Grant| {
        AuditEntry::new(AuditKind::Revoked, later, &context()).for_grant(made).note("señora, \"basta\"")
    };
    let recorded = [entry(&first), entry(&second)];
    assert_eq!(revocations(&stage).await, recorded);

    let again =
        store.revoke_client_access(&access(), later + Duration::from_secs(1), &context(), "again").await;
    assert_eq!(again, Ok(Vec::new()));
    assert_eq!(revocations(&stage).await, recorded, "what was revoked is not revoked again");
    // A code that was used is still known, and the user may allow it all anew.
    let used = store.take_code(&taking(&Secret::new("code of g1"), &ours(), later), Box::new(|_| None)).await;
    assert_eq!(used, Ok(CodeOutcome::Reused { revoked: Some(first.id) }));
    let anew = give(&stage, &access(), "g3", None).await;
    assert_eq!(store.find_grant(&anew.id).await, Ok(Some(anew)));
}

pub(crate) async fn nothing_else_is_taken_back(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let mut kept = Vec::new();
    let mut codes = Vec::new();
    for (number, other) in others().into_iter().enumerate() {
        kept.push(give(&stage, &other, &format!("other {number}"), None).await);
        let secret = keep(&stage, &other, &format!("waiting {number}")).await;
        codes.push((other, secret));
    }
    let revoked = give(&stage, &access(), "revoked", None).await;
    store.revoke_grant(&revoked.id, now, &context(), "before").await.unwrap();
    kept.push(Grant { revoked_at: Some(now), ..revoked });
    let end = grant("any", now).expires_at;
    kept.push(give(&stage, &access(), "expired", None).await);
    stage.clock.set(Ticks(now.0 + 1));
    give(&stage, &access(), "live", None).await;
    stage.clock.set(now);
    let nobodies = ["", "MARIA", "maria\0", "tenant-1\0", "erp-norte\0"];
    for nobody in nobodies {
        let asked = [
            ClientAccess { user: UserId::new(nobody), ..access() },
            ClientAccess { client: ClientId::new(nobody), ..access() },
            ClientAccess { tenant: TenantId::new(nobody), ..access() },
        ];
        for asked in &asked {
            assert_eq!(
                store.revoke_client_access(asked, now, &context(), "").await,
                Ok(Vec::new()),
                "{asked:?}"
            );
        }
    }
    assert_eq!(revocations(&stage).await.len(), 1);

    assert_eq!(store.revoke_client_access(&access(), end, &context(), "").await, Ok(ids(["live"])));
    for one in kept {
        assert_eq!(store.find_grant(&one.id).await, Ok(Some(one)));
    }
    assert_eq!(revocations(&stage).await.len(), 2);
    for (other, secret) in codes {
        let taken = store.take_code(&taking_of(&other, &secret, now), Box::new(|_| None)).await;
        assert_eq!(taken, Ok(CodeOutcome::Redeemed { code: code_of(&other, now), grant: None }));
    }
}

/// However many withdraw at once, each grant is revoked and recorded once.
pub(crate) async fn of_many_who_withdraw_one_revokes(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let there = stage.reopen().await.store;
    for round in 0..5 {
        let mut made = Vec::new();
        for number in 0..10 {
            made.push(give(&stage, &access(), &format!("g{round}{number}"), None).await.id);
            keep(&stage, &access(), &format!("waiting {round} {number}")).await;
        }
        let answers = at_once(20, &[store, &there], |_, store| async move {
            store.revoke_client_access(&access(), now, &context(), "").await.unwrap()
        })
        .await;
        let found: Vec<_> = answers.into_iter().filter(|gone| !gone.is_empty()).collect();
        assert_eq!(found, [made]);
        assert_eq!(revocations(&stage).await.len(), 10 * (round + 1));
    }
}

/// Whoever redeems a code meanwhile is either too late or has a grant that is revoked.
pub(crate) async fn a_code_that_is_just_taken_is_taken_back_too(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let there = stage.reopen().await.store;
    for round in 0..10 {
        for number in 0..12 {
            keep(&stage, &access(), &format!("code {round} {number}")).await;
        }
        let answers = at_once(13, &[store, &there], |number, store| async move {
            if number == 6 {
                store.revoke_client_access(&access(), now, &context(), "").await.unwrap();
                return CodeOutcome::Unknown;
            }
            let number = if number > 6 { number - 1 } else { number };
            let secret = Secret::new(format!("code {round} {number}"));
            let judge = makes(&grant(&format!("g {round} {number}"), now), None);
            store.take_code(&taking(&secret, &ours(), now), judge).await.unwrap()
        })
        .await;
        for taken in answers {
            match taken {
                CodeOutcome::Unknown => {}
                CodeOutcome::Redeemed { grant: Some(made), .. } => {
                    let kept = store.find_grant(&made.id).await.unwrap().unwrap();
                    assert_eq!(kept.revoked_at, Some(now), "{} got away", made.id);
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(store.live_grants(&access().user, now).await, Ok(Vec::new()));
    }
}

pub(crate) async fn a_withdrawal_that_breaks_down_takes_nothing_back(stage: Stage) {
    let (store, now) = (stage.store.clone(), stage.now());
    let made = give(&stage, &access(), "g1", None).await;
    let waiting = keep(&stage, &access(), "code-1").await;
    stage.random.fail_next();
    let withdrawing = store.clone();
    let broken =
        tokio::spawn(async move { withdrawing.revoke_client_access(&access(), now, &context(), "").await })
            .await;
    assert!(!matches!(broken, Ok(Ok(_))), "a panic is no answer");
    assert_eq!(store.find_grant(&made.id).await, Ok(Some(made)));
    assert_eq!(revocations(&stage).await, []);
    let taken = store.take_code(&taking(&waiting, &ours(), now), Box::new(|_| None)).await;
    assert_eq!(taken, Ok(CodeOutcome::Redeemed { code: code(now), grant: None }));
    assert_eq!(store.revoke_client_access(&access(), now, &context(), "").await, Ok(ids(["g1"])));
}
