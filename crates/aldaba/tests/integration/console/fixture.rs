//! Operators who are signed in to the console, and a server with one whose role a test chooses.

use std::sync::Arc;

use domain::{AccountId, OperatorRole, Realm, Secret, password};
use hyper::Method;
use serde_json::json;
use store::{Account, AuditContext, FIRST_REVISION, Status};
use testserver::{Request, SeededRandom, TestClock, TestServer};

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
            family_name: String::new(),
            lang: "en".into(),
            password_hash: password::hash(&Secret::new(PASSWORD), &SeededRandom::new(3)).unwrap(),
            status: Status::Active,
            role: Some(role),
            created_at: domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
            updated_at: domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
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

/// A server and an operator who is an admin until a test chooses another role.
pub(crate) struct Console {
    pub(crate) server: TestServer,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) operator: Operator,
    /// Of the operator's session: also for roles whose pages show no forms.
    token: String,
}

impl Console {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(TestClock::default());
        let server = TestServer::builder().clock(clock.clone()).start();
        // Somebody else stays admin.
        Operator::sign_in(&server, OperatorRole::Admin);
        let operator = Operator::sign_in(&server, OperatorRole::Viewer);
        let mut console = Self { server, clock, operator, token: String::new() };
        console.act_as(OperatorRole::Admin);
        console.read_token();
        console
    }

    /// Reads the token of the session, which a new sign-in changes. The operator must be an admin.
    pub(crate) fn read_token(&mut self) {
        self.token = value_after(self.operator.get("tenants").text(), "name=\"token\" value=\"");
    }

    pub(crate) fn act_as(&self, role: OperatorRole) {
        let url = format!("{}/operator/v1/operators/{}", self.server.operator_url(), self.operator.id);
        let body = json!({"role": role.as_str()});
        let change = Request::new(Method::PATCH, &url).bearer(self.server.operator_token()).json(&body);
        change.send().expect_status(200);
    }

    pub(crate) fn post(&self, page: &str, fields: &[(&str, &str)]) -> Page {
        let fields = [&[("token", self.token.as_str())], fields].concat();
        self.operator.browser.post(&path(page), &fields)
    }

    /// Does it, and expects the page that says so, in both languages.
    #[track_caller]
    pub(crate) fn done(&self, page: &str, fields: &[(&str, &str)], code: &str) {
        let done = self.post(page, fields);
        assert!(done.location().ends_with(&format!("done={code}")), "{page} {fields:?}: {done:?}");
        for lang in ["es", "en"] {
            let said = self.operator.get_in(lang, done.location().trim_start_matches("/console/"));
            assert!(said.contains("id=\"done\""), "{page} {code} in {lang}");
        }
    }

    /// What a page says against it.
    #[track_caller]
    pub(crate) fn refused(&self, page: &str, fields: &[(&str, &str)]) -> String {
        let refused = self.post(page, fields);
        assert_eq!(refused.status, 400, "{page} {fields:?}: {refused:?}");
        refused.text().to_owned()
    }
}

/// The text after `start`, up to the end of the attribute or element.
#[track_caller]
fn value_after(text: &str, start: &str) -> String {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start} in {text}"));
    rest.split(['"', '<']).next().unwrap().to_owned()
}

/// What a page shows once, in the element with this id.
#[track_caller]
pub(crate) fn shown_once(page: &Page, id: &str) -> String {
    assert_eq!(page.status, 200, "{page:?}");
    value_after(page.text(), &format!("<code id=\"{id}\">")).replace("&amp;", "&")
}
