//! A receiver on a bare socket, which can be told to misbehave. It is good until then: it notes what came and answers 200.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::behaviour::{Act, Behaviour, FLOOD_BYTES_MAX};
use super::certificates::Authority;
use crate::Fallible;
use crate::receivers::Receivers;

/// A receiver does not hold a connection for longer, whatever the service does.
const HELD_MAX: Duration = Duration::from_secs(30);
const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
pub(super) const OK_AND_CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

pub(super) struct RawReceiver {
    pub(super) address: SocketAddr,
    pub(super) webhook: usize,
    shared: Arc<Shared>,
}

struct Shared {
    receivers: Receivers,
    behaviour: watch::Sender<Option<&'static Behaviour>>,
    tls: Option<Tls>,
    /// Where redirects lead.
    elsewhere: SocketAddr,
    contacts: Mutex<Contacts>,
}

struct Tls {
    good: TlsAcceptor,
    flawed: Option<TlsAcceptor>,
}

/// Small, so that the machine's cores are not busy with what nobody reads, and so that what a receiver could send is what the service took.
const SEND_BUFFER_BYTES: u32 = 16 * 1024;
const BACKLOG: u32 = 1024;

fn listen(address: Ipv4Addr) -> Fallible<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // Every connection that it accepts has it too.
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(SocketAddr::from((address, 0)))?;
    Ok(socket.listen(BACKLOG)?)
}

/// What a misbehaving receiver saw of the service.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contacts {
    pub(super) connections: usize,
    /// The longest time until the service closed a connection whose answer does not end.
    pub(super) longest_held: Duration,
    pub(super) bytes_sent_max: u64,
}

/// What receivers have in common.
pub(super) struct Surroundings<'a> {
    pub(super) receivers: &'a Receivers,
    pub(super) authority: &'a Authority,
    pub(super) elsewhere: SocketAddr,
    /// What the receivers run on.
    pub(super) runtime: Handle,
}

impl RawReceiver {
    /// `behaviour`: what it will be told to do; it needs TLS for some.
    pub(super) async fn open(
        address: Ipv4Addr,
        webhook: usize,
        behaviour: Option<&Behaviour>,
        surroundings: &Surroundings<'_>,
    ) -> Fallible<Self> {
        let authority = surroundings.authority;
        let tls = match behaviour.map(|behaviour| &behaviour.act) {
            Some(act) if act.needs_tls() => {
                let names = [address.to_string()];
                let flawed = match act {
                    Act::Certificate(flaw) => Some(authority.acceptor(&names, Some(*flaw))?),
                    _ => None,
                };
                Some(Tls { good: authority.acceptor(&names, None)?, flawed })
            }
            _ => None,
        };
        let runtime = surroundings.runtime.clone();
        let listener = {
            let _entered = runtime.enter();
            listen(address)?
        };
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            receivers: surroundings.receivers.clone(),
            behaviour: watch::Sender::new(None),
            tls,
            elsewhere: surroundings.elsewhere,
            contacts: Mutex::default(),
        });
        let accepting = shared.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(accepting.clone().serve(stream));
            }
        });
        Ok(Self { address, webhook, shared })
    }

    pub(super) fn url(&self) -> String {
        let scheme = if self.shared.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/{}", self.address, self.webhook)
    }

    /// From now on it behaves like this; none: well. Idle connections are closed.
    pub(super) fn behave(&self, behaviour: Option<&'static Behaviour>) {
        self.shared.behaviour.send_replace(behaviour);
    }

    pub(super) fn contacts(&self) -> Contacts {
        *self.shared.contacts.lock()
    }
}

