//! Invitations, password resets and registration over real HTTP, with mails that a server on loopback receives.

mod attacks;
mod commands;
mod invitations;
mod mails;
mod resets;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use testserver::{TestClock, TestServer, TestServerBuilder, wait_for};

use super::mail::smtp_server::{Fault, ReceivedMail, Security, SmtpServer};
use crate::harness::{Browser, Form, Page};

pub(super) const NEW_PASSWORD: &str = "siete lunas y un faro";
pub(super) const OTHER_PASSWORD: &str = "cuatro gatos bailan tango";
/// The realms with the paths of their pages.
pub(super) const REALMS: [(&str, &str); 3] =
    [("users", "/auth/core"), ("developers", "/portal"), ("operators", "/console")];

pub(super) struct Fixture {
    pub(super) smtp: SmtpServer,
    pub(super) server: TestServer,
    pub(super) clock: Arc<TestClock>,
}

impl Fixture {
    /// With a mail server.
    pub(super) fn start() -> Self {
        Self::with(&[], |builder| builder)
    }

    pub(super) fn with(
        faults: &[Fault],
        settings: impl FnOnce(TestServerBuilder) -> TestServerBuilder,
    ) -> Self {
        let smtp = SmtpServer::start(Security::Plain, faults);
        let builder = TestServer::builder()
            .set("mail.server", &format!("localhost:{}", smtp.address.port()))
            .set("mail.tls", "none")
            .set("mail.timeout", "2s")
            .set("mail.from", "Contaplus <no-reply@example.com>")
            .set("mail.service_name", "Contaplus")
            .set("mail.contact", "ayuda@contaplus.example");
        let clock = Arc::new(TestClock::default());
        Self { smtp, server: settings(builder).clock(clock.clone()).start(), clock }
    }

    /// A new browser on the listener of the realm.
    pub(super) fn browser(&self, realm: &str) -> Browser {
        let url = if realm == "operators" { self.server.operator_url() } else { self.server.base_url() };
        Browser::new(url)
    }

    /// Invites over the operator's API.
    #[track_caller]
    pub(super) fn invite(&self, realm: &str, email: &str, lang: &str) -> Value {
        let body = json!({"realm": realm, "email": email, "lang": lang});
        self.server.operator_post("invitations", &body)
    }

    /// The mails that have been sent to an address, once there are so many.
    #[track_caller]
    pub(super) fn mails_to(&self, email: &str, count: usize) -> Vec<ReceivedMail> {
        let of_address = || -> Vec<ReceivedMail> {
            self.smtp.received().into_iter().filter(|mail| mail.to == email).collect()
        };
        let mails = wait_for(&format!("{count} mails to {email}"), || {
            Some(of_address()).filter(|mails| mails.len() >= count)
        });
        assert_eq!(mails.len(), count);
        mails
    }

    /// The link in the last of so many mails to an address, without the host.
    #[track_caller]
    pub(super) fn link_to(&self, email: &str, count: usize) -> String {
        link_in(&self.mails_to(email, count)[count - 1])
    }

    /// An invited person of the realm who has accepted.
    #[track_caller]
    pub(super) fn add_account(&self, realm: &str, email: &str, lang: &str) -> Browser {
        self.invite(realm, email, lang);
        let browser = self.browser(realm);
        let done = accept(&browser, &self.link_to(email, 1), NEW_PASSWORD);
        assert_eq!(done.status, 302, "{done:?}");
        browser
    }

    /// Signs in on the sign-in page of the realm.
    #[track_caller]
    pub(super) fn sign_in(&self, realm: &str, base: &str, email: &str, password: &str) -> Page {
        let browser = self.browser(realm);
        let form = browser.get(&format!("{base}/login")).form("post");
        browser.submit(&form, &[("username", email), ("password", password)])
    }

    /// Asks for the link of a reset.
    #[track_caller]
    pub(super) fn forget(&self, realm: &str, base: &str, email: &str) -> Page {
        ask(&self.browser(realm), &format!("{base}/forgot"), email)
    }

    /// How many mails have been sent, once none waits.
    #[track_caller]
    pub(super) fn mail_count(&self) -> usize {
        let now = domain::Clock::now(&*self.clock);
        wait_for("no mail waits", || {
            let waiting = self.server.block_on(self.server.store().waiting_mails(now)).unwrap();
            (waiting == 0).then(|| self.smtp.received().len())
        })
    }

    /// Moves the clock on, so that limits are full again.
    pub(super) fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    /// The kinds of the audit entries, newest first.
    pub(super) fn audit_kinds(&self) -> Vec<String> {
        let entries = self.server.operator_get("/operator/v1/audit?pageSize=1000").json();
        let entries = entries["records"].as_array().cloned().unwrap_or_default();
        entries.iter().map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
    }
}

/// The only link of a mail, without the host.
#[track_caller]
pub(super) fn link_in(mail: &ReceivedMail) -> String {
    let body = mail.body();
    let start = body.find("http://").unwrap_or_else(|| panic!("no link in {body}"));
    let url = body[start..].split_whitespace().next().unwrap();
    let path = url.find("://").map(|at| &url[at + 3..]).and_then(|rest| rest.find('/').map(|at| &rest[at..]));
    path.unwrap().to_owned()
}

/// Opens the page that asks for an address, and sends one.
#[track_caller]
pub(super) fn ask(browser: &Browser, path: &str, email: &str) -> Page {
    let form = browser.get(path).form("post");
    browser.submit(&form, &[("email", email)])
}

/// Opens the link of an invitation and fills in its form.
#[track_caller]
pub(super) fn accept(browser: &Browser, link: &str, password: &str) -> Page {
    submit_acceptance(browser, &open_invitation(browser, link), password)
}

#[track_caller]
pub(super) fn open_invitation(browser: &Browser, link: &str) -> Form {
    let page = browser.follow_redirects(browser.get(link));
    assert_eq!(page.status, 200, "{page:?}");
    page.form("post")
}

pub(super) fn submit_acceptance(browser: &Browser, form: &Form, password: &str) -> Page {
    let filled = [
        ("given_name", "Lucía"),
        ("lang", "es"),
        ("new_password", password),
        ("repeated_password", password),
    ];
    browser.submit(form, &filled)
}

/// Opens the link of a reset and sets a password.
#[track_caller]
pub(super) fn reset(browser: &Browser, link: &str, password: &str) -> Page {
    let page = browser.follow_redirects(browser.get(link));
    assert_eq!(page.status, 200, "{page:?}");
    browser.submit(&page.form("post"), &[("new_password", password), ("repeated_password", password)])
}
