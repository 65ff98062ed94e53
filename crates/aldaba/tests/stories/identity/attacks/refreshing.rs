//! Attacks on refresh tokens: used again, used by another, raced for, and stretched.

use super::office;
use crate::harness::{Office, Tokens, at_once, claims, new_app, oauth_error, within_seconds};

#[test]
fn a_refresh_token_that_comes_back_takes_its_family_down() {
    let office = office(1, &[]);
    let first = office.tokens();
    let second = Tokens::of(&office.refresh(first.refresh()));
    let third = Tokens::of(&office.refresh(second.refresh()));
    // The thief comes late: the successor has been used.
    assert_eq!(oauth_error(&office.refresh(first.refresh()), 400), "invalid_grant");
    for dead in [&first, &second, &third] {
        assert_eq!(oauth_error(&office.refresh(dead.refresh()), 400), "invalid_grant");
        assert_eq!(office.userinfo(dead.access()).status, 401);
        assert_eq!(office.introspect(dead.refresh())["active"], false);
    }
    office.serve.is_well();
}

#[test]
fn the_thief_who_comes_first_is_found_out_when_the_owner_comes() {
    let office = office(1, &[]);
    let stolen = office.tokens();
    let thief = Tokens::of(&office.refresh(stolen.refresh()));
    let thief = Tokens::of(&office.refresh(thief.refresh()));
    assert_eq!(oauth_error(&office.refresh(stolen.refresh()), 400), "invalid_grant");
    assert_eq!(office.userinfo(thief.access()).status, 401);
    assert_eq!(oauth_error(&office.refresh(thief.refresh()), 400), "invalid_grant");
    office.serve.is_well();
}

#[test]
fn one_familys_end_is_no_others() {
    let office = office(1, &[]);
    let (one, other) = (office.tokens(), office.tokens());
    let next = Tokens::of(&office.refresh(one.refresh()));
    Tokens::of(&office.refresh(next.refresh()));
    oauth_error(&office.refresh(one.refresh()), 400);
    assert_eq!(office.userinfo(other.access()).status, 200);
    Tokens::of(&office.refresh(other.refresh()));
    office.serve.is_well();
}

#[test]
fn a_refresh_token_is_its_applications_alone() {
    let office = office(1, &[]);
    let other = office.with_app(new_app(office.serve, &[]));
    let tokens = office.tokens();
    assert_eq!(oauth_error(&other.refresh(tokens.refresh()), 400), "invalid_grant");
    assert_eq!(other.introspect(tokens.refresh())["active"], false);
    assert_eq!(other.introspect(tokens.access())["active"], false);
    for token in [tokens.refresh(), tokens.access()] {
        assert_eq!(other.revoke(token).status, 200, "it is not told whose it is");
    }
    assert_eq!(office.userinfo(tokens.access()).status, 200, "nothing of it was used up or revoked");
    let next = Tokens::of(&office.refresh(tokens.refresh()));
    assert_eq!(oauth_error(&other.refresh(tokens.refresh()), 400), "invalid_grant");
    assert_eq!(office.userinfo(next.access()).status, 200, "another's replay severs nobody");
    office.serve.is_well();
}

#[test]
fn a_hundred_race_with_one_refresh_token_and_all_get_the_same() {
    let office = office(1, &[]);
    let tokens = office.tokens();
    let replies = at_once(100, |_| office.refresh(tokens.refresh()));
    let mut successors: Vec<String> =
        replies.iter().map(|reply| Tokens::of(reply).refresh().to_owned()).collect();
    successors.sort_unstable();
    successors.dedup();
    assert_eq!(successors.len(), 1, "there is one successor");
    assert_ne!(successors[0], tokens.refresh());
    let next = Tokens::of(&office.refresh(&successors[0]));
    assert_eq!(office.userinfo(next.access()).status, 200, "and the family lives");
    office.serve.is_well();
}

#[test]
fn scopes_do_not_grow() {
    let office = office(1, &[]);
    let tokens = office.tokens_for(&office.ask().with("scope", "openid offline_access SVC.ES.Webhooks"));
    let with_scope = |token: &str, scope: &str| {
        office.token_call(&[("grant_type", "refresh_token"), ("refresh_token", token), ("scope", scope)])
    };
    for wider in [
        "openid offline_access SVC.ES.Webhooks SVC.ES.NEWPOL.ACC.API",
        "SVC.ES.EquipoContex",
        "openid email",
        "openid+profile",
        "openid nobody.knows",
        "OPENID",
        "*",
        " ",
    ] {
        assert_eq!(oauth_error(&with_scope(tokens.refresh(), wider), 400), "invalid_scope", "{wider:?}");
    }
    let narrow = Tokens::of(&with_scope(tokens.refresh(), "SVC.ES.Webhooks"));
    assert_eq!(claims(narrow.access())["scope"], serde_json::json!(["SVC.ES.Webhooks"]));
    let wider = "openid offline_access SVC.ES.Webhooks SVC.ES.NEWPOL.COR.API";
    assert_eq!(oauth_error(&with_scope(narrow.refresh(), wider), 400), "invalid_scope");
    office.serve.is_well();
}

#[test]
fn tenants_do_not_change() {
    let office = office(2, &[]);
    let [here, there] = [&office.tenants[0], &office.tenants[1]].map(String::as_str);
    let tokens = office.tokens();
    assert_eq!(claims(tokens.access())["svc.es.clientid"], here);
    let wish = format!("tenant:{there}");
    let next = office.token_call(&[
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh()),
        ("acr_values", &wish),
        ("tenant", there),
        ("svc.es.clientid", there),
    ]);
    assert_eq!(claims(Tokens::of(&next).access())["svc.es.clientid"], here);
    office.serve.is_well();
}

#[test]
fn who_lost_the_seat_gets_nothing_more() {
    let kinds: [fn(&Office<'_>) -> Vec<String>; 4] = [
        |office| vec!["user".into(), "disable".into(), office.email.clone()],
        |office| vec!["user".into(), "leave".into(), office.email.clone(), office.tenants[0].clone()],
        |office| vec!["tenant".into(), "disable".into(), office.tenants[0].clone()],
        |office| vec!["client".into(), "disable".into(), office.app.id.clone()],
    ];
    for kind in kinds {
        let office = office(1, &[]);
        let tokens = office.tokens();
        let code = office.code(&office.ask());
        let arguments = kind(&office);
        office.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        for reply in [office.refresh(tokens.refresh()), office.exchange(&code)] {
            let error = reply.json()["error"].as_str().unwrap().to_owned();
            assert!(
                ["invalid_grant", "invalid_client"].contains(&error.as_str()),
                "{arguments:?}: {reply:?}"
            );
        }
        within_seconds(5, "every node to know", || office.userinfo(tokens.access()).status == 401);
        office.serve.is_well();
    }
}
