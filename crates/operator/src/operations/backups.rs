//! Backups in the backup directory: their names, and the one that is being made.

use std::pin::Pin;

use bytes::Bytes;
use domain::Ticks;
use futures_util::Stream;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

const PREFIX: &str = "aldaba-";
const PLAIN: &str = ".ndjson";
const ENCRYPTED: &str = ".ndjson.age";
/// `20261115T083000Z`.
const STAMP_CHARS: usize = 16;
const NUMBER_MAX: u32 = 9999;

/// The name of a backup's file: `aldaba-20261115T083000Z.ndjson`, with a number where several are of one second. Nothing else
/// is a backup, so that no name leads out of the directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BackupName {
    stamp: String,
    number: u32,
    is_encrypted: bool,
}

impl BackupName {
    pub fn new(taken_at: Ticks, number: u32, is_encrypted: bool) -> Self {
        let stamp: String = taken_at.iso().chars().filter(|c| !matches!(c, '-' | ':')).take(15).collect();
        Self { stamp: stamp + "Z", number: number.clamp(1, NUMBER_MAX), is_encrypted }
    }

    pub fn parse(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(PREFIX)?;
        let (rest, is_encrypted) = match rest.strip_suffix(ENCRYPTED) {
            Some(rest) => (rest, true),
            None => (rest.strip_suffix(PLAIN)?, false),
        };
        let (stamp, number) = rest.split_once('-').unwrap_or((rest, "1"));
        let number = number.parse().ok().filter(|number| (1..=NUMBER_MAX).contains(number))?;
        let parsed = Self { stamp: stamp.to_owned(), number, is_encrypted };
        // One spelling for each: 02 or +2 is no number.
        (stamp.len() == STAMP_CHARS && parsed.taken_at().is_some() && parsed.to_string() == name)
            .then_some(parsed)
    }

    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// The time in the name.
    pub fn taken_at(&self) -> Option<Ticks> {
        let at = |from: usize, to: usize| self.stamp.get(from..to);
        let (date, time) = (at(0, 8)?, at(9, 15)?);
        if !(date.bytes().chain(time.bytes()).all(|byte| byte.is_ascii_digit())
            && at(8, 9)? == "T"
            && at(15, 16)? == "Z")
        {
            return None;
        }
        Ticks::parse_iso(&format!(
            "{}-{}-{}T{}:{}:{}Z",
            at(0, 4)?,
            at(4, 6)?,
            at(6, 8)?,
            at(9, 11)?,
            at(11, 13)?,
            at(13, 15)?
        ))
    }
}

impl std::fmt::Display for BackupName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{PREFIX}{}", self.stamp)?;
        if self.number > 1 {
            write!(f, "-{}", self.number)?;
        }
        f.write_str(if self.is_encrypted { ENCRYPTED } else { PLAIN })
    }
}

impl Serialize for BackupName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn iso<S: Serializer>(at: &Ticks, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.iso())
}

#[allow(clippy::ref_option, reason = "serde calls it with a reference to the field")]
fn optional_iso<S: Serializer>(at: &Option<Ticks>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Ticks::iso).serialize(serializer)
}

/// A backup in the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupFile {
    #[schema(value_type = String, examples("aldaba-20261115T083000Z.ndjson"))]
    pub name: BackupName,
    #[serde(serialize_with = "iso")]
    #[schema(value_type = String, format = DateTime)]
    pub taken_at: Ticks,
    pub bytes: u64,
    /// Whether it is encrypted (age).
    pub is_encrypted: bool,
}

/// What a backup that was started here is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum BackupPhase {
    Writing,
    Verifying,
    Done,
    Failed,
}

impl BackupPhase {
    pub fn is_running(self) -> bool {
        matches!(self, Self::Writing | Self::Verifying)
    }
}

/// The backup that this node is making, or the last one that it made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupRun {
    #[schema(value_type = String, examples("aldaba-20261115T083000Z.ndjson"))]
    pub name: BackupName,
    pub phase: BackupPhase,
    #[serde(serialize_with = "iso")]
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Ticks,
    /// Who started it, as the audit names them.
    #[schema(examples("operator"))]
    pub started_by: String,
    /// Null while it is running.
    #[serde(serialize_with = "optional_iso")]
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub ended_at: Option<Ticks>,
    /// What is written so far, before encryption.
    pub rows: u64,
    pub bytes: u64,
    /// The size of the backup before this one: about as much will be written.
    #[schema(required = true)]
    pub expected_bytes: Option<u64>,
    /// Why it failed.
    #[schema(required = true)]
    pub error: Option<String>,
}

