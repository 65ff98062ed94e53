//! People and applications on a running server: an office with its tenants, a user who signs in, and an
//! application that sends the user there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::browser::encoded;
use super::{Browser, Call, Page, Reply, Serve, shared};

pub(crate) const CALLBACK: &str = "http://localhost:8765/callback";
pub(crate) const PASSWORD: &str = "una contraseña larga";
/// The issuer of every site, whatever port it listens on.
pub(crate) const ISSUER: &str = "http://127.0.0.1:8080/auth/core";
pub(crate) const SCOPE: &str = "openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks";

static MADE: AtomicU32 = AtomicU32::new(0);

/// An application as its developers know it.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) id: String,
    pub(crate) secret: String,
}

/// An office on a server; nobody else has its tenants, its user or its application.
pub(crate) struct Office<'a> {
    pub(crate) serve: &'a Serve,
    pub(crate) tenants: Vec<String>,
    pub(crate) email: String,
    pub(crate) app: App,
}

impl Office<'static> {
    /// With one tenant, on the server that all share.
    pub(crate) fn new() -> Self {
        Self::with_tenants(1)
    }

    pub(crate) fn with_tenants(count: usize) -> Self {
        Self::on(shared(), count, &[])
    }

    /// Whose application was registered with these flags.
    pub(crate) fn with_client(arguments: &[&str]) -> Self {
        Self::on(shared(), 1, arguments)
    }
}

impl<'a> Office<'a> {
    pub(crate) fn on(serve: &'a Serve, tenants: usize, client: &[&str]) -> Self {
        let tenants: Vec<String> = (0..tenants).map(|_| serve.new_tenant().tenant).collect();
        let email = new_user(serve, &tenants.iter().map(String::as_str).collect::<Vec<_>>());
        Self { serve, tenants, email, app: new_app(serve, client) }
    }

    pub(crate) fn browser(&self) -> Browser {
        Browser::new(&self.serve.public_url)
    }

    /// An authorization request with everything in order.
    pub(crate) fn ask(&self) -> Ask {
        let pairs = [
            ("client_id", self.app.id.as_str()),
            ("response_type", "code"),
            ("redirect_uri", CALLBACK),
            ("scope", SCOPE),
            ("state", "af0ifjsldkj"),
            ("nonce", "n-0S6_WzA2Mj"),
        ];
        Ask(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec())
    }

    /// Types name and password into a sign-in page and goes on to the next page that is none of ours, or
    /// asks something.
    #[track_caller]
    pub(crate) fn enter(&self, browser: &Browser, page: &Page) -> Page {
        let fields = [("username", self.email.as_str()), ("password", PASSWORD)];
        browser.settle(browser.submit(&page.form("post"), &fields))
    }

    /// From the request to the callback: signs in where that is asked, takes the first tenant.
    #[track_caller]
    pub(crate) fn arrive(&self, browser: &Browser, ask: &Ask) -> Page {
        self.arrive_at(browser, ask, &self.tenants[0])
    }

    #[track_caller]
    pub(crate) fn arrive_at(&self, browser: &Browser, ask: &Ask, tenant: &str) -> Page {
        let mut page = browser.settle(browser.get(&ask.path()));
        for _ in 0..3 {
            if page.status == 200 && page.has_field("password") {
                page = self.enter(browser, &page);
            } else if page.status == 200 && page.has_field("tenant") {
                let chosen = [("tenant", tenant), ("decision", "allow")];
                page = browser.settle(browser.submit(&page.form("post"), &chosen));
            }
        }
        page
    }

    /// A code, got by a new browser.
    #[track_caller]
    pub(crate) fn code(&self, ask: &Ask) -> String {
        let page = self.arrive(&self.browser(), ask);
        page.params().remove("code").unwrap_or_else(|| panic!("no code: {page:?}"))
    }

    /// Calls the token endpoint as this application does: its secret in the body.
    #[track_caller]
    pub(crate) fn token_call(&self, fields: &[(&str, &str)]) -> Reply {
        let mut all = vec![("client_id", self.app.id.as_str()), ("client_secret", self.app.secret.as_str())];
        all.extend_from_slice(fields);
        self.form_call("connect/token", &all)
    }

