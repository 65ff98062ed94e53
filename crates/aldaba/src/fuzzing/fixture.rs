//! A store in memory with a tenant, a user, two clients, a subscription and people who are signed in. It is made once; every
//! service gets a copy of it, so that an input has the same outcome alone.

use std::error::Error;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use domain::change::Change;
use domain::ids::SubscriptionId;
use domain::secret::base64url;
use domain::subscription::Products;
use domain::{
    AccountId, ClientId, ClientKind, Clock, Guid, OperatorRole, Realm, Secret, TeamId, TenantId, Ticks,
    password,
};
use identity::{DirectAuthorization, DirectRequest, Identity};
use store::memory::{Contents, MemoryStore};
use store::{
    Account, AuditContext, AuditEntry, AuditKind, BatchCounts, CallbackIdToken, ChangeBatch, ChangeLine,
    Client, Consent, FIRST_REVISION, MasterKey, MemberStep, Membership, Pkce, Ports, Session, Status, Store,
    Subscription, Team, TeamMemberChange, TeamRole, Tenant, Vault,
};
use web::Metrics;
use webhooks::egress::{Egress, EgressSettings, Resolver};

use crate::config::{self, Config, Sources};
use crate::wiring::{self, BasePorts};

pub const API_URL: &str = "https://api.example";
pub const AUTH_URL: &str = "https://auth.example";
pub const OPERATOR_URL: &str = "https://ops.example";
/// Where responses may send a browser beside the service's own pages.
pub const REGISTERED_URIS: [&str; 3] =
    ["https://app.example/callback", "https://app.example/bye", "https://spa.example/callback"];
/// The only origin whose pages may read responses.
pub const BROWSER_ORIGIN: &str = "https://spa.example";

const NOW: Ticks = Ticks(639_000_000_000_000_000);
const KEY: &str = "0123456789abcdef0123456789abcdef";
const COOKIE: &str = "cookie-of-the-fuzzer-0123456789abcdefghijkl";
const LINES: [&str; 2] = [
    r#"{"area":"accounting","resource":"companies","correlationId":"c1","action":"upsert","data":{"vatName":"Peñalver S.L.","vatNumber":"B12345674","chartOfAccountId":1,"accountLength":12}}"#,
    r#"{"area":"accounting","resource":"customers","company":"c1","correlationId":"k1","action":"upsert","data":{"tradeName":"Peña","vatNumber":"B12345674","vatName":"Peña S.L.","accountCode":"430000000001","vatNumberCorrelationId":"","accountCodeCorrelationId":"6d0e2f0e-2f8a-4c4e-9d53-6f2b8c1a7e11"},"user":"eva"}"#,
];

type Failing<T> = Result<T, Box<dyn Error + Send + Sync>>;

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Ticks {
        NOW
    }
}

/// No name has an address, so that nothing leaves this machine.
struct NoNames;

#[async_trait]
impl Resolver for NoNames {
    async fn resolve(&self, name: &str) -> Result<Vec<std::net::IpAddr>, String> {
        Err(format!("{name} has no address"))
    }
}

/// What every service is built from.
pub(super) struct Fixture {
    pub(super) config: Config,
    pub(super) base: BasePorts,
    pub(super) egress: Egress,
    vault: Arc<Vault>,
    contents: Contents,
    /// What stands for credentials in an input.
    credentials: Vec<(&'static str, String)>,
}

pub(super) static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    // In a thread of its own: the caller may be inside a runtime.
    let made = std::thread::spawn(|| -> Failing<Fixture> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(Fixture::new())
    });
    match made.join() {
        Ok(Ok(fixture)) => fixture,
        Ok(Err(error)) => panic!("no fixture: {error}"),
        Err(panic) => std::panic::resume_unwind(panic),
    }
});

/// The text with credentials instead of what stands for them: `$access`, `$refresh`, `$code`, `$hint` (an id_token), `$key`, `$session` (a
/// cookie), `$developer` and `$operator` (the tokens of their forms).
pub fn fill_in(text: &str) -> String {
    FIXTURE.credentials.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
}

