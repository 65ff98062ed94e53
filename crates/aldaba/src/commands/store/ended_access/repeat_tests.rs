//! What a restored store looks like after ends of access were repeated in it.

use std::sync::Arc;
use std::time::Duration;

use domain::event::EventKind;
use domain::ids::{OperatorTokenId, SubscriptionId};
use domain::subscription::Products;
use domain::{
    AccountId, ClientId, GrantId, MembershipId, OperatorRole, Realm, Resource, Scopes, Secret, TeamId,
    TenantId,
};
use operator::audit::{AuditRequest, page};
use store::memory::MemoryStore;
use store::{
    Account, AccountUpdate, AuditContext, AuthorizationCode, CallbackIdToken, Client, ClientUpdate,
    CodeExchange, Consent, FIRST_REVISION, Grant, MasterKey, MemberStep, Membership, NamedToken, NewGrant,
    NewWebhook, Pkce, Ports, Status, Store, Subscription, SubscriptionUpdate, Team, TeamMemberChange,
    TeamUpdate, Tenant, UpdateOutcome, Vault, WebhookOwner,
};
use testkit::{SeededRandom, TestClock};

use super::*;

const START: &str = "2026-11-15T10:00:00Z";
const WEBHOOK: &str = "00000000-0000-0000-0000-000000000001";
const HOUR: Duration = Duration::from_secs(3600);

fn start() -> Ticks {
    Ticks::parse_iso(START).unwrap()
}

fn by() -> AuditContext {
    AuditContext::default()
}

fn changed<T: std::fmt::Debug>(outcome: &UpdateOutcome<T>) {
    assert!(outcome.is_updated(), "{outcome:?}");
}

/// A store, as the backup has it: the admins ines and olga; the developers ana and leo, who own the team "panel", with a
/// client "erp" and a subscription "s"; a second team "otro"; the user maria, an administrator of the tenant "t", who has
/// signed in to "erp"; a webhook and a named token.
struct Backup {
    store: Box<dyn Store>,
    clock: Arc<TestClock>,
}

