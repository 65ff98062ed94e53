//! A memory store with a tenant, a company and two clients, a clock that tests set, a fake history, and
//! writes as the delivery engine makes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use domain::change::Change;
use domain::retry::RetryState;
use domain::{
    AccountId, Area, ClientId, Clock, GrantId, Guid, MembershipId, Random, Realm, Resource, Scopes, Secret,
    TenantId, Ticks,
};
use store::memory::MemoryStore;
use store::{
    Actor, ActorFilter, AttemptPurpose, AttemptRecord, AttemptTiming, AuditContext, AuditQuery,
    AuthorizationCode, BatchCounts, ChangeBatch, ChangeLine, CheckpointResult, Client, CodeExchange, Consent,
    Grant, HandshakeStep, Invitation, Lane, LeaseRenewal, Mail, MasterKey, NewGrant, NewWebhook, Pkce,
    Status, SubscribeOutcome, SuccessfulDelivery, Tenant, Vault, Webhook, WebhookCheckpoint, WebhookOwner,
};

use super::FakeHistory;
use crate::admin::{Admin, Authority, NewUser, WebhookAdmin};
use crate::ports::AccountLinks;

pub(super) const START: Ticks = Ticks(638_000_000_000_000_000);
pub(super) const TENANT: &str = "tenant-a";
pub(super) const SECRET: &str = "a secret that no response may contain";

struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Ticks {
        Ticks(self.0.load(Ordering::Relaxed))
    }
}

struct CountingRandom(AtomicU64);

impl Random for CountingRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes.iter_mut().rev().zip(number.iter().rev()).for_each(|(byte, of_number)| *byte = *of_number);
    }
}

/// Nobody is invited here.
struct NoLinks;

impl AccountLinks for NoLinks {
    fn invitation_url(&self, _: Realm, token: &Secret) -> Secret {
        token.clone()
    }

    fn invitation_mail(&self, _: &Invitation, _: &Secret, _: Ticks) -> Option<Mail> {
        None
    }

    fn reset_url(&self, _: Realm, token: &Secret) -> Secret {
        token.clone()
    }

    fn reset_mail(&self, _: &store::Account, _: &Secret, _: Ticks) -> Option<Mail> {
        None
    }

    fn second_factor_mail(&self, _: &store::Account, _: Ticks) -> Option<Mail> {
        None
    }
}

pub(super) struct Fixture {
    pub(super) admin: Admin,
    pub(super) webhooks: WebhookAdmin,
    pub(super) history: Arc<FakeHistory>,
    clock: Arc<TestClock>,
}

pub(super) fn context() -> AuditContext {
    AuditContext { actor: Actor::Operator, address: "192.0.2.7".into(), request_id: "request-1".into() }
}

pub(super) fn authority() -> Authority {
    Authority::admin(context())
}

pub(super) fn charges() -> Resource {
    Resource::find(Area::Accounting, "charges").unwrap()
}

impl Fixture {
    pub(super) async fn new() -> Self {
        let clock = Arc::new(TestClock(AtomicI64::new(START.0)));
        let random: Arc<dyn Random> = Arc::new(CountingRandom(AtomicU64::new(1)));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
        let ports = store::Ports { clock: clock.clone(), random: random.clone(), vault };
        let store: Arc<MemoryStore> = Arc::new(MemoryStore::new(ports).unwrap());
        let history = Arc::new(FakeHistory::default());
        let webhooks = WebhookAdmin { store: store.clone(), clock: clock.clone(), history: history.clone() };
        let admin = Admin {
            store,
            clock: clock.clone(),
            random,
            links: Arc::new(NoLinks),
            limits: crate::admin::CallLimits::default(),
            is_local: false,
            authority: authority(),
        };
        let fixture = Self { admin, webhooks, history, clock };
        fixture.add_tenant().await;
        fixture.add_user().await;
        for id in ["app-1", "app-2"] {
            fixture.add_client(id).await;
            fixture.authorize(id).await;
        }
        fixture
            .apply(
                r#"{"area":"accounting","resource":"companies","action":"upsert","correlationId":"c","data":{"vatName":"B","vatNumber":"B12345674","chartOfAccountId":1,"accountLength":9}}"#,
            )
            .await;
        fixture
    }

    async fn add_tenant(&self) {
        let tenant = Tenant {
            id: TenantId::new(TENANT),
            name: TENANT.into(),
            short_code: TENANT.into(),
            status: Status::Active,
            created_at: START,
            revision: store::FIRST_REVISION,
            sandbox_of: None,
        };
        self.admin.store.add_tenant(&tenant, &AuditContext::default()).await.unwrap();
    }

