//! The signature debugger: nothing is stored.

use pages::{PageContext, PageError, Params, Response};

use crate::context::Context;
use crate::signature::SignatureClaim;
use crate::text::signature::SignatureText;
use crate::views::signature::{SignatureInput, SignaturePage};

#[allow(clippy::unused_async, reason = "every page is asynchronous")]
pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    Ok(context.show(&SignaturePage::default()))
}

#[allow(clippy::unused_async, reason = "every action is asynchronous")]
pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let text = |name| form.get(name).unwrap_or_default().to_owned();
    let input = SignatureInput {
        // A browser sends line ends of a text field as CRLF; a body that has none of its own has LF.
        body: if form.is_set("crlf") { text("body") } else { text("body").replace("\r\n", "\n") },
        secret: text("secret"),
        signature: text("signature").trim().to_owned(),
        id: text("id").trim().to_owned(),
        timestamp: text("timestamp").trim().to_owned(),
    };
    let is_standard = !input.id.is_empty() && !input.timestamp.is_empty();
    if input.signature.starts_with("v1,") && !is_standard {
        return Err(PageError::Refused(SignatureText::of(context.lang()).needs_standard.into()));
    }
    let diagnosis = (context.portal.settings.diagnose_signature)(&SignatureClaim {
        signature: &input.signature,
        body: input.body.as_bytes(),
        secret: &input.secret,
        standard: is_standard.then_some((input.id.as_str(), input.timestamp.as_str())),
        now_seconds: context.now.unix_seconds(),
    });
    Ok(context.show(&SignaturePage { input, diagnosis: Some(diagnosis) }))
}
