//! The stage: a store with two tenants, a management over it, names that resolve as they are told to, and a hand that
//! does what the engine would.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use domain::change::Change;
use domain::egress::EgressPolicy;
use domain::retry::RetryState;
use domain::{
    Caller, ClientId, Clock, GrantId, Guid, Random, Resource, Scopes, TenantId, Ticks, UserId, WebhookId,
};
use http_body_util::BodyExt as _;
use parking_lot::Mutex;
use serde_json::{Value, json};
use store::memory::MemoryStore;
use store::{
    AttemptPurpose, AttemptRecord, AttemptTiming, BatchCounts, ChangeBatch, ChangeLine, ChangeLog as _,
    Deliveries as _, Directory as _, HandshakeStep, Lane, MasterKey, Status, SuccessfulDelivery, Tenant,
    Vault, Webhook, WebhookCheckpoint, Webhooks as _,
};
use webhooks::Nudge;
use webhooks::egress::{Egress, EgressSettings, Resolve};
use webhooks::management::{Call, HostCheck, Management, Operation, Ports, Route, Settings, Side};

pub(super) const START: Ticks = Ticks(638_000_000_000_000_000);
pub(super) const NOBODY: &str = "00000000-0000-0000-0000-000000000000";
pub(super) const CUSTOMERS: &str = "Svc.ACC.Customers.";
pub(super) const URI: &str = "https://receiver.example/api/webhooks/incoming/Invoicing";
/// Where calls come from, and where `receiver.example` is.
pub(super) const HOME: [u8; 4] = [203, 0, 114, 7];

struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Ticks {
        Ticks(self.0.load(Ordering::Relaxed))
    }
}

struct Counting(AtomicU64);

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes.iter_mut().rev().zip(number.iter().rev()).for_each(|(byte, of_number)| *byte = *of_number);
    }
}

/// Few names are known.
struct Names;

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, String> {
        match name {
            "receiver.example" => Ok(vec![IpAddr::from(HOME)]),
            "other.example" => Ok(vec![IpAddr::from([198, 41, 0, 4])]),
            "localhost" => Ok(vec![IpAddr::from([127, 0, 0, 1])]),
            "inside.example" => Ok(vec![IpAddr::from([10, 0, 0, 1])]),
            "silent.example" => std::future::pending().await,
            _ => Err("there is no such name".into()),
        }
    }
}

#[derive(Default)]
pub(super) struct Heard(pub(super) Mutex<Vec<WebhookId>>);

#[async_trait]
impl Nudge for Heard {
    async fn touched(&self, webhook: WebhookId) {
        self.0.lock().push(webhook);
    }
}

pub(super) struct Stage {
    pub(super) store: Arc<MemoryStore>,
    pub(super) management: Management,
    pub(super) heard: Arc<Heard>,
    clock: Arc<HandClock>,
}

/// An answer, read whole.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Told {
    pub(super) fn id(&self) -> &str {
        self.body["webhookId"].as_str().or(self.body["id"].as_str()).unwrap()
    }

    /// A done operation of the accounting family.
    #[track_caller]
    pub(super) fn done(&self, state: u8) -> &str {
        assert_eq!(self.status, 200, "{self:?}");
        let expected = json!({"responseState": state, "webhookId": self.id(), "errors": []});
        assert_eq!(self.body, expected);
        self.id()
    }

    /// A refused operation of the accounting family: its code and its field.
    #[track_caller]
    pub(super) fn refused(&self, status: u16, webhook: &str, code: &str, field: Option<&str>) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.body["responseState"], 1, "{self:?}");
        assert_eq!(self.body["webhookId"], webhook, "{self:?}");
        assert_eq!(self.body["statusCode"], status);
        assert_eq!(self.body["requestId"], "request-1");
        let fault = &self.body["errors"][0];
        assert_eq!(fault["code"], code, "{self:?}");
        assert_eq!(fault["field"].as_str(), field, "{self:?}");
        assert_eq!(self.body["message"], fault["message"], "{self:?}");
    }

    /// A refusal in the plain error body, which is written by the outermost layer: here there is only its problem.
    #[track_caller]
    pub(super) fn problem(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.body["code"], code, "{self:?}");
    }
}

/// A call under way.
pub(super) struct Asking<'a> {
    stage: &'a Stage,
    route: Route,
    tenant: &'static str,
    client: &'static str,
    names: Vec<(String, String)>,
    query: String,
    headers: HeaderMap,
    body: Vec<u8>,
    address: IpAddr,
}

