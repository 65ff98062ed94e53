//! Pauses of the machine itself. A thread of the highest priority on each core sleeps for two milliseconds at a time: where it wakes up
//! much later, nothing on that core could run, and what the service took meanwhile says nothing about it.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(2);
const PAUSE_MIN: Duration = Duration::from_millis(20);

/// When a core stood still, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    pub(crate) from: Instant,
    pub(crate) span: Duration,
}

/// Watches cores until it is stopped.
pub(crate) struct PauseWatch {
    is_stopped: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Option<Vec<Pause>>>>,
}

impl PauseWatch {
    pub(crate) fn start(cores: &[usize]) -> Self {
        let is_stopped = Arc::<AtomicBool>::default();
        let watch = |core: usize| {
            let is_stopped = is_stopped.clone();
            std::thread::spawn(move || pauses_of(core, &is_stopped))
        };
        let threads = cores.iter().copied().map(watch).collect();
        Self { is_stopped, threads }
    }

    /// The pauses so far; none where the system refuses threads of the highest priority.
    pub(crate) fn stop(self) -> Option<Vec<Pause>> {
        self.is_stopped.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for thread in self.threads {
            all.extend(thread.join().ok()??);
        }
        Some(all)
    }
}

fn pauses_of(core: usize, is_stopped: &AtomicBool) -> Option<Vec<Pause>> {
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    let succeeds = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).arg(&thread).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let is_possible = succeeds("taskset", &["--pid", "--cpu-list", &core.to_string()])
        && succeeds("chrt", &["--fifo", "--pid", "50"]);
    let mut pauses = Vec::new();
    while is_possible && !is_stopped.load(Ordering::Relaxed) {
        let from = Instant::now();
        std::thread::sleep(NAP);
        let span = from.elapsed().saturating_sub(NAP);
        if span >= PAUSE_MIN {
            pauses.push(Pause { from, span });
        }
    }
    is_possible.then_some(pauses)
}
