//! Rules of every page of a team: who may read it, and who may submit its forms.

use serde_json::{Value, json};
use testserver::{Request, TestServer};

use super::fixture::Developer;
use crate::harness::Browser;

/// The paths of all team pages, with an id in place of each parameter.
fn paths(id: &str) -> Vec<(String, bool)> {
    let fill = |path: &str| {
        let segments = path.split('/').map(|segment| if segment.starts_with('{') { id } else { segment });
        segments.collect::<Vec<_>>().join("/")
    };
    portal::team_routes().into_iter().map(|(path, has_form)| (fill(path), has_form)).collect()
}

/// The token that protects the forms of the developer's session.
fn form_token(developer: &Developer) -> String {
    let page = developer.get("team");
    let (_, rest) = page.text().split_once("name=\"token\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn pages_and_actions_of_another_team_are_not_found() {
    let server = TestServer::start();
    let diego = Developer::sign_in(&server, "diego");
    let ana = Developer::sign_in(&server, "ana");
    let token = form_token(&diego);
    let foreign = server.operator_post(
        "subscriptions",
        &json!({"name": "Ana", "products": ["accounting"], "team": ana.team}),
    );
    let foreign = foreign["subscription"]["id"].as_str().unwrap().to_owned();
    for id in [foreign.as_str(), "7d0f3d2e-6f0b-4a39-8a55-0c8f6b1f8a52", "x"] {
        for (path, has_form) in paths(id) {
            let page = diego.browser.get(&ana.path(&path));
            assert_eq!(page.status, 404, "{path}: {page:?}");
            assert!(!page.text().contains("ana@developers.example"), "{path}");
            if has_form {
                let answer = diego.browser.post(&ana.path(&path), &[("token", &token), ("do", "rename")]);
                assert_eq!(answer.status, 404, "{path}: {answer:?}");
            }
            // Under the own team's path another team's things do not exist either.
            if path.split('/').any(|segment| segment == id) {
                let page = diego.get(&path);
                assert_eq!(page.status, 404, "{path}: {page:?}");
            }
        }
    }
}

#[test]
fn who_is_not_signed_in_is_led_to_the_sign_in_page_and_back() {
    let server = TestServer::start();
    let developer = Developer::sign_in(&server, "diego");
    let stranger = Browser::new(server.base_url());
    for (path, _) in paths("x") {
        let page = stranger.get(&developer.path(&path));
        assert_eq!(page.status, 302, "{path}: {page:?}");
        assert!(page.location().contains("/portal/login?ticket="), "{path}: {}", page.location());
        let url = format!("{}{}", server.base_url(), developer.path(&path));
        let answer = Request::get(&url).header("accept", "application/json").send();
        assert_eq!(answer.status, 401, "{path}");
    }
    let login = stranger.follow_redirects(stranger.get(&developer.path("calls?result=4xx")));
    let form = login.form("post");
    let fields = [("username", "diego@developers.example"), ("password", "cuatro palabras sin sentido")];
    let back = stranger.submit(&form, &fields);
    assert_eq!(back.location(), developer.path("calls?result=4xx"));
}

#[test]
fn form_of_another_session_is_refused() {
    let server = TestServer::start();
    let diego = Developer::sign_in(&server, "diego");
    let ana = Developer::sign_in(&server, "ana");
    for token in ["", "x", form_token(&ana).as_str()] {
        for (path, _) in paths("x").into_iter().filter(|(_, has_form)| *has_form) {
            let answer = diego
                .browser
                .post(&diego.path(&path), &[("token", token), ("do", "rename"), ("name", "Mine")]);
            assert_eq!(answer.status, 400, "{path}: {answer:?}");
        }
    }
    assert!(!diego.get("team").text().contains("Mine"));
}

#[test]
fn keys_are_revealed_and_replaced_with_an_overlap() {
    let server = TestServer::start();
    let diego = Developer::sign_in(&server, "diego");
    let made = server.operator_post(
        "subscriptions",
        &json!({"name": "Contabilidad", "products": ["accounting"], "team": diego.team}),
    );
    let page = format!("subscriptions/{}", made["subscription"]["id"].as_str().unwrap());
    let key = made["primaryKey"].as_str().unwrap();
    assert!(diego.get("subscriptions").text().contains("Contabilidad"));
    assert!(!diego.get(&page).text().contains(key));
    let token = form_token(&diego);
    let act = |what| {
        let fields = [("token", token.as_str()), ("do", what), ("slot", "primary"), ("overlap", "hour")];
        diego.browser.post(&diego.path(&page), &fields)
    };
    assert!(act("reveal").text().contains(key));
    let replaced = act("regenerate");
    assert_eq!(replaced.status, 200, "{replaced:?}");
    assert!(!replaced.text().contains(key), "a new key is shown");
    let json = diego.get(&format!("{page}?format=json")).json();
    let primary = json["keys"].as_array().unwrap().iter().filter(|key| key["slot"] == "primary");
    assert_eq!(primary.count(), 2, "{json}");
    let csv = diego.get("subscriptions?format=csv");
    assert_eq!(csv.text().lines().count(), 2);
}

#[test]
fn address_for_logouts_is_set_and_removed() {
    let server = TestServer::start();
    let diego = Developer::sign_in(&server, "diego");
    let page = format!("applications/{}", super::sandbox::add_client(&server, &diego.team));
    let token = form_token(&diego);
    let set = |uri| {
        let fields =
            [("token", token.as_str()), ("do", "set_logout_address"), ("backchannel_logout_uri", uri)];
        diego.browser.post(&diego.path(&page), &fields)
    };
    let address = || diego.get(&format!("{page}?format=json")).json()["backchannelLogoutUri"].clone();
    assert_eq!(set("https://app.example/logout").status, 303);
    assert_eq!(address(), "https://app.example/logout");
    let refused = set("ftp://app.example/");
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.text().contains("value=\"ftp://app.example/\""), "what was typed stays: {refused:?}");
    assert_eq!(address(), "https://app.example/logout");
    assert_eq!(set(" ").status, 303);
    assert_eq!(address(), Value::Null);
}

