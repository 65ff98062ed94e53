//! The configuration for people: every key with its value, default, source and explanation, and without secrets.

use std::collections::HashMap;

use operator::operations::configuration::{ConfigurationKey, ConfigurationLayer, ConfigurationSource};
use serde_json::Value as Json;

use super::layers::{Setting, Settings, Value, defaults};
use super::{DEFAULT, StoreUrl};

/// Keys whose values are never shown.
const SECRETS: [&str; 3] = ["operator.token", "store.master_key", "mail.password"];

/// In the order of the default file.
pub(super) fn keys(settings: &Settings) -> Vec<ConfigurationKey> {
    let explanations = explanations(DEFAULT);
    let defaults = defaults().unwrap_or_default();
    let mut keys: Vec<ConfigurationKey> = defaults
        .iter()
        .filter_map(|(key, default)| {
            let explanation = explanations.get(key).map(|(_, text)| text.clone()).unwrap_or_default();
            Some(describe(key, settings.get(key)?, &default.value, explanation))
        })
        .collect();
    keys.sort_by_key(|key| explanations.get(&key.key).map_or(usize::MAX, |(line, _)| *line));
    keys
}

fn describe(key: &str, setting: &Setting, default: &Value, explanation: String) -> ConfigurationKey {
    let is_secret = SECRETS.contains(&key);
    let name = (!matches!(setting.layer, ConfigurationLayer::Default | ConfigurationLayer::CommandLine))
        .then(|| setting.origin.clone());
    ConfigurationKey {
        key: key.to_owned(),
        value: (!is_secret).then(|| shown(key, &setting.value)),
        default: shown(key, default),
        is_secret,
        is_set: !is_empty(&setting.value),
        is_changed: setting.value != *default,
        source: ConfigurationSource { layer: setting.layer, name },
        explanation,
    }
}

/// The value without what is secret within it.
fn shown(key: &str, value: &Value) -> Json {
    match value {
        Value::Text(text) if key == "store.url" => {
            StoreUrl::parse(text).map_or_else(String::new, |url| url.without_secrets()).into()
        }
        Value::Text(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(items) => items.clone().into(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Integer(_) | Value::Flag(_) => false,
    }
}

/// The comment above each key, and its line. A comment is for all keys that follow it without an empty line or another one.
fn explanations(file: &str) -> HashMap<String, (usize, String)> {
    let (mut section, mut comment, mut is_open) = (String::new(), String::new(), false);
    let mut found = HashMap::new();
    for (number, line) in file.lines().enumerate() {
        if let Some(text) = line.strip_prefix('#') {
            if !is_open {
                comment.clear();
            }
            is_open = true;
            if !comment.is_empty() {
                comment.push(' ');
            }
            comment.push_str(text.trim());
            continue;
        }
        is_open = false;
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut section);
            comment.clear();
        } else if let Some((key, _)) = line.split_once(" = ") {
            found.insert(format!("{section}.{key}"), (number, comment.clone()));
        } else {
            comment.clear();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Sources, load};
    use super::*;

    fn loaded(sources: &Sources) -> Config {
        load(sources).unwrap()
    }

    fn key<'a>(config: &'a Config, name: &str) -> &'a ConfigurationKey {
        config.keys.iter().find(|one| one.key == name).unwrap()
    }

    #[test]
    fn every_key_is_explained_and_in_the_order_of_the_file() {
        let config = loaded(&Sources::default());
        assert_eq!(config.keys.len(), defaults().unwrap().len());
        assert_eq!(config.keys[0].key, "server.listen");
        for key in &config.keys {
            assert!(!key.explanation.is_empty(), "{}", key.key);
            assert!(!key.is_changed, "{}", key.key);
            assert_eq!(key.source, ConfigurationSource { layer: ConfigurationLayer::Default, name: None });
        }
        assert!(key(&config, "server.auth_url").explanation.starts_with("The public URLs of the APIs"));
        assert!(key(&config, "portal.approval.payroll").explanation.starts_with("Who approves"));
    }

    #[test]
    fn values_name_their_source() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("aldaba.toml");
        std::fs::write(&file, "[server]\nlisten = \"127.0.0.1:1\"\n[gateway]\nrate_per_minute = 300\n")
            .unwrap();
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let config = loaded(&Sources {
            file: Some(file.clone()),
            environment: vec![pair("ALDABA__DELIVERY__TIMEOUT", "7s")],
            flags: vec![pair("logging.level", "debug")],
        });
        let source = |name: &str| {
            let key = key(&config, name);
            (key.source.layer, key.source.name.clone(), key.is_changed, key.value_text())
        };
        let at = |line| Some(format!("{}:{line}", file.display()));
        assert_eq!(source("server.listen"), (ConfigurationLayer::File, at(2), true, "127.0.0.1:1".into()));
        let same = source("gateway.rate_per_minute");
        assert_eq!(same, (ConfigurationLayer::File, at(4), false, "300".into()), "the default, written down");
        let environment = (ConfigurationLayer::Environment, Some("ALDABA__DELIVERY__TIMEOUT".into()));
        assert_eq!(source("delivery.timeout"), (environment.0, environment.1, true, "7s".into()));
        assert_eq!(source("logging.level"), (ConfigurationLayer::CommandLine, None, true, "debug".into()));
    }

    #[test]
    fn secrets_are_not_in_it() {
        let flags = [
            ("operator.token", "hush-token"),
            ("store.master_key", "hush-key"),
            ("mail.username", "me"),
            ("mail.password", "hush-password"),
            ("store.url", "postgres://me:hush-url@db.example/aldaba?sslmode=require&password=hush-param"),
        ];
        let flags = flags.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let config = loaded(&Sources { flags, ..Sources::default() });
        let all = format!("{:?} {}", config.keys, serde_json::to_string(&config.keys).unwrap());
        assert!(!all.contains("hush"), "{all}");
        for name in SECRETS {
            let key = key(&config, name);
            assert!(key.is_secret && key.is_set && key.is_changed && key.value.is_none(), "{name}");
        }
        let url = key(&config, "store.url");
        assert_eq!(url.value_text(), "postgres://…@db.example/aldaba?sslmode=require");
    }

    #[test]
    fn urls_that_cannot_be_taken_apart_are_hidden() {
        let shown = |url: &str| StoreUrl::parse(url).unwrap().without_secrets();
        assert_eq!(shown("postgres://h/d?password=a@b"), "postgres://…");
        assert_eq!(shown("postgres://u:p?x@h/d"), "postgres://…");
        assert_eq!(shown("postgres://u:p@h1,h2/d"), "postgres://…@h1,h2/d");
        assert_eq!(shown("sqlite:/a/b.db"), "sqlite:/a/b.db");
    }

    /// A new secret must be added to `SECRETS`.
    #[test]
    fn keys_with_names_of_secrets_are_secrets() {
        let not_secret =
            ["tls_key", "key_period", "access_token_ttl", "refresh_token_ttl", "idempotency_keys"];
        for key in &loaded(&Sources::default()).keys {
            let name = key.key.rsplit('.').next().unwrap();
            let sounds_secret = ["token", "key", "password", "secret"].iter().any(|word| name.contains(word));
            assert_eq!(key.is_secret, sounds_secret && !not_secret.contains(&name), "{}", key.key);
        }
    }
}
