//! Who runs the server: PostgreSQL refuses to be root, so root hands it to somebody with fewer rights.

use std::{
    env, fs,
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

/// A unix socket's path may have 107 bytes; the rest is for our folder's and the socket's own names.
const FOLDER_BYTES_MAX: usize = 60;

/// The user and group to become, or nobody else when we are no root.
#[derive(Debug)]
pub(super) struct Account {
    other: Option<(u32, u32)>,
}

impl Account {
    pub(super) fn for_a_server() -> Result<Self, String> {
        if !crate::machine::is_root() {
            return Ok(Self { other: None });
        }
        let users =
            fs::read_to_string("/etc/passwd").map_err(|error| format!("cannot read /etc/passwd: {error}"))?;
        let other = ["postgres", "nobody"].iter().find_map(|name| find(&users, name));
        let reason = "PostgreSQL does not run as root, and there is neither a user postgres nor nobody";
        other.map(|other| Self { other: Some(other) }).ok_or_else(|| reason.to_owned())
    }

    /// Lets a command run as this account; the standard library drops root's other groups with it.
    pub(super) fn enter(&self, command: &mut Command) {
        if let Some((user, group)) = self.other {
            command.uid(user).gid(group);
        }
    }

    pub(super) fn own(&self, folder: &Path) -> Result<(), String> {
        let Some((user, group)) = self.other else {
            return Ok(());
        };
        chown(folder, Some(user), Some(group))
            .map_err(|error| format!("cannot give {} to user {user}: {error}", folder.display()))
    }

    /// Where this account can keep a server: the usual place, unless it cannot walk there or the way is too
    /// long for a socket.
    pub(super) fn temporary_folder(&self) -> PathBuf {
        let usual = env::temp_dir();
        let reachable = self.other.is_none() || usual.ancestors().all(open_to_all);
        if reachable && usual.as_os_str().len() <= FOLDER_BYTES_MAX { usual } else { PathBuf::from("/tmp") }
    }
}

fn open_to_all(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|found| found.mode() & 0o001 != 0)
}

/// A user's number and group in the text of /etc/passwd.
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
    fn users_are_found_by_their_whole_name() {
        let users = "root:x:0:0:root:/:/bin/sh\nbroken\npostgres2:x:7:8::/:/bin/sh\npostgres:x:101:104:,,,:/:/bin/bash\n";
        assert_eq!(find(users, "postgres"), Some((101, 104)));
        assert_eq!(find(users, "nobody"), None);
    }

    #[test]
    fn another_account_needs_a_way_in() {
        assert!(open_to_all(Path::new("/tmp")));
        let private = crate::temp_dir::TempDir::new("private").unwrap();
        assert!(!open_to_all(private.path()));
    }
}
