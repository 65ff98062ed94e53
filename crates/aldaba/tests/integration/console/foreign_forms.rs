//! Every action of the console, from the one list of actions, with ids that lead nowhere: ids of nobody, ids of things of
//! another kind, and ids of things below another tenant, user, team or webhook than the form's. The answer is the one that an
//! id of nobody gets, in every role, and nothing changes.

use std::collections::BTreeMap;

use console::{Action, console_actions};
use domain::{AccountId, OperatorRole, Realm, Ticks};
use serde_json::{Value, json};
use store::{Account, AuditContext, FIRST_REVISION, Status};
use testserver::TestServer;

use super::fixture::{Console, path};
use super::webhooks::add_webhook;
use crate::harness::{Page, company, customer, embedded_tokens, is_guid, segment};
use crate::integration::portal::fixture::Developer;

const NOBODYS_GUID: &str = "3c1f6a52-9a0e-4f3b-8d47-5b1f0a9c7e21";
const NOBODYS_NAME: &str = "nobody-at-all";
const NOBODYS_NUMBER: &str = "987654321";
const COMPANY: &str = "c";
/// The parameters of paths that name nothing of anybody's.
const FIXED: [(&str, &str); 2] = [("area", "accounting"), ("resource", "customers")];
const RECORD: &str = "tenants/{tenant}/records/{area}/{resource}/{record}";
const DELIVERY: &str = "webhooks/{webhook}/deliveries/{sequence}";

/// Ids by the names that parameters of paths have. Those that a form has in a field begin with `field:`.
type Ids = BTreeMap<&'static str, String>;

/// A form that is sent twice: with ids that are somebody's, and with ids of nobody.
struct Probe {
    what: String,
    theirs: Ids,
    nobodys: Ids,
    /// What it gets from somebody who may do it.
    status: u16,
}

struct Fixture {
    console: Console,
    north: Ids,
    south: Ids,
    /// Things that exist and are below nothing.
    apart: Ids,
}

#[track_caller]
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A developer without a team.
fn add_developer(server: &TestServer, id: &str) {
    let at = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
    let account = Account {
        id: AccountId::new(id),
        realm: Realm::Developers,
        email: format!("{id}@developers.example"),
        given_name: "Diego".into(),
        family_name: String::new(),
        lang: "es".into(),
        password_hash: String::new(),
        status: Status::Active,
        role: None,
        created_at: at,
        updated_at: at,
        revision: FIRST_REVISION,
    };
    let store = server.store().clone();
    server.block_on(async { store.add_account(&account, &[], &AuditContext::default()).await }).unwrap();
}

/// A tenant and a team of this name with one thing of every kind. The tenants number their changes apart.
fn side(server: &TestServer, name: &str, number: u8, customers: usize) -> Ids {
    let tenant = server.add_tenant(name);
    let record = |number: usize| format!("{name}-record-{number}");
    let lines = (1..=customers).map(|number| customer(COMPANY, &record(number), name));
    let lines: Vec<Value> = [company(COMPANY)].into_iter().chain(lines).collect();
    server.apply_changes(&tenant, &Value::Array(lines));
    let (user, client) = (server.add_user(&[&tenant]), server.add_client(name));
    embedded_tokens(server.base_url(), &client, &user);
    let webhook = add_webhook(server, number, &tenant, &client.id, "https://hooks.example/a");
    let developer = Developer::sign_in(server, name);
    let email = format!("{name}@developers.example");
    let asked = json!({"name": name, "product": "payroll"});
    let asked = json!({"team": developer.team, "developer": email, "subscription": asked});
    let invited = json!({"realm": "developers", "email": format!("{name}@invited.example")});
    let token = server.operator_post("tokens", &json!({"name": name, "role": "viewer"}));
    let ids = [
        ("tenant", tenant.id),
        ("user", user.id),
        ("client", client.id),
        ("subscription", server.add_subscription(name).id),
        ("webhook", webhook),
        ("record", record(customers)),
        // The number of the last change.
        ("sequence", (customers + 1).to_string()),
        ("team", developer.team.clone()),
        ("developer", developer.team),
        ("operator", "console-admin".to_owned()),
        ("request", text(&server.operator_post("requests", &asked)["id"])),
        ("invitation", text(&server.operator_post("invitations", &invited)["id"])),
        ("token", text(&token["token"]["id"])),
        ("user_email", user.email),
    ];
    ids.into()
}

