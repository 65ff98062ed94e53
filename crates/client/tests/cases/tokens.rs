//! Tokens: no secrets in debug output, and serialisation.

use aldaba_client::sign_in::Tokens;
use aldaba_client::{Secret, Ticks};

fn tokens() -> Tokens {
    Tokens {
        access_token: Secret::new("access-plain"),
        expires_at: 1000,
        refresh_token: Some(Secret::new("refresh-plain")),
        id_token: Some("id".into()),
        sub: Some("maria".into()),
    }
}

#[test]
fn tokens_do_not_print_but_serialise() {
    let result = format!("{:?}", tokens());
    assert!(!result.contains("plain") && result.contains("maria"), "{result}");
    let stored = serde_json::to_string(&tokens()).unwrap();
    assert_eq!(serde_json::from_str::<Tokens>(&stored).unwrap(), tokens());
    let bare: Tokens = serde_json::from_str(r#"{"access_token":"a","expires_at":1}"#).unwrap();
    assert_eq!(bare.refresh_token, None);
}

#[test]
fn validity_ends_before_expiry() {
    let at = |seconds| tokens().is_valid_for(60, Ticks::from_unix_seconds(seconds));
    assert!(at(939) && !at(940) && !at(2000));
}
