//! A fault under load: the load starts, the fault happens, the load ends, everything that was acknowledged must arrive, and
//! the checkers say what they found.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::checker::Findings;
use crate::load::{Calls, Load, LoadSettings, RETRY_PAUSE, Seen, Target, new_run};
use crate::receivers::Receivers;
use crate::service::{EMAIL, Service, company_line};
use crate::sign_in::Tokens;
use crate::{Fallible, Part};

/// How long deliveries may go on after the load.
pub(crate) const SETTLE_MAX: Duration = Duration::from_secs(120);
/// How long a change that shows that the service is back is repeated.
const CHANGE_PATIENCE: Duration = Duration::from_secs(120);
/// Sign-ins whose tokens are refreshed during the load.
const REFRESHED: usize = 3;

/// What must hold during a fault, beside that nothing is lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) silence: Duration,
    /// The longest time until a call that is repeated succeeds.
    pub(crate) call: Duration,
}

/// A load that has ended, and what was found, for figures of a scenario's own.
pub(crate) struct Outcome {
    pub(crate) load: Load,
    pub(crate) findings: Findings,
    /// Attempts that had to be repeated.
    pub(crate) repeated: usize,
}

/// A service with its webhooks, ready for faults.
pub(crate) struct Trial {
    pub(crate) service: Arc<Service>,
    pub(crate) receivers: Receivers,
    pub(crate) webhooks: usize,
    pub(crate) targets: Vec<Target>,
    pub(crate) load: LoadSettings,
}

impl Trial {
    /// Subscribes the webhooks; the first target must be ready.
    pub(crate) async fn new(
        service: Service,
        targets: Vec<Target>,
        webhooks: usize,
        load: LoadSettings,
    ) -> Fallible<Self> {
        Self::with_receivers(service, Receivers::open().await?, targets, webhooks, load).await
    }

    /// The same with receivers that are open already.
    pub(crate) async fn with_receivers(
        service: Service,
        receivers: Receivers,
        targets: Vec<Target>,
        webhooks: usize,
        load: LoadSettings,
    ) -> Fallible<Self> {
        let first = targets.first().ok_or("no target")?;
        let tokens = service.prepare(first).await?;
        service.subscribe(&first.public_url, &tokens.access, &receivers.urls(webhooks)).await?;
        Ok(Self { service: Arc::new(service), receivers, webhooks, targets, load })
    }

    pub(crate) async fn sign_in(&self) -> Fallible<Vec<Tokens>> {
        let mut tokens = Vec::new();
        for _ in 0..=REFRESHED {
            let url = &self.targets[0].public_url;
            tokens.push(self.service.application.sign_in(&self.service.http, url, EMAIL).await?);
        }
        Ok(tokens)
    }

    /// Lets the fault happen under load and writes what was seen.
    pub(crate) async fn run(
        &self,
        part: &mut Part,
        bounds: Bounds,
        fault: impl AsyncFnOnce() -> Fallible<()>,
    ) -> Fallible<()> {
        self.run_beside(part, bounds, async |_: &Load| fault().await).await?;
        Ok(())
    }

    /// The same for a fault that looks at the load or pauses it.
    pub(crate) async fn run_beside(
        &self,
        part: &mut Part,
        bounds: Bounds,
        fault: impl AsyncFnOnce(&Load) -> Fallible<()>,
    ) -> Fallible<Outcome> {
        let bounded = async |load: &Load| {
            fault(load).await?;
            Ok(bounds)
        };
        self.run_measured(part, bounded).await
    }

    /// The same for a fault that is as long as it is: it returns the bounds.
    pub(crate) async fn run_measured(
        &self,
        part: &mut Part,
        fault: impl AsyncFnOnce(&Load) -> Fallible<Bounds>,
    ) -> Fallible<Outcome> {
        self.receivers.clear();
        let mut load = Load::start(&self.service, self.targets.clone(), &self.sign_in().await?, &self.load)?;
        let happened = fault(&load).await;
        load.stop().await?;
        let bounds = happened?;
        let findings = load.settle(&self.receivers, self.webhooks, SETTLE_MAX).await;
        let seen = &load.seen;
        if load.ledger.count() == 0 || seen.reads.done() == 0 {
            return Err(
                format!("the load did nothing: {} {}", seen.changes.reasons(), seen.reads.reasons()).into()
            );
        }
        let repeated = tell_calls(part, seen, self.receivers.count(), bounds.call);
        findings.tell(part, bounds.silence);
        let wrong = load.wrongly_stored(&self.targets[0]).await?;
        if let Some(first) = wrong.first() {
            eprintln!("    {first}");
        }
        part.none("records not stored as last acknowledged", wrong.len());
        Ok(Outcome { load, findings, repeated })
    }

