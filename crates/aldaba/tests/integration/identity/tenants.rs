//! Tenant selection: a user with several tenants always chooses explicitly.

use serde_json::json;

use crate::harness::{
    Browser, OperatorApi, PASSWORD, Page, SignInFixture, Tokens, claims, new_user, shared_fixture,
    shared_server,
};

fn tenant_of(fixture: &SignInFixture<'_>, page: &Page) -> String {
    let tokens = Tokens::from_response(&fixture.exchange(&page.params()["code"]));
    claims(tokens.access())["svc.es.clientid"].as_str().unwrap().to_owned()
}

/// The tenants whose radio button is checked.
fn checked(page: &Page) -> Vec<String> {
    let fields = page.form("post").fields;
    fields.into_iter().filter(|(name, _)| name == "tenant").map(|(_, value)| value).collect()
}

/// A fixture whose user has tenants with these names, in order.
fn with_names(names: &[&str]) -> SignInFixture<'static> {
    let mut fixture = SignInFixture::new();
    let first = fixture.tenants.remove(0);
    for (number, name) in names.iter().enumerate() {
        let id = format!("{first}-{number}");
        fixture.command(&["tenant", "add", name, "--id", &id, "--short-code", &format!("{}", 4100 + number)]);
        fixture.tenants.push(id);
    }
    fixture.email =
        new_user(shared_server(), &fixture.tenants.iter().map(String::as_str).collect::<Vec<_>>());
    fixture
}

#[test]
fn user_with_one_tenant_is_not_asked() {
    let fixture = shared_fixture();
    let browser = fixture.browser();
    let page =
        fixture.submit_credentials(&browser, &browser.start_authorization(&fixture.authorization_request()));
    assert_eq!(tenant_of(fixture, &page), fixture.tenants[0]);
}

#[test]
fn user_with_several_tenants_is_asked_each_time() {
    let fixture = SignInFixture::with_tenants(3);
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    let mut offered = page.choices("tenant");
    offered.sort_unstable();
    let mut expected = fixture.tenants.clone();
    expected.sort_unstable();
    assert_eq!((offered, checked(&page)), (expected, vec![]), "no tenant is preselected");
    let chosen = [("tenant", fixture.tenants[2].as_str())];
    assert_eq!(tenant_of(&fixture, &browser.submit(&page.form("post"), &chosen)), fixture.tenants[2]);
    let again = browser.start_authorization(&fixture.authorization_request());
    assert!(again.has_field("tenant"), "{again:?}");
    assert_eq!(checked(&again), [fixture.tenants[2].as_str()], "the last used tenant is preselected");
}

#[test]
fn prompt_none_cannot_choose_a_tenant() {
    let fixture = SignInFixture::with_tenants(2);
    let browser = fixture.signed_in_browser();
    let silent = fixture.authorization_request().with("prompt", "none");
    assert_eq!(browser.get(&silent.path()).params()["error"], "interaction_required");
    let named = silent.with("acr_values", &format!("tenant:{}", fixture.tenants[1]));
    let page = browser.get(&named.path());
    assert_eq!(page.params()["error"], "interaction_required", "a tenant hint chooses nothing");
    let chosen =
        fixture.authorize_for_tenant(&browser, &fixture.authorization_request(), &fixture.tenants[1]);
    assert_eq!(tenant_of(&fixture, &chosen), fixture.tenants[1]);
    let renewed = browser.get(&named.path());
    assert_eq!(tenant_of(&fixture, &renewed), fixture.tenants[1], "an earlier choice is reused");
}

#[test]
fn client_can_preselect_a_tenant() {
    let fixture = SignInFixture::with_tenants(3);
    let browser = fixture.signed_in_browser();
    let named =
        |value: &str| browser.start_authorization(&fixture.authorization_request().with("acr_values", value));
    let (last_used, preselected) = (&fixture.tenants[0], &fixture.tenants[1]);
    assert_eq!(checked(&named(&format!("tenant:{preselected}"))), [preselected.as_str()]);
    assert_eq!(checked(&named(&format!("urn:mace:silver tenant:{preselected}"))), [preselected.as_str()]);
    for nothing in ["tenant:nobody's", "tenant:", "urn:mace:silver", preselected] {
        assert_eq!(checked(&named(nothing)), [last_used.as_str()], "{nothing}");
    }
    let page = named(&format!("tenant:{preselected}"));
    let page = browser.submit(&page.form("post"), &[("tenant", &fixture.tenants[2])]);
    assert_eq!(tenant_of(&fixture, &page), fixture.tenants[2], "the user decides");
}

