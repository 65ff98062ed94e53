//! The store with its tenants, companies and clients, and functions that make changes and webhooks in it.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use domain::catalogue::Area;
use domain::change::Change;
use domain::ids::SubscriptionId;
use domain::subscription::{Product, Products};
use domain::webhook::EventKinds;
use domain::{AccountId, ClientId, Guid, Resource, Secret, TeamId, TenantId, Ticks};
use parking_lot::Mutex;
use store::memory::{Contents, MemoryStore};
use store::{
    AuditContext, BatchCounts, ChangeBatch, ChangeLine, ChangeLog as _, Client, ClientAccess, ClientUpdate,
    Clients as _, Consent, Directory as _, Grants as _, MasterKey, NewWebhook, Pkce, Ports, Status,
    Subscription, Subscriptions as _, Team, TeamUpdate, Teams as _, Tenant, Vault, WebhookOwner,
};

use crate::authorization::{ALL_SCOPES, USER, add_account, authorize};

use super::random::{RandomBytes, SeededRandom, SteadyClock};

pub(crate) const START: Ticks = Ticks(638_000_000_000_000_000);
pub(crate) const TENANTS: [&str; 2] = ["tenant-a", "tenant-b"];
pub(crate) const CLIENTS: [&str; 2] = ["app-1", "app-2"];
pub(crate) const TEAM: &str = "team";
pub(crate) const SUBSCRIPTIONS: [&str; 3] = ["team-accounting", "team-payroll", "team-invoicing"];
const COMPANY: &str = "company";
const RECORDS: u64 = 6;

pub(crate) struct Fixture {
    pub(crate) store: MemoryStore,
    pub(crate) clock: Arc<SteadyClock>,
    ports: Ports,
    backup: Option<Contents>,
}

/// Polls a future of the memory store, which never waits.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the memory store must not wait"),
    }
}

/// The resources that changes and webhooks use.
pub(crate) fn resources() -> [Resource; 3] {
    [
        Resource::find(Area::Accounting, "charges").unwrap(),
        Resource::find(Area::Accounting, "journals").unwrap(),
        Resource::find(Area::Invoicing, "Product").unwrap(),
    ]
}

impl Fixture {
    pub(crate) fn new(seed: u64) -> Self {
        let clock = Arc::new(SteadyClock(AtomicI64::new(START.0)));
        let vault = Vault::new(&MasterKey::from_bytes([7; 32])).unwrap();
        let random = Arc::new(RandomBytes(Mutex::new(SeededRandom::new(seed ^ 0xbeef))));
        let ports = Ports { clock: clock.clone(), random, vault: Arc::new(vault) };
        let store = MemoryStore::new(ports.clone()).unwrap();
        for tenant in TENANTS {
            let tenant = Tenant {
                id: TenantId::new(tenant),
                name: tenant.into(),
                short_code: tenant.into(),
                status: Status::Active,
                created_at: START,
                revision: store::FIRST_REVISION,
                sandbox_of: None,
            };
            block_on(store.add_tenant(&tenant, &AuditContext::default())).unwrap();
        }
        for client in CLIENTS {
            block_on(store.add_client(
                &client_named(client, Status::Active),
                &Secret::new(client),
                &AuditContext::default(),
            ))
            .unwrap();
        }
        add_team(&store);
        block_on(add_account(&store, &TENANTS, START));
        let fixture = Self { store, clock, ports, backup: None };
        for tenant in TENANTS {
            for client in CLIENTS {
                fixture.authorize(tenant, client, ALL_SCOPES);
            }
        }
        for tenant in TENANTS {
            fixture.apply(
                tenant,
                &format!(
                    r#"{{"area":"accounting","resource":"companies","action":"upsert","correlationId":"{COMPANY}","data":{{"vatName":"B","vatNumber":"B12345674","chartOfAccountId":1,"accountLength":12}}}}"#
                ),
            );
        }
        fixture
    }

    pub(crate) fn set_products(&self, client: &str, products: Products) {
        let update = ClientUpdate { products: Some(products), ..ClientUpdate::default() };
        let (client, context) = (ClientId::new(client), AuditContext::default());
        let updated = block_on(self.store.update_client(&client, &update, None, &context)).unwrap();
        assert!(updated.is_updated());
    }

    /// Takes a subscription of the team away, or gives it back.
    pub(crate) fn set_subscription_status(&self, subscription: &str, status: Status) {
        let (id, context) = (SubscriptionId::new(subscription), AuditContext::default());
        assert!(block_on(self.store.set_subscription_status(&id, status, &context)).unwrap());
    }

    pub(crate) fn set_client_team(&self, client: &str, team: Option<&str>) {
        let update = ClientUpdate { team: Some(team.map(TeamId::new)), ..ClientUpdate::default() };
        let (client, context) = (ClientId::new(client), AuditContext::default());
        let updated = block_on(self.store.update_client(&client, &update, None, &context)).unwrap();
        assert!(updated.is_updated());
    }

    pub(crate) fn set_team_status(&self, status: Status) {
        let (team, context) = (TeamId::new(TEAM), AuditContext::default());
        let update = TeamUpdate { status: Some(status), ..TeamUpdate::default() };
        assert!(block_on(self.store.update_team(&team, &update, None, &context)).unwrap().is_updated());
    }

    pub(crate) fn apply(&self, tenant: &str, line: &str) -> BatchCounts {
        let change = Change::parse(line.as_bytes(), || unreachable!()).unwrap().change;
        let batch = ChangeBatch {
            tenant: TenantId::new(tenant),
            process: Guid::from_bytes([1; 16]),
            lines: vec![ChangeLine { number: 1, change }],
            counts: BatchCounts::default(),
            checkpoint: None,
            expires_at: None,
            edit: None,
        };
        block_on(self.store.apply_changes(batch)).unwrap()
    }

