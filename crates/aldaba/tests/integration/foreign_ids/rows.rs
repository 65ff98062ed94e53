//! Which ids each operation is asked with, and what the answer must be.

use hyper::Method;
use serde_json::{Value, json};

use super::fixture::{Caller, INVOICING, SECRET, World};
use super::identity;
use crate::harness::{HttpRequest, HttpResponse, context, segment};

/// Ids that nobody has, as long as the others.
const NOBODYS_WEBHOOK: &str = "3c1f6a52-9a0e-4f3b-8d47-5b1f0a9c7e21";
const NOBODYS_DELIVERY: &str = "9d2b7c10-4e6f-4a85-b1c9-2f7e8d3a6b54";

/// The ids of a request; an empty one is not asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    pub(super) whose: &'static str,
    /// What must not be in the answer.
    pub(super) mark: String,
    pub(super) company: String,
    pub(super) record: String,
    pub(super) webhook: String,
    pub(super) outgoing: String,
    /// A secret that the body repeats.
    pub(super) secret: String,
}

/// A caller, ids of others, and ids of nobody.
type Probe<'a> = (&'a Caller, Ids, Ids);

pub(super) enum Row<'a> {
    /// Foreign and unknown ids get the same answer, with this status.
    Compared(u16, Vec<Probe<'a>>),
    /// The operation has no id: it shows what is the caller's own.
    OwnAlone,
    /// A check of its own, which returns the number of pairs of requests.
    Checked(fn(&World, &Operation) -> usize),
}

/// An operation of the document.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) verb: String,
    pub(super) path: String,
    needs_context: bool,
}

impl Operation {
    pub(super) fn all(document: &Value) -> Vec<Self> {
        let verbs = ["get", "put", "post", "delete", "patch", "head", "options", "trace"];
        let resolve = |parameter: &Value| match parameter["$ref"].as_str() {
            Some(target) => document.pointer(target.trim_start_matches('#')).unwrap().clone(),
            None => parameter.clone(),
        };
        let mut all = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (verb, operation) in item.as_object().unwrap() {
                if !verbs.contains(&verb.as_str()) {
                    continue;
                }
                let parameters = operation["parameters"].as_array().into_iter().flatten().map(resolve);
                let needs_context = parameters
                    .filter(|one| one["in"] == "header" && one["required"] == true)
                    .any(|one| one["name"] == "context");
                all.push(Self { verb: verb.clone(), path: path.clone(), needs_context });
            }
        }
        all
    }

    /// The path before `/webhooks`, for webhook management.
    pub(super) fn group(&self) -> String {
        self.path.split("/webhooks").next().unwrap_or_default().to_owned()
    }

    fn is_webhooks(&self) -> bool {
        self.path.contains("/webhooks")
    }

    fn parameters(&self) -> Vec<&str> {
        let segments = self.path.split('/');
        segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}')).collect()
    }

    pub(super) fn send(&self, caller: &Caller, ids: &Ids) -> HttpResponse {
        self.request(caller, ids, &self.verb.to_uppercase()).send()
    }

    pub(super) fn head(&self, caller: &Caller, ids: &Ids) -> HttpResponse {
        self.request(caller, ids, "HEAD").send()
    }

    fn request(&self, caller: &Caller, ids: &Ids, method: &str) -> HttpRequest {
        let path = self
            .path
            .replace("{correlationId}", &segment(&ids.record))
            .replace("{webhookId}", &ids.webhook)
            .replace("{id}", &ids.webhook)
            .replace("{outgoingId}", &ids.outgoing);
        assert!(!path.contains('{'), "no id for a parameter of {}", self.path);
        let mut request = caller.request(Method::from_bytes(method.as_bytes()).unwrap(), &path);
        if !self.is_webhooks() && !ids.company.is_empty() {
            request = request.header("context", &context(&ids.company));
        }
        match self.body(caller, ids) {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        }
    }

    /// A body that is valid, whatever the path names.
    fn body(&self, caller: &Caller, ids: &Ids) -> Option<Value> {
        let suffix = self.path.strip_prefix(&self.group())?.strip_prefix("/webhooks")?;
        match (self.verb.as_str(), suffix) {
            ("put", "/status/{webhookId}") => Some(json!({"webhookId": ids.webhook, "enable": false})),
            ("put", "/change/{webhookId}") => {
                Some(json!({"webhookId": ids.webhook, "url": caller.receiver.url("/mine")}))
            }
            ("put", "/{id}") => Some(json!({"isPaused": true})),
            ("put", "/secret/{webhookId}" | "/{id}/secret") => Some(json!({"secret": "another one"})),
            ("post", "/{webhookId}/replay" | "/{id}/replay") => Some(json!({"from": "2020-01-01T00:00:00Z"})),
            _ => None,
        }
    }

    pub(super) fn row<'a>(&self, world: &'a World) -> Row<'a> {
        let invoicing = self.group() == INVOICING;
        match (self.verb.as_str(), self.parameters().as_slice()) {
            _ if self.path.starts_with("/auth/core/") => identity::row(self),
            ("get", []) if self.is_webhooks() => Row::OwnAlone,
            ("post", []) if self.path.ends_with("/webhooks/unsubscribe") => {
                Row::Checked(unsubscribe_anothers)
            }
            ("post", []) if self.path.ends_with("/webhooks/subscribe") || invoicing => {
                Row::Checked(subscribe_as_another)
            }
            (_, ["webhookId" | "id"]) if self.is_webhooks() => {
                Row::Compared(404, self.foreign_webhooks(world))
            }
            (_, ["webhookId" | "id", "outgoingId"]) if self.is_webhooks() => {
                let mut probes = self.foreign_webhooks(world);
                probes.extend(self.foreign_deliveries(world));
                Row::Compared(404, probes)
            }
            ("get", ["correlationId"]) => Row::Compared(404, self.foreign_records(world)),
            ("get", []) if self.needs_context => Row::Compared(404, foreign_companies(world)),
            ("get", []) => Row::OwnAlone,
            other => panic!(
                "{} {} ({other:?}) has no row: say which ids of others it takes, and what they get",
                self.verb, self.path
            ),
        }
    }

    /// The victim's webhook asked for by everybody else, and by the victim through the routes of another resource.
    fn foreign_webhooks<'a>(&self, world: &'a World) -> Vec<Probe<'a>> {
        let group = self.group();
        let victims = world.victim.ids(&group);
        let nobodys = Ids {
            webhook: NOBODYS_WEBHOOK.to_owned(),
            outgoing: NOBODYS_DELIVERY.to_owned(),
            ..victims.clone()
        };
        let mut probes: Vec<Probe<'a>> =
            world.others().map(|caller| (caller, victims.clone(), nobodys.clone())).collect();
        let other_group = world.victim.webhooks.keys().find(|other| **other != group).unwrap();
        let elsewhere = Ids { whose: "another resource's webhook", ..world.victim.ids(other_group) };
        probes.push((&world.victim, elsewhere, nobodys));
        probes
    }

    /// The victim's delivery asked for below the caller's own webhook.
    fn foreign_deliveries<'a>(&self, world: &'a World) -> Vec<Probe<'a>> {
        let victims = world.victim.ids(&self.group());
        let probe = |caller: &'a Caller| {
            let own = caller.ids(&self.group());
            let ids = |outgoing: &str| Ids {
                whose: "the victim's delivery",
                mark: victims.record.clone(),
                outgoing: outgoing.to_owned(),
                ..own.clone()
            };
            (caller, ids(&victims.outgoing), ids(NOBODYS_DELIVERY))
        };
        world.others().map(probe).collect()
    }

    fn foreign_records<'a>(&self, world: &'a World) -> Vec<Probe<'a>> {
        let victims = &world.victim.estate;
        // Companies are records of the tenant; every other record is one of a company.
        let (theirs, nobodys) = if self.needs_context {
            (&victims.records, "victims-record-0")
        } else {
            (&victims.companies, "victims-company-0")
        };
        let ids = |company: &str, record: &str| Ids {
            whose: "the victim's record",
            mark: victims.mark.clone(),
            company: company.to_owned(),
            record: record.to_owned(),
            ..Ids::default()
        };
        let mut probes = Vec::new();
        for caller in world.outsiders() {
            let own = if self.needs_context { caller.estate.companies[0].as_str() } else { "" };
            probes.push((caller, ids(own, &theirs[0]), ids(own, nobodys)));
            probes.push((caller, ids(&victims.companies[0], &theirs[0]), ids("victims-company-0", nobodys)));
        }
        if self.needs_context {
            // Of the same tenant, but of its other company.
            let other = victims.companies[1].as_str();
            probes.push((&world.victim, ids(other, &theirs[0]), ids(other, nobodys)));
        }
        probes
    }
}

