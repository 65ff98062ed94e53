//! The changes door: a stream of lines goes in, chunk by chunk, and what is counted as accepted is
//! committed. One code path for HTTP, the command line and sample data. Memory is bounded by one chunk that
//! is being read and one that is being written.

mod answer;
mod intake;
mod made_ids;
mod split;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::{ProcessId, Random, TenantId};
use futures_util::{Stream, StreamExt};
use store::{
    BatchCounts, ChangeBatch, ChangeLine, IngestCheckpoint, Result as StoreResult, Store, StoreError,
};
use tokio::task::JoinHandle;

pub use answer::Answer;
use intake::Intake;

/// A chunk is handed to the store once it has this many lines or bytes.
pub const CHUNK_LINES: usize = 1000;
const CHUNK_BYTES: usize = 1024 * 1024;
/// A stream that pauses this long has what it sent so far written down.
const FLUSH_AFTER: Duration = Duration::from_millis(50);
/// A stream that is silent this long is given up.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Where changes come in.
#[derive(Clone)]
pub struct Door {
    store: Arc<dyn Store>,
    random: Arc<dyn Random>,
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Door")
    }
}

/// One request to the door.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub tenant: TenantId,
    pub idempotency_key: Option<String>,
    /// Whether the body is said to be JSON: then it must begin an array or an object.
    pub is_json: bool,
}

/// Why a request could not be taken to its end. What the tally counts as accepted stays.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    #[error("{0}")]
    Store(StoreError, Box<BatchCounts>),
    #[error("the body was cut off: {0}")]
    CutOff(String, Box<BatchCounts>),
    #[error("{0}")]
    NotChanges(String, Box<BatchCounts>),
    #[error("another body was sent under this Idempotency-Key before")]
    OtherBody(Box<BatchCounts>),
}

impl DoorError {
    pub fn tally(&self) -> &BatchCounts {
        match self {
            Self::Store(_, tally)
            | Self::CutOff(_, tally)
            | Self::NotChanges(_, tally)
            | Self::OtherBody(tally) => tally,
        }
    }
}

impl Door {
    pub fn new(store: Arc<dyn Store>, random: Arc<dyn Random>) -> Self {
        Self { store, random }
    }

    /// Takes a body to its end. `progress` hears of the tally at the start (what an earlier request under the
    /// same key had brought in) and whenever a chunk is settled.
    pub async fn take<E: std::fmt::Display>(
        &self,
        delivery: &Delivery,
        body: impl Stream<Item = Result<Bytes, E>>,
        progress: impl FnMut(&BatchCounts),
    ) -> Result<Answer, DoorError> {
        let nothing = || Box::new(BatchCounts::default());
        let before = match &delivery.idempotency_key {
            Some(key) => self.store.find_ingest_progress(&delivery.tenant, key).await,
            None => Ok(None),
        }
        .map_err(|error| DoorError::Store(error, nothing()))?;
        let process = before.as_ref().map_or_else(|| self.random.guid(), |before| before.process);
        let mut intake = Intake::new(process, delivery.idempotency_key.clone(), before, delivery.is_json);
        let (store, tenant) = (self.store.clone(), delivery.tenant.clone());
        let mut writing = Writing::new(store, tenant, process, intake.start_tally(), progress);
        let mut body = pin!(body);
        loop {
            let frame = match next_frame(&mut body, !intake.is_empty()).await {
                Frame::Bytes(bytes) => bytes,
                Frame::Pause => {
                    writing.submit(&mut intake).await?;
                    continue;
                }
                Frame::End => break,
                Frame::Broken(why) => {
                    let tally = writing.finish(&mut intake).await?;
                    return Err(DoorError::CutOff(why, Box::new(tally)));
                }
            };
            if let Err(fault) = intake.feed(&frame) {
                return Err(fault.into_error(writing.finish(&mut intake).await?));
            }
            if intake.lines() >= CHUNK_LINES || intake.bytes() >= CHUNK_BYTES {
                writing.submit(&mut intake).await?;
            }
        }
        if let Err(fault) = intake.end() {
            return Err(fault.into_error(writing.finish(&mut intake).await?));
        }
        let tally = writing.finish(&mut intake).await?;
        Ok(Answer::new(process, tally, intake.into_made_ids()))
    }
}

