//! The way back to the application: its parameters, the form, and the code that a person carries over.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::harness::{
    Ask, CALLBACK, ISSUER, Keyring, Office, Page, Tokens, at_lobby, half_hash, lobby, members, new_app,
    shared,
};

const OUT_OF_BAND: &str = "urn:ietf:wg:oauth:2.0:oob";

fn names(page: &Page) -> Vec<String> {
    page.params().into_keys().collect()
}

/// States that somebody might send.
fn states() -> Vec<String> {
    let mut states: Vec<String> = [
        "0d9d1d4e-5a0d-4b43-9a8a-3f1c3c1b1a11",
        "ñandú 東京 🚪",
        "100% + 5% & more = less",
        "%41%2B%26+a%20b",
        " leading and trailing ",
        "a=b&c=d#e?f",
        "\"<script>'\\",
        "eyJhIjoiYiJ9.e30=",
        "line\r\nbreak\ttab",
    ]
    .map(str::to_owned)
    .to_vec();
    states.push("x".repeat(4096));
    states.push("é".repeat(2048));
    states
}

#[test]
fn state_comes_back_byte_for_byte() {
    for state in states() {
        let ask = lobby().ask().with("state", &state);
        assert_eq!(at_lobby().get(&ask.path()).params()["state"], state);
        let wrong = ask.with("response_type", "token");
        assert_eq!(at_lobby().get(&wrong.path()).params()["state"], state, "with an error, too");
    }
}

#[test]
fn state_survives_the_sign_in() {
    let office = lobby();
    let state = states().concat();
    let state = &state[..state.floor_char_boundary(4096)];
    let page = office.arrive(&office.browser(), &office.ask().with("state", state));
    assert_eq!(page.params()["state"], state);
}

#[test]
fn a_state_that_is_too_long_is_refused() {
    let ask = lobby().ask().with("state", &"x".repeat(4097));
    let page = at_lobby().get(&ask.path());
    assert_eq!((page.params()["error"].as_str(), page.params().get("state")), ("invalid_request", None));
}

#[test]
fn state_and_nonce_may_be_missing() {
    let page = at_lobby().get(&lobby().ask().without("state").without("nonce").path());
    assert_eq!(names(&page), ["code", "iss"]);
    assert_eq!(lobby().exchange(&page.params()["code"]).status, 200);
}

#[test]
fn the_id_token_comes_with_openid_and_a_nonce() {
    let ask = lobby().ask();
    let without_openid = ask.clone().with("scope", "SVC.ES.Webhooks");
    assert_eq!(names(&at_lobby().get(&without_openid.path())), ["code", "iss", "state"]);
    assert_eq!(names(&at_lobby().get(&ask.clone().without("nonce").path())), ["code", "iss", "state"]);
    assert_eq!(names(&at_lobby().get(&ask.path())), ["code", "id_token", "iss", "state"]);
}

#[test]
fn a_strict_client_gets_no_id_token_in_the_callback() {
    let office = lobby().with_app(new_app(shared(), &["--no-callback-id-token"]));
    let page = at_lobby().get(&office.ask().path());
    assert_eq!(names(&page), ["code", "iss", "state"]);
    assert_eq!(Tokens::of(&office.exchange(&page.params()["code"])).0["token_type"], "Bearer");
    office.command(&["client", "set", &office.app.id, "--callback-id-token", "true"]);
    assert!(at_lobby().get(&office.ask().path()).params().contains_key("id_token"));
}

#[test]
fn the_callbacks_id_token_has_no_personal_data_and_lives_five_minutes() {
    let office = lobby();
    let params = at_lobby().get(&office.ask().with("scope", "openid profile email IDInfo").path()).params();
    let claims = Keyring::of(office.serve).verified(&params["id_token"]);
    assert_eq!(members(&claims), ["amr", "aud", "auth_time", "c_hash", "exp", "iat", "iss", "nonce", "sub"]);
    assert_eq!((&claims["iss"], &claims["aud"]), (&ISSUER.into(), &office.app.id.as_str().into()));
    assert_eq!(claims["nonce"], "n-0S6_WzA2Mj");
    assert_eq!(claims["c_hash"], half_hash(&params["code"]));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 300);
    let refused = office.userinfo(&params["id_token"]);
    assert_eq!(refused.status, 401, "it is no access token");
}

