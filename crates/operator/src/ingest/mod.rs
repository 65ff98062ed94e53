//! Ingest of changes: reads a stream of NDJSON lines or a JSON array and commits it in chunks. Every change counted as
//! accepted is committed. HTTP, the command line and the sample data share this code path. Memory is bounded by one chunk
//! being read and one being written.

mod batcher;
pub(crate) mod body_splitter;
mod event_lines;
mod generated_ids;
mod response;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::{Clock, ProcessId, Random, TenantId, Ticks};
use futures_util::{Stream, StreamExt};
use store::{
    BatchCounts, ChangeBatch, ChangeLine, IngestCheckpoint, RecordEdit, Result as StoreResult, Store,
    StoreError,
};
use tokio::task::JoinHandle;

use crate::admin::{AdminError, Authority, Permission};
use batcher::Batcher;
pub use event_lines::{EventLines, find_event, known_events};
pub use response::IngestResponse;

/// A chunk goes to the store once it has this many bytes, or as many lines as the store's batches should have.
const CHUNK_BYTES: usize = 1024 * 1024;
/// The body is parsed in pieces of this size, after each of which a chunk may go to the store: so it has few lines more than it
/// should.
const PIECE_BYTES: usize = 4 * 1024;
/// After a pause of this length the lines received so far are written.
const FLUSH_AFTER: Duration = Duration::from_millis(50);
/// How long a chunk without an idempotency key may wait to be written. Its sender cannot tell whether it was applied, so
/// it must not be applied long after the sender gave up and perhaps sent newer values.
const UNKEYED_WAIT_MAX: Duration = Duration::from_secs(5);

/// Applies bodies of changes to the store.
#[derive(Clone)]
pub struct Ingest {
    store: Arc<dyn Store>,
    random: Arc<dyn Random>,
    /// Limits the wait of chunks without an idempotency key; none where the sender cannot be gone.
    clock: Option<Arc<dyn Clock>>,
}

impl std::fmt::Debug for Ingest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ingest")
    }
}

/// One body of changes: for which tenant, and how it is to be read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IngestRequest {
    pub tenant: TenantId,
    pub idempotency_key: Option<String>,
    /// Whether the sender declared `application/json`: then the body must begin an array or an object.
    pub is_json: bool,
    /// Present for an edit by hand, whose body has one line.
    pub edit: Option<RecordEdit>,
}

impl IngestRequest {
    /// A body from somebody whose role permits changes: lines, without an idempotency key.
    pub fn new(by: &Authority, tenant: TenantId) -> Result<Self, AdminError> {
        by.require(Permission::Changes)?;
        Ok(Self { tenant, idempotency_key: None, is_json: false, edit: None })
    }
}

/// Why a body was not read to its end. Changes counted as accepted stay committed.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    #[error("{0}")]
    Store(StoreError, Box<BatchCounts>),
    #[error("the body was cut off: {0}")]
    CutOff(String, Box<BatchCounts>),
    #[error("{0}")]
    NotChanges(String, Box<BatchCounts>),
    #[error("another body was sent under this Idempotency-Key before")]
    OtherBody(Box<BatchCounts>),
}

impl IngestError {
    pub fn counts(&self) -> &BatchCounts {
        match self {
            Self::Store(_, counts)
            | Self::CutOff(_, counts)
            | Self::NotChanges(_, counts)
            | Self::OtherBody(counts) => counts,
        }
    }
}

impl Ingest {
    pub fn new(store: Arc<dyn Store>, random: Arc<dyn Random>) -> Self {
        Self { store, random, clock: None }
    }

