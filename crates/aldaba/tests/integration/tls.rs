//! Built-in TLS: versions 1.3 and 1.2 only, and precise errors for PEM files.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{
    ClientConfig, ClientConnection, ProtocolVersion, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

use crate::harness::{EmbeddedServer, Installation, WAIT_MAX};

const TLS_1_0: u8 = 1;
const TLS_1_1: u8 = 2;
const TLS_1_2: u8 = 3;
const HANDSHAKE: u8 = 22;
const SERVER_HELLO: u8 = 2;
const ALERT: u8 = 21;
const FATAL: u8 = 2;
const PROTOCOL_VERSION: u8 = 70;

struct Pem {
    folder: tempfile::TempDir,
    certificate: rcgen::CertifiedKey<rcgen::KeyPair>,
}

impl Pem {
    fn new() -> Self {
        let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("chain.pem"), certificate.cert.pem()).unwrap();
        std::fs::write(folder.path().join("key.pem"), certificate.signing_key.serialize_pem()).unwrap();
        Self { folder, certificate }
    }

    /// The settings that name two files of this folder.
    fn settings(&self, certificates: &str, key: &str) -> [String; 2] {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let (certificates, key) = (path(certificates), path(key));
        [format!("server.tls_certificates={certificates}"), format!("server.tls_key={key}")]
    }

    fn client(&self, address: &str, version: &'static SupportedProtocolVersion, alpn: &[&[u8]]) -> Tls {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.cert.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        StreamOwned::new(connection, connect(address))
    }
}

type Tls = StreamOwned<ClientConnection, TcpStream>;

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
    stream
}

fn start_server(pem: &Pem) -> (EmbeddedServer, String) {
    let settings = pem.settings("chain.pem", "key.pem");
    let start_server = EmbeddedServer::start(Installation::new(), &settings.each_ref().map(String::as_str));
    let address = start_server.public_url.trim_start_matches("http://").to_owned();
    (start_server, address)
}

#[test]
fn tls_1_3_and_1_2_are_accepted() {
    let pem = Pem::new();
    let (_serve, address) = start_server(&pem);
    for (version, name) in [
        (&rustls::version::TLS13, ProtocolVersion::TLSv1_3),
        (&rustls::version::TLS12, ProtocolVersion::TLSv1_2),
    ] {
        let mut stream = pem.client(&address, version, &[]);
        stream.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(stream.conn.protocol_version(), Some(name));
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("{\"status\":\"alive\"}"),
            "{answer}"
        );
    }
    let mut stream = pem.client(&address, &rustls::version::TLS13, &[b"h2", b"http/1.1"]);
    stream.flush().unwrap();
    stream.conn.complete_io(&mut stream.sock).unwrap();
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"h2"[..]));
}

/// A hand-written ClientHello of this version with one cipher suite and no compression.
fn hello(version: u8) -> Vec<u8> {
    let groups = [0, 10, 0, 4, 0, 2, 0, 0x17];
    let point_formats = [0, 11, 0, 2, 1, 0];
    let signatures = [0, 13, 0, 4, 0, 2, 4, 3];
    let extensions = [&groups[..], &point_formats, &signatures].concat();
    let mut hello = vec![3, version];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0xc0, 0x2b, 1, 0, 0, u8::try_from(extensions.len()).unwrap()]);
    hello.extend(extensions);
    let length = u8::try_from(hello.len()).unwrap();
    let mut record = vec![HANDSHAKE, 3, 1, 0, length + 4, 1, 0, 0, length];
    record.extend(hello);
    record
}

#[test]
fn tls_1_1_is_refused() {
    let pem = Pem::new();
    let (start_server, address) = start_server(&pem);
    let answer_to = |version| {
        let mut stream = connect(&address);
        stream.write_all(&hello(version)).unwrap();
        let mut record = [0; 7];
        stream.read_exact(&mut record).unwrap();
        record
    };
    let [kind, .., message, _] = answer_to(TLS_1_2);
    assert_eq!((kind, message), (HANDSHAKE, SERVER_HELLO), "the ClientHello itself is valid");
    for older in [TLS_1_1, TLS_1_0] {
        let [kind, .., level, description] = answer_to(older);
        assert_eq!((kind, level), (ALERT, FATAL), "3.{older}");
        assert_eq!(description, PROTOCOL_VERSION, "3.{older}");
    }
    start_server.assert_healthy();
}

#[test]
fn public_listener_refuses_plain_http_and_operator_listener_stays_plain() {
    let pem = Pem::new();
    let (start_server, address) = start_server(&pem);
    let mut stream = connect(&address);
    stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/"), "{answer:?}");
    start_server.assert_healthy();
}

#[test]
fn operator_listener_can_have_tls_of_its_own() {
    let pem = Pem::new();
    let settings =
        pem.settings("chain.pem", "key.pem").map(|text| text.replace("server.tls", "operator.tls"));
    let server = EmbeddedServer::start(Installation::new(), &settings.each_ref().map(String::as_str));
    let address = server.operator_url.trim_start_matches("http://");
    let mut stream = pem.client(address, &rustls::version::TLS13, &[]);
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[test]
fn pem_file_errors_name_the_file() {
    let pem = Pem::new();
    let path = |name: &str| pem.folder.path().join(name).display().to_string();
    std::fs::write(path("junk.pem"), "-----BEGIN NONSENSE-----\n").unwrap();
    std::fs::write(path("empty.pem"), "").unwrap();
    let other = rcgen::KeyPair::generate().unwrap().serialize_pem();
    std::fs::write(path("other-key.pem"), other).unwrap();
    let installation = Installation::new();
    for (certificates, key, named) in [
        ("empty.pem", "key.pem", "empty.pem: there is no certificate in this file"),
        ("missing.pem", "key.pem", "missing.pem: "),
        ("chain.pem", "empty.pem", "empty.pem: "),
        ("chain.pem", "missing.pem", "missing.pem: "),
        ("chain.pem", "junk.pem", "junk.pem: "),
        ("chain.pem", "other-key.pem", "chain.pem: "),
    ] {
        for command in ["check", "serve"] {
            let settings = pem.settings(certificates, key);
            let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
            let program = installation.program(&set).with(&[command]);
            program.run().expect_failure(3, &format!("server.tls_certificates: {}", path(named)));
        }
    }
}
