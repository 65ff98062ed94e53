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
use crate::{Resources, Result, Rung};

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
    rung: Rung,
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
    fn words(&self, rung: &Rung) -> String {
        let from = self.name.to_string();
        let words = Words {
            from: from.clone(),
            tenants: rung.tenants.iter().map(|(id, by)| (id.as_str().to_owned(), by.bits())).collect(),
            webhooks: rung.webhooks.iter().map(ToString::to_string).collect(),
            access: rung.access,
            all: rung.all,
        };
        let text = serde_json::to_string(&words).unwrap_or_default();
        if (1..=PAYLOAD_BYTES_MAX).contains(&text.len()) {
            return text;
        }
        serde_json::to_string(&Words { from, all: true, ..Words::default() }).unwrap_or_default()
    }

    /// What another node has said; none where it is an echo.
    fn heard(&self, payload: &str) -> Option<Rung> {
        let Ok(words) = serde_json::from_str::<Words>(payload) else {
            return Some(Rung { all: true, ..Rung::default() });
        };
        let tenants =
            words.tenants.into_iter().map(|(id, bits)| (TenantId::new(id), Resources::from_bits(bits)));
        (words.from != self.name.to_string()).then(|| Rung {
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
    pub(super) fn records_moved(&self, tenant: &TenantId, resources: Resources) {
        self.inner.moves.records_moved(tenant, resources);
        if !resources.is_empty() {
            self.tell(|rung| rung.add_records(tenant, resources));
        }
    }

    pub(super) fn access_moved(&self) {
        self.inner.moves.access_moved();
        self.tell(|rung| rung.access = true);
    }

    pub(super) fn webhook_moved(&self, webhook: WebhookId) {
        self.inner.moves.bell().ring_webhook(webhook);
        self.tell(|rung| {
            rung.webhooks.insert(webhook);
        });
    }

    pub(super) fn all_moved(&self) {
        self.inner.moves.bell().ring_all();
        self.tell(|rung| rung.all = true);
    }

    fn tell(&self, add: impl FnOnce(&mut Rung)) {
        let mut news = self.inner.herald.news.lock();
        add(&mut news.rung);
        if !std::mem::replace(&mut news.is_being_told, true) {
            let store = self.clone();
            tokio::spawn(async move { store.tell_all().await });
        }
    }

    async fn tell_all(&self) {
        while let Some(rung) = self.next_news() {
            let words = self.inner.herald.words(&rung);
            if let Err(error) = self.row("SELECT pg_notify($1, $2)", &[&CHANNEL, &words]).await {
                tracing::debug!(%error, "other nodes were not told; they will look by themselves");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// None: who comes next must tell.
    fn next_news(&self) -> Option<Rung> {
        let mut news = self.inner.herald.news.lock();
        let rung = std::mem::take(&mut news.rung);
        news.is_being_told = !rung.is_empty();
        news.is_being_told.then_some(rung)
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
        let heard = hear(inner, url).await;
        let Some(alive) = inner.upgrade() else { return };
        if let Err(error) = heard {
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
            if let Some(rung) = inner.herald.heard(said.payload()) {
                inner.moves.bell().ring_with(rung);
            }
        }
        Ok(())
    };
    let asking = async {
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await.map_err(fault)?;
        // What was said before is not known.
        if let Some(inner) = inner.upgrade() {
            inner.moves.bell().ring_all();
        }
        std::future::pending::<Result<()>>().await
    };
    tokio::select! {
        ended = hearing => ended,
        failed = asking => failed,
    }
}
