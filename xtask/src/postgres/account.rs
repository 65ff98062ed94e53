//! The account of the server: PostgreSQL refuses to run as root, so root starts it as another user.

use std::{
    env, fs,
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

/// A Unix socket's path may have 107 bytes; the names of the folder and the socket need the rest.
const FOLDER_BYTES_MAX: usize = 60;

/// The folder that Linux keeps in memory.
const MEMORY: &str = "/dev/shm";

/// So much must be free there: containers often have a few megabytes only.
const MEMORY_KIBIBYTES_MIN: u64 = 4 * 1024 * 1024;

/// The user and group of the server; none if this process does not run as root.
#[derive(Debug)]
pub(super) struct Account {
    other: Option<(u32, u32)>,
}

impl Account {
    pub(super) fn for_server() -> Result<Self, String> {
        if !crate::machine::is_root() {
            return Ok(Self { other: None });
        }
        let users =
            fs::read_to_string("/etc/passwd").map_err(|error| format!("cannot read /etc/passwd: {error}"))?;
        let other = ["postgres", "nobody"].iter().find_map(|name| find(&users, name));
        let reason = "PostgreSQL does not run as root, and there is neither a user postgres nor nobody";
        other.map(|other| Self { other: Some(other) }).ok_or_else(|| reason.to_owned())
    }

    /// Makes a command run as this account; the standard library also drops root's supplementary groups.
    pub(super) fn apply_to(&self, command: &mut Command) {
        if let Some((user, group)) = self.other {
            command.uid(user).gid(group);
        }
    }

    pub(super) fn give_ownership(&self, folder: &Path) -> Result<(), String> {
        let Some((user, group)) = self.other else {
            return Ok(());
        };
        chown(folder, Some(user), Some(group))
            .map_err(|error| format!("cannot give {} to user {user}: {error}", folder.display()))
    }

    /// Where this account can store its data: in memory if it need not be durable, because tests create and drop thousands of
    /// files, which ext4 is slow at; else the default temporary folder, or /tmp if that one is not accessible or its path is
    /// too long for a socket.
    pub(super) fn temporary_folder(&self, durable: bool) -> PathBuf {
        let memory = Path::new(MEMORY);
        if !durable && open_to_all(memory) && free_kibibytes(memory) >= MEMORY_KIBIBYTES_MIN {
            return memory.to_owned();
        }
        let default = env::temp_dir();
        let reachable = self.other.is_none() || default.ancestors().all(open_to_all);
        if reachable && default.as_os_str().len() <= FOLDER_BYTES_MAX {
            default
        } else {
            PathBuf::from("/tmp")
        }
    }
}

fn open_to_all(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|found| found.mode() & 0o001 != 0)
}

/// The free space of a folder's file system, according to `df`; zero where it says nothing.
fn free_kibibytes(folder: &Path) -> u64 {
    let output = Command::new("df").args(["-k", "--output=avail"]).arg(folder).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().nth(1).and_then(|line| line.trim().parse().ok()).unwrap_or_default()
}

/// A user's id and group id in the text of /etc/passwd.
fn find(users: &str, name: &str) -> Option<(u32, u32)> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let found = fields.next() == Some(name);
        let (user, group) = (fields.nth(1)?, fields.next()?);
        if found { Some((user.parse().ok()?, group.parse().ok()?)) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_their_exact_name() {
        let users = "root:x:0:0:root:/:/bin/sh\nbroken\npostgres2:x:7:8::/:/bin/sh\npostgres:x:101:104:,,,:/:/bin/bash\n";
        assert_eq!(find(users, "postgres"), Some((101, 104)));
        assert_eq!(find(users, "nobody"), None);
    }

    #[test]
    fn folder_must_be_open_to_other_accounts() {
        assert!(open_to_all(Path::new("/tmp")));
        let private = crate::temp_dir::TempDir::new("private").unwrap();
        assert!(!open_to_all(private.path()));
    }
}
