//! Refresh tokens: one rotation each; a retry within the grace finds the same successor, anything else is
//! theft and ends the grant.

use std::sync::Arc;
use std::time::Duration;

use domain::{Secret, Ticks};
use store::{Grant, RefreshOutcome, RefreshRotation, Store};

use super::codes::{chosen, code, context, grant, makes, ours, taking, theirs};
use super::stage::{Stage, at_once};

const GRACE: Duration = Duration::from_secs(30);
const LIFE: Duration = Duration::from_secs(1000);

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A grant whose first refresh token is `token-1`.
async fn first_token(stage: &Stage) -> Grant {
    let now = stage.now();
    let made = grant("g1", now);
    stage.store.store_code(&Secret::new("code-1"), &code(now), &chosen(), now).await.unwrap();
    let judge = makes(&made, Some(("token-1", now + LIFE)));
    stage.store.take_code(&taking(&Secret::new("code-1"), &ours(), now), judge).await.unwrap();
    made
}

/// The exchange of one token for the next, as its client makes it.
pub(crate) fn rotation(presented: u32, now: Ticks) -> RefreshRotation {
    RefreshRotation {
        presented: Secret::new(format!("token-{presented}")),
        client: ours(),
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

fn is_fresh(answer: &RefreshOutcome) -> bool {
    matches!(answer, RefreshOutcome::Rotated { .. })
}

pub(crate) async fn tokens_follow_one_another_to_an_absolute_end(stage: Stage) {
    let (store, start) = (&stage.store, stage.now());
    let made = first_token(&stage).await;
    let end = start + LIFE;
    let mut used = made.clone();
    for (token, at) in [(1, 100), (2, 200), (3, 999)] {
        used.last_used_at = start + seconds(at);
        let answer = rotate(store, token, start + seconds(at)).await;
        assert_eq!(answer, RefreshOutcome::Rotated { grant: used.clone(), expires_at: end });
    }
    assert_eq!(rotate(store, 4, end).await, RefreshOutcome::Expired);
    assert_eq!(rotate(store, 5, start).await, RefreshOutcome::Unknown);
    assert_eq!(store.find_grant(&made.id).await, Ok(Some(used)), "the grant lives as long as it did");
}

pub(crate) async fn tokens_slide_where_the_caller_says_so(stage: Stage) {
    let (store, start) = (&stage.store, stage.now());
    let made = first_token(&stage).await;
    let mut end = made.expires_at;
    for (token, at) in [(1, 900), (2, 1800), (3, 2700)] {
        let now = start + seconds(at);
        let slid = RefreshRotation { successor_expires_at: Some(now + LIFE), ..rotation(token, now) };
        let answer = store.rotate_refresh(&slid).await.unwrap();
        end = end.max(now + LIFE);
        let grant = Grant { expires_at: end, last_used_at: now, ..made.clone() };
        assert_eq!(answer, RefreshOutcome::Rotated { grant: grant.clone(), expires_at: now + LIFE });
        assert_eq!(store.find_grant(&made.id).await, Ok(Some(grant)), "the grant outlives its tokens");
    }
    assert_eq!(end, start + seconds(3700));
    assert_eq!(rotate(store, 4, end).await, RefreshOutcome::Expired);
}

pub(crate) async fn a_lost_answer_is_found_again_within_the_grace(stage: Stage) {
    let (store, start) = (&stage.store, stage.now());
    let made = first_token(&stage).await;
    let slid = RefreshRotation { successor_expires_at: Some(start + seconds(500)), ..rotation(1, start) };
    assert!(is_fresh(&store.rotate_refresh(&slid).await.unwrap()));
    for at in [0, 15, 30] {
        let now = start + seconds(at);
        let retry = RefreshRotation { successor_expires_at: Some(now + LIFE), now, ..slid.clone() };
        let answer = store.rotate_refresh(&retry).await.unwrap();
        let expected = RefreshOutcome::Retried { grant: made.clone(), expires_at: start + seconds(500) };
        assert_eq!(answer, expected, "the same successor with the same end");
    }
    assert!(is_fresh(&rotate(store, 2, start + seconds(31)).await));
}

/// An access token may outlive the refresh tokens: the grant lives until the last of all is over.
pub(crate) async fn a_grant_lives_as_long_as_its_last_token(stage: Stage) {
    let (store, start) = (&stage.store, stage.now());
    let made = first_token(&stage).await;
    let hours = |count| start + Duration::from_hours(count);
    let given =
        |token, at, tokens_until| RefreshRotation { tokens_until, ..rotation(token, start + seconds(at)) };
    let lives = async |until: Ticks, used: u64| {
        let grant = Grant { expires_at: until, last_used_at: start + seconds(used), ..made.clone() };
        assert_eq!(store.find_grant(&made.id).await, Ok(Some(grant.clone())));
        grant
    };
    let expires_at = start + LIFE;
    let answer = store.rotate_refresh(&given(1, 10, hours(2))).await.unwrap();
    assert_eq!(answer, RefreshOutcome::Rotated { grant: lives(hours(2), 10).await, expires_at });

    // The answer that is given again comes with an access token of its own.
    for (at, given_until, until) in [(15, 3, 3), (20, 1, 3), (25, 3, 3), (30, 4, 4)] {
        let answer = store.rotate_refresh(&given(1, at, hours(given_until))).await.unwrap();
        assert_eq!(answer, RefreshOutcome::Retried { grant: lives(hours(until), 10).await, expires_at });
    }
    let answer = store.rotate_refresh(&given(2, 35, hours(1))).await.unwrap();
    assert_eq!(answer, RefreshOutcome::Rotated { grant: lives(hours(4), 35).await, expires_at });
    let slid = RefreshRotation { successor_expires_at: Some(hours(6)), ..given(3, 40, hours(5)) };
    assert!(is_fresh(&store.rotate_refresh(&slid).await.unwrap()));
    lives(hours(6), 40).await;

    // Who gets nothing lengthens nothing.
    for (token, client) in [(4, theirs()), (9, ours())] {
        let refused = RefreshRotation { client, ..given(token, 45, hours(9)) };
        assert_eq!(store.rotate_refresh(&refused).await, Ok(RefreshOutcome::Unknown));
    }
    let late = RefreshRotation { now: hours(6), ..given(4, 0, hours(9)) };
    assert_eq!(store.rotate_refresh(&late).await, Ok(RefreshOutcome::Expired));
    lives(hours(6), 40).await;
}

pub(crate) async fn many_rotations_of_one_token_find_one_successor(stage: Stage) {
    let (store, start) = (&stage.store, stage.now());
    let there = stage.reopen().await.store;
    let made = first_token(&stage).await;
    let answers =
        at_once(200, &[store, &there], |_, store| async move { rotate(&store, 1, start).await }).await;
    let expires_at = start + LIFE;
    let fresh = RefreshOutcome::Rotated { grant: made.clone(), expires_at };
    let retried = RefreshOutcome::Retried { grant: made.clone(), expires_at };
    assert_eq!(answers.iter().filter(|answer| **answer == fresh).count(), 1);
    assert_eq!(answers.iter().filter(|answer| **answer == retried).count(), 199);
    assert_eq!(rotate(store, 2, start).await, fresh, "the one successor works");
    assert_eq!(rotate(store, 3, start).await, fresh);
}

/// After the grant is gone, every token of it is.
async fn all_is_revoked(stage: &Stage, made: &Grant, at: Ticks) {
    for token in 1..=2 {
        assert_eq!(rotate(&stage.store, token, at).await, RefreshOutcome::Revoked, "token-{token}");
    }
    let kept = stage.store.find_grant(&made.id).await.unwrap().unwrap();
    assert_eq!(kept.revoked_at, Some(at));
    let again = stage.store.take_code(&taking(&Secret::new("code-1"), &ours(), at), Box::new(|_| None)).await;
    assert_eq!(again, Ok(store::CodeOutcome::Reused { revoked: Some(made.id.clone()) }));
}

pub(crate) async fn a_token_used_again_after_the_grace_ends_the_grant(stage: Stage) {
    let start = stage.now();
    let made = first_token(&stage).await;
    assert!(is_fresh(&rotate(&stage.store, 1, start).await));
    let late = Ticks((start + GRACE).0 + 1);
    let reused = RefreshOutcome::Reused { revoked: made.id.clone() };
    assert_eq!(rotate(&stage.store, 1, late).await, reused);
    all_is_revoked(&stage, &made, late).await;
}

pub(crate) async fn a_token_used_again_after_its_successor_ends_the_grant(stage: Stage) {
    let start = stage.now();
    let made = first_token(&stage).await;
    assert!(is_fresh(&rotate(&stage.store, 1, start).await));
    assert!(is_fresh(&rotate(&stage.store, 2, start).await));
    let soon = start + seconds(1);
    let reused = RefreshOutcome::Reused { revoked: made.id.clone() };
    assert_eq!(rotate(&stage.store, 1, soon).await, reused, "within the grace, but too late");
    all_is_revoked(&stage, &made, soon).await;
}

pub(crate) async fn another_successor_for_a_used_token_ends_the_grant(stage: Stage) {
    let start = stage.now();
    let made = first_token(&stage).await;
    assert!(is_fresh(&rotate(&stage.store, 1, start).await));
    let forged = RefreshRotation { successor: Secret::new("token-x"), ..rotation(1, start) };
    let answer = stage.store.rotate_refresh(&forged).await;
    assert_eq!(answer, Ok(RefreshOutcome::Reused { revoked: made.id.clone() }));
    all_is_revoked(&stage, &made, start).await;
    let unknown = RefreshRotation { presented: Secret::new("token-x"), ..rotation(1, start) };
    assert_eq!(stage.store.rotate_refresh(&unknown).await, Ok(RefreshOutcome::Unknown));
}

pub(crate) async fn a_token_is_its_clients_alone(stage: Stage) {
    let (store, start) = (&stage.store, stage.now());
    first_token(&stage).await;
    let foreign = RefreshRotation { client: theirs(), ..rotation(1, start) };
    assert_eq!(store.rotate_refresh(&foreign).await, Ok(RefreshOutcome::Unknown));
    assert!(is_fresh(&rotate(store, 1, start).await), "a stranger burns nothing");
    assert_eq!(store.rotate_refresh(&foreign).await, Ok(RefreshOutcome::Unknown));
    assert!(is_fresh(&rotate(store, 2, start).await), "and revokes nothing");
}

pub(crate) async fn a_revoked_grant_ends_its_tokens(stage: Stage) {
    let (store, start) = (&stage.store, stage.now());
    let made = first_token(&stage).await;
    assert_eq!(store.revoke_grant(&made.id, start, &context(), "why").await, Ok(true));
    assert_eq!(rotate(store, 1, start).await, RefreshOutcome::Revoked);
    assert_eq!(rotate(store, 1, start + LIFE + LIFE).await, RefreshOutcome::Revoked);
}