#[test]
fn an_address_with_a_query_keeps_it() {
    let uri = "https://app.example/cb?tenant=7&x=%20";
    let office = lobby().with_app(new_app(shared(), &["--redirect-uri", uri]));
    let page = at_lobby().get(&office.ask().with("redirect_uri", uri).path());
    assert!(page.location().starts_with(&format!("{uri}&code=")), "{page:?}");
    let code = &page.params()["code"];
    assert_eq!(office.exchange_with(code, &[("redirect_uri", uri)]).status, 200);
}

#[test]
fn a_form_brings_the_answer_where_that_is_asked() {
    let ask = lobby().ask().with("response_mode", "form_post").with("state", "ñ & \"x\" <b>");
    let page = at_lobby().get(&ask.path());
    assert_eq!((page.status, page.location()), (200, ""));
    let form = page.form("post");
    assert_eq!(form.action, CALLBACK);
    let field = |name: &str| &form.fields.iter().find(|(known, _)| known == name).unwrap().1;
    assert_eq!((field("state").as_str(), field("iss").as_str()), ("ñ & \"x\" <b>", ISSUER));
    assert_eq!(form.fields.len(), 4);
    assert_eq!(lobby().exchange(field("code")).status, 200);
    policy_lets_the_script_run(&page);
}

/// The one script of the page is the one whose hash the policy names.
#[track_caller]
fn policy_lets_the_script_run(page: &Page) {
    let script = page.text().split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    let hash = STANDARD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, script.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'sha256-{hash}'; \
         form-action http://localhost:8765; base-uri 'none'; frame-ancestors 'none'"
    );
    assert_eq!(page.header("content-security-policy"), policy);
    assert_eq!(page.text().matches("<script").count(), 1);
}

#[test]
fn errors_go_into_the_form_too() {
    let ask = lobby().ask().with("response_mode", "form_post").with("response_type", "token");
    let page = at_lobby().get(&ask.path());
    let fields = page.form("post").fields;
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["error", "error_description", "state", "iss"]);
    assert_eq!((page.status, fields[0].1.as_str()), (200, "unsupported_response_type"));
    policy_lets_the_script_run(&page);
}

#[test]
fn query_may_be_named() {
    let page = at_lobby().get(&lobby().ask().with("response_mode", "query").path());
    assert!(page.location().starts_with(&format!("{CALLBACK}?code=")), "{page:?}");
}

fn out_of_band() -> (Office<'static>, Ask) {
    let office = lobby()
        .with_app(new_app(shared(), &["--redirect-uri", OUT_OF_BAND, "--redirect-uri", "http://oob/a"]));
    let ask = office.ask().with("redirect_uri", OUT_OF_BAND);
    (office, ask)
}

#[test]
fn an_application_without_an_address_has_its_code_shown() {
    let (office, ask) = out_of_band();
    let page = at_lobby().get(&ask.path());
    assert_eq!((page.status, page.location()), (200, ""));
    let field = page.text().split("<textarea").nth(1).unwrap().split("</textarea>").next().unwrap();
    let code = field.split('>').nth(1).unwrap();
    assert_eq!(office.exchange_with(code, &[("redirect_uri", OUT_OF_BAND)]).status, 200);
    let wrong = at_lobby().get(&ask.with("response_type", "token").path());
    assert_eq!((wrong.status, wrong.location()), (400, ""), "and its errors, too");
    assert!(wrong.text().contains("unsupported_response_type"));
}

#[test]
fn an_embedded_browser_is_sent_to_its_own_address() {
    let (office, ask) = out_of_band();
    let page = at_lobby().get(&ask.with("redirect_uri", "http://oob/a").path());
    assert!(page.location().starts_with("http://oob/a?code="), "{page:?}");
    let code = &page.params()["code"];
    assert_eq!(office.exchange_with(code, &[("redirect_uri", "http://oob/a")]).status, 200);
}

#[test]
fn the_callback_is_kept_by_nobody() {
    let page = at_lobby().get(&lobby().ask().path());
    assert_eq!((page.status, page.header("cache-control")), (302, "no-store"));
    assert_eq!((page.header("referrer-policy"), page.body.len()), ("no-referrer", 0));
    assert_eq!(json!(page.header("x-content-type-options")), "nosniff");
}