#[test]
fn last_used_tenant_is_first() {
    let fixture = SignInFixture::with_tenants(4);
    let browser = fixture.browser();
    for tenant in [2, 0, 3] {
        fixture.authorize_for_tenant(&browser, &fixture.authorization_request(), &fixture.tenants[tenant]);
    }
    let page = browser.start_authorization(&fixture.authorization_request());
    let expected = [3, 0, 2, 1].map(|number: usize| fixture.tenants[number].clone());
    assert_eq!(page.choices("tenant"), expected);
    assert_eq!(page.text().matches("class=\"badge\"").count(), 1, "only the last used tenant is marked");
    assert_eq!(checked(&page), [fixture.tenants[3].as_str()]);
    let named = fixture.authorization_request().with("acr_values", &format!("tenant:{}", fixture.tenants[1]));
    assert_eq!(
        checked(&browser.start_authorization(&named)),
        [fixture.tenants[1].as_str()],
        "the client's wish wins"
    );
}

fn search(browser: &Browser, page: &Page, words: &str) -> Page {
    browser.submit(&page.form("get"), &[("q", words)])
}

#[test]
fn tenant_search_ignores_accents_and_case() {
    let names = [
        "Gestoría Ibáñez",
        "Asesoría Núñez & Peña",
        "Bodegas Güell",
        "Talleres Çelik",
        "Panadería",
        "Óptica Sol",
        "Àrea Límit",
        "Farmacia",
        "Ferretería",
    ];
    let fixture = with_names(&names);
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    assert_eq!(page.choices("tenant").len(), 9);
    for (words, expected) in [
        ("ibanez", vec![0]),
        ("IBÁÑEZ", vec![0]),
        ("nunez pena", vec![1]),
        ("pena nunez", vec![1]),
        ("guell", vec![2]),
        ("celik", vec![3]),
        ("optica", vec![5]),
        ("area limit", vec![6]),
        ("4107", vec![7]),
        ("ria", vec![0, 1, 4, 8]),
        ("nobody", vec![]),
    ] {
        let mut found = search(&browser, &page, words).choices("tenant");
        found.sort_unstable();
        let expected: Vec<String> =
            expected.iter().map(|&number: &usize| fixture.tenants[number].clone()).collect();
        assert_eq!(found, expected, "{words}");
    }
    let found = search(&browser, &page, "guell");
    let page = browser.submit(&found.form("post"), &[("decision", "allow")]);
    assert_eq!(tenant_of(&fixture, &page), fixture.tenants[2], "the only match is preselected");
}

#[test]
fn few_tenants_are_shown_without_a_search() {
    let fixture = SignInFixture::with_tenants(2);
    let page = fixture.tenant_page(&fixture.browser(), &fixture.authorization_request());
    assert!(!page.has_field("q"));
}

#[test]
fn search_finds_one_of_three_hundred_tenants() {
    let fixture = SignInFixture::new();
    let ids: Vec<String> = (0..300).map(|number| format!("{}-{number:03}", fixture.tenants[0])).collect();
    for id in &ids {
        let name = format!("Asesoría {}", &id[id.len() - 3..]);
        OperatorApi(fixture.server).create("/tenants", &json!({ "name": name, "id": id }));
    }
    let email = format!("{}@example.com", fixture.tenants[0]);
    let tenants = ids.iter().flat_map(|id| ["--tenant", id]);
    let add = ["user", "add", &email, "--given-name", "Lucía"].into_iter().chain(tenants);
    let program = fixture.server.installation.program(&add.collect::<Vec<_>>());
    program.input(format!("{PASSWORD}\n")).run().code(0);
    let fixture = SignInFixture { email, ..fixture };
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    let shown_count = page.choices("tenant").len();
    assert!((50..=300).contains(&shown_count), "{shown_count}");
    assert!(page.text().contains("300"), "the page says how many tenants there are");
    assert!(page.body.len() < 512 * 1024, "{}", page.body.len());
    let found = search(&browser, &page, "asesoria 299");
    assert_eq!(found.choices("tenant"), [ids[299].as_str()], "also a tenant that was not on the page");
    let page = browser.submit(&page.form("post"), &[("tenant", &ids[298])]);
    assert_eq!(tenant_of(&fixture, &page), ids[298]);
}

#[test]
fn tenant_of_another_user_cannot_be_chosen() {
    let fixture = SignInFixture::with_tenants(2);
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    for (filled, reason) in [
        (vec![("tenant", shared_fixture().tenants[0].as_str())], "somebody else's"),
        (vec![("tenant", "nobody's")], "nobody's"),
        (vec![], "nothing"),
        (vec![("tenant", "")], "empty"),
    ] {
        let answer = browser.submit(&page.form("post"), &filled);
        assert_eq!(
            (answer.status, answer.location(), answer.has_field("tenant")),
            (400, "", true),
            "{reason}"
        );
    }
    let chosen = [("tenant", fixture.tenants[0].as_str())];
    assert_eq!(tenant_of(&fixture, &browser.submit(&page.form("post"), &chosen)), fixture.tenants[0]);
}

#[test]
fn user_without_a_tenant_is_refused() {
    let fixture = SignInFixture { email: new_user(shared_server(), &[]), ..SignInFixture::new() };
    let browser = fixture.browser();
    let page =
        fixture.submit_credentials(&browser, &browser.start_authorization(&fixture.authorization_request()));
    assert_eq!(page.params()["error"], "access_denied");
    let silent = browser.get(&fixture.authorization_request().with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "access_denied");
}
