//! Token buckets for password sign-in, shared by all nodes. An attempt takes its tokens before the password is hashed
//! and gets them back if the password was right. Mails that strangers ask for take tokens too. A full bucket has no row,
//! and every row stands for a password that was hashed or for such a mail, so the table stays small without evicting
//! anything.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Secret, Ticks};

use crate::{Result, Vault};

/// An attempt that has not ended after this time, because its node failed, counts as ended and failed.
pub const ATTEMPT_MAX: Duration = Duration::from_secs(30);

/// Purpose of the keyed hash.
const BUCKET: &str = "sign-in bucket";

/// A bucket: what it counts and how it fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInBucket {
    /// What is counted, for example an account or an address; stored as a keyed hash.
    pub name: String,
    /// How many tokens a full bucket has.
    pub tokens_max: u32,
    /// In this time the bucket regains one token.
    pub refill: Duration,
}

impl SignInBucket {
    pub(crate) fn hash(&self, vault: &Vault) -> [u8; 32] {
        vault.fingerprint(BUCKET, &Secret::new(self.name.as_str()))
    }

    fn step(&self) -> i64 {
        i64::try_from(self.refill.as_nanos() / 100).unwrap_or(i64::MAX).max(1)
    }
}

/// Whether an attempt may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInTokens {
    /// The attempt has one token of every bucket.
    Taken,
    /// Attempts that are under way hold the missing token of this bucket (its index): wait until one ends. No token was
    /// taken.
    UnderWay(usize),
    /// Failed attempts have used up a bucket. No token was taken.
    Missing { retry_after: Duration },
}

#[async_trait]
pub trait SignInBuckets: Send + Sync + 'static {
    /// Takes one token of each bucket, or none.
    async fn take_sign_in_tokens(&self, buckets: &[SignInBucket], now: Ticks) -> Result<SignInTokens>;

    /// Ends an attempt that has taken its tokens. They are returned unless the attempt failed.
    async fn end_sign_in_attempt(&self, buckets: &[SignInBucket], failed: bool, now: Ticks) -> Result<()>;
}

/// The state of a bucket that is not full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BucketRow {
    /// When the bucket is full again if no more tokens are taken.
    pub(crate) full_at: Ticks,
    /// Attempts that hold a token, until the time below.
    pub(crate) under_way: u32,
    pub(crate) under_way_until: Ticks,
}

impl BucketRow {
    /// From then on the row says nothing.
    pub(crate) fn expires_at(&self) -> Ticks {
        if self.under_way == 0 { self.full_at } else { self.full_at.max(self.under_way_until) }
    }

    fn attempts_under_way(&self, now: Ticks) -> u32 {
        if self.under_way_until > now { self.under_way } else { 0 }
    }

    /// How far the bucket is from being full. A clock that was set back does not make it more than empty.
    fn debt(&self, bucket: &SignInBucket, now: Ticks) -> i64 {
        let empty = bucket.step().saturating_mul(i64::from(bucket.tokens_max));
        self.full_at.0.saturating_sub(now.0).clamp(0, empty)
    }
}

/// Decides whether an attempt gets its tokens. The new rows are for `Taken` only.
pub(crate) fn decide_take(
    buckets: &[SignInBucket],
    rows: &[Option<BucketRow>],
    now: Ticks,
) -> (SignInTokens, Vec<BucketRow>) {
    let (mut retry_after, mut under_way, mut taken) = (0, None, Vec::new());
    for (index, (bucket, row)) in buckets.iter().zip(rows).enumerate() {
        let row = row.unwrap_or_default();
        let debt = row.debt(bucket, now) + bucket.step();
        let missing = debt - bucket.step().saturating_mul(i64::from(bucket.tokens_max.max(1)));
        if missing <= 0 {
            taken.push(BucketRow {
                full_at: Ticks(now.0.saturating_add(debt)),
                under_way: row.attempts_under_way(now).saturating_add(1),
                under_way_until: now + ATTEMPT_MAX,
            });
        } else if row.attempts_under_way(now) > 0 {
            under_way = under_way.or(Some(index));
        } else {
            retry_after = retry_after.max(missing);
        }
    }
    let decision = match (retry_after, under_way) {
        (0, None) => SignInTokens::Taken,
        (0, Some(index)) => SignInTokens::UnderWay(index),
        (ticks, _) => SignInTokens::Missing { retry_after: Ticks(ticks).since(Ticks(0)) },
    };
    (decision, taken)
}

/// A bucket's row after an attempt has ended; none if the bucket is full.
pub(crate) fn after_attempt(
    bucket: &SignInBucket,
    row: BucketRow,
    failed: bool,
    now: Ticks,
) -> Option<BucketRow> {
    let returned = if failed { 0 } else { bucket.step() };
    let row = BucketRow {
        full_at: Ticks(row.full_at.0.saturating_sub(returned)),
        under_way: row.attempts_under_way(now).saturating_sub(1),
        under_way_until: row.under_way_until,
    };
    (row.expires_at() > now).then_some(row)
}
