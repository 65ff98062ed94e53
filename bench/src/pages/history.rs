//! The history of the webhooks: one with as many deliveries as there are records, one whose receiver is down, and all others
//! with a few deliveries, some of which fail, are paused, disabled or suspended.

use std::time::Duration;

use domain::retry::RetryState;
use domain::{Resource, TenantId, Ticks};
use store::{
    AttemptPurpose, AttemptRecord, AttemptTiming, ClientAccess, HandshakeStep, Lane, SuccessfulDelivery,
    WebhookChange, WebhookCheckpoint,
};

use super::data::{Size, Writer, record_of, sequence_of};
use super::team::{BUSY, DOWN, Team, TeamWebhook, is_awaiting_contract, later};
use crate::Fallible;

/// Deliveries in one transaction.
const BATCH: u64 = 1_000;
/// One in so many deliveries failed at first.
const FAILS: u64 = 100;
/// Of the webhook with the deliveries: records whose delivery fails now.
const WAITING: u64 = 50;
/// As many failing records as a webhook can have, and their attempts.
const LANES_MAX: u64 = 2_000;
const ATTEMPTS_OF_LANE: u32 = 5;
/// Of the other webhooks that fail.
const FEW_LANES: u64 = 5;
const RETRY_AFTER: Duration = Duration::from_secs(5);
const EXCERPT: &str = "<html><head><title>503 Service Temporarily Unavailable</title></head><body>\
    <center><h1>503 Service Temporarily Unavailable</h1></center><hr><center>nginx</center></body></html>";

/// What the pages show of it.
pub(super) struct History {
    pub(super) record: String,
    pub(super) record_sequence: u64,
    pub(super) failed_sequence: u64,
    pub(super) steady: (Ticks, u64),
    pub(super) bulk: (Ticks, u64),
}

pub(super) async fn write(writer: &Writer, team: &Team, tenant: &TenantId, size: &Size) -> Fallible<History> {
    let busy = Busy { writer, webhook: &team.webhooks[BUSY], size, tenant };
    busy.write().await?;
    let down = Busy { webhook: &team.webhooks[DOWN], ..busy };
    down.write_failures().await?;
    for (number, one) in team.webhooks.iter().enumerate() {
        if number != BUSY && number != DOWN {
            others(writer, team, number, one).await?;
        }
    }
    let head = team.webhooks[BUSY].head;
    // None is a multiple of `FAILS`, and so none is older than its neighbours.
    let at = |sequence: u64| {
        let sequence = sequence - sequence % FAILS + FAILS / 2;
        (busy.delivered_at(sequence), sequence)
    };
    // Not a multiple of `FAILS`.
    let record = head - head / 500 - head % FAILS - 1;
    Ok(History {
        record: record_of(record),
        record_sequence: record,
        failed_sequence: head * 3 / 4 - head * 3 / 4 % FAILS,
        steady: at(head * 3 / 4),
        bulk: at(head / 4),
    })
}

#[derive(Clone, Copy)]
struct Busy<'a> {
    writer: &'a Writer,
    webhook: &'a TeamWebhook,
    size: &'a Size,
    tenant: &'a TenantId,
}

impl Busy<'_> {
    fn checkpoint(&self) -> WebhookCheckpoint {
        self.writer.checkpoint(self.webhook.webhook.id, self.webhook.webhook.revision)
    }

    fn attempted_at(&self, sequence: u64) -> Ticks {
        self.writer.at(sequence, self.webhook.head + 1) + Duration::from_millis(50)
    }

    fn delivered_at(&self, sequence: u64) -> Ticks {
        let at = self.attempted_at(sequence);
        if sequence.is_multiple_of(FAILS) { at + RETRY_AFTER } else { at }
    }

    fn is_waiting(&self, sequence: u64) -> bool {
        sequence.is_multiple_of(FAILS) && sequence + FAILS * WAITING > self.webhook.head
    }

    /// The older half as deliveries of bulk changes, many in one checkpoint; the newer half of steady traffic, where almost
    /// every delivery has a checkpoint of its own.
    async fn write(&self) -> Fallible<()> {
        let (first, head) = (sequence_of(0), self.webhook.head);
        for from in (first..=head).step_by(usize::try_from(BATCH)?) {
            let sequences = from..=(from + BATCH - 1).min(head);
            let mut all = self.checkpoint();
            let attempted = sequences.clone().filter(|sequence| sequence.is_multiple_of(FAILS));
            all.attempts =
                attempted.map(|sequence| failed(sequence, 1, self.attempted_at(sequence))).collect();
            let delivered = sequences.filter(|sequence| !self.is_waiting(*sequence));
            let delivered: Vec<SuccessfulDelivery> =
                delivered.map(|sequence| success(sequence, self.delivered_at(sequence))).collect();
            let mut checkpoints = Vec::new();
            if from < head / 2 {
                all.delivered = delivered;
            } else {
                checkpoints.extend(
                    delivered
                        .into_iter()
                        .map(|one| WebhookCheckpoint { delivered: vec![one], ..self.checkpoint() }),
                );
            }
            checkpoints.push(all);
            self.writer.write_checkpoints(checkpoints).await?;
        }
        let waiting =
            (first..=head).rev().step_by(1).take_while(|sequence| sequence + FAILS * WAITING > head);
        let waiting: Vec<u64> = waiting.filter(|sequence| self.is_waiting(*sequence)).collect();
        let parked = self.lanes(&waiting).await?;
        let last = WebhookCheckpoint { parked, cursor: Some(head), ..self.checkpoint() };
        self.writer.write_checkpoints(vec![last]).await
    }

    /// A receiver that answered nothing well for a day: then the webhook was disabled.
    async fn write_failures(&self) -> Fallible<()> {
        let head = self.webhook.head;
        let (lanes, cursor) = (LANES_MAX.min(self.size.records / 10), head - self.size.records / 10);
        let sequences: Vec<u64> = (cursor - lanes..cursor).collect();
        for chunk in sequences.chunks(500) {
            let attempts = chunk.iter().flat_map(|sequence| {
                (1..=ATTEMPTS_OF_LANE).map(|number| {
                    failed(*sequence, number, self.attempted_at(*sequence) + RETRY_AFTER * number)
                })
            });
            let attempts = attempts.collect();
            let parked = self.lanes(chunk).await?;
            self.writer
                .write_checkpoints(vec![WebhookCheckpoint { attempts, parked, ..self.checkpoint() }])
                .await?;
        }
        let disabled = Some("no delivery succeeded for 24 hours".into());
        let last = WebhookCheckpoint { cursor: Some(cursor), disabled, ..self.checkpoint() };
        self.writer.write_checkpoints(vec![last]).await
    }

    async fn lanes(&self, sequences: &[u64]) -> Fallible<Vec<Lane>> {
        let events = self.writer.store.find_events(self.tenant, Resource::customers(), sequences).await?;
        let retry = retry(self.writer);
        Ok(events
            .iter()
            .map(|event| Lane { record_key: event.record_key, sequence: event.entry.sequence, retry })
            .collect())
    }
}

