//! The APIs behind the gate, as an application calls them: with a subscription key, a token, and for what
//! it is to read the door of its tenant.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use hyper::Method;
use serde_json::{Value, json};

use super::{
    HttpRequest, HttpResponse, IngestClient, Installation, SESSION, ServeProcess, SignInFixture, Tokens,
};

/// Every scope that an area asks for.
pub(crate) const ALL_SCOPES: &str =
    "openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.COR.API SVC.ES.EquipoContex SVC.ES.Webhooks";
/// Where links lead; no server listens there.
pub(crate) const BASE_URL: &str = "http://127.0.0.1:8080";

/// A server for all who read, without a limit.
pub(crate) fn unlimited_server() -> &'static ServeProcess {
    static SERVER: OnceLock<ServeProcess> = OnceLock::new();
    SERVER.get_or_init(|| ServeProcess::start_shared(Installation::new(), &["gateway.rate_per_minute=0"]))
}

/// A tenant for all who need no more than a company of their own in it.
pub(crate) fn shared_api() -> &'static ApiFixture<'static> {
    static SHARED: OnceLock<ApiFixture<'static>> = OnceLock::new();
    SHARED.get_or_init(ApiFixture::new)
}

/// The pair of keys of a subscription.
#[derive(Clone, Debug)]
pub(crate) struct SubscriptionKeys {
    pub(crate) id: String,
    pub(crate) primary: String,
    pub(crate) secondary: String,
}

impl SubscriptionKeys {
    /// A new subscription, for these products or, where none is named, for all.
    #[track_caller]
    pub(crate) fn new(server: &ServeProcess, products: &[&str]) -> Self {
        let mut arguments = vec!["key", "add", "Panel de ventas", "--json"];
        for product in products {
            arguments.extend(["--product", product]);
        }
        let made = server.installation.program(&arguments).run().json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            id: text(&made["subscription"]["id"]),
            primary: text(&made["primary_key"]),
            secondary: text(&made["secondary_key"]),
        }
    }
}

/// What lets an application in: at any node, and after a restart.
#[derive(Clone, Debug)]
pub(crate) struct ApiCredentials {
    pub(crate) key: String,
    pub(crate) token: String,
}

impl ApiCredentials {
    /// A call without a context.
    pub(crate) fn get(&self, server: &ServeProcess, path: &str) -> HttpRequest {
        self.request(server, Method::GET, path)
    }

    pub(crate) fn request(&self, server: &ServeProcess, method: Method, path: &str) -> HttpRequest {
        HttpRequest::new(method, &format!("{}{path}", server.public_url))
            .header("ocp-apim-subscription-key", &self.key)
            .header("authorization", &format!("Bearer {}", self.token))
    }

    #[track_caller]
    pub(crate) fn status(&self, server: &ServeProcess, path: &str) -> u16 {
        self.get(server, path).send().status
    }

    /// The same application with another key.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), token: self.token.clone() }
    }
}

/// An application that is let in, and the door of the tenant that it reads.
pub(crate) struct ApiFixture<'a> {
    pub(crate) sign_in: SignInFixture<'a>,
    pub(crate) ingest: IngestClient,
    pub(crate) key: String,
    pub(crate) token: String,
    session: String,
}

impl ApiFixture<'static> {
    /// With a tenant of its own, at the desk.
    #[track_caller]
    pub(crate) fn new() -> Self {
        static KEY: OnceLock<SubscriptionKeys> = OnceLock::new();
        Self::on(unlimited_server(), KEY.get_or_init(|| SubscriptionKeys::new(unlimited_server(), &[])))
    }
}

impl<'a> ApiFixture<'a> {
    #[track_caller]
    pub(crate) fn on(server: &'a ServeProcess, keys: &SubscriptionKeys) -> Self {
        let sign_in = SignInFixture::on(server, 1, &[]);
        let ingest = server.ingest_client(&sign_in.tenants[0]);
        let session = sign_in.signed_in_browser().cookie(SESSION).unwrap();
        let mut api = Self { sign_in, ingest, key: keys.primary.clone(), token: String::new(), session };
        api.tokens(ALL_SCOPES).access().clone_into(&mut api.token);
        api
    }

    /// Tokens for these scopes; the user has been signed in since the first.
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

    /// A call with everything in order but a context.
    pub(crate) fn request(&self, method: Method, path: &str) -> HttpRequest {
        HttpRequest::new(method, &self.url(path))
            .header("ocp-apim-subscription-key", &self.key)
            .header("authorization", &format!("Bearer {}", self.token))
    }

    pub(crate) fn get(&self, path: &str) -> HttpRequest {
        self.request(Method::GET, path)
    }

    /// A call in the context of a company.
    pub(crate) fn get_for_company(&self, company: &str, path: &str) -> HttpRequest {
        self.get(path).header("context", &context(company))
    }

    /// What a good call is answered.
    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> HttpResponse {
        good(self.get(path).send())
    }

    #[track_caller]
    pub(crate) fn read_for_company(&self, company: &str, path: &str) -> HttpResponse {
        good(self.get_for_company(company, path).send())
    }

    /// Everything from a page on, as its `next` links lead: at most so many pages.
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
fn good(response: HttpResponse) -> HttpResponse {
    assert_eq!(response.status, 200, "{response:?}");
    response
}

/// The header's text for a company; letters that no header takes are escaped.
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

/// A text as one segment of a path.
pub(crate) fn segment(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// The records of a list.
#[track_caller]
pub(crate) fn items(response: &HttpResponse) -> Vec<Value> {
    response.json().as_array().unwrap_or_else(|| panic!("no list: {response:?}")).clone()
}

/// One member of every record of a list.
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

/// The links of an answer by their relation, each as a path below the base address.
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

/// A change of a record that is there.
pub(crate) fn change_line(resource: &str, company: &str, id: &str, action: &str) -> Value {
    let mut line = json!({"area": "accounting", "resource": resource, "action": action, "correlationId": id});
    if resource != "companies" {
        line["company"] = json!(company);
    }
    line
}
