//! Names that survive a power cut: the sync of a file covers its contents, and only the sync of its folder covers its name.

use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match File::open(folder)?.sync_all() {
        // Some file systems, such as shares of a network, cannot sync a folder.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Makes the name of a file or folder durable.
pub(crate) fn sync_name(path: &Path) -> Result<()> {
    path.parent().map_or(Ok(()), sync_folder)
}

/// Creates a folder and those above it that are missing.
pub(crate) fn create_folder(folder: &Path, mode: u32) -> Result<()> {
    let missing = missing_folders(folder);
    DirBuilder::new().recursive(true).mode(mode).create(folder)?;
    missing.into_iter().try_for_each(sync_name)
}

/// The folder and those above it, as far as they do not exist.
fn missing_folders(folder: &Path) -> Vec<&Path> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    folder.ancestors().take_while(is_missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_do_not_exist_are_created_and_named_durably() {
        let root = tempfile::tempdir().unwrap();
        let (new, above) = (root.path().join("a/b"), root.path().join("a"));
        assert_eq!(missing_folders(&new), [&*new, &*above]);
        create_folder(&new, 0o700).unwrap();
        assert!(new.is_dir() && missing_folders(&new).is_empty());
        create_folder(&new, 0o700).unwrap();
        assert_eq!(missing_folders(Path::new("no such folder")), [Path::new("no such folder")]);
        sync_name(Path::new("relative")).unwrap();
    }
}
