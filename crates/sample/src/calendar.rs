//! The days of 2026, the year that the sample's books are kept in.

use std::fmt;

use crate::chance::Dice;

const MONTH_LENGTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// The books reach to the end of the third quarter: what an adviser has declared by the autumn.
pub(crate) const BOOKED_MONTHS: u32 = 9;

/// A day by its number in the year, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day(u32);

impl Day {
    pub(crate) const FIRST: Self = Self(1);

    /// The working day for step `step` of `steps` that fill the booked months evenly.
    pub(crate) fn of_step(step: u32, steps: u32) -> Self {
        let Self(last) = Self::end_of(BOOKED_MONTHS);
        let span = u64::from(last - 2);
        let passed = u64::from(step) * span / u64::from(steps.max(1));
        Self(2 + u32::try_from(passed).unwrap_or_default()).working()
    }

    /// Any working day of the booked months.
    pub(crate) fn any(dice: &mut Dice) -> Self {
        let Self(last) = Self::end_of(BOOKED_MONTHS);
        Self(dice.between(2, last - 1)).working()
    }

    pub(crate) fn end_of(month: u32) -> Self {
        Self(MONTH_LENGTHS.iter().take(month as usize).sum())
    }

    /// Later, but still this year.
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

    /// Saturdays go back to Friday and Sundays on to Monday, so that the order of days is kept.
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

/// An instant of the day's office hours, ISO 8601 in UTC with milliseconds.
pub(crate) fn moment(day: Day, dice: &mut Dice) -> String {
    let (hour, minute) = (dice.between(7, 17), dice.below(60));
    let (second, millisecond) = (dice.below(60), dice.below(1_000));
    format!("{day}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
}
