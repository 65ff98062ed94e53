//! Refresh tokens: each is rotated once; a retry within the grace finds the same successor, any other reuse revokes the grant.

use std::sync::Arc;
use std::time::Duration;

use domain::{Secret, Ticks};
use store::{Grant, RefreshOutcome, RefreshRotation, Store};

use super::codes::{approve, code, context, exchange, grant, membership_id, other_client, our_client};
use super::fixture::{Fixture, by, concurrently};

const GRACE: Duration = Duration::from_secs(30);
const LIFE: Duration = Duration::from_secs(1000);

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A grant whose first refresh token is `token-1`.
async fn first_token(fixture: &Fixture) -> Grant {
    let now = fixture.now();
    let new_grant = grant("g1", now);
    fixture.store.store_code(&Secret::new("code-1"), &code(now), &membership_id(), now, &by()).await.unwrap();
    let decision = approve(&new_grant, Some(("token-1", now + LIFE)));
    fixture.store.take_code(&exchange(&Secret::new("code-1"), &our_client(), now), decision).await.unwrap();
    new_grant
}

/// The rotation of token N to token N + 1 by its client.
pub(crate) fn rotation(presented: u32, now: Ticks) -> RefreshRotation {
    RefreshRotation {
        presented: Secret::new(format!("token-{presented}")),
        client: our_client(),
        successor: Secret::new(format!("token-{}", presented + 1)),
        successor_expires_at: None,
        tokens_until: now,
        grace: GRACE,
        now,
        context: context(),
    }
}

async fn rotate(store: &Arc<dyn Store>, presented: u32, now: Ticks) -> RefreshOutcome {
    store.rotate_refresh(&rotation(presented, now)).await.unwrap()
}

fn is_rotated(answer: &RefreshOutcome) -> bool {
    matches!(answer, RefreshOutcome::Rotated { .. })
}

pub(crate) async fn rotated_tokens_keep_the_absolute_expiry(fixture: Fixture) {
    let (store, start) = (&fixture.store, fixture.now());
    let new_grant = first_token(&fixture).await;
    let end = start + LIFE;
    let mut used = new_grant.clone();
    for (token, at) in [(1, 100), (2, 200), (3, 999)] {
        used.last_used_at = start + seconds(at);
        let answer = rotate(store, token, start + seconds(at)).await;
        assert_eq!(answer, RefreshOutcome::Rotated { grant: used.clone(), expires_at: end });
    }
    assert_eq!(rotate(store, 4, end).await, RefreshOutcome::Expired);
    assert_eq!(rotate(store, 5, start).await, RefreshOutcome::Unknown);
    assert_eq!(store.find_grant(&new_grant.id).await, Ok(Some(used)), "rotation does not extend the grant");
}

pub(crate) async fn successor_expiry_can_slide(fixture: Fixture) {
    let (store, start) = (&fixture.store, fixture.now());
    let new_grant = first_token(&fixture).await;
    let mut end = new_grant.expires_at;
    for (token, at) in [(1, 900), (2, 1800), (3, 2700)] {
        let now = start + seconds(at);
        let slid = RefreshRotation { successor_expires_at: Some(now + LIFE), ..rotation(token, now) };
        let answer = store.rotate_refresh(&slid).await.unwrap();
        end = end.max(now + LIFE);
        let grant = Grant { expires_at: end, last_used_at: now, ..new_grant.clone() };
        assert_eq!(answer, RefreshOutcome::Rotated { grant: grant.clone(), expires_at: now + LIFE });
        assert_eq!(
            store.find_grant(&new_grant.id).await,
            Ok(Some(grant)),
            "the grant expires with its last token"
        );
    }
    assert_eq!(end, start + seconds(3700));
    assert_eq!(rotate(store, 4, end).await, RefreshOutcome::Expired);
}

