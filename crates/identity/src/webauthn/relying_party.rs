//! The relying party: the host that passkeys belong to, and the origins whose pages may use them.

use axum::http::Uri;

/// Where passkeys of a realm are valid. Another `id` makes all of them unusable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelyingParty {
    /// A host name in lower case.
    pub id: String,
    /// Each exactly as browsers write it: scheme, host and, unless it is the scheme's own, the port.
    pub origins: Vec<String>,
    /// What authenticators show.
    pub name: String,
}

/// Why no passkey can be used at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RelyingPartyError {
    #[error("it is not an absolute http or https URL")]
    NotAUrl,
    #[error("its host is an IP address, and browsers bind passkeys to names only")]
    IpAddress,
    #[error("it has plain http, which browsers accept for passkeys on localhost only")]
    NotSecure,
}

impl RelyingParty {
    /// The relying party of the pages below `url`: its id is the host, and only pages of this origin are accepted.
    pub fn at(url: &str, name: &str) -> Result<Self, RelyingPartyError> {
        let uri: Uri = url.parse().map_err(|_| RelyingPartyError::NotAUrl)?;
        let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host()) else {
            return Err(RelyingPartyError::NotAUrl);
        };
        let id = host.to_ascii_lowercase();
        // What browsers take for an IPv4 address ends in a number; what is in brackets is IPv6.
        let last_label = id.rsplit('.').next().unwrap_or_default();
        if id.starts_with('[') || last_label.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(RelyingPartyError::IpAddress);
        }
        let is_localhost = id == "localhost" || id.ends_with(".localhost");
        let default_port = match scheme {
            "https" => 443,
            "http" if is_localhost => 80,
            "http" => return Err(RelyingPartyError::NotSecure),
            _ => return Err(RelyingPartyError::NotAUrl),
        };
        let port = uri.port_u16().filter(|port| *port != default_port);
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self { origins: vec![format!("{scheme}://{id}{port}")], id, name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_and_origin_follow_from_the_url() {
        let cases = [
            ("https://id.example/auth/core", "id.example", "https://id.example"),
            ("https://ID.Example:443", "id.example", "https://id.example"),
            ("https://id.example:8443/", "id.example", "https://id.example:8443"),
            ("http://localhost:4010/auth/core", "localhost", "http://localhost:4010"),
            ("http://localhost:80", "localhost", "http://localhost"),
            ("http://panel.localhost:4010", "panel.localhost", "http://panel.localhost:4010"),
        ];
        for (url, id, origin) in cases {
            let found = RelyingParty::at(url, "Aldaba").unwrap();
            assert_eq!((&*found.id, &*found.origins, &*found.name), (id, &[origin.to_owned()][..], "Aldaba"));
        }
    }

    #[test]
    fn addresses_without_passkeys_are_refused_with_the_reason() {
        let cases = [
            ("https://127.0.0.1:4010", RelyingPartyError::IpAddress),
            ("https://127.1", RelyingPartyError::IpAddress),
            ("http://[::1]:4010", RelyingPartyError::IpAddress),
            ("http://id.example", RelyingPartyError::NotSecure),
            ("http://localhost.example", RelyingPartyError::NotSecure),
            ("ftp://id.example", RelyingPartyError::NotAUrl),
            ("/auth/core", RelyingPartyError::NotAUrl),
            ("id.example", RelyingPartyError::NotAUrl),
            ("", RelyingPartyError::NotAUrl),
        ];
        for (url, error) in cases {
            assert_eq!(RelyingParty::at(url, "Aldaba"), Err(error), "{url}");
        }
    }
}
