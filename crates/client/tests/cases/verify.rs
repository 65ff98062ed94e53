//! Which signatures are accepted.

use aldaba_client::Secret;
use aldaba_client::receiver::{MismatchReason, SignatureScheme, TOLERANCE, Verifier, verify};
use domain::signature::Signer;
use http::HeaderMap;
use proptest::prelude::*;

const BODY: &[u8] = br#"{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"eva","Changes":[]}"#;
const SIGNED_AT: i64 = 1_700_000_000;

fn headers(pairs: &[(&'static str, String)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

fn standard(secret: &Secret, body: &[u8]) -> HeaderMap {
    let at = SIGNED_AT.to_string();
    let signature = Signer::new(secret, None).standard_signature("id-1", &at, body);
    headers(&[("webhook-id", "id-1".into()), ("webhook-timestamp", at), ("webhook-signature", signature)])
}

fn contract(name: &'static str, secret: &Secret, body: &[u8]) -> HeaderMap {
    headers(&[(name, Signer::new(secret, None).contract_signature(body))])
}

#[test]
fn each_scheme_alone_is_enough() {
    let secret = Secret::new("s3cret");
    let verifier = Verifier::new(secret.clone());
    let result = |headers: &HeaderMap| verifier.verify_at(headers, BODY, SIGNED_AT);
    assert_eq!(result(&contract("svc-webhook-signature", &secret, BODY)), Ok(SignatureScheme::Accounting));
    assert_eq!(result(&contract("ms-signature", &secret, BODY)), Ok(SignatureScheme::Invoicing));
    assert_eq!(result(&standard(&secret, BODY)), Ok(SignatureScheme::Standard));
}

#[test]
fn standard_webhooks_test_vector_is_accepted() {
    let headers = headers(&[
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".into()),
        ("webhook-timestamp", "1614265330".into()),
        ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".into()),
    ]);
    let verifier = Verifier::new(Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    let body = br#"{"test": 2432232314}"#;
    assert_eq!(verifier.verify_at(&headers, body, 1_614_265_330), Ok(SignatureScheme::Standard));
    assert!(verifier.verify_at(&headers, b"{}", 1_614_265_330).is_err());
}

#[test]
fn missing_signature_names_the_header() {
    let result = verify(&HeaderMap::new(), BODY, &Secret::new("s")).unwrap_err();
    assert_eq!(result.reasons, [MismatchReason::MissingHeader("svc-webhook-signature")]);
    let only = Verifier::new(Secret::new("s")).only_standard();
    let result = only.verify_at(&contract("ms-signature", &Secret::new("s"), BODY), BODY, 0).unwrap_err();
    assert_eq!(result.reasons, [MismatchReason::MissingHeader("webhook-signature")]);
}

#[test]
fn timestamp_tolerance_is_exact() {
    let secret = Secret::new("s3cret");
    let verifier = Verifier::new(secret.clone()).only_standard();
    let headers = standard(&secret, BODY);
    let tolerance = i64::try_from(TOLERANCE.as_secs()).unwrap();
    for apart in [-tolerance, 0, tolerance] {
        assert!(verifier.verify_at(&headers, BODY, SIGNED_AT + apart).is_ok(), "{apart}");
    }
    let result = |apart: i64| verifier.verify_at(&headers, BODY, SIGNED_AT + apart).unwrap_err().reasons;
    assert_eq!(result(tolerance + 1), [MismatchReason::StaleTimestamp { age_seconds: 301 }]);
    assert_eq!(result(-tolerance - 1), [MismatchReason::FutureTimestamp { ahead_seconds: 301 }]);
}

#[test]
fn timestamp_and_id_are_signed() {
    let secret = Secret::new("s3cret");
    let verifier = Verifier::new(secret.clone()).only_standard();
    for (name, value) in [("webhook-id", "id-2"), ("webhook-timestamp", "1700000001")] {
        let mut headers = standard(&secret, BODY);
        headers.insert(name, value.parse().unwrap());
        let result = verifier.verify_at(&headers, BODY, SIGNED_AT).unwrap_err();
        assert_eq!(result.reasons, [MismatchReason::WrongSecret], "{name}");
    }
}

#[test]
fn either_secret_is_accepted_during_a_rotation() {
    let (old, new) = (Secret::new("old"), Secret::new("new"));
    let signer = Signer::new(&new, Some(&old));
    let at = SIGNED_AT.to_string();
    let headers = headers(&[
        ("svc-webhook-signature", signer.contract_signature(BODY)),
        ("webhook-id", "i".into()),
        ("webhook-timestamp", at.clone()),
        ("webhook-signature", signer.standard_signature("i", &at, BODY)),
    ]);
    for (secret, scheme) in [(&old, SignatureScheme::Standard), (&new, SignatureScheme::Accounting)] {
        let verifier = Verifier::new(secret.clone());
        assert_eq!(verifier.verify_at(&headers, BODY, SIGNED_AT), Ok(scheme));
    }
    let stranger = Verifier::new(Secret::new("third"));
    assert!(stranger.verify_at(&headers, BODY, SIGNED_AT).is_err());
    assert!(stranger.with_secret(new).verify_at(&headers, BODY, SIGNED_AT).is_ok());
}

proptest! {
    #[test]
    fn signed_body_is_accepted_and_a_flipped_bit_is_not(
        secret in "\\PC{1,40}",
        body in proptest::collection::vec(any::<u8>(), 1..200),
        at in any::<prop::sample::Index>(),
        bit in 0_u8..8,
    ) {
        let secret = Secret::new(secret);
        let verifier = Verifier::new(secret.clone());
        let mut changed = body.clone();
        let place = at.index(body.len());
        changed[place] ^= 1 << bit;
        for headers in [
            contract("svc-webhook-signature", &secret, &body),
            contract("ms-signature", &secret, &body),
            standard(&secret, &body),
        ] {
            prop_assert!(verifier.verify_at(&headers, &body, SIGNED_AT).is_ok());
            prop_assert!(verifier.verify_at(&headers, &changed, SIGNED_AT).is_err());
        }
    }
}
