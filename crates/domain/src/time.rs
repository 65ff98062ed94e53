//! Time as the contract defines it: .NET ticks (100 ns since year 1, UTC) and their text formats.

use std::fmt::Write as _;
use std::ops::Add;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Ticks from year 1 to the Unix epoch.
const UNIX_EPOCH_TICKS: i64 = 621_355_968_000_000_000;
const TICKS_PER_SECOND: i64 = 10_000_000;
const TICKS_PER_MILLISECOND: i64 = 10_000;
const TICKS_PER_DAY: i64 = 24 * 60 * 60 * TICKS_PER_SECOND;

/// A point in time: the number of 100 ns intervals since 0001-01-01, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ticks(pub i64);

impl Ticks {
    pub fn from_unix_nanos(nanos: i128) -> Self {
        let ticks = nanos / 100 + i128::from(UNIX_EPOCH_TICKS);
        Self(i64::try_from(ticks).unwrap_or(i64::MAX))
    }

    pub fn from_unix_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(TICKS_PER_SECOND).saturating_add(UNIX_EPOCH_TICKS))
    }

    pub fn unix_seconds(self) -> i64 {
        (self.0 - UNIX_EPOCH_TICKS).div_euclid(TICKS_PER_SECOND)
    }

    /// One tick later: the smallest version greater than this one.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(ticks_of(span)))
    }

    /// The time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        let ticks = u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0);
        Duration::from_nanos(ticks.saturating_mul(100))
    }

    /// Whole days since 0001-01-01.
    pub fn day(self) -> i64 {
        self.0.div_euclid(TICKS_PER_DAY)
    }

    /// The start of a day, given as the number of days since 0001-01-01.
    pub fn from_day(day: i64) -> Self {
        Self(day.saturating_mul(TICKS_PER_DAY))
    }

    /// `2026-11-15`
    pub fn date(self) -> String {
        self.datetime().date().to_string()
    }

    /// Truncates to whole milliseconds, the precision of payroll times.
    pub fn to_millisecond(self) -> Self {
        Self(self.0 - self.0.rem_euclid(TICKS_PER_MILLISECOND))
    }

    /// `2026-11-15T08:30:00.1234567Z`, the format of `version`.
    pub fn iso(self) -> String {
        let mut text = self.civil("T");
        let _ = write!(text, ".{:07}Z", self.fraction());
        text
    }

    /// `2026-11-15T08:30:00.123Z`, the format of `lastUpdate` of payroll companies.
    pub fn iso_millis(self) -> String {
        let mut text = self.civil("T");
        let _ = write!(text, ".{:03}Z", self.fraction() / TICKS_PER_MILLISECOND);
        text
    }

    /// `11/15/2026 08:30:00`, the format of `Version` in a notification.
    pub fn us_date_time(self) -> String {
        let at = self.datetime();
        format!(
            "{:02}/{:02}/{:04} {:02}:{:02}:{:02}",
            at.month(),
            at.day(),
            at.year(),
            at.hour(),
            at.minute(),
            at.second()
        )
    }

    /// The shortest text that `parse_iso` parses to this time: `2026-11-15`, with the time of day only if it is not
    /// midnight.
    pub(crate) fn shortest_iso(self) -> String {
        let nanos = (i128::from(self.0) - i128::from(UNIX_EPOCH_TICKS)) * 100;
        let text = Timestamp::from_nanosecond(nanos).unwrap_or_default().to_string();
        text.strip_suffix("T00:00:00Z").map(str::to_owned).unwrap_or(text)
    }

    /// Parses `2026-11-15` and full ISO 8601 times with `Z`, an offset, or neither (UTC). Ticks start with year 1, so
    /// signed years are refused.
    pub fn parse_iso(text: &str) -> Option<Self> {
        if text.starts_with(['+', '-']) {
            return None;
        }
        let nanos = if let Ok(stamp) = text.parse::<Timestamp>() {
            stamp.as_nanosecond()
        } else {
            let civil: jiff::civil::DateTime = text.parse().ok()?;
            civil.to_zoned(TimeZone::UTC).ok()?.timestamp().as_nanosecond()
        };
        Some(Self::from_unix_nanos(nanos)).filter(|ticks| *ticks >= Self(0))
    }

    fn fraction(self) -> i64 {
        self.0.rem_euclid(TICKS_PER_SECOND)
    }

    fn datetime(self) -> jiff::civil::DateTime {
        let seconds = self.unix_seconds();
        TimeZone::UTC.to_datetime(Timestamp::from_second(seconds).unwrap_or_default())
    }

    fn civil(self, separator: &str) -> String {
        let at = self.datetime();
        let mut text = String::with_capacity(28);
        let _ = write!(
            text,
            "{:04}-{:02}-{:02}{separator}{:02}:{:02}:{:02}",
            at.year(),
            at.month(),
            at.day(),
            at.hour(),
            at.minute(),
            at.second()
        );
        text
    }
}

impl Add<Duration> for Ticks {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(ticks_of(span)))
    }
}

fn ticks_of(span: Duration) -> i64 {
    i64::try_from(span.as_nanos() / 100).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Ticks {
        Ticks::parse_iso(text).unwrap()
    }

    #[test]
    fn days_begin_at_midnight() {
        let noon = at("2026-11-15T12:00:00Z");
        assert_eq!(Ticks::from_day(noon.day()), at("2026-11-15"));
        assert_eq!(at("2026-11-14T23:59:59.9999999Z").day() + 1, noon.day());
        assert_eq!(noon.date(), "2026-11-15");
    }

    #[test]
    fn ticks_count_from_year_one() {
        assert_eq!(at("1970-01-01"), Ticks(621_355_968_000_000_000));
        assert_eq!(at("2026-11-15T08:30:00.1234567Z").0.to_string().len(), 18);
        assert_eq!(Ticks::from_unix_seconds(0), at("1970-01-01T00:00:00Z"));
    }

    #[test]
    fn text_formats_are_those_of_the_contract() {
        let time = at("2026-11-15T08:30:05.1234567Z");
        assert_eq!(time.iso(), "2026-11-15T08:30:05.1234567Z");
        assert_eq!(time.iso_millis(), "2026-11-15T08:30:05.123Z");
        assert_eq!(time.us_date_time(), "11/15/2026 08:30:05");
        assert_eq!(time.to_millisecond().iso(), "2026-11-15T08:30:05.1230000Z");
    }

    #[test]
    fn dates_parse_with_and_without_time_and_offset() {
        assert_eq!(at("2026-11-15"), at("2026-11-15T00:00:00Z"));
        assert_eq!(at("2026-11-15T01:00:00+01:00"), at("2026-11-15"));
        assert_eq!(at("2026-11-15T00:00:00"), at("2026-11-15"));
        assert_eq!(Ticks::parse_iso("15/11/2026"), None);
        assert_eq!(Ticks::parse_iso("2026-02-30"), None);
    }

    #[test]
    fn time_since_a_later_time_is_zero() {
        let early = at("2026-11-15");
        let late = early + Duration::from_secs(5);
        assert_eq!(late.since(early), Duration::from_secs(5));
        assert_eq!(early.since(late), Duration::ZERO);
        assert_eq!(late.minus(Duration::from_secs(5)), early);
    }
}
