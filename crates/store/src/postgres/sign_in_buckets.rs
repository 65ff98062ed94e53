//! Sign-in buckets in PostgreSQL. The buckets of an attempt are locked together, in one order.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::Ticks;
use tokio_postgres::Row;

use super::rows::{Args, execute, parse, rows};
use super::{PostgresStore, store_error};
use crate::rows::Columns;
use crate::sign_in_buckets::{BucketRow, after_attempt, decide_take};
use crate::{Result, SignInBucket, SignInBuckets, SignInTokens};

/// The first half of the advisory locks' numbers. The value is arbitrary.
const LOCKS: i32 = 0x6275_636b;
const FIND: &str =
    "SELECT hash, full_at, under_way, under_way_until FROM sign_in_buckets WHERE hash = ANY($1)";

/// Locks the buckets until the end of the transaction. A bucket without a row has no row to lock, so the lock is an
/// advisory one; buckets that share a number only wait for each other.
async fn lock(transaction: &Transaction<'_>, hashes: &[[u8; 32]]) -> Result<()> {
    let number = |hash: &[u8; 32]| i32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
    let mut numbers: Vec<i32> = hashes.iter().map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let sql = "SELECT pg_advisory_xact_lock($1, number) FROM unnest($2::int[]) AS number";
    rows(transaction, sql, &[&LOCKS, &numbers]).await.map(|_| ())
}

/// The rows of the buckets, in their order.
fn in_order(found: &[Row], hashes: &[[u8; 32]]) -> Result<Vec<Option<BucketRow>>> {
    let mut ordered = vec![None; hashes.len()];
    for row in found {
        let hash: [u8; 32] = row.read("hash")?;
        let at = hashes.iter().position(|one| *one == hash);
        if let Some(place) = at.and_then(|at| ordered.get_mut(at)) {
            *place = Some(parse(row)?);
        }
    }
    Ok(ordered)
}

async fn put(transaction: &Transaction<'_>, hash: &[u8; 32], row: &BucketRow) -> Result<()> {
    let args: Args<'_> = &[
        &hash.as_slice(),
        &row.full_at.0,
        &i64::from(row.under_way),
        &row.under_way_until.0,
        &row.expires_at().0,
    ];
    execute(
        transaction,
        "INSERT INTO sign_in_buckets (hash, full_at, under_way, under_way_until, expires_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (hash) DO UPDATE SET full_at = excluded.full_at, under_way = excluded.under_way,
             under_way_until = excluded.under_way_until, expires_at = excluded.expires_at",
        args,
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

#[async_trait]
impl SignInBuckets for PostgresStore {
    async fn take_sign_in_tokens(&self, buckets: &[SignInBucket], now: Ticks) -> Result<SignInTokens> {
        let hashes: Vec<_> = buckets.iter().map(|bucket| bucket.hash(&self.ports().vault)).collect();
        let keys: Vec<&[u8]> = hashes.iter().map(<[u8; 32]>::as_slice).collect();
        // A flood of refused attempts takes no lock.
        let found = in_order(&self.rows(FIND, &[&keys]).await?, &hashes)?;
        let (decision, _) = decide_take(buckets, &found, now);
        if decision != SignInTokens::Taken {
            return Ok(decision);
        }
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        lock(&transaction, &hashes).await?;
        let found = in_order(&rows(&transaction, FIND, &[&keys]).await?, &hashes)?;
        let (decision, taken) = decide_take(buckets, &found, now);
        if decision == SignInTokens::Taken {
            for (hash, row) in hashes.iter().zip(&taken) {
                put(&transaction, hash, row).await?;
            }
        }
        transaction.commit().await.map_err(store_error)?;
        Ok(decision)
    }

    async fn end_sign_in_attempt(&self, buckets: &[SignInBucket], failed: bool, now: Ticks) -> Result<()> {
        let hashes: Vec<_> = buckets.iter().map(|bucket| bucket.hash(&self.ports().vault)).collect();
        let keys: Vec<&[u8]> = hashes.iter().map(<[u8; 32]>::as_slice).collect();
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        lock(&transaction, &hashes).await?;
        let found = in_order(&rows(&transaction, FIND, &[&keys]).await?, &hashes)?;
        for ((bucket, hash), row) in buckets.iter().zip(&hashes).zip(found) {
            let Some(row) = row else { continue };
            if let Some(row) = after_attempt(bucket, row, failed, now) {
                put(&transaction, hash, &row).await?;
            } else {
                let gone = "DELETE FROM sign_in_buckets WHERE hash = $1";
                execute(&transaction, gone, &[&hash.as_slice()]).await.map_err(store_error)?;
            }
        }
        transaction.commit().await.map_err(store_error)
    }
}
