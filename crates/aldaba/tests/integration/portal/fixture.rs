//! Developers with a team each, who are signed in to the portal.

use serde_json::{Value, json};
use testkit::TestServer;

use crate::harness::{Browser, OperatorApi, Page, ServeProcess};

const PASSWORD: &str = "cuatro palabras sin sentido";

/// A browser of a developer who owns a team.
pub(crate) struct Developer {
    pub(crate) browser: Browser,
    pub(crate) team: String,
}

impl Developer {
    /// Makes the developer and the team, both of this name, and signs the developer in.
    #[track_caller]
    pub(crate) fn sign_in(server: &TestServer, name: &str) -> Self {
        Self::accept_invitation(server.base_url(), name, &|path, body| server.operator_post(path, body))
    }

    /// The same on a server that is a process.
    #[track_caller]
    pub(crate) fn sign_in_to(server: &ServeProcess, name: &str) -> Self {
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
        found.text().to_owned()
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
