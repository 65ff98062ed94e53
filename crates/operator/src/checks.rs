//! Validation of names, ids, addresses and languages before they are stored.

use domain::accounts::normalized_email;
use domain::receiver_url::ReceiverUrl;
use domain::{ClientKind, NAME_CHARS_MAX, redirect_uri};

use crate::error::{AdminError, Result};

const ID_CHARS_MAX: usize = 100;
const LOGOUT_URIS_MAX: usize = 10;

pub(crate) fn check_redirect(uri: &str, kind: ClientKind) -> Result<()> {
    check_address("the redirect address", uri, kind)
}

fn check_address(what: &str, uri: &str, kind: ClientKind) -> Result<()> {
    redirect_uri::check(uri, kind).map_err(|why| AdminError::Invalid(format!("{what} {uri} {why}")))
}

/// Post-logout addresses follow the rules of redirect addresses, except that none is out-of-band.
pub(crate) fn checked_logout_uris(uris: Vec<String>, kind: ClientKind) -> Result<Vec<String>> {
    if uris.len() > LOGOUT_URIS_MAX {
        let why = format!("a client has at most {LOGOUT_URIS_MAX} addresses after sign-out");
        return Err(AdminError::Invalid(why));
    }
    for uri in &uris {
        check_address("the address after sign-out", uri, kind)?;
        if uri == redirect_uri::OUT_OF_BAND {
            return Err(AdminError::Invalid(format!(
                "the address after sign-out {uri} shows the code out of band; give an https address"
            )));
        }
    }
    Ok(uris)
}

/// `is_local`: loopback addresses are allowed, as under `dev`.
pub(crate) fn check_backchannel_logout_uri(uri: &str, is_local: bool) -> Result<()> {
    ReceiverUrl::parse(uri, is_local)
        .map(drop)
        .map_err(|why| AdminError::Invalid(format!("the address for back-channel logouts {uri} {why}")))
}

pub(crate) fn checked_name(name: &str) -> Result<String> {
    domain::checked_name(name, NAME_CHARS_MAX).map(str::to_owned).ok_or_else(|| {
        AdminError::Invalid("a name has 1 to 200 characters, none of them a control character".into())
    })
}

/// A family name, which may be empty: none.
pub(crate) fn checked_family_name(name: &str) -> Result<String> {
    if name.trim().is_empty() { Ok(String::new()) } else { checked_name(name) }
}

/// `what` names the id, with its article.
pub(crate) fn checked_id(what: &str, id: &str) -> Result<String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    // Ids are path segments, where "." and ".." have a meaning of their own.
    let first_is_alphanumeric = id.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if !first_is_alphanumeric || id.len() > ID_CHARS_MAX || !id.bytes().all(is_allowed) {
        let message = format!(
            "{what} has 1 to {ID_CHARS_MAX} letters, digits, hyphens, dots or underscores, and begins with a letter or digit"
        );
        return Err(AdminError::Invalid(message));
    }
    Ok(id.to_owned())
}

pub(crate) fn checked_email(email: &str) -> Result<String> {
    normalized_email(email)
        .ok_or_else(|| AdminError::Invalid(format!("{:?} is not an e-mail address", email.trim())))
}

pub(crate) fn checked_lang(lang: &str) -> Result<String> {
    match lang {
        "es" | "en" => Ok(lang.to_owned()),
        _ => Err(AdminError::Invalid(format!("the language is es or en, not {lang:?}"))),
    }
}

/// Whether the text has so many characters.
pub(crate) fn in_chars(text: &str, min: usize, max: usize) -> std::result::Result<(), String> {
    let count = text.chars().count();
    if (min..=max).contains(&count) {
        return Ok(());
    }
    Err(format!("it has {count} characters and must have {min} to {max}"))
}

/// A text of several lines. Surrounding space counts too, so that a schema can say exactly what is accepted.
pub(crate) fn check_text(text: &str, min: usize, max: usize) -> std::result::Result<(), String> {
    in_chars(text, min, max)?;
    if min > 0 && text.trim().is_empty() {
        return Err("it is blank".into());
    }
    if text.replace("\r\n", "\n").chars().any(|c| c.is_control() && c != '\n') {
        return Err("it has control characters; line ends are the only ones that it may have".into());
    }
    Ok(())
}
