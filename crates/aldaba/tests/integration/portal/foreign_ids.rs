//! The matrix of every page of the portal with the ids of others: another team's pages, and another team's things below the
//! own team's pages and in its forms. Each gets the answer that an id of nobody gets, in every role.

use serde_json::{Value, json};
use store::TeamRole;
use testserver::{Receiver, TestServer, TestTenant};

use super::fixture::Developer;
use super::sandbox::RECEIVER;
use crate::harness::{HttpRequest, Page, Submission, company, customer, embedded_tokens, wait_for};

const CUSTOMERS: &str = "/accounting/api/customers/webhooks";
const EVENT: &str = "Svc.ACC.Customers.CustomerCreated";
/// The parameters of paths that name nothing of a team's own: the catalogue of events is the same for all.
const PUBLIC: [&str; 1] = ["event"];

/// How many of [`Ids::all`] are too long to stand for anything else.
const NAMED_IDS: usize = 6;

/// The ids of a team's things.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    pub(crate) team: String,
    pub(crate) subscription: String,
    pub(crate) client: String,
    pub(crate) webhook: String,
    pub(crate) sequence: String,
    number: String,
    pub(crate) request: String,
    invitation: String,
    member: String,
}

impl Ids {
    /// Ids that nobody has, as long as these.
    fn of_nobody(&self) -> Self {
        let other = |id: &str| {
            let last = if id.ends_with('0') { '1' } else { '0' };
            format!("{}{last}", &id[..id.len() - 1])
        };
        Self {
            team: other(&self.team),
            subscription: other(&self.subscription),
            client: other(&self.client),
            webhook: other(&self.webhook),
            sequence: "987654321".to_owned(),
            number: "987654321".to_owned(),
            request: other(&self.request),
            invitation: other(&self.invitation),
            member: other(&self.member),
        }
    }

    fn all(&self) -> [&str; 9] {
        let Self { team, subscription, client, webhook, sequence, number, request, invitation, member } =
            self;
        [subscription, client, webhook, request, invitation, member, team, sequence, number]
            .map(String::as_str)
    }

    /// What stands for a parameter of a path.
    fn parameter(&self, name: &str) -> &str {
        match name {
            "subscription" => &self.subscription,
            "client" => &self.client,
            "webhook" => &self.webhook,
            "sequence" => &self.sequence,
            "number" => &self.number,
            "event" => EVENT,
            other => panic!("{{{other}}} has no id: say whose it is, and that it is not found by others"),
        }
    }

    /// The path of a page of a team with these things in it.
    pub(crate) fn path(&self, team: &str, route: &str) -> String {
        let filled = route.split('/').map(|segment| match parameter(segment) {
            Some(name) => self.parameter(name),
            None => segment,
        });
        format!("/portal/teams/{team}/{}", filled.collect::<Vec<_>>().join("/"))
    }
}

fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

fn names_a_thing(route: &str) -> bool {
    route.split('/').filter_map(parameter).any(|name| !PUBLIC.contains(&name))
}

/// A team with one thing of every kind, and its owner.
pub(crate) struct Team {
    pub(crate) owner: Developer,
    pub(crate) ids: Ids,
    _receiver: Receiver,
}

