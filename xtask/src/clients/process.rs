//! A child process: its output is collected, its time is limited, and it ends with this process, even if this one is killed.

use std::{
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

/// Waits until its pipe is closed, then ends the process group: with SIGTERM, and with SIGKILL five seconds later.
const WATCHDOG: &str = r#"read -r _; looks=0; kill -s TERM -- "-$1"
    while [ $looks -lt 50 ] && kill -s 0 -- "-$1"; do sleep 0.1; looks=$((looks + 1)); done
    kill -s KILL -- "-$1"; exit 0"#;

/// How long to wait for the last output of a process.
const DRAIN_MAX: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    watchdog: Child,
    lines: Receiver<String>,
    output: String,
    has_ended: bool,
}

impl Process {
    pub(crate) fn start(name: &str, command: &mut Command) -> Result<Self, String> {
        // A process group of its own, so that its children end with it.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| format!("{name} cannot be started: {error}"))?;
        let (sender, lines) = channel();
        if let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) {
            forward_lines(out, sender.clone());
            forward_lines(err, sender);
        }
        let mut watchdog = Command::new("sh");
        watchdog.args(["-c", WATCHDOG, "watchdog", &child.id().to_string()]).process_group(0);
        watchdog.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        match watchdog.spawn() {
            Ok(watchdog) => Ok(Self {
                name: name.to_owned(),
                child,
                watchdog,
                lines,
                output: String::new(),
                has_ended: false,
            }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(format!("sh cannot be started: {error}"))
            }
        }
    }

    /// The output so far.
    pub(crate) fn output(&self) -> &str {
        &self.output
    }

    /// Waits for a line that `parse` accepts.
    pub(crate) fn line<T>(
        &mut self,
        bound: Duration,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, String> {
        let deadline = now() + bound;
        loop {
            match self.next_line(deadline) {
                Ok(line) => {
                    if let Some(found) = parse(&line) {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(self.failure("is not ready in time")),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.wait_for_exit()?;
                    return Err(self.failure(&format!("ended before it was ready: {status}")));
                }
            }
        }
    }

    /// Waits for the process to exit successfully.
    pub(crate) fn finish(&mut self, bound: Duration) -> Result<(), String> {
        let deadline = now() + bound;
        loop {
            match self.next_line(deadline) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let what = format!("was still running after {} s", bound.as_secs());
                    let _ = self.terminate();
                    return Err(self.failure(&what));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.wait_for_exit()?;
        if status.success() { Ok(()) } else { Err(self.failure(&status.to_string())) }
    }

    /// Ends the process with SIGTERM, or with SIGKILL if it does not exit.
    pub(crate) fn stop(mut self) -> Result<(), String> {
        self.terminate()
    }

    fn terminate(&mut self) -> Result<(), String> {
        if self.has_ended {
            return Ok(());
        }
        drop(self.watchdog.stdin.take());
        let status = self.child.wait();
        // The watchdog exits after the last process of the group.
        let _ = self.watchdog.wait();
        self.has_ended = true;
        let mut bound = now() + DRAIN_MAX;
        while self.next_line(bound).is_ok() {
            bound = now() + DRAIN_MAX;
        }
        status.map(drop).map_err(|error| format!("{} is lost: {error}", self.name))
    }

    /// The exit status of a process that ended by itself. Its id may be reused from then on, so the watchdog must not kill it.
    fn wait_for_exit(&mut self) -> Result<ExitStatus, String> {
        let status = self.child.wait().map_err(|error| format!("{} is lost: {error}", self.name))?;
        self.has_ended = true;
        let _ = self.watchdog.kill();
        let _ = self.watchdog.wait();
        Ok(status)
    }

    fn next_line(&mut self, deadline: Instant) -> Result<String, RecvTimeoutError> {
        let line = self.lines.recv_timeout(deadline.saturating_duration_since(now()))?;
        self.output.push_str(&line);
        self.output.push('\n');
        Ok(line)
    }

    fn failure(&self, what: &str) -> String {
        format!("{}{} {what}", self.output, self.name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // `stop` reports errors; a drop cannot.
        let _ = self.terminate();
    }
}

/// Sends every line to a channel, on its own thread; the channel closes with the last pipe.
fn forward_lines(from: impl Read + Send + 'static, to: Sender<String>) {
    thread::spawn(move || {
        let mut lines = BufReader::new(from).split(b'\n');
        while let Some(Ok(line)) = lines.next() {
            if to.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "limits on other programs use real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        Process::start("the shell", Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn failure_includes_the_output() {
        let mut process = shell("echo out; echo err >&2; exit 7");
        let failure = process.finish(Duration::from_secs(10)).unwrap_err();
        assert!(failure.contains("out\n") && failure.contains("err\n"), "{failure}");
        assert!(failure.ends_with("the shell exit status: 7"), "{failure}");
    }

    #[test]
    fn line_waits_for_a_match() {
        let mut process = shell("echo one; echo ready 5; read _");
        let found =
            process.line(Duration::from_secs(10), |line| line.strip_prefix("ready ").map(str::to_owned));
        assert_eq!(found.as_deref(), Ok("5"));
        assert!(process.finish(Duration::from_secs(10)).is_err(), "its standard input is empty");
        assert_eq!(process.output(), "one\nready 5\n");
    }

    #[test]
    fn timeout_ends_the_process_and_its_children() {
        let mut process = shell("sleep 60 & echo $!; wait");
        let pid = process.line(Duration::from_secs(10), |line| Some(line.to_owned())).unwrap();
        let failure = process.finish(Duration::from_millis(50)).unwrap_err();
        assert!(failure.contains("was still running after 0 s"), "{failure}");
        assert!(!is_alive(&pid), "its child is still running");
    }

    #[test]
    fn process_that_ignores_sigterm_is_killed() {
        let mut process = shell("trap '' TERM; echo $$; while :; do sleep 0.1; done");
        let pid = process.line(Duration::from_secs(10), |line| Some(line.to_owned())).unwrap();
        process.stop().unwrap();
        assert!(!is_alive(&pid));
    }

    /// A zombie does not count as alive.
    fn is_alive(pid: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    }
}
