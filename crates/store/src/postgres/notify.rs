//! Notifies other nodes of commits: one NOTIFY for all pending changes, at most every 5 ms and outside of
//! transactions, because inside it would hold a database-wide lock. A lost notification delays other nodes by
//! at most a second, since they also poll.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use domain::{Guid, TenantId, WebhookId};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};
use tokio_postgres::{Client, Notification};

use super::connect::Connector;
use super::{Inner, PostgresStore, store_error};
use crate::worker_end::WorkerEnd;
use crate::{ChangeSet, ResourceSet, Result, StoreError};

const CHANNEL: &str = "aldaba_bell";
const SEND_INTERVAL: Duration = Duration::from_millis(5);
/// The pause before reconnecting.
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);
const PROBE: &str = "SELECT 'probing the listening connection'";
/// How often the listening connection is probed, and how long the answer may take.
const PROBE_EVERY: Duration = Duration::from_secs(1);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// PostgreSQL limits a payload to less than 8,000 bytes.
const PAYLOAD_BYTES_MAX: usize = 7_900;

pub(super) struct Notifier {
    /// Identifies this handle's own notifications.
    node: Guid,
    connector: Connector,
    pending: Mutex<Pending>,
    listener: OnceLock<AbortHandle>,
    listener_end: WorkerEnd,
}

/// Changes to be sent.
#[derive(Default)]
struct Pending {
    changes: ChangeSet,
    is_sending: bool,
}

/// The JSON payload of a notification.
#[derive(Default, Serialize, Deserialize)]
struct Payload {
    from: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tenants: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    webhooks: Vec<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    access: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    shards: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    all: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Notifier {
    pub(super) fn new(node: Guid, connector: Connector) -> Self {
        Self {
            node,
            connector,
            pending: Mutex::default(),
            listener: OnceLock::new(),
            listener_end: WorkerEnd::default(),
        }
    }

    /// The payload of the changes; if it is too long, one that says that everything may have changed.
    fn payload(&self, changes: &ChangeSet) -> String {
        let from = self.node.to_string();
        let payload = Payload {
            from: from.clone(),
            tenants: changes.tenants.iter().map(|(id, by)| (id.as_str().to_owned(), by.bits())).collect(),
            webhooks: changes.webhooks.iter().map(ToString::to_string).collect(),
            access: changes.access,
            shards: changes.shards,
            all: changes.all,
        };
        let text = serde_json::to_string(&payload).unwrap_or_default();
        if (1..=PAYLOAD_BYTES_MAX).contains(&text.len()) {
            return text;
        }
        serde_json::to_string(&Payload { from, all: true, ..Payload::default() }).unwrap_or_default()
    }

    /// The changes that another node reported; none for this handle's own notification.
    fn parse_payload(&self, payload: &str) -> Option<ChangeSet> {
        let Ok(payload) = serde_json::from_str::<Payload>(payload) else {
            return Some(ChangeSet { all: true, ..ChangeSet::default() });
        };
        let tenants =
            payload.tenants.into_iter().map(|(id, bits)| (TenantId::new(id), ResourceSet::from_bits(bits)));
        (payload.from != self.node.to_string()).then(|| ChangeSet {
            tenants: tenants.collect(),
            webhooks: payload.webhooks.iter().filter_map(|id| Guid::parse(id)).collect(),
            access: payload.access,
            shards: payload.shards,
            access_version: 0,
            all: payload.all,
        })
    }

    /// Waits until the listener has ended. It starts with the first shard lease.
    pub(super) async fn listener_ended(&self) {
        self.listener_end.ended().await;
    }

    pub(super) fn close(&self) {
        if let Some(listener) = self.listener.get() {
            listener.abort();
        }
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.close();
    }
}

impl PostgresStore {
    pub(super) fn records_changed(&self, tenant: &TenantId, resources: ResourceSet) {
        self.inner.invalidation.records_changed(tenant, resources);
        if !resources.is_empty() {
            self.queue_notification(|changes| changes.add_records(tenant, resources));
        }
    }

    pub(super) fn access_changed(&self) {
        self.inner.invalidation.access_changed();
        self.queue_notification(|changes| changes.access = true);
    }

    /// Access changed, and with it perhaps whether these webhooks are delivered to.
    pub(super) fn access_changed_for(&self, webhooks: &[WebhookId]) {
        self.inner.invalidation.access_changed_for(webhooks);
        self.queue_notification(|changes| {
            changes.access = true;
            changes.webhooks.extend(webhooks);
        });
    }

    pub(super) fn webhook_changed(&self, webhook: WebhookId) {
        self.inner.invalidation.commit_signal().signal_webhook(webhook);
        self.queue_notification(|changes| {
            changes.webhooks.insert(webhook);
        });
    }

    pub(super) fn all_changed(&self) {
        self.inner.invalidation.commit_signal().signal_all();
        self.queue_notification(|changes| changes.all = true);
    }

