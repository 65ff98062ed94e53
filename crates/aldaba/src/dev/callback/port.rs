//! A port of this machine that a redirect URI names: whether anything listens there, and listening there ourselves.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use axum::http::Uri;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Both addresses that `localhost` stands for.
const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
/// A program on this machine accepts or refuses a connection at once.
const CONNECT_MAX: Duration = Duration::from_millis(200);

/// The port of a plain http address on this machine.
pub(super) fn local_port(uri: &str) -> Option<u16> {
    let uri: Uri = uri.parse().ok()?;
    let host = uri.host()?.trim_matches(['[', ']']);
    let is_local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let is_http = uri.scheme_str() == Some("http");
    (is_local && is_http).then(|| uri.port_u16().unwrap_or(80))
}

/// Whether a program listens on the port. Binding alone would not tell on every system: some let a program bind a loopback
/// address beside another one that listens on all addresses.
pub(super) async fn is_taken(port: u16) -> bool {
    let connect = |address| timeout(CONNECT_MAX, TcpStream::connect(SocketAddr::new(address, port)));
    let [v4, v6] = LOOPBACK.map(connect);
    let (v4, v6) = tokio::join!(v4, v6);
    [v4, v6].iter().any(|connected| !matches!(connected, Ok(Err(_))))
}

/// Why dev does not listen on a port.
#[derive(Debug)]
pub(super) enum NoPort {
    /// Another program has it.
    Taken,
    Refused(io::Error),
}

/// Listens on the port on both addresses, or on the one that this machine has.
pub(super) async fn listen(port: u16) -> Result<Vec<TcpListener>, NoPort> {
    if is_taken(port).await {
        return Err(NoPort::Taken);
    }
    let (mut listeners, mut refusal) = (Vec::new(), None);
    for address in LOOPBACK {
        match TcpListener::bind(SocketAddr::new(address, port)).await {
            Ok(listener) => listeners.push(listener),
            Err(error) if error.kind() == ErrorKind::AddrInUse => return Err(NoPort::Taken),
            // Without IPv6, for example: the other address is enough.
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    match refusal {
        Some(error) if listeners.is_empty() => Err(NoPort::Refused(error)),
        _ => Ok(listeners),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_on_this_machine_has_a_local_port() {
        assert_eq!(local_port("http://localhost:8765/callback"), Some(8765));
        assert_eq!(local_port("http://127.0.0.1:3000/"), Some(3000));
        assert_eq!(local_port("http://[::1]:3000/cb"), Some(3000));
        assert_eq!(local_port("http://localhost/cb"), Some(80));
        for elsewhere in [
            "https://localhost:8765/callback",
            "https://app.example/callback",
            "http://oob/",
            "http://localhost.evil.example:1/",
            "com.example.app:/callback",
            "urn:ietf:wg:oauth:2.0:oob",
            "",
        ] {
            assert_eq!(local_port(elsewhere), None, "{elsewhere}");
        }
    }

    #[tokio::test]
    async fn port_of_another_program_is_left_alone() {
        for address in ["127.0.0.1:0", "[::1]:0", "0.0.0.0:0"] {
            // A machine may lack IPv6.
            let Ok(other) = TcpListener::bind(address).await else { continue };
            let port = other.local_addr().unwrap().port();
            assert!(is_taken(port).await && matches!(listen(port).await, Err(NoPort::Taken)), "{address}");
            drop(other);
            let listeners = listen(port).await.unwrap();
            assert!(is_taken(port).await && !listeners.is_empty(), "{address}");
        }
    }
}
