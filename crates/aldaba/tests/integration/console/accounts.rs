//! Tenants, people and invitations in the console: what each action does, who may do it, and what the lists show.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use domain::totp::{TimeStep, TotpSecret};
use domain::{
    AccountId, ClientId, Clock as _, GrantId, Guid, MembershipId, OperatorRole, Realm, Scopes, Secret,
    TenantId,
};
use serde_json::{Value, json};
use store::{
    Account, Actor, AuditContext, AuditEntry, AuditKind, AuthorizationCode, CodeExchange, FIRST_REVISION,
    FactorEffects, FactorMethod, Grant, Membership, NewGrant, SecondFactor, Session, Status, Store,
};
use testserver::SeededRandom;

use super::fixture::{Console, PASSWORD, shown_once};

/// Longer than a sign-in counts as fresh, and shorter than a session.
const LATER: Duration = Duration::from_secs(60 * 60);

/// The tenant "norte", and an account "ana" of each realm.
struct Fixture {
    console: Console,
}

impl Deref for Fixture {
    type Target = Console;

    fn deref(&self) -> &Console {
        &self.console
    }
}

fn account_id(realm: Realm) -> String {
    format!("ana-{}", realm.person())
}

impl Fixture {
    fn new() -> Self {
        let fixture = Self { console: Console::new() };
        fixture.server.operator_post("tenants", &json!({"name": "Asesoría Norte", "id": "norte"}));
        for realm in Realm::ALL {
            fixture.add_account(realm);
        }
        fixture
    }

    fn store(&self) -> Arc<dyn Store> {
        self.server.store().clone()
    }

    fn in_store<T>(&self, action: impl AsyncFnOnce(&dyn Store) -> T) -> T {
        let store = self.store();
        self.server.block_on(async { action(&*store).await })
    }

    fn add_account(&self, realm: Realm) {
        let account = Account {
            id: AccountId::new(account_id(realm)),
            realm,
            email: "ana@example.com".into(),
            given_name: "Ana".into(),
            family_name: String::new(),
            lang: "es".into(),
            password_hash: String::new(),
            status: Status::Active,
            role: (realm == Realm::Operators).then_some(OperatorRole::Support),
            created_at: self.clock.now(),
            updated_at: self.clock.now(),
            revision: FIRST_REVISION,
        };
        self.in_store(async |store| store.add_account(&account, &[], &AuditContext::default()).await)
            .unwrap();
    }

    fn account(&self, realm: Realm) -> Account {
        let id = AccountId::new(account_id(realm));
        self.in_store(async |store| store.find_account(&id).await).unwrap().unwrap()
    }

    fn add_session(&self, realm: Realm, number: u8) {
        let now = self.clock.now();
        let session = Session {
            id: Guid::from_bytes([number; 16]),
            realm,
            account: AccountId::new(account_id(realm)),
            authenticated_at: now,
            methods: "pwd".into(),
            expires_at: now + Duration::from_secs(24 * 60 * 60),
            address: "192.0.2.7".into(),
            user_agent: "Firefox <on> Linux".into(),
        };
        // As a sign-in leaves it.
        let context = AuditContext::default().by(Actor::account(realm, session.account.clone()));
        let entry = AuditEntry::new(AuditKind::signed_in(realm), now, &context);
        let cookie = Secret::new(format!("{realm:?}{number}"));
        self.in_store(async |store| store.begin_session(&cookie, &session, None, None, &entry).await)
            .unwrap();
    }

    fn sessions(&self, realm: Realm) -> usize {
        let (id, now) = (AccountId::new(account_id(realm)), self.clock.now());
        self.in_store(async |store| store.list_sessions(&id, now).await).unwrap().len()
    }

    fn add_second_factor(&self, realm: Realm) {
        let random = SeededRandom::new(7);
        let factor = SecondFactor {
            id: Guid::from_bytes([9; 16]),
            realm,
            account: AccountId::new(account_id(realm)),
            name: "My phone".into(),
            method: FactorMethod::Totp {
                secret: TotpSecret::random(&random).base32(),
                last_used: TimeStep(0),
            },
            created_at: self.clock.now(),
            last_used_at: None,
        };
        let effects = FactorEffects::default();
        let added = self.in_store(async |store| {
            store.add_second_factor(&factor, &[], None, &effects, &AuditContext::default()).await
        });
        assert!(added.is_ok(), "{added:?}");
    }