    async fn add_user(&self) {
        let new = NewUser {
            email: "user@example.com".into(),
            given_name: "Eva".into(),
            family_name: String::new(),
            lang: "es".into(),
            password: Secret::new("una contraseña larga"),
            tenants: vec![TenantId::new(TENANT)],
        };
        self.admin.add_user(new).await.unwrap();
    }

    /// The user signs in to the client.
    async fn authorize(&self, client: &str) {
        let (store, now, client) = (&self.admin.store, self.now(), ClientId::new(client));
        let user = store.find_account_by_email(Realm::Users, "user@example.com").await.unwrap().unwrap().id;
        let (secret, tenant) = (Secret::new(format!("code of {client}")), TenantId::new(TENANT));
        let expires_at = now + Duration::from_secs(3600);
        let code = AuthorizationCode {
            client: client.clone(),
            user: user.clone(),
            tenant: tenant.clone(),
            expires_at,
            details: String::new(),
        };
        store
            .store_code(&secret, &code, &MembershipId::new(""), now, &AuditContext::default())
            .await
            .unwrap();
        let grant = Grant {
            id: GrantId::new(format!("grant of {client}")),
            client: client.clone(),
            user,
            tenant,
            details: String::new(),
            created_at: now,
            last_used_at: now,
            expires_at,
            revoked_at: None,
        };
        let scopes = Scopes::parse("SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.COR.API SVC.ES.Webhooks").scopes;
        let new = NewGrant { grant, scopes, refresh: None, session: None };
        let exchange = CodeExchange { code: secret, client, now, context: context() };
        store.take_code(&exchange, Box::new(|_| Some(new))).await.unwrap();
    }

    async fn add_client(&self, id: &str) {
        let client = Client {
            id: ClientId::new(id),
            guid: self.admin.random.guid(),
            name: id.into(),
            redirect_uris: Vec::new(),
            post_logout_uris: Vec::new(),
            pkce: Pkce::IfSent,
            consent: Consent::None,
            kind: domain::ClientKind::Web,
            backchannel_logout_uri: None,
            callback_id_token: store::CallbackIdToken::Auto,
            products: domain::subscription::Products::all(),
            team: None,
            is_sandbox: false,
            status: Status::Active,
            created_at: START,
            revision: store::FIRST_REVISION,
        };
        self.admin.store.add_client(&client, &Secret::new(id), &AuditContext::default()).await.unwrap();
    }

    /// Applies a change; returns its sequence.
    pub(super) async fn apply(&self, line: &str) -> u64 {
        let change = Change::parse(line.as_bytes(), || Guid::from_bytes([9; 16])).unwrap().change;
        let batch = ChangeBatch {
            tenant: TenantId::new(TENANT),
            process: Guid::from_bytes([1; 16]),
            lines: vec![ChangeLine { number: 1, change }],
            counts: BatchCounts::default(),
            checkpoint: None,
            expires_at: None,
            edit: None,
        };
        let counts = self.admin.store.apply_changes(batch).await.unwrap();
        assert_eq!(counts.rejected, 0, "{counts:?}");
        counts.last_sequence
    }

    /// Writes a charge; returns the sequence of the change.
    pub(super) async fn charge(&self, record: &str, value: u64) -> u64 {
        let line = format!(
            r#"{{"area":"accounting","resource":"charges","company":"c","correlationId":"{record}","action":"upsert","data":{{"value":{value}}},"user":"maria"}}"#
        );
        self.apply(&line).await
    }

    pub(super) fn advance(&self, seconds: u64) {
        let now = self.clock.now() + Duration::from_secs(seconds);
        self.clock.0.store(now.0, Ordering::Relaxed);
    }

    pub(super) fn now(&self) -> Ticks {
        self.clock.now()
    }

    /// A webhook whose receiver has not accepted the handshake yet.
    pub(super) async fn subscribe(&self, client: &str, resource: Resource) -> String {
        let id = self.admin.random.guid();
        let new = NewWebhook {
            id,
            owner: WebhookOwner { tenant: TenantId::new(TENANT), client: ClientId::new(client) },
            user: AccountId::new("user-1"),
            resource,
            kinds: resource.event_kinds().into_iter().collect(),
            name: "Panel".into(),
            description: String::new(),
            url: format!("https://receiver.example/{id}"),
            secret: Secret::new(SECRET),
            host_mismatch: String::new(),
            enabled: true,
        };
        let made = self.admin.store.subscribe(new, 1000, &AuditContext::default()).await.unwrap();
        assert!(matches!(made, SubscribeOutcome::Created(_)));
        id.to_string()
    }

