//! Mixed traffic of one tenant: reads, changes and refreshes, as fast as the service answers or at a rate that does not wait
//! for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::Fallible;
use crate::http::{Answer, Http};
use crate::ledger::Ledger;
use crate::load::{Target, change_line};
use crate::pauses::Pause;
use crate::service::Service;

/// How long it takes after a pause until no call waits because of it.
const WORKED_OFF: Duration = Duration::from_secs(1);

/// What one call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// 429 or 503.
    Refused,
    Failed(String),
}

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Change,
    Refresh,
}

/// A call that was done.
#[derive(Clone, Copy, Debug)]
struct Call {
    took: Duration,
    kind: Kind,
    at: Instant,
}

/// What many calls came to.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The calls that were done, the quickest first.
    calls: Vec<Call>,
    /// Of the calls that were refused, sorted.
    refusals: Vec<Duration>,
    pub(crate) failed: Vec<String>,
    /// Calls that were not begun because too many were under way.
    pub(crate) not_begun: usize,
    span: Duration,
}

impl Tally {
    pub(crate) fn done(&self) -> usize {
        self.calls.len()
    }

    pub(crate) fn refused(&self) -> usize {
        self.refusals.len()
    }

    /// Calls that were not done, whatever the reason.
    pub(crate) fn not_done(&self) -> usize {
        self.failed.len() + self.refused() + self.not_begun
    }

    pub(crate) fn rate(&self) -> f64 {
        self.calls.len() as f64 / self.span.as_secs_f64()
    }

    /// Calls that were done or refused, a second.
    pub(crate) fn answer_rate(&self) -> f64 {
        (self.done() + self.refused()) as f64 / self.span.as_secs_f64()
    }

    /// Of the calls that were answered.
    pub(crate) fn refused_share(&self) -> f64 {
        self.refused() as f64 / (self.done() + self.refused()).max(1) as f64
    }

    /// The calls of both.
    pub(crate) fn add(&mut self, other: Self) {
        self.calls.extend(other.calls);
        // Quick for two sorted parts.
        self.calls.sort_by_key(|call| call.took);
        self.refusals.extend(other.refusals);
        self.refusals.sort();
        self.failed.extend(other.failed);
        self.not_begun += other.not_begun;
        self.span += other.span;
    }

    pub(crate) fn p99(&self) -> Duration {
        self.percentile(99)
    }

    pub(crate) fn p50(&self) -> Duration {
        self.percentile(50)
    }

    /// Of the calls of one kind.
    pub(crate) fn p99_of(&self, kind: Kind) -> Duration {
        let of_kind = self.calls.iter().filter(|call| call.kind == kind);
        let all: Vec<Duration> = of_kind.map(|call| call.took).collect();
        percentile(&all, 99)
    }

    fn percentile(&self, share: usize) -> Duration {
        let place = self.calls.len() * share / 100;
        self.calls.get(place).or(self.calls.last()).map(|call| call.took).unwrap_or_default()
    }

    /// The calls without those that were under way during a pause of the machine, or within a second of its end, when what had waited
    /// is worked off.
    pub(crate) fn without(&self, pauses: &[Pause]) -> Self {
        let is_apart = |call: &Call| {
            let began = call.at.checked_sub(call.took).unwrap_or(call.at);
            pauses.iter().all(|pause| call.at < pause.from || began > pause.from + pause.span + WORKED_OFF)
        };
        let calls = self.calls.iter().copied().filter(is_apart).collect();
        Self { calls, span: self.span, ..Self::default() }
    }

    /// For each second in which a call took longer than this: the second since the first call, how many did, and the longest.
    pub(crate) fn slow_seconds(&self, limit: Duration) -> BTreeMap<u64, (usize, Duration)> {
        let Some(first) = self.calls.iter().map(|call| call.at).min() else { return BTreeMap::new() };
        let mut seconds = BTreeMap::new();
        for call in self.calls.iter().rev().take_while(|call| call.took > limit) {
            let (count, longest) =
                seconds.entry(call.at.duration_since(first).as_secs()).or_insert((0, Duration::ZERO));
            *count += 1;
            *longest = call.took.max(*longest);
        }
        seconds
    }

    pub(crate) fn refusals_p99(&self) -> Duration {
        percentile(&self.refusals, 99)
    }
}

