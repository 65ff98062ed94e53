//! The access token: the second thing that is asked of a call.

use std::time::Duration;

use crate::harness::{
    ALL_SCOPES, Api, Keys, Raw, Reply, Serve, Site, claims, desk, let_pass, new_app, room, within_seconds,
};

const COMPANIES: &str = "/accounting/api/companies";
const INVALID: &str = "Bearer error=\"invalid_token\"";

/// A call with a good key and this in the header Authorization.
fn with_authorization(value: &str) -> Reply {
    room().get(COMPANIES).header("authorization", value).send()
}

#[track_caller]
fn assert_invalid(reply: &Reply) {
    reply.problem(401);
    assert_eq!(reply.header("www-authenticate"), INVALID, "{reply:?}");
}

#[test]
fn without_a_token_nobody_comes_in() {
    for nothing in ["", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz"] {
        let refused = with_authorization(nothing);
        refused.problem(401);
        assert_eq!(refused.header("www-authenticate"), "Bearer", "{nothing:?}: no error to tell of");
    }
}

#[test]
fn a_wrong_token_is_told() {
    let good = &room().token;
    let (head, signature) = good.rsplit_once('.').unwrap();
    let unsigned = format!("{head}.");
    let changed = format!("{head}.{}", signature.chars().rev().collect::<String>());
    for wrong in ["x", "a.b.c", "ey.ey.ey", &unsigned, &changed, &good[1..], &"x".repeat(8000)] {
        assert_invalid(&with_authorization(&format!("Bearer {wrong}")));
    }
    assert_eq!(with_authorization(&format!("Bearer {good}")).status, 200);
}

#[test]
fn strange_bytes_are_a_wrong_token_and_no_missing_one() {
    let head = format!(
        "GET {COMPANIES} HTTP/1.1\r\nocp-apim-subscription-key: {}\r\nauthorization: Bearer ñ{}\r\n",
        room().key,
        room().token
    );
    assert_invalid(&Raw::open(&room().url(""), &head).reply().unwrap());
}

#[test]
fn bearer_is_read_in_any_case() {
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        assert_eq!(with_authorization(&format!("{scheme} {}", room().token)).status, 200, "{scheme}");
    }
}

#[test]
fn an_id_token_or_a_refresh_token_is_no_access_token() {
    let tokens = room().tokens(ALL_SCOPES);
    assert_invalid(&with_authorization(&format!("Bearer {}", tokens.id())));
    assert_invalid(&with_authorization(&format!("Bearer {}", tokens.refresh())));
    assert_eq!(with_authorization(&format!("Bearer {}", tokens.access())).status, 200);
}

#[test]
fn another_servers_token_is_wrong() {
    let serve = Serve::start(Site::new(), &[]);
    let other = Api::on(&serve, &Keys::new(&serve, &[]));
    assert_eq!(other.get(COMPANIES).send().status, 200);
    assert_eq!(claims(&other.token)["iss"], claims(&room().token)["iss"], "only the signature tells");
    assert_invalid(&with_authorization(&format!("Bearer {}", other.token)));
}

#[test]
fn a_token_ends_with_its_time_and_the_tolerance() {
    let serve = Serve::start(
        Site::new(),
        &["--set", "identity.access_token_ttl=1s", "--set", "gateway.rate_per_minute=0"],
    );
    let mut api = Api::on(&serve, &Keys::new(&serve, &[]));
    api.tokens(ALL_SCOPES).access().clone_into(&mut api.token);
    let_pass(Duration::from_millis(2100));
    assert_eq!(api.get(COMPANIES).send().status, 200, "clocks may differ by 5 s");
    within_seconds(6, "the token to end", || api.get(COMPANIES).send().status != 200);
    assert_invalid(&api.get(COMPANIES).send());
}

#[test]
fn a_revoked_token_is_refused_at_once() {
    let tokens = room().tokens(ALL_SCOPES);
    let call = || with_authorization(&format!("Bearer {}", tokens.access()));
    assert_eq!(call().status, 200);
    assert_eq!(room().office.revoke(tokens.refresh()).status, 200);
    assert_invalid(&call());
    assert_eq!(with_authorization(&format!("Bearer {}", room().token)).status, 200, "another grant");
}

#[test]
fn a_disabled_tenant_is_refused_within_seconds() {
    let api = Api::new();
    api.read(COMPANIES);
    desk().site.program(&["tenant", "disable", &api.door.tenant]).run().code(0);
    within_seconds(6, "the token to be refused", || api.get(COMPANIES).send().status == 401);
    assert_invalid(&api.get(COMPANIES).send());
}

#[test]
fn a_token_is_of_one_tenant_whoever_its_application_is() {
    let api = Api::new();
    let other = api.office.with_app(new_app(desk(), &[]));
    let tokens = other.tokens_for(&other.ask().with("scope", ALL_SCOPES));
    let reply = api.get(COMPANIES).header("authorization", &format!("Bearer {}", tokens.access())).send();
    assert_eq!(reply.status, 200);
}
