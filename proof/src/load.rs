//! A steady load of changes, reads and refreshes over several nodes, by clients that retry as real ones do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::Fallible;
use crate::access::Access;
pub(crate) use crate::calls::{Calls, Seen};
use crate::checker::{Findings, check};
use crate::ledger::{Acknowledged, Ledger, by_record};
use crate::receivers::Receivers;
use crate::service::{COMPANY, Service};
use crate::sign_in::Tokens;

/// How long a client goes on with one call before it gives up.
const PATIENCE: Duration = Duration::from_secs(120);
/// The account of all customers; the product has it elsewhere.
const ACCOUNT: &str = "6d0e2f0e-2f8a-4c4e-9d53-6f2b8c1a7e11";
pub(crate) const RETRY_PAUSE: Duration = Duration::from_millis(100);
const SETTLE_PAUSE: Duration = Duration::from_millis(200);

/// Where one node, or what stands before the nodes, is reached.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) public_url: String,
    pub(crate) operator_url: String,
}

#[derive(Clone, Debug)]
pub(crate) struct LoadSettings {
    /// Each writer has one change under way at a time, of records of its own.
    pub(crate) writers: usize,
    pub(crate) records_per_writer: usize,
    pub(crate) changes_per_second: u32,
    pub(crate) reads_per_second: u32,
    pub(crate) refreshes_per_second: u32,
}

impl Default for LoadSettings {
    fn default() -> Self {
        Self {
            writers: 8,
            records_per_writer: 10,
            changes_per_second: 20,
            reads_per_second: 50,
            refreshes_per_second: 2,
        }
    }
}

/// A running load; it stops when it is told to, and every call under way ends first.
pub(crate) struct Load {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) seen: Arc<Seen>,
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

struct Shared {
    service: Arc<Service>,
    targets: Vec<Target>,
    ledger: Arc<Ledger>,
    seen: Arc<Seen>,
    access: Access,
    is_over: AtomicBool,
    is_paused: AtomicBool,
    turn: AtomicUsize,
    run: String,
}

impl Load {
    pub(crate) fn start(
        service: &Arc<Service>,
        targets: Vec<Target>,
        tokens: &[Tokens],
        settings: &LoadSettings,
    ) -> Fallible<Self> {
        let first = tokens.first().ok_or("the load needs a sign-in")?;
        let shared = Arc::new(Shared {
            service: service.clone(),
            targets,
            ledger: Arc::default(),
            seen: Arc::default(),
            access: Access::new(first.clone()),
            is_over: AtomicBool::new(false),
            is_paused: AtomicBool::new(false),
            turn: AtomicUsize::new(0),
            // Idempotency keys of one load are not those of another.
            run: new_run(),
        });
        let every = |per_second: u32, tasks: usize| {
            Duration::from_secs_f64(tasks as f64 / f64::from(per_second.max(1)))
        };
        let mut tasks = Vec::new();
        for writer in 0..settings.writers {
            let pause = every(settings.changes_per_second, settings.writers);
            tasks.push(tokio::spawn(shared.clone().write(writer, settings.records_per_writer, pause)));
        }
        if settings.reads_per_second > 0 {
            for _ in 0..4 {
                tasks.push(tokio::spawn(shared.clone().read(every(settings.reads_per_second, 4))));
            }
        }
        // The first sign-in's access token is the readers'; the others are refreshed.
        let refreshed = tokens.get(1..).unwrap_or_default();
        if settings.refreshes_per_second > 0 && !refreshed.is_empty() {
            let pause = every(settings.refreshes_per_second, refreshed.len());
            for token in refreshed {
                tasks.push(tokio::spawn(shared.clone().refresh(token.refresh.clone(), pause)));
            }
        }
        Ok(Self { ledger: shared.ledger.clone(), seen: shared.seen.clone(), shared, tasks })
    }

    /// Ends the load when every call under way has ended.
    pub(crate) async fn stop(&mut self) -> Fallible<()> {
        self.shared.is_over.store(true, Ordering::Relaxed);
        for task in self.tasks.drain(..) {
            task.await?;
        }
        Ok(())
    }

    /// Waits until every webhook has every acknowledged change, or the time is over; returns what was found.
    pub(crate) async fn settle(&self, receivers: &Receivers, webhooks: usize, timeout: Duration) -> Findings {
        let from = Instant::now();
        loop {
            let acknowledged = self.ledger.acknowledged();
            let is_enough = receivers.count() >= acknowledged.len() * webhooks;
            if is_enough || from.elapsed() > timeout {
                let arrivals = receivers.arrivals();
                let findings = check(&acknowledged, &arrivals, webhooks);
                if findings.lost == 0 || from.elapsed() > timeout {
                    return findings;
                }
            }
            tokio::time::sleep(SETTLE_PAUSE).await;
        }
    }

