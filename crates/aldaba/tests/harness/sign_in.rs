//! A user, tenants and an OAuth client on a running server, and the code flow from the authorization request to
//! the tokens.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::browser::encode_form;
use super::{Browser, HttpRequest, HttpResponse, OperatorApi, Page, Server, shared_server};

pub(crate) const CALLBACK: &str = "http://localhost:8765/callback";
pub(crate) const PASSWORD: &str = "una contraseña larga";
/// The issuer of every installation, whatever port it listens on.
pub(crate) const ISSUER: &str = "http://127.0.0.1:8080/auth/core";
/// RFC 7636, appendix B.
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
pub(crate) const SCOPE: &str = "openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks";

static CREATED_COUNT: AtomicU32 = AtomicU32::new(0);

/// The credentials of a registered client; a public one has an empty secret, which is as good as none.
#[derive(Clone, Debug)]
pub(crate) struct TestApp {
    pub(crate) id: String,
    pub(crate) secret: String,
}

/// Tenants, a user and a client on a server. Only the test that created them uses them.
pub(crate) struct SignInFixture<'a> {
    pub(crate) server: &'a Server,
    pub(crate) tenants: Vec<String>,
    pub(crate) email: String,
    pub(crate) app: TestApp,
}

impl SignInFixture<'static> {
    /// With one tenant, on the shared server.
    pub(crate) fn new() -> Self {
        Self::with_tenants(1)
    }

    pub(crate) fn with_tenants(count: usize) -> Self {
        Self::on(shared_server(), count, &[])
    }

    /// With a client that was registered with these flags.
    pub(crate) fn with_client(arguments: &[&str]) -> Self {
        Self::on(shared_server(), 1, arguments)
    }
}

impl<'a> SignInFixture<'a> {
    pub(crate) fn on(server: &'a Server, tenants: usize, client: &[&str]) -> Self {
        let tenants: Vec<String> = (0..tenants).map(|_| server.ingest_for_new_tenant().tenant).collect();
        let email = new_user(server, &tenants.iter().map(String::as_str).collect::<Vec<_>>());
        Self { server, tenants, email, app: register_app(server, client) }
    }

    pub(crate) fn browser(&self) -> Browser {
        Browser::new(&self.server.public_url)
    }

    /// A valid authorization request.
    pub(crate) fn authorization_request(&self) -> AuthorizationRequest {
        let pairs = [
            ("client_id", self.app.id.as_str()),
            ("response_type", "code"),
            ("redirect_uri", CALLBACK),
            ("scope", SCOPE),
            ("state", "af0ifjsldkj"),
            ("nonce", "n-0S6_WzA2Mj"),
        ];
        AuthorizationRequest(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec())
    }

    /// Submits e-mail address and password on the sign-in page and follows the redirects.
    #[track_caller]
    pub(crate) fn submit_credentials(&self, browser: &Browser, page: &Page) -> Page {
        let fields = [("username", self.email.as_str()), ("password", PASSWORD)];
        browser.follow_redirects(browser.submit(&page.form("post"), &fields))
    }

    /// Goes from the authorization request to the callback. Signs in if asked, and chooses the first tenant.
    #[track_caller]
    pub(crate) fn authorize(&self, browser: &Browser, request: &AuthorizationRequest) -> Page {
        self.authorize_for_tenant(browser, request, &self.tenants[0])
    }

    #[track_caller]
    pub(crate) fn authorize_for_tenant(
        &self,
        browser: &Browser,
        request: &AuthorizationRequest,
        tenant: &str,
    ) -> Page {
        let mut page = browser.follow_redirects(browser.get(&request.path()));
        for _ in 0..3 {
            if page.status == 200 && page.has_field("password") {
                page = self.submit_credentials(browser, &page);
            } else if page.status == 200 && page.has_field("tenant") {
                let chosen = [("tenant", tenant), ("decision", "allow")];
                page = browser.follow_redirects(browser.submit(&page.form("post"), &chosen));
            }
        }
        page
    }

    /// An authorization code, with a new browser.
    #[track_caller]
    pub(crate) fn code(&self, request: &AuthorizationRequest) -> String {
        let page = self.authorize(&self.browser(), request);
        page.params().remove("code").unwrap_or_else(|| panic!("no code: {page:?}"))
    }

    /// Calls the token endpoint with the client's secret in the body.
    #[track_caller]
    pub(crate) fn token_request(&self, fields: &[(&str, &str)]) -> HttpResponse {
        let mut all = vec![("client_id", self.app.id.as_str()), ("client_secret", self.app.secret.as_str())];
        all.extend_from_slice(fields);
        self.post_form("connect/token", &all)
    }

    /// Posts a form to an endpoint of the identity provider, without a browser.
    #[track_caller]
    pub(crate) fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> HttpResponse {
        self.request(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(encode_form(fields))
            .send()
    }

    /// A POST to an endpoint of the identity provider.
    pub(crate) fn request(&self, path: &str) -> HttpRequest {
        HttpRequest::post(&format!("{}/auth/core/{path}", self.server.public_url))
    }

    #[track_caller]
    pub(crate) fn exchange(&self, code: &str) -> HttpResponse {
        self.token_request(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", CALLBACK),
        ])
    }