/// The parameters of a page's path that name things.
fn parameters(page: &'static str) -> Vec<&'static str> {
    let names = page.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names.filter(|name| !FIXED.iter().any(|(fixed, _)| fixed == name)).collect()
}

/// What an action gets whose path has an id of nobody in this place. A page that does not exist is 404; where the form, and not
/// the address, may be wrong, the form is refused.
fn status_of_unknown(action: Action, name: &str) -> u16 {
    match (action.page, action.name, name) {
        (RECORD, ..)
        | (DELIVERY, _, "sequence")
        | ("webhooks/{webhook}", "test" | "replay", _)
        | ("tenants/{tenant}", "remove_member" | "make_admin" | "make_member", _) => 400,
        _ => 404,
    }
}

/// An id of nobody that looks like this one.
fn nobodys(id: &str) -> &'static str {
    if is_guid(id) { NOBODYS_GUID } else { NOBODYS_NAME }
}

fn with(ids: &Ids, replaced: &[(&'static str, &str)]) -> Ids {
    let replaced = replaced.iter().map(|(name, id)| (*name, (*id).to_owned()));
    ids.clone().into_iter().chain(replaced).collect()
}

impl Fixture {
    fn new() -> Self {
        let console = Console::new();
        let server = &console.server;
        let (north, south) = (side(server, "north-side", 1, 3), side(server, "south-side", 2, 1));
        add_developer(server, "apart-developer");
        let apart = server.add_user(&[]);
        let apart = Ids::from([
            ("tenant", server.add_tenant("Apart").id),
            ("user", apart.id),
            ("user_email", apart.email),
            ("developer", "apart-developer".to_owned()),
        ]);
        Self { console, north, south, apart }
    }

    /// The south's own ids, in the path and in the fields.
    fn own(&self, action: Action) -> Ids {
        let own = |name: &'static str| {
            let id = self.south.get(name);
            let message = "is new: make one in `side` and say what it is below";
            (name, id.unwrap_or_else(|| panic!("{{{name}}} of {} {message}", action.page)).clone())
        };
        let mut ids: Ids = parameters(action.page).into_iter().map(own).collect();
        for (field, name) in [
            ("field:user", "user"),
            ("field:tenant", "tenant"),
            ("field:client", "client"),
            ("field:member", "developer"),
        ] {
            ids.insert(field, self.south[name].clone());
        }
        ids
    }

    fn page(action: Action, ids: &Ids) -> String {
        let fill = |part: &str| {
            let Some(name) = part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
                return part.to_owned();
            };
            let fixed = FIXED.iter().find(|(fixed, _)| *fixed == name).map(|(_, value)| *value);
            segment(fixed.unwrap_or_else(|| ids[name].as_str()))
        };
        let page = action.page.split('/').map(fill).collect::<Vec<_>>().join("/");
        if action.page == RECORD { format!("{page}?company={COMPANY}") } else { page }
    }

    /// Sends the form; every field that an action may need has a valid value.
    fn send(&self, action: Action, ids: &Ids) -> Page {
        let confirmed = parameters(action.page).last().map(|name| ids[name].as_str());
        let mut fields = vec![
            ("do", action.name),
            ("reason", "Prueba"),
            ("name", "Prueba"),
            ("slot", "primary"),
            ("role", "member"),
            ("data", "{}"),
            ("from", "2020-01-01T00:00:00Z"),
            ("confirm", confirmed.unwrap_or_default()),
        ];
        let named = ids.iter().filter_map(|(name, id)| Some((name.strip_prefix("field:")?, id.as_str())));
        fields.extend(named);
        self.console.post(&Self::page(action, ids), &fields)
    }

    /// Each parameter of the path with the id of something of another kind.
    fn other_kinds(&self, action: Action) -> Vec<Probe> {
        let mut probes = Vec::new();
        for name in parameters(action.page) {
            // An upsert creates the record that it does not find.
            if name == "sequence" || (name == "record" && action.name == "upsert") {
                continue;
            }
            for kind in ["tenant", "user", "developer", "operator", "webhook"] {
                // A developer's team has the developer's name.
                if kind == name || (kind == "developer" && name == "team") {
                    continue;
                }
                let id = self.north[kind].as_str();
                probes.push(Probe {
                    what: format!("the id of a {kind} as {{{name}}}"),
                    theirs: with(&self.own(action), &[(name, id)]),
                    nobodys: with(&self.own(action), &[(name, nobodys(id))]),
                    status: status_of_unknown(action, name),
                });
            }
        }
        probes
    }

    /// Things below another parent than their own.
    fn other_parents(&self, action: Action) -> Vec<Probe> {
        let (north, apart) = (&self.north, &self.apart);
        // A name and a field of the form that is not found makes the form wrong, not the address.
        let probe = |what: &str, theirs: &[(&'static str, &str)], nobodys: &[(&'static str, &str)]| Probe {
            what: what.to_owned(),
            theirs: with(&self.own(action), theirs),
            nobodys: with(&self.own(action), nobodys),
            status: 400,
        };
        let one = |what: &str, name: &'static str, theirs: &str, nobodys: &str| {
            vec![probe(what, &[(name, theirs)], &[(name, nobodys)])]
        };
        match (action.page, action.name) {
            (RECORD, "upsert") => Vec::new(),
            (RECORD, _) => one("another tenant's record", "record", &north["record"], NOBODYS_NAME),
            (DELIVERY, _) => one("another tenant's event", "sequence", &north["sequence"], NOBODYS_NUMBER),
            ("tenants/{tenant}", "remove_member" | "make_admin" | "make_member") => {
                one("another tenant's user", "field:user", &north["user"], &apart["user"])
            }
            ("users/{user}", "remove_tenant" | "make_admin" | "make_member") => {
                one("another user's tenant", "field:tenant", &north["tenant"], &apart["tenant"])
            }
            ("users/{user}", "withdraw") => {
                let theirs = [("field:tenant", &*north["tenant"]), ("field:client", &*north["client"])];
                let nobodys = [("field:tenant", &*apart["tenant"]), ("field:client", NOBODYS_GUID)];
                vec![probe("another user's authorization", &theirs, &nobodys)]
            }
            ("teams/{team}", "set_role" | "remove_member") => {
                one("another team's member", "field:member", &north["developer"], &apart["developer"])
            }
            ("invitations", "resend" | "revoke") => {
                one("a tenant as an invitation", "field:invitation", &north["tenant"], NOBODYS_GUID)
            }
            ("tokens", "revoke") => {
                let probes = one("a tenant as a token", "field:token_id", &north["tenant"], NOBODYS_GUID);
                probes.into_iter().map(|probe| Probe { status: 404, ..probe }).collect()
            }
            (page, _) if parameters(page).len() > 1 => {
                panic!("{action:?} has no row: say what is not found below another's parent")
            }
            _ => Vec::new(),
        }
    }

    /// The answer without what differs between any two requests, and without what was asked for.
    fn comparable(&self, action: Action, page: &Page, ids: &Ids) -> (u16, String) {
        let request = page.headers.get("x-request-id").and_then(|id| id.to_str().ok()).unwrap_or("none");
        let asked = path(&Self::page(action, ids));
        let mut text = page.text().replace(request, "<request>").replace(&asked, "<path>");
        let mut named: Vec<&str> = ids.values().map(String::as_str).collect();
        // Messages name users by their addresses.
        named.extend([&self.north, &self.apart].map(|side| side["user_email"].as_str()));
        named.sort_by_key(|id| std::cmp::Reverse(id.len()));
        for id in named {
            text = if id.len() > 3 {
                text.replace(id, "<id>")
            } else {
                text.replace(&format!("&quot;{id}&quot;"), "&quot;<id>&quot;")
                    .replace(&format!("/{id}"), "/<id>")
            };
        }
        (page.status, text)
    }

    /// Everything of both sides, as the operator's API shows it.
    fn snapshot(&self) -> Vec<(String, Value)> {
        let server = &self.console.server;
        let mut all = Vec::new();
        for ids in [&self.north, &self.south] {
            let id = |name: &str| ids[name].as_str();
            let paths = [
                format!("tenants/{}", id("tenant")),
                format!("tenants/{}/users", id("tenant")),
                format!("tenants/{}/records/accounting/customers?company={COMPANY}", id("tenant")),
                format!("users/{}", id("user")),
                format!("users/{}/tenants", id("user")),
                format!("users/{}/authorizations", id("user")),
                format!("clients/{}", id("client")),
                format!("subscriptions/{}", id("subscription")),
                format!("teams/{}", id("team")),
                format!("teams/{}/members", id("team")),
                format!("developers/{}", id("developer")),
                format!("operators/{}", id("operator")),
                format!("requests/{}", id("request")),
                format!("invitations/{}", id("invitation")),
                format!("tokens/{}", id("token")),
                format!("webhooks/{}", id("webhook")),
                format!("webhooks/{}/replays", id("webhook")),
            ];
            for path in paths {
                let found = server.operator_get(&format!("/operator/v1/{path}"));
                assert_eq!(found.status, 200, "{path}: {}", found.text());
                let is_webhook = path.ends_with(id("webhook"));
                // Of a webhook, what it did not do by itself.
                let found = if is_webhook { found.json()["status"].clone() } else { found.json() };
                all.push((path, found));
            }
        }
        all
    }
}

