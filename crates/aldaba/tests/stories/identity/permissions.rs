//! The page on which a person sees who has access, and takes it back.

use crate::harness::{Office, PASSWORD, Tokens, members, new_app, new_user, oauth_error, shared};

const PAGE: &str = "/auth/core/permissions";

#[test]
fn it_lists_applications_and_takes_their_access_back_at_once() {
    let office = Office::new();
    let browser = office.signed_in();
    assert!(browser.get(PAGE).forms().is_empty(), "a code alone is no access");
    let tokens: Vec<Tokens> =
        (0..2).map(|_| Tokens::of(&office.exchange(&office.code_in(&browser, &office.ask())))).collect();
    let other = office.with_app(new_app(shared(), &[]));
    let others = Tokens::of(&other.exchange(&other.code_in(&browser, &other.ask())));
    let page = browser.get(PAGE);
    for words in ["Panel de ventas", "Asesoría", "Lucía", &office.email, "Ver la contabilidad"] {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    assert_eq!(page.forms().len(), 2, "one for each application, however often it came");
    assert_eq!(office.userinfo(tokens[0].access()).status, 200);

    // The last used stands first.
    let after = browser.settle(browser.submit(&page.forms()[1], &[]));
    assert_eq!((after.status, after.forms().len()), (200, 1), "{after:?}");
    assert!(after.text().contains("ya no tiene acceso"), "{}", after.text());
    for tokens in &tokens {
        assert_eq!(office.userinfo(tokens.access()).status, 401);
        assert_eq!(oauth_error(&office.refresh(tokens.refresh()), 400), "invalid_grant");
    }
    assert_eq!(other.refresh(others.refresh()).status, 200, "others keep theirs");
    assert_eq!(office.audit(&format!("kind=revoked&client={}", office.app.id)).len(), 2);
}

#[test]
fn who_is_not_signed_in_signs_in_first() {
    let office = Office::new();
    let browser = office.browser();
    let door = browser.settle(browser.get(PAGE));
    assert!(door.has_field("password"), "{door:?}");
    let page = browser.settle(office.try_password(&browser, &door.form("post"), PASSWORD));
    assert!(page.status == 200 && page.text().contains(&office.email), "{page:?}");
}

#[test]
fn nobody_takes_back_what_is_anothers() {
    let office = Office::new();
    let tokens = office.tokens();
    let owner = office.signed_in();
    let theirs = owner.get(PAGE).form("post");
    let key = &theirs.fields.iter().find(|(name, _)| name == "access").unwrap().1;
    let other =
        Office { email: new_user(shared(), &[&office.tenants[0]]), ..office.with_app(office.app.clone()) };
    let stranger = other.signed_in();
    other.exchange(&other.code_in(&stranger, &other.ask()));
    let own = stranger.get(PAGE).form("post");
    stranger.settle(stranger.submit(&own, &[("access", key)]));
    stranger.settle(stranger.submit(&theirs, &[]));
    assert_eq!(office.userinfo(tokens.access()).status, 200);
    let without_ticket = owner.settle(owner.submit(&theirs, &[("ticket", "")]));
    assert_eq!((without_ticket.status, office.userinfo(tokens.access()).status), (200, 200));
    assert_eq!(members(&tokens.0).len(), 5);
}
