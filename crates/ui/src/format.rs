//! Formats names, timestamps and durations for pages.

use domain::Ticks;
use maud::{Markup, Render, html};

use crate::Lang;

/// A name that a user, tenant or client chose. It renders inside `bdi` so that its text direction does not
/// affect the sentence around it, without direction marks or control characters, and truncated to
/// [`NAME_CHARS_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplayName<'a>(pub &'a str);

const NAME_CHARS_MAX: usize = 120;
const WORD_CHARS_MAX: usize = 24;

impl Render for DisplayName<'_> {
    fn render(&self) -> Markup {
        html! { bdi { (plain_name(self.0)) } }
    }
}

/// A word that no column is wide enough for: it may break anywhere.
pub(crate) fn has_long_word(text: &str) -> bool {
    text.split([' ', '-', '/']).any(|word| word.chars().count() > WORD_CHARS_MAX)
}

/// The name as it is shown, for a text without markup.
pub fn plain_name(name: &str) -> String {
    let mut text: String = name.trim().chars().filter_map(visible).take(NAME_CHARS_MAX + 1).collect();
    if text.chars().count() > NAME_CHARS_MAX {
        text.pop();
        text.push('…');
    }
    text
}

fn visible(c: char) -> Option<char> {
    match c {
        // Direction marks could make one name read as another.
        '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
        c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' => Some(' '),
        c => Some(c),
    }
}

const MONTHS_ES: [&str; 12] =
    ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"];
const MONTHS_EN: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec"];

/// A `time` element such as `15 nov 2026, 08:30 UTC`, with the ISO form as its `datetime`.
pub fn timestamp(lang: Lang, at: Ticks) -> Markup {
    html! { time datetime=(at.iso()) { (plain_timestamp(lang, at)) } }
}

/// The same for people who do not look for a request in a log: without seconds, also in the browser's zone.
pub fn minute_timestamp(lang: Lang, at: Ticks) -> Markup {
    html! { time datetime=(at.iso()) data-part="minute" { (plain_timestamp(lang, at)) } }
}

/// The timestamp without markup.
pub(crate) fn plain_timestamp(lang: Lang, at: Ticks) -> String {
    let iso = at.iso();
    localized(lang, &iso).unwrap_or(iso)
}

/// `15 nov`, of a date such as `2026-11-15`.
pub fn short_day(lang: Lang, date: &str) -> String {
    let months = months(lang);
    let mut parts = date.split('-').skip(1);
    let month = parts.next().and_then(|month| months.get(month.parse::<usize>().ok()?.checked_sub(1)?));
    match (month, parts.next()) {
        (Some(month), Some(day)) => format!("{}\u{a0}{month}", day.trim_start_matches('0')),
        _ => date.to_owned(),
    }
}

/// The hour of a time, `08:00`, or its day; in UTC, until the script shows the browser's zone.
pub fn tick_time(lang: Lang, at: Ticks, is_day: bool) -> Markup {
    let iso = at.iso();
    let (part, text) = if is_day {
        ("day", short_day(lang, iso.get(..10).unwrap_or_default()))
    } else {
        ("hour", iso.get(11..16).unwrap_or_default().to_owned())
    };
    html! { time datetime=(iso) data-part=(part) { (text) } }
}

const fn months(lang: Lang) -> &'static [&'static str; 12] {
    match lang {
        Lang::Es => &MONTHS_ES,
        Lang::En => &MONTHS_EN,
    }
}

fn localized(lang: Lang, iso: &str) -> Option<String> {
    let (date, time) = iso.split_once('T')?;
    let mut date = date.splitn(3, '-');
    let (year, month, day) = (date.next()?, date.next()?, date.next()?);
    let month = months(lang).get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    // No-break spaces: a narrow page must not split the date or the time.
    Some(format!("{}\u{a0}{month}\u{a0}{year}, {}\u{a0}UTC", day.trim_start_matches('0'), time.get(..5)?))
}

/// `1 segundo`, `40 segundos`, `2 minutos`, `3 horas`; rounded up, so that waiting that long is enough.
pub fn duration(lang: Lang, seconds: u64) -> String {
    let seconds = seconds.max(1);
    let is_whole = |unit: u64| seconds.is_multiple_of(unit);
    // Up to 90 the unit is seconds: "2 minutes" for 61 seconds would be far too long.
    let (count, es, en) = if seconds > 5_400 || is_whole(3_600) {
        (seconds.div_ceil(3_600), ["hora", "horas"], ["hour", "hours"])
    } else if seconds > 90 || is_whole(60) {
        (seconds.div_ceil(60), ["minuto", "minutos"], ["minute", "minutes"])
    } else {
        (seconds, ["segundo", "segundos"], ["second", "seconds"])
    };
    let forms = match lang {
        Lang::Es => es,
        Lang::En => en,
    };
    format!("{count}\u{a0}{}", forms[usize::from(count != 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_localized() {
        let at = |text| Ticks::parse_iso(text).unwrap();
        let rendered = |lang, text| timestamp(lang, at(text)).into_string().replace('\u{a0}', " ");
        assert_eq!(
            rendered(Lang::Es, "2026-11-15T08:30:59Z"),
            r#"<time datetime="2026-11-15T08:30:59.0000000Z">15 nov 2026, 08:30 UTC</time>"#
        );
        assert!(rendered(Lang::En, "2026-09-05T23:05:00Z").contains(">5 Sept 2026, 23:05 UTC<"));
    }

    #[test]
    fn times_of_charts_are_short() {
        assert_eq!(short_day(Lang::Es, "2026-11-05"), "5\u{a0}nov");
        assert_eq!(short_day(Lang::En, "x"), "x");
        let at = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
        let hour = r#"<time datetime="2026-11-15T08:30:00.0000000Z" data-part="hour">08:30</time>"#;
        assert_eq!(tick_time(Lang::En, at, false).into_string(), hour);
        assert!(tick_time(Lang::En, at, true).into_string().ends_with(">15\u{a0}Nov</time>"));
    }

    #[test]
    fn durations_are_rounded_up_and_pluralized() {
        let rendered = |lang, seconds| duration(lang, seconds).replace('\u{a0}', " ");
        assert_eq!(rendered(Lang::Es, 0), "1 segundo");
        assert_eq!(rendered(Lang::En, 1), "1 second");
        assert_eq!(rendered(Lang::Es, 45), "45 segundos");
        assert_eq!(rendered(Lang::Es, 60), "1 minuto");
        assert_eq!(rendered(Lang::Es, 90), "90 segundos");
        assert_eq!(rendered(Lang::Es, 91), "2 minutos");
        assert_eq!(rendered(Lang::En, 3_600), "1 hour");
        assert_eq!(rendered(Lang::En, 900), "15 minutes");
        assert_eq!(rendered(Lang::En, 7_200), "2 hours");
        assert_eq!(rendered(Lang::Es, u64::MAX), format!("{} horas", u64::MAX.div_ceil(3_600)));
    }

    #[test]
    fn names_are_escaped_isolated_and_truncated() {
        assert_eq!(DisplayName("a<b>&\"").render().into_string(), "<bdi>a&lt;b&gt;&amp;&quot;</bdi>");
        assert_eq!(DisplayName(" x\u{202e}y\nz\u{2067} ").render().into_string(), "<bdi>xy z</bdi>");
        let long = DisplayName(&"ñ".repeat(10_000)).render().into_string();
        assert_eq!(long, format!("<bdi>{}…</bdi>", "ñ".repeat(NAME_CHARS_MAX)));
    }
}