enum Frame {
    Bytes(Bytes),
    /// Nothing came for a while, and something waits to be written.
    Pause,
    End,
    Broken(String),
}

async fn next_frame<E: std::fmt::Display>(
    body: &mut (impl Stream<Item = Result<Bytes, E>> + Unpin),
    something_waits: bool,
) -> Frame {
    let patience = if something_waits { FLUSH_AFTER } else { SILENCE_MAX };
    match tokio::time::timeout(patience, body.next()).await {
        Ok(Some(Ok(bytes))) => Frame::Bytes(bytes),
        Ok(Some(Err(error))) => Frame::Broken(error.to_string()),
        Ok(None) => Frame::End,
        Err(_) if something_waits => Frame::Pause,
        Err(_) => Frame::Broken(format!("nothing came for {} s", SILENCE_MAX.as_secs())),
    }
}

/// One chunk is written while the next is being read.
struct Writing<P> {
    store: Arc<dyn Store>,
    tenant: TenantId,
    process: ProcessId,
    tally: BatchCounts,
    under_way: Option<JoinHandle<StoreResult<BatchCounts>>>,
    submitted_any: bool,
    progress: P,
}

impl<P: FnMut(&BatchCounts)> Writing<P> {
    fn new(
        store: Arc<dyn Store>,
        tenant: TenantId,
        process: ProcessId,
        tally: BatchCounts,
        mut progress: P,
    ) -> Self {
        progress(&tally);
        Self { store, tenant, process, tally, under_way: None, submitted_any: false, progress }
    }

    /// Waits for the chunk before, then hands this one over and does not wait for it.
    async fn submit(&mut self, intake: &mut Intake) -> Result<(), DoorError> {
        if let Some(batch) = self.next_batch(intake).await? {
            let store = self.store.clone();
            self.under_way = Some(tokio::spawn(async move { store.apply_changes(batch).await }));
        }
        Ok(())
    }

    /// Writes down what is left, and tells the count. A body without changes still asks for the log's head.
    async fn finish(&mut self, intake: &mut Intake) -> Result<BatchCounts, DoorError> {
        let batch = self.next_batch(intake).await?;
        let before = self.settle().await?;
        let batch = match batch {
            Some(batch) => batch,
            None if self.submitted_any => return Ok(before),
            None => self.batch(Vec::new(), before.clone(), None),
        };
        let changes_nothing = batch.lines.is_empty() && batch.checkpoint.is_none();
        let mut tally = self.written(self.store.apply_changes(batch).await)?;
        if changes_nothing && intake.was_resumed() {
            // A request that was answered before is answered the same again.
            tally.last_sequence = before.last_sequence;
        }
        self.tally = tally;
        self.settle().await
    }

    /// The next chunk as a batch, once the one before is written; none where there is nothing to write.
    async fn next_batch(&mut self, intake: &mut Intake) -> Result<Option<ChangeBatch>, DoorError> {
        if intake.is_empty() {
            return Ok(None);
        }
        let mut tally = self.settle().await?;
        let chunk = intake.take_chunk();
        for (line, fault) in chunk.refused {
            tally.reject(line, fault);
        }
        for (line, fault) in chunk.warnings {
            tally.warn(line, fault);
        }
        if chunk.lines.is_empty() && chunk.checkpoint.is_none() {
            self.tally = tally;
            return Ok(None);
        }
        self.submitted_any = true;
        Ok(Some(self.batch(chunk.lines, tally, chunk.checkpoint)))
    }

    fn batch(
        &self,
        lines: Vec<ChangeLine>,
        tally: BatchCounts,
        checkpoint: Option<IngestCheckpoint>,
    ) -> ChangeBatch {
        ChangeBatch { tenant: self.tenant.clone(), process: self.process, lines, counts: tally, checkpoint }
    }

    fn written(&self, written: StoreResult<BatchCounts>) -> Result<BatchCounts, DoorError> {
        written.map_err(|error| DoorError::Store(error, Box::new(self.tally.clone())))
    }

    /// The tally once nothing is under way.
    async fn settle(&mut self) -> Result<BatchCounts, DoorError> {
        if let Some(under_way) = self.under_way.take() {
            let written =
                under_way.await.unwrap_or_else(|error| Err(StoreError::Internal(error.to_string())));
            self.tally = self.written(written)?;
        }
        (self.progress)(&self.tally);
        Ok(self.tally.clone())
    }
}
