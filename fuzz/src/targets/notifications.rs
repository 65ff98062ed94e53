//! Deliveries as an integrator's receiver reads them.

use aldaba_client::Secret;
use aldaba_client::receiver::{Notification, SignatureScheme, Verifier};
use domain::signature::{
    ACCOUNTING_HEADER, INVOICING_HEADER, STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP, Signer,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::refused;

const NOW: i64 = 1_794_000_000;
const NAMES: [&str; 5] =
    [ACCOUNTING_HEADER, INVOICING_HEADER, STANDARD_ID, STANDARD_TIMESTAMP, STANDARD_SIGNATURE];

/// Five lines for the signature headers, then the body. In a line, `$` is the right signature. A signature is accepted only if it is the
/// one that the secret makes; the body is an event or is refused.
pub(crate) fn delivery(data: &[u8]) -> u64 {
    let secret = Secret::new("whsec_Zm9vYmFy");
    let signer = Signer::new(&secret, None);
    let mut parts = data.splitn(NAMES.len() + 1, |byte| *byte == b'\n');
    let lines: Vec<&[u8]> = parts.by_ref().take(NAMES.len()).collect();
    let body = parts.next().unwrap_or_default();
    let line =
        |at: usize| lines.get(at).map(|line| String::from_utf8_lossy(line).into_owned()).unwrap_or_default();
    let contract = signer.contract_signature(body);
    let standard = signer.standard_signature(&line(2), &line(3), body);
    let right = [contract.as_str(), contract.as_str(), "$", "$", standard.as_str()];
    let mut headers = HeaderMap::new();
    for (at, name) in NAMES.into_iter().enumerate() {
        let value = line(at).replace('$', right[at]);
        if let (false, Ok(value)) = (value.is_empty(), HeaderValue::from_str(&value)) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let verified = Verifier::new(secret.clone()).verify_at(&headers, body, NOW);
    let outcome = match &verified {
        Ok(SignatureScheme::Standard) => {
            assert!(text(STANDARD_SIGNATURE).split(' ').any(|one| one == standard), "{headers:?}");
            let at: i64 = text(STANDARD_TIMESTAMP).parse().unwrap_or_default();
            assert!(NOW.abs_diff(at) <= 300, "{at}");
            1
        }
        Ok(scheme) => {
            let header =
                if *scheme == SignatureScheme::Invoicing { INVOICING_HEADER } else { ACCOUNTING_HEADER };
            assert!(text(header).eq_ignore_ascii_case(&contract), "{headers:?}");
            2
        }
        Err(mismatch) => {
            assert!(!mismatch.to_string().is_empty());
            refused(&mismatch.reasons)
        }
    };
    let event = Notification::parse(&headers, body);
    outcome << 1 | u64::from(event.is_ok())
}
