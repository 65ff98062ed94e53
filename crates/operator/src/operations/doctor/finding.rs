//! A finding: the outcome of one check, with its message.

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
    /// The values of the message: `{0}`, `{1}` and so on.
    pub values: Vec<String>,
}

impl Finding {
    pub(super) fn new<const N: usize>(check: Check, outcome: Outcome, values: [&str; N]) -> Self {
        Self { check, outcome, values: values.map(str::to_owned).into() }
    }

    pub fn verdict(&self) -> Verdict {
        self.outcome.text().verdict
    }

    /// For programs.
    pub fn code(&self) -> &'static str {
        self.outcome.text().code
    }

    pub fn sentence(&self, lang: Lang) -> String {
        let text = self.outcome.text();
        self.fill(match lang {
            Lang::Es => text.es,
            Lang::En => text.en,
        })
    }

    /// What to do about it; none where there is nothing to do.
    pub fn remedy(&self, lang: Lang) -> Option<String> {
        let text = self.outcome.text();
        let remedy = match lang {
            Lang::Es => text.remedy_es,
            Lang::En => text.remedy_en,
        };
        (!remedy.is_empty()).then(|| self.fill(remedy))
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
    fn every_outcome_has_text_in_both_languages_with_the_same_values() {
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
            let text = outcome.text();
            codes.push(text.code);
            assert!(text.es.ends_with('.') && text.en.ends_with('.'), "{}", text.code);
            assert_eq!(names(text.es), names(text.en), "{}", text.code);
            assert_eq!(text.remedy_es.is_empty(), text.remedy_en.is_empty(), "{}", text.code);
            let is_bad = matches!(text.verdict, Verdict::Warning | Verdict::Failure);
            assert!(!is_bad || !text.remedy_en.is_empty(), "{} says what to do", text.code);
        }
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count, "codes are unique");
    }
}
