//! Tokens of sandboxes over the in-memory store: who gets one, and the rules that stay.

use std::sync::Arc;

use domain::subscription::{Product, Products};
use domain::{AccountId, Clock as _, Guid, MembershipId, Realm, TenantId, Ticks};
use store::memory::MemoryStore;
use store::{
    Account, AuditKind, AuditQuery, CallbackIdToken, Consent, FIRST_REVISION, MasterKey, MemberStep,
    Membership, NewSandbox, Pkce, SandboxOutcome, Store, Team, TeamMemberChange, TeamMemberOutcome, TeamRole,
    Tenant, Vault,
};
use testkit::{SeededRandom, TestClock};
use web::Metrics;

use super::*;
use crate::DirectRequest;
use crate::Settings;
use crate::fuzzing::settings;

const NOW: Ticks = Ticks(639_000_000_000_000_000);

struct Fixture {
    identity: Identity,
    store: Arc<dyn Store>,
    random: Arc<SeededRandom>,
}

fn id(team: &str) -> TeamId {
    TeamId::new(team)
}

impl Fixture {
    /// Two teams with a member, a client of their own and a sandbox each; and a client of nobody.
    async fn new(settings: Settings) -> Self {
        let (clock, random) = (Arc::new(TestClock::at(NOW)), Arc::new(SeededRandom::new(1)));
        let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
        let ports = store::Ports { clock: clock.clone(), random: random.clone(), vault: vault.clone() };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(ports).unwrap());
        let ports =
            crate::Ports { store: store.clone(), clock: clock.clone(), random: random.clone(), vault };
        let identity = Identity::open(ports, settings, &Metrics::new()).await.unwrap();
        let fixture = Self { identity, store, random };
        fixture.add_client("free", None).await;
        for (team, developer) in [("panel", "ana"), ("other", "eva")] {
            fixture.add_team(team, developer).await;
            fixture.add_client(&format!("app-{team}"), Some(team)).await;
        }
        assert_eq!(clock.now(), NOW);
        fixture
    }

    fn account(realm: Realm, name: &str) -> Account {
        Account {
            id: AccountId::new(name),
            realm,
            role: None,
            email: format!("{name}@example.com"),
            given_name: "Sandbox".into(),
            family_name: String::new(),
            lang: "es".into(),
            password_hash: String::new(),
            status: Status::Active,
            created_at: NOW,
            updated_at: NOW,
            revision: FIRST_REVISION,
        }
    }

    async fn add_team(&self, team: &str, developer: &str) {
        let by = AuditContext::default();
        let (name, status) = (team.to_owned(), Status::Active);
        let one =
            Team { id: id(team), name: name.clone(), status, created_at: NOW, revision: FIRST_REVISION };
        self.store.add_team(&one, &by).await.unwrap();
        let developer = Self::account(Realm::Developers, developer);
        self.store.add_account(&developer, &[], &by).await.unwrap();
        let step = MemberStep::Add(TeamRole::Member);
        let change = TeamMemberChange { team: id(team), account: developer.id, step };
        let added = self.store.change_team_member(&change, &by).await.unwrap();
        assert!(matches!(added, TeamMemberOutcome::Done(_)));
        let tenant = Tenant {
            id: TenantId::new(format!("sandbox-{team}")),
            name,
            short_code: "1".into(),
            status,
            created_at: NOW,
            revision: FIRST_REVISION,
            sandbox_of: Some(id(team)),
        };
        let account = Self::account(Realm::Users, &format!("user-{team}"));
        let membership = Membership {
            id: MembershipId::new(format!("m-{team}")),
            ..Membership::new(&*self.random, &account.id, &tenant.id, NOW)
        };
        let receiver = Guid::from_bytes([u8::try_from(team.len()).unwrap(); 16]);
        let new = NewSandbox { tenant, account, membership, password: Secret::new("p"), receiver };
        let made = self.store.add_sandbox(&id(team), &new, &by).await.unwrap();
        let SandboxOutcome::Done(made) = made else { panic!("{made:?}") };
        self.store.mark_sandbox_loaded(&made.tenant, NOW).await.unwrap();
    }

    async fn add_client(&self, name: &str, team: Option<&str>) {
        let client = Client {
            id: ClientId::new(name),
            guid: Guid::from_bytes([7; 16]),
            name: name.into(),
            redirect_uris: vec!["https://app.example/callback".into()],
            post_logout_uris: Vec::new(),
            pkce: Pkce::Required,
            consent: Consent::Required,
            kind: domain::ClientKind::Web,
            backchannel_logout_uri: None,
            callback_id_token: CallbackIdToken::Auto,
            products: Products::all(),
            team: team.map(TeamId::new),
            is_sandbox: false,
            status: Status::Active,
            created_at: NOW,
            revision: FIRST_REVISION,
        };
        self.store.add_client(&client, &Secret::new("secret"), &AuditContext::default()).await.unwrap();
    }

    async fn token(&self, developer: &str, team: &str, client: &str) -> Result<SandboxTokens> {
        let (developer, client) = (AccountId::new(developer), ClientId::new(client));
        self.identity.sandbox_token(&developer, &id(team), &client, None, &AuditContext::default()).await
    }

    async fn update(&self, client: &str, update: store::ClientUpdate) {
        let by = AuditContext::default();
        let updated = self.store.update_client(&ClientId::new(client), &update, None, &by).await.unwrap();
        assert!(updated.is_updated());
    }
}

