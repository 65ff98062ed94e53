//! Developers with a team each, who are signed in to the portal.

use domain::{AccountId, Realm, Secret, password};
use serde_json::{Value, json};
use store::{Account, AuditContext, FIRST_REVISION, Status};
use testserver::{SeededRandom, TestServer};

use crate::harness::{Browser, OperatorApi, Page, Server};

pub(crate) const PASSWORD: &str = "cuatro palabras sin sentido";

/// A browser of a developer who owns a team.
pub(crate) struct Developer {
    pub(crate) browser: Browser,
    pub(crate) team: String,
}

impl Developer {
    /// Makes the developer and the team, both of this name, and signs the developer in.
    #[track_caller]
    pub(crate) fn sign_in(server: &TestServer, name: &str) -> Self {
        let email = format!("{name}@developers.example");
        let account = Account {
            id: AccountId::new(name),
            realm: Realm::Developers,
            email: email.clone(),
            given_name: "María".into(),
            family_name: String::new(),
            lang: "es".into(),
            password_hash: password::hash(&Secret::new(PASSWORD), &SeededRandom::new(3)).unwrap(),
            status: Status::Active,
            role: None,
            created_at: domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
            updated_at: domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
            revision: FIRST_REVISION,
        };
        let store = server.store().clone();
        server.block_on(async { store.add_account(&account, &[], &AuditContext::default()).await }).unwrap();
        server.operator_post("teams", &json!({"name": name, "id": name}));
        server.operator_post(&format!("teams/{name}/members"), &json!({"developer": email, "role": "owner"}));
        let browser = Browser::new(server.base_url());
        let form = browser.get("/portal/login").form("post");
        let done = browser.submit(&form, &[("username", &email), ("password", PASSWORD)]);
        assert!(done.status == 302 || done.status == 303, "{done:?}");
        Self { browser, team: name.to_owned() }
    }

    /// The same on a server that is a process.
    #[track_caller]
    pub(crate) fn sign_in_to(server: &Server, name: &str) -> Self {
        let api = OperatorApi(server);
        Self::accept_invitation(&server.public_url, name, &|path, body| api.create(&format!("/{path}"), body))
    }

    #[track_caller]
    fn accept_invitation(origin: &str, name: &str, create: &dyn Fn(&str, &Value) -> Value) -> Self {
        let email = format!("{name}@developers.example");
        let invited = create("invitations", &json!({"realm": "developers", "email": email, "lang": "es"}));
        let link = invited["link"].as_str().unwrap();
        let browser = Browser::new(origin);
        let page = browser.follow_redirects(browser.get(&link[link.find("/portal").unwrap()..]));
        let filled = [
            ("given_name", "María"),
            ("lang", "es"),
            ("new_password", PASSWORD),
            ("repeated_password", PASSWORD),
        ];
        let accepted = browser.submit(&page.form("post"), &filled);
        assert_eq!(accepted.status, 302, "{accepted:?}");
        create("teams", &json!({"name": name, "id": name}));
        create(&format!("teams/{name}/members"), &json!({"developer": email, "role": "owner"}));
        Self { browser, team: name.to_owned() }
    }

    /// A page of the own team.
    #[track_caller]
    pub(crate) fn get(&self, page: &str) -> Page {
        self.browser.get(&self.path(page))
    }

    /// The same in a language.
    #[track_caller]
    pub(crate) fn get_in(&self, lang: &str, page: &str) -> String {
        let separator = if page.contains('?') { '&' } else { '?' };
        let found = self.get(&format!("{page}{separator}lang={lang}"));
        assert_eq!(found.status, 200, "{page}: {found:?}");
        // Long names may break between their parts.
        found.text().replace("<wbr>", "")
    }

    /// Submits the first form of a page of the own team that posts.
    #[track_caller]
    pub(crate) fn submit(&self, page: &str, filled: &[(&str, &str)]) -> Page {
        let form = self.get(page).form("post");
        self.browser.submit(&crate::harness::Form { action: self.path(page), ..form }, filled)
    }

    pub(crate) fn path(&self, page: &str) -> String {
        format!("/portal/teams/{}/{page}", self.team)
    }
}
