//! The engine's tasks: what is decided just before access ends is not sent, and a poll that hangs is repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::retry::Schedule;
use domain::{AccountId, ClientId, Guid, TenantId, WebhookId};
use parking_lot::Mutex;
use store::memory::MemoryStore;
use store::{
    AttemptTiming, AuditContext, ClientAccess, Clients as _, Grants as _, History as _, NewWebhook, Status,
    WebhookChange, Webhooks as _,
};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use webhooks::EngineNotifier as _;
use webhooks::egress::{EgressError, Exchange, MaySend, OutboundRequest, ReceiverResponse};
use webhooks::engine::{Engine, EngineStore, Ports, Settings, Transport};

use super::hanging_store::HangingStore;
use super::{LONG_TIMEOUT, RecordedTasks, TestClock, query};
use crate::authorization::{ALL_SCOPES, USER, authorize};
use crate::simulation::fixture::{Fixture, START, random_webhook, resources};
use crate::simulation::random::{RandomBytes, SeededRandom};

/// What happens while a request waits for its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meanwhile {
    Nothing,
    AccessIsWithdrawn,
    ClientIsDisabled,
    WebhookIsDisabled,
}

/// Opens a connection, during which something happens once, asks whether it may send, and responds 200.
struct SlowTransport {
    meanwhile: Mutex<Meanwhile>,
    store: Arc<MemoryStore>,
    webhook: NewWebhook,
    engine: watch::Receiver<Option<Engine>>,
    sent: AtomicUsize,
    refused: AtomicUsize,
}

#[async_trait]
impl Transport for SlowTransport {
    async fn send(&self, _request: OutboundRequest, may_send: &MaySend<'_>) -> Exchange {
        assert!(may_send(), "it asked before it opened a connection");
        let meanwhile = std::mem::replace(&mut *self.meanwhile.lock(), Meanwhile::Nothing);
        self.happen(meanwhile).await;
        if !may_send() {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Exchange::failed(EgressError::NotAllowed);
        }
        self.sent.fetch_add(1, Ordering::Relaxed);
        let body = Bytes::from_static(b"ok");
        let response = ReceiverResponse { status: 200, sets_cookie: false, retry_after: None, body };
        Exchange { result: Ok(response), timing: AttemptTiming::default(), reused: false }
    }
}

impl SlowTransport {
    /// Returns when the owner has the response: from then on nothing may be sent.
    async fn happen(&self, what: Meanwhile) {
        let (owner, context) = (&self.webhook.owner, AuditContext::default());
        match what {
            Meanwhile::Nothing => {}
            Meanwhile::AccessIsWithdrawn => {
                let access = ClientAccess {
                    user: AccountId::new(USER),
                    client: owner.client.clone(),
                    tenant: owner.tenant.clone(),
                };
                self.store.revoke_client_access(&access, START, &context, "").await.unwrap();
            }
            Meanwhile::ClientIsDisabled => {
                self.store.set_client_status(&owner.client, Status::Disabled, &context).await.unwrap();
            }
            Meanwhile::WebhookIsDisabled => {
                let change = WebhookChange::Disable;
                self.store.change_webhook(self.webhook.id, None, change, &context).await.unwrap();
                let engine = self.engine.borrow().clone().unwrap();
                engine.webhook_changed(self.webhook.id).await;
            }
        }
    }
}

struct Running {
    store: Arc<MemoryStore>,
    transport: Arc<SlowTransport>,
    tasks: RecordedTasks,
    stop: watch::Sender<bool>,
}

impl Running {
    /// An engine with one webhook whose handshake is due. `wrap`: the store as the engine sees it.
    async fn start<S: EngineStore>(
        meanwhile: Meanwhile,
        wrap: impl FnOnce(Arc<MemoryStore>) -> Arc<S>,
    ) -> Self {
        let fixture = Fixture::new(1);
        let mut webhook = random_webhook(&mut SeededRandom::new(1), "https://receiver.example/hook".into());
        (webhook.resource, webhook.enabled) = (resources()[0], true);
        let store = Arc::new(fixture.store);
        store.subscribe(webhook.clone(), 100, &AuditContext::default()).await.unwrap();
        let (set_engine, engine) = watch::channel(None);
        let transport = Arc::new(SlowTransport {
            meanwhile: Mutex::new(meanwhile),
            store: store.clone(),
            webhook,
            engine,
            sent: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
        });
        let ports = Ports {
            store: wrap(store.clone()),
            clock: Arc::new(TestClock { started: Instant::now(), panics: false.into() }),
            random: Arc::new(RandomBytes(Mutex::new(SeededRandom::new(2)))),
            transport: transport.clone(),
        };
        let schedule = Schedule { pauses: vec![Duration::from_secs(60)], window: Duration::from_secs(600) };
        let settings = Settings::new(schedule, Duration::from_secs(5));
        let (stop, stopped) = watch::channel(false);
        let tasks = RecordedTasks::default();
        let engine = Engine::start(ports, settings, Guid::from_bytes([1; 16]), &tasks, stopped);
        set_engine.send_replace(Some(engine));
        Self { store, transport, tasks, stop }
    }

