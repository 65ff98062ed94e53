//! What a whole consists of, as one bar.

use maud::{Markup, html};

const WIDTH: u64 = 1000;
const HEIGHT: u64 = 10;

/// One part: its name and how much it is, also in words.
#[derive(Clone, Debug)]
pub struct SplitPart<'a> {
    pub label: &'a str,
    pub value: u64,
    pub text: String,
}

/// A bar of up to five parts with a legend that has their amounts. Parts of nothing are left out.
pub fn split(title: &str, parts: &[SplitPart<'_>]) -> Markup {
    let total = parts.iter().map(|part| part.value).fold(0, u64::saturating_add).max(1);
    let share =
        |value: u64| u64::try_from(u128::from(value) * u128::from(WIDTH) / u128::from(total)).unwrap_or(0);
    let mut x = 0;
    let mut bars = Vec::new();
    for (index, part) in (1..).zip(parts.iter().take(5)) {
        if part.value > 0 {
            bars.push((index, x, share(part.value).max(1), part));
            x += share(part.value);
        }
    }
    html! {
        svg.split viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(title) {
            @for (index, x, width, _) in &bars {
                rect class={ "part-" (index) } x=(x) y="0" width=(width) height=(HEIGHT) {}
            }
        }
        p.legend { @for (index, _, _, part) in &bars { span class={ "part-" (index) } { (part.label) " " (part.text) } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_the_bar_and_nothing_has_no_part() {
        let part = |label, value: u64| SplitPart { label, value, text: format!("{value} ms") };
        let parts = [part("DNS", 10), part("Connect", 0), part("TLS", 30)];
        let markup = split("Time", &parts).into_string();
        assert!(markup.contains(r#"class="part-1" x="0" y="0" width="250""#), "{markup}");
        assert!(markup.contains(r#"class="part-3" x="250" y="0" width="750""#), "{markup}");
        assert!(!markup.contains("Connect") && !markup.contains("style="), "{markup}");
        let huge = [part("a", u64::MAX), part("b", u64::MAX)];
        assert!(split("Time", &huge).into_string().contains("part-2"));
    }
}
