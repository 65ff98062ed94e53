//! Merges the layers. The default file defines the keys and their types.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::suggest::did_you_mean;
use operator::operations::configuration::ConfigurationLayer;
use toml::de::{DeTable, DeValue};
use zeroize::Zeroizing;

use super::{ConfigFault, DEFAULT, Sources, parse_duration};

pub(super) const ENVIRONMENT: &str = "ALDABA__";
const FILE: &str = "_file";
const DEFAULT_FILE_NAME: &str = "aldaba.toml";
/// Keys whose values are paths.
const PATHS: [&str; 8] = [
    "backup.directory",
    "server.tls_certificates",
    "server.tls_key",
    "operator.tls_certificates",
    "operator.tls_key",
    "egress.ca_file",
    "mail.ca_file",
    "portal.logo",
];
const SECRET_FILE_BYTES_MAX: u64 = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Zeroed on drop, because it may be a secret.
    Text(Zeroizing<String>),
    Integer(i64),
    Flag(bool),
    List(Vec<String>),
}

/// A value, its layer and its location.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) value: Value,
    pub(super) layer: ConfigurationLayer,
    pub(super) origin: String,
}

pub(super) type Settings = BTreeMap<String, Setting>;
type Faults = Vec<ConfigFault>;

/// All settings, with the errors in names and types. An invalid setting keeps the value of the layer below.
pub(super) fn gather(sources: &Sources) -> Result<(Settings, Faults), Faults> {
    let (mut settings, mut faults) = match read_file(sources).map_err(|fault| vec![fault])? {
        Some((path, text)) => {
            let folder = Path::new(&path).parent().map(Path::to_path_buf).unwrap_or_default();
            gather_text(&text, &path, &folder)?
        }
        None => (defaults()?.into_iter().collect(), Vec::new()),
    };
    let current_folder = Path::new("");
    for (name, text) in &sources.environment {
        let Some(path) = name.strip_prefix(ENVIRONMENT) else {
            continue;
        };
        let key = path.to_lowercase().replace("__", ".");
        let layer = ConfigurationLayer::Environment;
        let setting = Setting { value: text_value(text), layer, origin: name.clone() };
        apply(&mut settings, &key, setting, current_folder, &mut faults);
    }
    for (key, text) in &sources.flags {
        let layer = ConfigurationLayer::CommandLine;
        let setting = Setting { value: text_value(text), layer, origin: "the command line".into() };
        apply(&mut settings, key, setting, current_folder, &mut faults);
    }
    Ok((settings, faults))
}

/// The defaults, with the settings of a file over them. Its paths are relative to `folder`.
pub(super) fn gather_text(text: &str, name: &str, folder: &Path) -> Result<(Settings, Faults), Faults> {
    let mut faults = Vec::new();
    let mut settings: Settings = defaults()?.into_iter().collect();
    for (key, setting) in read_toml(text, name)? {
        let setting = Setting { value: resolve_paths(&key, setting.value, folder), ..setting };
        apply(&mut settings, &key, setting, folder, &mut faults);
    }
    Ok((settings, faults))
}

/// The keys of the default file, in its order.
pub(super) fn defaults() -> Result<Vec<(String, Setting)>, Faults> {
    let defaults = read_toml(DEFAULT, "the defaults")?;
    let with_layer = |(key, setting)| (key, Setting { layer: ConfigurationLayer::Default, ..setting });
    Ok(defaults.into_iter().map(with_layer).collect())
}

fn text_value(text: &str) -> Value {
    Value::Text(Zeroizing::new(text.to_owned()))
}

/// The file that is read where none is named.
pub(super) fn default_file() -> Option<PathBuf> {
    Path::new(DEFAULT_FILE_NAME).exists().then(|| DEFAULT_FILE_NAME.into())
}

fn read_file(sources: &Sources) -> Result<Option<(String, Zeroizing<String>)>, ConfigFault> {
    let path = match &sources.file {
        Some(path) => path.clone(),
        None => match default_file() {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    let name = path.display().to_string();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((name, Zeroizing::new(text)))),
        Err(error) => Err(ConfigFault { origin: name, message: format!("cannot read the file: {error}") }),
    }
}

/// Paths in a file are relative to the folder of the file.
fn resolve_paths(key: &str, value: Value, folder: &Path) -> Value {
    let anchor = |path: &str| folder.join(path).display().to_string();
    match value {
        Value::Text(path) if PATHS.contains(&key) && !path.is_empty() => text_value(&anchor(&path)),
        Value::Text(url) if key == "store.url" => match url.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => text_value(&format!("sqlite:{}", anchor(path))),
            _ => Value::Text(url),
        },
        other => other,
    }
}

