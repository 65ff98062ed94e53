//! Disabled users, tenants and applications, and users who have left: refused at every step, at once where
//! tokens are given, and within five seconds where they are shown.

use serde_json::json;

use crate::harness::{Browser, Form, Office, Page, SESSION, Tokens, claims, oauth_error, within_seconds};

/// Somebody at each step of the way, before the operator acts.
struct Scene {
    office: Office<'static>,
    /// In front of the sign-in page.
    at_door: (Browser, Form),
    /// In front of the tenants.
    choosing: (Browser, Form),
    signed_in: Browser,
    code: String,
    tokens: Tokens,
}

impl Scene {
    fn set() -> Self {
        let office = Office::with_tenants(2);
        let browser = office.browser();
        let at_door = browser.ask(&office.ask()).form("post");
        let at_door = (browser, at_door);
        let browser = office.browser();
        let choosing = office.tenant_page(&browser, &office.ask()).form("post");
        let signed_in = office.browser();
        signed_in.set_cookie(SESSION, &browser.cookie(SESSION).unwrap());
        let code = office.code_in(&signed_in, &office.ask());
        let tokens = Tokens::of(&office.exchange(&office.code_in(&signed_in, &office.ask())));
        Self { office, at_door, choosing: (browser, choosing), signed_in, code, tokens }
    }

    /// What comes of the right password now.
    fn sign_in(&self) -> Page {
        let (browser, form) = &self.at_door;
        browser.settle(self.office.try_password(browser, form, crate::harness::PASSWORD))
    }

    /// What comes of choosing the first tenant now.
    fn choose(&self) -> Page {
        let (browser, form) = &self.choosing;
        let chosen = [("tenant", self.office.tenants[0].as_str()), ("decision", "allow")];
        browser.settle(browser.submit(form, &chosen))
    }

    #[track_caller]
    fn tokens_are_dead(&self) {
        let Self { office, tokens, .. } = self;
        assert_eq!(oauth_error(&office.exchange(&self.code), 400), "invalid_grant");
        assert_eq!(oauth_error(&office.refresh(tokens.refresh()), 400), "invalid_grant");
        for token in [tokens.access(), tokens.refresh()] {
            assert_eq!(office.introspect(token), json!({"active": false}));
        }
        within_seconds(5, "the access token to end", || office.userinfo(tokens.access()).status == 401);
    }
}

#[track_caller]
fn asks_to_sign_in(page: &Page) {
    assert!(page.has_field("password"), "{page:?}");
}

#[test]
fn a_disabled_user() {
    let scene = Scene::set();
    let office = &scene.office;
    assert_eq!(
        office.userinfo(scene.tokens.access()).status,
        200,
        "it was good, and that was just looked up"
    );
    office.command(&["user", "disable", &office.email]);
    asks_to_sign_in(&scene.signed_in.ask(&office.ask()));
    let silent = scene.signed_in.get(&office.ask().with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "login_required");
    let refused = scene.sign_in();
    assert_eq!(refused.status, 400, "{refused:?}");
    asks_to_sign_in(&refused);
    asks_to_sign_in(&scene.choose());
    asks_to_sign_in(&scene.signed_in.settle(scene.signed_in.get("/auth/core/permissions")));
    scene.tokens_are_dead();
    office.command(&["user", "enable", &office.email]);
    assert_eq!(office.refresh(scene.tokens.refresh()).status, 200, "nothing was lost");
}

#[test]
fn a_disabled_tenant() {
    let scene = Scene::set();
    let office = &scene.office;
    office.command(&["tenant", "disable", &office.tenants[0]]);
    scene.tokens_are_dead();
    let page = scene.signed_in.ask(&office.ask());
    let code = page.params().remove("code").expect("the other tenant is the only one left, and taken");
    let tokens = Tokens::of(&office.exchange(&code));
    assert_eq!(claims(tokens.access())["svc.es.clientid"], office.tenants[1]);
    assert!(!scene.choose().params().contains_key("code") || is_of_the_other(&scene));
    office.command(&["tenant", "disable", &office.tenants[1]]);
    let page = scene.signed_in.ask(&office.ask());
    assert_eq!(page.params()["error"], "access_denied");
    assert_eq!(scene.sign_in().params()["error"], "access_denied");
    assert_eq!(scene.choose().params()["error"], "access_denied");
}

/// A choice that is not there any more must not become a code for the tenant that was chosen.
fn is_of_the_other(scene: &Scene) -> bool {
    let code = scene.choose().params().remove("code").unwrap();
    let tokens = Tokens::of(&scene.office.exchange(&code));
    claims(tokens.access())["svc.es.clientid"] == scene.office.tenants[1]
}

#[test]
fn a_user_who_left_the_tenant() {
    let scene = Scene::set();
    let office = &scene.office;
    office.command(&["tenant", "add", "Tercera", "--id", &format!("{}-third", office.tenants[0])]);
    office.command(&["user", "join", &office.email, &format!("{}-third", office.tenants[0])]);
    office.command(&["user", "leave", &office.email, &office.tenants[0]]);
    scene.tokens_are_dead();
    let page = scene.choose();
    assert_eq!((page.status, page.has_field("tenant")), (400, true), "{page:?}");
    let page = scene.signed_in.ask(&office.ask());
    assert!(!page.choices("tenant").contains(&office.tenants[0]), "{page:?}");
    office.command(&["user", "join", &office.email, &office.tenants[0]]);
    let page = scene.signed_in.ask(&office.ask());
    assert!(page.choices("tenant").contains(&office.tenants[0]));
}

#[test]
fn a_disabled_application() {
    let scene = Scene::set();
    let (office, tokens) = (&scene.office, &scene.tokens);
    office.command(&["client", "disable", &office.app.id]);
    let page = scene.signed_in.get(&office.ask().path());
    assert_eq!((page.status, page.location()), (400, ""));
    for page in [scene.sign_in(), scene.choose()] {
        assert_eq!((page.status, page.location()), (400, ""), "{page:?}");
    }
    assert_eq!(oauth_error(&office.exchange(&scene.code), 401), "invalid_client");
    assert_eq!(oauth_error(&office.refresh(tokens.refresh()), 401), "invalid_client");
    assert_eq!(oauth_error(&office.revoke(tokens.refresh()), 401), "invalid_client");
    let asked =
        [("client_id", office.app.id.as_str()), ("client_secret", &office.app.secret), ("token", "x")];
    assert_eq!(oauth_error(&office.form_call("connect/introspect", &asked), 401), "invalid_client");
    within_seconds(5, "the access token to end", || office.userinfo(tokens.access()).status == 401);
    office.command(&["client", "enable", &office.app.id]);
    assert_eq!(office.refresh(tokens.refresh()).status, 200, "nothing was lost");
}
