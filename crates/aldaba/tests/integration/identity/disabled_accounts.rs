//! Disabled users, tenants and clients, and removed memberships: refused at every step, immediately where tokens are
//! issued and within five seconds where they are used.

use serde_json::json;

use crate::harness::{
    Browser, Form, Page, SESSION, SignInFixture, Tokens, assert_within_seconds, claims, oauth_error,
};

/// A user at each step of the sign-in, before the operator disables something.
struct SignInSteps {
    fixture: SignInFixture<'static>,
    /// Open at the sign-in page.
    sign_in_form: (Browser, Form),
    /// Open at the tenant page.
    tenant_form: (Browser, Form),
    signed_in_browser: Browser,
    code: String,
    tokens: Tokens,
}

impl SignInSteps {
    fn set() -> Self {
        let fixture = SignInFixture::with_tenants(2);
        let browser = fixture.browser();
        let sign_in_form = browser.start_authorization(&fixture.authorization_request()).form("post");
        let sign_in_form = (browser, sign_in_form);
        let browser = fixture.browser();
        let tenant_form = fixture.tenant_page(&browser, &fixture.authorization_request()).form("post");
        let signed_in_browser = fixture.browser();
        signed_in_browser.set_cookie(SESSION, &browser.cookie(SESSION).unwrap());
        let code = fixture.code_in_browser(&signed_in_browser, &fixture.authorization_request());
        let tokens = Tokens::from_response(
            &fixture.exchange(&fixture.code_in_browser(&signed_in_browser, &fixture.authorization_request())),
        );
        Self { fixture, sign_in_form, tenant_form: (browser, tenant_form), signed_in_browser, code, tokens }
    }

    /// Submits the right password.
    fn sign_in(&self) -> Page {
        let (browser, form) = &self.sign_in_form;
        browser.follow_redirects(self.fixture.try_password(browser, form, crate::harness::PASSWORD))
    }

    /// Chooses the first tenant.
    fn choose(&self) -> Page {
        let (browser, form) = &self.tenant_form;
        let chosen = [("tenant", self.fixture.tenants[0].as_str()), ("decision", "allow")];
        browser.follow_redirects(browser.submit(form, &chosen))
    }

    #[track_caller]
    fn expect_tokens_refused(&self) {
        let Self { fixture, tokens, .. } = self;
        assert_eq!(oauth_error(&fixture.exchange(&self.code), 400), "invalid_grant");
        assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 400), "invalid_grant");
        for token in [tokens.access(), tokens.refresh()] {
            assert_eq!(fixture.introspect(token), json!({"active": false}));
        }
        assert_within_seconds(5, "the access token to end", || {
            fixture.userinfo(tokens.access()).status == 401
        });
    }
}

#[track_caller]
fn expect_sign_in_page(page: &Page) {
    assert!(page.has_field("password"), "{page:?}");
}

#[test]
fn disabled_user_is_refused_at_every_step() {
    let steps = SignInSteps::set();
    let fixture = &steps.fixture;
    assert_eq!(
        fixture.userinfo(steps.tokens.access()).status,
        200,
        "the token was valid, and its status is cached"
    );
    fixture.command(&["user", "disable", &fixture.email]);
    expect_sign_in_page(&steps.signed_in_browser.start_authorization(&fixture.authorization_request()));
    let silent = steps.signed_in_browser.get(&fixture.authorization_request().with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "login_required");
    let refused = steps.sign_in();
    assert_eq!(refused.status, 400, "{refused:?}");
    expect_sign_in_page(&refused);
    expect_sign_in_page(&steps.choose());
    expect_sign_in_page(
        &steps.signed_in_browser.follow_redirects(steps.signed_in_browser.get("/auth/core/permissions")),
    );
    steps.expect_tokens_refused();
    fixture.command(&["user", "enable", &fixture.email]);
    assert_eq!(fixture.refresh(steps.tokens.refresh()).status, 200, "the grant is still valid");
}

#[test]
fn disabled_tenant_is_refused_at_every_step() {
    let steps = SignInSteps::set();
    let fixture = &steps.fixture;
    fixture.command(&["tenant", "disable", &fixture.tenants[0]]);
    steps.expect_tokens_refused();
    let page = steps.signed_in_browser.start_authorization(&fixture.authorization_request());
    let code = page.params().remove("code").expect("the other tenant is the only one left and is chosen");
    let tokens = Tokens::from_response(&fixture.exchange(&code));
    assert_eq!(claims(tokens.access())["svc.es.clientid"], fixture.tenants[1]);
    assert!(!steps.choose().params().contains_key("code") || gets_the_other_tenant(&steps));
    fixture.command(&["tenant", "disable", &fixture.tenants[1]]);
    let page = steps.signed_in_browser.start_authorization(&fixture.authorization_request());
    assert_eq!(page.params()["error"], "access_denied");
    assert_eq!(steps.sign_in().params()["error"], "access_denied");
    assert_eq!(steps.choose().params()["error"], "access_denied");
}

/// Choosing a disabled tenant must not give a code for that tenant.
fn gets_the_other_tenant(steps: &SignInSteps) -> bool {
    let code = steps.choose().params().remove("code").unwrap();
    let tokens = Tokens::from_response(&steps.fixture.exchange(&code));
    claims(tokens.access())["svc.es.clientid"] == steps.fixture.tenants[1]
}

#[test]
fn user_without_the_membership_is_refused_at_every_step() {
    let steps = SignInSteps::set();
    let fixture = &steps.fixture;
    fixture.command(&["tenant", "add", "Tercera", "--id", &format!("{}-third", fixture.tenants[0])]);
    fixture.command(&["user", "join", &fixture.email, &format!("{}-third", fixture.tenants[0])]);
    fixture.command(&["user", "leave", &fixture.email, &fixture.tenants[0]]);
    steps.expect_tokens_refused();
    let page = steps.choose();
    assert_eq!((page.status, page.has_field("tenant")), (400, true), "{page:?}");
    let page = steps.signed_in_browser.start_authorization(&fixture.authorization_request());
    assert!(!page.choices("tenant").contains(&fixture.tenants[0]), "{page:?}");
    fixture.command(&["user", "join", &fixture.email, &fixture.tenants[0]]);
    let page = steps.signed_in_browser.start_authorization(&fixture.authorization_request());
    assert!(page.choices("tenant").contains(&fixture.tenants[0]));
}

#[test]
fn disabled_client_is_refused_at_every_step() {
    let steps = SignInSteps::set();
    let (fixture, tokens) = (&steps.fixture, &steps.tokens);
    fixture.command(&["client", "disable", &fixture.app.id]);
    let page = steps.signed_in_browser.get(&fixture.authorization_request().path());
    assert_eq!((page.status, page.location()), (400, ""));
    for page in [steps.sign_in(), steps.choose()] {
        assert_eq!((page.status, page.location()), (400, ""), "{page:?}");
    }
    assert_eq!(oauth_error(&fixture.exchange(&steps.code), 401), "invalid_client");
    assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 401), "invalid_client");
    assert_eq!(oauth_error(&fixture.revoke(tokens.refresh()), 401), "invalid_client");
    let fields =
        [("client_id", fixture.app.id.as_str()), ("client_secret", &fixture.app.secret), ("token", "x")];
    assert_eq!(oauth_error(&fixture.post_form("connect/introspect", &fields), 401), "invalid_client");
    assert_within_seconds(5, "the access token to end", || fixture.userinfo(tokens.access()).status == 401);
    fixture.command(&["client", "enable", &fixture.app.id]);
    assert_eq!(fixture.refresh(tokens.refresh()).status, 200, "the grant is still valid");
}
