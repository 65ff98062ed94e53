//! Sizes, rates and latencies for people.

use ui::Lang;
use ui::app::number;

/// A number with one decimal: `12,5`, `12.5`.
pub(super) fn decimal(lang: Lang, value: f64) -> String {
    let text = format!("{value:.1}");
    match lang {
        Lang::Es => text.replace('.', ","),
        Lang::En => text,
    }
}

/// `0,9 ms`, `120 ms`, `–`.
pub(super) fn latency(lang: Lang, micros: Option<u64>) -> String {
    let Some(micros) = micros else { return "–".into() };
    let (whole, tenths) = (micros / 1_000, micros % 1_000 / 100);
    match lang {
        _ if whole >= 100 => format!("{}\u{a0}ms", number(lang, whole)),
        Lang::Es => format!("{whole},{tenths}\u{a0}ms"),
        Lang::En => format!("{whole}.{tenths}\u{a0}ms"),
    }
}

/// `3,4 GiB`.
pub(super) fn bytes(lang: Lang, bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes}\u{a0}B");
    }
    // Tenths of the unit, so that nothing is rounded twice.
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < units.len() {
        tenths /= 1024;
        unit += 1;
    }
    let separator = if lang == Lang::Es { ',' } else { '.' };
    format!("{}{separator}{}\u{a0}{}", tenths / 10, tenths % 10, units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_decimal() {
        assert_eq!(bytes(Lang::En, 1023), "1023\u{a0}B");
        assert_eq!(bytes(Lang::En, 1536), "1.5\u{a0}KiB");
        assert_eq!(bytes(Lang::Es, 5 * 1024 * 1024), "5,0\u{a0}MiB");
        assert_eq!(bytes(Lang::En, u64::MAX), "16777215.9\u{a0}TiB");
    }

    #[test]
    fn latencies_are_precise_where_they_are_short() {
        assert_eq!(latency(Lang::Es, Some(940)), "0,9\u{a0}ms");
        assert_eq!(latency(Lang::En, Some(12_300)), "12.3\u{a0}ms");
        assert_eq!(latency(Lang::En, Some(1_234_567)), "1,234\u{a0}ms");
        assert_eq!(latency(Lang::En, None), "–");
        assert_eq!(decimal(Lang::Es, 12.52), "12,5");
    }
}