#[tokio::test]
async fn token_in_one_go_shows_every_step_and_opens_the_sandbox() {
    let fixture = Fixture::new(settings()).await;
    let tokens = fixture.token("ana", "panel", "app-panel").await.unwrap();
    let caller = fixture.identity.caller(tokens.access_token.reveal()).await.unwrap();
    assert_eq!((caller.tenant.as_str(), caller.client.as_str()), ("sandbox-panel", "app-panel"));
    assert_eq!(caller.user.as_str(), "user-panel");
    let url = &tokens.authorize_url;
    assert!(url.starts_with("https://id.example/auth/core/connect/authorize?"), "{url}");
    assert!(
        url.contains("code_challenge_method=S256") && url.contains("portal%2Fsandbox%2Fcallback"),
        "{url}"
    );
    let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&tokens.callback), ["code", "state", "iss"]);
    assert_eq!(names(&tokens.token_request), ["grant_type", "code", "redirect_uri", "code_verifier"]);
    assert_eq!(tokens.token_response["token_type"], "Bearer");
    assert!(tokens.refresh_token.is_some());
    assert_eq!(tokens.access_claims["client_id"], "app-panel");
    assert_eq!(tokens.id_claims.as_ref().unwrap()["email"], "user-panel@example.com");
    // The audit says who did it.
    let query = AuditQuery { kind: Some(AuditKind::CodeIssued), rows_max: 9, ..AuditQuery::default() };
    let issued = fixture.store.audit(&query).await.unwrap();
    assert_eq!(issued[0].entry.context.actor, Actor::Developer(AccountId::new("ana")));
}

#[tokio::test]
async fn nothing_of_another_team_works() {
    let fixture = Fixture::new(settings()).await;
    for (developer, team, client, missing) in [
        ("eva", "panel", "app-panel", "team"),
        ("nobody", "panel", "app-panel", "team"),
        ("ana", "panel", "app-other", "client"),
        ("ana", "panel", "free", "client"),
        ("ana", "panel", "none", "client"),
        ("ana", "other", "app-other", "team"),
    ] {
        let refused = fixture.token(developer, team, client).await;
        let is_expected = matches!(&refused, Err(SandboxSignInError::NotFound(what)) if *what == missing);
        assert!(is_expected, "{developer} {team} {client}: {refused:?}");
    }
    // A code for one team's client is worth nothing in another's sign-in.
    let eva = AccountId::new("eva");
    let (other, client) = (id("other"), ClientId::new("app-other"));
    let begun = fixture
        .identity
        .begin_sandbox_sign_in(&eva, &other, &client, None, SandboxPrompt::Login)
        .await
        .unwrap();
    let stolen = fixture.token("ana", "panel", "app-panel").await.unwrap();
    let code = &stolen.callback.iter().find(|(name, _)| name == "code").unwrap().1;
    let callback =
        query([("code", code.as_str()), ("state", &begun.state), ("iss", "https://id.example/auth/core")]);
    let context = AuditContext::default();
    let refused = fixture.identity.finish_sandbox_sign_in(&eva, &begun, &callback, &context).await;
    let is_refused =
        matches!(&refused, Err(SandboxSignInError::Refused { code, .. }) if code == "invalid_grant");
    assert!(is_refused, "{refused:?}");
}

#[tokio::test]
async fn callback_is_checked_before_the_exchange() {
    let fixture = Fixture::new(settings()).await;
    let (ana, panel, client) = (AccountId::new("ana"), id("panel"), ClientId::new("app-panel"));
    let begun = fixture
        .identity
        .begin_sandbox_sign_in(&ana, &panel, &client, None, SandboxPrompt::Login)
        .await
        .unwrap();
    let iss = "https://id.example/auth/core";
    for (callback, expected) in [
        (query([("code", "x"), ("state", "another"), ("iss", iss)]), "invalid_state"),
        (query([("code", "x"), ("state", &begun.state), ("iss", "https://evil.example")]), "invalid_iss"),
        (query([("state", begun.state.as_str()), ("iss", iss)]), "invalid_request"),
        (query([("error", "access_denied"), ("state", &begun.state)]), "access_denied"),
        (query([("code", "x"), ("state", &begun.state), ("iss", iss)]), "invalid_grant"),
    ] {
        let context = AuditContext::default();
        let refused = fixture.identity.finish_sandbox_sign_in(&ana, &begun, &callback, &context).await;
        let is_expected =
            matches!(&refused, Err(SandboxSignInError::Refused { code, .. }) if code == expected);
        assert!(is_expected, "{callback}: {refused:?}");
    }
}