    /// Changes a random record.
    pub(crate) fn change(&self, random: &mut SeededRandom) -> (&'static str, Resource) {
        let tenant = *random.pick(&TENANTS);
        let resource = *random.pick(&resources());
        let (record, value) = (random.below(RECORDS), random.number());
        let action = match random.below(10) {
            0 => r#""action":"delete""#.to_owned(),
            1 if resource.is_accounting_family() => r#""action":"fail""#.to_owned(),
            _ => format!(r#""action":"upsert","data":{{"value":{value}}}"#),
        };
        self.apply_record_change(tenant, resource, record, &action);
        (tenant, resource)
    }

    pub(crate) fn apply_record_change(&self, tenant: &str, resource: Resource, record: u64, action: &str) {
        let company = if resource.is_accounting_family() {
            format!(r#""company":"{COMPANY}","#)
        } else {
            String::new()
        };
        let (area, word) = (resource.area().as_str(), resource.as_str());
        self.apply(
            tenant,
            &format!(
                r#"{{"area":"{area}","resource":"{word}",{company}"correlationId":"r{record}",{action}}}"#
            ),
        );
    }

    pub(crate) fn authorize(&self, tenant: &str, client: &str, scopes: &str) {
        block_on(authorize(&self.store, tenant, client, scopes, domain::Clock::now(&*self.clock)));
    }

    /// The user withdraws the client's access.
    pub(crate) fn withdraw(&self, tenant: &str, client: &str) {
        let access = ClientAccess {
            user: AccountId::new(USER),
            client: ClientId::new(client),
            tenant: TenantId::new(tenant),
        };
        let (now, context) = (domain::Clock::now(&*self.clock), AuditContext::default());
        block_on(self.store.revoke_client_access(&access, now, &context, "")).unwrap();
    }

    pub(crate) fn back_up(&mut self) {
        self.backup = Some(self.store.contents().backup());
    }

    /// Replaces the store by its last backup; returns whether there was one. A backup is restored only once: a second
    /// restore would give out the numbers of the first one again.
    pub(crate) fn restore(&mut self) -> bool {
        let Some(backup) = self.backup.take() else { return false };
        self.store = MemoryStore::open(backup.restored(), self.ports.clone()).unwrap();
        true
    }

    pub(crate) fn set_time(&self, steady: Duration) {
        let ticks = i64::try_from(steady.as_nanos() / 100).unwrap();
        self.clock.0.store(START.0 + ticks, std::sync::atomic::Ordering::Relaxed);
    }
}

/// A team with a subscription to each product; the second client belongs to it.
fn add_team(store: &MemoryStore) {
    let context = AuditContext::default();
    let team = Team {
        id: TeamId::new(TEAM),
        name: TEAM.into(),
        status: Status::Active,
        created_at: START,
        revision: store::FIRST_REVISION,
    };
    block_on(store.add_team(&team, &context)).unwrap();
    for (product, id) in Product::ALL.into_iter().zip(SUBSCRIPTIONS) {
        let one = Subscription {
            id: SubscriptionId::new(id),
            name: id.into(),
            products: [product].into_iter().collect(),
            team: Some(team.id.clone()),
            is_sandbox: false,
            status: Status::Active,
            created_at: START,
            daily_quota: None,
            cancelled_at: None,
            revision: store::FIRST_REVISION,
        };
        let keys = ["first", "second"].map(|slot| Secret::new(format!("{slot} of {id}")));
        block_on(store.add_subscription(&one, &keys[0], &keys[1], &context)).unwrap();
    }
    let join = ClientUpdate { team: Some(Some(team.id)), ..ClientUpdate::default() };
    let joined = block_on(store.update_client(&ClientId::new(CLIENTS[1]), &join, None, &context)).unwrap();
    assert!(joined.is_updated());
}

pub(crate) fn client_named(id: &str, status: Status) -> Client {
    Client {
        id: ClientId::new(id),
        guid: Guid::from_bytes([9; 16]),
        name: id.into(),
        redirect_uris: Vec::new(),
        post_logout_uris: Vec::new(),
        pkce: Pkce::IfSent,
        consent: Consent::None,
        kind: domain::ClientKind::Web,
        backchannel_logout_uri: None,
        callback_id_token: store::CallbackIdToken::Auto,
        products: Products::all(),
        team: None,
        is_sandbox: false,
        status,
        created_at: START,
        revision: store::FIRST_REVISION,
    }
}

pub(crate) fn random_webhook(random: &mut SeededRandom, url: String) -> NewWebhook {
    let resource = *random.pick(&resources());
    let all = resource.event_kinds();
    let mut kinds: EventKinds = all.iter().copied().filter(|_| random.percent(70)).collect();
    if kinds.is_empty() || !resource.is_accounting_family() {
        kinds = [all[0]].into_iter().collect();
    }
    let mut id = [0; 16];
    id[..8].copy_from_slice(&random.number().to_be_bytes());
    id[8..].copy_from_slice(&random.number().to_be_bytes());
    NewWebhook {
        id: Guid::random_from(id),
        owner: WebhookOwner {
            tenant: TenantId::new(*random.pick(&TENANTS)),
            client: ClientId::new(*random.pick(&CLIENTS)),
        },
        user: AccountId::new(USER),
        resource,
        kinds,
        name: "app".into(),
        description: String::new(),
        url,
        secret: Secret::new("secret"),
        host_mismatch: String::new(),
        enabled: resource.is_accounting_family() || random.percent(80),
    }
}
