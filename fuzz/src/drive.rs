//! Drives targets: mutates the corpus, keeps inputs with a new outcome, and collects findings. Targets share the cores.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use parking_lot::Mutex;
use web::Stopwatch;

use crate::finding::{Finding, FindingKind};
use crate::mutate::Mutator;
use crate::rng::Rng;
use crate::{Target, guard};

/// Inputs that are kept for their outcomes; later ones replace earlier ones.
const CORPUS_MAX: usize = 4096;
/// Different findings after which a target is given up.
const FINDINGS_MAX: usize = 5;
/// Caches are cold and pages are missing at first; an input that is slow each of these times is slow.
const SLOW_REPEATS: usize = 3;
/// An input that is not done after this is not waited for.
const HANG: Duration = Duration::from_secs(30);
const HANG_CHECK: Duration = Duration::from_secs(1);
/// Characters of a message that tell one finding from another.
const MESSAGE_CHARS: usize = 16;
/// Calls that shorten one finding.
const SHORTENINGS_MAX: usize = 2000;

/// How long each target runs, and how.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub seed: u64,
    /// For each target; the one that is reached first ends it.
    pub span: Duration,
    pub inputs: u64,
    /// A call that needs more time of the processor is a finding. What else the machine does is no input's fault.
    pub slow: Duration,
    /// Targets at once.
    pub jobs: usize,
}

/// What one target saw.
#[derive(Clone, Debug)]
pub struct TargetReport {
    pub target: &'static str,
    pub inputs: u64,
    /// Different outcomes.
    pub outcomes: usize,
    pub slowest: Duration,
    pub findings: Vec<Finding>,
}

/// The input that a worker is at, for the watch over all of them.
type Current = Arc<Mutex<Option<(&'static str, Stopwatch, Vec<u8>)>>>;

/// Runs the targets, and tells of each when it is done. The error is an input that does not end; its thread still runs.
pub fn drive(
    targets: &[Target],
    limits: &Limits,
    mut tell: impl FnMut(&TargetReport),
) -> Result<Vec<TargetReport>, Box<Finding>> {
    let queue = Arc::new(Mutex::new(targets.iter().copied().collect::<VecDeque<_>>()));
    let (sender, receiver) = channel();
    let mut watched = Vec::new();
    for _ in 0..limits.jobs.max(1) {
        let (current, queue, sender, limits) = (Current::default(), queue.clone(), sender.clone(), *limits);
        watched.push(current.clone());
        std::thread::spawn(move || {
            loop {
                let Some(target) = queue.lock().pop_front() else { return };
                if sender.send(Run::new(&target, &limits, &current).finish()).is_err() {
                    return;
                }
            }
        });
    }
    drop(sender);
    let mut reports = Vec::new();
    loop {
        match receiver.recv_timeout(HANG_CHECK) {
            Ok(report) => {
                tell(&report);
                reports.push(report);
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(reports),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(finding) = watched.iter().find_map(hanging) {
                    return Err(Box::new(finding));
                }
            }
        }
    }
}

fn hanging(current: &Current) -> Option<Finding> {
    let current = current.lock();
    let (target, since, input) = current.as_ref()?;
    (since.elapsed() > HANG).then(|| Finding { target, kind: FindingKind::Hang, input: input.clone() })
}

/// Calls a target with one input: the finding, if it is one.
pub fn repeat(target: &Target, input: &[u8], slow: Duration) -> Option<Finding> {
    let mut fastest = Duration::MAX;
    for _ in 0..SLOW_REPEATS {
        let before = processor_time();
        if let Err(message) = guard::call(target.run, input) {
            return Some(finding(target, FindingKind::Panic(message), input));
        }
        fastest = fastest.min(processor_time().saturating_sub(before));
        if fastest <= slow {
            return None;
        }
    }
    Some(finding(target, FindingKind::Slow(fastest), input))
}

/// What this thread has had of the processor so far.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

fn finding(target: &Target, kind: FindingKind, input: &[u8]) -> Finding {
    Finding { target: target.name, kind, input: input.to_vec() }
}

/// One target's run.
struct Run<'a> {
    target: &'a Target,
    limits: &'a Limits,
    current: &'a Current,
    corpus: Vec<Vec<u8>>,
    seed_count: usize,
    outcomes: HashSet<u64>,
    /// Findings without their figures, so that one fault is told once.
    known: HashSet<String>,
    is_given_up: bool,
    report: TargetReport,
}

