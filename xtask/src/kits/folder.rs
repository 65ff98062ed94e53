//! Copies of folders, for tools that write beside the sources they read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::clients::with_path;

/// Makes `to` a copy of `from`. Entries of `to` itself that are named in `kept` stay; those of `from` are left out. A file that has
/// not changed is not written, so that tools which compare times do not build it again.
pub(super) fn mirror(from: &Path, to: &Path, kept: &[&str]) -> Result<(), String> {
    let is_kept = |path: &PathBuf| path.file_name().is_some_and(|name| kept.iter().any(|one| name == *one));
    fs::create_dir_all(to).map_err(with_path(to))?;
    for old in entries(to)?.into_iter().filter(|old| !is_kept(old)) {
        let source = from.join(old.file_name().unwrap_or_default());
        if source.is_dir() != old.is_dir() || !source.exists() {
            remove(&old).map_err(with_path(&old))?;
        }
    }
    for source in entries(from)?.into_iter().filter(|source| !is_kept(source)) {
        let copy = to.join(source.file_name().unwrap_or_default());
        if source.is_dir() {
            mirror(&source, &copy, &[])?;
        } else if fs::read(&source).ok() != fs::read(&copy).ok() {
            fs::copy(&source, &copy).map_err(with_path(&source))?;
        }
    }
    Ok(())
}

/// The entries of a folder in the order of their names.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = fs::read_dir(folder).map_err(with_path(folder))?;
    let mut paths = read.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>();
    if let Ok(paths) = &mut paths {
        paths.sort();
    }
    paths.map_err(with_path(folder))
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_dir::TempDir;

    #[test]
    fn mirror_adds_changes_and_removes_but_keeps_caches() {
        let folder = TempDir::new("mirror").unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for (path, text) in [
            ("from/a", "new"),
            ("from/src/b", "b"),
            ("from/node_modules/x", "of the sources"),
            ("to/a", "old"),
            ("to/src/gone", ""),
            ("to/gone/c", ""),
            ("to/node_modules/kept", "k"),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        mirror(&from, &to, &["node_modules"]).unwrap();
        assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "new");
        assert_eq!(fs::read_to_string(to.join("src/b")).unwrap(), "b");
        assert_eq!(fs::read_to_string(to.join("node_modules/kept")).unwrap(), "k");
        for gone in ["src/gone", "gone", "node_modules/x"] {
            assert!(!to.join(gone).exists(), "{gone}");
        }
    }
}