    fn webhook(&self) -> WebhookId {
        self.transport.webhook.id
    }

    fn owner(&self) -> (&TenantId, &ClientId) {
        (&self.transport.webhook.owner.tenant, &self.transport.webhook.owner.client)
    }

    async fn wait_for(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        let met = async {
            while !condition(self) {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(LONG_TIMEOUT, met).await.unwrap_or_else(|_| panic!("{what}"));
    }

    fn sent(&self) -> usize {
        self.transport.sent.load(Ordering::Relaxed)
    }

    async fn end(self) {
        self.stop.send_replace(true);
        assert_eq!(self.tasks.join_all().await, [""; 0]);
    }
}

#[tokio::test]
async fn attempt_is_not_sent_when_access_ends_while_its_connection_opens() {
    for meanwhile in [Meanwhile::AccessIsWithdrawn, Meanwhile::ClientIsDisabled, Meanwhile::WebhookIsDisabled]
    {
        let running = Running::start(meanwhile, |store| store).await;
        let refused = |running: &Running| running.transport.refused.load(Ordering::Relaxed) == 1;
        running.wait_for("the attempt is decided and not sent", refused).await;
        assert_eq!(running.sent(), 0, "{meanwhile:?}");
        let context = AuditContext::default();
        let (tenant, client) = running.owner();
        match meanwhile {
            Meanwhile::ClientIsDisabled => {
                running.store.set_client_status(client, Status::Active, &context).await.unwrap();
            }
            Meanwhile::WebhookIsDisabled => {
                let change = WebhookChange::Enable;
                running.store.change_webhook(running.webhook(), None, change, &context).await.unwrap();
            }
            _ => authorize(&running.store, tenant.as_str(), client.as_str(), ALL_SCOPES, START).await,
        }
        // The schedule's pause is a minute: an attempt that counted as failed would come then.
        running.wait_for("it is sent when access stands again", |running| running.sent() == 1).await;
        let query = query(running.webhook());
        let recorded = async {
            while running.store.attempts(&query).await.unwrap().is_empty() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(LONG_TIMEOUT, recorded).await.expect("the handshake is recorded");
        let attempts = running.store.attempts(&query).await.unwrap();
        assert_eq!((attempts.len(), attempts[0].number), (1, 1), "{meanwhile:?}");
        running.end().await;
    }
}

#[tokio::test]
async fn poll_that_hangs_is_repeated_and_nothing_is_leased_before_one_has_read_the_last_change() {
    let hanging = Arc::new(Mutex::new(None));
    let kept = hanging.clone();
    let running = Running::start(Meanwhile::Nothing, |store| {
        let store = Arc::new(HangingStore::new(store, 1));
        *kept.lock() = Some(store.clone());
        store
    })
    .await;
    running.wait_for("the poll is repeated", |running| running.sent() == 1).await;
    let store = hanging.lock().clone().unwrap();
    assert_eq!(store.calls.lock()[..3], ["hang", "poll", "renew"]);
    running.end().await;
}

#[tokio::test]
async fn nothing_is_sent_while_polls_hang_and_the_next_answer_ends_that() {
    let hanging = Arc::new(Mutex::new(None));
    let kept = hanging.clone();
    let running = Running::start(Meanwhile::Nothing, |store| {
        let store = Arc::new(HangingStore::new(store, 0));
        *kept.lock() = Some(store.clone());
        store
    })
    .await;
    running.wait_for("the handshake is sent", |running| running.sent() == 1).await;
    let store = hanging.lock().clone().unwrap();
    store.all_hang.send_replace(true);
    let hung_at = Instant::now();
    // The owner asks for attempts until one is not sent any more; each needs a url of its own.
    let mut number = 0;
    let ask = async |number: usize| {
        let change = WebhookChange::ChangeUrl(format!("https://receiver.example/{number}"));
        running
            .store
            .change_webhook(running.webhook(), None, change, &AuditContext::default())
            .await
            .unwrap();
    };
    while hung_at.elapsed() < Duration::from_millis(2100) {
        number += 1;
        ask(number).await;
        sleep(Duration::from_millis(50)).await;
    }
    let sent = running.sent();
    assert!(sent > 1, "the knowledge is recent enough at first");
    let renewals = || store.calls.lock().iter().filter(|call| **call == "renew").count();
    let before = renewals();
    number += 1;
    ask(number).await;
    running.wait_for("the leases are renewed, twice", |_| renewals() > before + 1).await;
    assert_eq!(running.sent(), sent, "nothing is sent on old knowledge");
    store.all_hang.send_replace(false);
    running.wait_for("it goes on", |running| running.sent() > sent).await;
    running.end().await;
}