    /// Posts a form to one of the identity provider's addresses, from no browser.
    #[track_caller]
    pub(crate) fn form_call(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.call(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(encoded(fields))
            .send()
    }

    /// A POST to one of the identity provider's addresses.
    pub(crate) fn call(&self, path: &str) -> Call {
        Call::post(&format!("{}/auth/core/{path}", self.serve.public_url))
    }

    #[track_caller]
    pub(crate) fn exchange(&self, code: &str) -> Reply {
        self.token_call(&[("grant_type", "authorization_code"), ("code", code), ("redirect_uri", CALLBACK)])
    }

    #[track_caller]
    pub(crate) fn refresh(&self, token: &str) -> Reply {
        self.token_call(&[("grant_type", "refresh_token"), ("refresh_token", token)])
    }

    /// Tokens, from the beginning.
    #[track_caller]
    pub(crate) fn tokens(&self) -> Tokens {
        self.tokens_for(&self.ask())
    }

    #[track_caller]
    pub(crate) fn tokens_for(&self, ask: &Ask) -> Tokens {
        Tokens::of(&self.exchange(&self.code(ask)))
    }

    #[track_caller]
    pub(crate) fn userinfo(&self, access_token: &str) -> Reply {
        Call::get(&format!("{}/auth/core/connect/userinfo", self.serve.public_url))
            .header("authorization", &format!("Bearer {access_token}"))
            .send()
    }

    /// What introspection says of a token of this application.
    #[track_caller]
    pub(crate) fn introspect(&self, token: &str) -> Value {
        let mut fields =
            vec![("client_id", self.app.id.as_str()), ("client_secret", self.app.secret.as_str())];
        fields.push(("token", token));
        self.form_call("connect/introspect", &fields).json()
    }

    /// Runs a command of the operator's beside the server.
    #[track_caller]
    pub(crate) fn command(&self, arguments: &[&str]) {
        self.serve.site.program(arguments).run().code(0);
    }

    /// The audit's records of this office's application and user, newest first.
    #[track_caller]
    pub(crate) fn audit(&self, query: &str) -> Vec<Value> {
        let reply = Call::get(&format!("{}/operator/v1/audit?{query}", self.serve.operator_url))
            .header("authorization", &format!("Bearer {}", self.serve.site.token()))
            .send();
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()["records"].as_array().unwrap().clone()
    }
}

/// A user of these tenants, with the password that all have; returns the e-mail address.
#[track_caller]
pub(crate) fn new_user(serve: &Serve, tenants: &[&str]) -> String {
    let email = format!("user-{}@example.com", MADE.fetch_add(1, Ordering::Relaxed));
    let mut arguments = vec!["user", "add", &email, "--given-name", "Lucía"];
    for tenant in tenants {
        arguments.extend(["--tenant", tenant]);
    }
    serve.site.program(&arguments).input(format!("{PASSWORD}\n")).run().code(0);
    email
}

/// An application that may be sent back to the usual address, and to those that the flags add.
#[track_caller]
pub(crate) fn new_app(serve: &Serve, arguments: &[&str]) -> App {
    let add = ["client", "add", "Panel de ventas", "--redirect-uri", CALLBACK, "--json"];
    let made = serve.site.program(&add).with(arguments).run().json();
    let text = |member: &str| made[member].as_str().unwrap().to_owned();
    App { id: text("client_id"), secret: text("client_secret") }
}

impl App {
    /// Its credentials, as Basic sends them.
    pub(crate) fn basic(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.id, self.secret)))
    }
}

/// An authorization request that is being put together.
#[derive(Clone, Debug)]
pub(crate) struct Ask(pub(crate) Vec<(String, String)>);

impl Ask {
    /// Sets a parameter.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self
    }

    /// Adds a parameter, even if there is one of that name.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn fields(&self) -> Vec<(&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    pub(crate) fn path(&self) -> String {
        format!("/auth/core/connect/authorize?{}", encoded(&self.fields()))
    }
}

/// What the token endpoint gave.
#[derive(Clone, Debug)]
pub(crate) struct Tokens(pub(crate) Value);

impl Tokens {
    #[track_caller]
    pub(crate) fn of(reply: &Reply) -> Self {
        assert_eq!(reply.status, 200, "{reply:?}");
        Self(reply.json())
    }

    #[track_caller]
    fn text(&self, member: &str) -> &str {
        self.0[member].as_str().unwrap_or_else(|| panic!("no {member} in {}", self.0))
    }

    #[track_caller]
    pub(crate) fn access(&self) -> &str {
        self.text("access_token")
    }

    #[track_caller]
    pub(crate) fn id(&self) -> &str {
        self.text("id_token")
    }

    #[track_caller]
    pub(crate) fn refresh(&self) -> &str {
        self.text("refresh_token")
    }
}

/// The header and the claims of a token, unchecked.
#[track_caller]
pub(crate) fn opened(token: &str) -> (Value, Value) {
    let parts: Vec<Value> = token
        .split('.')
        .take(2)
        .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
        .collect();
    (parts[0].clone(), parts[1].clone())
}

/// The claims of a token.
#[track_caller]
pub(crate) fn claims(token: &str) -> Value {
    opened(token).1
}

/// The error of an OAuth answer, with the status that it should have.
#[track_caller]
pub(crate) fn oauth_error(reply: &Reply, status: u16) -> String {
    assert_eq!(reply.status, status, "{reply:?}");
    let body: BTreeMap<String, String> = serde_json::from_value(reply.json()).unwrap();
    assert!(!body["error_description"].is_empty(), "{body:?}");
    assert_eq!(reply.header("cache-control"), "no-store");
    body["error"].clone()
}
