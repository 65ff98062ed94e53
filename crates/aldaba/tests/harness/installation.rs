//! A folder set up by `aldaba init`: configuration, secrets and store.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Program;

pub(crate) struct Installation {
    folder: TempDir,
}

impl Installation {
    /// With an SQLite store in the same folder.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("aldaba.db").display());
        Self::init(folder, &url)
    }

    /// With the store at this URL.
    pub(crate) fn with_store(store: &str) -> Self {
        Self::init(tempfile::tempdir().unwrap(), store)
    }

    fn init(folder: TempDir, store: &str) -> Self {
        let installation = Self { folder };
        let path = installation.path().to_str().unwrap();
        Program::new(&["init", path, "--base-url", "http://127.0.0.1:8080", "--store", store]).run().code(0);
        installation
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path().join("aldaba.toml")
    }

    pub(crate) fn token(&self) -> String {
        std::fs::read_to_string(self.path().join("operator.token")).unwrap().trim().to_owned()
    }

    /// The program with this configuration.
    pub(crate) fn program(&self, arguments: &[&str]) -> Program {
        Program::new(&["--config", self.config().to_str().unwrap()]).with(arguments)
    }

    #[track_caller]
    pub(crate) fn add_tenant(&self, id: &str) {
        self.program(&["tenant", "add", "Asesoría", "--id", id]).run().code(0);
    }

    /// Copies the master key of another installation, as an operator does before restoring its backup.
    pub(crate) fn copy_master_key_from(&self, other: &Self) {
        std::fs::copy(other.path().join("master.key"), self.path().join("master.key")).unwrap();
    }
}