impl BackupRun {
    /// How much is done, between 0 and 1; none if nothing says how much there is.
    #[allow(clippy::cast_precision_loss, reason = "a share for a progress bar")]
    pub fn share(&self) -> Option<f64> {
        let expected = self.expected_bytes.filter(|bytes| *bytes > 0)?;
        Some((self.bytes as f64 / expected as f64).min(0.99))
    }
}

/// The backups of the directory, the newest first, and what is going on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupList {
    /// Null: no directory is configured.
    #[schema(required = true, examples("/var/lib/aldaba/backups"))]
    pub directory: Option<String>,
    /// So many are kept.
    pub keep: usize,
    /// Whether new backups are encrypted.
    pub encrypts: bool,
    pub backups: Vec<BackupFile>,
    #[schema(required = true)]
    pub run: Option<BackupRun>,
}

/// The content of a backup, piece by piece.
pub struct BackupContent {
    pub name: BackupName,
    pub bytes: u64,
    pub pieces: Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>,
}

impl std::fmt::Debug for BackupContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BackupContent({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let at = Ticks::parse_iso("2026-11-15T08:30:59.75Z").unwrap();
        for (number, is_encrypted, text) in [
            (1, false, "aldaba-20261115T083059Z.ndjson"),
            (1, true, "aldaba-20261115T083059Z.ndjson.age"),
            (12, false, "aldaba-20261115T083059Z-12.ndjson"),
        ] {
            let name = BackupName::new(at, number, is_encrypted);
            assert_eq!(name.to_string(), text);
            assert_eq!(BackupName::parse(text), Some(name.clone()));
            assert_eq!(name.taken_at(), Ticks::parse_iso("2026-11-15T08:30:59Z"));
            assert_eq!(name.is_encrypted(), is_encrypted);
        }
    }

    #[test]
    fn nothing_else_is_a_name() {
        for text in [
            "",
            "aldaba.db",
            "aldaba-20261115T083059Z",
            "aldaba-20261115T083059Z.ndjson.partial",
            "aldaba-20261115T083059Z-1.ndjson",
            "aldaba-20261115T083059Z-02.ndjson",
            "aldaba-20261115T083059Z-+2.ndjson",
            "aldaba-20261115T083059Z-10000.ndjson",
            "aldaba-20261315T083059Z.ndjson",
            "aldaba-2026111ñT083059Z.ndjson",
            "aldaba-../../etc/passwd.ndjson",
            "../aldaba-20261115T083059Z.ndjson",
            "aldaba-20261115T083059Z.ndjson/",
            "aldaba-20261115T083059Z\0.ndjson",
            "Aldaba-20261115T083059Z.ndjson",
        ] {
            assert_eq!(BackupName::parse(text), None, "{text}");
        }
    }

    #[test]
    fn later_names_are_greater() {
        let names: Vec<_> = [
            "aldaba-20261115T083059Z.ndjson",
            "aldaba-20261115T083059Z-2.ndjson.age",
            "aldaba-20261115T083059Z-10.ndjson",
            "aldaba-20261116T000000Z.ndjson",
        ]
        .map(|text| BackupName::parse(text).unwrap())
        .into();
        assert!(names.is_sorted(), "{names:?}");
    }

    #[test]
    fn share_is_known_after_the_first_backup() {
        let name = BackupName::parse("aldaba-20261115T083059Z.ndjson").unwrap();
        let run = BackupRun {
            name,
            phase: BackupPhase::Writing,
            started_at: Ticks(0),
            started_by: "operator".into(),
            ended_at: None,
            rows: 5,
            bytes: 50,
            expected_bytes: Some(200),
            error: None,
        };
        assert_eq!(run.share(), Some(0.25));
        assert_eq!(BackupRun { bytes: 900, ..run.clone() }.share(), Some(0.99));
        assert_eq!(BackupRun { expected_bytes: None, ..run }.share(), None);
    }
}
