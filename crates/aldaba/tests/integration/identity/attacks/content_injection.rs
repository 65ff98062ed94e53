//! Injection through values that a response repeats: false hosts, line breaks and markup.

use super::attack_fixture;
use crate::harness::{
    AuthorizationRequest, CALLBACK, HttpRequest, ISSUER, Page, SignInFixture, claims, encode_form,
    get_from_host,
};

/// Breaks out of a header, an attribute, an element, a script, a comment or a template.
const INJECTIONS: &str = "x\r\nset-cookie: evil=1\r\n\r\n\"'><script>alert(1)</script><img src=x onerror=alert(1)>\
                     </textarea><!--{{7*7}}${7*7}&lt;\u{202e}\u{2028}";

/// Expects that no injected value is active in the page.
#[track_caller]
fn expect_not_injected(page: &Page, what: &str) {
    assert!(page.status < 500, "{what}: {page:?}");
    for line in page.headers.get_all("set-cookie") {
        assert!(!line.to_str().unwrap().contains("evil"), "{what}: {page:?}");
    }
    if page.header("content-type").starts_with("text/html") {
        page.assert_security_headers();
        let text = page.text();
        for broken in ["<script>alert", "<img", "\"'>", "</textarea><!--"] {
            assert!(!text.contains(broken), "{what}: {broken} in {text}");
        }
        let scripts = text.matches("<script").count();
        let is_form_post = page.header("content-security-policy").contains("script-src");
        assert_eq!(scripts, usize::from(is_form_post), "{what}");
    }
}

/// Authorization requests with an injected value in each parameter, and a description of each.
fn injection_requests(fixture: &SignInFixture<'_>) -> Vec<(String, AuthorizationRequest)> {
    let names = [
        "client_id",
        "redirect_uri",
        "response_type",
        "response_mode",
        "scope",
        "state",
        "nonce",
        "login_hint",
        "ui_locales",
        "prompt",
        "max_age",
        "acr_values",
        "code_challenge",
        "code_challenge_method",
        "display",
        "id_token_hint",
        "request",
        "request_uri",
        "registration",
        "claims",
        "error",
        "error_description",
        "lang",
    ];
    let mut all: Vec<(String, AuthorizationRequest)> = names
        .iter()
        .map(|name| ((*name).to_owned(), fixture.authorization_request().with(name, INJECTIONS)))
        .collect();
    all.push(("a name".into(), fixture.authorization_request().with(INJECTIONS, "x")));
    all.push((
        "a repeated parameter".into(),
        fixture.authorization_request().and(INJECTIONS, "x").and(INJECTIONS, "y"),
    ));
    all.push((
        "part of a scope".into(),
        fixture.authorization_request().with("scope", &format!("openid {INJECTIONS}")),
    ));
    all
}

#[test]
fn host_injection_does_not_change_responses() {
    let fixture = attack_fixture(1, &[]);
    let path = "/auth/core/.well-known/openid-configuration";
    let document = HttpRequest::get(&format!("{}{path}", fixture.server.public_url)).send();
    assert_eq!(document.json()["issuer"], ISSUER);
    let request = fixture.authorization_request().path();
    let forwarded = [
        "",
        "x-forwarded-host: evil.example\r\n",
        "x-forwarded-proto: https\r\nx-forwarded-port: 666\r\n",
        "forwarded: for=1.2.3.4;host=evil.example;proto=https\r\n",
        "x-original-url: /evil\r\nx-rewrite-url: /evil\r\nx-host: evil.example\r\n",
        "x-http-method-override: DELETE\r\n",
    ];
    for headers in forwarded {
        for host in ["evil.example", "127.0.0.1:8080@evil.example", "localhost"] {
            let same = get_from_host(fixture.server, host, path, headers);
            assert_eq!(same.text(), document.text(), "{host} {headers}");
            let redirected = get_from_host(fixture.server, host, &request, headers);
            assert!(redirected.header("location").starts_with("/auth/core/login?ticket="), "{redirected:?}");
            let page = get_from_host(fixture.server, host, redirected.header("location"), headers);
            assert!(page.status == 200 && !page.text().contains("evil"), "{host} {headers}: {page:?}");
            assert!(!page.header("content-security-policy").contains("evil"), "{page:?}");
            let line = redirected.header("set-cookie");
            assert!(line.starts_with("aldaba-browser=") && !line.contains("Domain"), "{line}");
        }
    }
    let absolute = format!("http://evil.example{request}");
    let redirected = get_from_host(fixture.server, "evil.example", &absolute, "");
    assert!(redirected.header("location").starts_with("/auth/core/login?ticket="), "{redirected:?}");
    fixture.server.assert_healthy();
}

#[test]
fn host_injection_does_not_change_the_issuer() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.browser();
    for header in ["x-forwarded-host", "x-forwarded-server", "x-host"] {
        let fooled = fixture.browser().with_header(header, "evil.example");
        let granted = fixture.authorize(&fooled, &fixture.authorization_request());
        assert_eq!(granted.params()["iss"], ISSUER);
        assert_eq!(claims(&granted.params()["id_token"])["iss"], ISSUER);
    }
    let refused = browser.get(&fixture.authorization_request().with("prompt", "none").path());
    assert_eq!(refused.params()["iss"], ISSUER);
    fixture.server.assert_healthy();
}