fn foreign_companies(world: &World) -> Vec<Probe<'_>> {
    let ids = |company: &str| Ids {
        whose: "the victim's company",
        mark: world.victim.estate.mark.clone(),
        company: company.to_owned(),
        ..Ids::default()
    };
    let victims = &world.victim.estate.companies[0];
    world.outsiders().map(|caller| (caller, ids(victims), ids("victims-company-0"))).to_vec()
}

/// Sends the victim's subscription to `unsubscribe`, with the right secret and with a wrong one.
fn unsubscribe_anothers(world: &World, operation: &Operation) -> usize {
    for caller in world.others() {
        let send = |secret: &str| {
            let body = world.victim.subscription_body(&operation.group(), secret);
            let answer = caller.post_json(&operation.path, &body);
            super::comparable(&answer, &Ids { secret: secret.to_owned(), ..Ids::default() })
        };
        let (theirs, nobodys) = (send(SECRET), send("s3cre0"));
        assert_eq!((&theirs, theirs.0), (&nobodys, 404), "{operation:?} by {}", caller.name);
    }
    world.others().count()
}

/// Who repeats the victim's subscription gets a webhook of their own, not the victim's.
fn subscribe_as_another(world: &World, operation: &Operation) -> usize {
    let victims = world.victim.ids(&operation.group());
    for caller in world.others() {
        let body = world.victim.subscription_body(&operation.group(), SECRET);
        let made = caller.post_json(&operation.path, &body);
        assert_eq!(made.status, 200, "{operation:?} by {}: {made:?}", caller.name);
        assert!(!made.text().contains(&victims.webhook), "{operation:?} by {}: {made:?}", caller.name);
    }
    world.others().count()
}