impl Fixture {
    async fn new() -> Failing<Self> {
        let loaded = config::load(&Sources::default());
        let mut config = loaded.map_err(|faults| format!("the default configuration: {faults:?}"))?;
        API_URL.clone_into(&mut config.server.base_url);
        AUTH_URL.clone_into(&mut config.server.auth_url);
        OPERATOR_URL.clone_into(&mut config.operator.url);
        // A new sandbox takes longer than an input may.
        config.portal.is_sandbox_open = false;
        let base = BasePorts::with_machine_clock(Arc::new(FixedClock));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32]))?);
        let egress = Egress::with_resolver(EgressSettings::default(), Arc::new(NoNames))?;
        let mut fixture =
            Self { config, base, egress, vault, contents: Contents::default(), credentials: Vec::new() };
        fixture.credentials = fixture.fill().await?;
        Ok(fixture)
    }

    /// A store with a copy of the data.
    pub(super) fn store(&self) -> store::Result<Arc<dyn Store>> {
        self.open(self.contents.backup())
    }

    fn open(&self, contents: Contents) -> store::Result<Arc<dyn Store>> {
        let BasePorts { clock, random, .. } = self.base.clone();
        let ports = Ports { clock, random, vault: self.vault.clone() };
        Ok(Arc::new(MemoryStore::open(contents, ports)?))
    }

    pub(super) async fn identity(&self, store: Arc<dyn Store>) -> Result<Identity, identity::KeyError> {
        let BasePorts { clock, random, .. } = self.base.clone();
        let ports = identity::Ports { store, clock, random, vault: self.vault.clone() };
        Identity::open(ports, wiring::identity_settings(&self.config), &Metrics::new()).await
    }

    /// Fills the store; returns the credentials.
    async fn fill(&self) -> Failing<Vec<(&'static str, String)>> {
        let store = self.open(self.contents.clone())?;
        let context = AuditContext::default();
        let (tenant, team) = (tenant(), team());
        store.add_tenant(&tenant, &context).await?;
        store.add_team(&team, &context).await?;
        let (app, spa) = (
            self.client("app", ClientKind::Web, &REGISTERED_URIS[..1]),
            self.client("spa", ClientKind::Browser, &REGISTERED_URIS[2..]),
        );
        for client in [&app, &spa] {
            store.add_client(client, &Secret::new("secret"), &context).await?;
        }
        store.add_subscription(&subscription(), &Secret::new(KEY), &Secret::new("second"), &context).await?;
        let user = self.add_people(&*store, &tenant, &context).await?;
        self.add_records(&*store, &tenant).await?;
        let identity = self.identity(store).await?;
        let authorization = DirectAuthorization { client: &app, user: &user, tenant: &tenant.id };
        let request = DirectRequest { redirect_uri: REGISTERED_URIS[0], scope: None };
        let tokens = Box::pin(identity.direct_tokens(&authorization, &request, &context)).await;
        let tokens = tokens.map_err(|error| format!("no tokens: {error:?}"))?.0;
        let code = identity.direct_code(&authorization, &request, &context).await;
        let code = code.map_err(|error| format!("no code: {error:?}"))?;
        let token = |name: &str| tokens[name].as_str().unwrap_or_default().to_owned();
        Ok(vec![
            ("$access", token("access_token")),
            ("$refresh", token("refresh_token")),
            ("$hint", token("id_token")),
            ("$code", code.reveal().to_owned()),
            ("$key", KEY.to_owned()),
            ("$session", COOKIE.to_owned()),
            ("$developer", self.form_token(Realm::Developers)),
            ("$operator", self.form_token(Realm::Operators)),
        ])
    }

    fn client(&self, id: &str, kind: ClientKind, uris: &[&str]) -> Client {
        Client {
            id: ClientId::new(id),
            guid: self.base.random.guid(),
            name: id.to_owned(),
            kind,
            redirect_uris: uris.iter().map(|uri| (*uri).to_owned()).collect(),
            post_logout_uris: vec![REGISTERED_URIS[1].to_owned()],
            backchannel_logout_uri: None,
            pkce: Pkce::IfSent,
            consent: Consent::None,
            callback_id_token: CallbackIdToken::Auto,
            products: Products::all(),
            team: Some(team().id),
            is_sandbox: false,
            status: Status::Active,
            created_at: NOW,
            revision: FIRST_REVISION,
        }
    }

    /// One person of each realm, signed in with the same cookie; returns the user.
    async fn add_people(
        &self,
        store: &dyn Store,
        tenant: &Tenant,
        context: &AuditContext,
    ) -> Failing<AccountId> {
        let random = &*self.base.random;
        let password_hash = password::hash(&Secret::new("correct horse battery"), random)?;
        for realm in [Realm::Users, Realm::Developers, Realm::Operators] {
            let account = Account {
                id: account_id(realm),
                realm,
                email: "maria@example.com".to_owned(),
                given_name: "María".to_owned(),
                family_name: String::new(),
                lang: "es".to_owned(),
                password_hash: password_hash.clone(),
                status: Status::Active,
                role: (realm == Realm::Operators).then_some(OperatorRole::Admin),
                created_at: NOW,
                updated_at: NOW,
                revision: FIRST_REVISION,
            };
            let membership = Membership::new(random, &account.id, &tenant.id, NOW);
            let memberships = if realm == Realm::Users { vec![membership] } else { Vec::new() };
            store.add_account(&account, &memberships, context).await?;
            let session = Session {
                id: random.guid(),
                realm,
                account: account.id.clone(),
                authenticated_at: NOW,
                methods: "password 2fa".to_owned(),
                expires_at: NOW + std::time::Duration::from_secs(3600),
                address: "127.0.0.1".to_owned(),
                user_agent: String::new(),
            };
            let entry = AuditEntry::new(AuditKind::signed_in(realm), NOW, context);
            store.begin_session(&Secret::new(COOKIE), &session, None, None, &entry).await?;
        }
        let step = MemberStep::Add(TeamRole::Owner);
        let change = TeamMemberChange { team: team().id, account: account_id(Realm::Developers), step };
        let _ = store.change_team_member(&change, context).await?;
        Ok(account_id(Realm::Users))
    }

    async fn add_records(&self, store: &dyn Store, tenant: &Tenant) -> Failing<()> {
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(LINES) {
            let parsed = Change::parse(line.as_bytes(), || Guid::from_bytes([9; 16]));
            let change = parsed.map_err(|error| format!("{line}: {error:?}"))?.change;
            lines.push(ChangeLine { number, change });
        }
        let batch = ChangeBatch {
            tenant: tenant.id.clone(),
            process: self.base.random.guid(),
            lines,
            counts: BatchCounts::default(),
            checkpoint: None,
            expires_at: None,
            edit: None,
        };
        store.apply_changes(batch).await?;
        Ok(())
    }

    /// The token of the forms of the portal or the console, as `identity` makes it.
    fn form_token(&self, realm: Realm) -> String {
        let own = Secret::new(format!("{realm:?}\0{COOKIE}"));
        base64url(&self.vault.fingerprint("form token", &own))
    }
}

fn account_id(realm: Realm) -> AccountId {
    AccountId::new(format!("{realm:?}").to_ascii_lowercase())
}

fn tenant() -> Tenant {
    Tenant {
        id: TenantId::new("tenant"),
        name: "Asesoría Peñalver".to_owned(),
        short_code: "4101".to_owned(),
        status: Status::Active,
        created_at: NOW,
        revision: FIRST_REVISION,
        sandbox_of: None,
    }
}

fn team() -> Team {
    Team {
        id: TeamId::new("team"),
        name: "Panel".to_owned(),
        status: Status::Active,
        created_at: NOW,
        revision: FIRST_REVISION,
    }
}

fn subscription() -> Subscription {
    Subscription {
        id: SubscriptionId::new("subscription"),
        name: "Panel".to_owned(),
        products: Products::all(),
        team: Some(team().id),
        is_sandbox: false,
        status: Status::Active,
        created_at: NOW,
        daily_quota: None,
        cancelled_at: None,
        revision: FIRST_REVISION,
    }
}