impl Backup {
    async fn new() -> Self {
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
                lang: "es".into(),
                password_hash: "hash".into(),
                status: Status::Active,
                role: (realm == Realm::Operators).then_some(OperatorRole::Admin),
                created_at: start(),
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
        let new = NewGrant { grant, scopes: Scopes::parse("SVC.ES.NEWPOL.ACC.API").scopes, refresh: None };
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

    async fn change_member(&self, developer: &str, step: MemberStep) {
        let (team, account) = (TeamId::new("panel"), AccountId::new(developer));
        let change = TeamMemberChange { team, account, step };
        let outcome = self.store.change_team_member(&change, &by()).await.unwrap();
        assert!(matches!(outcome, store::TeamMemberOutcome::Done(_)), "{outcome:?}");
    }

    async fn update_operator(&self, id: &str, update: AccountUpdate) {
        changed(&self.store.update_operator(&AccountId::new(id), &update, None, &by()).await.unwrap());
    }

    /// Reads entries that were exported, and repeats them here.
    async fn repeat(&self, export: &str) -> (usize, Vec<String>) {
        let mut ends = Ends::read(export.as_bytes(), start() + Duration::from_secs(1)).unwrap();
        let repeated = ends.repeat(&*self.store, start() + HOUR, &by()).await.unwrap();
        (repeated, ends.not_repeated.into_iter().collect())
    }

    /// What the audit shows since the backup was made, as it is exported.
    async fn export(&self) -> String {
        let page = page(&*self.store, &AuditRequest::default()).await.unwrap();
        serde_json::to_string(&page).unwrap()
    }

    async fn members(&self) -> Vec<(String, TeamRole)> {
        let listed = self.store.team_members(&TeamId::new("panel")).await.unwrap();
        listed.into_iter().map(|one| (one.member.account.to_string(), one.member.role)).collect()
    }

    async fn operators(&self) -> Vec<(Status, Option<OperatorRole>)> {
        let mut found = Vec::new();
        for id in ["ines", "olga"] {
            let one = self.store.find_account(&AccountId::new(id)).await.unwrap().unwrap();
            found.push((one.status, one.role));
        }
        found
    }

    /// What may have been ended.
    async fn facts(&self) -> String {
        let team = self.store.find_team(&TeamId::new("panel")).await.unwrap().unwrap();
        let client = self.store.find_client(&ClientId::new("erp")).await.unwrap().unwrap();
        let subscription = self.store.find_subscription(&SubscriptionId::new("s")).await.unwrap().unwrap();
        let client = (client.team, client.is_sandbox, client.products, client.redirect_uris);
        let subscription = (subscription.team, subscription.is_sandbox);
        let people = (self.members().await, self.operators().await);
        format!("{:?} {client:?} {subscription:?} {people:?}", team.status)
    }
}

/// An entry of this kind, and whether it is repeated; else it is listed.
fn sample(kind: AuditKind) -> (String, bool) {
    let change = |member: &str, from: &str, to: &str| {
        format!(r#""changes":[{{"member":"{member}","from":{from},"to":{to}}}]"#)
    };
    let member = |from: &str, to: &str, role: &str| {
        format!(
            r#""object":"team:panel","changes":[{{"member":"developer","from":{from},"to":{to}}},{{"member":"role","to":{role}}}]"#
        )
    };
    let webhook = format!(r#""object":"webhook:{WEBHOOK}""#);
    let disabled = change("status", r#""active""#, r#""disabled""#);
    let (text, is_repeated) = match kind {
        AuditKind::Revoked | AuditKind::CodeReused | AuditKind::RefreshReused => {
            (r#""grant":"g""#.to_owned(), true)
        }
        AuditKind::AccessEnded => (r#""user":"maria","client":"erp","tenant":"t""#.to_owned(), true),
        AuditKind::TenantChanged => (format!(r#""tenant":"t",{disabled}"#), true),
        AuditKind::TenantErased => (r#""tenant":"t""#.to_owned(), true),
        AuditKind::UserChanged => (format!(r#""user":"maria",{disabled}"#), true),
        AuditKind::DeveloperChanged => (format!(r#""object":"developer:ana",{disabled}"#), true),
        AuditKind::OperatorChanged => (format!(r#""object":"operator:ines",{disabled}"#), true),
        AuditKind::MembershipChanged => {
            (format!(r#""user":"maria","tenant":"t",{}"#, change("admin", "true", "false")), true)
        }
        AuditKind::MembershipRemoved => (r#""user":"maria","tenant":"t""#.to_owned(), true),
        AuditKind::ClientChanged => {
            (format!(r#""client":"erp",{}"#, change("sandbox", "null", "true")), true)
        }
        AuditKind::SubscriptionChanged => (format!(r#""object":"subscription:s",{disabled}"#), true),
        AuditKind::SubscriptionCancelled => (r#""object":"subscription:s""#.to_owned(), true),
        AuditKind::TeamChanged => (format!(r#""object":"team:panel",{disabled}"#), true),
        AuditKind::TeamMemberAdded | AuditKind::TeamMemberChanged => {
            (member("null", r#""leo""#, r#""member""#), true)
        }
        AuditKind::TeamMemberRemoved => (member(r#""leo""#, "null", "null"), true),
        AuditKind::OperatorTokenRevoked => (r#""object":"operator_token:n""#.to_owned(), true),
        AuditKind::WebhookChanged => (format!("{webhook},{}", change("enabled", "true", "false")), true),
        AuditKind::WebhookUnsubscribed | AuditKind::WebhookDeleted => (webhook, true),
        AuditKind::ClientSecretRotated => (r#""client":"erp""#.to_owned(), false),
        AuditKind::SubscriptionKeyRotated => (r#""object":"subscription:s""#.to_owned(), false),
        AuditKind::SecondFactorRemoved
        | AuditKind::SecondFactorReset
        | AuditKind::RecoveryCodesMade
        | AuditKind::RecoveryCodeUsed => (r#""user":"maria""#.to_owned(), false),
        AuditKind::SigningKeyRetired => (r#""object":"signing_key:k""#.to_owned(), false),
        AuditKind::WebhookSecretRotated => (webhook, false),
        _ => panic!("{} ends access and has no example here", kind.as_str()),
    };
    let entry = format!(r#"{{"at":"2026-11-15T10:30:00Z","kind":"{}",{text}}}"#, kind.as_str());
    (entry, is_repeated)
}

/// No kind that may end access leads to nothing.
#[tokio::test]
async fn every_kind_that_ends_access_is_repeated_or_listed() {
    for kind in entry::ENDING {
        let (entry, is_repeated) = sample(*kind);
        let (repeated, listed) = Backup::new().await.repeat(&entry).await;
        let expected = if is_repeated { repeated == 1 } else { repeated == 0 && listed.len() == 1 };
        assert!(expected, "{}: {repeated} repeated; {listed:?}", kind.as_str());
    }
}

/// What happens after the backup is exported as the store audits it. Repeated in the backup, it gives the same again.
#[tokio::test]
async fn what_teams_operators_clients_and_subscriptions_lost_is_repeated() {
    let lost = Backup::new().await;
    lost.clock.advance(Duration::from_secs(60));
    let disabled = TeamUpdate { status: Some(Status::Disabled), ..TeamUpdate::default() };
    changed(&lost.store.update_team(&TeamId::new("panel"), &disabled, None, &by()).await.unwrap());
    let sandbox = ClientUpdate {
        is_sandbox: Some(true),
        team: Some(Some(TeamId::new("otro"))),
        products: Some(Products::default()),
        redirect_uris: Some(vec!["https://b/".into()]),
        ..ClientUpdate::default()
    };
    changed(&lost.store.update_client(&ClientId::new("erp"), &sandbox, None, &by()).await.unwrap());
    let left =
        SubscriptionUpdate { is_sandbox: Some(true), team: Some(None), ..SubscriptionUpdate::default() };
    let subscription = SubscriptionId::new("s");
    changed(&lost.store.update_subscription(&subscription, &left, None, &by()).await.unwrap());
    lost.change_member("leo", MemberStep::Remove).await;
    lost.update_operator(
        "olga",
        AccountUpdate { role: Some(OperatorRole::Viewer), ..AccountUpdate::default() },
    )
    .await;

    let restored = Backup::new().await;
    let (repeated, listed) = restored.repeat(&lost.export().await).await;
    assert_eq!((repeated, listed), (9, Vec::new()));
    assert_eq!(restored.facts().await, lost.facts().await);
    let again = restored.repeat(&lost.export().await).await;
    assert_eq!(again.0, 1, "only the status of the team is set again: {again:?}");
}

/// The last role counts: an owner who was removed and added again as a member is a member.
#[tokio::test]
async fn removed_owner_who_was_added_again_is_a_member() {
    let lost = Backup::new().await;
    for step in [MemberStep::Remove, MemberStep::Add(TeamRole::Member)] {
        lost.clock.advance(Duration::from_secs(60));
        lost.change_member("leo", step).await;
    }
    let restored = Backup::new().await;
    assert_eq!(restored.repeat(&lost.export().await).await, (1, Vec::new()));
    assert_eq!(restored.members().await, lost.members().await);
    // Who became an owner after the backup stays what the backup says.
    let more = Backup::new().await;
    more.clock.advance(Duration::from_secs(60));
    more.change_member("leo", MemberStep::SetRole(TeamRole::Member)).await;
    more.clock.advance(Duration::from_secs(60));
    more.change_member("leo", MemberStep::SetRole(TeamRole::Owner)).await;
    assert_eq!(restored.repeat(&more.export().await).await, (0, Vec::new()));
}

/// The two admins of the backup were replaced by one whom the backup does not have: the last one stays, and is listed.
#[tokio::test]
async fn last_admin_is_not_locked_out() {
    let disabled = AccountUpdate { status: Some(Status::Disabled), ..AccountUpdate::default() };
    let viewer = AccountUpdate { role: Some(OperatorRole::Viewer), ..AccountUpdate::default() };
    let line = |what: &str, command: &str| {
        format!(
            "operator ines@example.com {what}, but is the only admin of the backup who can sign in (make another operator an \
             admin, then: aldaba operator {command})"
        )
    };
    for (update, expected, operators) in [
        (
            disabled,
            line("was disabled", "disable ines@example.com"),
            [(Status::Active, Some(OperatorRole::Admin)), (Status::Disabled, Some(OperatorRole::Admin))],
        ),
        (
            viewer,
            line("became viewer", "role ines@example.com viewer"),
            [(Status::Active, Some(OperatorRole::Admin)), (Status::Active, Some(OperatorRole::Viewer))],
        ),
    ] {
        let lost = Backup::new().await;
        lost.clock.advance(Duration::from_secs(60));
        let new = lost.store.find_account(&AccountId::new("ines")).await.unwrap().unwrap();
        let new = Account { id: AccountId::new("eva"), email: "eva@example.com".into(), ..new };
        lost.store.add_account(&new, &[], &by()).await.unwrap();
        for id in ["olga", "ines"] {
            lost.clock.advance(Duration::from_secs(60));
            lost.update_operator(id, update.clone()).await;
        }
        let restored = Backup::new().await;
        assert_eq!(restored.repeat(&lost.export().await).await, (1, vec![expected]));
        assert_eq!(restored.operators().await, operators);
    }
}

#[tokio::test]
async fn last_owner_and_missing_team_are_listed() {
    let restored = Backup::new().await;
    restored.change_member("leo", MemberStep::Remove).await;
    let entry = |kind: &str, rest: &str| {
        format!("{{\"at\":\"{}\",\"kind\":\"{kind}\",{rest}}}\n", "2026-11-15T10:30:00Z")
    };
    let removed = r#""object":"team:panel","changes":[{"member":"developer","from":"ana"},{"member":"role","from":"owner"}]"#;
    let moved = r#""changes":[{"member":"team","from":"panel","to":"nuevo"}]"#;
    let export = [
        entry("team_member_removed", removed),
        entry("client_changed", &format!(r#""client":"erp",{moved}"#)),
        entry("subscription_changed", &format!(r#""object":"subscription:s",{moved}"#)),
        // The backup has neither.
        entry("client_changed", &format!(r#""client":"crm",{moved}"#)),
        entry("team_member_removed", &removed.replace("ana", "eva")),
        // Nobody can say what these changed.
        entry("team_member_removed", r#""object":"team:panel""#),
        entry("operator_changed", r#""object":"operator:ines","changes":[{"member":"role","to":"auditor"}]"#),
    ];
    let expected = [
        "a change of the members of team panel that the audit does not describe",
        "client erp was moved to team nuevo, which is not in the backup (add the team, then: aldaba client set erp --team nuevo)",
        "developer ana@example.com was removed from team panel, but is its only owner in the backup (make another member an \
         owner, then: aldaba team leave panel ana@example.com)",
        "subscription s was moved to team nuevo, which is not in the backup (add the team, then: aldaba key team s nuevo)",
        "the role of operator ines was changed",
    ];
    assert_eq!(restored.repeat(&export.concat()).await, (0, expected.map(str::to_owned).to_vec()));
    assert_eq!(restored.members().await, [("ana".to_owned(), TeamRole::Owner)]);
}