#[test]
fn refused_call_is_listed_with_its_reason() {
    let server = TestServer::start();
    let diego = Developer::sign_in(&server, "diego");
    let made = server.operator_post(
        "subscriptions",
        &json!({"name": "Contabilidad", "products": ["accounting"], "team": diego.team}),
    );
    let url = format!("{}/accounting/api/companies", server.base_url());
    let key = made["primaryKey"].as_str().unwrap();
    let answer = Request::get(&url).header("ocp-apim-subscription-key", key).send();
    assert_eq!(answer.status, 401);
    let id = answer.headers["x-request-id"].to_str().unwrap().to_owned();
    let is_listed = || diego.get(&format!("calls?request_id={id}&format=json")).json()["calls"] != json!([]);
    crate::harness::wait_for("the call in the list", || is_listed().then_some(()));
    let page = diego.get(&format!("calls?request_id={id}&lang=en"));
    assert!(page.text().contains("The token is missing"), "{page:?}");
    assert!(diego.get("calls?result=2xx&lang=en").text().contains("No call matches the filter"));
}

#[test]
fn front_page_is_open_in_both_languages() {
    let server = TestServer::start();
    let stranger = Browser::new(server.base_url());
    for (lang, words) in [("es", "Empieza en tres pasos"), ("en", "Begin in three steps")] {
        let page = stranger.get(&format!("/?lang={lang}"));
        assert_eq!(page.status, 200);
        assert!(page.text().contains(words), "{page:?}");
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    }
}

#[test]
fn front_page_leads_to_the_reference_where_there_is_one() {
    let links = |server: &TestServer| {
        let page = Browser::new(server.base_url()).get("/?lang=en").text().to_owned();
        (page.matches("/docs/\"").count(), page.contains("https://api.example.com/docs/"))
    };
    assert_eq!(links(&TestServer::start()), (2, false));
    assert_eq!(links(&TestServer::builder().set("server.docs", "false").start()), (0, false));
    let two_hosts = TestServer::builder()
        .set("server.base_url", "https://api.example.com")
        .set("server.auth_url", "https://id.example.com");
    assert_eq!(links(&two_hosts.start()), (2, true));
}

#[test]
fn colour_of_the_operator_is_below_the_portal() {
    let server = TestServer::builder().set("portal.color", "#aa3311").start();
    let browser = Browser::new(server.base_url());
    let page = browser.get("/");
    assert!(page.text().contains("href=\"/portal/brand/colour.css\""), "{page:?}");
    assert!(browser.get("/portal/brand/colour.css").text().contains("#aa3311"));
    assert_eq!(browser.get("/portal/brand/logo").status, 404);
}

/// What an action has done is said on the page that follows it, and nowhere else.
#[test]
fn done_is_said_once() {
    let server = TestServer::start();
    let diego = Developer::sign_in(&server, "diego");
    for page in ["team", "applications", "subscriptions", "signature", "notices"] {
        let shown = diego.get(&format!("{page}?done=saved"));
        assert!(shown.text().contains("notice success"), "{page}");
        let forms = shown.text().matches("method=\"post\"").count();
        let own = format!("action=\"{}\"", diego.path(page));
        assert_eq!(shown.text().matches(&own).count(), forms, "{page}: {shown:?}");
    }
    let token = form_token(&diego);
    let fields = [("token", token.as_str()), ("body", "{}"), ("secret", "s"), ("signature", "sha256=00")];
    let answer = diego.browser.post(&diego.path("signature?done=saved"), &fields);
    assert!(answer.status == 200 && !answer.text().contains("notice success"), "{answer:?}");
}

