//! Connections of the whole service: silent ones keep nobody out, and the operator's side has descriptors of its own.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use testserver::TestServer;
use web::Stopwatch;

use crate::harness::{Installation, ServeProcess, WAIT_MAX, metric, wait_for};

/// 100 public connections, 30 of the operator's side, 16 sockets for deliveries, 4 of the store, 200 files.
const FITTING: [&str; 4] = [
    "server.connections_max=100",
    "operator.connections_max=30",
    "egress.sockets_max=16",
    "store.connections_max=4",
];
const OPEN_FILES: u32 = 350;

fn open(url: &str, opening: &str) -> TcpStream {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
    stream.write_all(opening.as_bytes()).unwrap();
    stream
}

/// Whether a new connection is served, not refused.
fn is_alive(url: &str) -> bool {
    let mut stream = open(url, "");
    let mut response = Vec::new();
    let request = b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let _ = stream.write_all(request).and_then(|()| stream.read_to_end(&mut response));
    response.starts_with(b"HTTP/1.1 200 OK")
}

#[test]
fn silent_connections_keep_nobody_out() {
    let server = TestServer::builder().set("server.connections_max", "20").start();
    let form = "POST /auth/core/connect/token HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\
                content-type: application/x-www-form-urlencoded\r\n\r\ng";
    let mut silent = Vec::new();
    for opening in ["", "PRI * HTTP/2.0", "GET / HTTP/1.1\r\nx: "] {
        silent.extend((0..50).map(|_| open(server.base_url(), opening)));
    }
    assert!(is_alive(server.base_url()));
    let stalled: Vec<_> = (0..20).map(|_| open(server.base_url(), form)).collect();
    wait_for("a place among requests whose body stalls", || is_alive(server.base_url()).then_some(()));
    drop((silent, stalled));
}

#[test]
fn stalled_body_is_answered_and_its_connection_closed() {
    let server = TestServer::builder().set("server.body_timeout", "200ms").start();
    let (token, tenant) = (server.operator_token(), server.add_tenant("Asesoría"));
    let ingest = format!(
        "POST /operator/v1/tenants/{}/changes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n",
        tenant.id
    );
    let form = "POST /auth/core/connect/token HTTP/1.1\r\nhost: x\r\n\
                content-type: application/x-www-form-urlencoded\r\n";
    let json = format!(
        "POST /operator/v1/tenants HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\n"
    );
    for (url, head, status) in [
        (server.base_url(), form, 408),
        (server.operator_url(), &*ingest, 400),
        (server.operator_url(), &*json, 408),
    ] {
        let watch = Stopwatch::start();
        let mut stream = open(url, &format!("{head}content-length: 50\r\n\r\n{{"));
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        let response = String::from_utf8_lossy(&response);
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{response}");
        assert!(watch.elapsed().as_secs() < 10, "{:?}", watch.elapsed());
    }
    let closed = "aldaba_http_connections_closed_total{side=\"operator\",reason=\"body\"}";
    assert_eq!(metric(server.operator_url(), closed), 2);
}

#[test]
fn connections_that_the_limit_on_open_files_does_not_allow_are_refused() {
    let installation = Installation::new();
    for command in ["check", "serve"] {
        let program = installation.program(&[command]).open_files_max(OPEN_FILES);
        program.run().expect_failure(
            3,
            "server.connections_max: is 10000, which the limit on open files (350) does not allow beside",
        );
    }
    let fitting = FITTING.iter().flat_map(|&setting| ["--set", setting]);
    let fitting: Vec<&str> = fitting.chain(["check"]).collect();
    installation.program(&fitting).open_files_max(OPEN_FILES).run().code(0);
}

#[test]
fn public_side_cannot_use_up_the_descriptors_of_the_operators_side() {
    let installation = Installation::new();
    let settings = FITTING.iter().flat_map(|&setting| ["--set", setting]);
    let arguments: Vec<&str> = settings
        .chain(["--set", "server.drain_delay=0s", "--set", "server.connections_per_address_max=0"])
        .chain(["serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0"])
        .collect();
    let process = installation.program(&arguments).open_files_max(OPEN_FILES).start();
    let server = ServeProcess::running(process, installation);
    let flood: Vec<_> = (0..1000).map(|_| open(&server.public_url, "")).collect();
    assert!(is_alive(&server.operator_url) && is_alive(&server.public_url));
    let open = "aldaba_http_connections{side=\"public\"}";
    wait_for("the limit to hold", || (server.metric(open) <= 100).then_some(()));
    assert!(server.metric("aldaba_process_open_fds") < u64::from(OPEN_FILES));
    drop(flood);
    server.stop();
}
