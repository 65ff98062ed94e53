//! Every parameter and every text member that an OpenAPI document names.

use std::collections::BTreeSet;

use domain::Area;
use hyper::Method;
use serde_json::{Map, Value, json};
use testserver::TestServer;

use super::assert_harmless;
use crate::harness::{HttpRequest, company, context, embedded_tokens, encode_form, segment};

const VERBS: [&str; 5] = ["get", "put", "post", "delete", "patch"];
/// A company and a record that exist.
const COMPANY: &str = "c";
/// The header parameters of both documents.
const HEADERS: [&str; 3] = ["context", "if-none-match", "idempotency-key"];

/// Where an operation takes text.
#[derive(Debug)]
struct Operation {
    verb: &'static str,
    path: String,
    queries: Vec<String>,
    headers: Vec<String>,
    /// The members of a JSON body, and whether they are texts.
    members: Vec<(String, Value)>,
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(target) => document.pointer(target.trim_start_matches('#')).unwrap(),
        None => value,
    }
}

impl Operation {
    fn all(document: &Value) -> Vec<Self> {
        let mut all = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for verb in VERBS {
                let Some(operation) = item.get(verb) else { continue };
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                let parameters: Vec<&Value> = parameters.map(|one| resolve(document, one)).collect();
                let named = |place: &str| {
                    let found = parameters.iter().filter(|one| one["in"] == place);
                    found.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
                };
                let content = &resolve(document, &operation["requestBody"])["content"];
                let body = ["application/json", "application/x-www-form-urlencoded"]
                    .into_iter()
                    .find_map(|media| content.get(media));
                let schema = body.map(|body| resolve(document, &body["schema"]));
                let members = schema.and_then(|schema| schema["properties"].as_object());
                let members = members.into_iter().flatten();
                let members = members.map(|(name, schema)| (name.clone(), resolve(document, schema).clone()));
                let (path, members) = (path.clone(), members.collect());
                all.push(Self { verb, path, queries: named("query"), headers: named("header"), members });
            }
        }
        all
    }

    /// What the path has in common with those of other resources of the area: one of each shape is enough.
    fn shape(&self) -> String {
        let area = Area::ALL.into_iter().find(|area| self.path.starts_with(area.prefix()));
        let Some(area) = area else { return format!("{} {}", self.verb, self.path) };
        let webhooks = self.path.split_once("/webhooks").map(|(_, rest)| format!("/webhooks{rest}"));
        let rest = webhooks.unwrap_or_else(|| {
            let ends = ["/{correlationId}", "/changes"].into_iter().find(|end| self.path.ends_with(end));
            ends.unwrap_or_default().to_owned()
        });
        let is_company = self.path.contains("/companies");
        format!("{} {} {is_company}{rest}", self.verb, area.as_str())
    }

    /// The path with a plausible value for every parameter but one, which gets the text.
    fn filled(&self, hostile: Option<(&str, &str)>) -> String {
        let fill = |part: &str| {
            let Some(name) = part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
                return part.to_owned();
            };
            match hostile {
                Some((wanted, text)) if wanted == name => segment(text),
                _ if name == "slot" => "primary".to_owned(),
                _ => "3c1f6a52-9a0e-4f3b-8d47-5b1f0a9c7e21".to_owned(),
            }
        };
        self.path.split('/').map(fill).collect::<Vec<_>>().join("/")
    }

    fn path_parameters(&self) -> Vec<&str> {
        let parts = self.path.split('/');
        parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
    }

    /// A body in which every text member but one has a plausible value; that one has the text.
    fn body(&self, hostile: &str, text: &str) -> Value {
        let mut body = Map::new();
        for (name, schema) in &self.members {
            let value = match (name == hostile, schema["type"].as_str()) {
                (true, _) if schema["type"] == "array" => json!([text]),
                (true, _) => json!(text),
                (false, Some("string")) => {
                    schema.get("example").or(schema["examples"].get(0)).cloned().unwrap_or(json!("x"))
                }
                (false, _) => continue,
            };
            body.insert(name.clone(), value);
        }
        Value::Object(body)
    }

    /// Sends the text everywhere; `prepare` adds what every request needs.
    fn check(&self, base_url: &str, texts: &[String], prepare: &dyn Fn(HttpRequest) -> HttpRequest) -> usize {
        let mut count = 0;
        let mut send =
            |path: &str, body: Option<&Value>, header: Option<(&'static str, &str)>, what: &str| {
                let method = Method::from_bytes(self.verb.to_uppercase().as_bytes()).unwrap();
                let mut request = prepare(HttpRequest::new(method, &format!("{base_url}{path}")));
                if let Some((name, value)) = header {
                    request = request.header(name, value);
                }
                if let Some(body) = body {
                    request = request.header("content-type", "application/json").body(body.to_string());
                }
                let answer = request.send();
                assert_harmless(&answer, what);
                // Who is refused at the gate tries nothing.
                let has_own_check = self.path.starts_with("/auth/");
                assert!(has_own_check || ![401, 403].contains(&answer.status), "{what}: {answer:?}");
                count += 1;
            };
        if !self.members.is_empty() {
            for (name, body) in odd_bodies() {
                let method = Method::from_bytes(self.verb.to_uppercase().as_bytes()).unwrap();
                let request = prepare(HttpRequest::new(method, &format!("{base_url}{}", self.filled(None))));
                let answer = request.header("content-type", "application/json").body(body).send();
                assert_harmless(&answer, &format!("{} {} with {name}", self.verb, self.path));
                assert!(answer.status >= 400, "{} {} with {name}: {answer:?}", self.verb, self.path);
            }
        }
        for text in texts {
            let what = |place: &str| format!("{} {} with {text:?} in {place}", self.verb, self.path);
            for name in &self.queries {
                let path = format!("{}?{}", self.filled(None), encode_form(&[(name, text)]));
                send(&path, None, None, &what(name));
            }
            for name in self.path_parameters() {
                send(&self.filled(Some((name, text))), None, None, &what(name));
            }
            for (name, _) in &self.members {
                send(&self.filled(None), Some(&self.body(name, text)), None, &what(name));
            }
            for name in self.header_names() {
                let company = (name == "context").then(|| context(text));
                // What no header can carry, no client sends.
                let raw =
                    Some(text.clone()).filter(|text| text.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
                for value in company.into_iter().chain(raw) {
                    send(&self.filled(None), None, Some((name, value.as_str())), &what(name));
                }
            }
        }
        count
    }

    /// The header parameters, in the spelling of the wire.
    fn header_names(&self) -> Vec<&'static str> {
        let known = |name: &String| {
            let found = HEADERS.into_iter().find(|known| known.eq_ignore_ascii_case(name));
            found.unwrap_or_else(|| {
                panic!("{} has the header parameter {name}: add it to `HEADERS`", self.path)
            })
        };
        self.headers.iter().map(known).collect()
    }

    /// Each query parameter once, with another text each: for operations whose shape has been tried with all texts.
    fn check_queries(
        &self,
        base_url: &str,
        texts: &mut dyn Iterator<Item = &String>,
        prepare: &dyn Fn(HttpRequest) -> HttpRequest,
    ) -> usize {
        for name in &self.queries {
            let text = texts.next().unwrap();
            let path = format!("{}?{}", self.filled(None), encode_form(&[(name, text)]));
            let method = Method::from_bytes(self.verb.to_uppercase().as_bytes()).unwrap();
            let answer = prepare(HttpRequest::new(method, &format!("{base_url}{path}"))).send();
            assert_harmless(&answer, &format!("{} {} with {text:?} in {name}", self.verb, self.path));
        }
        self.queries.len()
    }
}

