//! Language negotiation: picks the language of a page from `ui_locales` and `Accept-Language`.

/// A language that the pages are available in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lang {
    #[default]
    Es,
    En,
}

/// Entries of a header that are read: more than any browser sends, few enough to be cheap.
const ENTRIES_MAX: usize = 32;

impl Lang {
    pub const ALL: [Self; 2] = [Self::Es, Self::En];

    /// The first supported language in `ui_locales` (`fr en-GB es`), else the supported language with the
    /// highest weight in `Accept-Language`, else Spanish.
    pub fn choose(ui_locales: Option<&str>, accept_language: Option<&str>) -> Self {
        let mut locales = ui_locales.into_iter().flat_map(str::split_whitespace).take(ENTRIES_MAX);
        locales.find_map(Self::from_tag).or_else(|| best_match(accept_language?)).unwrap_or_default()
    }

    /// The language tag for the attributes `lang` and `hreflang`.
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

    /// The language's name in that language.
    pub const fn native_name(self) -> &'static str {
        match self {
            Self::Es => "Español",
            Self::En => "English",
        }
    }

    /// Reads the primary subtag only: `en-GB` is English, `es_ES` is Spanish.
    fn from_tag(tag: &str) -> Option<Self> {
        let first = tag.split(['-', '_']).next()?;
        Self::ALL.into_iter().find(|lang| lang.tag().eq_ignore_ascii_case(first))
    }
}

/// The weight of a language in `Accept-Language`, in thousandths, and the position of its entry.
#[derive(Clone, Copy)]
struct Preference {
    weight: u16,
    position: usize,
}

fn best_match(header: &str) -> Option<Lang> {
    let mut named: [Option<Preference>; 2] = [None; 2];
    let mut wildcard = None;
    for (position, entry) in header.split(',').take(ENTRIES_MAX).enumerate() {
        let mut parts = entry.split(';').map(str::trim);
        let tag = parts.next().unwrap_or_default();
        let Some(weight) = weight(parts) else { continue };
        let slot = if tag == "*" {
            &mut wildcard
        } else if let Some(lang) = Lang::from_tag(tag) {
            &mut named[lang as usize]
        } else {
            continue;
        };
        if slot.is_none_or(|previous: Preference| weight > previous.weight) {
            *slot = Some(Preference { weight, position });
        }
    }
    let preferences =
        Lang::ALL.into_iter().filter_map(|lang| Some((lang, named[lang as usize].or(wildcard)?)));
    let accepted = preferences.filter(|(_, preference)| preference.weight > 0);
    // The highest weight wins, then the earliest entry, then Spanish.
    accepted
        .min_by_key(|(_, preference)| (u16::MAX - preference.weight, preference.position))
        .map(|(lang, _)| lang)
}

/// The parameter `q` in thousandths: 1000 if absent, `None` if malformed.
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
    fn ui_locales_take_precedence() {
        assert_eq!(Lang::choose(Some("fr en-GB es"), Some("es")), En);
        assert_eq!(Lang::choose(Some("es-419"), Some("en")), Es);
        assert_eq!(Lang::choose(Some("EN_us"), None), En);
        assert_eq!(Lang::choose(Some("fr de"), Some("en")), En);
        assert_eq!(Lang::choose(Some("  "), None), Es);
    }

    #[test]
    fn accept_language_weights_are_honoured() {
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
    fn malformed_headers_fall_back_to_spanish() {
        let of = |header: &str| Lang::choose(None, Some(header));
        for header in
            ["", ",,,", ";;q", "q=1", "en;q=", "en;q=2", "en;q=0.1234", "en;q=-1", "en;q=x", "\u{0}"]
        {
            assert_eq!(of(header), Es, "{header:?}");
        }
        assert_eq!(of("en;level=1;q=0.4, es;q=nan"), En);
        assert_eq!(of(&"x,".repeat(1_000_000)), Es);
        assert_eq!(of(&format!("{}en", "x,".repeat(100))), Es, "entry beyond ENTRIES_MAX");
    }
}
