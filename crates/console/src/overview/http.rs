//! The handlers of the overview, the first steps and the signing keys.

use domain::signing_key::KeyState;
use operator::admin::{Permission, ServiceAdmin, Span};
use pages::{PageContext, PageError, Params, Response};

use super::setup::SetupPage;
use super::signing_keys::{CONFIRMED_CHARS, KeyRow, SigningKeysPage};
use super::view::OverviewPage;
use crate::context::Context;

fn service(context: &Context) -> ServiceAdmin {
    context.console.ports.service.acting(context.authority())
}

pub(crate) async fn overview(context: &Context) -> Result<Response, PageError> {
    let span = context.query.get("span").and_then(Span::parse).unwrap_or_default();
    let overview = service(context).overview(span).await?;
    Ok(context.show(&OverviewPage { overview }))
}

pub(crate) async fn setup(context: &Context) -> Result<Response, PageError> {
    let steps = service(context).setup().await?;
    Ok(context.show(&SetupPage { steps }))
}

pub(crate) async fn signing_keys(context: &Context) -> Result<Response, PageError> {
    let keys = service(context).signing_keys();
    Ok(context.show(&SigningKeysPage { signing_keys: keys.into_iter().rev().map(KeyRow::from).collect() }))
}

/// Adds the next key, or replaces all keys at once.
pub(crate) async fn rotate(context: &Context, form: &Params) -> Result<Response, PageError> {
    context.authority().require(Permission::Keys)?;
    context.require_fresh()?;
    let (service, here) = (service(context), context.console_path("signing-keys"));
    let (at_once, code) = match form.get("do") {
        Some("rotate") => (false, "signing_key_added"),
        Some("replace") => (true, "signing_keys_replaced"),
        _ => return Err(PageError::no_action()),
    };
    if at_once {
        let keys = service.signing_keys();
        let signing = keys.iter().find(|key| key.state == KeyState::Signing);
        let expected = signing.and_then(|key| key.kid.get(..CONFIRMED_CHARS));
        if form.get("confirm").map(str::trim) != expected {
            return Err(PageError::Refused("type the first 8 characters of the key that signs now".into()));
        }
    }
    let key = service.rotate_signing_keys(at_once).await?;
    Ok(context.done(&here, code, &KeyRow::from(key)))
}
