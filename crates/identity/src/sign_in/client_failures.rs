//! Decides which failed client authentications are audited, so that a series does not fill the audit.

use std::collections::HashMap;
use std::time::Duration;

use domain::Ticks;
use parking_lot::Mutex;

/// Failures of a series that are audited.
const AUDITED_MAX: u32 = 8;
/// A series ends after this time without another failure.
const SERIES_END: Duration = Duration::from_secs(15 * 60);
/// Bound on the tracked clients. Only clients that exist are tracked.
const CLIENTS_MAX: usize = 100_000;

#[derive(Default)]
pub(crate) struct ClientFailures(Mutex<HashMap<String, (u32, Ticks)>>);

impl ClientFailures {
    /// Counts a failure of a client; true for the first ones of a series.
    pub(crate) fn is_worth_auditing(&self, client: &str, now: Ticks) -> bool {
        let mut series = self.0.lock();
        if series.len() >= CLIENTS_MAX {
            series.retain(|_, (_, last)| now.since(*last) <= SERIES_END);
        }
        if series.len() >= CLIENTS_MAX {
            return false;
        }
        let (count, last) = series.entry(client.to_owned()).or_insert((0, now));
        if now.since(*last) > SERIES_END {
            *count = 0;
        }
        *count = count.saturating_add(1);
        *last = now;
        *count <= AUDITED_MAX
    }
}
