//! The operator's API over a store in memory, with a clock that moves at every look.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use domain::delivery::{
    DeliveryName, DeliveryPage, DeliveryPageQuery, DeliveryView, HistoryError, ReplayRequest, ReplayView,
    WebhookHealth,
};
use domain::{Clock, Guid, Random, Realm, Secret, Ticks, WebhookId, WebhookStatus};
use http_body_util::BodyExt as _;
use operator::admin::{Admin, Authority, CallLimits, WebhookAdmin};
use operator::ports::{AccountLinks, HistoryResult, WebhookHistory};
use operator::{AppState, OperatorToken};
use serde_json::Value;
use store::memory::MemoryStore;
use store::{AuditContext, Invitation, LogEvent, Mail, MailContent, MasterKey, Ports, Store, Vault, Webhook};
use tower::ServiceExt as _;
use web::{Metrics, RequestLayer, RequestLayerConfig};

struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Ticks {
        Ticks(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

struct TestRandom(AtomicU64);

impl Random for TestRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes.iter_mut().rev().zip(number.iter().rev()).for_each(|(byte, of_number)| *byte = *of_number);
    }
}

/// These tests have no webhooks.
struct NoHistory;

#[async_trait]
impl WebhookHistory for NoHistory {
    async fn health(&self, _: WebhookId) -> HistoryResult<WebhookHealth> {
        Err(HistoryError::NoWebhook)
    }

    async fn deliveries(&self, _: WebhookId, _: &DeliveryPageQuery) -> HistoryResult<DeliveryPage> {
        Err(HistoryError::NoWebhook)
    }

    async fn delivery(&self, _: WebhookId, _: DeliveryName) -> HistoryResult<DeliveryView> {
        Err(HistoryError::NoWebhook)
    }

    async fn deliveries_of(
        &self,
        _: &Webhook,
        _: WebhookStatus,
        _: &[LogEvent],
    ) -> HistoryResult<Vec<DeliveryView>> {
        Err(HistoryError::NoWebhook)
    }

    async fn replays(&self, _: WebhookId) -> HistoryResult<Vec<ReplayView>> {
        Err(HistoryError::NoWebhook)
    }

    async fn request_replay(
        &self,
        _: WebhookId,
        _: ReplayRequest,
        _: &AuditContext,
    ) -> HistoryResult<ReplayView> {
        Err(HistoryError::NoWebhook)
    }
}

/// Links, and mails if a mail server is configured.
struct TestLinks {
    is_mailed: bool,
}

impl AccountLinks for TestLinks {
    fn invitation_url(&self, realm: Realm, token: &Secret) -> Secret {
        Secret::new(format!("https://{}.example/invitation?token={}", realm.as_str(), token.reveal()))
    }

    fn invitation_mail(&self, invitation: &Invitation, url: &Secret, now: Ticks) -> Option<Mail> {
        let text = |text: &str| Secret::new(text.to_owned());
        self.is_mailed.then(|| Mail {
            id: Guid::parse(invitation.id.as_str()).unwrap(),
            kind: "invitation".into(),
            recipient: invitation.email.clone(),
            lang: invitation.lang.clone(),
            content: MailContent { subject: text("s"), text: url.clone(), html: text("h") },
            created_at: now,
            expires_at: invitation.expires_at,
        })
    }

    fn reset_url(&self, realm: Realm, token: &Secret) -> Secret {
        Secret::new(format!("https://{}.example/reset?token={}", realm.as_str(), token.reveal()))
    }

    fn reset_mail(&self, account: &store::Account, url: &Secret, now: Ticks) -> Option<Mail> {
        let text = |text: &str| Secret::new(text.to_owned());
        self.is_mailed.then(|| Mail {
            id: Guid::from_bytes([7; 16]),
            kind: "password_reset".into(),
            recipient: account.email.clone(),
            lang: account.lang.clone(),
            content: MailContent { subject: text("s"), text: url.clone(), html: text("h") },
            created_at: now,
            expires_at: now + store::PASSWORD_RESET_LIFE,
        })
    }

    fn second_factor_mail(&self, _: &store::Account, _: Ticks) -> Option<Mail> {
        None
    }
}

pub(super) struct Api {
    router: Router,
    pub(super) store: Arc<dyn Store>,
    pub(super) admin: Admin,
}

/// A status and a JSON body.
pub(super) type Reply = (u16, Value);

impl Api {
    /// Without a mail server.
    pub(super) fn new() -> Self {
        Self::with_mail(false)
    }

    pub(super) fn with_mail(is_mailed: bool) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(TestClock(AtomicI64::new(638_000_000_000_000_000)));
        let random: Arc<dyn Random> = Arc::new(TestRandom(AtomicU64::new(1)));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
        let ports = Ports { clock: clock.clone(), random: random.clone(), vault };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(ports).unwrap());
        let metrics = Metrics::new();
        let layer = RequestLayer::new(RequestLayerConfig::new("operator", &*random, &metrics));
        let webhooks =
            WebhookAdmin { store: store.clone(), clock: clock.clone(), history: Arc::new(NoHistory) };
        let links = Arc::new(TestLinks { is_mailed });
        let admin = Admin {
            store: store.clone(),
            clock,
            random,
            links,
            limits: CallLimits { rate_per_minute: Some(300), calls_per_day: Some(10_000) },
            is_local: false,
            authority: Authority::default(),
        };
        let token = OperatorToken::new(&Secret::new("token"));
        let state = AppState::new(admin.clone(), webhooks, token, &metrics);
        Self { router: operator::router(state).layer(layer), store, admin }
    }

    pub(super) async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Reply {
        let request = Request::builder()
            .method(method)
            .uri(format!("/operator/v1{path}"))
            .header("authorization", "Bearer token")
            .header("content-type", "application/json")
            .body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        let (status, body) = self.call(Method::GET, path, None).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    pub(super) async fn add(&self, path: &str, body: &Value) -> Value {
        let (status, body) = self.call(Method::POST, path, Some(body)).await;
        assert_eq!(status, 201, "{body}");
        body
    }

    pub(super) async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::PATCH, path, Some(body)).await
    }
}