#[test]
fn forms_answer_ids_below_another_parent_as_ids_of_nobody() {
    let fixture = Fixture::new();
    let before = fixture.snapshot();
    let (mut pairs, mut wrong) = (0, Vec::new());
    for role in OperatorRole::ALL {
        fixture.console.act_as(role);
        for action in console_actions() {
            let probes = fixture.other_kinds(action).into_iter().chain(fixture.other_parents(action));
            for probe in probes {
                let (found, unknown) =
                    (fixture.send(action, &probe.theirs), fixture.send(action, &probe.nobodys));
                let answer = fixture.comparable(action, &found, &probe.theirs);
                let other = fixture.comparable(action, &unknown, &probe.nobodys);
                let may = action.permission.is_given_to(role);
                // Who may not do it is told so, or that there is nothing; every role reads everything.
                let is_expected = found.status == probe.status || (!may && found.status == 403);
                if answer != other || !is_expected || answer.1.contains("s3cret") {
                    let place = format!("{role:?}: {} {} with {}", action.page, action.name, probe.what);
                    let (one, two) = (difference(&answer.1, &other.1), difference(&other.1, &answer.1));
                    wrong.push(format!("{place}: {} / {}: {one:?} / {two:?}", found.status, unknown.status));
                }
                pairs += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(fixture.snapshot(), before, "an attempt changed something");
    assert!(pairs > 500, "{pairs}");
}

/// The part of a text where it begins to differ from another.
fn difference(text: &str, other: &str) -> String {
    if text == other {
        return String::new();
    }
    let same = text.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    text.chars().skip(same.saturating_sub(40)).take(160).collect()
}

/// Without this, the matrix would compare answers that are the same because the form itself is wrong.
#[test]
fn the_same_forms_do_what_they_say_to_own_things() {
    let fixture = Fixture::new();
    for (page, name) in [
        ("teams/{team}", "rename"),
        ("users/{user}", "end_sessions"),
        ("tenants/{tenant}", "make_admin"),
        ("users/{user}", "withdraw"),
        (RECORD, "disable"),
        ("webhooks/{webhook}", "pause"),
    ] {
        let action = console_actions().into_iter().find(|one| (one.page, one.name) == (page, name)).unwrap();
        let done = fixture.send(action, &fixture.own(action));
        assert!(done.location().contains("done="), "{action:?}: {done:?}");
    }
}