impl<'a> Run<'a> {
    fn new(target: &'a Target, limits: &'a Limits, current: &'a Current) -> Self {
        let corpus = target.corpus();
        let report = TargetReport {
            target: target.name,
            inputs: 0,
            outcomes: 0,
            slowest: Duration::ZERO,
            findings: Vec::new(),
        };
        Self {
            target,
            limits,
            current,
            seed_count: corpus.len(),
            corpus,
            outcomes: HashSet::new(),
            known: HashSet::new(),
            is_given_up: false,
            report,
        }
    }

    fn finish(mut self) -> TargetReport {
        let (mut rng, mutator) = (Rng::new(self.limits.seed, self.target.name), Mutator::new(self.target));
        // What a target builds once is no input's fault.
        let _ = guard::call(self.target.run, &[]);
        let watch = Stopwatch::start();
        for seed in self.corpus.clone() {
            self.try_input(seed, &mut rng);
        }
        while self.report.inputs < self.limits.inputs
            && watch.elapsed() < self.limits.span
            && self.report.findings.len() < FINDINGS_MAX
            && !self.is_given_up
        {
            let input = mutator.mutate(&self.corpus, &mut rng);
            self.try_input(input, &mut rng);
        }
        *self.current.lock() = None;
        self.report.outcomes = self.outcomes.len();
        self.report
    }

    fn try_input(&mut self, input: Vec<u8>, rng: &mut Rng) {
        self.report.inputs += 1;
        *self.current.lock() = Some((self.target.name, Stopwatch::start(), input.clone()));
        let before = processor_time();
        match guard::call(self.target.run, &input) {
            Ok(outcome) => {
                let span = processor_time().saturating_sub(before);
                if span > self.limits.slow {
                    let slow = repeat(self.target, &input, self.limits.slow);
                    // The next slow inputs would take the rest of the time.
                    self.is_given_up |= slow.is_some();
                    self.report.findings.extend(slow);
                } else {
                    self.report.slowest = self.report.slowest.max(span);
                }
                if self.outcomes.insert(outcome) {
                    self.keep(input, rng);
                }
            }
            Err(message) => {
                if self.known.insert(without_figures(&message)) {
                    let input = self.shortened(input, &message);
                    let finding = repeat(self.target, &input, self.limits.slow);
                    self.report.findings.extend(finding);
                }
            }
        }
    }

    fn keep(&mut self, input: Vec<u8>, rng: &mut Rng) {
        if self.corpus.len() < self.seed_count + CORPUS_MAX {
            self.corpus.push(input);
        } else {
            let at = self.seed_count + rng.below(CORPUS_MAX);
            if let Some(old) = self.corpus.get_mut(at) {
                *old = input;
            }
        }
    }

    /// The input without the parts that the same panic does not need.
    fn shortened(&self, mut input: Vec<u8>, message: &str) -> Vec<u8> {
        let is_same = |input: &[u8]| {
            guard::call(self.target.run, input)
                .is_err_and(|other| without_figures(&other) == without_figures(message))
        };
        let (mut calls, mut length) = (0, input.len() / 2);
        while length > 0 {
            let mut at = 0;
            while at < input.len() && calls < SHORTENINGS_MAX {
                let mut shorter = input.clone();
                shorter.drain(at..(at + length).min(shorter.len()));
                calls += 1;
                if is_same(&shorter) {
                    input = shorter;
                } else {
                    at += length;
                }
            }
            length /= 2;
        }
        input
    }
}

/// The place and the first words of a message: the rest often repeats the input.
fn without_figures(message: &str) -> String {
    let (place, text) = message.split_once(": ").unwrap_or(("", message));
    let words = text.chars().filter(|c| !c.is_ascii_digit()).take(MESSAGE_CHARS);
    format!("{place}: {}", words.collect::<String>())
}

#[cfg(test)]
mod tests;
