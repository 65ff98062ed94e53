//! Operators who are signed in to the console.

use domain::{AccountId, OperatorRole, Realm, Secret, password};
use store::{Account, AuditContext, FIRST_REVISION, Status};
use testkit::{SeededRandom, TestServer};

use crate::harness::{Browser, Form, Page};

pub(crate) const PASSWORD: &str = "cuatro palabras sin sentido";

/// A browser of an operator.
pub(crate) struct Operator {
    pub(crate) browser: Browser,
    pub(crate) id: String,
}

impl Operator {
    /// Makes an operator with this role, whose name is the role's, and signs them in.
    #[track_caller]
    pub(crate) fn sign_in(server: &TestServer, role: OperatorRole) -> Self {
        let id = format!("console-{}", role.as_str());
        let email = format!("{id}@operators.example");
        let account = Account {
            id: AccountId::new(&*id),
            realm: Realm::Operators,
            email: email.clone(),
            given_name: "Olga".into(),
            lang: "en".into(),
            password_hash: password::hash(&Secret::new(PASSWORD), &SeededRandom::new(3)).unwrap(),
            status: Status::Active,
            role: Some(role),
            created_at: domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
            revision: FIRST_REVISION,
        };
        let store = server.store().clone();
        server.block_on(async { store.add_account(&account, &[], &AuditContext::default()).await }).unwrap();
        let browser = Browser::new(server.operator_url());
        let form = browser.get("/console/login").form("post");
        let done = browser.submit(&form, &[("username", &email), ("password", PASSWORD)]);
        assert!(done.status == 302 || done.status == 303, "{done:?}");
        Self { browser, id }
    }

    #[track_caller]
    pub(crate) fn get(&self, page: &str) -> Page {
        self.browser.get(&path(page))
    }

    /// The page in a language.
    #[track_caller]
    pub(crate) fn get_in(&self, lang: &str, page: &str) -> String {
        let separator = if page.contains('?') { '&' } else { '?' };
        let found = self.get(&format!("{page}{separator}lang={lang}"));
        assert_eq!(found.status, 200, "{page}: {found:?}");
        // Long names may break between their parts.
        found.text().replace("<wbr>", "")
    }

    /// The page's values.
    #[track_caller]
    pub(crate) fn json(&self, page: &str) -> serde_json::Value {
        let separator = if page.contains('?') { '&' } else { '?' };
        let found = self.get(&format!("{page}{separator}format=json"));
        assert_eq!(found.status, 200, "{page}: {found:?}");
        serde_json::from_str(found.text()).unwrap()
    }

    /// Submits a form to a page, with the token of the page's first form that posts.
    #[track_caller]
    pub(crate) fn submit(&self, page: &str, filled: &[(&str, &str)]) -> Page {
        let form = self.get(page).form("post");
        self.browser.submit(&Form { action: path(page), ..form }, filled)
    }
}

pub(crate) fn path(page: &str) -> String {
    format!("/console/{page}")
}
