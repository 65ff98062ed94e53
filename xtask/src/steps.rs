//! The steps of a command: prints a heading and the time of each step, and stops where one fails.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// A step that others run beside, with its name.
pub type ParallelStep<'a> = (&'a str, &'a (dyn Fn() -> Result<(), Failure> + Sync));

/// The steps of one command.
#[derive(Debug)]
pub struct Steps {
    started: Instant,
}

impl Steps {
    pub fn start() -> Self {
        Self { started: now() }
    }

    /// Runs one step; a failure is reported with the step's name.
    pub fn step<T>(&self, name: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        println!("\n== {name}");
        let started = now();
        let result = work();
        let time = format_time(started.elapsed());
        match result {
            Ok(value) => {
                println!("== {name}: passed in {time}");
                Ok(value)
            }
            Err(Failure { code, message }) => {
                let message = format!("{message}\n== {name}: FAILED after {time} (exit code {code})");
                Err(Failure { code, message: message.trim_start().to_owned() })
            }
        }
    }

    /// Runs steps beside each other, all of them to their end; their failures are returned as one.
    pub fn together(&self, steps: &[ParallelStep<'_>]) -> Result<(), Failure> {
        run_together(steps.iter().map(|(name, work)| move || self.step(name, work)))
    }

    /// Prints the closing line.
    pub fn finish(self) {
        println!("\nall steps passed in {}", format_time(self.started.elapsed()));
    }
}

/// Runs everything beside each other to its end; the failures are returned as one.
pub fn run_together<W>(works: impl IntoIterator<Item = W>) -> Result<(), Failure>
where
    W: FnOnce() -> Result<(), Failure> + Send,
{
    std::thread::scope(|scope| {
        let running: Vec<_> = works.into_iter().map(|work| scope.spawn(work)).collect();
        let ended = running.into_iter().map(|one| match one.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let failed = ended.collect::<Vec<_>>().into_iter().filter_map(Result::err);
        let both = |first: Failure, other: Failure| Failure {
            message: format!("{}\n{}", first.message, other.message),
            ..first
        };
        failed.reduce(both).map_or(Ok(()), Err)
    })
}

/// Tenths of a second below ten seconds, whole seconds above.
fn format_time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}

#[expect(clippy::disallowed_methods, reason = "the output shows real elapsed time")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_step_keeps_its_code_and_adds_its_name() {
        let failure = Steps::start()
            .step("clippy", || {
                Err::<(), _>(Failure { code: 101, message: "cargo clippy: exit status: 101".into() })
            })
            .unwrap_err();
        assert_eq!(failure.code, 101);
        assert!(failure.message.starts_with("cargo clippy: exit status: 101\n== clippy: FAILED"));
    }

    #[test]
    fn steps_beside_each_other_all_end_and_their_failures_are_returned() {
        let all_run = std::sync::Barrier::new(3);
        let failing = || {
            all_run.wait();
            Err(Failure::work("no"))
        };
        let passing = || {
            all_run.wait();
            Ok(())
        };
        let steps = [("one", &failing as _), ("other", &passing as _), ("last", &failing as _)];
        let message = Steps::start().together(&steps).unwrap_err().message;
        assert!(message.contains("== one: FAILED") && message.contains("== last: FAILED"), "{message}");
        assert!(!message.contains("other"), "{message}");
    }

    #[test]
    fn times_are_formatted_for_people() {
        assert_eq!(format_time(Duration::from_millis(1_240)), "1.2 s");
        assert_eq!(format_time(Duration::from_millis(312_400)), "312 s");
    }
}