/// Applies one setting to the layers below.
fn apply(settings: &mut Settings, key: &str, setting: Setting, folder: &Path, faults: &mut Faults) {
    let origin = setting.origin.clone();
    let fault = |message: String| ConfigFault { origin, message };
    if let Some(known) = settings.get(key) {
        match convert(&setting.value, &known.value) {
            Some(value) => {
                settings.insert(key.to_owned(), Setting { value, ..setting });
            }
            None => faults.push(fault(format!("{key} must be {}", type_name(&known.value)))),
        }
        return;
    }
    let from_file = key
        .strip_suffix(FILE)
        .filter(|key| matches!(settings.get(*key), Some(Setting { value: Value::Text(_), .. })));
    let (Some(key), Value::Text(path)) = (from_file, &setting.value) else {
        let hint = did_you_mean(key, settings.keys().map(String::as_str));
        return faults.push(fault(format!("unknown key \"{key}\"{hint}")));
    };
    match read_secret(&folder.join(path.as_str())) {
        Ok(text) => {
            settings.insert(key.to_owned(), Setting { value: Value::Text(text), ..setting });
        }
        Err(why) => faults.push(fault(format!("{key}{FILE}: cannot read {}: {why}", path.as_str()))),
    }
}

fn read_secret(path: &Path) -> Result<Zeroizing<String>, String> {
    let size = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > SECRET_FILE_BYTES_MAX {
        return Err("the file is larger than 64 KiB".into());
    }
    let text = std::fs::read_to_string(path).map(Zeroizing::new).map_err(|error| error.to_string())?;
    Ok(Zeroizing::new(text.trim().to_owned()))
}

/// The value in the type of the default. Values of the environment and the command line are texts.
fn convert(value: &Value, like: &Value) -> Option<Value> {
    match (value, like) {
        (Value::Text(_), Value::Text(_))
        | (Value::Integer(_), Value::Integer(_))
        | (Value::Flag(_), Value::Flag(_))
        | (Value::List(_), Value::List(_)) => Some(value.clone()),
        (Value::Text(text), Value::Integer(_)) => text.trim().parse().ok().map(Value::Integer),
        (Value::Text(text), Value::Flag(_)) => text.trim().parse().ok().map(Value::Flag),
        (Value::Text(text), Value::List(_)) => Some(Value::List(
            text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect(),
        )),
        _ => None,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Text(text) if parse_duration(text).is_some() => "a duration in quotes, for example \"5m\"",
        Value::Text(_) => "a text",
        Value::Integer(_) => "a whole number",
        Value::Flag(_) => "true or false",
        Value::List(_) => "a list of strings",
    }
}

/// The keys of a file as `section.key` or `section.section.key`, each with its line.
fn read_toml(text: &str, name: &str) -> Result<Vec<(String, Setting)>, Faults> {
    let origin = |at: usize| format!("{name}:{}", text[..at.min(text.len())].matches('\n').count() + 1);
    let fault = |at: usize, message: String| vec![ConfigFault { origin: origin(at), message }];
    let table = DeTable::parse(text)
        .map_err(|error| fault(error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
    let mut found = Vec::new();
    let mut add = |path: String, at: usize, value: &DeValue<'_>| {
        let Some(value) = simple_value(value) else {
            return Err(fault(
                at,
                format!("{path} must be a string, a whole number, true or false, or a list of strings"),
            ));
        };
        found.push((path, Setting { value, layer: ConfigurationLayer::File, origin: origin(at) }));
        Ok(())
    };
    for (section, inner) in table.get_ref() {
        let at = section.span().start;
        let DeValue::Table(keys) = inner.get_ref() else {
            return Err(fault(
                at,
                format!("\"{}\" is outside a section such as [server]", section.get_ref()),
            ));
        };
        for (key, value) in keys {
            let at = key.span().start;
            let path = format!("{}.{}", section.get_ref(), key.get_ref());
            // A section within a section, such as [portal.approval].
            if let DeValue::Table(inner) = value.get_ref() {
                for (key, value) in inner {
                    let at = key.span().start;
                    add(format!("{path}.{}", key.get_ref()), at, value.get_ref())?;
                }
            } else {
                add(path, at, value.get_ref())?;
            }
        }
    }
    Ok(found)
}

fn simple_value(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::String(text) => Some(text_value(text)),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok().map(Value::Integer)
        }
        DeValue::Boolean(flag) => Some(Value::Flag(*flag)),
        DeValue::Array(items) => items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                _ => None,
            })
            .collect::<Option<_>>()
            .map(Value::List),
        _ => None,
    }
}
