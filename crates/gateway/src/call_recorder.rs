//! Records calls for the team of their subscription: a bounded ring in memory per subscription, which a background task
//! writes to the store a few times a second. No call waits for it or fails with it; where calls come faster than they are
//! written, the oldest are dropped. Figures count every call. The operator may switch the log off: then calls are counted only.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use domain::figures::{FigureCounts, LATENCY_BUCKETS, Outcome, Series, latency_bucket};
use domain::ids::SubscriptionId;
use domain::{Area, CallRecord, Caller, Refusal, Ticks};
use parking_lot::Mutex;
use store::{CALLS_KEPT, Calls, FigureBuffer, Result};
use tokio::sync::Notify;
use web::RequestId;

use crate::meter::Meter;

/// Calls of one subscription that are not written yet.
const RING_CALLS_MAX: usize = 1000;
/// Calls of all subscriptions that are not written yet; about 5 MB.
const CALLS_MAX: usize = 40_000;
/// Calls in one transaction.
const BATCH_CALLS_MAX: usize = 1000;
/// A subscription whose ring has overflowed is left out of so many flushes: only its newest calls are kept anyway.
const RESTS: u8 = 4;
/// The store deletes a subscription's old calls after so many new ones.
const TRIMMED_AFTER: usize = CALLS_KEPT / 2;

/// One call; nothing in it is allocated for it.
#[derive(Debug)]
pub(crate) struct RecordedCall {
    pub(crate) at: Ticks,
    pub(crate) method: Method,
    /// The index of the path.
    pub(crate) route: usize,
    pub(crate) status: StatusCode,
    pub(crate) latency: Duration,
    pub(crate) request_id: Option<RequestId>,
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) refusal: Option<Refusal>,
}

impl RecordedCall {
    fn latency_micros(&self) -> u64 {
        u64::try_from(self.latency.as_micros()).unwrap_or(u64::MAX)
    }

    fn outcome(&self) -> Outcome {
        match self.refusal {
            Some(Refusal::QuotaExceeded) => Outcome::Limited,
            _ => Outcome::of_status(self.status.as_u16()),
        }
    }

    fn into_record(self, subscription: &SubscriptionId, route: &str) -> CallRecord {
        CallRecord {
            at: self.at,
            subscription: subscription.clone(),
            method: self.method.as_str().to_owned(),
            route: route.to_owned(),
            status: self.status.as_u16(),
            latency_micros: self.latency_micros(),
            request_id: self.request_id.map(|id| id.as_str().to_owned()).unwrap_or_default(),
            client: self.caller.as_ref().map(|caller| caller.client.clone()),
            tenant: self.caller.as_ref().map(|caller| caller.tenant.clone()),
            refusal: self.refusal,
        }
    }
}

/// The calls of one subscription that are not written yet.
#[derive(Debug)]
pub(crate) struct CallRing {
    calls: VecDeque<RecordedCall>,
    counts: FigureCounts,
    /// Whether the meter is in the recorder's list.
    is_waiting: bool,
    has_overflowed: bool,
    /// Flushes to be left out of.
    rests: u8,
    /// New calls since the store deleted the old ones. A process begins with a deletion.
    untrimmed: usize,
}

impl Default for CallRing {
    fn default() -> Self {
        let (calls, counts) = (VecDeque::new(), FigureCounts::default());
        Self { calls, counts, is_waiting: false, has_overflowed: false, rests: 0, untrimmed: TRIMMED_AFTER }
    }
}

/// The calls of one area, of all callers.
#[derive(Debug, Default)]
struct AreaCounts {
    outcomes: [AtomicU64; Outcome::ALL.len()],
    latencies: [AtomicU64; LATENCY_BUCKETS],
}

