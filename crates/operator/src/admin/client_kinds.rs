//! What the kind of a client decides: its redirect addresses, its use of PKCE, and whether it has a secret.

use domain::ClientKind;
use store::{Client, ClientUpdate, Pkce, REDIRECT_URIS_MAX};

use super::{AdminError, Result};
use crate::checks::{check_redirect, checked_logout_uris};

/// Every client that users sign in to has redirect addresses; a resource server has none.
pub(super) fn check_redirects(uris: &[String], kind: ClientKind) -> Result<()> {
    let why = match (kind.signs_users_in(), uris.len()) {
        (false, 0) => return Ok(()),
        (false, _) => "a resource server has no redirect addresses: nobody signs in to it".to_owned(),
        (true, 1..=REDIRECT_URIS_MAX) => return uris.iter().try_for_each(|uri| check_redirect(uri, kind)),
        (true, _) => format!("a client has 1 to {REDIRECT_URIS_MAX} redirect addresses"),
    };
    Err(AdminError::Invalid(why))
}

/// The PKCE mode of a client: a public one must use PKCE, because nothing else binds a code to it.
pub(super) fn checked_pkce(pkce: Option<Pkce>, kind: ClientKind) -> Result<Pkce> {
    match pkce {
        None | Some(Pkce::Required) if kind.is_public() => Ok(Pkce::Required),
        Some(_) if kind.is_public() => Err(AdminError::Invalid(format!(
            "a client of the kind {} has no secret and must use PKCE: give pkce as required, or leave it out",
            kind.as_str()
        ))),
        pkce => Ok(pkce.unwrap_or(Pkce::IfSent)),
    }
}

/// Checks the changes of a client that its kind decides about.
pub(super) fn checked_update(mut update: ClientUpdate, kind: ClientKind) -> Result<ClientUpdate> {
    if let Some(uris) = &update.redirect_uris {
        check_redirects(uris, kind)?;
    }
    if update.pkce.is_some() {
        update.pkce = Some(checked_pkce(update.pkce, kind)?);
    }
    update.post_logout_uris =
        update.post_logout_uris.map(|uris| checked_logout_uris(uris, kind)).transpose()?;
    Ok(update)
}

/// Fails for a public client.
pub(super) fn check_has_secret(client: &Client) -> Result<()> {
    if !client.kind.is_public() {
        return Ok(());
    }
    let (id, kind) = (&client.id, client.kind.as_str());
    let why = format!("client \"{id}\" is of the kind {kind} and has no secret; it uses PKCE instead");
    Err(AdminError::Conflict { code: "public_client", why })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uris(uris: &[&str]) -> Vec<String> {
        uris.iter().map(|uri| (*uri).to_owned()).collect()
    }

    #[test]
    fn resource_server_has_no_addresses_and_others_have_some() {
        let some = uris(&["https://app.example/cb"]);
        for kind in ClientKind::ALL {
            let signs_in = kind != ClientKind::ResourceServer;
            assert_eq!(check_redirects(&some, kind).is_ok(), signs_in, "{kind:?}");
            assert_eq!(check_redirects(&[], kind).is_ok(), !signs_in, "{kind:?}");
            assert!(check_redirects(&vec![some[0].clone(); 21], kind).is_err(), "{kind:?}");
            let logout = |uris: &[&str]| ClientUpdate {
                post_logout_uris: Some(self::uris(uris)),
                ..ClientUpdate::default()
            };
            assert_eq!(
                checked_update(logout(&["https://app.example/bye"]), kind).is_ok(),
                signs_in,
                "{kind:?}"
            );
            assert!(checked_update(logout(&[]), kind).is_ok(), "{kind:?}");
        }
    }

    #[test]
    fn loopback_and_private_use_schemes_are_for_native_applications() {
        for uri in ["http://127.0.0.1/cb", "com.example.app:/cb"] {
            for kind in ClientKind::ALL {
                let is_native = kind == ClientKind::Native;
                assert_eq!(check_redirects(&uris(&[uri]), kind).is_ok(), is_native, "{uri} {kind:?}");
            }
        }
    }

    #[test]
    fn public_clients_must_use_pkce() {
        for kind in ClientKind::ALL {
            let default = if kind.is_public() { Pkce::Required } else { Pkce::IfSent };
            assert_eq!(checked_pkce(None, kind).unwrap(), default, "{kind:?}");
            assert_eq!(checked_pkce(Some(Pkce::Required), kind).unwrap(), Pkce::Required);
            for pkce in [Pkce::IfSent, Pkce::Ignore] {
                let checked = checked_pkce(Some(pkce), kind).map_err(|error| error.to_string());
                match checked {
                    Ok(checked) => assert!(checked == pkce && !kind.is_public(), "{kind:?}"),
                    Err(why) => assert!(kind.is_public() && why.contains("must use PKCE"), "{kind:?} {why}"),
                }
                let update = ClientUpdate { pkce: Some(pkce), ..ClientUpdate::default() };
                assert_eq!(checked_update(update, kind).is_err(), kind.is_public(), "{kind:?}");
            }
        }
    }
}
