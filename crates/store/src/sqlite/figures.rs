//! The ring of figures in SQLite.

use async_trait::async_trait;
use domain::Ticks;
use domain::figures::{FigurePoint, Resolution, Series};
use rusqlite::{Connection, OptionalExtension, params};

use super::{SqliteStore, store_error};
use crate::figures::{
    FigureKey, RETENTION, additions, numbers, pack_counts, resolution_code, series_bytes, unpack_counts,
};
use crate::{FigureDelta, Figures, Result};

const FIND: &str = "SELECT counts FROM figures WHERE resolution = ?1 AND start = ?2 AND series = ?3";

/// The first minute and the first hour that are kept. It walks over the whole ring, so a reader does it.
pub(super) fn first_kept(reader: &Connection, now: Ticks) -> Result<Vec<(i64, i64)>> {
    let mut firsts = Vec::with_capacity(RETENTION.len());
    for kept in RETENTION {
        let resolution = resolution_code(kept.resolution);
        // The newest row that is one too many.
        let beyond: Option<i64> = reader
            .prepare_cached(
                "SELECT start FROM figures WHERE resolution = ?1 ORDER BY start DESC, series DESC LIMIT 1 OFFSET ?2",
            )
            .and_then(|mut find| {
                find.query_row(params![resolution, kept.rows_max], |row| row.get(0)).optional()
            })
            .map_err(store_error)?;
        firsts.push((resolution, kept.first_kept(now, beyond)));
    }
    Ok(firsts)
}

/// Deletes up to `rows_max` older rows of each resolution.
pub(super) fn expire(writer: &Connection, firsts: &[(i64, i64)], rows_max: i64) -> Result<usize> {
    let mut deleted = 0;
    for (resolution, first) in firsts {
        deleted += writer
            .prepare_cached(
                "DELETE FROM figures WHERE (resolution, start, series) IN (SELECT resolution, start, series
                 FROM figures WHERE resolution = ?1 AND start < ?2 LIMIT ?3)",
            )
            .and_then(|mut delete| delete.execute(params![resolution, first, rows_max]))
            .map_err(store_error)?;
    }
    Ok(deleted)
}

#[async_trait]
impl Figures for SqliteStore {
    async fn add_figures(&self, deltas: &[FigureDelta]) -> Result<()> {
        let rows = additions(deltas);
        self.write(move |writer| {
            let mut find = writer.prepare_cached(FIND).map_err(store_error)?;
            let mut put = writer
                .prepare_cached(
                    "INSERT OR REPLACE INTO figures (resolution, start, series, counts) VALUES (?1, ?2, ?3, ?4)",
                )
                .map_err(store_error)?;
            for (FigureKey { resolution, start, series }, mut counts) in rows {
                let stored: Option<Vec<u8>> = find
                    .query_row(params![resolution, start, series], |row| row.get(0))
                    .optional()
                    .map_err(store_error)?;
                if let Some(stored) = stored {
                    counts.add(&unpack_counts(&stored)?);
                }
                put.execute(params![resolution, start, series, pack_counts(&counts)]).map_err(store_error)?;
            }
            Ok(())
        })
        .await
    }

    async fn figures(
        &self,
        series: &Series,
        resolution: Resolution,
        since: Ticks,
        until: Ticks,
    ) -> Result<Vec<FigurePoint>> {
        let (first, last) = numbers(resolution, since, until);
        let (code, key) = (resolution_code(resolution), series_bytes(series));
        self.read_fresh_snapshot(|reader| {
            let mut find = reader.prepare_cached(FIND).map_err(store_error)?;
            let mut points = Vec::new();
            for number in first..=last {
                let counts: Option<Vec<u8>> = find
                    .query_row(params![code, number, key], |row| row.get(0))
                    .optional()
                    .map_err(store_error)?;
                if let Some(counts) = counts {
                    let (start, counts) = (resolution.start_of(number), unpack_counts(&counts)?);
                    points.push(FigurePoint { start, counts });
                }
            }
            Ok(points)
        })
    }
}