pub(crate) async fn retry_within_the_grace_finds_the_same_successor(fixture: Fixture) {
    let (store, start) = (&fixture.store, fixture.now());
    let new_grant = first_token(&fixture).await;
    let slid = RefreshRotation { successor_expires_at: Some(start + seconds(500)), ..rotation(1, start) };
    assert!(is_rotated(&store.rotate_refresh(&slid).await.unwrap()));
    for at in [0, 15, 30] {
        let now = start + seconds(at);
        let retry = RefreshRotation { successor_expires_at: Some(now + LIFE), now, ..slid.clone() };
        let answer = store.rotate_refresh(&retry).await.unwrap();
        let expected = RefreshOutcome::Retried { grant: new_grant.clone(), expires_at: start + seconds(500) };
        assert_eq!(answer, expected, "the same successor with the same expiry");
    }
    assert!(is_rotated(&rotate(store, 2, start + seconds(31)).await));
}

/// An access token may outlive the refresh tokens: the grant expires with the last token.
pub(crate) async fn grant_expires_with_its_last_token(fixture: Fixture) {
    let (store, start) = (&fixture.store, fixture.now());
    let new_grant = first_token(&fixture).await;
    let hours = |count| start + Duration::from_hours(count);
    let rotation_until =
        |token, at, tokens_until| RefreshRotation { tokens_until, ..rotation(token, start + seconds(at)) };
    let check_grant = async |until: Ticks, used: u64| {
        let grant = Grant { expires_at: until, last_used_at: start + seconds(used), ..new_grant.clone() };
        assert_eq!(store.find_grant(&new_grant.id).await, Ok(Some(grant.clone())));
        grant
    };
    let expires_at = start + LIFE;
    let answer = store.rotate_refresh(&rotation_until(1, 10, hours(2))).await.unwrap();
    assert_eq!(answer, RefreshOutcome::Rotated { grant: check_grant(hours(2), 10).await, expires_at });

    // A retry issues another access token.
    for (at, given_until, until) in [(15, 3, 3), (20, 1, 3), (25, 3, 3), (30, 4, 4)] {
        let answer = store.rotate_refresh(&rotation_until(1, at, hours(given_until))).await.unwrap();
        assert_eq!(
            answer,
            RefreshOutcome::Retried { grant: check_grant(hours(until), 10).await, expires_at }
        );
    }
    let answer = store.rotate_refresh(&rotation_until(2, 35, hours(1))).await.unwrap();
    assert_eq!(answer, RefreshOutcome::Rotated { grant: check_grant(hours(4), 35).await, expires_at });
    let slid = RefreshRotation { successor_expires_at: Some(hours(6)), ..rotation_until(3, 40, hours(5)) };
    assert!(is_rotated(&store.rotate_refresh(&slid).await.unwrap()));
    check_grant(hours(6), 40).await;

    // A refused rotation does not extend the grant.
    for (token, client) in [(4, other_client()), (9, our_client())] {
        let refused = RefreshRotation { client, ..rotation_until(token, 45, hours(9)) };
        assert_eq!(store.rotate_refresh(&refused).await, Ok(RefreshOutcome::Unknown));
    }
    let late = RefreshRotation { now: hours(6), ..rotation_until(4, 0, hours(9)) };
    assert_eq!(store.rotate_refresh(&late).await, Ok(RefreshOutcome::Expired));
    check_grant(hours(6), 40).await;
}

pub(crate) async fn concurrent_rotations_of_one_token_find_one_successor(fixture: Fixture) {
    let (store, start) = (&fixture.store, fixture.now());
    let second_store = fixture.reopen().await.store;
    let new_grant = first_token(&fixture).await;
    let answers =
        concurrently(200, &[store, &second_store], |_, store| async move { rotate(&store, 1, start).await })
            .await;
    let expires_at = start + LIFE;
    let rotated = RefreshOutcome::Rotated { grant: new_grant.clone(), expires_at };
    let retried = RefreshOutcome::Retried { grant: new_grant.clone(), expires_at };
    assert_eq!(answers.iter().filter(|answer| **answer == rotated).count(), 1);
    assert_eq!(answers.iter().filter(|answer| **answer == retried).count(), 199);
    assert_eq!(rotate(store, 2, start).await, rotated, "the successor works");
    assert_eq!(rotate(store, 3, start).await, rotated);
}

