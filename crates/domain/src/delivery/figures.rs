//! The figures of a webhook's deliveries, as charts show them.

use crate::figures::{FigureCounts, Outcome};
use crate::time::Ticks;

/// How much of the past figures cover, by hour: the hour that is running and those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureSpan {
    Day,
    Week,
}

impl FigureSpan {
    pub fn hours(self) -> u32 {
        match self {
            Self::Day => 24,
            Self::Week => 7 * 24,
        }
    }
}

/// How deliveries to a webhook went, for charts. What a node counted in the second before it crashed is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookFigures {
    pub span: FigureSpan,
    pub total: WebhookFigure,
    /// One for each hour of the span, oldest first.
    pub points: Vec<WebhookFigure>,
}

/// The delivery attempts from a time on: of the whole span, or of one hour. Replays, tests and handshakes do not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebhookFigure {
    pub start: Ticks,
    pub delivered: u64,
    pub failed_attempts: u64,
    /// The share of all attempts that succeeded, from 0 to 1; None where there were none.
    pub success_rate: Option<f64>,
    /// Of all attempts; see [`FigureCounts::percentile_micros`] for their precision.
    pub p50_micros: Option<u64>,
    pub p95_micros: Option<u64>,
}

impl WebhookFigure {
    pub fn new(start: Ticks, counts: &FigureCounts) -> Self {
        Self {
            start,
            delivered: counts.of(Outcome::Succeeded),
            failed_attempts: counts.of(Outcome::Failed),
            success_rate: counts.success_rate(),
            p50_micros: counts.percentile_micros(50),
            p95_micros: counts.percentile_micros(95),
        }
    }
}
