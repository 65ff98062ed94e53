//! Which of the languages that we speak a reader wants.

/// A language of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lang {
    #[default]
    Es,
    En,
}

/// How much of a header is looked at: more than any browser sends, little enough to cost nothing.
const ENTRIES_MAX: usize = 32;

impl Lang {
    pub const ALL: [Self; 2] = [Self::Es, Self::En];

    /// The first language that we speak in `ui_locales` (`fr en-GB es`), else the one that `Accept-Language`
    /// likes best, else Spanish.
    pub fn choose(ui_locales: Option<&str>, accept_language: Option<&str>) -> Self {
        let mut asked = ui_locales.into_iter().flat_map(str::split_whitespace).take(ENTRIES_MAX);
        asked.find_map(Self::of_tag).or_else(|| liked_best(accept_language?)).unwrap_or_default()
    }

    /// As `lang` and `hreflang` write it.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Es => "es",
            Self::En => "en",
        }
    }

    pub const fn other(self) -> Self {
        match self {
            Self::Es => Self::En,
            Self::En => Self::Es,
        }
    }

    /// What its speakers call it.
    pub const fn own_name(self) -> &'static str {
        match self {
            Self::Es => "Español",
            Self::En => "English",
        }
    }

    /// `en-GB` is English, `es_ES` is Spanish: only the first part counts.
    fn of_tag(tag: &str) -> Option<Self> {
        let first = tag.split(['-', '_']).next()?;
        Self::ALL.into_iter().find(|lang| lang.tag().eq_ignore_ascii_case(first))
    }
}

/// What a header says about a language: how much it is liked, in thousandths, and where that was said.
#[derive(Clone, Copy)]
struct Liking {
    weight: u16,
    place: usize,
}

fn liked_best(header: &str) -> Option<Lang> {
    let mut named: [Option<Liking>; 2] = [None; 2];
    let mut any = None;
    for (place, entry) in header.split(',').take(ENTRIES_MAX).enumerate() {
        let mut parts = entry.split(';').map(str::trim);
        let tag = parts.next().unwrap_or_default();
        let Some(weight) = weight(parts) else { continue };
        let slot = if tag == "*" {
            &mut any
        } else if let Some(lang) = Lang::of_tag(tag) {
            &mut named[lang as usize]
        } else {
            continue;
        };
        if slot.is_none_or(|known: Liking| weight > known.weight) {
            *slot = Some(Liking { weight, place });
        }
    }
    let likings = Lang::ALL.into_iter().filter_map(|lang| Some((lang, named[lang as usize].or(any)?)));
    let wanted = likings.filter(|(_, liking)| liking.weight > 0);
    // The heavier wins, then the earlier, then Spanish.
    wanted.min_by_key(|(_, liking)| (u16::MAX - liking.weight, liking.place)).map(|(lang, _)| lang)
}

/// Thousandths of the `q` among an entry's parameters: 1000 without one, nothing where it cannot be read.
fn weight<'a>(mut parameters: impl Iterator<Item = &'a str>) -> Option<u16> {
    let Some(text) = parameters.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")))
    else {
        return Some(1000);
    };
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let thousandths: u16 = format!("{fraction:0<3}").parse().ok()?;
    match whole {
        "0" => Some(thousandths),
        "1" if thousandths == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Lang::{self, En, Es};

    #[test]
    fn the_asked_locales_come_first() {
        assert_eq!(Lang::choose(Some("fr en-GB es"), Some("es")), En);
        assert_eq!(Lang::choose(Some("es-419"), Some("en")), Es);
        assert_eq!(Lang::choose(Some("EN_us"), None), En);
        assert_eq!(Lang::choose(Some("fr de"), Some("en")), En);
        assert_eq!(Lang::choose(Some("  "), None), Es);
    }

    #[test]
    fn the_header_is_weighed() {
        let of = |header| Lang::choose(None, Some(header));
        assert_eq!(of("en-GB,en;q=0.9,es;q=0.8"), En);
        assert_eq!(of("ca,es;q=0.9,en;q=0.8"), Es);
        assert_eq!(of("es;q=0.3, en;q=0.31"), En);
        assert_eq!(of("en, es"), En);
        assert_eq!(of("fr, *;q=0.5, en;q=0.3"), Es);
        assert_eq!(of("es;q=0, *"), En);
        assert_eq!(of("*"), Es);
        assert_eq!(of("fr, de;q=0.5"), Es);
    }

    #[test]
    fn nonsense_is_tolerated() {
        let of = |header: &str| Lang::choose(None, Some(header));
        for header in
            ["", ",,,", ";;q", "q=1", "en;q=", "en;q=2", "en;q=0.1234", "en;q=-1", "en;q=x", "\u{0}"]
        {
            assert_eq!(of(header), Es, "{header:?}");
        }
        assert_eq!(of("en;level=1;q=0.4, es;q=nan"), En);
        assert_eq!(of(&"x,".repeat(1_000_000)), Es);
        assert_eq!(of(&format!("{}en", "x,".repeat(100))), Es, "far behind what is looked at");
    }
}
