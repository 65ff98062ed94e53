//! Attacks on refresh tokens: reuse, use by another client, races, and wider scopes or other tenants.

use super::attack_fixture;
use crate::harness::{
    SignInFixture, Tokens, assert_within_seconds, claims, oauth_error, register_app, run_concurrently,
};

#[test]
fn reused_refresh_token_revokes_its_family() {
    let fixture = attack_fixture(1, &[]);
    let first = fixture.tokens();
    let second = Tokens::from_response(&fixture.refresh(first.refresh()));
    let third = Tokens::from_response(&fixture.refresh(second.refresh()));
    // The thief is late: the successor has been used.
    assert_eq!(oauth_error(&fixture.refresh(first.refresh()), 400), "invalid_grant");
    for dead in [&first, &second, &third] {
        assert_eq!(oauth_error(&fixture.refresh(dead.refresh()), 400), "invalid_grant");
        assert_eq!(fixture.userinfo(dead.access()).status, 401);
        assert_eq!(fixture.introspect(dead.refresh())["active"], false);
    }
    fixture.server.assert_healthy();
}

#[test]
fn use_by_the_owner_after_the_thief_revokes_the_family() {
    let fixture = attack_fixture(1, &[]);
    let stolen = fixture.tokens();
    let thief = Tokens::from_response(&fixture.refresh(stolen.refresh()));
    let thief = Tokens::from_response(&fixture.refresh(thief.refresh()));
    assert_eq!(oauth_error(&fixture.refresh(stolen.refresh()), 400), "invalid_grant");
    assert_eq!(fixture.userinfo(thief.access()).status, 401);
    assert_eq!(oauth_error(&fixture.refresh(thief.refresh()), 400), "invalid_grant");
    fixture.server.assert_healthy();
}

#[test]
fn revocation_of_one_family_leaves_others_valid() {
    let fixture = attack_fixture(1, &[]);
    let (one, other) = (fixture.tokens(), fixture.tokens());
    let next = Tokens::from_response(&fixture.refresh(one.refresh()));
    Tokens::from_response(&fixture.refresh(next.refresh()));
    oauth_error(&fixture.refresh(one.refresh()), 400);
    assert_eq!(fixture.userinfo(other.access()).status, 200);
    Tokens::from_response(&fixture.refresh(other.refresh()));
    fixture.server.assert_healthy();
}

#[test]
fn refresh_token_is_bound_to_its_client() {
    let fixture = attack_fixture(1, &[]);
    let other = fixture.with_app(register_app(fixture.server, &[]));
    let tokens = fixture.tokens();
    assert_eq!(oauth_error(&other.refresh(tokens.refresh()), 400), "invalid_grant");
    assert_eq!(other.introspect(tokens.refresh())["active"], false);
    assert_eq!(other.introspect(tokens.access())["active"], false);
    for token in [tokens.refresh(), tokens.access()] {
        assert_eq!(other.revoke(token).status, 200, "the error does not reveal the owner");
    }
    assert_eq!(fixture.userinfo(tokens.access()).status, 200, "the token was neither used up nor revoked");
    let next = Tokens::from_response(&fixture.refresh(tokens.refresh()));
    assert_eq!(oauth_error(&other.refresh(tokens.refresh()), 400), "invalid_grant");
    assert_eq!(fixture.userinfo(next.access()).status, 200, "a replay by another client revokes nothing");
    fixture.server.assert_healthy();
}

#[test]
fn race_of_a_hundred_refreshes_has_one_successor() {
    let fixture = attack_fixture(1, &[]);
    let tokens = fixture.tokens();
    let responses = run_concurrently(100, |_| fixture.refresh(tokens.refresh()));
    let mut successors: Vec<String> =
        responses.iter().map(|response| Tokens::from_response(response).refresh().to_owned()).collect();
    successors.sort_unstable();
    successors.dedup();
    assert_eq!(successors.len(), 1, "there is one successor");
    assert_ne!(successors[0], tokens.refresh());
    let next = Tokens::from_response(&fixture.refresh(&successors[0]));
    assert_eq!(fixture.userinfo(next.access()).status, 200, "and the family is valid");
    fixture.server.assert_healthy();
}

#[test]
fn scopes_cannot_be_widened() {
    let fixture = attack_fixture(1, &[]);
    let tokens = fixture
        .tokens_for(&fixture.authorization_request().with("scope", "openid offline_access SVC.ES.Webhooks"));
    let with_scope = |token: &str, scope: &str| {
        fixture.token_request(&[("grant_type", "refresh_token"), ("refresh_token", token), ("scope", scope)])
    };
    for wider in [
        "openid offline_access SVC.ES.Webhooks SVC.ES.NEWPOL.ACC.API",
        "SVC.ES.EquipoContex",
        "openid email",
        "openid+profile",
        "OPENID",
        "*",
        " ",
    ] {
        assert_eq!(oauth_error(&with_scope(tokens.refresh(), wider), 400), "invalid_scope", "{wider:?}");
    }
    let narrow = Tokens::from_response(&with_scope(tokens.refresh(), "SVC.ES.Webhooks"));
    assert_eq!(claims(narrow.access())["scope"], serde_json::json!(["SVC.ES.Webhooks"]));
    let wider = "openid offline_access SVC.ES.Webhooks SVC.ES.NEWPOL.COR.API";
    assert_eq!(oauth_error(&with_scope(narrow.refresh(), wider), 400), "invalid_scope");
    fixture.server.assert_healthy();
}

#[test]
fn tenant_cannot_be_changed() {
    let fixture = attack_fixture(2, &[]);
    let [here, there] = [&fixture.tenants[0], &fixture.tenants[1]].map(String::as_str);
    let tokens = fixture.tokens();
    assert_eq!(claims(tokens.access())["svc.es.clientid"], here);
    let wish = format!("tenant:{there}");
    let next = fixture.token_request(&[
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh()),
        ("acr_values", &wish),
        ("tenant", there),
        ("svc.es.clientid", there),
    ]);
    assert_eq!(claims(Tokens::from_response(&next).access())["svc.es.clientid"], here);
    fixture.server.assert_healthy();
}

#[test]
fn removed_membership_ends_the_refreshes() {
    let kinds: [fn(&SignInFixture<'_>) -> Vec<String>; 4] = [
        |fixture| vec!["user".into(), "disable".into(), fixture.email.clone()],
        |fixture| vec!["user".into(), "leave".into(), fixture.email.clone(), fixture.tenants[0].clone()],
        |fixture| vec!["tenant".into(), "disable".into(), fixture.tenants[0].clone()],
        |fixture| vec!["client".into(), "disable".into(), fixture.app.id.clone()],
    ];
    for kind in kinds {
        let fixture = attack_fixture(1, &[]);
        let tokens = fixture.tokens();
        let code = fixture.code(&fixture.authorization_request());
        let arguments = kind(&fixture);
        fixture.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        for response in [fixture.refresh(tokens.refresh()), fixture.exchange(&code)] {
            let error = response.json()["error"].as_str().unwrap().to_owned();
            assert!(
                ["invalid_grant", "invalid_client"].contains(&error.as_str()),
                "{arguments:?}: {response:?}"
            );
        }
        assert_within_seconds(5, "every node to refuse", || fixture.userinfo(tokens.access()).status == 401);
        fixture.server.assert_healthy();
    }
}