/// The few deliveries of another webhook, and its state.
async fn others(writer: &Writer, team: &Team, number: usize, one: &TeamWebhook) -> Fallible<()> {
    let webhook = &one.webhook;
    let mut checkpoint = writer.checkpoint(webhook.id, webhook.revision);
    if is_awaiting_contract(number) {
        let (number, retry) = (webhook.handshake.number, retry(writer));
        checkpoint.handshake = Some(HandshakeStep::Failed { number, retry, answered: None });
        return writer.write_checkpoints(vec![checkpoint]).await;
    }
    let few = sequence_of(0)..=one.head.min(sequence_of(19));
    let is_failing = number % 20 == 11;
    let delivered = few.skip(if is_failing { usize::try_from(FEW_LANES)? } else { 0 });
    checkpoint.delivered = delivered.map(|sequence| success(sequence, writer.at(sequence, 100))).collect();
    checkpoint.cursor = Some(one.head);
    if is_failing {
        let sequences: Vec<u64> = (0..FEW_LANES).map(sequence_of).collect();
        let tenant = &webhook.owner.tenant;
        let events = writer.store.find_events(tenant, Resource::customers(), &sequences).await?;
        for event in events {
            let (record_key, sequence) = (event.record_key, event.entry.sequence);
            checkpoint.parked.push(Lane { record_key, sequence, retry: retry(writer) });
            checkpoint.attempts.push(failed(sequence, 3, retry(writer).first_failed_at));
        }
    }
    if number % 20 == 13 {
        checkpoint.disabled = Some("no delivery succeeded for 24 hours".into());
    }
    writer.write_checkpoints(vec![checkpoint]).await?;
    if number % 20 == 3 {
        writer.store.change_webhook(webhook.id, None, WebhookChange::Disable, &writer.by).await?;
    }
    if number % 50 == 17 {
        let (client, tenant) = (webhook.owner.client.clone(), webhook.owner.tenant.clone());
        let access = ClientAccess { user: team.user.clone(), client, tenant };
        writer.store.revoke_client_access(&access, writer.now, &writer.by, "withdrawn by the user").await?;
    }
    Ok(())
}

fn retry(writer: &Writer) -> RetryState {
    RetryState {
        attempts: 3,
        first_failed_at: writer.now.minus(Duration::from_secs(2 * 60 * 60)),
        next_at: later(writer),
    }
}

fn success(sequence: u64, at: Ticks) -> SuccessfulDelivery {
    SuccessfulDelivery {
        sequence,
        at,
        status: 204,
        duration_ms: 20 + u32::try_from(sequence % 60).unwrap_or(0),
    }
}

fn failed(sequence: u64, number: u32, at: Ticks) -> AttemptRecord {
    AttemptRecord {
        at,
        purpose: AttemptPurpose::Event { sequence },
        number,
        status: Some(503),
        succeeded: false,
        reason: "the response status was 503; expected a 2xx status".into(),
        excerpt: EXCERPT.into(),
        timing: AttemptTiming {
            resolve: Duration::from_millis(1),
            connect: Duration::from_millis(8),
            tls: Duration::from_millis(12),
            wait: Duration::from_millis(40),
            total: Duration::from_millis(62),
        },
    }
}