impl Team {
    /// `events`: how many events happen in its sandbox. The built-in receiver numbers what it gets, for each team.
    pub(crate) fn new(server: &TestServer, tenant: &TestTenant, name: &str, events: u64) -> Self {
        let owner = Developer::sign_in(server, name);
        let helper = format!("{name}-helper");
        add_member(server, name, &helper);
        let client = server.add_client(name);
        let url = format!("{}/operator/v1/clients/{}", server.operator_url(), client.id);
        let change = testserver::Request::new(hyper::Method::PATCH, &url).bearer(server.operator_token());
        change.json(&json!({ "team": name })).send().expect_status(200);
        let products = ["accounting", "payroll", "invoicing"];
        let key =
            server.operator_post("subscriptions", &json!({"name": name, "products": products, "team": name}));
        let user = server.add_user(&[tenant]);
        let tokens = embedded_tokens(server.base_url(), &client, &user);
        let receiver = Receiver::start();
        let body = json!({
            "thirdPartyApplicationName": name, "url": receiver.url("/"), "secret": "s3cret", "eventTypes": [EVENT],
        });
        let made = HttpRequest::post(&format!("{}{CUSTOMERS}/subscribe", server.base_url()))
            .header("ocp-apim-subscription-key", text(&key["primaryKey"]))
            .header("authorization", &format!("Bearer {}", text(&tokens["access_token"])))
            .header("content-type", "application/json")
            .body(body.to_string())
            .send();
        assert_eq!(made.status, 200, "{made:?}");
        let webhook = text(&made.json()["webhookId"]).to_owned();
        let read = |page: &str| owner.get(&format!("{page}?format=json")).json();
        wait_for("the webhook", || {
            (read(&format!("webhooks/{webhook}"))["webhook"]["status"] == "active").then_some(())
        });
        server.apply_changes(tenant, &json!([customer("c", name, name)]));
        let sequence = wait_for("a delivery", || {
            let listed = read(&format!("webhooks/{webhook}/deliveries"));
            let first = listed["deliveries"].as_array()?.first()?.clone();
            (first["status"] == "delivered").then(|| number_of(&first["sequence"]))
        });
        let act =
            |page: &str, fields: &[(&str, &str)]| super::sandbox::act(&owner, &owner.path(page), fields);
        act("sandbox", &[("do", "create")]);
        act(RECEIVER, &[("do", "subscribe"), ("client", &client.id), ("resource", "accounting.customers")]);
        for _ in 0..events {
            act(RECEIVER, &[("do", "make"), ("event", EVENT)]);
        }
        let number = wait_for("requests to the built-in receiver", || {
            let newest = read(RECEIVER)["received"].as_array()?.first()?["number"].as_u64()?;
            (newest > events).then(|| newest.to_string())
        });
        let uri = "https://app.example/back";
        let asked = [("do", "ask"), ("name", name), ("redirect_uri", uri), ("product", "accounting")];
        let request = text(&act("applications?format=json", &asked).json()["id"]).to_owned();
        act("team", &[("do", "invite"), ("email", &format!("{name}@invited.example"))]);
        let team = read("team");
        let ids = Ids {
            team: name.to_owned(),
            subscription: text(&key["subscription"]["id"]).to_owned(),
            client: client.id,
            webhook,
            sequence,
            number,
            request,
            invitation: text(&team["invitations"][0]["id"]).to_owned(),
            member: helper,
        };
        Self { owner, ids, _receiver: receiver }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn number_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A developer who is a member of the team, beside a team of their own.
fn add_member(server: &TestServer, team: &str, name: &str) -> Developer {
    let Developer { browser, .. } = Developer::sign_in(server, name);
    let email = format!("{name}@developers.example");
    let role = TeamRole::Member.as_str();
    server.operator_post(&format!("teams/{team}/members"), &json!({"developer": email, "role": role}));
    Developer { browser, team: team.to_owned() }
}

type Fields = Vec<(String, String)>;

/// A form as a page shows it: the fields that are filled or chosen, and one button.
struct Form {
    /// Where it is sent, below the team's pages.
    action: String,
    fields: Fields,
}

/// Every form of the page that posts below the team's pages, once for each of its buttons.
fn forms(page: &Page, team: &str) -> Vec<Form> {
    let own_pages = format!("/portal/teams/{team}/");
    let own = |Submission { action, mut fields }: Submission| {
        let (_, action) = action.split_once(&own_pages)?;
        fields.retain(|(name, _)| name != "token");
        Some(Form { action: action.to_owned(), fields })
    };
    page.submissions().into_iter().filter_map(own).collect()
}

/// The answer without what differs between any two requests, and without what was asked for.
fn comparable(page: &Page, asked: &str, ids: [&Ids; 2]) -> (u16, Vec<String>, String) {
    let request = page.headers.get("x-request-id").and_then(|id| id.to_str().ok()).unwrap_or("none");
    let without_ids = |text: &str| {
        let mut text = text.replace(request, "<request>").replace(asked, "<path>");
        for id in ids.into_iter().flat_map(Ids::all).filter(|id| id.len() > 2) {
            text = text.replace(id, "<id>");
        }
        text
    };
    // The page repeats the path, whose length differs.
    let differing = ["content-length", "date", "x-request-id"];
    let headers = page.headers.iter().filter(|(name, _)| !differing.contains(&name.as_str()));
    let headers = headers.map(|(name, value)| format!("{name}: {}", without_ids(value.to_str().unwrap())));
    (page.status, headers.collect(), without_ids(page.text()))
}

/// Where two texts begin to differ.
fn difference(left: &str, right: &str) -> String {
    let same = left.chars().zip(right.chars()).take_while(|(one, other)| one == other).count();
    let part = |text: &str| text.chars().skip(same.saturating_sub(40)).take(160).collect::<String>();
    if left == right { String::new() } else { format!("{:?} / {:?}", part(left), part(right)) }
}

/// Somebody who asks for things of others.
struct Asker<'a> {
    name: &'static str,
    developer: &'a Developer,
    token: String,
}

impl<'a> Asker<'a> {
    fn new(name: &'static str, developer: &'a Developer) -> Self {
        let form = developer.get("signature").form("post");
        let (_, token) = form.fields.into_iter().find(|(name, _)| name == "token").unwrap();
        Self { name, developer, token }
    }

