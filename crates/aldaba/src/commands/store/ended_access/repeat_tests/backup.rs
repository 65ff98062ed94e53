//! A store as a backup has it.

use std::sync::Arc;
use std::time::Duration;

use domain::event::EventKind;
use domain::ids::{OperatorTokenId, SubscriptionId};
use domain::subscription::Products;
use domain::{
    AccountId, ClientId, GrantId, Guid, MembershipId, OperatorRole, Realm, Resource, Scopes, Secret, TeamId,
    TenantId, Ticks,
};
use operator::audit::{AuditRequest, page};
use store::memory::MemoryStore;
use store::{
    Account, AccountUpdate, AuditContext, AuthorizationCode, CallbackIdToken, Client, CodeExchange, Consent,
    FIRST_REVISION, Grant, MasterKey, MemberStep, Membership, NamedToken, NewGrant, NewWebhook, Pkce, Ports,
    Status, Store, Subscription, Team, TeamMemberChange, TeamRole, Tenant, UpdateOutcome, Vault,
    WebhookOwner,
};
use testkit::{SeededRandom, TestClock};

use super::super::Ends;

const START: &str = "2026-11-15T10:00:00Z";
pub(super) const WEBHOOK: &str = "00000000-0000-0000-0000-000000000001";
const HOUR: Duration = Duration::from_secs(3600);

fn start() -> Ticks {
    Ticks::parse_iso(START).unwrap()
}

pub(super) fn by() -> AuditContext {
    AuditContext::default()
}

pub(super) fn changed<T: std::fmt::Debug>(outcome: &UpdateOutcome<T>) {
    assert!(outcome.is_updated(), "{outcome:?}");
}

/// A store, as the backup has it: the admins ines and olga; the developers ana and leo, who own the team "panel", with a
/// client "erp" and a subscription "s"; a second team "otro"; the user maria, an administrator of the tenant "t", who has
/// signed in to "erp"; a webhook and a named token.
pub(super) struct Backup {
    pub(super) store: Box<dyn Store>,
    pub(super) clock: Arc<TestClock>,
}

impl Backup {
    pub(super) async fn new() -> Self {
        let clock = Arc::new(TestClock::at(start()));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
        let ports = Ports { clock: clock.clone(), random: Arc::new(SeededRandom::new(7)), vault };
        let backup = Self { store: Box::new(MemoryStore::new(ports).unwrap()), clock };
        backup.add_accounts().await;
        backup.add_team().await;
        backup.sign_in().await;
        backup.add_webhook_and_token().await;
        backup
    }

    async fn add_accounts(&self) {
        let tenant = Tenant {
            id: TenantId::new("t"),
            name: "T".into(),
            short_code: "t".into(),
            status: Status::Active,
            created_at: start(),
            revision: FIRST_REVISION,
            sandbox_of: None,
        };
        self.store.add_tenant(&tenant, &by()).await.unwrap();
        for (id, realm) in [
            ("ines", Realm::Operators),
            ("olga", Realm::Operators),
            ("ana", Realm::Developers),
            ("leo", Realm::Developers),
            ("maria", Realm::Users),
        ] {
            let account = Account {
                id: AccountId::new(id),
                realm,
                email: format!("{id}@example.com"),
                given_name: id.into(),
                family_name: String::new(),
                lang: "es".into(),
                password_hash: "hash".into(),
                status: Status::Active,
                role: (realm == Realm::Operators).then_some(OperatorRole::Admin),
                created_at: start(),
                updated_at: start(),
                revision: FIRST_REVISION,
            };
            let of_tenant = Membership {
                id: MembershipId::new("m"),
                is_admin: true,
                ..Membership::new(&SeededRandom::new(1), &account.id, &tenant.id, start())
            };
            let memberships = if realm == Realm::Users { vec![of_tenant] } else { Vec::new() };
            self.store.add_account(&account, &memberships, &by()).await.unwrap();
        }
    }

    async fn add_team(&self) {
        let (status, created_at, revision) = (Status::Active, start(), FIRST_REVISION);
        for id in ["panel", "otro"] {
            let team = Team { id: TeamId::new(id), name: id.into(), status, created_at, revision };
            self.store.add_team(&team, &by()).await.unwrap();
        }
        for developer in ["ana", "leo"] {
            self.change_member(developer, MemberStep::Add(TeamRole::Owner)).await;
        }
        let team = Some(TeamId::new("panel"));
        let client = Client {
            id: ClientId::new("erp"),
            guid: Guid::from_bytes([3; 16]),
            name: "ERP".into(),
            redirect_uris: vec!["https://a/".into(), "https://b/".into()],
            post_logout_uris: Vec::new(),
            pkce: Pkce::Required,
            consent: Consent::Required,
            kind: domain::ClientKind::Web,
            backchannel_logout_uri: None,
            callback_id_token: CallbackIdToken::Auto,
            products: Products::all(),
            team: team.clone(),
            is_sandbox: false,
            status,
            created_at,
            revision,
        };
        self.store.add_client(&client, &Secret::new("secret"), &by()).await.unwrap();
        let subscription = Subscription {
            id: SubscriptionId::new("s"),
            name: "S".into(),
            products: Products::all(),
            team,
            is_sandbox: false,
            status,
            created_at,
            daily_quota: None,
            cancelled_at: None,
            revision,
        };
        let keys = [Secret::new("primary"), Secret::new("secondary")];
        self.store.add_subscription(&subscription, &keys[0], &keys[1], &by()).await.unwrap();
    }