impl Asking<'_> {
    pub(super) fn of(mut self, webhook: &str) -> Self {
        for name in ["webhookId", "id"] {
            self.names.push((name.into(), webhook.into()));
        }
        self
    }

    pub(super) fn outgoing(mut self, id: &str) -> Self {
        self.names.push(("outgoingId".into(), id.into()));
        self
    }

    pub(super) fn by(mut self, tenant: &'static str, client: &'static str) -> Self {
        (self.tenant, self.client) = (tenant, client);
        self
    }

    pub(super) fn body(mut self, body: &Value) -> Self {
        self.body = body.to_string().into_bytes();
        self
    }

    pub(super) fn bytes(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    pub(super) fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }

    pub(super) fn query(mut self, query: &str) -> Self {
        self.query = format!("?{query}");
        self
    }

    pub(super) fn from(mut self, address: [u8; 4]) -> Self {
        self.address = address.into();
        self
    }

    pub(super) async fn send(self) -> Told {
        let caller = Caller {
            user: UserId::new("user-1"),
            tenant: TenantId::new(self.tenant),
            client: ClientId::new(self.client),
            grant: GrantId::new("grant-1"),
            scopes: Scopes::default(),
            expires_at: Ticks(i64::MAX),
        };
        let call = Call {
            caller: Arc::new(caller),
            names: self.names,
            uri: format!("{}{}", self.route.path().replace(['{', '}'], ""), self.query).parse().unwrap(),
            headers: self.headers,
            now: self.stage.clock.now(),
            address: self.address,
            request_id: "request-1".into(),
        };
        let response = self.stage.management.answer(self.route, call, Body::from(self.body)).await;
        let (parts, body) = response.into_parts();
        let problem = parts.extensions.get::<domain::problem::Problem>();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = match problem {
            Some(problem) => {
                let fault = problem.errors.first().cloned();
                json!({
                    "message": problem.message, "code": fault.as_ref().map(|fault| fault.code.clone()),
                    "field": fault.and_then(|fault| fault.field),
                    "all": problem.errors,
                })
            }
            None if bytes.is_empty() => Value::Null,
            None => serde_json::from_slice(&bytes).unwrap(),
        };
        Told { status: parts.status.as_u16(), headers: parts.headers, body }
    }
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(super) fn with(set: impl FnOnce(&mut Settings)) -> Self {
        let clock = Arc::new(HandClock(AtomicI64::new(START.0)));
        let random: Arc<dyn Random> = Arc::new(Counting(AtomicU64::new(1)));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
        let ports = store::Ports { clock: clock.clone(), random: random.clone(), vault };
        let store = Arc::new(MemoryStore::new(ports).unwrap());
        let mut settings = Settings {
            base_url: "https://api.example".into(),
            webhooks_max: 5,
            host_check: HostCheck::Off,
            is_local: false,
            window: Duration::from_secs(24 * 3600),
        };
        set(&mut settings);
        let policy = EgressPolicy { loopback: settings.is_local, ..EgressPolicy::default() };
        let egress = EgressSettings { policy, ..EgressSettings::default() };
        let heard = Arc::new(Heard::default());
        let ports = Ports {
            store: store.clone(),
            random,
            egress: Egress::with_resolver(egress, Arc::new(Names)).unwrap(),
            nudge: heard.clone(),
        };
        Self { store, management: Management::new(ports, settings), heard, clock }
    }

    /// With two tenants, each with a company.
    pub(super) async fn ready(self) -> Self {
        for id in ["tenant-a", "tenant-b"] {
            let tenant = Tenant {
                id: TenantId::new(id),
                name: id.into(),
                short_code: id.into(),
                status: Status::Active,
                created_at: START,
            };
            self.store.add_tenant(&tenant).await.unwrap();
        }
        self.apply(
            r#"{"area":"accounting","resource":"companies","action":"upsert","correlationId":"c","data":{"vatName":"B","vatNumber":"B12345674","chartOfAccountId":1,"accountLength":9}}"#,
        )
        .await;
        self
    }

    /// A change of tenant-a's; tells its number.
    pub(super) async fn apply(&self, line: &str) -> u64 {
        let change = Change::parse(line.as_bytes(), || Guid::from_bytes([9; 16])).unwrap().change;
        let batch = ChangeBatch {
            tenant: TenantId::new("tenant-a"),
            process: Guid::from_bytes([1; 16]),
            lines: vec![ChangeLine { number: 1, change }],
            counts: BatchCounts::default(),
            checkpoint: None,
        };
        let counts = self.store.apply_changes(batch).await.unwrap();
        assert_eq!(counts.rejected, 0, "{counts:?}");
        counts.last_sequence
    }

    /// A charge is written; tells the number of its change.
    pub(super) async fn charge(&self, record: &str, value: u64) -> u64 {
        self.apply(&format!(
            r#"{{"area":"accounting","resource":"charges","company":"c","correlationId":"{record}","action":"upsert","data":{{"value":{value}}},"user":"maria"}}"#
        ))
        .await
    }

    pub(super) fn pass(&self, seconds: u64) {
        let now = self.clock.now() + Duration::from_secs(seconds);
        self.clock.0.store(now.0, Ordering::Relaxed);
    }

    pub(super) fn now(&self) -> Ticks {
        self.clock.now()
    }

    fn ask(&self, side: Side, operation: Operation) -> Asking<'_> {
        let route = Route { side, operation };
        assert!(Route::all().any(|one| one == route), "{route:?}");
        let (names, headers) = (Vec::new(), HeaderMap::new());
        let (query, body, address) = (String::new(), Vec::new(), HOME.into());
        Asking {
            stage: self,
            route,
            tenant: "tenant-a",
            client: "app-1",
            names,
            query,
            headers,
            body,
            address,
        }
    }

    pub(super) fn family(&self, resource: Resource, operation: Operation) -> Asking<'_> {
        self.ask(Side::Of(resource), operation)
    }

    pub(super) fn customers(&self, operation: Operation) -> Asking<'_> {
        self.family(Resource::customers(), operation)
    }

    pub(super) fn charges(&self, operation: Operation) -> Asking<'_> {
        self.family(charges(), operation)
    }

    pub(super) fn invoicing(&self, operation: Operation) -> Asking<'_> {
        self.ask(Side::Invoicing, operation)
    }

    /// A webhook for customers.
    pub(super) async fn subscribed(&self) -> String {
        self.customers(Operation::Subscribe).body(&wish()).send().await.done(3).to_owned()
    }

    /// An active webhook for charges.
    pub(super) async fn active(&self) -> String {
        let body = json!({
            "thirdPartyApplicationName": "App", "url": "https://receiver.example/hook", "secret": "s",
            "eventTypes": ["Svc.ACC.Charges.ChargeCreated", "Svc.ACC.Charges.ChargeUpdated"],
        });
        let id = self.charges(Operation::Subscribe).body(&body).send().await.done(3).to_owned();
        self.accept(&id).await;
        id
    }

    pub(super) async fn kept(&self, webhook: &str) -> Webhook {
        self.store.find_webhook(Guid::parse(webhook).unwrap()).await.unwrap().unwrap()
    }

    /// What the engine would write of a webhook.
    pub(super) async fn engine(&self, webhook: &str, write: impl FnOnce(&mut WebhookCheckpoint)) {
        let kept = self.kept(webhook).await;
        let held = self
            .store
            .renew_shard_leases(Guid::from_bytes([3; 16]), 1, Duration::from_secs(60))
            .await
            .unwrap();
        let shard = store::shard_of(kept.id);
        let fence = held.iter().find(|one| one.shard == shard).unwrap().fence;
        let mut point = WebhookCheckpoint::new(kept.id, fence, kept.revision);
        write(&mut point);
        assert_eq!(self.store.checkpoint(vec![point]).await.unwrap(), [store::CheckpointResult::Written]);
    }

    /// The receiver accepts the handshake.
    pub(super) async fn accept(&self, webhook: &str) {
        let number = self.kept(webhook).await.handshake.number;
        let head = self.store.log_bounds(&TenantId::new("tenant-a")).await.unwrap().head;
        self.engine(webhook, |point| point.handshake = Some(HandshakeStep::Accepted { number, head })).await;
    }

    pub(super) async fn deliver(&self, webhook: &str, sequence: u64) {
        let at = self.now();
        self.engine(webhook, |point| {
            point.cursor = Some(sequence);
            point.delivered = vec![SuccessfulDelivery { sequence, at, status: 204, duration_ms: 40 }];
        })
        .await;
    }

    /// An event that could not be delivered, and will be tried again.
    pub(super) async fn fail(&self, webhook: &str, sequence: u64, number: u32) {
        let at = self.now();
        self.engine(webhook, |point| {
            point.cursor = Some(sequence);
            point.attempts = vec![attempt(AttemptPurpose::Event { sequence }, number, at)];
            let retry =
                RetryState { attempts: number, first_failed_at: START, next_at: at + Duration::from_secs(5) };
            point.parked = vec![Lane { record_key: i64::try_from(sequence).unwrap(), sequence, retry }];
        })
        .await;
    }
}

