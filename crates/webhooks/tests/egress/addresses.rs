//! The egress policy: which addresses it refuses, and that it dials exactly the addresses that it checked.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::egress::EgressPolicy;
use domain::receiver_url::Host;
use tokio::net::{TcpSocket, TcpStream};
use webhooks::egress::{Egress, EgressError, EgressSettings, OutboundRequest, Phase};

use super::fixture::{
    SHORT_TIMEOUT, ScriptedResolver, egress, egress_with, error_of, request, response_to, short_request, url,
};
use super::server::{Connection, OK, Server, respond_always};

/// As in production: loopback is not allowed.
fn strict(script: ScriptedResolver) -> Egress {
    Egress::with_resolver(EgressSettings::default(), Arc::new(script)).unwrap()
}

fn refused(address: &str, why: &'static str) -> EgressError {
    EgressError::Refused { address: address.parse().unwrap(), why }
}

#[tokio::test]
async fn ip_address_is_checked() {
    let server = Server::responding(OK).await;
    let egress = strict(ScriptedResolver::default());
    assert_eq!(error_of(&egress, request(&server.url("/"))).await, refused("127.0.0.1", "loopback"));
    assert_eq!(
        error_of(&egress, request("https://169.254.169.254/latest")).await,
        refused("169.254.169.254", "cloud metadata")
    );
    assert_eq!(
        error_of(&egress, request("https://[::ffff:10.0.0.1]/")).await,
        refused("::ffff:10.0.0.1", "private network")
    );
    assert_eq!(server.counts().accepted, 0);
}

#[tokio::test]
async fn resolved_address_is_checked() {
    let egress = strict(ScriptedResolver::default().with("inside.example", &["10.0.0.7"]));
    let error = error_of(&egress, request("https://inside.example/")).await;
    assert_eq!(error, refused("10.0.0.7", "private network"));
    assert_eq!(error.to_string(), "the host is not a public address");
}

#[tokio::test]
async fn one_forbidden_address_among_allowed_ones_is_refused() {
    let script = ScriptedResolver::default().with("mixed.localhost", &["127.0.0.1", "::1", "192.168.1.1"]);
    let server = Server::responding(OK).await;
    let address = format!("http://mixed.localhost:{}/", server.address.port());
    assert_eq!(
        error_of(&egress_with(script), request(&address)).await,
        refused("192.168.1.1", "private network")
    );
    assert_eq!(server.counts().accepted, 0);
}

