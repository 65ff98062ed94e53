//! The APIs behind the gate, as an application calls them: with a subscription key, a token, and for what
//! it is to read the door of its tenant.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use hyper::Method;
use serde_json::{Value, json};

use super::{Call, Door, Office, Reply, SESSION, Serve, Site, Tokens};

/// Every scope that an area asks for.
pub(crate) const ALL_SCOPES: &str =
    "openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.COR.API SVC.ES.EquipoContex SVC.ES.Webhooks";
/// Where links lead; no server listens there.
pub(crate) const BASE_URL: &str = "http://127.0.0.1:8080";

/// A server for all who read, without a limit.
pub(crate) fn desk() -> &'static Serve {
    static DESK: OnceLock<Serve> = OnceLock::new();
    DESK.get_or_init(|| Serve::for_all(Site::new(), &["gateway.rate_per_minute=0"]))
}

/// A tenant for all who need no more than a company of their own in it.
pub(crate) fn room() -> &'static Api<'static> {
    static ROOM: OnceLock<Api<'static>> = OnceLock::new();
    ROOM.get_or_init(Api::new)
}

/// The pair of keys of a subscription.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(crate) id: String,
    pub(crate) primary: String,
    pub(crate) secondary: String,
}

impl Keys {
    /// A new subscription, for these products or, where none is named, for all.
    #[track_caller]
    pub(crate) fn new(serve: &Serve, products: &[&str]) -> Self {
        let mut arguments = vec!["key", "add", "Panel de ventas", "--json"];
        for product in products {
            arguments.extend(["--product", product]);
        }
        let made = serve.site.program(&arguments).run().json();
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
pub(crate) struct Pass {
    pub(crate) key: String,
    pub(crate) token: String,
}

impl Pass {
    /// A call without a context.
    pub(crate) fn get(&self, serve: &Serve, path: &str) -> Call {
        self.call(serve, Method::GET, path)
    }

    pub(crate) fn call(&self, serve: &Serve, method: Method, path: &str) -> Call {
        Call::new(method, &format!("{}{path}", serve.public_url))
            .header("ocp-apim-subscription-key", &self.key)
            .header("authorization", &format!("Bearer {}", self.token))
    }

    #[track_caller]
    pub(crate) fn status(&self, serve: &Serve, path: &str) -> u16 {
        self.get(serve, path).send().status
    }

    /// The same application with another key.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), token: self.token.clone() }
    }
}

/// An application that is let in, and the door of the tenant that it reads.
pub(crate) struct Api<'a> {
    pub(crate) office: Office<'a>,
    pub(crate) door: Door,
    pub(crate) key: String,
    pub(crate) token: String,
    session: String,
}

impl Api<'static> {
    /// With a tenant of its own, at the desk.
    #[track_caller]
    pub(crate) fn new() -> Self {
        static KEY: OnceLock<Keys> = OnceLock::new();
        Self::on(desk(), KEY.get_or_init(|| Keys::new(desk(), &[])))
    }
}

impl<'a> Api<'a> {
    #[track_caller]
    pub(crate) fn on(serve: &'a Serve, keys: &Keys) -> Self {
        let office = Office::on(serve, 1, &[]);
        let door = serve.door(&office.tenants[0]);
        let session = office.signed_in().cookie(SESSION).unwrap();
        let mut api = Self { office, door, key: keys.primary.clone(), token: String::new(), session };
        api.tokens(ALL_SCOPES).access().clone_into(&mut api.token);
        api
    }

    /// Tokens for these scopes; the user has been signed in since the first.
    #[track_caller]
    pub(crate) fn tokens(&self, scope: &str) -> Tokens {
        let browser = self.office.browser();
        browser.set_cookie(SESSION, &self.session);
        let ask = self.office.ask().with("scope", scope);
        Tokens::of(&self.office.exchange(&self.office.code_in(&browser, &ask)))
    }

    pub(crate) fn pass(&self) -> Pass {
        Pass { key: self.key.clone(), token: self.token.clone() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.office.serve.public_url)
    }

    /// A call with everything in order but a context.
    pub(crate) fn call(&self, method: Method, path: &str) -> Call {
        Call::new(method, &self.url(path))
            .header("ocp-apim-subscription-key", &self.key)
            .header("authorization", &format!("Bearer {}", self.token))
    }

    pub(crate) fn get(&self, path: &str) -> Call {
        self.call(Method::GET, path)
    }

    /// A call in the context of a company.
    pub(crate) fn get_in(&self, company: &str, path: &str) -> Call {
        self.get(path).header("context", &context(company))
    }

    /// What a good call is answered.
    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> Reply {
        good(self.get(path).send())
    }

    #[track_caller]
    pub(crate) fn read_in(&self, company: &str, path: &str) -> Reply {
        good(self.get_in(company, path).send())
    }

    /// Everything from a page on, as its `next` links lead: at most so many pages.
    #[track_caller]
    pub(crate) fn walk(&self, company: &str, path: &str, pages_max: usize) -> Vec<Value> {
        let (mut all, mut path) = (Vec::new(), path.to_owned());
        for _ in 0..pages_max {
            let reply = self.read_in(company, &path);
            let items = items(&reply);
            let is_last = items.is_empty();
            all.extend(items);
            match links(&reply).remove("next") {
                Some(next) if !is_last => path = next,
                _ => return all,
            }
        }
        panic!("more than {pages_max} pages: {all:?}");
    }
}

#[track_caller]
fn good(reply: Reply) -> Reply {
    assert_eq!(reply.status, 200, "{reply:?}");
    reply
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
pub(crate) fn items(reply: &Reply) -> Vec<Value> {
    reply.json().as_array().unwrap_or_else(|| panic!("no list: {reply:?}")).clone()
}

/// One member of every record of a list.
#[track_caller]
pub(crate) fn column(reply: &Reply, member: &str) -> Vec<String> {
    texts(&items(reply), member)
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
pub(crate) fn links(reply: &Reply) -> BTreeMap<String, String> {
    let lines = reply.header("link");
    let one = |link: &str| {
        let (address, relation) = link.split_once(">; rel=\"").unwrap_or_else(|| panic!("{lines}"));
        let path =
            address.trim_start_matches('<').strip_prefix(BASE_URL).unwrap_or_else(|| panic!("{lines}"));
        (relation.trim_end_matches('"').to_owned(), path.to_owned())
    };
    lines.split(", ").filter(|link| !link.is_empty()).map(one).collect()
}

/// A change of a record that is there.
pub(crate) fn act(resource: &str, company: &str, id: &str, action: &str) -> Value {
    let mut line = json!({"area": "accounting", "resource": resource, "action": action, "correlationId": id});
    if resource != "companies" {
        line["company"] = json!(company);
    }
    line
}