impl AreaCounts {
    fn take(&self) -> FigureCounts {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        FigureCounts {
            outcomes: self.outcomes.each_ref().map(take),
            latencies: self.latencies.each_ref().map(take),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct CallRecorder {
    /// The log is switched off.
    only_counts: bool,
    /// Calls in all rings.
    unwritten: AtomicUsize,
    /// The meters whose rings are not empty.
    waiting: Mutex<Vec<Arc<Meter>>>,
    pub(crate) wake: Notify,
    areas: [AreaCounts; Area::ALL.len()],
    figures: FigureBuffer,
    /// The batch that is being written, or that could not be written.
    batch: tokio::sync::Mutex<Batch>,
}

#[derive(Debug, Default)]
struct Batch {
    calls: Vec<CallRecord>,
    trimmed: Vec<SubscriptionId>,
}

impl CallRecorder {
    pub(crate) fn new(has_call_log: bool) -> Self {
        Self { only_counts: !has_call_log, ..Self::default() }
    }

    /// `area`: whose figures count the call; none for sandboxes, which are in the figures of their subscriptions alone.
    /// `meter`: of the call's subscription, where its key is known; other calls are counted only.
    pub(crate) fn record(&self, area: Option<Area>, meter: Option<&Arc<Meter>>, call: RecordedCall) {
        let (outcome, micros) = (call.outcome(), call.latency_micros());
        if let Some(area) = area {
            let counts = &self.areas[area as usize];
            counts.outcomes[outcome as usize].fetch_add(1, Ordering::Relaxed);
            counts.latencies[latency_bucket(micros)].fetch_add(1, Ordering::Relaxed);
        }
        let Some(meter) = meter else { return };
        let is_full = self.unwritten.load(Ordering::Relaxed) >= CALLS_MAX;
        let mut ring = meter.ring.lock();
        ring.counts.count(outcome, Some(micros));
        if self.only_counts {
            drop(call);
        } else if is_full || ring.calls.len() >= RING_CALLS_MAX {
            ring.has_overflowed = true;
            // With an empty ring the new call is the one that goes.
            if ring.calls.pop_front().is_some() {
                ring.calls.push_back(call);
            }
        } else {
            ring.calls.push_back(call);
            self.unwritten.fetch_add(1, Ordering::Relaxed);
        }
        let was_waiting = std::mem::replace(&mut ring.is_waiting, true);
        drop(ring);
        if !was_waiting {
            self.waiting.lock().push(meter.clone());
            self.wake.notify_one();
        }
    }

    /// What was counted since the last flush of the figures.
    pub(crate) fn figures(&self) -> &FigureBuffer {
        for (area, counts) in Area::ALL.into_iter().zip(&self.areas) {
            self.figures.add(Series::AreaCalls(area), &counts.take());
        }
        &self.figures
    }

    /// Writes a batch of calls to the store, in one transaction. Returns whether more wait. After an error the same batch is
    /// written next time. `is_last`: no subscription rests.
    pub(crate) async fn flush<S: Calls + ?Sized>(&self, store: &S, is_last: bool) -> Result<bool> {
        let mut batch = self.batch.lock().await;
        if batch.calls.is_empty() {
            self.take_batch(&mut batch, is_last);
        }
        if !batch.calls.is_empty() {
            let written = store.append_calls(&batch.calls, &batch.trimmed).await;
            written.inspect_err(|_| self.wake.notify_one())?;
            *batch = Batch::default();
        }
        let has_more = !self.waiting.lock().is_empty();
        if has_more {
            self.wake.notify_one();
        }
        Ok(has_more)
    }

    fn take_batch(&self, batch: &mut Batch, is_last: bool) {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        let mut still_waiting = Vec::new();
        for meter in waiting {
            let mut ring = meter.ring.lock();
            let counts = std::mem::take(&mut ring.counts);
            self.figures.add(Series::SubscriptionCalls(meter.subscription.clone()), &counts);
            if ring.rests > 0 && !is_last {
                ring.rests -= 1;
                drop(ring);
                still_waiting.push(meter);
                continue;
            }
            let taken = ring.calls.len().min(BATCH_CALLS_MAX.saturating_sub(batch.calls.len()));
            let calls = ring.calls.drain(..taken).map(|call| {
                let route = meter.path(call.route);
                call.into_record(&meter.subscription, route)
            });
            batch.calls.extend(calls);
            self.unwritten.fetch_sub(taken, Ordering::Relaxed);
            ring.untrimmed += taken;
            if taken > 0 && ring.untrimmed >= TRIMMED_AFTER {
                ring.untrimmed = 0;
                batch.trimmed.push(meter.subscription.clone());
            }
            if std::mem::take(&mut ring.has_overflowed) {
                ring.rests = RESTS;
            }
            ring.is_waiting = !ring.calls.is_empty();
            let is_waiting = ring.is_waiting;
            drop(ring);
            if is_waiting {
                still_waiting.push(meter);
            }
        }
        // In the order in which the calls ended.
        batch.calls.sort_by_key(|call| call.at + Duration::from_micros(call.latency_micros));
        self.waiting.lock().extend(still_waiting);
    }
}

#[cfg(test)]
mod tests;