    /// Makes ana a member of the tenant who has authorized an application for it.
    fn authorize(&self) -> String {
        let client = self.server.add_client("Panel").id;
        let (user, tenant) = (AccountId::new(account_id(Realm::Users)), TenantId::new("norte"));
        let now = self.clock.now();
        let mut membership = Membership::new(&SeededRandom::new(5), &user, &tenant, now);
        membership.id = MembershipId::new("membership");
        let (context, code) = (AuditContext::default(), Secret::new("code"));
        let stored = AuthorizationCode {
            client: ClientId::new(&*client),
            user: user.clone(),
            tenant: tenant.clone(),
            expires_at: now + LATER,
            details: "{}".into(),
        };
        let grant = Grant {
            id: GrantId::new("grant"),
            client: stored.client.clone(),
            user,
            tenant,
            details: "{}".into(),
            created_at: now,
            last_used_at: now,
            expires_at: now + LATER,
            revoked_at: None,
        };
        let new = NewGrant {
            grant,
            scopes: Scopes::parse("openid SVC.ES.NEWPOL.ACC.API").scopes,
            refresh: None,
            session: None,
        };
        let exchange =
            CodeExchange { code: code.clone(), client: stored.client.clone(), now, context: context.clone() };
        self.in_store(async |store| {
            store.add_membership(&membership, &context).await.unwrap();
            store.store_code(&code, &stored, &membership.id, now, &context).await.unwrap();
            store.take_code(&exchange, Box::new(move |_| Some(new))).await.unwrap()
        });
        client
    }

    fn audit_kinds(&self) -> Vec<String> {
        let records = self.server.operator_get("/operator/v1/audit?pageSize=50").json();
        let own = format!("operator:{}", self.operator.id);
        let own = records["records"].as_array().unwrap().iter().filter(|record| record["actor"] == own);
        own.map(|record| record["kind"].as_str().unwrap().to_owned()).collect()
    }
}

fn column(page: &Value, list: &str, member: &str) -> Vec<String> {
    let rows = page[list].as_array().unwrap();
    rows.iter().map(|row| row[member].as_str().unwrap().to_owned()).collect()
}

