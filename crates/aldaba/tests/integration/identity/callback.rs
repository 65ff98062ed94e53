//! The authorization response: its parameters, `form_post`, and the out-of-band page that shows the code.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::harness::{
    AuthorizationRequest, CALLBACK, ISSUER, JwkSet, Page, SignInFixture, Tokens, decode_form, half_hash,
    members, register_app, shared_fixture, shared_server, shared_signed_in_browser,
};

const OUT_OF_BAND: &str = "urn:ietf:wg:oauth:2.0:oob";

fn names(page: &Page) -> Vec<String> {
    page.params().into_keys().collect()
}

/// Unusual values of `state`.
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
fn state_is_returned_byte_for_byte() {
    for state in states() {
        let request = shared_fixture().authorization_request().with("state", &state);
        assert_eq!(shared_signed_in_browser().get(&request.path()).params()["state"], state);
        let wrong = request.with("response_type", "token");
        assert_eq!(
            shared_signed_in_browser().get(&wrong.path()).params()["state"],
            state,
            "also with an error"
        );
    }
}

#[test]
fn state_survives_the_sign_in() {
    let fixture = shared_fixture();
    let state = states().concat();
    let state = &state[..state.floor_char_boundary(4096)];
    let page = fixture.authorize(&fixture.browser(), &fixture.authorization_request().with("state", state));
    assert_eq!(page.params()["state"], state);
}

#[test]
fn too_long_state_is_refused() {
    let request = shared_fixture().authorization_request().with("state", &"x".repeat(4097));
    let page = shared_signed_in_browser().get(&request.path());
    assert_eq!((page.params()["error"].as_str(), page.params().get("state")), ("invalid_request", None));
}

#[test]
fn state_and_nonce_may_be_missing() {
    let page = shared_signed_in_browser()
        .get(&shared_fixture().authorization_request().without("state").without("nonce").path());
    assert_eq!(names(&page), ["code", "iss"]);
    assert_eq!(shared_fixture().exchange(&page.params()["code"]).status, 200);
}

#[test]
fn callback_id_token_requires_openid_and_a_nonce() {
    let request = shared_fixture().authorization_request();
    let without_openid = request.clone().with("scope", "SVC.ES.Webhooks");
    assert_eq!(names(&shared_signed_in_browser().get(&without_openid.path())), ["code", "iss", "state"]);
    assert_eq!(
        names(&shared_signed_in_browser().get(&request.clone().without("nonce").path())),
        ["code", "iss", "state"]
    );
    assert_eq!(names(&shared_signed_in_browser().get(&request.path())), ["code", "id_token", "iss", "state"]);
}

#[test]
fn client_without_callback_id_token_gets_none() {
    let fixture = shared_fixture().with_app(register_app(shared_server(), &["--no-callback-id-token"]));
    let page = shared_signed_in_browser().get(&fixture.authorization_request().path());
    assert_eq!(names(&page), ["code", "iss", "state"]);
    assert_eq!(Tokens::from_response(&fixture.exchange(&page.params()["code"])).0["token_type"], "Bearer");
    fixture.command(&["client", "set", &fixture.app.id, "--callback-id-token", "auto"]);
    assert!(
        shared_signed_in_browser()
            .get(&fixture.authorization_request().path())
            .params()
            .contains_key("id_token")
    );
}

/// Strict code-flow libraries, which send a PKCE challenge, refuse an id_token in the callback.
#[test]
fn callback_id_token_is_left_out_with_a_code_challenge_unless_the_client_says_always() {
    let with_challenge = |request: AuthorizationRequest| {
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        request.with("code_challenge", challenge).with("code_challenge_method", "S256")
    };
    let plain = ["code", "iss", "state"];
    let complete = ["code", "id_token", "iss", "state"];
    for (flags, expected) in [
        (&[][..], [&complete[..], &plain, &plain, &plain]),
        (&["--pkce", "ignore"], [&complete, &plain, &plain, &plain]),
        (&["--callback-id-token", "always"], [&complete, &complete, &complete, &plain]),
        (&["--callback-id-token", "never"], [&plain, &plain, &plain, &plain]),
    ] {
        let fixture = shared_fixture().with_app(register_app(shared_server(), flags));
        let request = fixture.authorization_request();
        let requests = [
            request.clone(),
            with_challenge(request.clone()),
            request.clone().without("nonce"),
            request.with("scope", "SVC.ES.Webhooks"),
        ];
        for (request, expected) in requests.iter().zip(expected) {
            let page = shared_signed_in_browser().get(&request.path());
            assert_eq!(names(&page), expected, "{flags:?} {request:?}");
        }
    }
}