    /// Sends no change until it goes on; reads and refreshes continue.
    pub(crate) fn pause(&self, is_paused: bool) {
        self.shared.is_paused.store(is_paused, Ordering::Relaxed);
    }

    /// The records that are not stored as they were last acknowledged.
    pub(crate) async fn wrongly_stored(&self, target: &Target) -> Fallible<Vec<String>> {
        self.not_stored(target, &self.ledger.acknowledged(), is_stored_as_acknowledged).await
    }

    /// The records that are stored as they were before the last of these changes. A later change that had no answer may be
    /// stored.
    pub(crate) async fn stored_too_old(
        &self,
        target: &Target,
        acknowledged: &[Acknowledged],
    ) -> Fallible<Vec<String>> {
        self.not_stored(target, acknowledged, is_stored_since).await
    }

    async fn not_stored(
        &self,
        target: &Target,
        acknowledged: &[Acknowledged],
        is_right: impl Fn(&Value, &Acknowledged) -> bool,
    ) -> Fallible<Vec<String>> {
        let (token, mut wrong) = (self.shared.access.token().await, Vec::new());
        for (record, changes) in by_record(acknowledged) {
            let Some(last) = changes.last() else { continue };
            let path = format!("customers/{record}");
            let answer = self.shared.service.call("GET", &target.public_url, &token, &path, "").await?;
            if !is_right(&answer.json(), last) {
                wrong.push(format!("{record}: {} instead of change {}", answer.text(), last.change));
            }
        }
        Ok(wrong)
    }
}

/// Whether a record is stored as this change left it.
fn is_stored_as_acknowledged(stored: &Value, last: &Acknowledged) -> bool {
    let (name, sequence) = (name_of(last.change), last.sequence.to_string());
    stored["tradeName"] == name.as_str() && stored["sequenceVersion"] == sequence.as_str()
}

/// Whether a record is stored as this change or a later one left it.
fn is_stored_since(stored: &Value, last: &Acknowledged) -> bool {
    let sequence = stored["sequenceVersion"].as_str().and_then(|text| text.parse::<u64>().ok());
    sequence.is_some_and(|sequence| sequence >= last.sequence)
}

/// What the Idempotency-Keys of one load begin with: another for each.
pub(crate) fn new_run() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    format!("{:x}", since.map_or(0, |since| since.as_nanos()))
}

fn name_of(change: u64) -> String {
    format!("Ferretería Íñiguez {change}")
}

/// The line of a change. Its number is in the record and in the event.
pub(crate) fn change_line(record: &str, change: u64) -> String {
    json!({
        "area": "accounting", "resource": "customers", "company": COMPANY, "action": "upsert",
        "correlationId": record,
        "data": {
            "tradeName": name_of(change), "vatNumber": "B12345674", "vatName": "Ferretería Íñiguez e Hijos S.L.",
            "accountCode": "430000000001", "vatNumberCorrelationId": "", "accountCodeCorrelationId": ACCOUNT,
        },
        "user": "maria", "sourceInterface": "ERP", "sourceAction": change.to_string(),
    })
    .to_string()
}

