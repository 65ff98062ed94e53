//! The days of 2026, the accounting year of the sample.

use std::fmt;

use crate::rng::Rng;

const MONTH_LENGTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// The journals end with the third quarter, the last one that a company has declared by the autumn.
pub(crate) const BOOKED_MONTHS: u32 = 9;

/// A day by its number in the year, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day(u32);

impl Day {
    pub(crate) const FIRST: Self = Self(1);

    /// The working day of step `step`, with `steps` steps spread evenly over the booked months.
    pub(crate) fn of_step(step: u32, steps: u32) -> Self {
        let Self(last) = Self::end_of(BOOKED_MONTHS);
        let span = u64::from(last - 2);
        let passed = u64::from(step) * span / u64::from(steps.max(1));
        Self(2 + u32::try_from(passed).unwrap_or_default()).working()
    }

    /// A random working day of the booked months.
    pub(crate) fn random(rng: &mut Rng) -> Self {
        let Self(last) = Self::end_of(BOOKED_MONTHS);
        Self(rng.between(2, last - 1)).working()
    }

    pub(crate) fn end_of(month: u32) -> Self {
        Self(MONTH_LENGTHS.iter().take(month as usize).sum())
    }

    /// `days` later, but not after the end of the year.
    pub(crate) fn plus(self, days: u32) -> Self {
        Self((self.0 + days).min(365))
    }

    pub(crate) fn month(self) -> u32 {
        self.month_and_day().0
    }

    fn month_and_day(self) -> (u32, u32) {
        let mut day = self.0;
        let mut month = 1;
        for length in MONTH_LENGTHS {
            if day <= length {
                break;
            }
            day -= length;
            month += 1;
        }
        (month, day)
    }

    /// Moves Saturday to Friday and Sunday to Monday, which preserves the order of days.
    pub(crate) fn working(self) -> Self {
        // The year began on a Thursday.
        match (self.0 + 2) % 7 {
            5 => Self(self.0 - 1),
            6 => Self(self.0 + 1),
            _ => self,
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (month, day) = self.month_and_day();
        write!(out, "2026-{month:02}-{day:02}")
    }
}

/// A random time in the office hours of a day, as ISO 8601 in UTC with milliseconds.
pub(crate) fn timestamp(day: Day, rng: &mut Rng) -> String {
    let (hour, minute) = (rng.between(7, 17), rng.below(60));
    let (second, millisecond) = (rng.below(60), rng.below(1_000));
    format!("{day}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
}