#[test]
fn callback_id_token_has_no_personal_data_and_lives_five_minutes() {
    let fixture = shared_fixture();
    let params = shared_signed_in_browser()
        .get(
            &fixture
                .authorization_request()
                .with("scope", "openid profile email IDInfo SVC.ES.NEWPOL.ACC.API")
                .path(),
        )
        .params();
    let claims = JwkSet::fetch(fixture.server).verify(&params["id_token"]);
    assert_eq!(
        members(&claims),
        ["amr", "aud", "auth_time", "c_hash", "exp", "iat", "iss", "nonce", "sid", "sub"]
    );
    assert_eq!((&claims["iss"], &claims["aud"]), (&ISSUER.into(), &fixture.app.id.as_str().into()));
    assert_eq!(claims["nonce"], "n-0S6_WzA2Mj");
    assert_eq!(claims["c_hash"], half_hash(&params["code"]));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 300);
    let refused = fixture.userinfo(&params["id_token"]);
    assert_eq!(refused.status, 401, "the id_token is not accepted as an access token");
}

#[test]
fn redirect_uri_keeps_its_query() {
    let uri = "https://app.example/cb?tenant=7&x=%20";
    let fixture = shared_fixture().with_app(register_app(shared_server(), &["--redirect-uri", uri]));
    let page =
        shared_signed_in_browser().get(&fixture.authorization_request().with("redirect_uri", uri).path());
    assert!(page.location().starts_with(&format!("{uri}&code=")), "{page:?}");
    let code = &page.params()["code"];
    assert_eq!(fixture.exchange_with(code, &[("redirect_uri", uri)]).status, 200);
}

#[test]
fn response_mode_form_post_posts_the_response() {
    let request = shared_fixture()
        .authorization_request()
        .with("response_mode", "form_post")
        .with("state", "ñ & \"x\" <b>");
    let page = shared_signed_in_browser().get(&request.path());
    assert_eq!((page.status, page.location()), (200, ""));
    let form = page.form("post");
    assert_eq!(form.action, CALLBACK);
    let field = |name: &str| &form.fields.iter().find(|(known, _)| known == name).unwrap().1;
    assert_eq!((field("state").as_str(), field("iss").as_str()), ("ñ & \"x\" <b>", ISSUER));
    assert_eq!(form.fields.len(), 4);
    assert_eq!(shared_fixture().exchange(field("code")).status, 200);
    policy_lets_the_script_run(&page);
}

/// The policy names the hash of the page's only script.
#[track_caller]
fn policy_lets_the_script_run(page: &Page) {
    let script = page.text().split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    let hash = STANDARD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, script.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'sha256-{hash}'; \
         form-action https: http:; base-uri 'none'; frame-ancestors 'none'"
    );
    assert_eq!(page.header("content-security-policy"), policy);
    assert_eq!(page.text().matches("<script").count(), 1);
}

#[test]
fn response_mode_form_post_posts_errors() {
    let request = shared_fixture()
        .authorization_request()
        .with("response_mode", "form_post")
        .with("response_type", "token");
    let page = shared_signed_in_browser().get(&request.path());
    let fields = page.form("post").fields;
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["error", "error_description", "state", "iss"]);
    assert_eq!((page.status, fields[0].1.as_str()), (200, "unsupported_response_type"));
    policy_lets_the_script_run(&page);
}

#[test]
fn response_mode_query_is_accepted() {
    let page = shared_signed_in_browser()
        .get(&shared_fixture().authorization_request().with("response_mode", "query").path());
    assert!(page.location().starts_with(&format!("{CALLBACK}?code=")), "{page:?}");
}

fn out_of_band() -> (SignInFixture<'static>, AuthorizationRequest) {
    let fixture = shared_fixture().with_app(register_app(
        shared_server(),
        &["--redirect-uri", OUT_OF_BAND, "--redirect-uri", "http://oob/a"],
    ));
    let request = fixture.authorization_request().with("redirect_uri", OUT_OF_BAND);
    (fixture, request)
}

#[test]
fn out_of_band_page_shows_the_code() {
    let (fixture, request) = out_of_band();
    let request = request.with("state", "a <&+b");
    let page = shared_signed_in_browser().get(&request.path());
    assert_eq!((page.status, page.location()), (200, ""));
    let shown = |number: usize| {
        let field = page.text().split("<textarea").nth(number).unwrap().split("</textarea>").next().unwrap();
        field.split_once('>').unwrap().1
    };
    let (code, state) = (shown(1), shown(2));
    assert_eq!(state, "a &lt;&amp;+b");
    let title = page.text().split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
    assert_eq!(title, format!("Success code={code}&amp;state=a+%3C%26%2Bb"), "desktop applications read it");
    let without = shared_signed_in_browser().get(&request.clone().without("state").path());
    assert!(without.text().contains("<title>Success code=") && !without.text().contains("state="));
    assert_eq!(fixture.exchange_with(code, &[("redirect_uri", OUT_OF_BAND)]).status, 200);
    let wrong = shared_signed_in_browser().get(&request.with("response_type", "token").path());
    assert_eq!((wrong.status, wrong.location()), (400, ""), "also for errors");
    assert!(wrong.text().contains("unsupported_response_type"));
}

