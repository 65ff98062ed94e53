//! Ends what a folder's processes left running and removes the folder, also when this program is killed: a shell waits for the
//! end of a pipe.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::Fallible;

/// `read` returns when the other end of the pipe closes. A process is ended only if its command line names the folder, because
/// its number may be another's by now: first those of `NAME.pid`, then PostgreSQL servers, which may stand still.
const SCRIPT: &str = r#"
read _
folder=$1
is_ours() { pid=$(head -n 1 "$1") && grep -qaF "$folder" "/proc/$pid/cmdline"; }
for file in "$folder"/*.pid; do
    is_ours "$file" && kill -KILL "$pid"
done
for file in "$folder"/*/postmaster.pid; do
    is_ours "$file" || continue
    kill -CONT "$pid" $(cat "/proc/$pid/task/$pid/children")
    kill -QUIT "$pid"
    for _ in $(seq 100); do is_ours "$file" || break; sleep 0.1; done
done
eval "$2"
rm -rf "$folder"
"#;

#[derive(Debug)]
pub(crate) struct Cleanup {
    shell: Child,
}

impl Cleanup {
    /// Watches over a folder. `commands` run before it is removed, such as `umount "$folder/data"`.
    pub(crate) fn of(folder: &Path, commands: &str) -> Fallible<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "cleanup"]).arg(folder).arg(commands).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A process group of its own: Ctrl-C does not reach it.
        Ok(Self { shell: command.process_group(0).spawn().map_err(|error| format!("sh: {error}"))? })
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_and_what_runs_in_it_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let cleanup = Cleanup::of(folder.path(), r#"cp "$folder/a" "$folder.copy""#).unwrap();
        // One names the folder on its command line, the other does not: its number is another's.
        let script = |text: &str| Command::new("sh").args(["-c", text]).arg(folder.path()).spawn().unwrap();
        let mut ours = script("sleep 60; :");
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        std::fs::write(folder.path().join("a"), "a").unwrap();
        std::fs::write(folder.path().join("ours.pid"), ours.id().to_string()).unwrap();
        std::fs::write(folder.path().join("other.pid"), other.id().to_string()).unwrap();
        drop(cleanup);
        assert!(!folder.path().exists());
        assert!(!ours.wait().unwrap().success(), "it was killed");
        assert!(other.try_wait().unwrap().is_none(), "it still runs");
        other.kill().unwrap();
        other.wait().unwrap();
        let copy = folder.path().with_extension("copy");
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), "a");
        std::fs::remove_file(copy).unwrap();
    }
}
