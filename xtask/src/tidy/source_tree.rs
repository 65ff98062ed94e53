//! The files that the rules check: every text file that git tracks or would track, read once.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// Folders to leave out when git is not available.
const IGNORED_FOLDERS: [&str; 3] = [".git", ".aldaba", "target"];

/// A text file; its path is relative to the root, with `/` as separator.
#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) path: String,
    pub(super) text: String,
}

impl SourceFile {
    pub(super) fn is_rust(&self) -> bool {
        self.extension() == Some("rs")
    }

    /// The name of the crate if this file is the manifest of a crate in `crates`.
    fn crate_name(&self) -> Option<&str> {
        let name = self.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
        (!name.contains('/')).then_some(name)
    }

    pub(super) fn extension(&self) -> Option<&str> {
        Path::new(&self.path).extension()?.to_str()
    }
}

#[derive(Debug)]
pub(super) struct SourceTree {
    files: Vec<SourceFile>,
}

impl SourceTree {
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let mut paths = match tracked(root) {
            Some(paths) => paths,
            None => walked(root).map_err(|error| format!("cannot walk {}: {error}", root.display()))?,
        };
        paths.sort();
        paths.dedup();
        let files = paths.into_iter().filter_map(|path| {
            let file = root.join(&path);
            // A deleted file stays tracked until the next commit; a symbolic link has no text of its own.
            if !fs::symlink_metadata(&file).ok()?.is_file() {
                return None;
            }
            let text = String::from_utf8(fs::read(file).ok()?).ok().filter(|text| !text.contains('\0'))?;
            Some(SourceFile { path, text })
        });
        Ok(Self { files: files.collect() })
    }

    /// A source tree for tests.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let source =
            |(path, text): &(&str, &str)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() };
        Self { files: files.iter().map(source).collect() }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    pub(super) fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The names of the folders `crates/x` that hold a crate.
    pub(super) fn crates(&self) -> Vec<&str> {
        self.files.iter().filter_map(SourceFile::crate_name).collect()
    }
}

/// The files that git tracks or would track; None without git.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = git.output().ok().filter(|output| output.status.success())?;
    let list = String::from_utf8(output.stdout).ok()?;
    Some(list.split_terminator('\0').map(str::to_owned).collect())
}

fn walked(root: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let (path, kind) = (folder.join(entry.file_name()), entry.file_type()?);
            if kind.is_file() {
                found.push(path.to_string_lossy().into_owned());
            } else if kind.is_dir() && !IGNORED_FOLDERS.iter().any(|name| entry.file_name() == *name) {
                folders.push(path);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_dir::TempDir;

    fn make_tree(files: &[(&str, &[u8])]) -> TempDir {
        let tree = TempDir::new("tidy").unwrap();
        for (path, bytes) in files {
            let file = tree.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        tree
    }

    fn paths(root: &Path) -> Vec<String> {
        SourceTree::read(root).unwrap().files.into_iter().map(|file| file.path).collect()
    }

    fn git(root: &Path, arguments: &[&str]) {
        assert!(Command::new("git").args(arguments).current_dir(root).output().unwrap().status.success());
    }

    #[test]
    fn without_git_folders_are_walked() {
        let tree = make_tree(&[
            ("crates/domain/Cargo.toml", b""),
            ("crates/domain/src/lib.rs", b"//! Words.\n"),
            ("picture.png", b"\x89PNG\0\xff"),
            ("target/debug/out.rs", b""),
        ]);
        assert_eq!(paths(tree.path()), ["crates/domain/Cargo.toml", "crates/domain/src/lib.rs"]);
    }

    #[test]
    fn with_git_ignored_and_deleted_files_are_left_out() {
        let tree = make_tree(&[
            (".gitignore", b"/out\n"),
            ("new.rs", b""),
            ("old.rs", b""),
            ("gone.rs", b""),
            ("out/x.rs", b""),
        ]);
        git(tree.path(), &["init", "-q"]);
        git(tree.path(), &["add", "old.rs", "gone.rs"]);
        fs::remove_file(tree.path().join("gone.rs")).unwrap();
        assert_eq!(paths(tree.path()), [".gitignore", "new.rs", "old.rs"]);
    }

    #[test]
    fn crates_are_the_folders_with_a_manifest() {
        let source_tree = SourceTree::of(&[
            ("crates/domain/Cargo.toml", ""),
            ("crates/store/src/lib.rs", ""),
            ("crates/web/fuzz/Cargo.toml", ""),
            ("xtask/Cargo.toml", ""),
        ]);
        assert_eq!(source_tree.crates(), ["domain"]);
    }
}