    /// How long it takes from now until every target has accepted a change. A client of each repeats it until then.
    pub(crate) async fn until_changes(&self) -> Fallible<Duration> {
        let (from, run) = (Instant::now(), new_run());
        let accepted = self.targets.iter().enumerate().map(|(number, target)| {
            let key = format!("{run}-{number}");
            async move {
                let line = company_line(&format!("Bodegas Peñalver {key}"));
                loop {
                    let answer = self.service.send_lines(&target.operator_url, &line, &key).await;
                    let why = match answer {
                        Ok(answer) if answer.status == 200 => return Ok(()),
                        Ok(answer) => answer.text(),
                        Err(error) => error.to_string(),
                    };
                    if from.elapsed() > CHANGE_PATIENCE {
                        return Err(format!("{}: {why}", target.operator_url).into());
                    }
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            }
        });
        let all: Fallible<Vec<()>> = futures_util::future::try_join_all(accepted).await;
        all.map(|_| from.elapsed())
    }
}

/// Writes what the clients saw; returns how many attempts had to be repeated.
fn tell_calls(part: &mut Part, seen: &Seen, deliveries: usize, longest_max: Duration) -> usize {
    let all = [&seen.changes, &seen.reads, &seen.refreshes];
    let sum = |count: fn(&Calls) -> usize| all.iter().map(|calls| count(calls)).sum::<usize>();
    let [changes, reads, refreshes] = all.map(Calls::done);
    part.tell(
        "calls",
        format!("{changes} changes, {reads} reads, {refreshes} refreshes; {deliveries} deliveries"),
    );
    part.none("calls that failed although they were repeated", sum(Calls::failed));
    let repeated = sum(Calls::repeated);
    part.tell("attempts that were repeated", repeated);
    part.none("answers with 500 instead of a status that says what is wrong", sum(Calls::internal));
    for calls in all.iter().filter(|calls| !calls.reasons().is_empty()) {
        eprintln!("    repeated because of {}", calls.reasons());
    }
    let longest = all.map(Calls::longest).into_iter().max().unwrap_or_default();
    part.within("longest call, repetitions included", longest, longest_max);
    repeated
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    /// Whether the part holds after one call of each kind, and this.
    fn holds_after(event: impl Fn(&Seen)) -> bool {
        let (seen, mut part) = (Seen::default(), Part::new("calls", ""));
        for calls in [&seen.changes, &seen.reads, &seen.refreshes] {
            calls.finished(Instant::now());
        }
        event(&seen);
        tell_calls(&mut part, &seen, 0, Duration::from_secs(5));
        part.holds()
    }

    #[test]
    fn calls_that_failed_are_found() {
        assert!(holds_after(|_| {}));
        assert!(holds_after(|seen| seen.reads.repeated_because("503: \"store_unavailable\"")));
        assert!(!holds_after(|seen| _ = seen.refreshes.failed.fetch_add(1, Ordering::Relaxed)));
        assert!(!holds_after(|seen| seen.changes.repeated_because("500 : \"internal_error\"")));
        assert!(!holds_after(|seen| seen
            .reads
            .finished(Instant::now().checked_sub(Duration::from_secs(6)).unwrap())));
    }

    #[test]
    fn answer_with_500_is_found() {
        let calls = Calls::default();
        calls.repeated_because("503 Service Unavailable: \"store_full\"");
        calls.repeated_because("{\"error\":\"temporarily_unavailable\"}");
        calls.repeated_because("TimedOut(500ms)");
        assert_eq!((calls.repeated(), calls.internal()), (3, 0));
        calls.repeated_because("500 Internal Server Error: \"internal_error\"");
        calls.repeated_because("{\"error\":\"server_error\",\"error_description\":\"The service failed.\"}");
        assert_eq!((calls.repeated(), calls.internal()), (5, 2));
    }
}