    #[track_caller]
    pub(crate) fn refresh(&self, token: &str) -> HttpResponse {
        self.token_request(&[("grant_type", "refresh_token"), ("refresh_token", token)])
    }

    /// Runs the whole code flow and returns the tokens.
    #[track_caller]
    pub(crate) fn tokens(&self) -> Tokens {
        self.tokens_for(&self.authorization_request())
    }

    #[track_caller]
    pub(crate) fn tokens_for(&self, request: &AuthorizationRequest) -> Tokens {
        Tokens::from_response(&self.exchange(&self.code(request)))
    }

    #[track_caller]
    pub(crate) fn userinfo(&self, access_token: &str) -> HttpResponse {
        HttpRequest::get(&format!("{}/auth/core/connect/userinfo", self.server.public_url))
            .header("authorization", &format!("Bearer {access_token}"))
            .send()
    }

    /// The introspection response for a token of this client.
    #[track_caller]
    pub(crate) fn introspect(&self, token: &str) -> Value {
        let mut fields =
            vec![("client_id", self.app.id.as_str()), ("client_secret", self.app.secret.as_str())];
        fields.push(("token", token));
        self.post_form("connect/introspect", &fields).json()
    }

    /// Runs an operator's command next to the server and expects success.
    #[track_caller]
    pub(crate) fn command(&self, arguments: &[&str]) {
        self.server.installation.program(arguments).run().code(0);
    }

    /// The audit records that match the query, newest first.
    #[track_caller]
    pub(crate) fn audit(&self, query: &str) -> Vec<Value> {
        let response = HttpRequest::get(&format!("{}/operator/v1/audit?{query}", self.server.operator_url))
            .header("authorization", &format!("Bearer {}", self.server.installation.token()))
            .send();
        assert_eq!(response.status, 200, "{response:?}");
        response.json()["records"].as_array().unwrap().clone()
    }
}

/// Creates a user of these tenants with [`PASSWORD`] and returns the e-mail address.
#[track_caller]
pub(crate) fn new_user(server: &Server, tenants: &[&str]) -> String {
    let email = format!("user-{}@example.com", CREATED_COUNT.fetch_add(1, Ordering::Relaxed));
    let user = json!({ "email": email, "givenName": "Lucía", "password": PASSWORD, "tenants": tenants });
    OperatorApi(server).create("/users", &user);
    email
}

/// Registers a client with [`CALLBACK`] and these flags of the command line.
#[track_caller]
pub(crate) fn register_app(server: &Server, arguments: &[&str]) -> TestApp {
    if arguments.is_empty() {
        let client = json!({ "name": "Panel de ventas", "redirectUris": [CALLBACK] });
        let created = OperatorApi(server).create("/clients", &client);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        return TestApp { id: text(&created["client"]["id"]), secret: text(&created["clientSecret"]) };
    }
    let add = ["client", "add", "Panel de ventas", "--redirect-uri", CALLBACK, "--json"];
    let created = server.installation.program(&add).with(arguments).run().json();
    let text = |member: &str| created[member].as_str().unwrap_or_default().to_owned();
    TestApp { id: text("client_id"), secret: text("client_secret") }
}

impl TestApp {
    /// The value of the `Authorization` header for HTTP Basic.
    pub(crate) fn basic(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.id, self.secret)))
    }
}

/// The parameters of an authorization request.
#[derive(Clone, Debug)]
pub(crate) struct AuthorizationRequest(pub(crate) Vec<(String, String)>);

impl AuthorizationRequest {
    /// Sets a parameter, replacing one of the same name.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self
    }

    /// Adds a parameter without replacing one of the same name.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn fields(&self) -> Vec<(&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    pub(crate) fn path(&self) -> String {
        format!("/auth/core/connect/authorize?{}", encode_form(&self.fields()))
    }
}

/// The body of a token response.
#[derive(Clone, Debug)]
pub(crate) struct Tokens(pub(crate) Value);

impl Tokens {
    #[track_caller]
    pub(crate) fn from_response(response: &HttpResponse) -> Self {
        assert_eq!(response.status, 200, "{response:?}");
        Self(response.json())
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

/// The header and the claims of a JWT, without verification.
#[track_caller]
pub(crate) fn decode_jwt(token: &str) -> (Value, Value) {
    let parts: Vec<Value> = token
        .split('.')
        .take(2)
        .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
        .collect();
    (parts[0].clone(), parts[1].clone())
}

/// The claims of a JWT, without verification.
#[track_caller]
pub(crate) fn claims(token: &str) -> Value {
    decode_jwt(token).1
}

/// The error code of an OAuth error response with this status.
#[track_caller]
pub(crate) fn oauth_error(response: &HttpResponse, status: u16) -> String {
    assert_eq!(response.status, status, "{response:?}");
    let body: BTreeMap<String, String> = serde_json::from_value(response.json()).unwrap();
    assert!(!body["error_description"].is_empty(), "{body:?}");
    assert_eq!(response.header("cache-control"), "no-store");
    body["error"].clone()
}
