//! Sign-in buckets: a token is taken before a password is checked, and returned if the password was right.

use std::time::Duration;

use domain::Ticks;
use store::{ATTEMPT_MAX, RetentionCutoffs, SignInBucket, SignInTokens};

use super::fixture::{Fixture, concurrently};

const REFILL: Duration = Duration::from_secs(10);

fn bucket(name: &str, tokens_max: u32) -> SignInBucket {
    SignInBucket { name: name.into(), tokens_max, refill: REFILL }
}

fn missing(seconds: u64) -> SignInTokens {
    SignInTokens::Missing { retry_after: Duration::from_secs(seconds) }
}

async fn take(fixture: &Fixture, buckets: &[SignInBucket], now: Ticks) -> SignInTokens {
    fixture.store.take_sign_in_tokens(buckets, now).await.unwrap()
}

async fn end(fixture: &Fixture, buckets: &[SignInBucket], failed: bool, now: Ticks) {
    fixture.store.end_sign_in_attempt(buckets, failed, now).await.unwrap();
}

/// Makes an attempt that fails.
async fn fail(fixture: &Fixture, buckets: &[SignInBucket], now: Ticks) {
    assert_eq!(take(fixture, buckets, now).await, SignInTokens::Taken);
    end(fixture, buckets, true, now).await;
}

pub(crate) async fn bucket_allows_a_burst_and_then_refills_evenly(fixture: Fixture) {
    let (now, account) = (fixture.now(), [bucket("account maria", 3)]);
    for _ in 0..3 {
        fail(&fixture, &account, now).await;
    }
    assert_eq!(take(&fixture, &account, now).await, missing(10));
    assert_eq!(take(&fixture, &account, now + Duration::from_secs(7)).await, missing(3));
    fail(&fixture, &account, now + REFILL).await;
    assert_eq!(take(&fixture, &account, now + REFILL).await, missing(10));
    fail(&fixture, &[bucket("account other", 3)], now).await;
    let reopened = fixture.reopen().await.store;
    assert_eq!(reopened.take_sign_in_tokens(&account, now + REFILL).await, Ok(missing(10)));
    let full_again = now + 4 * REFILL;
    for _ in 0..3 {
        fail(&fixture, &account, full_again).await;
    }
    assert_eq!(take(&fixture, &account, full_again).await, missing(10));
}

pub(crate) async fn token_of_an_attempt_under_way_is_awaited(fixture: Fixture) {
    let (now, account) = (fixture.now(), [bucket("account maria", 2)]);
    let other_node = fixture.reopen().await.store;
    assert_eq!(take(&fixture, &account, now).await, SignInTokens::Taken);
    assert_eq!(take(&fixture, &account, now).await, SignInTokens::Taken);
    assert_eq!(take(&fixture, &account, now).await, SignInTokens::UnderWay(0));
    assert_eq!(other_node.take_sign_in_tokens(&account, now).await, Ok(SignInTokens::UnderWay(0)));
    other_node.end_sign_in_attempt(&account, false, now).await.unwrap();
    assert_eq!(take(&fixture, &account, now).await, SignInTokens::Taken, "the right password's token");
    end(&fixture, &account, true, now).await;
    assert_eq!(take(&fixture, &account, now).await, SignInTokens::UnderWay(0), "one attempt is left");
    end(&fixture, &account, true, now).await;
    assert_eq!(take(&fixture, &account, now).await, missing(10), "both have failed");
}

pub(crate) async fn attempt_takes_one_token_of_each_bucket_or_none(fixture: Fixture) {
    let now = fixture.now();
    let [account, address] = [bucket("account maria", 1), bucket("address 203.0.113.9", 2)];
    let both = [account.clone(), address.clone()];
    fail(&fixture, &both, now).await;
    for _ in 0..3 {
        assert_eq!(take(&fixture, &both, now).await, missing(10), "no token of the address is taken");
    }
    assert_eq!(take(&fixture, std::slice::from_ref(&address), now).await, SignInTokens::Taken);
    let other = [bucket("account juan", 1), address.clone()];
    assert_eq!(take(&fixture, &other, now).await, SignInTokens::UnderWay(1));
    assert_eq!(take(&fixture, &both, now).await, missing(10), "waiting would be in vain");
    end(&fixture, &[address], false, now).await;
    assert_eq!(take(&fixture, &other, now).await, SignInTokens::Taken);
}

pub(crate) async fn attempt_of_a_failed_node_counts_as_failed(fixture: Fixture) {
    let (now, account) = (fixture.now(), [bucket("account maria", 5)]);
    for _ in 0..5 {
        assert_eq!(take(&fixture, &account, now).await, SignInTokens::Taken);
    }
    let before = Ticks(now.0 + 1);
    assert_eq!(take(&fixture, &account, before).await, SignInTokens::UnderWay(0));
    for _ in 0..3 {
        assert_eq!(take(&fixture, &account, now + ATTEMPT_MAX).await, SignInTokens::Taken);
        end(&fixture, &account, true, now + ATTEMPT_MAX).await;
    }
    assert_eq!(take(&fixture, &account, now + ATTEMPT_MAX).await, missing(10));
}

pub(crate) async fn concurrent_attempts_take_no_more_tokens_than_the_bucket_has(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let second_store = fixture.reopen().await.store;
    let answers = concurrently(60, &[store, &second_store], |number, store| async move {
        let buckets = [bucket("account maria", 5), bucket(&format!("address {}", number % 7), 60)];
        store.take_sign_in_tokens(&buckets, now).await.unwrap()
    })
    .await;
    let taken = answers.iter().filter(|answer| **answer == SignInTokens::Taken).count();
    assert_eq!(taken, 5);
    assert!(answers.iter().all(|answer| matches!(answer, SignInTokens::Taken | SignInTokens::UnderWay(0))));
}

pub(crate) async fn only_full_buckets_expire(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let [one, two, right] = ["one", "two", "right"].map(|name| [bucket(name, 2)]);
    fail(&fixture, &one, now).await;
    fail(&fixture, &two, now).await;
    fail(&fixture, &two, now).await;
    assert_eq!(take(&fixture, &right, now).await, SignInTokens::Taken);
    end(&fixture, &right, false, now).await;
    let expire = async |moment: Ticks| {
        let cutoffs = RetentionCutoffs {
            now: moment,
            processes: Ticks(0),
            audit: Ticks(0),
            calls: Ticks(0),
            reads: Ticks(0),
            deliveries: Ticks(0),
            mails: Ticks(0),
        };
        store.expire(cutoffs, 100).await.unwrap().sign_in_buckets
    };
    assert_eq!(expire(now + REFILL).await, 0, "a right password leaves no row, a failed one leaves it");
    assert_eq!(expire((now + REFILL).next()).await, 1);
    assert_eq!(expire((now + REFILL).next()).await, 0);
    assert_eq!(expire((now + 2 * REFILL).next()).await, 1);
    assert_eq!(take(&fixture, &one, now + REFILL).await, SignInTokens::Taken);
    assert_eq!(expire(now + Duration::from_secs(25)).await, 0, "an attempt is under way");
}

pub(crate) async fn clock_set_back_does_not_empty_a_bucket_further(fixture: Fixture) {
    let (now, account) = (fixture.now(), [bucket("account maria", 2)]);
    fail(&fixture, &account, now).await;
    fail(&fixture, &account, now).await;
    assert_eq!(take(&fixture, &account, now.minus(Duration::from_hours(1))).await, missing(10));
}
