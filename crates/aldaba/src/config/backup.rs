//! The settings of backups.

use std::path::{Path, PathBuf};

use serde::Serialize;
use store::archive::encryption::Recipient;

use super::reader::SettingsReader;
use super::{Config, StoreUrl};

const FOLDER: &str = "backups";

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Backup {
    pub(crate) directory: Option<PathBuf>,
    pub(crate) keep: usize,
    #[serde(serialize_with = "texts")]
    pub(crate) recipients: Vec<Recipient>,
}

fn texts<S: serde::Serializer>(recipients: &[Recipient], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(recipients.iter().map(ToString::to_string))
}

pub(super) fn backup(reader: &mut SettingsReader<'_>) -> Backup {
    let key = "backup.recipients";
    let mut recipients = Vec::new();
    for text in reader.list(key) {
        match Recipient::parse(&text) {
            Ok(recipient) => recipients.push(recipient),
            Err(why) => reader.add_fault(key, &format!("contains {text:?}: {why}")),
        }
    }
    Backup {
        directory: reader.optional("backup.directory").map(PathBuf::from),
        keep: reader.number("backup.keep", 1, 1000),
        recipients,
    }
}

impl Config {
    /// Where backups are; none with PostgreSQL unless it is configured.
    pub(crate) fn backup_directory(&self) -> Option<PathBuf> {
        let beside = |file: &Path| file.parent().map(|folder| folder.join(FOLDER));
        self.backup.directory.clone().or_else(|| match &self.store.url {
            StoreUrl::Sqlite(file) => beside(file),
            StoreUrl::Postgres(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Sources, load};
    use super::*;

    fn loaded(settings: &[(&str, &str)]) -> Result<Config, Vec<String>> {
        let flags = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let faults = load(&Sources { flags, ..Sources::default() });
        faults.map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn backups_lie_beside_the_file_unless_configured() {
        let directory = |settings: &[(&str, &str)]| loaded(settings).unwrap().backup_directory();
        let (sqlite, postgres) = (("store.url", "sqlite:/data/a.db"), ("store.url", "postgres://h/d"));
        assert_eq!(directory(&[sqlite]), Some("/data/backups".into()));
        assert_eq!(directory(&[postgres]), None);
        for store in [sqlite, postgres] {
            assert_eq!(directory(&[store, ("backup.directory", "/b")]), Some("/b".into()));
        }
    }

    #[test]
    fn recipients_are_public_keys() {
        let faults = loaded(&[("backup.recipients", "age1x")]).unwrap_err();
        assert!(
            faults.len() == 1 && faults[0].contains("backup.recipients contains \"age1x\""),
            "{faults:?}"
        );
        assert!(loaded(&[("backup.keep", "0")]).is_err());
    }
}
