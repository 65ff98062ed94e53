//! The operations of the document, a valid request of each, and which of their ids stand below another.

use hyper::Method;
use serde_json::{Map, Value, json};

use super::fixture::{COMPANY, Ids, OTHER_COMPANY, World};
use super::{NOBODYS_GUID, NOBODYS_NAME};
use crate::harness::{HttpRequest, HttpResponse, encode_form, segment};
use crate::integration::operator_api::openapi::operations;

/// The parameters of paths that name nothing of anybody's, and a value for each.
const FIXED: [(&str, &str); 3] = [("area", "accounting"), ("resource", "customers"), ("slot", "primary")];
/// An upsert creates the record that it does not find.
const EDITS: &str = "/operator/v1/tenants/{tenant}/records/{area}/{resource}/{record}/edits";

/// Ids below another parent than their own, ids of nobody, and the status that both get.
pub(super) struct Probe {
    pub(super) what: String,
    pub(super) foreign: Ids,
    pub(super) unknown: Ids,
    pub(super) status: u16,
}

/// An operation with a parameter in its path.
pub(super) struct Operation {
    pub(super) verb: &'static str,
    pub(super) path: String,
    /// Without the id of a company, which the query of some has.
    query: Vec<(String, String)>,
    takes_company: bool,
    body: Option<Value>,
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(target) => document.pointer(target.trim_start_matches('#')).unwrap(),
        None => value,
    }
}

/// The smallest value that the schema takes; none where the document does not say enough.
fn sample(document: &Value, schema: &Value) -> Option<Value> {
    let schema = resolve(document, schema);
    let given = [schema.get("example"), schema["examples"].get(0), schema["enum"].get(0)];
    if let Some(given) = given.into_iter().flatten().next() {
        return Some(given.clone());
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        if let Some(first) = schema[choice].get(0) {
            return sample(document, first);
        }
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str())?;
    match kind {
        "object" => {
            let mut object = Map::new();
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                object.insert(name.to_owned(), sample(document, &schema["properties"][name])?);
            }
            Some(Value::Object(object))
        }
        "array" => Some(json!([])),
        "boolean" => Some(json!(true)),
        "integer" | "number" => Some(schema.get("minimum").cloned().unwrap_or(json!(1))),
        "string" => Some(json!("x")),
        _ => None,
    }
}

fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

impl Operation {
    /// Reads first: an edit that is refused leaves an entry in the log of the record that it did not find.
    pub(super) fn all(document: &Value) -> Vec<Self> {
        let with_ids = operations(document).into_iter().filter(|(path, ..)| path.contains('{'));
        let mut all: Vec<Self> =
            with_ids.map(|(path, verb, operation)| Self::new(document, verb, path, &operation)).collect();
        all.sort_by_key(|one| (one.verb != "get", one.path == EDITS));
        all
    }