/// Every action of the area, with a form that an admin's is accepted from; in an order in which they work.
fn actions(fixture: &Fixture) -> Vec<(String, Vec<(&'static str, String)>)> {
    let fields =
        |all: &[(&'static str, &str)]| all.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    let mut actions: Vec<(String, Vec<(&'static str, String)>)> = Vec::new();
    let mut add = |page: &str, all: &[(&'static str, &str)]| actions.push((page.to_owned(), fields(all)));
    add("tenants", &[("do", "add"), ("name", "Sur"), ("id", "sur")]);
    add("tenants/sur", &[("do", "disable")]);
    add("tenants/sur", &[("do", "enable")]);
    let user = account_id(Realm::Users);
    add("tenants/sur", &[("do", "add_member"), ("user", "ana@example.com")]);
    add("tenants/sur", &[("do", "make_admin"), ("user", &user)]);
    add("tenants/sur", &[("do", "make_member"), ("user", &user)]);
    add("tenants/sur", &[("do", "remove_member"), ("user", &user)]);
    add("tenants/sur", &[("do", "erase"), ("confirm", "sur")]);
    add("users", &[("do", "add"), ("email", "new@example.com"), ("name", "New"), ("tenants", "norte")]);
    for realm in Realm::ALL {
        let page = format!("{}/{}", realm.as_str(), account_id(realm));
        for name in ["disable", "enable", "reset_factors", "end_sessions", "reset_password"] {
            add(&page, &[("do", name)]);
        }
        add(&page, &[("do", "rename"), ("name", "Ana María"), ("lang", "en")]);
    }
    let client = fixture.authorize();
    let page = format!("users/{user}");
    add(&page, &[("do", "withdraw"), ("tenant", "norte"), ("client", &client)]);
    add(&page, &[("do", "make_admin"), ("tenant", "norte")]);
    add(&page, &[("do", "make_member"), ("tenant", "norte")]);
    add(&page, &[("do", "remove_tenant"), ("tenant", "norte")]);
    add(&page, &[("do", "add_tenant"), ("tenant", "norte")]);
    add(&format!("operators/{}", account_id(Realm::Operators)), &[("do", "change_role"), ("role", "viewer")]);
    add(
        "invitations",
        &[("do", "invite"), ("realm", "users"), ("email", "eva@example.com"), ("tenants", "norte")],
    );
    let made = json!({"realm": "developers", "email": "leo@example.com"});
    let made = fixture.server.operator_post("invitations", &made);
    let id = made["id"].as_str().unwrap();
    add("invitations", &[("do", "resend"), ("invitation", id)]);
    add("invitations", &[("do", "revoke"), ("invitation", id)]);
    actions
}

#[test]
fn actions_are_for_admins_and_the_dangerous_ones_after_a_fresh_sign_in() {
    let mut fixture = Fixture::new();
    let actions = actions(&fixture);
    for role in [OperatorRole::Viewer, OperatorRole::Support] {
        fixture.act_as(role);
        let before = fixture.audit_kinds();
        for (page, fields) in &actions {
            let fields: Vec<(&str, &str)> =
                fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let refused = fixture.post(page, &fields);
            assert_eq!(refused.status, 403, "{role:?} {page} {fields:?}: {refused:?}");
        }
        assert_eq!(fixture.audit_kinds(), before, "{role:?}");
    }
    fixture.act_as(OperatorRole::Admin);
    fixture.clock.advance(LATER);
    let before = fixture.audit_kinds();
    let is_plain = |page: &str, name: &str| name == "rename" || (page, name) == ("tenants", "add");
    for (page, fields) in &actions {
        let all: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        if !is_plain(page, all[0].1) {
            let asked = fixture.post(page, &all);
            let is_asked = asked.location().contains("/console/") && !asked.location().contains("done=");
            assert!([302, 303].contains(&asked.status) && is_asked, "{page} {all:?}: {asked:?}");
        }
    }
    assert_eq!(fixture.audit_kinds(), before, "nothing happened");
    let sign_in = fixture.operator.browser.follow_redirects(fixture.post("invitations", &[("do", "invite")]));
    let email = format!("{}@operators.example", fixture.operator.id);
    let back = fixture
        .operator
        .browser
        .submit(&sign_in.form("post"), &[("username", &email), ("password", PASSWORD)]);
    assert!(back.location().ends_with("/console/invitations"), "{back:?}");
    fixture.console.read_token();
    for (page, fields) in &actions {
        let all: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let done = fixture.post(page, &all);
        let is_done =
            done.location().contains("done=") || (done.status == 200 && done.text().contains("shown-link"));
        assert!(is_done, "{page} {all:?}: {done:?}");
    }
}

#[test]
fn every_action_of_the_list_is_tried() {
    let fixture = Fixture::new();
    let tried: Vec<(String, String)> =
        actions(&fixture).into_iter().map(|(page, fields)| (page, fields[0].1.clone())).collect();
    let areas = ["tenants", "users", "developers", "operators", "invitations"];
    for action in console::console_actions() {
        let (area, is_one) = (action.page.split('/').next().unwrap(), action.page.contains('/'));
        if areas.contains(&area) && action.page.split('/').count() <= 2 {
            let is_tried = |(page, name): &&(String, String)| {
                page.split('/').next() == Some(area) && page.contains('/') == is_one && name == action.name
            };
            assert!(tried.iter().any(|one| is_tried(&one)), "{action:?}");
        }
    }
}

#[test]
fn tenants_are_added_disabled_and_erased() {
    let fixture = Fixture::new();
    fixture.done("tenants", &[("do", "add"), ("name", "Sur <b>"), ("id", "sur")], "tenant_added");
    assert_eq!(fixture.operator.json("tenants?q=SUR")["tenants"][0]["id"], "sur");
    assert!(fixture.operator.get_in("en", "tenants/sur").contains("Sur &lt;b&gt;"));
    let again = fixture.refused("tenants", &[("do", "add"), ("name", "Otra"), ("id", "sur")]);
    assert!(again.contains("sur") && again.contains("value=\"Otra\""), "{again}");
    fixture.done("tenants/sur", &[("do", "disable")], "tenant_disabled");
    assert_eq!(column(&fixture.operator.json("tenants?state=disabled"), "tenants", "id"), ["sur"]);
    fixture.done("tenants/sur", &[("do", "enable")], "tenant_enabled");
    for wrong in ["", "norte", "Sur"] {
        let refused = fixture.refused("tenants/sur", &[("do", "erase"), ("confirm", wrong)]);
        assert!(refused.contains("id=\"refused\""), "{refused}");
    }
    fixture.done("tenants/sur", &[("do", "erase"), ("confirm", "sur")], "tenant_erased");
    assert_eq!(fixture.operator.get("tenants/sur").status, 404);
    // Each with the acting person.
    let mut kinds = fixture.audit_kinds();
    kinds.sort_unstable();
    let expected =
        ["operator_signed_in", "tenant_added", "tenant_changed", "tenant_changed", "tenant_erased"];
    assert_eq!(kinds, expected);
}

#[test]
fn members_come_and_go_on_both_pages() {
    let fixture = Fixture::new();
    let user = account_id(Realm::Users);
    let page = format!("users/{user}");
    let missing = fixture.refused("tenants/norte", &[("do", "add_member"), ("user", "nobody@example.com")]);
    assert!(missing.contains("nobody@example.com"), "{missing}");
    let member = [("do", "add_member"), ("user", "ana@example.com")];
    fixture.done("tenants/norte", &member, "tenant_member_added");
    assert_eq!(column(&fixture.operator.json("tenants/norte"), "members", "id"), [user.as_str()]);
    fixture.refused("tenants/norte", &member);
    fixture.done(&page, &[("do", "make_admin"), ("tenant", "norte")], "tenant_member_changed");
    assert_eq!(fixture.operator.json(&page)["tenants"][0]["isAdmin"], true);
    fixture.done("tenants/norte", &[("do", "make_member"), ("user", &user)], "tenant_member_changed");
    assert_eq!(fixture.operator.json(&page)["tenants"][0]["isAdmin"], false);
    fixture.done(&page, &[("do", "remove_tenant"), ("tenant", "norte")], "tenant_member_removed");
    assert_eq!(fixture.operator.json("tenants/norte")["members"], json!([]));
    fixture.refused(&page, &[("do", "remove_tenant"), ("tenant", "norte")]);
    fixture.refused(&page, &[("do", "add_tenant"), ("tenant", "nowhere")]);
    fixture.done(&page, &[("do", "add_tenant"), ("tenant", "norte")], "tenant_member_added");
    let csv = fixture.operator.get("tenants/norte?format=csv").text().to_owned();
    assert!(
        csv.starts_with(
            "id,email,name,state,admin,since,last_used\r\nana-user,ana@example.com,Ana,active,false,"
        ),
        "{csv}"
    );
}

#[test]
fn accounts_of_every_realm_are_disabled_and_their_access_is_reset() {
    let fixture = Fixture::new();
    for realm in Realm::ALL {
        let page = format!("{}/{}", realm.as_str(), account_id(realm));
        fixture.add_session(realm, 1);
        let shown = fixture.operator.get_in("es", &page);
        assert!(shown.contains("Firefox &lt;on&gt; Linux") && shown.contains("192.0.2.7"), "{shown}");
        let shown = fixture.operator.json(&page);
        assert_eq!(column(&shown, "signIns", "kind"), [AuditKind::signed_in(realm).as_str()]);
        assert!(!shown["records"].as_array().unwrap().is_empty(), "{shown}");
        fixture.done(&page, &[("do", "end_sessions")], "account_sessions_ended");
        assert_eq!(fixture.sessions(realm), 0);
        fixture.add_second_factor(realm);
        let shown = fixture.operator.json(&page);
        assert_eq!(
            (&shown["factors"][0]["method"], &shown["factors"][0]["name"]),
            (&json!("totp"), &json!("My phone"))
        );
        fixture.done(&page, &[("do", "reset_factors")], "account_factors_reset");
        assert_eq!(fixture.operator.json(&page)["factors"], json!([]));
        fixture.done(&page, &[("do", "rename"), ("name", "Ana Mª"), ("lang", "en")], "account_renamed");
        fixture.refused(&page, &[("do", "rename"), ("name", " "), ("lang", "en")]);
        let link = shown_once(&fixture.post(&page, &[("do", "reset_password")]), "shown-link");
        let token = Secret::new(link.split_once("token=").unwrap().1);
        let now = fixture.clock.now();
        let found =
            fixture.in_store(async |store| store.find_password_reset(realm, &token, now).await).unwrap();
        assert_eq!(found.map(|account| account.id), Some(AccountId::new(account_id(realm))), "{link}");
        assert!(!fixture.operator.get(&page).text().contains("shown-link"), "it is shown once");
        fixture.done(&page, &[("do", "disable")], "account_disabled");
        let stored = fixture.account(realm);
        assert_eq!((stored.status, &*stored.given_name, &*stored.lang), (Status::Disabled, "Ana Mª", "en"));
        fixture.refused(&page, &[("do", "reset_password")]);
        fixture.done(&page, &[("do", "enable")], "account_enabled");
        assert_eq!(fixture.account(realm).status, Status::Active);
        fixture.refused(&page, &[("do", "dance")]);
    }
}

#[test]
fn user_shows_applications_and_loses_them() {
    let fixture = Fixture::new();
    let client = fixture.authorize();
    fixture.add_session(Realm::Users, 1);
    let page = format!("users/{}", account_id(Realm::Users));
    let shown = fixture.operator.json(&page);
    assert_eq!(
        (&shown["authorizations"][0]["client"], &shown["authorizations"][0]["clientName"]),
        (&json!(client), &json!("Panel"))
    );
    assert_eq!(column(&shown, "signIns", "kind"), ["signed_in"]);
    assert!(column(&shown, "records", "kind").contains(&"granted".to_owned()), "{shown}");
    let tenant = fixture.operator.json("tenants/norte");
    assert_eq!(column(&tenant, "clients", "id"), [client.as_str()]);
    let csv = fixture.operator.get(&format!("{page}?format=csv&table=authorizations")).text().to_owned();
    assert!(csv.contains(&format!("norte,{client},openid SVC.ES.NEWPOL.ACC.API,")), "{csv}");
    let withdraw = [("do", "withdraw"), ("tenant", "norte"), ("client", client.as_str())];
    fixture.done(&page, &withdraw, "account_access_withdrawn");
    assert_eq!(fixture.operator.json(&page)["authorizations"], json!([]));
    assert!(!fixture.in_store(async |store| store.is_grant_live(&GrantId::new("grant")).await).unwrap());
    fixture.refused(&page, &withdraw);
}

#[test]
fn operators_change_roles_but_the_last_admin_stays() {
    let fixture = Fixture::new();
    let page = format!("operators/{}", account_id(Realm::Operators));
    fixture.done(&page, &[("do", "change_role"), ("role", "viewer")], "account_role_changed");
    assert_eq!(fixture.account(Realm::Operators).role, Some(OperatorRole::Viewer));
    fixture.refused(&page, &[("do", "change_role"), ("role", "root")]);
    // The other admin goes, and then nobody else is left.
    fixture.done("operators/console-admin", &[("do", "disable")], "account_disabled");
    let own = format!("operators/{}", fixture.operator.id);
    let refused = fixture.refused(&own, &[("do", "change_role"), ("role", "viewer")]);
    assert!(refused.contains("last active operator"), "{refused}");
    fixture.refused(&own, &[("do", "disable")]);
    assert!(fixture.operator.get_in("es", "operators").contains("Administración"));
}

#[test]
fn people_are_invited_to_every_realm() {
    let fixture = Fixture::new();
    fixture.server.operator_post("teams", &json!({"name": "Panel", "id": "panel"}));
    let invitations: [&[(&str, &str)]; 3] = [
        &[("realm", "users"), ("email", "eva@example.com"), ("tenants", "norte")],
        &[("realm", "developers"), ("email", "dev@example.com"), ("team", "panel"), ("team_owner", "true")],
        &[("realm", "operators"), ("email", "op@example.com"), ("role", "support")],
    ];
    for fields in invitations {
        let page = fixture.post("invitations", &[&[("do", "invite")], fields].concat());
        assert!(shown_once(&page, "shown-link").contains("/invitation?token="), "{page:?}");
        assert!(!fixture.operator.get("invitations").text().contains("shown-link"), "it is shown once");
    }
    let all = fixture.operator.json("invitations");
    // All were made in the same second, so their order is that of their ids.
    let invited = |email: &str| {
        let rows = all["invitations"].as_array().unwrap();
        rows.iter().find(|row| row["email"] == email).unwrap_or_else(|| panic!("no {email} in {rows:?}"))
    };
    assert_eq!(all["invitations"].as_array().unwrap().len(), 4, "with that of the first operator");
    assert_eq!(invited("eva@example.com")["tenants"], json!(["norte"]));
    let developer = invited("dev@example.com");
    assert_eq!((&developer["team"], &developer["isTeamOwner"]), (&json!("panel"), &json!(true)));
    assert_eq!(invited("op@example.com")["role"], "support");
    for wrong in [
        &[("realm", "users"), ("email", "x@example.com"), ("tenants", "nowhere")][..],
        &[("realm", "developers"), ("email", "x@example.com"), ("team", "nowhere")],
        &[("realm", "developers"), ("email", "x@example.com"), ("team_owner", "true")],
        &[("realm", "operators"), ("email", "x@example.com")],
        &[("realm", "operators"), ("email", "not an address"), ("role", "viewer")],
        &[("realm", "users"), ("email", "ana@example.com")],
        &[("email", "x@example.com")],
    ] {
        fixture.refused("invitations", &[&[("do", "invite")], wrong].concat());
    }
    let id = invited("op@example.com")["id"].as_str().unwrap();
    shown_once(&fixture.post("invitations", &[("do", "resend"), ("invitation", id)]), "shown-link");
    fixture.done("invitations", &[("do", "revoke"), ("invitation", id)], "account_invitation_revoked");
    fixture.refused("invitations", &[("do", "resend"), ("invitation", id)]);
    let emails =
        |query: &str| column(&fixture.operator.json(&format!("invitations?{query}")), "invitations", "email");
    assert_eq!(emails("realm=developers"), ["dev@example.com"]);
    assert_eq!(emails("state=revoked"), ["op@example.com"]);
    assert_eq!(emails("state=any&q=E"), ["eva@example.com"]);
    assert_eq!(emails("").len(), 3, "those that are pending, with that of the first operator");
}

#[test]
fn lists_are_searched_paged_and_downloaded() {
    let fixture = Fixture::new();
    for number in 0..60 {
        let new = json!({"name": format!("Cliente {number:02}"), "id": format!("c-{number:02}")});
        fixture.server.operator_post("tenants", &new);
    }
    let first = fixture.operator.json("tenants?q=cliente");
    let ids = column(&first, "tenants", "id");
    assert_eq!((ids.len(), ids[0].as_str(), ids[49].as_str()), (50, "c-00", "c-49"));
    let next = first["next"].as_str().unwrap();
    let second = fixture.operator.json(&format!("tenants?q=cliente&after={next}"));
    assert_eq!((column(&second, "tenants", "id").len(), &second["next"]), (10, &Value::Null));
    assert!(fixture.operator.get_in("en", "tenants?q=cliente").contains("rel=\"next\""));
    let csv = fixture.operator.get("tenants?q=cliente&format=csv").text().to_owned();
    assert_eq!(csv.lines().count(), 61, "the whole list");
    assert_eq!(fixture.operator.get("tenants?after=nonsense").status, 400);
    assert_eq!(column(&fixture.operator.json("tenants?q=c-07"), "tenants", "id"), ["c-07"]);

    for realm in Realm::ALL {
        let list = |query: &str| {
            column(&fixture.operator.json(&format!("{}?{query}", realm.as_str())), "people", "id")
        };
        assert!(list("q=ana@").contains(&account_id(realm)), "{realm:?}");
        assert!(list("q=ANA").contains(&account_id(realm)) && list("q=nobody").is_empty());
        assert!(list("state=disabled").is_empty());
        let page = fixture.operator.get_in("es", &format!("{}?q=nobody", realm.as_str()));
        assert!(page.contains("Nadie coincide"), "{page}");
    }
    let added = fixture.post(
        "users",
        &[("do", "add"), ("email", "Zoe@Example.com"), ("name", "Zoe"), ("tenants", "norte, c-07")],
    );
    assert!(shown_once(&added, "shown-link").contains("/reset?token="), "{added:?}");
    let zoe = fixture.operator.json("users?q=zoe@")["people"][0]["id"].as_str().unwrap().to_owned();
    let tenants = column(&fixture.operator.json(&format!("users/{zoe}")), "tenants", "tenant");
    assert_eq!(tenants.len(), 2, "{tenants:?}");
    let again = fixture.refused("users", &[("do", "add"), ("email", "zoe@example.com"), ("name", "Zoe")]);
    assert!(again.contains("value=\"zoe@example.com\""), "what was typed stays: {again}");
    fixture.refused(
        "users",
        &[("do", "add"), ("email", "x@example.com"), ("name", "X"), ("tenants", "nowhere")],
    );
}
