//! The ring of figures in memory.

use async_trait::async_trait;
use domain::Ticks;
use domain::figures::{FigurePoint, Resolution, Series};

use super::{MemoryStore, State};
use crate::figures::{FigureKey, RETENTION, additions, numbers, resolution_code, series_bytes};
use crate::{FigureDelta, Figures, Result};

impl State {
    /// Deletes up to `rows_max` rows of each resolution that are too old, or beyond the bound.
    pub(super) fn expire_figures(&mut self, now: Ticks, rows_max: usize) -> usize {
        let mut deleted = 0;
        for kept in RETENTION {
            let resolution = resolution_code(kept.resolution);
            let newest = self.figures.keys().rev().filter(|key| key.resolution == resolution);
            let beyond = newest.map(|key| key.start).nth(kept.rows_max as usize);
            let first = kept.first_kept(now, beyond);
            let old = self.figures.keys().filter(|key| key.resolution == resolution && key.start < first);
            let old: Vec<FigureKey> = old.take(rows_max).cloned().collect();
            deleted += old.len();
            for key in old {
                self.figures.remove(&key);
            }
        }
        deleted
    }
}

#[async_trait]
impl Figures for MemoryStore {
    async fn add_figures(&self, deltas: &[FigureDelta]) -> Result<()> {
        let mut state = self.state_mut()?;
        for (key, counts) in additions(deltas) {
            state.figures.entry(key).or_default().add(&counts);
        }
        Ok(())
    }

    async fn figures(
        &self,
        series: &Series,
        resolution: Resolution,
        since: Ticks,
        until: Ticks,
    ) -> Result<Vec<FigurePoint>> {
        let (first, last) = numbers(resolution, since, until);
        let (code, series, state) = (resolution_code(resolution), series_bytes(series), self.state());
        let point = |start: i64| {
            let key = FigureKey { resolution: code, start, series: series.clone() };
            let counts = *state.figures.get(&key)?;
            Some(FigurePoint { start: resolution.start_of(start), counts })
        };
        Ok((first..=last).filter_map(point).collect())
    }
}