impl Shared {
    fn target(&self) -> &Target {
        &self.targets[self.turn.fetch_add(1, Ordering::Relaxed) % self.targets.len()]
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    async fn write(self: Arc<Self>, writer: usize, records: usize, pause: Duration) {
        let mut ticks = tokio::time::interval(pause);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for number in 0.. {
            ticks.tick().await;
            if self.is_over() {
                return;
            }
            self.change(&format!("w{writer}-{}", number % records)).await;
        }
    }

    /// Makes one change, and repeats it under its key until it is acknowledged.
    async fn change(&self, record: &str) {
        let change = Ledger::next_change();
        let (line, key) = (change_line(record, change), format!("{}-{change}", self.run));
        let (from, calls) = (Instant::now(), &self.seen.changes);
        while from.elapsed() < PATIENCE {
            if self.is_paused.load(Ordering::Relaxed) {
                tokio::time::sleep(RETRY_PAUSE).await;
                continue;
            }
            let operator_url = &self.target().operator_url;
            match self.service.send_lines(operator_url, &line, &key).await {
                Ok(answer) if answer.status == 200 => {
                    let body = answer.json();
                    let sequence = body["lastSequenceVersion"].as_str().and_then(|text| text.parse().ok());
                    if let (Some(sequence), Some(1)) = (sequence, body["accepted"].as_u64()) {
                        self.ledger.acknowledge(change, record, sequence);
                        calls.finished(from);
                        return;
                    }
                    calls.repeated_because(&answer.text());
                    break;
                }
                Ok(answer)
                    if answer.status.is_server_error() || answer.status == 429 || answer.status == 409 =>
                {
                    calls.repeated_because(&format!("{}: {}", answer.status, answer.json()["code"]));
                }
                Ok(answer) => {
                    calls.repeated_because(&answer.text());
                    break;
                }
                Err(error) => calls.repeated_because(&kind_of(&error.to_string())),
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        calls.failed.fetch_add(1, Ordering::Relaxed);
    }

    async fn read(self: Arc<Self>, pause: Duration) {
        let mut ticks = tokio::time::interval(pause);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while !self.is_over() {
            ticks.tick().await;
            let (from, calls) = (Instant::now(), &self.seen.reads);
            let is_read = loop {
                let (public_url, token) = (&self.target().public_url, self.access.token().await);
                let answer = self.service.call("GET", public_url, &token, "customers?pageSize=10", "").await;
                match answer {
                    Ok(answer) if answer.status == 200 => break true,
                    Ok(answer) if answer.status == 401 && self.may_renew(public_url, &token).await => {
                        calls.repeated_because("401, and the token is renewed");
                    }
                    Ok(answer) if answer.status.is_server_error() => {
                        calls.repeated_because(&format!("{}: {}", answer.status, answer.json()["code"]));
                    }
                    Ok(answer) => {
                        calls.repeated_because(&answer.text());
                        break false;
                    }
                    Err(error) => calls.repeated_because(&kind_of(&error.to_string())),
                }
                if from.elapsed() > PATIENCE {
                    break false;
                }
                tokio::time::sleep(RETRY_PAUSE).await;
            };
            if is_read {
                calls.finished(from);
            } else {
                calls.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Renews the readers' token. False when that is refused; without an answer they try again.
    async fn may_renew(&self, public_url: &str, refused: &str) -> bool {
        let renewed = self.access.renew(&self.service, public_url, refused).await;
        !renewed.is_err_and(|error| error.to_string().contains("invalid_grant"))
    }

    /// Refreshes a token again and again; what had no answer is repeated with the same token.
    async fn refresh(self: Arc<Self>, mut token: String, pause: Duration) {
        let mut ticks = tokio::time::interval(pause);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while !self.is_over() {
            ticks.tick().await;
            let (from, calls) = (Instant::now(), &self.seen.refreshes);
            let next = loop {
                let service = &self.service;
                match service.application.refresh(&service.http, &self.target().public_url, &token).await {
                    Ok(next) => break Some(next),
                    Err(error) => {
                        let error = error.to_string();
                        calls.repeated_because(&kind_of(&error));
                        if error.contains("invalid_grant") || from.elapsed() > PATIENCE {
                            break None;
                        }
                    }
                }
                tokio::time::sleep(RETRY_PAUSE).await;
            };
            let Some(next) = next else {
                calls.failed.fetch_add(1, Ordering::Relaxed);
                return;
            };
            calls.finished(from);
            token = next.refresh;
        }
    }
}

/// A reason without what differs from call to call.
fn kind_of(error: &str) -> String {
    error.split_once(": ").map_or(error, |(_, reason)| reason).chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_are_not_stored_as_acknowledged_are_found() {
        let last = Acknowledged { change: 7, record: "r".into(), sequence: 12, at: Instant::now() };
        let stored = |name: String, sequence: &str| json!({"tradeName": name, "sequenceVersion": sequence});
        let right = stored(name_of(7), "12");
        assert!(is_stored_as_acknowledged(&right, &last) && is_stored_since(&right, &last));
        let later = stored(name_of(9), "14");
        assert!(!is_stored_as_acknowledged(&later, &last) && is_stored_since(&later, &last));
        for wrong in [stored(name_of(6), "11"), json!({"code": "not_found"}), Value::Null] {
            assert!(!is_stored_as_acknowledged(&wrong, &last), "{wrong}");
            assert!(!is_stored_since(&wrong, &last), "{wrong}");
        }
        assert!(!is_stored_as_acknowledged(&stored(name_of(6), "12"), &last), "other content");
    }
}
