//! A finding: what one check says, in words.

use ui::Lang;

use super::Outcome;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    Warning,
    Failure,
    NotChecked,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failure => "failure",
            Self::NotChecked => "notChecked",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    Configuration,
    Clock,
    Disk,
    Descriptors,
    Addresses,
    Proxies,
    Certificates,
    Dns,
    Outbound,
    Store,
}

impl Check {
    pub const ALL: [Self; 10] = [
        Self::Configuration,
        Self::Clock,
        Self::Disk,
        Self::Descriptors,
        Self::Addresses,
        Self::Proxies,
        Self::Certificates,
        Self::Dns,
        Self::Outbound,
        Self::Store,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Clock => "clock",
            Self::Disk => "disk",
            Self::Descriptors => "descriptors",
            Self::Addresses => "addresses",
            Self::Proxies => "proxies",
            Self::Certificates => "certificates",
            Self::Dns => "dns",
            Self::Outbound => "outbound",
            Self::Store => "store",
        }
    }

    pub fn title(self, lang: Lang) -> &'static str {
        let (es, en) = match self {
            Self::Configuration => ("Configuración", "Configuration"),
            Self::Clock => ("Reloj", "Clock"),
            Self::Disk => ("Disco", "Disk"),
            Self::Descriptors => ("Archivos abiertos", "Open files"),
            Self::Addresses => ("Direcciones", "Addresses"),
            Self::Proxies => ("Proxys", "Proxies"),
            Self::Certificates => ("Certificados", "Certificates"),
            Self::Dns => ("DNS", "DNS"),
            Self::Outbound => ("Conexiones salientes", "Outgoing connections"),
            Self::Store => ("Base de datos", "Store"),
        };
        match lang {
            Lang::Es => es,
            Lang::En => en,
        }
    }
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub check: Check,
    pub outcome: Outcome,
    /// What the words name: `{0}`, `{1}` and so on.
    pub values: Vec<String>,
}

impl Finding {
    pub(super) fn new<const N: usize>(check: Check, outcome: Outcome, values: [&str; N]) -> Self {
        Self { check, outcome, values: values.map(str::to_owned).into() }
    }

    pub fn verdict(&self) -> Verdict {
        self.outcome.words().verdict
    }

    /// For programs.
    pub fn code(&self) -> &'static str {
        self.outcome.words().code
    }

    pub fn sentence(&self, lang: Lang) -> String {
        let words = self.outcome.words();
        self.fill(match lang {
            Lang::Es => words.es,
            Lang::En => words.en,
        })
    }

    /// What to do about it; none where there is nothing to do.
    pub fn remedy(&self, lang: Lang) -> Option<String> {
        let words = self.outcome.words();
        let text = match lang {
            Lang::Es => words.remedy_es,
            Lang::En => words.remedy_en,
        };
        (!text.is_empty()).then(|| self.fill(text))
    }

    /// Values are put in once: one that contains `{1}` stays as it is.
    fn fill(&self, pattern: &str) -> String {
        let mut pieces = pattern.split('{');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (name, rest) = piece.split_once('}').unwrap_or((piece, ""));
            let value = name.parse().ok().and_then(|index: usize| self.values.get(index));
            text.push_str(value.map_or("", String::as_str));
            text.push_str(rest);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_once() {
        let finding = Finding::new(Check::Disk, Outcome::DiskUnknown, ["{1}", "{0}"]);
        assert_eq!(finding.sentence(Lang::En), "The disk of {1} cannot be examined: {0}.");
    }

    #[test]
    fn every_outcome_has_words_in_both_languages_with_the_same_values() {
        let names = |text: &str| {
            let mut names: Vec<String> = text
                .split('{')
                .skip(1)
                .filter_map(|rest| rest.split_once('}'))
                .map(|(name, _)| name.into())
                .collect();
            names.sort();
            names.dedup();
            names
        };
        let mut codes = Vec::new();
        for outcome in Outcome::ALL {
            let words = outcome.words();
            codes.push(words.code);
            assert!(words.es.ends_with('.') && words.en.ends_with('.'), "{}", words.code);
            assert_eq!(names(words.es), names(words.en), "{}", words.code);
            assert_eq!(words.remedy_es.is_empty(), words.remedy_en.is_empty(), "{}", words.code);
            let is_bad = matches!(words.verdict, Verdict::Warning | Verdict::Failure);
            assert!(!is_bad || !words.remedy_en.is_empty(), "{} says what to do", words.code);
        }
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count, "codes are unique");
    }
}
