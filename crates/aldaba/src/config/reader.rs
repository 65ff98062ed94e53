//! Reads values one by one and remembers everything that is wrong.

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
    pub(super) fn of(settings: &'a Settings) -> Self {
        Self { settings, faults: Vec::new() }
    }

    pub(super) fn wrong(&mut self, key: &str, message: &str) {
        let origin =
            self.settings.get(key).map_or("the defaults", |setting| setting.origin.as_str()).to_owned();
        self.faults.push(ConfigFault { origin, message: format!("{key} {message}") });
    }

    fn text(&self, key: &str) -> String {
        match self.settings.get(key).map(|setting| &setting.value) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        }
    }

    /// A text that means nothing when it is empty.
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
            self.wrong(key, must);
            fallback
        })
    }

    pub(super) fn address(&mut self, key: &str) -> SocketAddr {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        self.parsed(key, any, |text| text.parse().ok(), "must be an address and a port, as in 127.0.0.1:8080")
    }

    /// A duration that is right if `fits`; otherwise it `must` be something else.
    fn checked_duration(&mut self, key: &str, fits: impl Fn(Duration) -> bool, must: &str) -> Duration {
        let text = self.text(key);
        match parse_duration(&text) {
            Some(span) if fits(span) => return span,
            Some(_) => self.wrong(key, &format!("must be {must}, not {text}")),
            None => self.wrong(key, &format!("must be {must}: {DURATION}, not {text:?}")),
        }
        Duration::ZERO
    }

    pub(super) fn duration(&mut self, key: &str) -> Duration {
        self.checked_duration(key, |span| !span.is_zero(), "a duration above zero")
    }

    /// A duration between two bounds.
    pub(super) fn span(&mut self, key: &str, from: &str, to: &str) -> Duration {
        self.checked_duration(key, |span| is_within(span, from, to), &format!("from {from} to {to}"))
    }

    /// A duration between two bounds, or zero for never.
    pub(super) fn span_or_never(&mut self, key: &str, from: &str, to: &str) -> Duration {
        let must = format!("from {from} to {to}, or 0s for never");
        self.checked_duration(key, |span| span.is_zero() || is_within(span, from, to), &must)
    }

    pub(super) fn durations(&mut self, key: &str) -> Vec<Duration> {
        let spans: Option<Vec<_>> = self.list(key).iter().map(|text| parse_duration(text)).collect();
        match spans {
            Some(spans) if !spans.is_empty() => spans,
            _ => {
                self.wrong(key, "must be a list of durations, as in 5s, 30s, 2m");
                Vec::new()
            }
        }
    }

    fn list(&self, key: &str) -> Vec<String> {
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
            self.wrong(key, &format!("must be from {from} to {to}"));
        }
        T::try_from(number).unwrap_or_default()
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        matches!(self.settings.get(key).map(|setting| &setting.value), Some(Value::Flag(true)))
    }

    /// Address ranges; an address alone is a range of one.
    pub(super) fn networks(&mut self, key: &str) -> Vec<IpNet> {
        let mut networks = Vec::new();
        for text in self.list(key) {
            let one = || text.parse::<IpAddr>().map(IpNet::from);
            if let Ok(network) = text.parse::<IpNet>().or_else(|_| one()) {
                networks.push(network);
            } else {
                let why = "which is neither an address nor an address range as in 10.0.0.0/8";
                self.wrong(key, &format!("has {text:?}, {why}"));
            }
        }
        networks
    }

    /// Address ranges whose word is taken for who is calling.
    pub(super) fn proxies(&mut self, key: &str) -> Vec<IpNet> {
        let networks = self.networks(key);
        for all in networks.iter().filter(|network| network.prefix_len() == 0) {
            let why = "which would let anybody choose its address; name the proxies alone";
            self.wrong(key, &format!("has \"{all}\", {why}"));
        }
        networks
    }

    /// An address without a slash at its end, so that paths can be put behind it.
    pub(super) fn url(&mut self, key: &str) -> String {
        let Some(text) = self.optional(key) else {
            return String::new();
        };
        if let Some(why) = address::format_error(&text) {
            self.wrong(key, why);
        }
        text.trim_end_matches('/').to_owned()
    }
}

fn is_within(span: Duration, from: &str, to: &str) -> bool {
    parse_duration(from).is_some_and(|from| span >= from) && parse_duration(to).is_some_and(|to| span <= to)
}
