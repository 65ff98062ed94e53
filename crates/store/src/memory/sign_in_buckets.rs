//! Sign-in buckets in memory.

use async_trait::async_trait;
use domain::Ticks;

use super::MemoryStore;
use crate::sign_in_buckets::{after_attempt, decide_take};
use crate::{Result, SignInBucket, SignInBuckets, SignInTokens};

#[async_trait]
impl SignInBuckets for MemoryStore {
    async fn take_sign_in_tokens(&self, buckets: &[SignInBucket], now: Ticks) -> Result<SignInTokens> {
        let hashes: Vec<_> = buckets.iter().map(|bucket| bucket.hash(&self.ports.vault)).collect();
        let mut state = self.state_mut()?;
        let rows: Vec<_> = hashes.iter().map(|hash| state.sign_in_buckets.get(hash).copied()).collect();
        let (decision, taken) = decide_take(buckets, &rows, now);
        if decision == SignInTokens::Taken {
            state.sign_in_buckets.extend(hashes.into_iter().zip(taken));
        }
        Ok(decision)
    }

    async fn end_sign_in_attempt(&self, buckets: &[SignInBucket], failed: bool, now: Ticks) -> Result<()> {
        let mut state = self.state_mut()?;
        for bucket in buckets {
            let hash = bucket.hash(&self.ports.vault);
            let row = state.sign_in_buckets.remove(&hash);
            if let Some(row) = row.and_then(|row| after_attempt(bucket, row, failed, now)) {
                state.sign_in_buckets.insert(hash, row);
            }
        }
        Ok(())
    }
}
