//! Counts in memory, until the next flush adds them to the store. A crash loses what was counted since.

use std::collections::HashMap;
use std::time::Duration;

use domain::Ticks;
use domain::figures::{FigureCounts, Outcome, Series};
use parking_lot::Mutex;

use super::{FigureDelta, Figures};
use crate::Result;

/// Further series are not counted while so many wait; about 3 MB.
const SERIES_MAX: usize = 10_000;
/// Of each buffer in one flush: so that the transaction stays small. The others go on counting until the next one.
const FLUSHED_MAX: usize = 256;

#[derive(Debug, Default)]
pub struct FigureBuffer(Mutex<HashMap<Series, FigureCounts>>);

impl FigureBuffer {
    /// Counts one.
    pub fn count(&self, series: Series, outcome: Outcome, latency: Option<Duration>) {
        let micros = latency.map(|latency| u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
        self.change(series, |counts| counts.count(outcome, micros));
    }

    pub fn add(&self, series: Series, counts: &FigureCounts) {
        if !counts.is_empty() {
            self.change(series, |sum| sum.add(counts));
        }
    }

    fn change(&self, series: Series, change: impl FnOnce(&mut FigureCounts)) {
        let mut waiting = self.0.lock();
        let has_room = waiting.len() < SERIES_MAX;
        if let Some(counts) = waiting.get_mut(&series) {
            change(counts);
        } else if has_room {
            change(waiting.entry(series).or_default());
        }
    }

    fn take(&self, at: Ticks) -> Vec<FigureDelta> {
        let mut waiting = self.0.lock();
        if waiting.len() <= FLUSHED_MAX {
            return waiting.drain().map(|(series, counts)| FigureDelta { series, at, counts }).collect();
        }
        let some: Vec<Series> = waiting.keys().take(FLUSHED_MAX).cloned().collect();
        let taken = some.into_iter().filter_map(|series| waiting.remove_entry(&series));
        taken.map(|(series, counts)| FigureDelta { series, at, counts }).collect()
    }
}

/// Adds what was counted to the minute and the hour of `now`, in one transaction. After an error it counts again.
pub async fn flush_figures<S: Figures + ?Sized>(
    store: &S,
    buffers: &[&FigureBuffer],
    now: Ticks,
) -> Result<()> {
    let taken: Vec<Vec<FigureDelta>> = buffers.iter().map(|buffer| buffer.take(now)).collect();
    let deltas = taken.concat();
    if deltas.is_empty() {
        return Ok(());
    }
    let added = store.add_figures(&deltas).await;
    if added.is_err() {
        for (buffer, deltas) in buffers.iter().zip(taken) {
            for delta in deltas {
                buffer.add(delta.series, &delta.counts);
            }
        }
    }
    added
}