    fn send(&self, path: &str, fields: Option<&Fields>) -> Page {
        let Some(fields) = fields else { return self.developer.browser.get(path) };
        let own = ("token".to_owned(), self.token.clone());
        let all: Vec<(&str, &str)> =
            [&own].into_iter().chain(fields).map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.developer.browser.post(path, &all)
    }
}

/// The matrix: who asks, for whose things, and which things nobody has.
struct Matrix<'a> {
    victim: &'a Team,
    nobody: Ids,
    /// A webhook of the team that asks.
    own_webhook: &'a str,
    pairs: usize,
    wrong: Vec<String>,
}

impl Matrix<'_> {
    /// Both answers are the same, and say that there is nothing.
    fn compare(
        &mut self,
        asker: &Asker<'_>,
        theirs: (&str, Option<&Fields>),
        nobodys: (&str, Option<&Fields>),
    ) {
        let (found, unknown) = (asker.send(theirs.0, theirs.1), asker.send(nobodys.0, nobodys.1));
        let ids = [&self.victim.ids, &self.nobody];
        let (answer, other) = (comparable(&found, theirs.0, ids), comparable(&unknown, nobodys.0, ids));
        // What only owners may do is refused to members whatever it is done to.
        let is_refused_to_members = asker.name.contains("member") && found.status == 403;
        let is_found = found.status != 404 && !is_refused_to_members;
        if answer != other || is_found || answer.2.contains("s3cret") {
            let place = format!("{}: {} {:?}", asker.name, theirs.0, theirs.1);
            let statuses = format!("{} / {}", found.status, unknown.status);
            self.wrong.push(format!("{place}: {statuses}: {}", difference(&answer.2, &other.2)));
        }
        self.pairs += 1;
    }

    /// Pages of the other team, and things of the other team below the own one.
    fn read(&mut self, asker: &Asker<'_>, route: &str, is_member_of_both: bool) {
        let (ids, nobody, own) = (self.victim.ids.clone(), self.nobody.clone(), &asker.developer.team);
        for format in ["", "?format=json", "?format=csv"] {
            let path = |ids: &Ids, team: &str| format!("{}{format}", ids.path(team, route));
            if !is_member_of_both {
                let (theirs, nobodys) = (path(&ids, &ids.team), path(&nobody, &nobody.team));
                self.compare(asker, (&theirs, None), (&nobodys, None));
            }
            if names_a_thing(route) {
                self.compare(asker, (&path(&ids, own), None), (&path(&nobody, own), None));
            }
            if route.contains("{webhook}") && route.contains("{sequence}") {
                let below_own = |ids: &Ids| Ids { webhook: self.own_webhook.to_owned(), ..ids.clone() };
                let (theirs, nobodys) = (path(&below_own(&ids), own), path(&below_own(&nobody), own));
                self.compare(asker, (&theirs, None), (&nobodys, None));
            }
        }
    }

    /// A form of the victim's pages, sent to the other team's page and to the own one.
    fn submit(&mut self, asker: &Asker<'_>, form: &Form, is_member_of_both: bool) {
        let (ids, nobody, own) = (self.victim.ids.clone(), self.nobody.clone(), &asker.developer.team);
        let replaced = |value: &str| {
            let mut pairs = ids.all().into_iter().zip(nobody.all()).take(NAMED_IDS);
            pairs.find(|(id, _)| *id == value).map_or(value, |(_, other)| other).to_owned()
        };
        let fields = form.fields.iter().map(|(name, value)| (name.clone(), replaced(value)));
        let unknown: Fields = fields.collect();
        let action = form.action.split('/').map(replaced).collect::<Vec<_>>().join("/");
        let path = |team: &str, action: &str| format!("/portal/teams/{team}/{action}");
        if !is_member_of_both {
            let (theirs, nobodys) = (path(&ids.team, &form.action), path(&nobody.team, &action));
            self.compare(asker, (&theirs, Some(&form.fields)), (&nobodys, Some(&unknown)));
        }
        if action != form.action || unknown != form.fields {
            let (theirs, nobodys) = (path(own, &form.action), path(own, &action));
            self.compare(asker, (&theirs, Some(&form.fields)), (&nobodys, Some(&unknown)));
        }
    }
}

