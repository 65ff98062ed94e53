//! Sign-in buckets in SQLite.

use async_trait::async_trait;
use domain::Ticks;
use rusqlite::{Connection, OptionalExtension, params};

use super::directory::change;
use super::rows::parse;
use super::{SqliteStore, store_error};
use crate::sign_in_buckets::{BucketRow, after_attempt, decide_take};
use crate::{Result, SignInBucket, SignInBuckets, SignInTokens};

fn find(connection: &Connection, hash: &[u8; 32]) -> Result<Option<BucketRow>> {
    connection
        .prepare_cached("SELECT full_at, under_way, under_way_until FROM sign_in_buckets WHERE hash = ?1")
        .and_then(|mut find| find.query_row([hash], parse).optional())
        .map_err(store_error)
}

fn put(writer: &Connection, hash: &[u8; 32], row: &BucketRow) -> Result<()> {
    change(
        writer,
        "INSERT INTO sign_in_buckets (hash, full_at, under_way, under_way_until, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (hash) DO UPDATE SET full_at = excluded.full_at, under_way = excluded.under_way,
             under_way_until = excluded.under_way_until, expires_at = excluded.expires_at",
        params![hash, row.full_at.0, row.under_way, row.under_way_until.0, row.expires_at().0],
    )
    .map(|_| ())
}

#[async_trait]
impl SignInBuckets for SqliteStore {
    async fn take_sign_in_tokens(&self, buckets: &[SignInBucket], now: Ticks) -> Result<SignInTokens> {
        let hashes: Vec<_> = buckets.iter().map(|bucket| bucket.hash(&self.ports().vault)).collect();
        // A flood of refused attempts does not reach the writer.
        let rows: Vec<_> =
            self.read(|reader| hashes.iter().map(|hash| find(reader, hash)).collect::<Result<_>>())?;
        let (decision, _) = decide_take(buckets, &rows, now);
        if decision != SignInTokens::Taken {
            return Ok(decision);
        }
        let buckets = buckets.to_vec();
        self.write(move |writer| {
            let rows: Vec<_> = hashes.iter().map(|hash| find(writer, hash)).collect::<Result<_>>()?;
            let (decision, taken) = decide_take(&buckets, &rows, now);
            if decision == SignInTokens::Taken {
                hashes.iter().zip(&taken).try_for_each(|(hash, row)| put(writer, hash, row))?;
            }
            Ok(decision)
        })
        .await
    }

    async fn end_sign_in_attempt(&self, buckets: &[SignInBucket], failed: bool, now: Ticks) -> Result<()> {
        let vault = self.ports().vault.clone();
        let buckets = buckets.to_vec();
        self.write(move |writer| {
            for bucket in &buckets {
                let hash = bucket.hash(&vault);
                let Some(row) = find(writer, &hash)? else { continue };
                match after_attempt(bucket, row, failed, now) {
                    Some(row) => put(writer, &hash, &row)?,
                    None => {
                        change(writer, "DELETE FROM sign_in_buckets WHERE hash = ?1", [hash])?;
                    }
                }
            }
            Ok(())
        })
        .await
    }
}