    /// An active webhook for charges.
    pub(super) async fn active_webhook(&self) -> String {
        let id = self.subscribe("app-1", charges()).await;
        self.accept(&id).await;
        id
    }

    pub(super) async fn webhook(&self, webhook: &str) -> Webhook {
        self.admin.store.find_webhook(Guid::parse(webhook).unwrap()).await.unwrap().unwrap()
    }

    /// Writes a checkpoint as the engine would.
    pub(super) async fn checkpoint(&self, webhook: &str, write: impl FnOnce(&mut WebhookCheckpoint)) {
        let (stored, store) = (self.webhook(webhook).await, &self.admin.store);
        let renewal = LeaseRenewal::new(Guid::from_bytes([3; 16]), Duration::from_secs(60));
        let leases = store.renew_shard_leases(&renewal).await.unwrap().held;
        let shard = store::shard_of(stored.id);
        let fence = leases.iter().find(|lease| lease.shard == shard).unwrap().fence;
        let mut checkpoint = WebhookCheckpoint::new(stored.id, fence, stored.revision);
        write(&mut checkpoint);
        assert_eq!(store.checkpoint(vec![checkpoint]).await.unwrap(), [CheckpointResult::Written]);
    }

    /// The receiver accepts the handshake.
    pub(super) async fn accept(&self, webhook: &str) {
        let number = self.webhook(webhook).await.handshake.number;
        let head = self.admin.store.log_bounds(&TenantId::new(TENANT)).await.unwrap().head;
        self.checkpoint(webhook, |checkpoint| {
            checkpoint.handshake = Some(HandshakeStep::Accepted { number, head });
        })
        .await;
    }

    pub(super) async fn deliver(&self, webhook: &str, sequence: u64) {
        let at = self.now();
        self.checkpoint(webhook, |checkpoint| {
            checkpoint.cursor = Some(sequence);
            checkpoint.delivered = vec![SuccessfulDelivery { sequence, at, status: 204, duration_ms: 40 }];
        })
        .await;
    }

    /// A failed attempt that will be retried.
    pub(super) async fn fail(&self, webhook: &str, sequence: u64, number: u32) {
        let (at, resource) = (self.now(), self.webhook(webhook).await.resource);
        let tenant = TenantId::new(TENANT);
        let tail = self.admin.store.read_tail(&tenant, resource, sequence - 1, 1).await.unwrap();
        let record_key = tail.events[0].record_key;
        self.checkpoint(webhook, |checkpoint| {
            checkpoint.cursor = Some(sequence);
            checkpoint.attempts = vec![attempt(AttemptPurpose::Event { sequence }, number, at)];
            let retry =
                RetryState { attempts: number, first_failed_at: START, next_at: at + Duration::from_secs(5) };
            checkpoint.parked = vec![Lane { record_key, sequence, retry }];
        })
        .await;
    }

    /// The service disables the webhook.
    pub(super) async fn disable_by_service(&self, webhook: &str) {
        self.checkpoint(webhook, |checkpoint| {
            checkpoint.disabled = Some("no delivery succeeded for 24 h".into());
        })
        .await;
    }

    /// The kinds and notes of the audit, oldest first.
    pub(super) async fn audit(&self) -> Vec<(&'static str, String)> {
        let actor = ActorFilter::parse("operator");
        let query = AuditQuery { actor, rows_max: 100, ..AuditQuery::default() };
        let records = self.admin.store.audit(&query).await.unwrap();
        let of_webhooks =
            records.into_iter().filter(|record| record.entry.kind.as_str().starts_with("webhook"));
        let entries = of_webhooks.rev().map(|record| {
            assert_eq!(record.entry.context, context());
            (record.entry.kind.as_str(), record.entry.note)
        });
        entries.collect()
    }
}

pub(super) fn attempt(purpose: AttemptPurpose, number: u32, at: Ticks) -> AttemptRecord {
    AttemptRecord {
        at,
        purpose,
        number,
        status: Some(500),
        succeeded: false,
        reason: "the response status was 500; expected a 2xx status".into(),
        excerpt: "Oops".into(),
        timing: AttemptTiming { total: Duration::from_millis(10), ..AttemptTiming::default() },
    }
}
