//! Developers with a team each, who are signed in to the portal.

use domain::{AccountId, Realm, Secret, password};
use serde_json::json;
use store::{Account, AuditContext, FIRST_REVISION, Status};
use testkit::{SeededRandom, TestServer};

use crate::harness::{Browser, Page, ServeProcess};

const PASSWORD: &str = "cuatro palabras sin sentido";

fn email(name: &str) -> String {
    format!("{name}@developers.example")
}

fn account(name: &str) -> Account {
    Account {
        id: AccountId::new(name),
        realm: Realm::Developers,
        email: email(name),
        given_name: "María".into(),
        lang: "es".into(),
        password_hash: password::hash(&Secret::new(PASSWORD), &SeededRandom::new(3)).unwrap(),
        status: Status::Active,
        role: None,
        created_at: domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
        revision: FIRST_REVISION,
    }
}

/// A browser of a developer who owns a team.
pub(super) struct Developer {
    pub(super) browser: Browser,
    pub(super) team: String,
}

impl Developer {
    /// Makes the developer and the team, both of this name, and signs the developer in.
    #[track_caller]
    pub(super) fn sign_in(server: &TestServer, name: &str) -> Self {
        let (store, account) = (server.store().clone(), account(name));
        server.block_on(async { store.add_account(&account, &[], &AuditContext::default()).await }).unwrap();
        server.operator_post("teams", &json!({"name": name, "id": name}));
        let member = json!({"developer": account.email, "role": "owner"});
        server.operator_post(&format!("teams/{name}/members"), &member);
        Self::in_browser(server.base_url(), name)
    }

    /// The same on a server that is a process of its own.
    #[track_caller]
    pub(super) fn sign_in_to(server: &ServeProcess, name: &str) -> Self {
        let account = account(name);
        server.installation.in_store(async |store| {
            store.add_account(&account, &[], &AuditContext::default()).await.unwrap();
        });
        let run = |arguments: &[&str]| server.installation.program(arguments).run().code(0);
        run(&["team", "add", name, "--id", name]);
        run(&["team", "join", name, &account.email, "--owner"]);
        Self::in_browser(&server.public_url, name)
    }

    #[track_caller]
    fn in_browser(url: &str, name: &str) -> Self {
        let browser = Browser::new(url);
        let form = browser.get("/portal/login").form("post");
        let done = browser.submit(&form, &[("username", &email(name)), ("password", PASSWORD)]);
        assert!(done.status == 302 || done.status == 303, "{done:?}");
        Self { browser, team: name.to_owned() }
    }

    /// A page of the own team.
    #[track_caller]
    pub(super) fn get(&self, page: &str) -> Page {
        self.browser.get(&self.path(page))
    }

    /// The same in a language.
    #[track_caller]
    pub(super) fn get_in(&self, lang: &str, page: &str) -> String {
        let separator = if page.contains('?') { '&' } else { '?' };
        let found = self.get(&format!("{page}{separator}lang={lang}"));
        assert_eq!(found.status, 200, "{page}: {found:?}");
        found.text().to_owned()
    }

    pub(super) fn path(&self, page: &str) -> String {
        format!("/portal/teams/{}/{page}", self.team)
    }
}
