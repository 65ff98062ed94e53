//! Nodes tell each other what they have committed: one NOTIFY for all of it, at most every 5 ms and outside of every
//! transaction (inside, it would hold a lock of the whole database). One that is lost costs its hearers a second, after
//! which they look anyway.

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

use super::{Inner, PostgresStore, config_of, fault, tls};
use crate::{ChangeSet, ResourceSet, Result};

const CHANNEL: &str = "aldaba_bell";
const PAUSE: Duration = Duration::from_millis(5);
/// Before another try to connect.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);
/// PostgreSQL takes less than 8,000.
const PAYLOAD_BYTES_MAX: usize = 7_900;

pub(super) struct Herald {
    /// By which this handle knows its own words again.
    name: Guid,
    url: String,
    news: Mutex<News>,
    ears: OnceLock<AbortHandle>,
}

/// What is to be told.
#[derive(Default)]
struct News {
    changes: ChangeSet,
    is_being_told: bool,
}

/// The words of a notification.
#[derive(Default, Serialize, Deserialize)]
struct Words {
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Herald {
    pub(super) fn new(name: Guid, url: &str) -> Self {
        Self { name, url: url.to_owned(), news: Mutex::default(), ears: OnceLock::new() }
    }

    /// As many words as fit; where they do not, that everything may have moved.
    fn words(&self, changes: &ChangeSet) -> String {
        let from = self.name.to_string();
        let words = Words {
            from: from.clone(),
            tenants: changes.tenants.iter().map(|(id, by)| (id.as_str().to_owned(), by.bits())).collect(),
            webhooks: changes.webhooks.iter().map(ToString::to_string).collect(),
            access: changes.access,
            all: changes.all,
        };
        let text = serde_json::to_string(&words).unwrap_or_default();
        if (1..=PAYLOAD_BYTES_MAX).contains(&text.len()) {
            return text;
        }
        serde_json::to_string(&Words { from, all: true, ..Words::default() }).unwrap_or_default()
    }

    /// What another node has said; none where it is an echo.
    fn wait(&self, payload: &str) -> Option<ChangeSet> {
        let Ok(words) = serde_json::from_str::<Words>(payload) else {
            return Some(ChangeSet { all: true, ..ChangeSet::default() });
        };
        let tenants =
            words.tenants.into_iter().map(|(id, bits)| (TenantId::new(id), ResourceSet::from_bits(bits)));
        (words.from != self.name.to_string()).then(|| ChangeSet {
            tenants: tenants.collect(),
            webhooks: words.webhooks.iter().filter_map(|id| Guid::parse(id)).collect(),
            access: words.access,
            all: words.all,
        })
    }

    pub(super) fn close(&self) {
        if let Some(ears) = self.ears.get() {
            ears.abort();
        }
    }
}

impl Drop for Herald {
    fn drop(&mut self) {
        self.close();
    }
}

impl PostgresStore {
    pub(super) fn records_changed(&self, tenant: &TenantId, resources: ResourceSet) {
        self.inner.invalidation.records_changed(tenant, resources);
        if !resources.is_empty() {
            self.tell(|changes| changes.add_records(tenant, resources));
        }
    }

    pub(super) fn access_changed(&self) {
        self.inner.invalidation.access_changed();
        self.tell(|changes| changes.access = true);
    }

    pub(super) fn webhook_changed(&self, webhook: WebhookId) {
        self.inner.invalidation.commit_signal().signal_webhook(webhook);
        self.tell(|changes| {
            changes.webhooks.insert(webhook);
        });
    }

    pub(super) fn all_changed(&self) {
        self.inner.invalidation.commit_signal().signal_all();
        self.tell(|changes| changes.all = true);
    }

    fn tell(&self, add: impl FnOnce(&mut ChangeSet)) {
        let mut news = self.inner.herald.news.lock();
        add(&mut news.changes);
        if !std::mem::replace(&mut news.is_being_told, true) {
            let store = self.clone();
            tokio::spawn(async move { store.tell_all().await });
        }
    }

    async fn tell_all(&self) {
        while let Some(changes) = self.next_news() {
            let words = self.inner.herald.words(&changes);
            if let Err(error) = self.row("SELECT pg_notify($1, $2)", &[&CHANNEL, &words]).await {
                tracing::debug!(%error, "other nodes were not told; they will look by themselves");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// None: who comes next must tell.
    fn next_news(&self) -> Option<ChangeSet> {
        let mut news = self.inner.herald.news.lock();
        let changes = std::mem::take(&mut news.changes);
        news.is_being_told = !changes.is_empty();
        news.is_being_told.then_some(changes)
    }

    /// From now on what other nodes tell rings this handle's bell.
    pub(super) fn hear_others(&self) {
        let herald = &self.inner.herald;
        herald.ears.get_or_init(|| {
            let (inner, url) = (Arc::downgrade(&self.inner), herald.url.clone());
            tokio::spawn(async move { hear_until_closed(&inner, &url).await }).abort_handle()
        });
    }
}

async fn hear_until_closed(inner: &Weak<Inner>, url: &str) {
    loop {
        let wait = hear(inner, url).await;
        let Some(alive) = inner.upgrade() else { return };
        if let Err(error) = wait {
            tracing::debug!(%error, "the store's notifications are not heard for now");
        }
        drop(alive);
        tokio::time::sleep(RECONNECT_PAUSE).await;
    }
}

/// Connects and hears until the connection ends.
async fn hear(inner: &Weak<Inner>, url: &str) -> Result<()> {
    let config: Config = config_of(url)?;
    if let Some(connector) = tls::connector(&config)? {
        let (client, connection) = config.connect(connector).await.map_err(fault)?;
        hear_on(inner, &client, connection).await
    } else {
        let (client, connection) = config.connect(NoTls).await.map_err(fault)?;
        hear_on(inner, &client, connection).await
    }
}

async fn hear_on<S>(inner: &Weak<Inner>, client: &Client, mut connection: Connection<Socket, S>) -> Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let hearing = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            let (AsyncMessage::Notification(said), Some(inner)) = (message.map_err(fault)?, inner.upgrade())
            else {
                continue;
            };
            if let Some(changes) = inner.herald.wait(said.payload()) {
                inner.invalidation.commit_signal().signal_changes(changes);
            }
        }
        Ok(())
    };
    let asking = async {
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await.map_err(fault)?;
        // What was said before is not known.
        if let Some(inner) = inner.upgrade() {
            inner.invalidation.commit_signal().signal_all();
        }
        std::future::pending::<Result<()>>().await
    };
    tokio::select! {
        ended = hearing => ended,
        failed = asking => failed,
    }
}