#[test]
fn selected_language_is_kept_until_another_one_is_selected() {
    let server = TestServer::start();
    let developer = Developer::sign_in(&server, "diego");
    let heading = |text: &str| if text.contains("<h1>Team</h1>") { "en" } else { "es" };
    assert_eq!(heading(developer.get("team").text()), "es", "the account's language");
    for lang in ["en", "es", "en"] {
        developer.get_in(lang, "");
        assert_eq!(heading(developer.get("team").text()), lang);
    }
    // Something that is no language changes nothing.
    developer.get_in("fr", "");
    assert_eq!(heading(developer.get("team").text()), "en");
}

/// A form that is refused comes back with the reason in the language of the page and with what was typed.
#[test]
fn refused_form_is_shown_again_with_its_reason() {
    let server = TestServer::start();
    let diego = Developer::sign_in(&server, "diego");
    let token = form_token(&diego);
    let fields = [
        ("token", token.as_str()),
        ("do", "ask"),
        ("name", "Panel de ventas"),
        ("redirect_uri", "ftp://panel.example/"),
        ("product", "accounting"),
    ];
    for (lang, why) in [
        ("es", "La dirección de retorno ftp://panel.example/ tiene que ser https."),
        ("en", "The redirect address ftp://panel.example/ must be an https address."),
    ] {
        let page = diego.browser.post(&diego.path(&format!("applications?lang={lang}")), &fields);
        assert_eq!(page.status, 400, "{page:?}");
        assert!(page.text().contains("class=\"notice error\"") && page.text().contains(why), "{page:?}");
        assert!(page.text().contains("value=\"Panel de ventas\""), "{page:?}");
        assert!(page.text().contains("value=\"ftp://panel.example/\""), "{page:?}");
    }
    let json = diego.browser.post(&diego.path("applications?format=json"), &fields);
    assert_eq!((json.status, &json.json()["error"]), (400, &json!("refused")));
}

#[test]
fn team_asks_for_applications_of_every_kind() {
    let server = TestServer::builder().set("portal.approval.accounting", "automatic").start();
    let diego = Developer::sign_in(&server, "diego");
    let token = form_token(&diego);
    for (kind, uri, word) in [
        ("web", "https://app.example/cb", "Web application"),
        ("browser", "https://app.example/cb", "Browser application"),
        ("native", "com.example.app:/cb", "Native application"),
        ("resource_server", "", "Resource server"),
    ] {
        let fields = [
            ("token", token.as_str()),
            ("do", "ask"),
            ("name", kind),
            ("kind", kind),
            ("redirect_uri", uri),
            ("product", "accounting"),
            ("sandbox", "true"),
        ];
        let asked = diego.browser.post(&diego.path("applications?format=json"), &fields).json();
        assert_eq!((&asked["clientKind"], &asked["state"]), (&json!(kind), &json!("approved")), "{asked}");
        let page = format!("applications/{}", asked["result"].as_str().unwrap());
        let shown = diego.get_in("en", &page);
        assert!(shown.contains(word), "{shown}");
        let is_public = ["browser", "native"].contains(&kind);
        assert_eq!(shown.contains("value=\"rotate\""), !is_public, "{shown}");
        assert_eq!(shown.contains("/connect/introspect"), kind == "resource_server", "{shown}");
        let rotated = diego.browser.post(&diego.path(&page), &[("token", token.as_str()), ("do", "rotate")]);
        assert_eq!(rotated.status, if is_public { 400 } else { 200 }, "{rotated:?}");
    }
    let wrong = [
        ("token", token.as_str()),
        ("do", "ask"),
        ("name", "x"),
        ("redirect_uri", "com.example.app:/cb"),
        ("product", "accounting"),
    ];
    assert_eq!(diego.browser.post(&diego.path("applications"), &wrong).status, 400, "only for native ones");
}

#[test]
fn link_that_leads_nowhere_gets_a_page() {
    let server = TestServer::start();
    let stranger = Browser::new(server.base_url());
    for path in ["/portal/nothing", "/portal/teams/x/y/z/nothing"] {
        let page = stranger.get(&format!("{path}?lang=en"));
        assert_eq!(page.status, 404, "{path}");
        assert!(
            page.text().contains("This page does not exist") && page.text().contains("/portal/\""),
            "{page:?}"
        );
        let url = format!("{}{path}", server.base_url());
        let json = Request::get(&url).header("accept", "application/json").send();
        assert_eq!((json.status, &json.json()["error"]), (404, &json!("not_found")), "{path}");
    }
}

#[test]
fn page_of_calls_says_that_the_log_is_switched_off() {
    for (call_log, is_shown) in [("false", true), ("true", false)] {
        let server = TestServer::builder().set("gateway.call_log", call_log).start();
        let developer = Developer::sign_in(&server, "diego");
        for (lang, words) in
            [("es", "registro de llamadas está desactivado"), ("en", "log of calls is switched off")]
        {
            assert_eq!(developer.get_in(lang, "calls").contains(words), is_shown, "{lang}, {call_log}");
        }
    }
}
