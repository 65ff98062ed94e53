//! Reads typed values from the settings and collects all errors.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ipnet::IpNet;

use super::layers::{Settings, Value};
use super::{ConfigFault, DURATION, address, parse_duration};

pub(super) struct SettingsReader<'a> {
    settings: &'a Settings,
    pub(super) faults: Vec<ConfigFault>,
}

impl<'a> SettingsReader<'a> {
    pub(super) fn new(settings: &'a Settings) -> Self {
        Self { settings, faults: Vec::new() }
    }

    pub(super) fn add_fault(&mut self, key: &str, message: &str) {
        let origin =
            self.settings.get(key).map_or("the defaults", |setting| setting.origin.as_str()).to_owned();
        self.faults.push(ConfigFault { origin, message: format!("{key} {message}") });
    }

    fn text(&self, key: &str) -> String {
        match self.settings.get(key).map(|setting| &setting.value) {
            Some(Value::Text(text)) => text.as_str().to_owned(),
            _ => String::new(),
        }
    }

    /// A text, or none if it is empty.
    pub(super) fn optional(&self, key: &str) -> Option<String> {
        Some(self.text(key)).filter(|text| !text.is_empty())
    }

    pub(super) fn parsed<T>(
        &mut self,
        key: &str,
        fallback: T,
        parse: impl Fn(&str) -> Option<T>,
        must: &str,
    ) -> T {
        parse(&self.text(key)).unwrap_or_else(|| {
            self.add_fault(key, must);
            fallback
        })
    }

    pub(super) fn address(&mut self, key: &str) -> SocketAddr {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        self.parsed(
            key,
            any,
            |text| text.parse().ok(),
            "must be an IP address and a port, for example 127.0.0.1:8080",
        )
    }

    /// A duration that satisfies `is_valid`; `must` describes the valid values.
    fn checked_duration(&mut self, key: &str, is_valid: impl Fn(Duration) -> bool, must: &str) -> Duration {
        let text = self.text(key);
        match parse_duration(&text) {
            Some(duration) if is_valid(duration) => return duration,
            Some(_) => self.add_fault(key, &format!("must be {must}, not {text}")),
            None => self.add_fault(key, &format!("must be {must} ({DURATION}), not {text:?}")),
        }
        Duration::ZERO
    }

    pub(super) fn duration(&mut self, key: &str) -> Duration {
        self.checked_duration(key, |span| !span.is_zero(), "a duration greater than zero")
    }

    /// A duration from `from` to `to`.
    pub(super) fn span(&mut self, key: &str, from: &str, to: &str) -> Duration {
        self.checked_duration(key, |span| is_within(span, from, to), &format!("from {from} to {to}"))
    }

    /// A duration from `from` to `to`, or zero for never.
    pub(super) fn span_or_never(&mut self, key: &str, from: &str, to: &str) -> Duration {
        let must = format!("from {from} to {to}, or 0s for never");
        self.checked_duration(key, |span| span.is_zero() || is_within(span, from, to), &must)
    }

    pub(super) fn durations(&mut self, key: &str) -> Vec<Duration> {
        let spans: Option<Vec<_>> = self.list(key).iter().map(|text| parse_duration(text)).collect();
        match spans {
            Some(spans) if !spans.is_empty() => spans,
            _ => {
                self.add_fault(key, "must be a list of durations, for example [\"5s\", \"30s\", \"2m\"] (in the environment: 5s,30s,2m)");
                Vec::new()
            }
        }
    }

    pub(super) fn list(&self, key: &str) -> Vec<String> {
        match self.settings.get(key).map(|setting| &setting.value) {
            Some(Value::List(items)) => items.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn number<T: TryFrom<i64> + Default>(&mut self, key: &str, from: i64, to: i64) -> T {
        let number = match self.settings.get(key).map(|setting| &setting.value) {
            Some(Value::Integer(number)) => *number,
            _ => 0,
        };
        if !(from..=to).contains(&number) {
            self.add_fault(key, &format!("must be from {from} to {to}"));
        }
        T::try_from(number).unwrap_or_default()
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        matches!(self.settings.get(key).map(|setting| &setting.value), Some(Value::Flag(true)))
    }

    /// Address ranges. A single address is a range of one.
    pub(super) fn networks(&mut self, key: &str) -> Vec<IpNet> {
        let mut networks = Vec::new();
        for text in self.list(key) {
            let single = || text.parse::<IpAddr>().map(IpNet::from);
            if let Ok(network) = text.parse::<IpNet>().or_else(|_| single()) {
                networks.push(network);
            } else {
                let why = "is neither an IP address nor an address range such as 10.0.0.0/8";
                self.add_fault(key, &format!("contains {text:?}, which {why}"));
            }
        }
        networks
    }

    /// Address ranges of proxies whose X-Forwarded-For is trusted.
    pub(super) fn proxies(&mut self, key: &str) -> Vec<IpNet> {
        let networks = self.networks(key);
        for all in networks.iter().filter(|network| network.prefix_len() == 0) {
            let why = "lets every client forge its address; list only your proxies";
            self.add_fault(key, &format!("contains \"{all}\", which {why}"));
        }
        networks
    }

    /// A URL without a trailing slash, so that paths can be appended.
    pub(super) fn url(&mut self, key: &str) -> String {
        self.checked_url(key, address::format_error)
    }

    /// The same, with a path where a proxy serves the listener under one.
    pub(super) fn prefixed_url(&mut self, key: &str) -> String {
        self.checked_url(key, address::prefixed_format_error)
    }

    fn checked_url(&mut self, key: &str, error: impl Fn(&str) -> Option<&'static str>) -> String {
        let Some(text) = self.optional(key) else {
            return String::new();
        };
        if let Some(why) = error(&text) {
            self.add_fault(key, why);
        }
        text.trim_end_matches('/').to_owned()
    }
}

fn is_within(span: Duration, from: &str, to: &str) -> bool {
    parse_duration(from).is_some_and(|from| span >= from) && parse_duration(to).is_some_and(|to| span <= to)
}