    /// Sent at once and not queued, because a node that stops closes its store next.
    pub(super) async fn notify_of_free_shards(&self) {
        let changes = ChangeSet { shards: true, ..ChangeSet::default() };
        self.send_notification(&changes).await;
    }

    fn queue_notification(&self, add: impl FnOnce(&mut ChangeSet)) {
        let mut pending = self.inner.notify.pending.lock();
        add(&mut pending.changes);
        if !std::mem::replace(&mut pending.is_sending, true) {
            let store = self.clone();
            tokio::spawn(async move { store.send_pending().await });
        }
    }

    async fn send_pending(&self) {
        while let Some(changes) = self.take_pending() {
            self.send_notification(&changes).await;
            tokio::time::sleep(SEND_INTERVAL).await;
        }
    }

    async fn send_notification(&self, changes: &ChangeSet) {
        let payload = self.inner.notify.payload(changes);
        if let Err(error) = self.row("SELECT pg_notify($1, $2)", &[&CHANNEL, &payload]).await {
            tracing::debug!(%error, "notifying other nodes failed; they will poll instead");
        }
    }

    /// None ends the sending task: the next change starts a new one.
    fn take_pending(&self) -> Option<ChangeSet> {
        let mut pending = self.inner.notify.pending.lock();
        let changes = std::mem::take(&mut pending.changes);
        pending.is_sending = !changes.is_empty();
        pending.is_sending.then_some(changes)
    }

    /// Starts to pass other nodes' notifications on to this handle's commit signal.
    pub(super) fn listen_to_other_nodes(&self) {
        let notify = &self.inner.notify;
        notify.listener.get_or_init(|| {
            let (inner, connector) = (Arc::downgrade(&self.inner), notify.connector.clone());
            let guard = notify.listener_end.guard();
            let listener = tokio::spawn(async move {
                let _guard = guard;
                Listener { inner, connector, silent_since: None }.run().await;
            });
            listener.abort_handle()
        });
    }
}

/// Receives notifications on a connection of its own. It probes that connection, and so it is also the first to notice that
/// the server does not answer, and that it answers again.
struct Listener {
    inner: Weak<Inner>,
    connector: Connector,
    /// Since when the server has not answered.
    silent_since: Option<Instant>,
}

impl Listener {
    async fn run(mut self) {
        loop {
            let ended = self.listen().await;
            let Some(alive) = self.inner.upgrade() else { return };
            if let Err(error) = ended {
                tracing::debug!(%error, "listening for notifications failed; reconnecting");
            }
            drop(alive);
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
    }

    /// Connects and receives notifications until the connection ends.
    async fn listen(&mut self) -> Result<()> {
        let (sender, mut notifications) = mpsc::unbounded_channel();
        let (client, task) = self.connector.open(Some(sender)).await.map_err(store_error)?;
        let ended = self.listen_on(&client, &mut notifications).await;
        task.abort();
        ended
    }

    async fn listen_on(
        &mut self,
        client: &Client,
        notifications: &mut mpsc::UnboundedReceiver<Notification>,
    ) -> Result<()> {
        probe(client, &format!("LISTEN {CHANNEL}")).await?;
        self.server_answers();
        // Earlier notifications were missed.
        if let Some(inner) = self.inner.upgrade() {
            inner.invalidation.commit_signal().signal_all();
        }
        loop {
            match timeout(PROBE_EVERY, notifications.recv()).await {
                Ok(Some(notification)) => self.notified(&notification),
                // It was closed, not silent: so are the others, if the server is gone.
                Ok(None) => return Ok(()),
                Err(_) => {
                    let asked_at = Instant::now();
                    let answer = probe(client, PROBE).await;
                    if answer.is_err() && asked_at.elapsed() >= PROBE_TIMEOUT {
                        // Others may have had answers shortly after this probe was sent.
                        self.silent_since.get_or_insert(asked_at + PROBE_TIMEOUT / 2);
                    }
                    answer?;
                }
            }
        }
    }

    fn notified(&self, notification: &Notification) {
        let Some(inner) = self.inner.upgrade() else { return };
        if let Some(changes) = inner.notify.parse_payload(notification.payload()) {
            inner.invalidation.commit_signal().signal_changes(changes);
        }
    }

    /// Closes the connections that have not been heard of since the server fell silent. They may wait for answers that never
    /// come, for as long as TCP retries.
    fn server_answers(&mut self) {
        let Some(since) = self.silent_since.take() else { return };
        let closed = self.connector.connections().close_silent(since);
        let silent_seconds = since.elapsed().as_secs_f32();
        tracing::warn!(
            silent_seconds,
            closed,
            "PostgreSQL answers again; closed the connections that did not"
        );
    }
}

async fn probe(client: &Client, sql: &str) -> Result<()> {
    match timeout(PROBE_TIMEOUT, client.batch_execute(sql)).await {
        Ok(answer) => answer.map_err(store_error),
        Err(_) => Err(StoreError::Unavailable(format!("no answer within {} s", PROBE_TIMEOUT.as_secs()))),
    }
}
