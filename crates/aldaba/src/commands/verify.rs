//! `aldaba verify`: verifies a webhook signature and explains why it does not match.

use std::io::Read as _;
use std::path::Path;

use aldaba_client::receiver::{BODY_BYTES_MAX, Claim, Reason, Scheme, diagnose};
use domain::{Clock as _, Secret};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::Verify;
use crate::exit::{CommandResult, Failure};
use crate::output::Output;
use crate::wiring::SystemClock;

#[derive(Serialize)]
struct VerificationResult {
    matches: bool,
    /// `contract` or `standard`
    scheme: &'static str,
    reasons: Vec<Value>,
}

pub(crate) fn run(args: &Verify, output: Output) -> CommandResult {
    let body = read(&args.body)?;
    let claim = claim(args, &body)?;
    let now = SystemClock.now().unix_seconds();
    let diagnosis = diagnose(&claim, &Secret::new(args.secret.as_str()), now, args.tolerance);
    let reasons = diagnosis.as_ref().err().map(|mismatch| mismatch.reasons.as_slice()).unwrap_or_default();
    let scheme = if claim.scheme == Scheme::Standard { "standard" } else { "contract" };
    let result = VerificationResult {
        matches: diagnosis.is_ok(),
        scheme,
        reasons: reasons.iter().map(reason_json).collect(),
    };
    output.result(&result, || text(scheme, reasons));
    if result.matches { Ok(()) } else { Err(Failure::Mismatch) }
}

/// A reason as JSON: the code for programs, the message for people.
pub(crate) fn reason_json(reason: &Reason) -> Value {
    json!({"code": reason.code(), "message": reason.to_string()})
}

fn text(scheme: &str, reasons: &[Reason]) -> String {
    if reasons.is_empty() {
        return format!("The signature matches ({scheme} scheme).");
    }
    let lines: Vec<String> = reasons.iter().map(|reason| format!("\n  {reason}")).collect();
    format!("The signature does not match ({scheme} scheme):{}", lines.concat())
}

/// Both families use the same contract scheme; Standard Webhooks also signs the id and the timestamp.
fn claim<'a>(args: &'a Verify, body: &'a [u8]) -> Result<Claim<'a>, Failure> {
    let signature = args.signature.trim();
    match (&args.id, &args.timestamp) {
        (Some(id), Some(timestamp)) => Ok(Claim::standard(id, timestamp, signature, body)),
        _ if signature.starts_with("v1,") => {
            let why = "v1,… is a Standard Webhooks signature: add the value of webhook-id as --id and of \
                       webhook-timestamp as --timestamp";
            Err(Failure::Usage(why.into()))
        }
        _ => Ok(Claim::accounting(signature, body)),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let cannot = |error: std::io::Error| Failure::Failed(format!("{}: {error}", file.display()));
    let mut body = Vec::new();
    let bytes_max = BODY_BYTES_MAX as u64 + 1;
    if file == Path::new("-") {
        std::io::stdin().lock().take(bytes_max).read_to_end(&mut body).map_err(cannot)?;
    } else {
        let opened = std::fs::File::open(file).map_err(cannot)?;
        opened.take(bytes_max).read_to_end(&mut body).map_err(cannot)?;
    }
    if body.len() > BODY_BYTES_MAX {
        let why = format!("the body is too large: a notification has at most {BODY_BYTES_MAX} bytes");
        return Err(Failure::Failed(format!("{}: {why}", file.display())));
    }
    Ok(body)
}
