//! An SMTP server for tests: plain, STARTTLS or TLS, with faults that a test puts in the way.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::harness::WAIT_MAX;

#[derive(Clone)]
pub(crate) enum Security {
    Plain,
    StartTls(Arc<ServerConfig>),
    Tls(Arc<ServerConfig>),
}

/// What goes wrong with the next mail; without one it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The first line of a connection.
    Greeting(&'static str),
    /// The response to MAIL FROM.
    Mail(&'static str),
    /// The response to RCPT TO.
    Recipient(&'static str),
    /// The response to the content.
    Content(&'static str),
    /// The connection ends instead of the response to the content.
    Drop,
    /// The server stays silent instead of responding to MAIL FROM.
    Silence,
}

#[derive(Clone, Debug)]
pub(crate) struct ReceivedMail {
    pub(crate) to: String,
    pub(crate) data: String,
    pub(crate) is_encrypted: bool,
    /// Who had authenticated: name and password.
    pub(crate) account: Option<(String, String)>,
}

impl ReceivedMail {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> String {
        let prefix = format!("{name}: ");
        let value = self.data.lines().find_map(|line| line.strip_prefix(&prefix));
        value.unwrap_or_else(|| panic!("no {name} in {}", self.data)).to_owned()
    }

    /// The content without the line breaks and escapes of quoted-printable.
    pub(crate) fn body(&self) -> String {
        self.data.replace("=\r\n", "").replace("=3D", "=")
    }
}

pub(crate) struct SmtpServer {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    security: Security,
    faults: Mutex<VecDeque<Fault>>,
    received: Mutex<Vec<ReceivedMail>>,
    connections: AtomicUsize,
    /// Commands in the order in which they came, without arguments.
    commands: Mutex<Vec<String>>,
}

impl SmtpServer {
    pub(crate) fn start(security: Security, faults: &[Fault]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            security,
            faults: Mutex::new(faults.iter().copied().collect()),
            received: Mutex::default(),
            connections: AtomicUsize::new(0),
            commands: Mutex::default(),
        });
        let sharing = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                sharing.connections.fetch_add(1, Ordering::SeqCst);
                let shared = sharing.clone();
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        Self { address, shared }
    }

    pub(crate) fn received(&self) -> Vec<ReceivedMail> {
        self.shared.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.shared.commands.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Faults that have not happened yet.
    pub(crate) fn faults_left(&self) -> usize {
        self.shared.faults.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// How the commands of a stream ended.
enum End {
    Closed,
    StartTls,
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(WAIT_MAX));
        // An error ends the connection; the client notices.
        let _ = match &self.security {
            Security::Plain => self.greet(&mut stream, false).map(|_| ()),
            Security::Tls(config) => self.greet(&mut encrypted(config, stream), true).map(|_| ()),
            Security::StartTls(config) => match self.greet(&mut stream, false) {
                Ok(End::StartTls) => self.commands(&mut encrypted(config, stream), true).map(|_| ()),
                other => other.map(|_| ()),
            },
        };
    }

    /// Takes the next fault if it is one of these.
    fn fault(&self, is_meant: fn(&Fault) -> bool) -> Option<Fault> {
        let mut faults = self.faults.lock().unwrap();
        if faults.front().is_some_and(is_meant) { faults.pop_front() } else { None }
    }

    fn greet(&self, stream: &mut (impl Read + Write), is_encrypted: bool) -> io::Result<End> {
        if let Some(Fault::Greeting(line)) = self.fault(|fault| matches!(fault, Fault::Greeting(_))) {
            reply(stream, line)?;
            return Ok(End::Closed);
        }
        reply(stream, "220 test")?;
        self.commands(stream, is_encrypted)
    }

    fn commands(&self, stream: &mut (impl Read + Write), is_encrypted: bool) -> io::Result<End> {
        let (mut to, mut account) = (String::new(), None);
        loop {
            let line = read_line(stream)?;
            let command = line.split([' ', ':']).next().unwrap_or_default().to_uppercase();
            self.commands.lock().unwrap().push(command.clone());
            match command.as_str() {
                "EHLO" => {
                    let offers_tls = matches!(self.security, Security::StartTls(_)) && !is_encrypted;
                    let more = if offers_tls { "250 STARTTLS" } else { "250 AUTH PLAIN LOGIN" };
                    reply(stream, &format!("250-test\r\n{more}"))?;
                }
                "STARTTLS" => {
                    reply(stream, "220 go on")?;
                    return Ok(End::StartTls);
                }
                "AUTH" => {
                    account = plain_account(&line);
                    reply(stream, if account.is_some() { "235 welcome" } else { "535 no" })?;
                }
                "MAIL" => match self.fault(|fault| matches!(fault, Fault::Mail(_) | Fault::Silence)) {
                    Some(Fault::Mail(line)) => reply(stream, line)?,
                    Some(_) => drop(read_line(stream)?),
                    None => reply(stream, "250 ok")?,
                },
                "RCPT" => {
                    line.split(['<', '>']).nth(1).unwrap_or_default().clone_into(&mut to);
                    match self.fault(|fault| matches!(fault, Fault::Recipient(_))) {
                        Some(Fault::Recipient(line)) => reply(stream, line)?,
                        _ => reply(stream, "250 ok")?,
                    }
                }
                "DATA" => {
                    reply(stream, "354 go on")?;
                    let data = read_data(stream)?;
                    match self.fault(|fault| matches!(fault, Fault::Content(_) | Fault::Drop)) {
                        Some(Fault::Content(line)) => reply(stream, line)?,
                        Some(_) => return Ok(End::Closed),
                        None => {
                            let mail =
                                ReceivedMail { to: to.clone(), data, is_encrypted, account: account.clone() };
                            self.received.lock().unwrap().push(mail);
                            reply(stream, "250 taken")?;
                        }
                    }
                }
                "QUIT" => {
                    reply(stream, "221 bye")?;
                    return Ok(End::Closed);
                }
                _ => reply(stream, "250 ok")?,
            }
        }
    }
}

fn encrypted(config: &Arc<ServerConfig>, stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream)
}

fn reply(stream: &mut impl Write, lines: &str) -> io::Result<()> {
    stream.write_all(format!("{lines}\r\n").as_bytes())?;
    stream.flush()
}

/// A line without its end.
fn read_line(stream: &mut impl Read) -> io::Result<String> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line[..line.len() - 2]).into_owned())
}

fn read_data(stream: &mut impl Read) -> io::Result<String> {
    let mut data = String::new();
    loop {
        match read_line(stream)? {
            line if line == "." => return Ok(data),
            line => data.push_str(&(line + "\r\n")),
        }
    }
}

/// Name and password of `AUTH PLAIN`.
fn plain_account(line: &str) -> Option<(String, String)> {
    let decoded = BASE64_STANDARD.decode(line.strip_prefix("AUTH PLAIN ")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let mut parts = text.split('\0').skip(1);
    Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
}

/// A certificate authority.
pub(crate) struct Authority {
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { pem: certificate.pem(), issuer: Issuer::new(params, key) }
    }

    pub(crate) fn server_config(&self, name: &str) -> Arc<ServerConfig> {
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .unwrap();
        Arc::new(config)
    }
}
