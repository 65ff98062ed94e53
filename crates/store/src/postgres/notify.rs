//! Notifies other nodes of commits: one NOTIFY for all pending changes, at most every 5 ms and outside of
//! transactions, because inside it would hold a database-wide lock. A lost notification delays other nodes by
//! at most a second, since they also poll.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use domain::{Guid, TenantId, WebhookId};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Socket};

use super::{Inner, PostgresStore, config_of, store_error, tls};
use crate::worker_end::WorkerEnd;
use crate::{ChangeSet, ResourceSet, Result};

const CHANNEL: &str = "aldaba_bell";
const SEND_INTERVAL: Duration = Duration::from_millis(5);
/// The pause before reconnecting.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);
/// PostgreSQL limits a payload to less than 8,000 bytes.
const PAYLOAD_BYTES_MAX: usize = 7_900;

pub(super) struct Notifier {
    /// Identifies this handle's own notifications.
    node: Guid,
    url: String,
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
    all: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Notifier {
    pub(super) fn new(node: Guid, url: &str) -> Self {
        Self {
            node,
            url: url.to_owned(),
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
            let payload = self.inner.notify.payload(&changes);
            if let Err(error) = self.row("SELECT pg_notify($1, $2)", &[&CHANNEL, &payload]).await {
                tracing::debug!(%error, "notifying other nodes failed; they will poll instead");
            }
            tokio::time::sleep(SEND_INTERVAL).await;
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
            let (inner, url) = (Arc::downgrade(&self.inner), notify.url.clone());
            let guard = notify.listener_end.guard();
            let listener = tokio::spawn(async move {
                let _guard = guard;
                listen_until_closed(&inner, &url).await;
            });
            listener.abort_handle()
        });
    }
}

async fn listen_until_closed(inner: &Weak<Inner>, url: &str) {
    loop {
        let parse_payload = listen(inner, url).await;
        let Some(alive) = inner.upgrade() else { return };
        if let Err(error) = parse_payload {
            tracing::debug!(%error, "listening for notifications failed; reconnecting");
        }
        drop(alive);
        tokio::time::sleep(RECONNECT_PAUSE).await;
    }
}

/// Connects and receives notifications until the connection ends.
async fn listen(inner: &Weak<Inner>, url: &str) -> Result<()> {
    let config: Config = config_of(url)?;
    if let Some(connector) = tls::connector(&config)? {
        let (client, connection) = config.connect(connector).await.map_err(store_error)?;
        listen_on(inner, &client, connection).await
    } else {
        let (client, connection) = config.connect(NoTls).await.map_err(store_error)?;
        listen_on(inner, &client, connection).await
    }
}

async fn listen_on<S>(
    inner: &Weak<Inner>,
    client: &Client,
    mut connection: Connection<Socket, S>,
) -> Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let receive = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            let (AsyncMessage::Notification(notification), Some(inner)) =
                (message.map_err(store_error)?, inner.upgrade())
            else {
                continue;
            };
            if let Some(changes) = inner.notify.parse_payload(notification.payload()) {
                inner.invalidation.commit_signal().signal_changes(changes);
            }
        }
        Ok(())
    };
    let subscribe = async {
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await.map_err(store_error)?;
        // Earlier notifications were missed.
        if let Some(inner) = inner.upgrade() {
            inner.invalidation.commit_signal().signal_all();
        }
        std::future::pending::<Result<()>>().await
    };
    tokio::select! {
        ended = receive => ended,
        failed = subscribe => failed,
    }
}
