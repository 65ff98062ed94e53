//! Where PostgreSQL's server programs are, and how they come onto a Debian machine that has none.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    failure::Failure,
    machine::{self, is_root},
};

/// The variable that names the folder of the programs: read here, and handed to the tests.
pub const PROGRAMS: &str = "ALDABA_TEST_POSTGRES_BIN";

/// Where Debian keeps them, in a folder for each version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The oldest version that Aldaba supports.
const VERSION_MIN: u32 = 15;

/// Debian makes and starts a cluster with each server package unless this file says no.
const CREATE_CLUSTER: &str = "/etc/postgresql-common/createcluster.conf";

/// The folder of the newest programs on this machine, or what to do about there being none.
pub fn find() -> Result<PathBuf, String> {
    match env::var_os(PROGRAMS).filter(|folder| !folder.is_empty()) {
        Some(folder) if complete(Path::new(&folder)) => Ok(folder.into()),
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

/// The same, after bringing them here if we may.
pub(super) fn find_or_install() -> Result<PathBuf, String> {
    let found = find();
    if found.is_ok() || env::var_os(PROGRAMS).is_some() || !is_root() {
        return found;
    }
    install().map_err(|failure| format!("PostgreSQL could not be installed: {}", failure.message))?;
    find()
}

fn install() -> Result<(), Failure> {
    keep_debian_from_making_a_cluster();
    machine::install("postgresql")
}

/// A server of Debian's own would do no harm but take memory and a port, so it is no failure if this fails.
fn keep_debian_from_making_a_cluster() {
    let path = Path::new(CREATE_CLUSTER);
    if !path.exists() {
        let _ = path.parent().map_or(Ok(()), fs::create_dir_all);
        let _ = fs::write(path, "create_main_cluster = false\n");
    }
}

/// The programs of the newest supported version below `versions`.
fn newest(versions: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(versions).ok()?;
    let numbered = entries.flatten().filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        let programs = entry.path().join("bin");
        (version >= VERSION_MIN && complete(&programs)).then_some((version, programs))
    });
    numbered.max().map(|(_, programs)| programs)
}

/// A client's package leaves a folder without the server's programs.
fn complete(folder: &Path) -> bool {
    ["initdb", "pg_ctl", "postgres"].iter().all(|name| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_dir::TempDir;

    fn install_here(versions: &Path, version: &str, programs: &[&str]) {
        let folder = versions.join(version).join("bin");
        fs::create_dir_all(&folder).unwrap();
        for program in programs {
            fs::write(folder.join(program), "").unwrap();
        }
    }

    #[test]
    fn the_newest_server_is_taken() {
        let machine = TempDir::new("programs").unwrap();
        let whole = ["initdb", "pg_ctl", "postgres", "psql"];
        assert_eq!(newest(machine.path()), None);
        install_here(machine.path(), "9", &whole);
        install_here(machine.path(), "13", &whole);
        install_here(machine.path(), "18", &["psql"]);
        assert_eq!(newest(machine.path()), None, "too old, or a client only");
        install_here(machine.path(), "15", &whole);
        install_here(machine.path(), "17", &whole);
        assert_eq!(newest(machine.path()), Some(machine.path().join("17/bin")));
    }
}