impl Shared {
    /// How a connection is treated is decided when it begins.
    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let mut changes = self.behaviour.subscribe();
        let Some(behaviour) = *changes.borrow_and_update() else {
            // The service sees how a connection ends; the receiver need not say it.
            let _ = self.serve_well(stream, changes).await;
            return;
        };
        self.contacts.lock().connections += 1;
        let (from, mut sent) = (Instant::now(), 0);
        let _ = timeout(HELD_MAX, self.misbehave(behaviour, stream, changes, &mut sent)).await;
        let mut contacts = self.contacts.lock();
        contacts.bytes_sent_max = contacts.bytes_sent_max.max(sent);
        if behaviour.act.waits_for_close() {
            contacts.longest_held = contacts.longest_held.max(from.elapsed());
        }
    }

    async fn serve_well(
        &self,
        stream: TcpStream,
        mut changes: watch::Receiver<Option<&'static Behaviour>>,
    ) -> io::Result<()> {
        let ended = async {
            // The sender lives as long as the receiver.
            let _ = changes.changed().await;
        };
        match &self.tls {
            None => serve_requests(stream, &self.receivers, OK, ended).await,
            Some(tls) => serve_requests(tls.good.accept(stream).await?, &self.receivers, OK, ended).await,
        }
    }

    async fn misbehave(
        &self,
        behaviour: &Behaviour,
        mut stream: TcpStream,
        mut changes: watch::Receiver<Option<&'static Behaviour>>,
        sent: &mut u64,
    ) -> io::Result<()> {
        match &behaviour.act {
            Act::Reset { after_request } => {
                if *after_request {
                    read_request(&mut stream).await?;
                }
                return stream.set_zero_linger();
            }
            Act::AnswerFirst(bytes) => return stream.write_all(bytes).await,
            Act::Certificate(_) => {
                if let Some(acceptor) = self.tls.as_ref().and_then(|tls| tls.flawed.as_ref()) {
                    let mut stream = acceptor.accept(stream).await?;
                    drain(&mut stream).await;
                }
                return Ok(());
            }
            Act::Plain(bytes) => {
                read_some(&mut stream).await?;
                stream.write_all(bytes).await?;
                drain(&mut stream).await;
                return Ok(());
            }
            Act::TlsClose => return read_some(&mut stream).await,
            Act::TlsHang => {
                drain(&mut stream).await;
                return Ok(());
            }
            _ => {}
        }
        loop {
            let request = tokio::select! {
                request = read_request(&mut stream) => request?,
                _ = changes.changed() => None,
            };
            let Some((webhook, body)) = request else { return Ok(()) };
            if behaviour.reason.is_none() {
                self.receivers.note(webhook, &body);
            }
            self.answer_badly(&behaviour.act, &mut stream, sent).await?;
            if matches!(behaviour.act, Act::AnswerAndClose(_)) {
                return Ok(());
            }
        }
    }

    /// What follows a request that was read.
    async fn answer_badly(&self, act: &Act, stream: &mut TcpStream, sent: &mut u64) -> io::Result<()> {
        match act {
            Act::Answer(bytes) | Act::AnswerAndClose(bytes) => stream.write_all(bytes).await?,
            Act::Trickle(at_once, slowly) => {
                stream.write_all(at_once).await?;
                let (mut reader, mut writer) = stream.split();
                tokio::select! {
                    written = trickle(&mut writer, slowly) => written?,
                    () = drain(&mut reader) => {}
                }
            }
            Act::Flood(head, again) => {
                stream.write_all(head).await?;
                while *sent < FLOOD_BYTES_MAX {
                    stream.write_all(again).await?;
                    *sent += again.len() as u64;
                }
            }
            Act::Slow(pause) => {
                tokio::time::sleep(*pause).await;
                stream.write_all(OK).await?;
            }
            Act::Redirect(status) => {
                let location = format!("http://{}/", self.elsewhere);
                let head = format!(
                    "HTTP/1.1 {status} Elsewhere\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"
                );
                stream.write_all(head.as_bytes()).await?;
            }
            _ => drain(stream).await,
        }
        Ok(())
    }
}

/// One byte a second.
async fn trickle<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8]) -> io::Result<()> {
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    for byte in bytes {
        seconds.tick().await;
        stream.write_all(&[*byte]).await?;
    }
    Ok(())
}

/// Notes every request and answers it, until the connection is closed or `ended` is done.
pub(super) async fn serve_requests<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    receivers: &Receivers,
    answer: &[u8],
    ended: impl Future<Output = ()>,
) -> io::Result<()> {
    tokio::pin!(ended);
    loop {
        let request = tokio::select! {
            request = read_request(&mut stream) => request?,
            () = &mut ended => return stream.shutdown().await,
        };
        let Some((webhook, body)) = request else { return Ok(()) };
        receivers.note(webhook, &body);
        stream.write_all(answer).await?;
    }
}

/// A listener that nothing may reach; it counts what did.
pub(super) async fn open_canary(address: SocketAddr) -> Fallible<(SocketAddr, Arc<Mutex<usize>>)> {
    let listener = TcpListener::bind(address).await?;
    let (address, count) = (listener.local_addr()?, Arc::new(Mutex::new(0)));
    let counting = count.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            *counting.lock() += 1;
        }
    });
    Ok((address, count))
}

/// The webhook of the path and the body; none where the connection ended.
async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<Option<(usize, Vec<u8>)>> {
    let mut read = Vec::with_capacity(2048);
    loop {
        if stream.read_buf(&mut read).await? == 0 {
            return Ok(None);
        }
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&read[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
            let path = head.split(' ').nth(1).unwrap_or_default();
            let webhook = path.trim_start_matches('/').parse().unwrap_or(usize::MAX);
            let mut body = read.split_off(end + 4);
            while body.len() < length {
                if stream.read_buf(&mut body).await? == 0 {
                    return Ok(None);
                }
            }
            return Ok(Some((webhook, body)));
        }
    }
}

async fn read_some<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<()> {
    stream.read(&mut [0; 1024]).await.map(drop)
}

/// Reads until the service closes the connection.
async fn drain<S: AsyncRead + Unpin>(stream: &mut S) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
}