#[test]
fn line_breaks_and_markup_in_authorization_requests_are_escaped() {
    let fixture = attack_fixture(2, &[]);
    let signed_in_browser = fixture.browser();
    fixture.tenant_page(&signed_in_browser, &fixture.authorization_request());
    for (what, request) in injection_requests(&fixture) {
        for request in [request.clone(), request.with("response_mode", "form_post")] {
            for browser in [&fixture.browser(), &signed_in_browser] {
                let first = browser.get(&request.path());
                expect_not_injected(&first, &what);
                let last = browser.follow_redirects(first);
                expect_not_injected(&last, &what);
                if last.has_field("password") {
                    let wrong = [("username", INJECTIONS), ("password", INJECTIONS)];
                    expect_not_injected(&browser.submit(&last.form("post"), &wrong[..1]), &what);
                }
            }
        }
    }
    fixture.server.assert_healthy();
}

#[test]
fn line_breaks_and_markup_in_forms_are_escaped() {
    let fixture = attack_fixture(2, &[]);
    let browser = fixture.browser();
    let form = browser.follow_redirects(browser.get(&fixture.authorization_request().path())).form("post");
    let wrong = browser.submit(&form, &[("username", INJECTIONS), ("password", "wrong")]);
    expect_not_injected(&wrong, "username");
    assert!(wrong.text().contains("&lt;script&gt;alert(1)"), "it is shown, as text: {}", wrong.text());
    let choice = fixture.tenant_page(&browser, &fixture.authorization_request());
    expect_not_injected(&browser.submit(&choice.form("post"), &[("tenant", INJECTIONS)]), "tenant");
    for (path, field) in
        [("login", "ticket"), ("tenant", "q"), ("logout", "ticket"), ("permissions", "revoked")]
    {
        let query = encode_form(&[(field, INJECTIONS), ("lang", INJECTIONS)]);
        expect_not_injected(
            &browser.follow_redirects(browser.get(&format!("/auth/core/{path}?{query}"))),
            path,
        );
        let page =
            browser.post(&format!("/auth/core/{path}"), &[(field, INJECTIONS), ("access", INJECTIONS)]);
        expect_not_injected(&browser.follow_redirects(page), path);
    }
    let leaving = [
        ("id_token_hint", INJECTIONS),
        ("client_id", INJECTIONS),
        ("post_logout_redirect_uri", INJECTIONS),
        ("state", INJECTIONS),
        ("ui_locales", INJECTIONS),
    ];
    for field in leaving {
        let query = encode_form(&[field]);
        expect_not_injected(
            &browser.follow_redirects(browser.get(&format!("/auth/core/connect/endsession?{query}"))),
            field.0,
        );
    }
    fixture.server.assert_healthy();
}

#[test]
fn line_breaks_and_markup_in_urls_and_headers_are_escaped() {
    let fixture = attack_fixture(1, &[]);
    for path in
        ["%0d%0aset-cookie:%20evil=1", "<script>alert(1)</script>", "%3Cscript%3Ealert(1)%3C/script%3E"]
    {
        let path = path.replace(['<', '>'], "%3C");
        for place in [format!("/auth/core/{path}"), format!("/auth/core/look/{path}"), format!("/{path}")] {
            let page = fixture.browser().get(&place);
            assert_eq!(page.status, 404, "{place}");
            expect_not_injected(&page, &place);
        }
    }
    let headers = ["accept-language", "x-request-id", "user-agent", "referer", "origin"];
    for header in headers {
        let browser = fixture.browser().with_header(header, "\"'><script>alert(1)</script><img src=x>");
        expect_not_injected(
            &browser.follow_redirects(browser.get(&fixture.authorization_request().path())),
            header,
        );
        let refused = browser.get(&fixture.authorization_request().without("redirect_uri").path());
        expect_not_injected(&refused, header);
        assert!(!refused.header("x-request-id").contains('<'), "{refused:?}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn token_endpoint_errors_repeat_no_markup() {
    let fixture = attack_fixture(1, &[]);
    for name in ["grant_type", "code", "redirect_uri", "scope", "client_id", "client_secret", INJECTIONS] {
        let response = fixture.post_form("connect/token", &[(name, INJECTIONS), (name, "twice")]);
        assert_eq!(response.header("content-type"), "application/json");
        assert_eq!(response.header("x-content-type-options"), "nosniff");
        assert!(response.headers.get("set-cookie").is_none(), "{response:?}");
        let description = response.json()["error_description"].as_str().unwrap().to_owned();
        let allowed = |c: char| matches!(c, ' ' | '!' | '#'..='[' | ']'..='~') && !"<>".contains(c);
        assert!(description.chars().all(allowed), "RFC 6749, 5.2: {description:?}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn form_post_injection_is_escaped() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.browser();
    let breakout = "\"><input name=\"code\" value=\"evil\"></form><form action=\"https://evil.example\">";
    for state in [breakout, INJECTIONS, "</script><script>alert(1)</script>", "&quot;&#34;&amp;", "'\"`"] {
        let request = fixture.authorization_request().with("response_mode", "form_post").with("state", state);
        let page = fixture.authorize(&browser, &request);
        expect_not_injected(&page, state);
        let forms = page.forms();
        assert_eq!((forms.len(), forms[0].action.as_str()), (1, CALLBACK), "{}", page.text());
        let names: Vec<&str> = forms[0].fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["code", "id_token", "state", "iss"]);
        let sent = page.value("state");
        assert_eq!(sent.replace("\r\n", "\n"), state.replace("\r\n", "\n"), "and are returned unchanged");
        let policy = page.header("content-security-policy");
        assert!(policy.contains("form-action https: http:;"), "{policy}");
        assert!(policy.contains("script-src 'sha256-"), "{policy}");
        let refused = browser.get(&request.with("response_type", "token").path());
        expect_not_injected(&refused, state);
        assert_eq!(refused.value("error"), "unsupported_response_type");
    }
    fixture.server.assert_healthy();
}
