//! A small process that waits for this process to end, in whatever way, then stops the server and removes its folder.

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

use super::account::Account;

/// `read` returns when the other end of the pipe closes: on release, on drop, or when this process is killed.
const SCRIPT: &str = r#"read _; "$1" stop -s -m immediate -D "$2/data"; code=$?; rm -rf "$2"; exit $code"#;

#[derive(Debug)]
pub(super) struct Watchdog {
    /// None after the release.
    process: Option<Child>,
}

impl Watchdog {
    pub(super) fn watch(account: &Account, pg_ctl: &Path, folder: &Path) -> Result<Self, String> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "watchdog"]).arg(pg_ctl).arg(folder).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A process group of its own: Ctrl-C does not reach it.
        command.process_group(0);
        account.apply_to(&mut command);
        let process = command.spawn().map_err(|error| format!("sh cannot be started: {error}"))?;
        Ok(Self { process: Some(process) })
    }

    /// Stops the server now and waits for it.
    pub(super) fn release(&mut self) -> Result<(), String> {
        let Some(mut process) = self.process.take() else {
            return Ok(());
        };
        drop(process.stdin.take());
        match process.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("PostgreSQL did not stop: pg_ctl stop: {status}")),
            Err(error) => Err(format!("cannot wait for the process that stops PostgreSQL: {error}")),
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // `stop` reports errors; a drop cannot.
        let _ = self.release();
    }
}
