//! The pages of one realm with one account, and a browser that uses them.

use domain::{AccountId, Realm, Secret, password};
use store::{Account, AuditContext, FIRST_REVISION, Status};
use testserver::{SeededRandom, TestServer};

use crate::harness::{Browser, Form, Page};

pub(super) const PASSWORD: &str = "cuatro palabras sin sentido";

/// A realm of a server, with one account.
pub(super) struct RealmPages<'a> {
    server: &'a TestServer,
    pub(super) realm: Realm,
    pub(super) email: String,
    /// The host that browsers name, instead of the listener's address.
    host: Option<&'static str>,
}

impl<'a> RealmPages<'a> {
    pub(super) fn new(server: &'a TestServer, realm: Realm) -> Self {
        Self::named(server, realm, "maria")
    }

    /// The same with an account of this name.
    pub(super) fn named(server: &'a TestServer, realm: Realm, name: &str) -> Self {
        let email = format!("{name}@{}.example", realm.as_str());
        let hash = password::hash(&Secret::new(PASSWORD), &SeededRandom::new(3)).unwrap();
        let account = Account {
            id: AccountId::new(format!("{name}-{}", realm.as_str())),
            realm,
            email: email.clone(),
            given_name: "María".into(),
            family_name: String::new(),
            lang: "es".into(),
            password_hash: hash,
            status: Status::Active,
            role: (realm == Realm::Operators).then_some(domain::OperatorRole::Admin),
            created_at: domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
            updated_at: domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
            revision: FIRST_REVISION,
        };
        let store = server.store().clone();
        server.block_on(async { store.add_account(&account, &[], &AuditContext::default()).await }).unwrap();
        Self { server, realm, email, host: None }
    }

    /// The same pages below a host name, as behind a proxy.
    pub(super) fn at_host(self, host: &'static str) -> Self {
        Self { host: Some(host), ..self }
    }

    pub(super) fn all(server: &'a TestServer) -> [Self; 3] {
        Realm::ALL.map(|realm| Self::new(server, realm))
    }

    pub(super) fn origin(&self) -> &str {
        if self.realm == Realm::Operators { self.server.operator_url() } else { self.server.base_url() }
    }

    /// A browser without cookies.
    pub(super) fn browser(&self) -> Browser {
        let browser = Browser::new(self.origin());
        match self.host {
            Some(host) => browser.with_header("host", host),
            None => browser,
        }
    }

    pub(super) fn path(&self, page: &str) -> String {
        let base = match self.realm {
            Realm::Users => "/auth/core",
            Realm::Developers => "/portal",
            Realm::Operators => "/console",
        };
        format!("{base}/{page}")
    }

    pub(super) fn session_cookie(&self) -> &'static str {
        match self.realm {
            Realm::Users => "aldaba-session",
            Realm::Developers => "aldaba-developer-session",
            Realm::Operators => "aldaba-operator-session",
        }
    }

    pub(super) fn try_sign_in(&self, email: &str, password: &str) -> (Browser, Page) {
        let browser = self.browser();
        let form = browser.get(&self.path("login")).form("post");
        let page = browser.submit(&form, &[("username", email), ("password", password)]);
        (browser, page)
    }

    pub(super) fn signed_in(&self) -> Browser {
        let (browser, page) = self.try_sign_in(&self.email, PASSWORD);
        assert_eq!(page.status, 302, "{page:?}");
        browser
    }

    pub(super) fn account(&self, browser: &Browser) -> Page {
        browser.get(&self.path("account"))
    }

    pub(super) fn is_signed_in(&self, browser: &Browser) -> bool {
        self.account(browser).status == 200
    }

    /// Submits the form that has this field.
    pub(super) fn submit(&self, browser: &Browser, field: &str, filled: &[(&str, &str)]) -> Page {
        browser.submit(&self.form_with(browser, field), filled)
    }

    pub(super) fn form_with(&self, browser: &Browser, field: &str) -> Form {
        let page = self.account(browser);
        let forms = page.forms().into_iter();
        let has_field = |form: &Form| form.fields.iter().any(|(name, _)| name == field);
        forms.into_iter().find(has_field).unwrap_or_else(|| panic!("no form with {field} in {}", page.text()))
    }

    pub(super) fn change_password(
        &self,
        browser: &Browser,
        current: &str,
        new: &str,
        repeated: &str,
    ) -> Page {
        let filled = [
            ("password", current),
            ("new_password", new),
            ("repeated_password", repeated),
            ("do", "password"),
        ];
        self.submit(browser, "new_password", &filled)
    }
}
