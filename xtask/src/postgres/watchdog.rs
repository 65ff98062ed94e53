//! The one who puts the light out: a small process beside a server that waits for our end, whatever kind of
//! end that is, then stops the server and removes its folder.

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

use super::account::Account;

/// `read` returns when the other end of the pipe is gone: released, dropped, or its process killed.
const SCRIPT: &str = r#"read _; "$1" stop -s -m immediate -D "$2/data"; code=$?; rm -rf "$2"; exit $code"#;

#[derive(Debug)]
pub(super) struct Watchdog {
    /// None once it was released.
    process: Option<Child>,
}

impl Watchdog {
    pub(super) fn watch(account: &Account, pg_ctl: &Path, folder: &Path) -> Result<Self, String> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "keeper"]).arg(pg_ctl).arg(folder).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A group of its own: the Ctrl-C that ends us does not reach it.
        command.process_group(0);
        account.enter(&mut command);
        let process = command.spawn().map_err(|error| format!("sh cannot be started: {error}"))?;
        Ok(Self { process: Some(process) })
    }

    /// Lets it do its work now, and waits for it.
    pub(super) fn release(&mut self) -> Result<(), String> {
        let Some(mut process) = self.process.take() else {
            return Ok(());
        };
        drop(process.stdin.take());
        match process.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("PostgreSQL did not stop as it should: pg_ctl stop: {status}")),
            Err(error) => Err(format!("PostgreSQL's keeper is lost: {error}")),
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Who wants to know calls `release`.
        let _ = self.release();
    }
}
