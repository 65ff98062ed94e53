//! A process of ours: what it says is kept, its time is bounded, and it ends with us, even when we are killed.

use std::{
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

/// Waits until the other end of its pipe is gone, then ends the process and whatever it has started: first
/// in order, five seconds later by force.
const WATCHDOG: &str = r#"read -r _; looks=0; kill -s TERM -- "-$1"
    while [ $looks -lt 50 ] && kill -s 0 -- "-$1"; do sleep 0.1; looks=$((looks + 1)); done
    kill -s KILL -- "-$1"; exit 0"#;

/// How long it may take until what a process has said last has come through.
const LAST_WORDS: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Process {
    name: String,
    child: Child,
    watchdog: Child,
    lines: Receiver<String>,
    said: String,
    has_ended: bool,
}

impl Process {
    pub(super) fn start(name: &str, command: &mut Command) -> Result<Self, String> {
        // A group of its own, so that it can be ended with all that it has started.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| format!("{name} cannot be started: {error}"))?;
        let (sender, lines) = channel();
        if let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) {
            pass_on(out, sender.clone());
            pass_on(err, sender);
        }
        let mut watchdog = Command::new("sh");
        watchdog.args(["-c", WATCHDOG, "keeper", &child.id().to_string()]).process_group(0);
        watchdog.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        match watchdog.spawn() {
            Ok(watchdog) => Ok(Self {
                name: name.to_owned(),
                child,
                watchdog,
                lines,
                said: String::new(),
                has_ended: false,
            }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(format!("sh cannot be started: {error}"))
            }
        }
    }

    /// Everything it has said so far.
    pub(super) fn said(&self) -> &str {
        &self.said
    }

    /// Waits for a line that says something.
    pub(super) fn line<T>(&mut self, bound: Duration, look: impl Fn(&str) -> Option<T>) -> Result<T, String> {
        let end = now() + bound;
        loop {
            match self.next_line(end) {
                Ok(line) => {
                    if let Some(found) = look(&line) {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(self.failure("is not ready in time")),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.ended()?;
                    return Err(self.failure(&format!("ended before it was ready: {status}")));
                }
            }
        }
    }

    /// Waits for its end, which must be a good one.
    pub(super) fn finish(&mut self, bound: Duration) -> Result<(), String> {
        let end = now() + bound;
        loop {
            match self.next_line(end) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let what = format!("was still running after {} s", bound.as_secs());
                    let _ = self.end();
                    return Err(self.failure(&what));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.ended()?;
        if status.success() { Ok(()) } else { Err(self.failure(&status.to_string())) }
    }

    /// Ends it in order, and by force where that does not help.
    pub(super) fn stop(mut self) -> Result<(), String> {
        self.end()
    }

    fn end(&mut self) -> Result<(), String> {
        if self.has_ended {
            return Ok(());
        }
        drop(self.watchdog.stdin.take());
        let status = self.child.wait();
        // It goes when the last of the group has gone.
        let _ = self.watchdog.wait();
        self.has_ended = true;
        let mut bound = now() + LAST_WORDS;
        while self.next_line(bound).is_ok() {
            bound = now() + LAST_WORDS;
        }
        status.map(drop).map_err(|error| format!("{} is lost: {error}", self.name))
    }

    /// Its status at an end of its own; from then on its number may be another's, so nobody is to end it.
    fn ended(&mut self) -> Result<ExitStatus, String> {
        let status = self.child.wait().map_err(|error| format!("{} is lost: {error}", self.name))?;
        self.has_ended = true;
        let _ = self.watchdog.kill();
        let _ = self.watchdog.wait();
        Ok(status)
    }

    fn next_line(&mut self, end: Instant) -> Result<String, RecvTimeoutError> {
        let line = self.lines.recv_timeout(end.saturating_duration_since(now()))?;
        self.said.push_str(&line);
        self.said.push('\n');
        Ok(line)
    }

    fn failure(&self, what: &str) -> String {
        format!("{}{} {what}", self.said, self.name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Who wants to know calls `stop`.
        let _ = self.end();
    }
}

/// Every line as it comes, in a thread of its own; the channel closes when the last pipe does.
fn pass_on(from: impl Read + Send + 'static, to: Sender<String>) {
    thread::spawn(move || {
        let mut lines = BufReader::new(from).split(b'\n');
        while let Some(Ok(line)) = lines.next() {
            if to.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "a bound on other programs counts real time")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        Process::start("the shell", Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn what_it_said_comes_with_its_failure() {
        let mut process = shell("echo out; echo err >&2; exit 7");
        let messages = process.finish(Duration::from_secs(10)).unwrap_err();
        assert!(messages.contains("out\n") && messages.contains("err\n"), "{messages}");
        assert!(messages.ends_with("the shell exit status: 7"), "{messages}");
    }

    #[test]
    fn a_line_is_waited_for() {
        let mut process = shell("echo one; echo ready 5; read _");
        let found =
            process.line(Duration::from_secs(10), |line| line.strip_prefix("ready ").map(str::to_owned));
        assert_eq!(found.as_deref(), Ok("5"));
        assert!(process.finish(Duration::from_secs(10)).is_err(), "its input is empty");
        assert_eq!(process.said(), "one\nready 5\n");
    }

    #[test]
    fn time_is_bounded_and_children_go_too() {
        let mut process = shell("sleep 60 & echo $!; wait");
        let number = process.line(Duration::from_secs(10), |line| Some(line.to_owned())).unwrap();
        let messages = process.finish(Duration::from_millis(50)).unwrap_err();
        assert!(messages.contains("was still running after 0 s"), "{messages}");
        assert!(!lives(&number), "its child lives on");
    }

    #[test]
    fn who_does_not_want_to_go_is_made_to() {
        let mut process = shell("trap '' TERM; echo $$; while :; do sleep 0.1; done");
        let number = process.line(Duration::from_secs(10), |line| Some(line.to_owned())).unwrap();
        process.stop().unwrap();
        assert!(!lives(&number));
    }

    /// What is dead but not yet buried does not live.
    fn lives(number: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    }
}