    /// Maria allows "erp" to read.
    async fn sign_in(&self) {
        let (now, secret, expires_at) = (start(), Secret::new("code"), start() + HOUR);
        let (client, user, tenant) = (ClientId::new("erp"), AccountId::new("maria"), TenantId::new("t"));
        let code = AuthorizationCode {
            client: client.clone(),
            user: user.clone(),
            tenant: tenant.clone(),
            expires_at,
            details: String::new(),
        };
        self.store.store_code(&secret, &code, &MembershipId::new("m"), now, &by()).await.unwrap();
        let grant = Grant {
            id: GrantId::new("g"),
            client: client.clone(),
            user,
            tenant,
            details: String::new(),
            created_at: now,
            last_used_at: now,
            expires_at,
            revoked_at: None,
        };
        let new = NewGrant {
            grant,
            scopes: Scopes::parse("SVC.ES.NEWPOL.ACC.API").scopes,
            refresh: None,
            session: None,
        };
        let exchange = CodeExchange { code: secret, client, now, context: by() };
        self.store.take_code(&exchange, Box::new(|_| Some(new))).await.unwrap();
    }

    async fn add_webhook_and_token(&self) {
        let webhook = NewWebhook {
            id: Guid::parse(WEBHOOK).unwrap(),
            owner: WebhookOwner { tenant: TenantId::new("t"), client: ClientId::new("erp") },
            user: AccountId::new("maria"),
            resource: Resource::customers(),
            kinds: EventKind::ALL.into_iter().collect(),
            name: "w".into(),
            description: String::new(),
            url: "https://erp.example/w".into(),
            secret: Secret::new("secret"),
            host_mismatch: String::new(),
            enabled: true,
        };
        self.store.subscribe(webhook, 10, &by()).await.unwrap();
        let token = NamedToken {
            id: OperatorTokenId::new("n"),
            name: "n".into(),
            role: OperatorRole::Admin,
            created_at: start(),
            created_by: "cli".into(),
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        };
        self.store.add_operator_token(&token, &Secret::new("token"), &by()).await.unwrap();
    }

    pub(super) async fn change_member(&self, developer: &str, step: MemberStep) {
        let (team, account) = (TeamId::new("panel"), AccountId::new(developer));
        let change = TeamMemberChange { team, account, step };
        let outcome = self.store.change_team_member(&change, &by()).await.unwrap();
        assert!(matches!(outcome, store::TeamMemberOutcome::Done(_)), "{outcome:?}");
    }

    pub(super) async fn update_operator(&self, id: &str, update: AccountUpdate) {
        changed(&self.store.update_operator(&AccountId::new(id), &update, None, &by()).await.unwrap());
    }

    /// Reads entries that were exported, and repeats them here.
    pub(super) async fn repeat(&self, export: &str) -> (usize, Vec<String>) {
        let mut ends = Ends::read(export.as_bytes(), start() + Duration::from_secs(1)).unwrap();
        let repeated = ends.repeat(&*self.store, start() + HOUR, &by()).await.unwrap();
        (repeated, ends.not_repeated.into_iter().collect())
    }

    /// What the audit shows since the backup was made, as it is exported.
    pub(super) async fn export(&self) -> String {
        let page = page(&*self.store, &AuditRequest::default()).await.unwrap();
        serde_json::to_string(&page).unwrap()
    }

    pub(super) async fn members(&self) -> Vec<(String, TeamRole)> {
        let listed = self.store.team_members(&TeamId::new("panel")).await.unwrap();
        listed.into_iter().map(|one| (one.member.account.to_string(), one.member.role)).collect()
    }

    pub(super) async fn operators(&self) -> Vec<(Status, Option<OperatorRole>)> {
        let mut found = Vec::new();
        for id in ["ines", "olga"] {
            let one = self.store.find_account(&AccountId::new(id)).await.unwrap().unwrap();
            found.push((one.status, one.role));
        }
        found
    }

    /// What may have been ended.
    pub(super) async fn facts(&self) -> String {
        let team = self.store.find_team(&TeamId::new("panel")).await.unwrap().unwrap();
        let client = self.store.find_client(&ClientId::new("erp")).await.unwrap().unwrap();
        let subscription = self.store.find_subscription(&SubscriptionId::new("s")).await.unwrap().unwrap();
        let client = (client.team, client.is_sandbox, client.products, client.redirect_uris);
        let subscription = (subscription.team, subscription.is_sandbox);
        let people = (self.members().await, self.operators().await);
        format!("{:?} {client:?} {subscription:?} {people:?}", team.status)
    }
}
