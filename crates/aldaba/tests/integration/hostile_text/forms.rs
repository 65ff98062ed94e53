//! Every form of the portal and of the console, as their pages show it, with hostile text in each of its fields.

use domain::OperatorRole;
use serde_json::json;
use testserver::TestServer;

use super::{SCRIPT, assert_harmless};
use crate::harness::{Browser, Page, Submission, company};
use crate::integration::console::fixture::Operator;
use crate::integration::portal::foreign_ids::Team;

/// The texts that every field of every form gets; of the others, each form gets every one in one of its fields.
const IN_EVERY_FIELD: [&str; 4] = [
    "\0",
    "'; DROP TABLE tenants; --",
    "\"><script>alert(1)</script>",
    "a\r\nx-injected: 1\r\n\r\n<script>alert(1)</script>",
];

/// Buttons after which less can be tried: their forms are last.
const FINAL: [&str; 17] = [
    "cancel", "close", "delete", "disable", "end", "erase", "leave", "pause", "refuse", "remove", "replace",
    "reset", "revoke", "rotate", "suspend", "withdraw", "approve",
];

/// A form and the page that shows it.
struct FormOf {
    page: String,
    form: Submission,
}

impl FormOf {
    fn all(page: &Page, path: &str) -> Vec<Self> {
        let own = |form: &Submission| !form.action.contains("/logout") && !form.action.contains("/login");
        let of = |form: Submission| {
            let action = if form.action.is_empty() { path.to_owned() } else { form.action };
            let fields = form.fields.into_iter().map(|(name, value)| {
                let value = if value.is_empty() { plausible(&name).to_owned() } else { value };
                (name, value)
            });
            Self { page: path.to_owned(), form: Submission { action, fields: fields.collect() } }
        };
        page.submissions().into_iter().filter(own).map(of).collect()
    }

    fn is_final(&self) -> bool {
        let last = self.form.fields.last().map(|(_, value)| value.as_str()).unwrap_or_default();
        FINAL.iter().any(|word| last.contains(word))
    }

    /// The places of the fields that get text: all but the session's token, without which a form is read no further.
    fn places(&self) -> Vec<usize> {
        let fields = self.form.fields.iter().enumerate();
        fields.filter(|(_, (name, _))| name != "token").map(|(place, _)| place).collect()
    }

    /// Submits the form with the text in one field, and reads the page that shows what came of it.
    fn submit(&self, browser: &Browser, place: usize, text: &str) {
        let fields = self.form.fields.iter().enumerate();
        let fields: Vec<(&str, &str)> = fields
            .map(|(number, (name, value))| {
                (name.as_str(), if number == place { text } else { value.as_str() })
            })
            .collect();
        let action = &self.form.action;
        let what = || format!("{action} with {text:?} in {:?} of {:?}", fields[place].0, self.form.fields);
        let answer = browser.post(action, &fields);
        assert_harmless(&answer, &what());
        if !text.contains(SCRIPT) {
            return;
        }
        assert_harmless(&browser.get(&self.page), &format!("{} after {}", self.page, what()));
        if answer.location().starts_with('/') {
            let next = browser.get(answer.location());
            assert_harmless(&next, &format!("{} after {}", answer.location(), what()));
        }
    }
}

/// What an empty field gets, so that the form is refused for nothing but the hostile text, where it is refused.
fn plausible(field: &str) -> &'static str {
    match field {
        field if field.contains("email") => "somebody@example.com",
        field if field.contains("uri") || field.contains("url") => "https://app.example/back",
        "from" | "since" => "2026-01-01T00:00:00Z",
        "name" | "given_name" | "reason" => "Prueba",
        "data" | "body" => "{}",
        _ => "",
    }
}

