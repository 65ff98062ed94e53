//! The configuration as it is in use: each key with its value, its default and where it came from.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A key of the configuration. The value of a secret is not here at all.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigurationKey {
    #[schema(examples("server.listen"))]
    pub key: String,
    /// Null for secrets.
    #[schema(value_type = Value, required = true)]
    pub value: Option<Value>,
    #[schema(value_type = Value, required = true)]
    pub default: Value,
    pub is_secret: bool,
    /// Whether it has a value that is not empty.
    pub is_set: bool,
    /// Whether the value is another than the default.
    pub is_changed: bool,
    pub source: ConfigurationSource,
    /// What the key is for, in English.
    pub explanation: String,
}

/// The layer that a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigurationSource {
    pub layer: ConfigurationLayer,
    /// The file with the line, or the environment variable; null otherwise.
    #[schema(required = true, examples("/etc/aldaba/aldaba.toml:12"))]
    pub name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ConfigurationLayer {
    Default,
    File,
    Environment,
    CommandLine,
}

impl ConfigurationLayer {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::CommandLine => "commandLine",
        }
    }
}

impl ConfigurationKey {
    /// The value as people read it; empty for secrets.
    pub fn value_text(&self) -> String {
        self.value.as_ref().map(text).unwrap_or_default()
    }

    pub fn default_text(&self) -> String {
        text(&self.default)
    }

    /// Whether the key, its value or its explanation contains the text; capitals do not matter.
    pub fn contains(&self, text: &str) -> bool {
        let wanted = text.to_lowercase();
        let texts = [self.key.clone(), self.value_text(), self.explanation.clone()];
        texts.iter().any(|text| text.to_lowercase().contains(&wanted))
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_text_for_people_and_searched() {
        let key = ConfigurationKey {
            key: "delivery.schedule".into(),
            value: Some(json!(["5s", "30s"])),
            default: json!(["5s"]),
            is_secret: false,
            is_set: true,
            is_changed: true,
            source: ConfigurationSource { layer: ConfigurationLayer::Default, name: None },
            explanation: "Pauses between attempts.".into(),
        };
        assert_eq!((key.value_text(), key.default_text()), ("5s, 30s".into(), "5s".into()));
        for found in ["SCHEDULE", "30s", "pauses"] {
            assert!(key.contains(found), "{found}");
        }
        assert!(!key.contains("timeout"));
        assert_eq!(ConfigurationKey { value: None, ..key }.value_text(), "");
    }
}
