//! A running process. Its output goes to files, and it ends together with the test process, even if that is killed.

use std::fs::{File, read, read_to_string};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use tempfile::TempDir;

use super::FinishedProcess;
use super::wait::{WAIT_MAX, poll_within};

/// How long a process may take to stop before it is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) struct RunningProcess {
    child: Child,
    guard: TerminationGuard,
    output: TempDir,
}

impl RunningProcess {
    pub(crate) fn start(mut command: Command) -> Self {
        let output = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create(output.path().join(name)).unwrap();
        let child = command.stdout(file("out")).stderr(file("err")).spawn().unwrap();
        let guard = TerminationGuard::of(child.id());
        Self { child, guard, output }
    }

    pub(crate) fn stdout(&self) -> String {
        self.output("out")
    }

    pub(crate) fn stderr(&self) -> String {
        self.output("err")
    }

    pub(crate) fn stderr_file(&self) -> PathBuf {
        self.output.path().join("err")
    }

    /// The output so far. It may end in the middle of a character.
    fn output(&self, name: &str) -> String {
        String::from_utf8_lossy(&read(self.output.path().join(name)).unwrap()).into_owned()
    }

    /// A value from `/proc/PID/status`, in KiB.
    pub(crate) fn memory_kib(&self, line: &str) -> u64 {
        let status = read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
        value.unwrap().trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&mut self) {
        self.guard.terminate();
    }

    /// Sends SIGINT, as Ctrl-C does.
    pub(crate) fn interrupt(&mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    }

    /// Sends SIGHUP.
    pub(crate) fn hang_up(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    }

    /// Kills it with SIGKILL, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Suspends it with SIGSTOP until the returned value is dropped.
    pub(crate) fn freeze(&self) -> FrozenProcess {
        FrozenProcess::freeze(self.child.id())
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it exits by itself.
    #[track_caller]
    pub(crate) fn wait_for_exit(mut self) -> FinishedProcess {
        let Some(status) = self.status_within(WAIT_MAX * 2) else {
            panic!("the process does not exit: {}", self.stderr());
        };
        FinishedProcess { code: status.code(), stdout: self.stdout(), stderr: self.stderr() }
    }

    /// Stops it with SIGTERM and waits until it exits.
    #[track_caller]
    pub(crate) fn stop(mut self) -> FinishedProcess {
        self.terminate();
        self.wait_for_exit()
    }

    pub(crate) fn has_exited(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    fn status_within(&mut self, bound: Duration) -> Option<ExitStatus> {
        poll_within(bound, || self.child.try_wait().unwrap())
    }

    /// Has the guard delete the output once the process has exited. For values in a `static`, which Rust never drops.
    pub(crate) fn clean_up_after_exit(&mut self) {
        self.guard = TerminationGuard::with_folder(self.child.id(), self.output.path());
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        if !self.has_exited() {
            self.terminate();
            if self.status_within(STOP_TIMEOUT).is_none() {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
        }
    }
}

/// A process suspended with SIGSTOP.
pub(crate) struct FrozenProcess(u32);

impl FrozenProcess {
    /// Returns when all threads of the process have stopped.
    pub(crate) fn freeze(pid: u32) -> Self {
        let frozen = Self(pid);
        frozen.signal("STOP");
        let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
        let is_stopped = |stat: String| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'));
        let all_stopped =
            || threads().all(|thread| read_to_string(thread.path().join("stat")).is_ok_and(is_stopped));
        poll_within(WAIT_MAX, || all_stopped().then_some(())).expect("all threads stopped");
        frozen
    }

    fn signal(&self, name: &str) {
        let script = format!("kill -{name} \"$0\"");
        let status = Command::new("sh").args(["-c", &script, &self.0.to_string()]).status().unwrap();
        assert!(status.success(), "kill -{name}: {status}");
    }
}

impl Drop for FrozenProcess {
    fn drop(&mut self) {
        self.signal("CONT");
    }
}

/// A shell that waits on a pipe from the test process. When the pipe closes, also because the test process died,
/// it sends SIGTERM to the guarded process.
struct TerminationGuard(Child);

impl TerminationGuard {
    const SCRIPT: &str = r#"read -r _; kill "$0" 2>/dev/null; kill -CONT "$0" 2>/dev/null; [ $# = 0 ] && exit; looks=0
        while [ $looks -lt 100 ] && kill -0 "$0" 2>/dev/null; do sleep 0.1; looks=$((looks + 1)); done
        rm -rf -- "$1""#;

    fn of(pid: u32) -> Self {
        Self::start(pid, None)
    }

    /// Also deletes a folder once the process has exited.
    fn with_folder(pid: u32, folder: &Path) -> Self {
        Self::start(pid, Some(folder))
    }

    fn start(pid: u32, folder: Option<&Path>) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", Self::SCRIPT, &pid.to_string()]).args(folder);
        let shell = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(shell.spawn().unwrap())
    }

    fn terminate(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

impl Drop for TerminationGuard {
    /// Kills the shell without a signal to the guarded process: its pid may belong to another process by now.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Deletes a folder when the test process ends, even if it is killed. For values in a `static`, which Rust never drops.
pub(super) fn delete_after_exit(folder: &Path) {
    /// Reads the folders from a pipe until the test process closes it by ending.
    const SCRIPT: &str =
        r#"trap '' INT TERM; while read -r folder; do set -- "$@" "$folder"; done; rm -rf -- "$@""#;
    static FOLDERS: OnceLock<Mutex<ChildStdin>> = OnceLock::new();
    let folders = FOLDERS.get_or_init(|| {
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", SCRIPT]).stdin(Stdio::piped());
        let shell = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Mutex::new(shell.unwrap().stdin.unwrap())
    });
    writeln!(folders.lock().unwrap(), "{}", folder.display()).unwrap();
}
