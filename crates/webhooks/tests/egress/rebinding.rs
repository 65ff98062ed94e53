//! DNS rebinding: a name that has an allowed address when it is checked, and a forbidden one when it is dialled. IPv6 has more
//! ways to name the same forbidden host than IPv4, and a name may change from one family to the other.

use std::net::IpAddr;
use std::sync::Arc;

use domain::egress::EgressPolicy;
use tokio::net::TcpListener;
use webhooks::egress::{Egress, EgressError, EgressSettings};

use super::fixture::{ScriptedResolver, error_of, request, response_to, url};
use super::server::{Connection, OK, Server, respond_always};

/// One response, after which the next request has to resolve the name again.
const OK_AND_CLOSE: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

const PUBLIC: [&str; 2] = ["2606:4700:4700::1111", "8.8.8.8"];

/// Addresses that lead to this machine, to its network or to a cloud's metadata, in every spelling.
const FORBIDDEN: [&str; 15] = [
    "::1",
    "::",
    "fd00::1",
    "fe80::1",
    "fd00:ec2::254",
    "::ffff:127.0.0.1",
    "::ffff:127.0.0.2",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2001:db8::1",
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
];

fn with_policy(allow: &[&str], script: ScriptedResolver) -> Egress {
    let allow = allow.iter().map(|range| range.parse().unwrap()).collect();
    let policy = EgressPolicy { allow, loopback: false };
    let settings = EgressSettings { policy, ..EgressSettings::default() };
    Egress::with_resolver(settings, Arc::new(script)).unwrap()
}

/// Servers at one port of both loopback addresses; none for IPv6 where the machine has none, or another process the port.
async fn loopback_servers(response: &'static str) -> (Server, Option<Server>) {
    let v4 = Server::responding(response).await;
    let listener = TcpListener::bind(("::1", v4.address.port())).await.ok();
    let script = move |connection: Connection| respond_always(connection, response);
    (v4, listener.map(|listener| Server::accept_from(listener, None, script)))
}

#[track_caller]
fn assert_refused(error: &EgressError, address: &str) {
    let expected: IpAddr = address.parse().unwrap();
    let is_refused = matches!(error, EgressError::Refused { address, .. } if *address == expected);
    assert!(is_refused, "{address}: {error:?}");
}

/// As when a webhook is made: the check finds a public address, the delivery a forbidden one.
#[tokio::test]
async fn address_that_is_forbidden_after_the_check_is_not_dialled() {
    let (v4, v6) = loopback_servers(OK).await;
    let address = format!("http://rebound.localhost:{}/", v4.address.port());
    for public in PUBLIC {
        for forbidden in FORBIDDEN {
            let script = ScriptedResolver::default()
                .with("rebound.localhost", &[public])
                .with("rebound.localhost", &[forbidden]);
            let egress = with_policy(&[], script);
            assert_eq!(egress.check(&url(&address)).await, Ok(()), "{public}");
            assert_refused(&error_of(&egress, request(&address)).await, forbidden);
        }
    }
    assert_eq!(v4.counts().accepted, 0);
    assert!(v6.is_none_or(|server| server.counts().accepted == 0));
}

/// A resolver may give addresses of both families; the forbidden one counts, wherever it is.
#[tokio::test]
async fn forbidden_address_beside_public_ones_of_either_family_is_not_dialled() {
    let (v4, v6) = loopback_servers(OK).await;
    let address = format!("http://mixed.localhost:{}/", v4.address.port());
    for forbidden in FORBIDDEN {
        for answer in [[forbidden, PUBLIC[0], PUBLIC[1]], [PUBLIC[0], PUBLIC[1], forbidden]] {
            let egress = with_policy(&[], ScriptedResolver::default().with("mixed.localhost", &answer));
            assert_refused(&error_of(&egress, request(&address)).await, forbidden);
        }
    }
    assert_eq!(v4.counts().accepted, 0);
    assert!(v6.is_none_or(|server| server.counts().accepted == 0));
}

/// The allowed address stands for a public one: it is dialled, and the name changes after the first response.
#[tokio::test]
async fn name_that_changes_from_ipv4_to_a_forbidden_ipv6_address_is_not_dialled() {
    let (v4, v6) = loopback_servers(OK_AND_CLOSE).await;
    let address = format!("http://changing.localhost:{}/", v4.address.port());
    // Where 127.0.0.1 is allowed, so is the same address inside of an IPv6 one.
    let apart = FORBIDDEN.into_iter().filter(|forbidden| !forbidden.ends_with("127.0.0.1"));
    for (round, forbidden) in (1..).zip(apart) {
        let script = ScriptedResolver::default()
            .with("changing.localhost", &["127.0.0.1"])
            .with("changing.localhost", &[forbidden]);
        let egress = with_policy(&["127.0.0.1/32"], script);
        response_to(&egress, request(&address)).await;
        assert_refused(&error_of(&egress, request(&address)).await, forbidden);
        assert_eq!(v4.counts().accepted, round);
    }
    assert!(v6.is_none_or(|server| server.counts().accepted == 0));
}

#[tokio::test]
async fn name_that_changes_from_ipv6_to_a_forbidden_address_is_not_dialled() {
    let (v4, v6) = loopback_servers(OK_AND_CLOSE).await;
    // A machine without IPv6 dials no such address.
    let Some(v6) = v6 else { return };
    let address = format!("http://changing.localhost:{}/", v6.address.port());
    let apart = FORBIDDEN.into_iter().filter(|forbidden| *forbidden != "::1");
    for (round, forbidden) in (1..).zip(apart) {
        let script = ScriptedResolver::default()
            .with("changing.localhost", &["::1"])
            .with("changing.localhost", &[forbidden]);
        let egress = with_policy(&["::1/128"], script);
        response_to(&egress, request(&address)).await;
        assert_refused(&error_of(&egress, request(&address)).await, forbidden);
        assert_eq!(v6.counts().accepted, round);
    }
    assert_eq!(v4.counts().accepted, 0);
}