    /// For requests of clients that may go away: a chunk without an idempotency key is refused when it has waited too
    /// long to be written.
    pub fn for_clients(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Reads a body to its end. Calls `progress` with the counts at the start (those of an earlier request under the
    /// same idempotency key) and after every chunk.
    pub async fn run<E: std::fmt::Display>(
        &self,
        request: &IngestRequest,
        body: impl Stream<Item = Result<Bytes, E>>,
        progress: impl FnMut(&BatchCounts),
    ) -> Result<IngestResponse, IngestError> {
        let no_counts = || Box::new(BatchCounts::default());
        let before = match &request.idempotency_key {
            Some(key) => self.store.find_ingest_progress(&request.tenant, key).await,
            None => Ok(None),
        }
        .map_err(|error| IngestError::Store(error, no_counts()))?;
        let process = before.as_ref().map_or_else(|| self.random.guid(), |before| before.process);
        let mut batcher = Batcher::new(process, request.idempotency_key.clone(), before, request.is_json);
        let clock = self.clock.clone().filter(|_| request.idempotency_key.is_none());
        let destination = Destination {
            store: self.store.clone(),
            tenant: request.tenant.clone(),
            process,
            clock,
            edit: request.edit.clone(),
        };
        let mut writer = BatchWriter::new(destination, batcher.initial_counts(), progress);
        let mut body = pin!(body);
        loop {
            let frame = match next_frame(&mut body, !batcher.is_empty()).await {
                Frame::Bytes(bytes) => bytes,
                Frame::Pause => {
                    writer.submit(&mut batcher).await?;
                    continue;
                }
                Frame::End => break,
                Frame::Broken(why) => {
                    let counts = writer.finish(&mut batcher).await?;
                    return Err(IngestError::CutOff(why, Box::new(counts)));
                }
            };
            for piece in frame.chunks(PIECE_BYTES) {
                if let Err(fault) = batcher.feed(piece) {
                    return Err(fault.into_error(writer.finish(&mut batcher).await?));
                }
                if batcher.lines() >= self.store.changes_per_batch() || batcher.bytes() >= CHUNK_BYTES {
                    writer.submit(&mut batcher).await?;
                }
            }
        }
        if let Err(fault) = batcher.end() {
            return Err(fault.into_error(writer.finish(&mut batcher).await?));
        }
        let counts = writer.finish(&mut batcher).await?;
        Ok(IngestResponse::new(process, counts, batcher.into_generated_ids()))
    }
}

enum Frame {
    Bytes(Bytes),
    /// The sender paused, and lines wait to be written.
    Pause,
    End,
    Broken(String),
}

async fn next_frame<E: std::fmt::Display>(
    body: &mut (impl Stream<Item = Result<Bytes, E>> + Unpin),
    has_pending: bool,
) -> Frame {
    // The listener ends a body whose sender is silent; here only the lines received so far must not wait.
    let next = if has_pending {
        match tokio::time::timeout(FLUSH_AFTER, body.next()).await {
            Ok(next) => next,
            Err(_) => return Frame::Pause,
        }
    } else {
        body.next().await
    };
    match next {
        Some(Ok(bytes)) => Frame::Bytes(bytes),
        Some(Err(error)) => Frame::Broken(error.to_string()),
        None => Frame::End,
    }
}

/// Where the chunks of a request go.
struct Destination {
    store: Arc<dyn Store>,
    tenant: TenantId,
    process: ProcessId,
    /// Present if chunks expire.
    clock: Option<Arc<dyn Clock>>,
    edit: Option<RecordEdit>,
}

/// A chunk that is being written. Dropping it, when the client of the request is gone, takes the chunk back unless a
/// transaction has taken it up.
struct InFlight(JoinHandle<StoreResult<BatchCounts>>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Writes one chunk while the next is being read.
struct BatchWriter<P> {
    destination: Destination,
    counts: BatchCounts,
    in_flight: Option<InFlight>,
    submitted_any: bool,
    progress: P,
}

impl<P: FnMut(&BatchCounts)> BatchWriter<P> {
    fn new(destination: Destination, counts: BatchCounts, mut progress: P) -> Self {
        progress(&counts);
        Self { destination, counts, in_flight: None, submitted_any: false, progress }
    }

    /// Waits for the previous chunk, then starts writing this one without waiting for it.
    async fn submit(&mut self, batcher: &mut Batcher) -> Result<(), IngestError> {
        if let Some(batch) = self.next_batch(batcher).await? {
            let store = self.destination.store.clone();
            self.in_flight = Some(InFlight(tokio::spawn(async move { store.apply_changes(batch).await })));
        }
        Ok(())
    }

    /// Writes the remaining lines and returns the counts. A body without changes still reads the log's head.
    async fn finish(&mut self, batcher: &mut Batcher) -> Result<BatchCounts, IngestError> {
        let batch = self.next_batch(batcher).await?;
        let before = self.settle().await?;
        let batch = match batch {
            Some(batch) => batch,
            None if self.submitted_any => return Ok(before),
            None => self.batch(Vec::new(), before.clone(), None),
        };
        let changes_nothing = batch.lines.is_empty() && batch.checkpoint.is_none();
        let mut counts = self.with_counts(self.destination.store.apply_changes(batch).await)?;
        if changes_nothing && batcher.was_resumed() {
            // A retry of a completed request gets the same answer.
            counts.last_sequence = before.last_sequence;
        }
        self.counts = counts;
        self.settle().await
    }

    /// The next chunk as a batch, once the previous one is written; `None` when there is nothing to write.
    async fn next_batch(&mut self, batcher: &mut Batcher) -> Result<Option<ChangeBatch>, IngestError> {
        if batcher.is_empty() {
            return Ok(None);
        }
        let mut counts = self.settle().await?;
        let chunk = batcher.take_chunk();
        for (line, fault) in chunk.rejected {
            counts.reject(line, fault);
        }
        for (line, fault) in chunk.warnings {
            counts.warn(line, fault);
        }
        if chunk.lines.is_empty() && chunk.checkpoint.is_none() {
            self.counts = counts;
            return Ok(None);
        }
        self.submitted_any = true;
        Ok(Some(self.batch(chunk.lines, counts, chunk.checkpoint)))
    }

    fn batch(
        &self,
        lines: Vec<ChangeLine>,
        counts: BatchCounts,
        checkpoint: Option<IngestCheckpoint>,
    ) -> ChangeBatch {
        let Destination { tenant, process, clock, edit, .. } = &self.destination;
        let expires_at: Option<Ticks> = clock.as_ref().map(|clock| clock.now() + UNKEYED_WAIT_MAX);
        let (tenant, edit) = (tenant.clone(), edit.clone());
        ChangeBatch { tenant, process: *process, lines, counts, checkpoint, expires_at, edit }
    }

    fn with_counts(&self, result: StoreResult<BatchCounts>) -> Result<BatchCounts, IngestError> {
        result.map_err(|error| IngestError::Store(error, Box::new(self.counts.clone())))
    }

    /// The counts once no write is in flight.
    async fn settle(&mut self) -> Result<BatchCounts, IngestError> {
        if let Some(mut in_flight) = self.in_flight.take() {
            let result =
                (&mut in_flight.0).await.unwrap_or_else(|error| Err(StoreError::Internal(error.to_string())));
            self.counts = self.with_counts(result)?;
        }
        (self.progress)(&self.counts);
        Ok(self.counts.clone())
    }
}
