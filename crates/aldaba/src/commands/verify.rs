//! `aldaba verify`: whether a signature is right, and where it is not, why.

use std::io::Read as _;
use std::path::Path;

use aldaba_client::receiver::{BODY_BYTES_MAX, MismatchReason, ReceivedSignature, SignatureScheme, diagnose};
use domain::{Clock as _, Secret};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::Verify;
use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::wiring::SystemClock;

#[derive(Serialize)]
struct Verdict {
    matches: bool,
    /// `contract` or `standard`
    scheme: &'static str,
    reasons: Vec<Value>,
}

pub(crate) fn run(args: &Verify, output: Output) -> Outcome {
    let body = read(&args.body)?;
    let received = received(args, &body)?;
    let now = SystemClock.now().unix_seconds();
    let told = diagnose(&received, &Secret::new(args.secret.as_str()), now, args.tolerance);
    let reasons = told.as_ref().err().map(|mismatch| mismatch.reasons.as_slice()).unwrap_or_default();
    let scheme = if received.scheme == SignatureScheme::Standard { "standard" } else { "contract" };
    let verdict = Verdict { matches: told.is_ok(), scheme, reasons: reasons.iter().map(shown).collect() };
    output.result(&verdict, || text(scheme, reasons));
    if verdict.matches { Ok(()) } else { Err(Failure::Mismatch) }
}

/// A reason for programs and for people.
pub(crate) fn shown(reason: &MismatchReason) -> Value {
    json!({"code": reason.code(), "message": reason.to_string()})
}

fn text(scheme: &str, reasons: &[MismatchReason]) -> String {
    if reasons.is_empty() {
        return format!("The signature matches ({scheme} scheme).");
    }
    let lines: Vec<String> = reasons.iter().map(|reason| format!("\n  {reason}")).collect();
    format!("The signature does not match ({scheme} scheme):{}", lines.concat())
}

/// Both families sign alike, so the contract's scheme is one; Standard Webhooks covers an id and a time, too.
fn received<'a>(args: &'a Verify, body: &'a [u8]) -> Result<ReceivedSignature<'a>, Failure> {
    let signature = args.signature.trim();
    match (&args.id, &args.timestamp) {
        (Some(id), Some(timestamp)) => Ok(ReceivedSignature::standard(id, timestamp, signature, body)),
        _ if signature.starts_with("v1,") => {
            let why = "v1,… is a signature of Standard Webhooks: give the headers webhook-id as --id and \
                       webhook-timestamp as --timestamp";
            Err(Failure::Usage(why.into()))
        }
        _ => Ok(ReceivedSignature::accounting(signature, body)),
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
        let why = format!("no notification has more than {BODY_BYTES_MAX} bytes");
        return Err(Failure::Failed(format!("{}: {why}", file.display())));
    }
    Ok(body)
}