#[test]
fn oob_url_of_an_embedded_browser_gets_a_redirect() {
    let (fixture, request) = out_of_band();
    let page = shared_signed_in_browser().get(&request.with("redirect_uri", "http://oob/a").path());
    assert!(page.location().starts_with("http://oob/a?code="), "{page:?}");
    let code = &page.params()["code"];
    assert_eq!(fixture.exchange_with(code, &[("redirect_uri", "http://oob/a")]).status, 200);
}

/// The URL that a page without a script goes on to, and the URL of its link.
#[track_caller]
fn continues_to(page: &Page) -> [String; 2] {
    assert_eq!((page.status, page.location()), (200, ""), "{page:?}");
    assert_eq!((page.header("cache-control"), page.header("referrer-policy")), ("no-store", "no-referrer"));
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none';") && policy.contains("form-action 'self';"), "{policy}");
    assert!(!page.text().contains("<script"), "it works without JavaScript");
    ["<meta http-equiv=\"refresh\" content=\"0; url=", "<a class=\"button\" href=\""].map(|before| {
        let url = page.text().split(before).nth(1).unwrap_or_else(|| panic!("{}", page.text()));
        url.split('"').next().unwrap().replace("&amp;", "&")
    })
}

/// Browsers apply the page's `form-action` to all redirects after a form, also to those of the application behind the
/// callback. A page in between ends that chain.
#[test]
fn form_of_a_browser_is_answered_with_a_page_that_goes_on_to_the_callback() {
    let fixture = SignInFixture::with_tenants(2);
    let browser = fixture.browser().with_header("sec-fetch-mode", "navigate");
    let request = fixture.authorization_request().with("state", "a <b> & \"c\"");
    let tenants = fixture.submit_credentials(&browser, &browser.start_authorization(&request));
    let choose = [("tenant", fixture.tenants[1].as_str()), ("decision", "allow")];
    let [to, link] = continues_to(&browser.submit(&tenants.form("post"), &choose));
    assert_eq!(to, link);
    let query = to.strip_prefix(&format!("{CALLBACK}?")).unwrap();
    let params = decode_form(query);
    assert_eq!((params["state"].as_str(), params["iss"].as_str()), ("a <b> & \"c\"", ISSUER));
    assert_eq!(fixture.exchange(&params["code"]).status, 200);

    let question = browser.start_authorization(&request.clone().with("prompt", "consent"));
    let [denied, _] = continues_to(&browser.submit(&question.form("post"), &[("decision", "deny")]));
    assert!(denied.starts_with(&format!("{CALLBACK}?error=access_denied&")), "{denied}");
}

#[test]
fn other_requests_get_the_redirect() {
    let fixture = SignInFixture::new();
    let signed_in = fixture.browser().with_header("sec-fetch-mode", "navigate");
    let [to, _] = continues_to(&fixture.authorize(&signed_in, &fixture.authorization_request()));
    assert!(to.starts_with(CALLBACK), "{to}");
    let page = signed_in.get(&fixture.authorization_request().path());
    assert!(page.status == 302 && page.location().starts_with(CALLBACK), "a GET: {page:?}");
    for mode in [None, Some("cors"), Some("no-cors")] {
        let mut browser = fixture.browser();
        if let Some(mode) = mode {
            browser = browser.with_header("sec-fetch-mode", mode);
        }
        let page = fixture.authorize(&browser, &fixture.authorization_request());
        assert!(page.status == 302 && page.location().starts_with(CALLBACK), "{mode:?}: {page:?}");
    }
    let embedded = "http://oob/a";
    let fixture = fixture.with_app(register_app(shared_server(), &["--redirect-uri", embedded]));
    let browser = fixture.browser().with_header("sec-fetch-mode", "navigate");
    let request = fixture.authorization_request().with("redirect_uri", embedded);
    let sign_in = browser.start_authorization(&request);
    let policy = sign_in.header("content-security-policy");
    assert!(policy.contains("form-action 'self' http://oob;"), "{policy}");
    let page = fixture.submit_credentials(&browser, &sign_in);
    assert!(page.status == 302 && page.location().starts_with("http://oob/a?code="), "{page:?}");
}

#[test]
fn callback_responses_are_not_cached() {
    let page = shared_signed_in_browser().get(&shared_fixture().authorization_request().path());
    assert_eq!((page.status, page.header("cache-control")), (302, "no-store"));
    assert_eq!((page.header("referrer-policy"), page.body.len()), ("no-referrer", 0));
    assert_eq!(json!(page.header("x-content-type-options")), "nosniff");
}