/// Waits until the figures of what the victim did before stand: calls are counted seconds after they are made.
fn wait_for_figures(victim: &Team) {
    let read = |page: &str| victim.owner.get(&format!("{page}?format=json")).json();
    wait_for("the figures of the victim's call", || {
        let subscription = read(&format!("subscriptions/{}", victim.ids.subscription));
        let is_key_used = subscription["keys"].as_array()?.iter().any(|key| !key["lastUsed"].is_null());
        (subscription["callsToday"] == 1 && is_key_used).then_some(())
    });
    wait_for("the victim's events", || {
        let listed = read("webhooks");
        let mut webhooks = listed["webhooks"].as_array()?.iter();
        webhooks.all(|webhook| webhook["eventsBehind"] == 0).then_some(())
    });
}

/// The victim's things as the victim reads them.
fn snapshot(victim: &Team) -> Vec<Value> {
    let ids = &victim.ids;
    let pages = [
        format!("subscriptions/{}", ids.subscription),
        format!("applications/{}", ids.client),
        format!("webhooks/{}/deliveries", ids.webhook),
        "applications".to_owned(),
        "sandbox".to_owned(),
        "team".to_owned(),
        "webhooks".to_owned(),
    ];
    let read = |page: &String| victim.owner.get(&format!("{page}?format=json"));
    let found = pages.iter().map(|page| (page, read(page)));
    found
        .inspect(|(page, found)| assert_eq!(found.status, 200, "{page}: {found:?}"))
        .map(|(_, one)| one.json())
        .collect()
}

#[test]
fn pages_and_forms_answer_ids_of_other_teams_as_ids_of_nobody() {
    let server = TestServer::builder().set("gateway.rate_per_minute", "0").start();
    let tenant = server.add_tenant("Uno");
    server.apply_changes(&tenant, &json!([company("c")]));
    let victim = Team::new(&server, &tenant, "victims-team", 2);
    let other = Team::new(&server, &tenant, "strangers-team", 0);
    let member = add_member(&server, "strangers-team", "member-of-strangers");
    let both = add_member(&server, "victims-team", "member-of-both");
    let email = "member-of-both@developers.example";
    server.operator_post("teams/strangers-team/members", &json!({"developer": email, "role": "owner"}));
    let both = Developer { team: "strangers-team".to_owned(), ..both };
    let askers = [
        (Asker::new("another team's owner", &other.owner), false),
        (Asker::new("another team's member", &member), false),
        (Asker::new("an owner of the one and of the other", &both), true),
    ];
    wait_for_figures(&victim);
    let before = snapshot(&victim);
    let mut matrix = Matrix {
        nobody: victim.ids.of_nobody(),
        victim: &victim,
        own_webhook: &other.ids.webhook,
        pairs: 0,
        wrong: Vec::new(),
    };
    let mut sent = 0;
    for (route, takes_forms) in portal::team_routes() {
        let page = victim.owner.browser.get(&victim.ids.path(&victim.ids.team, route));
        assert_eq!(page.status, 200, "the victim's own {route}: {page:?}");
        let forms = forms(&page, &victim.ids.team);
        let own_path = victim.ids.path(&victim.ids.team, route);
        let is_own = |form: &Form| own_path.ends_with(&format!("/{}", form.action));
        assert!(takes_forms || !forms.iter().any(is_own), "{route} shows forms that it does not take");
        sent += forms.len();
        for (asker, is_member_of_both) in &askers {
            matrix.read(asker, route, *is_member_of_both);
            for form in &forms {
                matrix.submit(asker, form, *is_member_of_both);
            }
        }
    }
    assert!(matrix.wrong.is_empty(), "{}", matrix.wrong.join("\n"));
    assert!(sent > 30 && matrix.pairs > 300, "{sent} forms, {} pairs of requests", matrix.pairs);
    assert_eq!(snapshot(&victim), before, "an attempt changed something of the victim's");
}
