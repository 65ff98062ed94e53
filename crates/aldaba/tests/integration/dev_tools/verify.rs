//! `aldaba verify` explains why a signature does not match.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Secret;
use domain::signature::Signer;
use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{FinishedProcess, Program};

const SECRET: &str = "un secreto ñ";
const BODY: &str =
    r#"{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"maría","Changes":[{"Name":"a","Value":"b"}]}"#;

struct VerifyFixture {
    folder: TempDir,
}

impl VerifyFixture {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, body: &[u8]) -> PathBuf {
        let file = self.folder.path().join("body.json");
        std::fs::write(&file, body).unwrap();
        file
    }

    fn verify(&self, signature: &str, body: &[u8], more: &[&str]) -> FinishedProcess {
        let file = self.file(body);
        let file = file.to_str().unwrap();
        let arguments = ["verify", "--secret", SECRET, "--signature", signature, "--body", file, "--json"];
        Program::new(&arguments).with(more).run()
    }

    /// The codes of the reasons.
    #[track_caller]
    fn reasons(&self, signature: &str, body: &[u8], more: &[&str]) -> Vec<String> {
        let verdict = self.verify(signature, body, more).code(7).only_line();
        assert_eq!(verdict["matches"], false);
        verdict["reasons"].as_array().unwrap().iter().map(code).collect()
    }
}

fn code(reason: &Value) -> String {
    assert!(reason["message"].as_str().unwrap().len() > 20, "{reason}");
    reason["code"].as_str().unwrap().to_owned()
}

fn signer() -> Signer {
    Signer::new(&Secret::new(SECRET), None)
}

#[test]
fn valid_signature_matches_and_exits_with_0() {
    let fixture = VerifyFixture::new();
    let valid = signer().contract_signature(BODY.as_bytes());
    let verdict = fixture.verify(&valid, BODY.as_bytes(), &[]).json();
    assert_eq!((&verdict["matches"], &verdict["scheme"]), (&true.into(), &"contract".into()));

    let from_input = ["verify", "--signature", valid.as_str(), "--body", "-"];
    let finished = Program::new(&from_input).variable("WEBHOOK_SECRET", SECRET).input(BODY).run().code(0);
    assert!(finished.stdout.starts_with("The signature matches"), "{finished:?}");
}

#[test]
fn every_broken_contract_signature_gets_its_reason() {
    let fixture = VerifyFixture::new();
    let valid = signer().contract_signature(BODY.as_bytes());
    let body = BODY.as_bytes();
    let digits = valid.strip_prefix("sha256=").unwrap();
    let bytes: Vec<u8> =
        (0..32).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect();
    let base64 = format!("sha256={}", STANDARD.encode(bytes));
    let other = Signer::new(&Secret::new("otro"), None).contract_signature(body);
    let written_again = serde_json::to_string_pretty(&serde_json::from_str::<Value>(BODY).unwrap()).unwrap();
    for (signature, body, reason) in [
        (format!("sha256={}", digits.to_lowercase()), body.to_vec(), "lower_case_hex"),
        (digits.to_owned(), body.to_vec(), "missing_prefix"),
        (base64, body.to_vec(), "base64_instead_of_hex"),
        (valid.clone(), format!("{BODY}\n").into(), "trailing_newline_added"),
        (valid.clone(), format!("\u{feff}{BODY}").into(), "byte_order_mark_added"),
        (valid.clone(), written_again.into(), "reserialised_body"),
        (other, body.to_vec(), "wrong_secret"),
        ("nonsense".into(), body.to_vec(), "no_signature"),
    ] {
        let reasons = fixture.reasons(&signature, &body, &[]);
        assert!(reasons.contains(&reason.to_owned()), "{reason}: {reasons:?}");
    }
    let text_output =
        Program::new(&["verify", "--secret", SECRET, "--signature", &valid.to_lowercase(), "--body"])
            .with(&[fixture.file(body).to_str().unwrap()])
            .run()
            .code(7);
    assert!(text_output.stdout.contains("in lower case") && text_output.stderr.is_empty(), "{text_output:?}");
}

#[test]
fn standard_webhooks_signature_covers_id_and_timestamp() {
    let fixture = VerifyFixture::new();
    let (id, then) = ("0191d2c4", "1700000000");
    let valid = signer().standard_signature(id, then, BODY.as_bytes());
    let headers = ["--id", id, "--timestamp", then];
    assert_eq!(fixture.reasons(&valid, BODY.as_bytes(), &headers), ["stale_timestamp"]);
    let verdict =
        fixture.verify(&valid, BODY.as_bytes(), &[&headers[..], &["--tolerance", "99999d"]].concat());
    assert_eq!(verdict.json()["scheme"], "standard");
    let other_id = ["--id", "other", "--timestamp", then];
    assert_eq!(fixture.reasons(&valid, BODY.as_bytes(), &other_id), ["wrong_secret"]);
    fixture.verify(&valid, BODY.as_bytes(), &[]).expect_failure(2, "--timestamp");
    fixture.verify(&valid, BODY.as_bytes(), &["--id", id]).expect_failure(2, "--timestamp");
}

#[test]
fn missing_file_is_reported() {
    let arguments = ["verify", "--secret", "s", "--signature", "x", "--body", "/no/such/file"];
    Program::new(&arguments).run().expect_failure(1, "/no/such/file: No such file");
}