#[tokio::test]
async fn products_scopes_and_status_count_as_in_every_sign_in() {
    let fixture = Fixture::new(settings()).await;
    let payroll = Products::from_iter([Product::Payroll]);
    let update = store::ClientUpdate { products: Some(payroll), ..store::ClientUpdate::default() };
    fixture.update("app-panel", update).await;
    let (ana, panel, client) = (AccountId::new("ana"), id("panel"), ClientId::new("app-panel"));
    let context = AuditContext::default();
    let asked = Some("openid SVC.ES.NEWPOL.ACC.API");
    let refused = fixture.identity.sandbox_token(&ana, &panel, &client, asked, &context).await;
    let is_refused =
        matches!(&refused, Err(SandboxSignInError::Refused { code, .. }) if code == "invalid_scope");
    assert!(is_refused, "{refused:?}");
    let tokens = fixture.token("ana", "panel", "app-panel").await.unwrap();
    assert!(!tokens.access_claims["scope"].to_string().contains("ACC.API"), "{}", tokens.access_claims);
    for pkce in [Pkce::Ignore, Pkce::IfSent] {
        let update = store::ClientUpdate { pkce: Some(pkce), ..store::ClientUpdate::default() };
        fixture.update("app-panel", update).await;
        fixture.token("ana", "panel", "app-panel").await.unwrap();
    }
    let update = store::ClientUpdate { status: Some(Status::Disabled), ..store::ClientUpdate::default() };
    fixture.update("app-panel", update).await;
    let refused = fixture.token("ana", "panel", "app-panel").await;
    assert!(matches!(refused, Err(SandboxSignInError::Closed(_))), "{refused:?}");
    let tenant = TenantId::new("sandbox-other");
    fixture.store.set_tenant_status(&tenant, Status::Disabled, &context).await.unwrap();
    let refused = fixture.token("eva", "other", "app-other").await;
    assert!(matches!(refused, Err(SandboxSignInError::Closed(_))), "{refused:?}");
}

#[tokio::test]
async fn closed_sandboxes_give_no_token() {
    let fixture = Fixture::new(Settings { is_sandbox_open: false, ..settings() }).await;
    let refused = fixture.token("ana", "panel", "app-panel").await;
    assert!(matches!(refused, Err(SandboxSignInError::Closed(_))), "{refused:?}");
    assert_eq!(fixture.identity.sandbox_redirect_uri(), None);
}

#[tokio::test]
async fn user_authorizes_a_client_directly_where_both_may_enter_the_tenant() {
    let fixture = Fixture::new(settings()).await;
    let client = fixture.store.find_client(&ClientId::new("app-panel")).await.unwrap().unwrap();
    let (user, tenant) = (AccountId::new("user-panel"), TenantId::new("sandbox-panel"));
    let authorization = DirectAuthorization { client: &client, user: &user, tenant: &tenant };
    let request = DirectRequest { redirect_uri: "https://app.example/callback", scope: None };
    let context = AuditContext::default();
    let tokens = fixture.identity.direct_tokens(&authorization, &request, &context).await.unwrap().0;
    let caller = fixture.identity.caller(tokens["access_token"].as_str().unwrap()).await.unwrap();
    assert_eq!((&caller.tenant, &caller.client, &caller.user), (&tenant, &client.id, &user));
    let narrow = DirectRequest { scope: Some("openid email"), ..request };
    let tokens = fixture.identity.direct_tokens(&authorization, &narrow, &context).await.unwrap().0;
    assert!(tokens["id_token"].is_string() && tokens["refresh_token"].is_null(), "{tokens}");

    // The client requires PKCE, so that a bare code is refused; so are other addresses, tenants and clients.
    let bare = fixture.identity.direct_code(&authorization, &request, &context).await;
    let is_refused =
        matches!(&bare, Err(DirectAuthorizationError::Refused { code, .. }) if code == "invalid_request");
    assert!(is_refused, "{bare:?}");
    let elsewhere = DirectRequest { redirect_uri: "https://evil.example/", scope: None };
    let refused = fixture.identity.direct_tokens(&authorization, &elsewhere, &context).await;
    assert!(matches!(refused, Err(DirectAuthorizationError::NoRedirectUri)), "{refused:?}");
    let other = TenantId::new("sandbox-other");
    let foreign = DirectAuthorization { tenant: &other, ..authorization };
    let refused = fixture.identity.direct_tokens(&foreign, &request, &context).await;
    assert!(matches!(refused, Err(DirectAuthorizationError::NotAMember)), "{refused:?}");
    let free = fixture.store.find_client(&ClientId::new("free")).await.unwrap().unwrap();
    let refused = DirectAuthorization { client: &free, ..authorization };
    let refused = fixture.identity.direct_tokens(&refused, &request, &context).await;
    let is_refused =
        matches!(&refused, Err(DirectAuthorizationError::Refused { code, .. }) if code == "access_denied");
    assert!(is_refused, "a client without the team may not enter its sandbox: {refused:?}");
}
