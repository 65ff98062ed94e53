//! The ring of figures in PostgreSQL.

use async_trait::async_trait;
use domain::Ticks;
use domain::figures::{FigureCounts, FigurePoint, Resolution, Series};

use super::rows::{column, execute, limit, rows};
use super::{PostgresStore, store_error};
use crate::figures::{
    FigureKey, RETENTION, additions, numbers, pack_counts, resolution_code, series_bytes, unpack_counts,
};
use crate::{FigureDelta, Figures, Result};

/// Keys as three arrays.
const KEYS: &str = "unnest($1::bigint[], $2::bigint[], $3::bytea[])";

impl PostgresStore {
    /// Deletes up to `rows_max` rows of each resolution that are too old, or beyond the bound.
    pub(super) async fn expire_figures(&self, now: Ticks, rows_max: usize) -> Result<usize> {
        let mut deleted = 0;
        for kept in RETENTION {
            let resolution = resolution_code(kept.resolution);
            // The newest row that is one too many.
            let beyond = self
                .row(
                    "SELECT start FROM figures WHERE resolution = $1
                     ORDER BY resolution DESC, start DESC, series DESC LIMIT 1 OFFSET $2",
                    &[&resolution, &i64::from(kept.rows_max)],
                )
                .await?;
            let first = kept.first_kept(now, beyond.map(|row| row.get(0)));
            let sql =
                "DELETE FROM figures WHERE (resolution, start, series) IN (SELECT resolution, start, series
                 FROM figures WHERE resolution = $1 AND start < $2 LIMIT $3)";
            deleted += self.delete(sql, &[&resolution, &first, &limit(rows_max)]).await?;
        }
        Ok(deleted)
    }
}

#[async_trait]
impl Figures for PostgresStore {
    /// Makes the rows that are missing, locks all in order, and writes the sums.
    async fn add_figures(&self, deltas: &[FigureDelta]) -> Result<()> {
        let added: Vec<(FigureKey, FigureCounts)> = additions(deltas).into_iter().collect();
        let resolutions = column(&added, |(key, _)| key.resolution);
        let starts = column(&added, |(key, _)| key.start);
        let series = column(&added, |(key, _)| key.series.as_slice());
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let insert = format!(
            "INSERT INTO figures (resolution, start, series, counts)
             SELECT resolution, start, series, ''::bytea FROM {KEYS} AS added(resolution, start, series)
             ON CONFLICT DO NOTHING"
        );
        execute(&transaction, &insert, &[&resolutions, &starts, &series]).await.map_err(store_error)?;
        let lock = format!(
            "SELECT f.counts FROM {KEYS} WITH ORDINALITY AS added(resolution, start, series, place)
             JOIN figures f USING (resolution, start, series) ORDER BY place FOR UPDATE OF f"
        );
        let stored = rows(&transaction, &lock, &[&resolutions, &starts, &series]).await?;
        let mut sums = Vec::with_capacity(added.len());
        for ((_, counts), row) in added.iter().zip(&stored) {
            let mut sum = unpack_counts(row.get(0))?;
            sum.add(counts);
            sums.push(pack_counts(&sum));
        }
        let update = "UPDATE figures f SET counts = added.counts
             FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[]) AS added(resolution, start, series, counts)
             WHERE f.resolution = added.resolution AND f.start = added.start AND f.series = added.series";
        execute(&transaction, update, &[&resolutions, &starts, &series, &sums]).await.map_err(store_error)?;
        transaction.commit().await.map_err(store_error)
    }

    async fn figures(
        &self,
        series: &Series,
        resolution: Resolution,
        since: Ticks,
        until: Ticks,
    ) -> Result<Vec<FigurePoint>> {
        let mut found = self.figures_of(std::slice::from_ref(series), resolution, since, until).await?;
        Ok(found.pop().unwrap_or_default())
    }

    async fn figures_of(
        &self,
        series: &[Series],
        resolution: Resolution,
        since: Ticks,
        until: Ticks,
    ) -> Result<Vec<Vec<FigurePoint>>> {
        let (first, last) = numbers(resolution, since, until);
        // OFFSET 0 keeps the planner from joining one of the two keys alone: before the table's first analysis it would read
        // every series of a span, or every time of a series.
        let found = self
            .rows(
                "SELECT s.number, g.start, f.counts FROM unnest($4::bytea[]) WITH ORDINALITY AS s(series, number)
                 CROSS JOIN generate_series($2::bigint, $3::bigint) AS g(start)
                 CROSS JOIN LATERAL (SELECT counts FROM figures
                     WHERE resolution = $1 AND start = g.start AND series = s.series OFFSET 0) f
                 ORDER BY s.number, g.start",
                &[&resolution_code(resolution), &first, &last, &column(series, series_bytes)],
            )
            .await?;
        let mut all = vec![Vec::new(); series.len()];
        for row in &found {
            let point =
                FigurePoint { start: resolution.start_of(row.get(1)), counts: unpack_counts(row.get(2))? };
            // Ordinality counts from 1.
            let index = usize::try_from(row.get::<_, i64>(0) - 1).ok();
            if let Some(points) = index.and_then(|index| all.get_mut(index)) {
                points.push(point);
            }
        }
        Ok(all)
    }
}
