//! Finds PostgreSQL's server programs, and installs them on a Debian machine that has none.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    failure::Failure,
    machine::{self, is_root},
};

/// The environment variable with the folder of the programs; also set for the tests.
pub const PROGRAMS: &str = "ALDABA_TEST_POSTGRES_BIN";

/// Where Debian installs them, with one folder per version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The oldest version that Aldaba supports.
const VERSION_MIN: u32 = 15;

/// Debian's server package creates and starts a cluster unless this file forbids it.
const CREATE_CLUSTER: &str = "/etc/postgresql-common/createcluster.conf";

/// The folder of the newest programs on this machine; the error says how to get them.
pub fn find() -> Result<PathBuf, String> {
    match env::var_os(PROGRAMS).filter(|folder| !folder.is_empty()) {
        Some(folder) if has_server_programs(Path::new(&folder)) => Ok(folder.into()),
        Some(folder) => Err(format!("{PROGRAMS}: {} has no initdb, pg_ctl and postgres", folder.display())),
        None => newest(Path::new(DEBIAN)).ok_or_else(|| {
            format!(
                "PostgreSQL {VERSION_MIN} or newer is needed and {DEBIAN} has none. Install it (`apt-get install \
                 postgresql` as root), or set ALDABA_TEST_POSTGRES to the url of a server where databases may be \
                 created, or {PROGRAMS} to the folder of its server programs."
            )
        }),
    }
}

/// The same, after installing them if they are missing and this user may.
pub(super) fn find_or_install() -> Result<PathBuf, String> {
    let found = find();
    if found.is_ok() || env::var_os(PROGRAMS).is_some() || !is_root() {
        return found;
    }
    install().map_err(|failure| format!("PostgreSQL could not be installed: {}", failure.message))?;
    find()
}

fn install() -> Result<(), Failure> {
    disable_debian_cluster_creation();
    machine::install("postgresql")
}

/// Best effort: a cluster of Debian's would only use memory and a port.
fn disable_debian_cluster_creation() {
    let path = Path::new(CREATE_CLUSTER);
    if !path.exists() {
        let _ = path.parent().map_or(Ok(()), fs::create_dir_all);
        let _ = fs::write(path, "create_main_cluster = false\n");
    }
}

/// The programs of the newest supported version in `versions`.
fn newest(versions: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(versions).ok()?;
    let numbered = entries.flatten().filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        let programs = entry.path().join("bin");
        (version >= VERSION_MIN && has_server_programs(&programs)).then_some((version, programs))
    });
    numbered.max().map(|(_, programs)| programs)
}

/// The client package has a folder without the server's programs.
fn has_server_programs(folder: &Path) -> bool {
    ["initdb", "pg_ctl", "postgres"].iter().all(|name| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_dir::TempDir;

    fn create_programs(versions: &Path, version: &str, programs: &[&str]) {
        let folder = versions.join(version).join("bin");
        fs::create_dir_all(&folder).unwrap();
        for program in programs {
            fs::write(folder.join(program), "").unwrap();
        }
    }

    #[test]
    fn newest_server_is_chosen() {
        let machine = TempDir::new("programs").unwrap();
        let server_programs = ["initdb", "pg_ctl", "postgres", "psql"];
        assert_eq!(newest(machine.path()), None);
        create_programs(machine.path(), "9", &server_programs);
        create_programs(machine.path(), "13", &server_programs);
        create_programs(machine.path(), "18", &["psql"]);
        assert_eq!(newest(machine.path()), None, "too old, or a client only");
        create_programs(machine.path(), "15", &server_programs);
        create_programs(machine.path(), "17", &server_programs);
        assert_eq!(newest(machine.path()), Some(machine.path().join("17/bin")));
    }
}