/// Asserts that every token of the grant is revoked.
async fn assert_all_revoked(fixture: &Fixture, new_grant: &Grant, at: Ticks) {
    for token in 1..=2 {
        assert_eq!(rotate(&fixture.store, token, at).await, RefreshOutcome::Revoked, "token-{token}");
    }
    let stored = fixture.store.find_grant(&new_grant.id).await.unwrap().unwrap();
    assert_eq!(stored.revoked_at, Some(at));
    let again = fixture
        .store
        .take_code(&exchange(&Secret::new("code-1"), &our_client(), at), Box::new(|_| None))
        .await;
    assert_eq!(again, Ok(store::CodeOutcome::Reused { revoked: Some(new_grant.id.clone()) }));
}

pub(crate) async fn token_reused_after_the_grace_revokes_the_grant(fixture: Fixture) {
    let start = fixture.now();
    let new_grant = first_token(&fixture).await;
    assert!(is_rotated(&rotate(&fixture.store, 1, start).await));
    let late = Ticks((start + GRACE).0 + 1);
    let reused = RefreshOutcome::Reused { revoked: new_grant.id.clone() };
    assert_eq!(rotate(&fixture.store, 1, late).await, reused);
    assert_all_revoked(&fixture, &new_grant, late).await;
}

pub(crate) async fn token_reused_after_its_successor_revokes_the_grant(fixture: Fixture) {
    let start = fixture.now();
    let new_grant = first_token(&fixture).await;
    assert!(is_rotated(&rotate(&fixture.store, 1, start).await));
    assert!(is_rotated(&rotate(&fixture.store, 2, start).await));
    let later = start + seconds(1);
    let reused = RefreshOutcome::Reused { revoked: new_grant.id.clone() };
    assert_eq!(
        rotate(&fixture.store, 1, later).await,
        reused,
        "within the grace, but its successor was used"
    );
    assert_all_revoked(&fixture, &new_grant, later).await;
}

pub(crate) async fn different_successor_for_a_used_token_revokes_the_grant(fixture: Fixture) {
    let start = fixture.now();
    let new_grant = first_token(&fixture).await;
    assert!(is_rotated(&rotate(&fixture.store, 1, start).await));
    let forged = RefreshRotation { successor: Secret::new("token-x"), ..rotation(1, start) };
    let answer = fixture.store.rotate_refresh(&forged).await;
    assert_eq!(answer, Ok(RefreshOutcome::Reused { revoked: new_grant.id.clone() }));
    assert_all_revoked(&fixture, &new_grant, start).await;
    let unknown = RefreshRotation { presented: Secret::new("token-x"), ..rotation(1, start) };
    assert_eq!(fixture.store.rotate_refresh(&unknown).await, Ok(RefreshOutcome::Unknown));
}

pub(crate) async fn token_of_another_client_is_unknown(fixture: Fixture) {
    let (store, start) = (&fixture.store, fixture.now());
    first_token(&fixture).await;
    let foreign = RefreshRotation { client: other_client(), ..rotation(1, start) };
    assert_eq!(store.rotate_refresh(&foreign).await, Ok(RefreshOutcome::Unknown));
    assert!(is_rotated(&rotate(store, 1, start).await), "another client does not use the token");
    assert_eq!(store.rotate_refresh(&foreign).await, Ok(RefreshOutcome::Unknown));
    assert!(is_rotated(&rotate(store, 2, start).await), "nor revoke the grant");
}

pub(crate) async fn revoked_grant_revokes_its_tokens(fixture: Fixture) {
    let (store, start) = (&fixture.store, fixture.now());
    let new_grant = first_token(&fixture).await;
    assert_eq!(store.revoke_grant(&new_grant.id, start, &context(), "why").await, Ok(true));
    assert_eq!(rotate(store, 1, start).await, RefreshOutcome::Revoked);
    assert_eq!(rotate(store, 1, start + LIFE + LIFE).await, RefreshOutcome::Revoked);
}