/// Between two requests the name changes to a private address; the first connection is closed, so the second request
/// resolves the name again.
#[tokio::test]
async fn name_that_changes_to_a_private_address_is_refused() {
    let server =
        Server::responding("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
    let script = ScriptedResolver::default()
        .with("changing.localhost", &["127.0.0.1"])
        .with("changing.localhost", &["10.0.0.1"]);
    let egress = egress_with(script);
    let address = format!("http://changing.localhost:{}/", server.address.port());
    response_to(&egress, request(&address)).await;
    assert_eq!(error_of(&egress, request(&address)).await, refused("10.0.0.1", "private network"));
}

/// Each dial resolves once: if the check and the dialler resolved separately, the second result would be dialled.
#[tokio::test]
async fn dialled_address_is_the_checked_one() {
    let server = Server::responding(OK).await;
    let script = ScriptedResolver::default()
        .with("changing.localhost", &["127.0.0.1"])
        .with("changing.localhost", &["127.0.0.9"]);
    let egress = egress_with(script);
    response_to(&egress, request(&format!("http://changing.localhost:{}/", server.address.port()))).await;
    assert_eq!(server.counts().accepted, 1);
}

#[tokio::test]
async fn operator_can_allow_a_range() {
    let server = Server::responding(OK).await;
    let policy = EgressPolicy { allow: vec!["127.0.0.0/30".parse().unwrap()], loopback: false };
    let settings = EgressSettings { policy, ..EgressSettings::default() };
    let egress = Egress::with_resolver(settings, Arc::new(ScriptedResolver::default())).unwrap();
    response_to(&egress, request(&server.url("/"))).await;
    assert_eq!(error_of(&egress, request("http://127.0.0.4:9/")).await, refused("127.0.0.4", "loopback"));
}

#[tokio::test]
async fn unknown_name_is_unresolved() {
    let egress = strict(ScriptedResolver::default().with("empty.example", &[]));
    let error = error_of(&egress, request("https://nowhere.example/")).await;
    assert_eq!(error.code(), "unresolved");
    assert_eq!(error.to_string(), "the name nowhere.example does not resolve: there is no such name");
    assert_eq!(error_of(&egress, request("https://empty.example/")).await.code(), "unresolved");
}

#[tokio::test]
async fn check_applies_the_policy_without_a_request() {
    let script = ScriptedResolver::default()
        .with("good.example", &["8.8.8.8", "2606:4700:4700::1111"])
        .with("bad.example", &["8.8.8.8", "fd00:ec2::254"]);
    let egress = strict(script);
    assert_eq!(egress.check(&url("https://good.example/")).await, Ok(()));
    assert_eq!(
        egress.check(&url("https://bad.example/")).await,
        Err(refused("fd00:ec2::254", "cloud metadata"))
    );
    assert_eq!(egress.check(&url("https://[::1]/")).await, Err(refused("::1", "loopback")));
    assert_eq!(egress.check(&url("https://nowhere.example/")).await.unwrap_err().code(), "unresolved");
}

#[tokio::test]
async fn addresses_returns_forbidden_ones_too() {
    let egress = strict(ScriptedResolver::default().with("inside.example", &["10.0.0.7", "8.8.8.8"]));
    let of = |text: &str| url(text).host().clone();
    let addresses = egress.addresses(&of("https://inside.example/")).await.unwrap();
    assert_eq!(addresses, ["10.0.0.7", "8.8.8.8"].map(|address| address.parse::<IpAddr>().unwrap()));
    assert_eq!(egress.addresses(&of("https://127.0.0.1/")).await.unwrap().len(), 1);
    assert!(egress.addresses(&Host::Name("nowhere.example".into())).await.is_err());
}

#[tokio::test]
async fn system_resolver_resolves_localhost() {
    let host = Host::Name("any.localhost".into());
    let addresses = egress().addresses(&host).await.unwrap();
    assert_eq!(addresses, ["127.0.0.1", "::1"].map(|address| address.parse::<IpAddr>().unwrap()));
    let strict = Egress::new(EgressSettings::default()).unwrap();
    assert_eq!(strict.check(&url("https://localhost/")).await, Err(refused("127.0.0.1", "loopback")));
}

#[tokio::test]
async fn refused_connection_is_an_error() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = error_of(&egress(), request(&format!("http://{address}/"))).await;
    assert_eq!(error.to_string(), "cannot connect: connection refused", "loopback is not a public address");
}

/// A listener that never accepts and whose backlog is full, so that connecting gets no reply.
struct FullListener {
    port: u16,
    _socket: tokio::net::TcpListener,
    _queue: Vec<TcpStream>,
}

impl FullListener {
    async fn start() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        while let Ok(stream) = tokio::time::timeout(SHORT_TIMEOUT, TcpStream::connect(address)).await {
            queue.push(stream.unwrap());
        }
        Self { port: address.port(), _socket: listener, _queue: queue }
    }
}

#[tokio::test]
async fn unreachable_address_times_out() {
    let full = FullListener::start().await;
    let error = error_of(&egress(), short_request(&format!("http://127.0.0.2:{}/", full.port))).await;
    assert_eq!(error, EgressError::TimedOut(Phase::Connect));
    assert_eq!(error.to_string(), "timed out connecting");
}

#[tokio::test]
async fn unreachable_address_leaves_time_for_the_next_one() {
    let full = FullListener::start().await;
    let here = format!("127.0.0.1:{}", full.port);
    let server = Server::start_on(&here, None, |connection: Connection| respond_always(connection, OK)).await;
    let script = ScriptedResolver::default().with("two.localhost", &["127.0.0.2", "127.0.0.1"]);
    let timeout = Duration::from_secs(1);
    let patient = OutboundRequest { timeout, ..request(&format!("http://two.localhost:{}/", full.port)) };
    let exchange = egress_with(script).send(patient).await;
    assert_eq!(exchange.result.unwrap().status, 200);
    assert!(
        exchange.timing.connect >= timeout / 4,
        "the unreachable address was first: {:?}",
        exchange.timing
    );
    assert_eq!(server.counts().accepted, 1);
}
