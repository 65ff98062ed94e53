//! Why a signature does not match: every known way of breaking one is named.

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
use domain::{TenantId, UserId};
use serde_json::Value;

const AT: i64 = 1_700_000_000;

/// A notification as the service writes it, with letters that encodings differ in.
fn body(resource: Resource) -> String {
    let guid = |byte: u8| Guid::random_from([byte; 16]);
    let envelope_context =
        EnvelopeContext { webhook: guid(1), tenant: TenantId::new("t"), user: UserId::new("u"), resource };
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

fn reasons(told: Result<(), SignatureMismatch>) -> Vec<MismatchReason> {
    told.map_or_else(|mismatch| mismatch.reasons, |()| Vec::new())
}

/// What is said of a body that came differently from how it was signed.
fn of_body(sent: &str, came: &[u8]) -> Vec<MismatchReason> {
    let signature = Signer::new(&secret(), None).contract_signature(sent.as_bytes());
    reasons(diagnose(&ReceivedSignature::accounting(&signature, came), &secret(), AT, TOLERANCE))
}

fn of_signature(signature: &str, body: &str) -> Vec<MismatchReason> {
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
fn what_is_right_has_no_reason() {
    for resource in [Resource::customers(), Resource::invoicing().next().unwrap()] {
        let body = body(resource);
        assert_eq!(of_body(&body, body.as_bytes()), []);
    }
}

#[test]
fn how_the_signature_is_written() {
    let body = body(Resource::customers());
    let right = Signer::new(&secret(), None).contract_signature(body.as_bytes());
    let lower = format!("sha256={}", hex(&right).to_lowercase());
    assert_eq!(of_signature(&lower, &body), [MismatchReason::LowerCaseHex]);
    assert_eq!(of_signature(hex(&right), &body), [MismatchReason::MissingPrefix]);
    let base64 = format!("sha256={}", STANDARD.encode(bytes(&right)));
    assert_eq!(of_signature(&base64, &body), [MismatchReason::Base64InsteadOfHex]);
    assert_eq!(of_signature("sha256=12", &body), [MismatchReason::MalformedSignature]);
    let no_header =
        ReceivedSignature { signature: None, ..ReceivedSignature::invoicing("", body.as_bytes()) };
    let told = diagnose(&no_header, &secret(), AT, TOLERANCE).unwrap_err();
    assert_eq!(
        told,
        SignatureMismatch {
            scheme: SignatureScheme::Invoicing,
            reasons: vec![MismatchReason::MissingHeader("ms-signature")]
        }
    );
}

#[test]
fn what_happened_at_the_ends_of_the_body() {
    let body = body(Resource::customers());
    for end in ["\n", "\r\n", " \n"] {
        assert_eq!(
            of_body(&body, format!("{body}{end}").as_bytes()),
            [MismatchReason::TrailingNewlineAdded],
            "{end:?}"
        );
    }
    for end in ["\n", "\r\n"] {
        assert_eq!(
            of_body(&format!("{body}{end}"), body.as_bytes()),
            [MismatchReason::TrailingNewlineRemoved],
            "{end:?}"
        );
    }
    assert_eq!(of_body(&body, format!("\u{feff}{body}").as_bytes()), [MismatchReason::ByteOrderMarkAdded]);
    assert_eq!(of_body(&format!("\u{feff}{body}"), body.as_bytes()), [MismatchReason::ByteOrderMarkRemoved]);
}

#[test]
fn a_body_that_was_parsed_and_written_again() {
    for resource in [Resource::customers(), Resource::invoicing().next().unwrap()] {
        let body = body(resource);
        let value: Value = serde_json::from_str(&body).unwrap();
        // serde_json sorts members; JSON.stringify(…, 2) and json.dumps keep them.
        for came in [
            value.to_string(),
            serde_json::to_string_pretty(&value).unwrap(),
            body.replace("\":\"", "\": \""),
            body.replace('ñ', "\\u00f1").replace('í', "\\u00ed").replace('Á', "\\u00c1"),
            format!("{}\n", serde_json::to_string_pretty(&value).unwrap()),
        ] {
            assert_ne!(came, body);
            assert_eq!(of_body(&body, came.as_bytes()), [MismatchReason::ReserialisedBody], "{came}");
        }
    }
}

#[test]
fn a_body_that_went_through_another_encoding() {
    let body = body(Resource::customers());
    let latin: Vec<u8> = body.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    assert_eq!(of_body(&body, &latin), [MismatchReason::WrongEncoding]);
    let twice: String = body.bytes().map(char::from).collect();
    assert_eq!(of_body(&body, twice.as_bytes()), [MismatchReason::WrongEncoding]);
}

#[test]
fn what_is_wrong_with_the_secret() {
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
    // The base64 behind whsec_ is no key of the contract's signature.
    let fancy = format!("whsec_{}", STANDARD.encode("s3cret"));
    assert_eq!(with(&fancy), [MismatchReason::SecretEncoding]);
}

#[test]
fn a_body_that_was_changed_looks_like_another_secret() {
    let body = body(Resource::customers());
    assert_eq!(of_body(&body, body.replace("42", "43").as_bytes()), [MismatchReason::WrongSecret]);
}

#[test]
fn several_reasons_at_once_are_all_named() {
    let body = body(Resource::customers());
    let signature = Signer::new(&secret(), None).contract_signature(body.as_bytes()).to_lowercase();
    let came = format!("{body}\n");
    let claim = ReceivedSignature::accounting(&signature, came.as_bytes());
    let told = diagnose(&claim, &Secret::new("s3cret "), AT, TOLERANCE).unwrap_err();
    let all = [
        MismatchReason::SecretWithWhitespace,
        MismatchReason::TrailingNewlineAdded,
        MismatchReason::LowerCaseHex,
    ];
    assert_eq!(told.reasons, all);
    let text = told.to_string();
    assert!(text.starts_with("svc-webhook-signature does not match: "), "{text}");
    assert!(text.contains("; and "), "{text}");
}

#[test]
fn standard_webhooks_has_reasons_of_its_own() {
    let body = body(Resource::customers());
    let at = AT.to_string();
    let signature = Signer::new(&secret(), None).standard_signature("i", &at, body.as_bytes());
    let claim = ReceivedSignature::standard("i", &at, &signature, body.as_bytes());
    let told = |claim: &ReceivedSignature<'_>, now| reasons(diagnose(claim, &secret(), now, TOLERANCE));
    assert_eq!(told(&claim, AT), []);
    assert_eq!(told(&claim, AT + 3600), [MismatchReason::StaleTimestamp { age_seconds: 3600 }]);
    assert_eq!(
        told(&ReceivedSignature { id: None, ..claim }, AT),
        [MismatchReason::MissingHeader("webhook-id")]
    );
    assert_eq!(
        told(&ReceivedSignature { timestamp: None, ..claim }, AT),
        [MismatchReason::MissingHeader("webhook-timestamp")]
    );
    let bytes = STANDARD.decode(signature.strip_prefix("v1,").unwrap()).unwrap();
    let hex = format!("v1,{}", domain::secret::hex(&bytes));
    assert_eq!(
        told(&ReceivedSignature { signature: Some(&hex), ..claim }, AT),
        [MismatchReason::HexInsteadOfBase64]
    );
    let both = format!("v1,AAAA {signature}");
    assert_eq!(told(&ReceivedSignature { signature: Some(&both), ..claim }, AT), []);
    let odd = Signer::new(&secret(), None).standard_signature("i", "soon", body.as_bytes());
    assert_eq!(
        told(&ReceivedSignature::standard("i", "soon", &odd, body.as_bytes()), AT),
        [MismatchReason::InvalidTimestamp]
    );
}
