//! What the doctor wants to know of a store's settings. It is read over a connection of its own, and changes nothing.

use domain::Ticks;

/// The settings of a PostgreSQL server that matter here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "settings of the server, each on or off")]
pub struct PostgresDiagnosis {
    /// The time by the server's clock.
    pub now: Ticks,
    /// `server_version_num`, as in 150004.
    pub version: u32,
    pub is_fsync_on: bool,
    pub are_full_pages_written: bool,
    pub synchronous_commit: String,
    pub connections_max: u32,
    /// For superusers and other roles.
    pub connections_reserved: u32,
    /// None: the server does not tell.
    pub connections_used: Option<u32>,
    pub wal_level: String,
    pub is_archiving: bool,
    /// The last attempt to archive failed; false where the server does not tell.
    pub is_archiving_failing: bool,
}

/// The settings of an SQLite file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteDiagnosis {
    pub journal_mode: String,
    /// 2 is FULL, 3 EXTRA.
    pub synchronous: i64,
    pub bytes: u64,
    /// What a quick check says: nothing wrong, or the first fault. None: the file is too large for it.
    pub integrity: Option<Result<(), String>>,
}