#[cfg(test)]
impl Tally {
    /// A tally of one second, for tests of the bounds: calls that were done in this many milliseconds each.
    pub(crate) fn of_milliseconds(done: impl IntoIterator<Item = u64>) -> Self {
        let counting = Counting::default();
        for took in done {
            counting.count(Kind::Read, Duration::from_millis(took), Outcome::Done);
        }
        counting.tally(Duration::from_secs(1))
    }
}

fn percentile(sorted: &[Duration], share: usize) -> Duration {
    sorted.get((sorted.len() * share / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[derive(Default)]
struct Counting {
    done: Mutex<Vec<Call>>,
    refused: Mutex<Vec<Duration>>,
    failed: Mutex<Vec<String>>,
    not_begun: AtomicUsize,
}

impl Counting {
    fn count(&self, kind: Kind, took: Duration, outcome: Outcome) {
        match outcome {
            Outcome::Done => self.done.lock().push(Call { took, kind, at: Instant::now() }),
            Outcome::Refused => self.refused.lock().push(took),
            Outcome::Failed(reason) => self.failed.lock().push(reason),
        }
    }

    fn tally(&self, span: Duration) -> Tally {
        let mut calls = std::mem::take(&mut *self.done.lock());
        calls.sort_unstable_by_key(|call| call.took);
        let mut refusals = std::mem::take(&mut *self.refused.lock());
        refusals.sort_unstable();
        let failed = std::mem::take(&mut *self.failed.lock());
        let not_begun = self.not_begun.load(Ordering::Relaxed);
        Tally { calls, refusals, failed, not_begun, span }
    }
}

/// The traffic of one tenant.
pub(crate) struct Traffic {
    service: Arc<Service>,
    tenant: String,
    target: Target,
    http: Http,
    access_token: String,
    /// Of calls that are not under way.
    refresh_tokens: Mutex<Vec<String>>,
    pub(crate) ledger: Ledger,
    number: AtomicU64,
    run: String,
}

impl Traffic {
    /// The first token is for the reads; all are refreshed in turn.
    pub(crate) fn new(
        service: &Arc<Service>,
        tenant: &str,
        target: &Target,
        tokens: &[crate::sign_in::Tokens],
        timeout: Duration,
    ) -> Fallible<Arc<Self>> {
        let first = tokens.first().ok_or("the traffic needs a sign-in")?;
        Ok(Arc::new(Self {
            service: service.clone(),
            tenant: tenant.to_owned(),
            target: target.clone(),
            http: Http::new(timeout)?,
            access_token: first.access.clone(),
            refresh_tokens: Mutex::new(tokens.iter().map(|token| token.refresh.clone()).collect()),
            ledger: Ledger::default(),
            number: AtomicU64::new(0),
            run: crate::load::new_run(),
        }))
    }

    /// As many calls as `workers` make one after the other.
    pub(crate) async fn closed(self: &Arc<Self>, workers: usize, span: Duration) -> Fallible<Tally> {
        let (counting, from) = (Arc::<Counting>::default(), Instant::now());
        let tasks: Vec<_> = (0..workers)
            .map(|_| {
                let (traffic, counting) = (self.clone(), counting.clone());
                tokio::spawn(async move {
                    while from.elapsed() < span {
                        traffic.one(&counting).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await?;
        }
        Ok(counting.tally(from.elapsed()))
    }

    /// This many calls a second, whether the service answers or not. Calls above `in_flight_max` are not begun.
    pub(crate) async fn offered(
        self: &Arc<Self>,
        per_second: f64,
        span: Duration,
        in_flight_max: usize,
    ) -> Fallible<Tally> {
        let (counting, in_flight) = (Arc::<Counting>::default(), Arc::new(AtomicUsize::new(0)));
        let from = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        let (mut begun, mut ticks) = (0.0, tokio::time::interval(Duration::from_millis(2)));
        while from.elapsed() < span {
            ticks.tick().await;
            let due = from.elapsed().as_secs_f64() * per_second;
            while begun < due {
                begun += 1.0;
                if in_flight.load(Ordering::Relaxed) >= in_flight_max {
                    counting.not_begun.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                in_flight.fetch_add(1, Ordering::Relaxed);
                let (traffic, counting, in_flight) = (self.clone(), counting.clone(), in_flight.clone());
                tasks.spawn(async move {
                    traffic.one(&counting).await;
                    in_flight.fetch_sub(1, Ordering::Relaxed);
                });
            }
            while tasks.try_join_next().is_some() {}
        }
        while tasks.join_next().await.is_some() {}
        // With the time of the last calls, which count as well.
        Ok(counting.tally(from.elapsed()))
    }

    /// Of sixteen calls, two are changes, one is a refresh and the others are reads.
    async fn one(&self, counting: &Counting) {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let from = Instant::now();
        let (kind, outcome) = match number % 16 {
            0 | 8 => (Kind::Change, self.change(number).await),
            15 => self.refresh().await,
            _ => (Kind::Read, self.read().await),
        };
        counting.count(kind, from.elapsed(), outcome);
    }

    /// How long a change takes; none if it is not done.
    pub(crate) async fn one_change(&self) -> Option<Duration> {
        let from = Instant::now();
        let outcome = self.change(self.number.fetch_add(1, Ordering::Relaxed)).await;
        (outcome == Outcome::Done).then(|| from.elapsed())
    }

    async fn read(&self) -> Outcome {
        let url = &self.target.public_url;
        let token = &self.access_token;
        outcome(self.service.call_by(&self.http, "GET", url, token, "customers?pageSize=10", "").await).0
    }

    async fn change(&self, number: u64) -> Outcome {
        let change = Ledger::next_change();
        let record = format!("t{}", number % 997);
        let (line, key) = (change_line(&record, change), format!("{}-{change}", self.run));
        let answer = self
            .service
            .send_lines_to(&self.http, &self.tenant, &self.target.operator_url, &line, &key)
            .await;
        let (outcome, answer) = outcome(answer);
        if let (Outcome::Done, Some(answer)) = (&outcome, answer) {
            let sequence = answer.json()["lastSequenceVersion"].as_str().and_then(|text| text.parse().ok());
            self.ledger.acknowledge(change, &record, sequence.unwrap_or(0));
        }
        outcome
    }

    async fn refresh(&self) -> (Kind, Outcome) {
        // Where all tokens are under way, a read takes the place.
        let Some(token) = self.refresh_tokens.lock().pop() else { return (Kind::Read, self.read().await) };
        let application = &self.service.application;
        let outcome = match application.refresh(&self.http, &self.target.public_url, &token).await {
            Ok(next) => {
                self.refresh_tokens.lock().push(next.refresh);
                Outcome::Done
            }
            Err(error) => {
                self.refresh_tokens.lock().push(token);
                let error = error.to_string();
                let is_refused = error.starts_with("429") || error.starts_with("503");
                if is_refused { Outcome::Refused } else { Outcome::Failed(error) }
            }
        };
        (Kind::Refresh, outcome)
    }
}

fn outcome(answer: Fallible<Answer>) -> (Outcome, Option<Answer>) {
    match answer {
        Ok(answer) if answer.status == 200 => (Outcome::Done, Some(answer)),
        Ok(answer) if answer.status == 429 || answer.status == 503 => (Outcome::Refused, None),
        Ok(answer) => (Outcome::Failed(format!("{}: {}", answer.status, answer.text())), None),
        Err(error) => (Outcome::Failed(error.to_string()), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_around_a_pause_are_left_out() {
        let from = Instant::now() + Duration::from_secs(60);
        let call = |at: u64, took: u64| Call {
            took: Duration::from_millis(took),
            kind: Kind::Read,
            at: from + Duration::from_millis(at),
        };
        let all = vec![call(0, 5), call(1100, 200), call(1300, 250), call(2000, 5), call(9000, 300)];
        let tally = Tally { calls: all, ..Tally::default() };
        let pause = Pause { from: from + Duration::from_secs(1), span: Duration::from_millis(200) };
        let left: Vec<Duration> = tally.without(&[pause]).calls.iter().map(|call| call.took).collect();
        assert_eq!(left, [5, 300].map(Duration::from_millis));
        assert_eq!(tally.without(&[]).done(), 5);
    }

    #[test]
    fn slow_calls_are_told_by_second() {
        let from = Instant::now();
        let call = |at: u64, took: u64| Call {
            took: Duration::from_millis(took),
            kind: Kind::Read,
            at: from + Duration::from_millis(at),
        };
        let calls = vec![call(0, 5), call(3500, 150), call(3000, 200)];
        let seconds = Tally { calls, ..Tally::default() }.slow_seconds(Duration::from_millis(100));
        assert_eq!(seconds.into_iter().collect::<Vec<_>>(), [(3, (2, Duration::from_millis(200)))]);
    }
}
