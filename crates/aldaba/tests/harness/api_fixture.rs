//! An application that calls the gateway's APIs with a subscription key and an access token, plus an ingest
//! client for the tenant whose data it reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use hyper::Method;
use serde_json::{Value, json};

use super::{
    EmbeddedServer, HttpRequest, HttpResponse, IngestClient, OperatorApi, SESSION, Server, SignInFixture,
    Tokens,
};

/// All scopes that the gateway's areas require.
pub(crate) const ALL_SCOPES: &str =
    "openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.COR.API SVC.ES.EquipoContex SVC.ES.Webhooks";
/// The configured base URL, which `Link` headers start with. No server listens there.
pub(crate) const BASE_URL: &str = "http://127.0.0.1:8080";

/// A server without a rate limit, shared by the tests that read.
pub(crate) fn unlimited_server() -> &'static Server {
    static SERVER: OnceLock<EmbeddedServer> = OnceLock::new();
    SERVER.get_or_init(|| EmbeddedServer::start_shared(&["gateway.rate_per_minute=0"]))
}

/// A tenant shared by the tests that need only a company of their own.
pub(crate) fn shared_api() -> &'static ApiFixture<'static> {
    static SHARED: OnceLock<ApiFixture<'static>> = OnceLock::new();
    SHARED.get_or_init(ApiFixture::new)
}

/// The primary and secondary key of a subscription.
#[derive(Clone, Debug)]
pub(crate) struct SubscriptionKeys {
    pub(crate) id: String,
    pub(crate) primary: String,
    pub(crate) secondary: String,
}

impl SubscriptionKeys {
    /// Creates a subscription for these products, or for all products if the list is empty.
    #[track_caller]
    pub(crate) fn new(server: &Server, products: &[&str]) -> Self {
        let all = ["accounting", "payroll", "invoicing"];
        let products = if products.is_empty() { &all[..] } else { products };
        let subscription = json!({ "name": "Panel de ventas", "products": products });
        let created = OperatorApi(server).create("/subscriptions", &subscription);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            id: text(&created["subscription"]["id"]),
            primary: text(&created["primaryKey"]),
            secondary: text(&created["secondaryKey"]),
        }
    }
}

/// A subscription key and an access token. They stay valid on any node and after a restart.
#[derive(Clone, Debug)]
pub(crate) struct ApiCredentials {
    pub(crate) key: String,
    pub(crate) token: String,
}

impl ApiCredentials {
    /// A request without a `context` header.
    pub(crate) fn get(&self, server: &Server, path: &str) -> HttpRequest {
        self.request(server, Method::GET, path)
    }

    pub(crate) fn request(&self, server: &Server, method: Method, path: &str) -> HttpRequest {
        HttpRequest::new(method, &format!("{}{path}", server.public_url))
            .header("ocp-apim-subscription-key", &self.key)
            .header("authorization", &format!("Bearer {}", self.token))
    }

    #[track_caller]
    pub(crate) fn status(&self, server: &Server, path: &str) -> u16 {
        self.get(server, path).send().status
    }

    /// The same access token with another subscription key.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), token: self.token.clone() }
    }
}

/// An application with valid credentials, and an ingest client for its tenant.
pub(crate) struct ApiFixture<'a> {
    pub(crate) sign_in: SignInFixture<'a>,
    pub(crate) ingest: IngestClient,
    pub(crate) key: String,
    pub(crate) token: String,
    session: String,
}

impl ApiFixture<'static> {
    /// With its own tenant, on the server without a rate limit.
    #[track_caller]
    pub(crate) fn new() -> Self {
        static KEY: OnceLock<SubscriptionKeys> = OnceLock::new();
        Self::on(unlimited_server(), KEY.get_or_init(|| SubscriptionKeys::new(unlimited_server(), &[])))
    }
}

impl<'a> ApiFixture<'a> {
    #[track_caller]
    pub(crate) fn on(server: &'a Server, keys: &SubscriptionKeys) -> Self {
        let sign_in = SignInFixture::on(server, 1, &[]);
        let ingest = server.ingest_client(&sign_in.tenants[0]);
        let session = sign_in.signed_in_browser().cookie(SESSION).unwrap();
        let mut api = Self { sign_in, ingest, key: keys.primary.clone(), token: String::new(), session };
        api.tokens(ALL_SCOPES).access().clone_into(&mut api.token);
        api
    }