/// Bodies that are valid JSON, or nearly, and that no operation can take.
fn odd_bodies() -> [(&'static str, String); 6] {
    let deep = |open: &str, close: &str| format!("{{\"name\":{}1{}}}", open.repeat(5000), close.repeat(5000));
    [
        ("deep arrays", deep("[", "]")),
        ("deep objects", deep("{\"a\":", "}")),
        ("arrays that never end", "[".repeat(30_000)),
        ("a huge number", format!("{{\"name\":{}}}", "9".repeat(10_000))),
        ("a huge exponent", "{\"name\":1e999999999}".to_owned()),
        ("half a character", "{\"name\":\"\\ud800\"}".to_owned()),
    ]
}

/// One operation of each shape, and the others.
fn one_of_each(document: &Value) -> (Vec<Operation>, Vec<Operation>) {
    let mut shapes = BTreeSet::new();
    let all = Operation::all(document).into_iter();
    all.partition(|operation| shapes.insert(operation.shape()))
}

pub(super) fn check_public(server: &TestServer, texts: &[String]) {
    let tenant = server.add_tenant("Uno");
    server.apply_changes(&tenant, &json!([company(COMPANY)]));
    let (user, client) = (server.add_user(&[&tenant]), server.add_client("Panel"));
    let key = server.add_subscription("Clave").primary_key;
    let tokens = embedded_tokens(server.base_url(), &client, &user);
    let bearer = format!("Bearer {}", tokens["access_token"].as_str().unwrap());
    let prepare = |request: HttpRequest| {
        request.header("ocp-apim-subscription-key", &key).header("authorization", &bearer)
    };
    let company_context = context(COMPANY);
    let document = server.get("/openapi.json").json();
    let with_context = |operation: &Operation, request: HttpRequest| {
        let is_read = operation.headers.iter().any(|name| name == "context");
        prepare(request).header("context", if is_read { &company_context } else { "" })
    };
    let (first, others) = one_of_each(&document);
    let mut count = 0;
    for operation in &first {
        let prepare = |request: HttpRequest| with_context(operation, request);
        count += operation.check(server.base_url(), texts, &prepare);
    }
    assert!(count > 100 * texts.len(), "{count}");
    let mut all_texts = texts.iter().cycle();
    let mut count = 0;
    for operation in &others {
        let prepare = |request: HttpRequest| with_context(operation, request);
        count += operation.check_queries(server.base_url(), &mut all_texts, &prepare);
    }
    let documented: usize = others.iter().map(|operation| operation.queries.len()).sum();
    assert!(count == documented && count > 0, "{count} of {documented}");
}

pub(super) fn check_operator(server: &TestServer, texts: &[String]) {
    let bearer = format!("Bearer {}", server.operator_token());
    let prepare = |request: HttpRequest| request.header("authorization", &bearer);
    let document = server.operator_get("/operator/v1/openapi.json").json();
    let mut count = 0;
    for operation in Operation::all(&document) {
        count += operation.check(server.operator_url(), texts, &prepare);
    }
    assert!(count > 100 * texts.len(), "{count}");
}