pub(super) fn attempt(purpose: AttemptPurpose, number: u32, at: Ticks) -> AttemptRecord {
    let milliseconds = Duration::from_millis;
    AttemptRecord {
        at,
        purpose,
        number,
        status: Some(500),
        succeeded: false,
        reason: "the answer was 500; a 2xx is wanted".into(),
        excerpt: "Oops".into(),
        timing: AttemptTiming {
            resolve: milliseconds(1),
            connect: milliseconds(2),
            tls: milliseconds(3),
            wait: milliseconds(4),
            total: milliseconds(10),
        },
    }
}

pub(super) fn charges() -> Resource {
    Resource::find(domain::Area::Accounting, "charges").unwrap()
}

/// The body of a subscription to customers.
pub(super) fn wish() -> Value {
    json!({
        "thirdPartyApplicationName": "App", "url": "https://receiver.example/hook", "secret": "s3cret",
        "eventTypes": [format!("{CUSTOMERS}CustomerCreated"), format!("{CUSTOMERS}CustomerUpdated")],
    })
}

/// The same with another value.
pub(super) fn wish_with(name: &str, value: Value) -> Value {
    let mut body = wish();
    body[name] = value;
    body
}

/// The body of an invoicing subscription.
pub(super) fn entity_wish() -> Value {
    json!({
        "uri": URI, "entity": "SaleInvoice", "action": "Created", "secret": "s3cret", "isPaused": false,
        "applicationName": "App", "description": "New invoices",
    })
}
