//! Whom the way out refuses to call, and that it dials what it has judged.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::egress::EgressPolicy;
use domain::receiver_url::Host;
use tokio::net::{TcpSocket, TcpStream};
use webhooks::egress::{Call, Egress, EgressSettings, Failure, Phase};

use super::desk::{SHORT, Script, answered, call, egress, egress_with, failed, short_call, url};
use super::server::{OK, Server, Visit, always};

/// As it runs in production: no loopback.
fn strict(script: Script) -> Egress {
    Egress::with_resolver(EgressSettings::default(), Arc::new(script)).unwrap()
}

fn refused(address: &str, why: &'static str) -> Failure {
    Failure::Refused { address: address.parse().unwrap(), why }
}

#[tokio::test]
async fn an_address_by_number_is_judged() {
    let server = Server::answering(OK).await;
    let egress = strict(Script::default());
    assert_eq!(failed(&egress, call(&server.url("/"))).await, refused("127.0.0.1", "loopback"));
    assert_eq!(
        failed(&egress, call("https://169.254.169.254/latest")).await,
        refused("169.254.169.254", "cloud metadata")
    );
    assert_eq!(
        failed(&egress, call("https://[::ffff:10.0.0.1]/")).await,
        refused("::ffff:10.0.0.1", "private network")
    );
    assert_eq!(server.seen().accepted, 0);
}

#[tokio::test]
async fn an_address_behind_a_name_is_judged() {
    let egress = strict(Script::default().says("inside.example", &["10.0.0.7"]));
    let failure = failed(&egress, call("https://inside.example/")).await;
    assert_eq!(failure, refused("10.0.0.7", "private network"));
    assert_eq!(failure.to_string(), "the address 10.0.0.7 must not be called: private network");
}

#[tokio::test]
async fn one_bad_address_among_good_ones_is_enough() {
    let script = Script::default().says("mixed.localhost", &["127.0.0.1", "::1", "192.168.1.1"]);
    let server = Server::answering(OK).await;
    let address = format!("http://mixed.localhost:{}/", server.address.port());
    assert_eq!(failed(&egress_with(script), call(&address)).await, refused("192.168.1.1", "private network"));
    assert_eq!(server.seen().accepted, 0);
}

/// Between two calls the name moves inside; the first connection is closed, so the second call has to look again.
#[tokio::test]
async fn a_name_that_turns_inwards_is_refused_at_the_next_dial() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
    let script =
        Script::default().says("turning.localhost", &["127.0.0.1"]).says("turning.localhost", &["10.0.0.1"]);
    let egress = egress_with(script);
    let address = format!("http://turning.localhost:{}/", server.address.port());
    answered(&egress, call(&address)).await;
    assert_eq!(failed(&egress, call(&address)).await, refused("10.0.0.1", "private network"));
}

/// Each dial asks once: were the judge and the dialler to ask separately, the second answer would be dialled.
#[tokio::test]
async fn the_address_that_is_dialled_is_the_one_that_was_judged() {
    let server = Server::answering(OK).await;
    let script =
        Script::default().says("turning.localhost", &["127.0.0.1"]).says("turning.localhost", &["127.0.0.9"]);
    let egress = egress_with(script);
    answered(&egress, call(&format!("http://turning.localhost:{}/", server.address.port()))).await;
    assert_eq!(server.seen().accepted, 1);
}

#[tokio::test]
async fn an_operator_may_allow_a_range() {
    let server = Server::answering(OK).await;
    let policy = EgressPolicy { allow: vec!["127.0.0.0/30".parse().unwrap()], loopback: false };
    let settings = EgressSettings { policy, ..EgressSettings::default() };
    let egress = Egress::with_resolver(settings, Arc::new(Script::default())).unwrap();
    answered(&egress, call(&server.url("/"))).await;
    assert_eq!(failed(&egress, call("http://127.0.0.4:9/")).await, refused("127.0.0.4", "loopback"));
}

#[tokio::test]
async fn a_name_that_is_none_is_told_apart() {
    let egress = strict(Script::default().says("empty.example", &[]));
    let failure = failed(&egress, call("https://nowhere.example/")).await;
    assert_eq!(failure.code(), "unresolved");
    assert_eq!(failure.to_string(), "the name nowhere.example does not resolve: there is no such name");
    assert_eq!(failed(&egress, call("https://empty.example/")).await.code(), "unresolved");
}

#[tokio::test]
async fn a_receiver_is_checked_before_it_is_ever_called() {
    let script = Script::default()
        .says("good.example", &["8.8.8.8", "2606:4700:4700::1111"])
        .says("bad.example", &["8.8.8.8", "fd00:ec2::254"]);
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
async fn the_addresses_of_a_host_are_told_whatever_they_are() {
    let egress = strict(Script::default().says("inside.example", &["10.0.0.7", "8.8.8.8"]));
    let of = |text: &str| url(text).host().clone();
    let told = egress.addresses(&of("https://inside.example/")).await.unwrap();
    assert_eq!(told, ["10.0.0.7", "8.8.8.8"].map(|address| address.parse::<IpAddr>().unwrap()));
    assert_eq!(egress.addresses(&of("https://127.0.0.1/")).await.unwrap().len(), 1);
    assert!(egress.addresses(&Host::Name("nowhere.example".into())).await.is_err());
}

#[tokio::test]
async fn the_system_knows_this_machine() {
    let host = Host::Name("any.localhost".into());
    let told = egress().addresses(&host).await.unwrap();
    assert_eq!(told, ["127.0.0.1", "::1"].map(|address| address.parse::<IpAddr>().unwrap()));
    let strict = Egress::new(EgressSettings::default()).unwrap();
    assert_eq!(strict.check(&url("https://localhost/")).await, Err(refused("127.0.0.1", "loopback")));
}

#[tokio::test]
async fn where_nobody_listens_is_said() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure = failed(&egress(), call(&format!("http://{address}/"))).await;
    assert_eq!(failure.to_string(), format!("cannot connect to {address}: connection refused"));
}

/// Something that is bound and never accepts: its queue is full, so a handshake gets no answer.
struct Hole {
    port: u16,
    _socket: tokio::net::TcpListener,
    _queue: Vec<TcpStream>,
}

impl Hole {
    async fn dig() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        while let Ok(stream) = tokio::time::timeout(SHORT, TcpStream::connect(address)).await {
            queue.push(stream.unwrap());
        }
        Self { port: address.port(), _socket: listener, _queue: queue }
    }
}

#[tokio::test]
async fn a_dead_address_takes_the_deadline_and_no_more() {
    let hole = Hole::dig().await;
    let failure = failed(&egress(), short_call(&format!("http://127.0.0.2:{}/", hole.port))).await;
    assert_eq!(failure, Failure::TimedOut(Phase::Connect));
    assert_eq!(failure.to_string(), "timed out connecting");
}

#[tokio::test]
async fn a_dead_address_leaves_time_for_the_next() {
    let hole = Hole::dig().await;
    let here = format!("127.0.0.1:{}", hole.port);
    let server = Server::start_on(&here, None, |visit: Visit| always(visit, OK)).await;
    let script = Script::default().says("two.localhost", &["127.0.0.2", "127.0.0.1"]);
    let deadline = Duration::from_secs(1);
    let patient = Call { deadline, ..call(&format!("http://two.localhost:{}/", hole.port)) };
    let sent = egress_with(script).send(patient).await;
    assert_eq!(sent.result.unwrap().status, 200);
    assert!(sent.timing.connect >= deadline / 4, "the dead one was first: {:?}", sent.timing);
    assert_eq!(server.seen().accepted, 1);
}