    /// Gets tokens for these scopes with the session of the first sign-in.
    #[track_caller]
    pub(crate) fn tokens(&self, scope: &str) -> Tokens {
        let browser = self.sign_in.browser();
        browser.set_cookie(SESSION, &self.session);
        let request = self.sign_in.authorization_request().with("scope", scope);
        Tokens::from_response(&self.sign_in.exchange(&self.sign_in.code_in_browser(&browser, &request)))
    }

    pub(crate) fn credentials(&self) -> ApiCredentials {
        ApiCredentials { key: self.key.clone(), token: self.token.clone() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.sign_in.server.public_url)
    }

    /// A valid request without a `context` header.
    pub(crate) fn request(&self, method: Method, path: &str) -> HttpRequest {
        HttpRequest::new(method, &self.url(path))
            .header("ocp-apim-subscription-key", &self.key)
            .header("authorization", &format!("Bearer {}", self.token))
    }

    pub(crate) fn get(&self, path: &str) -> HttpRequest {
        self.request(Method::GET, path)
    }

    /// A request with the `context` header of a company.
    pub(crate) fn get_for_company(&self, company: &str, path: &str) -> HttpRequest {
        self.get(path).header("context", &context(company))
    }

    /// Sends a GET and expects 200.
    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> HttpResponse {
        expect_ok(self.get(path).send())
    }

    #[track_caller]
    pub(crate) fn read_for_company(&self, company: &str, path: &str) -> HttpResponse {
        expect_ok(self.get_for_company(company, path).send())
    }

    /// Reads a list by following its `next` links, and panics after `pages_max` pages.
    #[track_caller]
    pub(crate) fn read_all_pages(&self, company: &str, path: &str, pages_max: usize) -> Vec<Value> {
        let (mut all, mut path) = (Vec::new(), path.to_owned());
        for _ in 0..pages_max {
            let response = self.read_for_company(company, &path);
            let items = items(&response);
            let is_last = items.is_empty();
            all.extend(items);
            match links(&response).remove("next") {
                Some(next) if !is_last => path = next,
                _ => return all,
            }
        }
        panic!("more than {pages_max} pages: {all:?}");
    }
}

#[track_caller]
fn expect_ok(response: HttpResponse) -> HttpResponse {
    assert_eq!(response.status, 200, "{response:?}");
    response
}

/// The `context` header for a company. Characters that a header cannot carry are escaped.
pub(crate) fn context(company: &str) -> String {
    let plain = json!({ "clientId": company }).to_string();
    let mut text = String::new();
    for unit in plain.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => text.push(char::from(byte)),
            _ => write!(text, "\\u{unit:04x}").unwrap(),
        }
    }
    text
}

/// Encodes a text as one path segment.
pub(crate) fn segment(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// The records of a list response.
#[track_caller]
pub(crate) fn items(response: &HttpResponse) -> Vec<Value> {
    response.json().as_array().unwrap_or_else(|| panic!("no list: {response:?}")).clone()
}

/// One member of every record of a list response.
#[track_caller]
pub(crate) fn column(response: &HttpResponse, member: &str) -> Vec<String> {
    texts(&items(response), member)
}

#[track_caller]
pub(crate) fn texts(records: &[Value], member: &str) -> Vec<String> {
    let text = |record: &Value| match &record[member] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    records.iter().map(text).collect()
}

/// The links of a response by relation, each as a path below the base URL.
#[track_caller]
pub(crate) fn links(response: &HttpResponse) -> BTreeMap<String, String> {
    let lines = response.header("link");
    let one = |link: &str| {
        let (address, relation) = link.split_once(">; rel=\"").unwrap_or_else(|| panic!("{lines}"));
        let path =
            address.trim_start_matches('<').strip_prefix(BASE_URL).unwrap_or_else(|| panic!("{lines}"));
        (relation.trim_end_matches('"').to_owned(), path.to_owned())
    };
    lines.split(", ").filter(|link| !link.is_empty()).map(one).collect()
}

/// A change line that disables, enables or deletes an existing record.
pub(crate) fn change_line(resource: &str, company: &str, id: &str, action: &str) -> Value {
    let mut line = json!({"area": "accounting", "resource": resource, "action": action, "correlationId": id});
    if resource != "companies" {
        line["company"] = json!(company);
    }
    line
}
