//! The diagnosis of signatures names every known mistake.

use aldaba_client::receiver::{
    MismatchReason, ReceivedSignature, SignatureMismatch, SignatureScheme, TOLERANCE, diagnose,
};
use aldaba_client::{Guid, Resource, Secret, Ticks};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::envelope::{ENVELOPE_VERSION, EnvelopeContext};
use domain::event::EventKind;
use domain::log_entry::LogEntry;
use domain::signature::Signer;
use domain::{AccountId, TenantId};
use serde_json::Value;

const AT: i64 = 1_700_000_000;

/// A notification as the service writes it, with characters that differ between encodings.
fn body(resource: Resource) -> String {
    let guid = |byte: u8| Guid::random_from([byte; 16]);
    let envelope_context =
        EnvelopeContext { webhook: guid(1), tenant: TenantId::new("t"), user: AccountId::new("u"), resource };
    let entry = LogEntry {
        sequence: 42,
        resource,
        kind: EventKind::Created,
        company: "empresa-ñ".into(),
        correlation_id: "a/b \"c\"".into(),
        version: Ticks(638_000_000_000_000_000),
        conversation: guid(3),
        process: guid(4),
        user: "maría".into(),
        source_interface: "ERP".into(),
        source_action: "Alta".into(),
        changes: Some(r#"[{"Name":"ciudad","Value":"Ávila"}]"#.into()),
        envelope: ENVELOPE_VERSION,
    };
    envelope_context.notification(guid(2), &entry)
}

fn secret() -> Secret {
    Secret::new("s3cret")
}

fn reasons(result: Result<(), SignatureMismatch>) -> Vec<MismatchReason> {
    result.map_or_else(|mismatch| mismatch.reasons, |()| Vec::new())
}

/// The reasons if `sent` was signed and `received` arrived.
fn reasons_for_body(sent: &str, received: &[u8]) -> Vec<MismatchReason> {
    let signature = Signer::new(&secret(), None).contract_signature(sent.as_bytes());
    reasons(diagnose(&ReceivedSignature::accounting(&signature, received), &secret(), AT, TOLERANCE))
}

fn reasons_for_signature(signature: &str, body: &str) -> Vec<MismatchReason> {
    reasons(diagnose(&ReceivedSignature::accounting(signature, body.as_bytes()), &secret(), AT, TOLERANCE))
}

fn hex(signature: &str) -> &str {
    signature.strip_prefix("sha256=").unwrap()
}

fn bytes(signature: &str) -> Vec<u8> {
    let digits = hex(signature);
    (0..32).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect()
}

#[test]
fn valid_signature_has_no_reason() {
    for resource in [Resource::customers(), Resource::invoicing().next().unwrap()] {
        let body = body(resource);
        assert_eq!(reasons_for_body(&body, body.as_bytes()), []);
    }
}

#[test]
fn wrong_signature_format_is_named() {
    let body = body(Resource::customers());
    let right = Signer::new(&secret(), None).contract_signature(body.as_bytes());
    let lower = format!("sha256={}", hex(&right).to_lowercase());
    assert_eq!(reasons_for_signature(&lower, &body), [MismatchReason::LowerCaseHex]);
    assert_eq!(reasons_for_signature(hex(&right), &body), [MismatchReason::MissingPrefix]);
    let base64 = format!("sha256={}", STANDARD.encode(bytes(&right)));
    assert_eq!(reasons_for_signature(&base64, &body), [MismatchReason::Base64InsteadOfHex]);
    assert_eq!(reasons_for_signature("sha256=12", &body), [MismatchReason::MalformedSignature]);
    let no_header =
        ReceivedSignature { signature: None, ..ReceivedSignature::invoicing("", body.as_bytes()) };
    let result = diagnose(&no_header, &secret(), AT, TOLERANCE).unwrap_err();
    assert_eq!(
        result,
        SignatureMismatch {
            scheme: SignatureScheme::Invoicing,
            reasons: vec![MismatchReason::MissingHeader("ms-signature")]
        }
    );
}

#[test]
fn changes_at_the_ends_of_the_body_are_named() {
    let body = body(Resource::customers());
    for end in ["\n", "\r\n", " \n"] {
        assert_eq!(
            reasons_for_body(&body, format!("{body}{end}").as_bytes()),
            [MismatchReason::TrailingNewlineAdded],
            "{end:?}"
        );
    }
    for end in ["\n", "\r\n"] {
        assert_eq!(
            reasons_for_body(&format!("{body}{end}"), body.as_bytes()),
            [MismatchReason::TrailingNewlineRemoved],
            "{end:?}"
        );
    }
    assert_eq!(
        reasons_for_body(&body, format!("\u{feff}{body}").as_bytes()),
        [MismatchReason::ByteOrderMarkAdded]
    );
    assert_eq!(
        reasons_for_body(&format!("\u{feff}{body}"), body.as_bytes()),
        [MismatchReason::ByteOrderMarkRemoved]
    );
}

#[test]
fn reserialised_body_is_named() {
    for resource in [Resource::customers(), Resource::invoicing().next().unwrap()] {
        let body = body(resource);
        let value: Value = serde_json::from_str(&body).unwrap();
        // serde_json sorts members; JSON.stringify(…, 2) and json.dumps preserve their order.
        for received in [
            value.to_string(),
            serde_json::to_string_pretty(&value).unwrap(),
            body.replace("\":\"", "\": \""),
            body.replace('ñ', "\\u00f1").replace('í', "\\u00ed").replace('Á', "\\u00c1"),
            format!("{}\n", serde_json::to_string_pretty(&value).unwrap()),
        ] {
            assert_ne!(received, body);
            assert_eq!(
                reasons_for_body(&body, received.as_bytes()),
                [MismatchReason::ReserialisedBody],
                "{received}"
            );
        }
    }
}

#[test]
fn wrong_encoding_is_named() {
    let body = body(Resource::customers());
    let latin: Vec<u8> = body.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    assert_eq!(reasons_for_body(&body, &latin), [MismatchReason::WrongEncoding]);
    let twice: String = body.bytes().map(char::from).collect();
    assert_eq!(reasons_for_body(&body, twice.as_bytes()), [MismatchReason::WrongEncoding]);
}

#[test]
fn mistakes_with_the_secret_are_named() {
    let body = body(Resource::customers());
    let signature = Signer::new(&secret(), None).contract_signature(body.as_bytes());
    let with = |secret: &str| {
        let claim = ReceivedSignature::accounting(&signature, body.as_bytes());
        reasons(diagnose(&claim, &Secret::new(secret), AT, TOLERANCE))
    };
    assert_eq!(with("another"), [MismatchReason::WrongSecret]);
    for spaced in ["s3cret\n", " s3cret", "\"s3cret\""] {
        assert_eq!(with(spaced), [MismatchReason::SecretWithWhitespace], "{spaced:?}");
    }
    // The contract's signature must not use the base64 after whsec_ as its key.
    let fancy = format!("whsec_{}", STANDARD.encode("s3cret"));
    assert_eq!(with(&fancy), [MismatchReason::SecretEncoding]);
}

#[test]
fn changed_body_is_reported_as_wrong_secret() {
    let body = body(Resource::customers());
    assert_eq!(reasons_for_body(&body, body.replace("42", "43").as_bytes()), [MismatchReason::WrongSecret]);
}

#[test]
fn several_mistakes_are_all_named() {
    let body = body(Resource::customers());
    let signature = Signer::new(&secret(), None).contract_signature(body.as_bytes()).to_lowercase();
    let received = format!("{body}\n");
    let claim = ReceivedSignature::accounting(&signature, received.as_bytes());
    let result = diagnose(&claim, &Secret::new("s3cret "), AT, TOLERANCE).unwrap_err();
    let all = [
        MismatchReason::SecretWithWhitespace,
        MismatchReason::TrailingNewlineAdded,
        MismatchReason::LowerCaseHex,
    ];
    assert_eq!(result.reasons, all);
    let text = result.to_string();
    assert!(text.starts_with("svc-webhook-signature does not match: "), "{text}");
    assert!(text.contains("; and "), "{text}");
}

#[test]
fn timestamp_problems_of_standard_webhooks_are_named() {
    let body = body(Resource::customers());
    let at = AT.to_string();
    let signature = Signer::new(&secret(), None).standard_signature("i", &at, body.as_bytes());
    let claim = ReceivedSignature::standard("i", &at, &signature, body.as_bytes());
    let result = |claim: &ReceivedSignature<'_>, now| reasons(diagnose(claim, &secret(), now, TOLERANCE));
    assert_eq!(result(&claim, AT), []);
    assert_eq!(result(&claim, AT + 3600), [MismatchReason::StaleTimestamp { age_seconds: 3600 }]);
    assert_eq!(
        result(&ReceivedSignature { id: None, ..claim }, AT),
        [MismatchReason::MissingHeader("webhook-id")]
    );
    assert_eq!(
        result(&ReceivedSignature { timestamp: None, ..claim }, AT),
        [MismatchReason::MissingHeader("webhook-timestamp")]
    );
    let bytes = STANDARD.decode(signature.strip_prefix("v1,").unwrap()).unwrap();
    let hex = format!("v1,{}", domain::secret::hex(&bytes));
    assert_eq!(
        result(&ReceivedSignature { signature: Some(&hex), ..claim }, AT),
        [MismatchReason::HexInsteadOfBase64]
    );
    let both = format!("v1,AAAA {signature}");
    assert_eq!(result(&ReceivedSignature { signature: Some(&both), ..claim }, AT), []);
    let odd = Signer::new(&secret(), None).standard_signature("i", "soon", body.as_bytes());
    assert_eq!(
        result(&ReceivedSignature::standard("i", "soon", &odd, body.as_bytes()), AT),
        [MismatchReason::InvalidTimestamp]
    );
}
