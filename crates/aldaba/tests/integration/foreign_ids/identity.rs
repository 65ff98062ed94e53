//! The rows of the identity provider: tokens and codes of another client.

use std::collections::BTreeMap;

use testserver::CALLBACK;

use super::fixture::{Caller, World};
use super::rows::{Ids, Operation, Row};
use crate::harness::HttpResponse;

const TOKEN: &str = "/auth/core/connect/token";
const REVOCATION: &str = "/auth/core/connect/revocation";
const INTROSPECTION: &str = "/auth/core/connect/introspect";

pub(super) fn row<'a>(operation: &Operation) -> Row<'a> {
    match (operation.verb.as_str(), operation.path.as_str()) {
        ("post", TOKEN) => Row::Checked(token),
        ("post", REVOCATION) => Row::Checked(revocation),
        ("post", INTROSPECTION) => Row::Checked(introspection),
        // Nothing in these is anybody's own.
        ("get", "/auth/core/.well-known/openid-configuration" | "/auth/core/.well-known/jwks") => {
            Row::Checked(|_, _| 0)
        }
        // The token is the only input; it says whose claims are shown.
        ("get", "/auth/core/connect/userinfo") => Row::Checked(userinfo),
        // A client's id is no secret: it is in the address bar of every user. Redirects are in `attacks/redirects.rs`, and
        // the end of a session in `attacks/cross_site.rs`.
        ("get", "/auth/core/connect/authorize" | "/auth/core/connect/endsession") => Row::Checked(|_, _| 0),
        other => {
            panic!("{other:?} has no row: say which codes or tokens of others it takes, and what they get")
        }
    }
}

/// A text of the same length that nobody was given: its last quarter is changed.
fn nobodys(text: &str) -> String {
    let kept = text.len() - text.len() / 4;
    let change = |letter: char| if letter == 'A' { 'B' } else { 'A' };
    text[..kept].chars().chain(text[kept..].chars().map(change)).collect()
}

/// Sends a form with a secret of another's, and with one of nobody's; both answers must be the same.
fn compare(caller: &Caller, path: &str, fields: &[(&str, &str)], secret: &str) -> HttpResponse {
    let send = |secret: &str| {
        let fields: BTreeMap<&str, &str> = fields.iter().copied().collect();
        let fields: Vec<(&str, &str)> = fields
            .into_iter()
            .map(|(name, value)| (name, if value == "{}" { secret } else { value }))
            .collect();
        caller.post_form(path, &fields)
    };
    let other = nobodys(secret);
    let (theirs, unknown) = (send(secret), send(&other));
    let ids = |secret: &str| Ids { secret: secret.to_owned(), ..Ids::default() };
    assert_eq!(
        super::comparable(&theirs, &ids(secret)),
        super::comparable(&unknown, &ids(&other)),
        "{path} {fields:?} by {}",
        caller.name
    );
    theirs
}

fn token(world: &World, _: &Operation) -> usize {
    let code = world.victim.code();
    let refresh = world.victim.token("refresh_token");
    let exchange = [("grant_type", "authorization_code"), ("code", "{}"), ("redirect_uri", CALLBACK)];
    for caller in [&world.other_client, &world.stranger] {
        assert_eq!(compare(caller, TOKEN, &exchange, &code).status, 400);
        let fields = [("grant_type", "refresh_token"), ("refresh_token", "{}")];
        assert_eq!(compare(caller, TOKEN, &fields, refresh).status, 400);
    }
    // What others tried with it has neither used the code nor revoked anything.
    let fields = [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", CALLBACK)];
    let own = world.victim.post_form(TOKEN, &fields);
    assert_eq!(own.status, 200, "{own:?}");
    4
}

fn revocation(world: &World, _: &Operation) -> usize {
    let kinds = ["access_token", "refresh_token"];
    for caller in [&world.other_client, &world.stranger] {
        for kind in kinds {
            let fields = [("token", "{}"), ("token_type_hint", kind)];
            assert_eq!(compare(caller, REVOCATION, &fields, world.victim.token(kind)).status, 200);
        }
    }
    for kind in kinds {
        let fields = [("token", world.victim.token(kind))];
        let own = world.victim.post_form(INTROSPECTION, &fields);
        assert_eq!(own.json()["active"], true, "{kind} was revoked by another client: {own:?}");
    }
    4
}

fn introspection(world: &World, _: &Operation) -> usize {
    for caller in [&world.other_client, &world.stranger] {
        for kind in ["access_token", "refresh_token", "id_token"] {
            let answer = compare(caller, INTROSPECTION, &[("token", "{}")], world.victim.token(kind));
            assert_eq!(answer.json(), serde_json::json!({"active": false}), "{kind}");
        }
    }
    6
}

fn userinfo(world: &World, operation: &Operation) -> usize {
    for caller in world.others() {
        let shown = operation.send(caller, &Ids::default());
        assert_eq!(
            (shown.status, &shown.json()["sub"]),
            (200, &serde_json::json!(caller.user.id)),
            "{shown:?}"
        );
    }
    world.others().count()
}
