//! Checks of what the provider has signed or encrypted and gets back: hints of id_tokens, and tickets.

use std::sync::LazyLock;

use domain::fuzzing::signature;
use domain::{Realm, Secret};
use serde_json::Value;

use super::{FIXTURE, NOW, settings};
use crate::flow::ticket::{LogoutRequest, PendingRequest, TicketState};
use crate::{Identity, jwt};

/// Any bytes as the claims of a token that the provider has signed, as `id_token_hint`. It is accepted only if it has our issuer, one
/// audience and one subject, and no `jti`, whatever its value: that is an access token or a logout token.
pub fn id_token_hint(data: &[u8]) -> u64 {
    let provider = &FIXTURE.cached;
    let Ok(claims) = serde_json::from_slice::<Value>(data) else {
        let token = String::from_utf8_lossy(data);
        assert!(provider.verify_hint(&token).is_none(), "{token}");
        return 0;
    };
    // The claims as they are: the order and repetitions of members stay.
    let Ok(raw) = serde_json::from_slice::<Box<serde_json::value::RawValue>>(data) else { return 1 };
    let Ok(token) = jwt::sign(&provider.keys, &raw) else { return 2 };
    let Some(hint) = provider.verify_hint(&token) else {
        let has = ["iss", "aud", "sub", "jti"].map(|name| kind(&claims[name]));
        return signature(&has.concat());
    };
    assert_eq!(claims["iss"], settings().issuer.as_str(), "{claims}");
    assert_eq!((claims["aud"].as_str(), claims["sub"].as_str()), (Some(&*hint.aud), Some(&*hint.sub)));
    assert!(claims.get("jti").is_none(), "accepted although it has a jti: {claims}");
    3
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null ",
        Value::Bool(_) => "bool ",
        Value::Number(_) => "number ",
        Value::String(_) => "string ",
        Value::Array(_) => "array ",
        Value::Object(_) => "object ",
    }
}

struct IssuedTicket {
    text: String,
    browser: Secret,
}

static TICKET: LazyLock<IssuedTicket> = LazyLock::new(|| {
    let (provider, browser): (&Identity, _) = (&FIXTURE.cached, Secret::new("a browser"));
    let pending = PendingRequest::Logout(LogoutRequest::default());
    match provider.tickets.issue(Realm::Users, pending, &browser, NOW, None) {
        Ok(Some(text)) => IssuedTicket { text, browser },
        other => panic!("{other:?}"),
    }
});

/// A ticket, which stands for the session's form: text after `=`, or else the two first bytes say where the rest replaces the valid one.
/// It opens only as it was issued, only in its realm, and is worth nothing in another browser.
pub fn ticket(data: &[u8]) -> u64 {
    let IssuedTicket { text, browser } = &*TICKET;
    let presented = match data {
        [b'=', rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        [at, length, rest @ ..] => {
            let mut bytes = text.clone().into_bytes();
            let start = usize::from(*at).min(bytes.len());
            let end = (start + usize::from(*length) % 8).min(bytes.len());
            bytes.splice(start..end, rest.iter().copied());
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => text.clone(),
    };
    let open = |realm, browser| FIXTURE.cached.tickets.open(realm, &presented, browser, NOW);
    let state = open(Realm::Users, Some(browser));
    let is_valid = presented == *text;
    assert_eq!(matches!(state, TicketState::Valid(_)), is_valid, "{presented}");
    assert!(is_valid || matches!(state, TicketState::Unreadable), "{presented}");
    assert!(matches!(open(Realm::Operators, Some(browser)), TicketState::Unreadable));
    let another = Secret::new("another");
    assert!(!matches!(open(Realm::Users, Some(&another)), TicketState::Valid(_)));
    assert!(!matches!(open(Realm::Users, None), TicketState::Valid(_)));
    u64::from(is_valid) << 8 | (presented.len() / 8).min(60) as u64
}
