//! Where the page of the public document is: its host, and the address that a sign-in on it returns to.

use std::net::IpAddr;

use axum::http::Uri;
use axum::http::header::{HOST, HeaderMap};

use crate::config::Server;

/// The path of the page that a sign-in returns to.
const RETURN_PATH: &str = "/docs/oauth2-redirect.html";

/// Scheme, host and port of a URL, without a default port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Origin {
    fn of(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let (host, port) = host_and_port(&uri, &scheme)?;
        Some(Self { scheme, host, port })
    }
}

fn host_and_port(uri: &Uri, scheme: &str) -> Option<(String, Option<u16>)> {
    let default_port = if scheme == "https" { 443 } else { 80 };
    let port = uri.port_u16().filter(|port| *port != default_port);
    Some((uri.host()?.to_ascii_lowercase(), port))
}

/// The redirect URI of the page; none where the APIs and the identity provider have different origins, because the page may
/// call only its own. The host of a loopback address is `localhost`: a redirect URI must not name the address.
pub(crate) fn sign_in_redirect_uri(server: &Server) -> Option<String> {
    let base = Origin::of(&server.base_url)?;
    if Origin::of(&server.auth_url)? != base {
        return None;
    }
    let Origin { scheme, host, port } = base;
    let address: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    let host = if address.is_some_and(|address| address.is_loopback()) { "localhost".into() } else { host };
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{scheme}://{host}{port}{RETURN_PATH}"))
}

/// Whether a redirect URI is the page's, at any port of this machine.
pub(crate) fn is_local_page(redirect_uri: &str) -> bool {
    redirect_uri.starts_with("http://localhost:") && redirect_uri.ends_with(RETURN_PATH)
}

/// The only host that has the page; none if every host may have it.
#[derive(Clone, Debug)]
pub(super) struct OnlyHost(Option<Origin>);

impl OnlyHost {
    /// The host of the APIs, if the sign-in pages have another: the page's scripts must not run on their origin.
    pub(super) fn new(server: &Server) -> Self {
        let (base, auth) = (Origin::of(&server.base_url), Origin::of(&server.auth_url));
        let is_same =
            base.as_ref().map(|one| (&one.host, one.port)) == auth.as_ref().map(|one| (&one.host, one.port));
        Self(base.filter(|_| !is_same))
    }

    pub(super) fn any() -> Self {
        Self(None)
    }

    /// Whether a request with this URI and these headers is for the host.
    pub(super) fn allows(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let Some(only) = &self.0 else { return true };
        // HTTP/2 has the host in the URI.
        let header: Option<Uri> = headers.get(HOST).and_then(|host| host.to_str().ok()?.parse().ok());
        let requested = host_and_port(uri, &only.scheme)
            .or_else(|| header.as_ref().and_then(|header| host_and_port(header, &only.scheme)));
        requested.is_some_and(|(host, port)| host == only.host && port == only.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(base_url: &str, auth_url: &str) -> Server {
        let config = crate::config::load(&crate::config::Sources::default()).unwrap();
        Server { base_url: base_url.into(), auth_url: auth_url.into(), ..config.server }
    }

    #[test]
    fn sign_in_on_the_page_needs_one_origin() {
        let uri = |base: &str, auth: &str| sign_in_redirect_uri(&server(base, auth));
        let at = |origin: &str| Some(format!("{origin}/docs/oauth2-redirect.html"));
        assert_eq!(uri("https://a.example", "https://a.example:443"), at("https://a.example"));
        assert_eq!(uri("http://127.0.0.1:8080", "http://127.0.0.1:8080"), at("http://localhost:8080"));
        assert_eq!(uri("http://[::1]:8080", "http://[::1]:8080"), at("http://localhost:8080"));
        assert_eq!(uri("https://api.example", "https://id.example"), None);
        assert_eq!(uri("https://a.example", "https://a.example:8443"), None);
        let local = uri("http://127.0.0.1:8080", "http://127.0.0.1:8080").unwrap();
        assert_eq!(domain::redirect_uri::check(&local, domain::ClientKind::Web), Ok(()));
        assert!(is_local_page(&local) && !is_local_page("http://localhost:8765/callback"));
    }

    #[test]
    fn page_is_not_on_another_host_of_the_sign_in_pages() {
        let allows = |only: &OnlyHost, host: &str| {
            let headers = HeaderMap::from_iter([(HOST, host.parse().unwrap())]);
            let by_header = only.allows(&"/docs/".parse().unwrap(), &headers);
            let uri = format!("https://{host}/docs/").parse().unwrap();
            assert_eq!(only.allows(&uri, &HeaderMap::new()), by_header, "{host}");
            by_header
        };
        let two = OnlyHost::new(&server("https://api.example", "https://id.example"));
        for (host, expected) in [
            ("api.example", true),
            ("API.example:443", true),
            ("id.example", false),
            ("127.0.0.1:8080", false),
        ] {
            assert_eq!(allows(&two, host), expected, "{host}");
        }
        assert!(!two.allows(&"/docs/".parse().unwrap(), &HeaderMap::new()), "a request without a host");
        let ports = OnlyHost::new(&server("https://a.example", "https://a.example:8443"));
        assert!(allows(&ports, "a.example") && !allows(&ports, "a.example:8443"));
        let one = OnlyHost::new(&server("https://a.example", "https://a.example"));
        assert!(allows(&one, "a.example") && allows(&one, "elsewhere.example"));
    }
}