/// Submits every form; returns how many requests that took.
fn submit_all(browser: &Browser, mut forms: Vec<FormOf>, texts: &[String]) -> usize {
    forms.sort_by_key(FormOf::is_final);
    let mut count = 0;
    for form in &forms {
        let places = form.places();
        for (number, text) in texts.iter().enumerate() {
            let in_every_field = IN_EVERY_FIELD.contains(&text.as_str());
            let chosen = places.iter().enumerate();
            let chosen = chosen.filter(|(at, _)| in_every_field || *at == number % places.len());
            for (_, place) in chosen {
                form.submit(browser, *place, text);
                count += 1;
            }
        }
    }
    count
}

/// The forms of the portal's pages, on a team that has one thing of every kind.
fn check_portal(team: &Team, texts: &[String]) {
    let mut forms = Vec::new();
    for (route, takes_forms) in portal::team_routes() {
        let path = team.ids.path(&team.ids.team, route);
        let page = team.owner.browser.get(&path);
        assert_eq!(page.status, 200, "{path}: {page:?}");
        if takes_forms {
            forms.extend(FormOf::all(&page, &path));
        }
    }
    assert!(forms.len() > 25, "{} forms of the portal", forms.len());
    let (form_count, count) = (forms.len(), submit_all(&team.owner.browser, forms, texts));
    let after = team.owner.browser.get(&team.ids.path(&team.ids.team, "team"));
    assert_eq!(after.status, 200, "the session did not last: {after:?}");
    assert!(count > form_count * texts.len() / 2, "{count} requests with {form_count} forms");
}

/// The forms of the console's pages, about the same things.
fn check_console(server: &TestServer, tenant: &str, user: &str, team: &Team, texts: &[String]) {
    let operator = Operator::sign_in(server, OperatorRole::Admin);
    let other = Operator::sign_in(server, OperatorRole::Viewer);
    let fill = |part: &str| match part {
        "{tenant}" => tenant.to_owned(),
        "{user}" => user.to_owned(),
        "{developer}" | "{team}" | "{record}" => team.ids.team.clone(),
        "{operator}" => other.id.clone(),
        "{client}" => team.ids.client.clone(),
        "{subscription}" => team.ids.subscription.clone(),
        "{request}" => team.ids.request.clone(),
        "{webhook}" => team.ids.webhook.clone(),
        "{sequence}" => team.ids.sequence.clone(),
        "{area}" => "accounting".to_owned(),
        "{resource}" => "customers".to_owned(),
        part if part.starts_with('{') => panic!("{part} is new: say what stands for it"),
        part => part.to_owned(),
    };
    let (mut forms, mut without) = (Vec::new(), Vec::new());
    for (route, _) in console::console_routes().into_iter().filter(|(_, takes_forms)| *takes_forms) {
        let filled = route.split('/').map(fill).collect::<Vec<_>>().join("/");
        let query = match route {
            "webhooks/bulk" => format!("?tenant={tenant}"),
            route if route.contains("{record}") => "?company=c".to_owned(),
            _ => String::new(),
        };
        let path = format!("/console/{filled}{query}");
        let page = operator.browser.get(&path);
        assert!(page.status < 500, "{path}: {page:?}");
        let of_page = FormOf::all(&page, &path);
        if of_page.is_empty() {
            without.push(format!("{} {path}", page.status));
        }
        forms.extend(of_page);
    }
    // No backup directory is set.
    assert!(without.len() <= 2, "pages that show no form: {without:?}");
    assert!(forms.len() > 35, "{} forms of the console", forms.len());
    let (form_count, count) = (forms.len(), submit_all(&operator.browser, forms, texts));
    let after = operator.get("tenants");
    assert_eq!(after.status, 200, "the session did not last: {after:?}");
    assert!(count > form_count * texts.len() / 2, "{count} requests with {form_count} forms");
}

pub(super) fn check(server: &TestServer, texts: &[String]) {
    let tenant = server.add_tenant("Uno");
    server.apply_changes(&tenant, &json!([company("c")]));
    let team = Team::new(server, &tenant, "hostile-team", 1);
    let user = server.add_user(&[&tenant]);
    check_portal(&team, texts);
    check_console(server, &tenant.id, &user.id, &team, texts);
}