    fn new(document: &Value, verb: &'static str, path: String, operation: &Value) -> Self {
        let missing = |what: &str| {
            format!(
                "{verb} {path}: the document gives no example of {what}: add it, or a row to `Operation::new`"
            )
        };
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let queried = parameters.map(|one| resolve(document, one)).filter(|one| one["in"] == "query");
        let queried: Vec<&Value> = queried.collect();
        let takes_company = path.contains("{resource}") && queried.iter().any(|one| one["name"] == "company");
        let query = queried.iter().filter(|one| one["required"] == true).map(|one| {
            let name = one["name"].as_str().unwrap();
            let value = one.get("example").cloned().or_else(|| sample(document, &one["schema"]));
            let value = value.unwrap_or_else(|| panic!("{}", missing(name)));
            (name.to_owned(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        });
        let query = query.collect();
        let content = &resolve(document, &operation["requestBody"])["content"]["application/json"];
        let body = if path == EDITS {
            Some(json!({"action": "disable", "reason": "a reason"}))
        } else if content.is_object() {
            let given = content.get("example").cloned().or_else(|| sample(document, &content["schema"]));
            Some(given.unwrap_or_else(|| panic!("{}", missing("its body"))))
        } else {
            None
        };
        Self { verb, path, query, takes_company, body }
    }

    /// The parameters of the path that name things.
    pub(super) fn things(&self) -> Vec<&'static str> {
        const KNOWN: [&str; 14] = [
            "tenant",
            "user",
            "client",
            "subscription",
            "webhook",
            "delivery",
            "record",
            "team",
            "developer",
            "operator",
            "token",
            "request",
            "invitation",
            "backup",
        ];
        let names = self.path.split('/').filter_map(parameter);
        let things = names.filter(|name| !FIXED.iter().any(|(fixed, _)| fixed == name));
        let known = |name: &str| KNOWN.into_iter().find(|known| *known == name);
        things
            .map(|name| {
                known(name).unwrap_or_else(|| {
                    panic!("{{{name}}} of {} is new: make one in `side` and add it to `KNOWN`", self.path)
                })
            })
            .collect()
    }

    /// What an id of nobody gets in this place.
    pub(super) fn status_of_unknown(&self, name: &str) -> u16 {
        // A change that cannot be applied is a conflict with what is stored.
        if self.path == EDITS && name == "record" { 409 } else { 404 }
    }

    /// The ids of this side that the operation takes.
    pub(super) fn own_ids(&self, side: &Ids) -> Ids {
        let mut ids: Ids = self.things().into_iter().map(|name| (name, side[name].clone())).collect();
        if self.takes_company {
            ids.insert("company", COMPANY.to_owned());
        }
        ids
    }

    #[track_caller]
    pub(super) fn send(&self, world: &World, ids: &Ids) -> HttpResponse {
        let fill = |part: &str| match parameter(part) {
            None => part.to_owned(),
            Some(name) => {
                let fixed = FIXED.iter().find(|(fixed, _)| *fixed == name).map(|(_, value)| *value);
                segment(fixed.unwrap_or_else(|| ids[name].as_str()))
            }
        };
        let path = self.path.split('/').map(fill).collect::<Vec<_>>().join("/");
        let company = ids.get("company").map(|company| ("company", company.as_str()));
        // The versions of a record are named by the numbers of their changes.
        let is_diff = self.path.ends_with("/diff");
        let version = |value: &str| if is_diff { world.north["sequence"].clone() } else { value.to_owned() };
        let query: Vec<(&str, String)> =
            self.query.iter().map(|(name, value)| (name.as_str(), version(value))).collect();
        let query = query.iter().map(|(name, value)| (*name, value.as_str()));
        let query: Vec<(&str, &str)> = query.chain(company).collect();
        let url = format!("{}{path}?{}", world.server.operator_url(), encode_form(&query));
        let method = Method::from_bytes(self.verb.to_uppercase().as_bytes()).unwrap();
        let request = HttpRequest::new(method, url.trim_end_matches('?'))
            .header("authorization", &format!("Bearer {}", world.server.operator_token()));
        match &self.body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()).send(),
            None => request.send(),
        }
    }

    /// The south's ids with some replaced: by those of others, and by those of nobody.
    fn probe(&self, side: &Ids, what: &str, replaced: &[(&'static str, &str, &str)]) -> Probe {
        let own = self.own_ids(side);
        let with = |choose: fn(&(&'static str, &str, &str)) -> (&'static str, String)| {
            let mut ids = own.clone();
            ids.extend(replaced.iter().map(choose));
            ids
        };
        Probe {
            what: what.to_owned(),
            foreign: with(|(name, foreign, _)| (*name, (*foreign).to_owned())),
            unknown: with(|(name, _, unknown)| (*name, (*unknown).to_owned())),
            status: 404,
        }
    }

    /// Things below another parent than their own.
    pub(super) fn probes(&self, world: &World) -> Vec<Probe> {
        let World { north, south, apart, .. } = world;
        match (self.verb, self.things().as_slice()) {
            // A membership is made by the call that names both its parents.
            (_, [_]) | ("put", ["user", "tenant"]) => Vec::new(),
            (_, ["tenant", "record"]) => {
                let record = ("record", north["record"].as_str(), NOBODYS_NAME);
                let company = ("company", OTHER_COMPANY, OTHER_COMPANY);
                let status = self.status_of_unknown("record");
                let probes = [
                    self.probe(south, "another tenant's record", &[record]),
                    self.probe(north, "another company's record", &[record, company]),
                ];
                probes.map(|probe| Probe { status, ..probe }).into()
            }
            (_, ["webhook", "delivery"]) => {
                let delivery = north["delivery"].as_str();
                let last = if delivery.ends_with('0') { '1' } else { '0' };
                let other = format!("{}{last}", &delivery[..delivery.len() - 1]);
                vec![
                    self.probe(
                        south,
                        "another webhook's delivery",
                        &[("delivery", delivery, other.as_str())],
                    ),
                    self.probe(south, "a delivery of no form", &[("delivery", delivery, NOBODYS_GUID)]),
                    self.probe(
                        south,
                        "the number of another tenant's event",
                        &[("delivery", north["sequence"].as_str(), "987654321")],
                    ),
                ]
            }
            // A user and a tenant exist by themselves; what is below the user is the membership.
            (verb, ["user", "tenant"]) => {
                let tenants = ("tenant", north["tenant"].as_str(), apart["tenant"].as_str());
                let probe = self.probe(south, "another user's tenant", &[tenants]);
                // The removal of what is not there is documented as idempotent.
                vec![Probe { status: if verb == "delete" { 204 } else { 404 }, ..probe }]
            }
            // The same with a developer and a team.
            (_, ["team", "developer"]) => {
                let developers = ("developer", north["developer"].as_str(), apart["developer"].as_str());
                vec![self.probe(south, "another team's member", &[developers])]
            }
            (_, ["user", "tenant", "client"]) => {
                let tenant = ("tenant", north["tenant"].as_str(), apart["tenant"].as_str());
                let client = ("client", north["client"].as_str(), NOBODYS_GUID);
                vec![
                    self.probe(south, "another user's authorization", &[tenant, client]),
                    self.probe(south, "another user's client", &[client]),
                ]
            }
            (_, other) => panic!(
                "{} {} ({other:?}) has no row: say which of its ids is below another, and what is asked for",
                self.verb, self.path
            ),
        }
    }
}
