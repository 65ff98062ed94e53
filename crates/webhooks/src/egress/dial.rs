//! From a host to an open connection. The addresses that are dialled are the very ones that were judged.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use domain::egress::EgressPolicy;
use domain::receiver_url::{Host, ReceiverUrl};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::call::{Phase, Progress};
use super::failure::Failure;
use super::pool::{Lease, Room};
use super::resolve::Resolve;

/// A name may have thousands of addresses; nobody shall have us knock at all of them.
const ADDRESSES_TRIED_MAX: usize = 4;
/// An address that stays silent for this long gives way to the next, if there is one.
const SILENCE_MAX: Duration = Duration::from_secs(1);
/// Bounds the head of an answer, and what of it waits to be read.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

pub(super) struct Dialler {
    pub(super) policy: EgressPolicy,
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) tls: TlsConnector,
}

impl Dialler {
    /// All addresses of a host, judged by nobody.
    pub(super) async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, Failure> {
        let name = match host {
            Host::Address(address) => return Ok(vec![*address]),
            Host::Name(name) => name,
        };
        let unresolved = |why| Failure::Unresolved { name: name.to_string(), why };
        let addresses = self.resolver.resolve(name).await.map_err(unresolved)?;
        if addresses.is_empty() {
            return Err(unresolved("the name has no address".into()));
        }
        Ok(addresses)
    }

    /// All addresses of a host, if every one of them may be dialled: one bad one among good ones is an attack.
    pub(super) async fn judged(&self, host: &Host) -> Result<Vec<IpAddr>, Failure> {
        let addresses = self.addresses(host).await?;
        let bad = addresses
            .iter()
            .find_map(|address| self.policy.refusal_reason(*address).map(|why| (*address, why)));
        match bad {
            Some((address, why)) => Err(Failure::Refused { address, why }),
            None => Ok(addresses),
        }
    }

    /// Opens a connection in the room given.
    pub(super) async fn dial(
        &self,
        url: &ReceiverUrl,
        room: Room,
        deadline: Instant,
        progress: &mut Progress,
    ) -> Result<Lease, Failure> {
        progress.enter(Phase::Resolve);
        let addresses = self.judged(url.host()).await?;
        progress.enter(Phase::Connect);
        let stream = connect(&addresses, url.port(), deadline).await?;
        if !url.is_tls() {
            return attach(room, stream).await;
        }
        progress.enter(Phase::Tls);
        let name = server_name(url.host())?;
        let stream = self.tls.connect(name, stream).await.map_err(|error| Failure::of_tls(&error))?;
        attach(room, stream).await
    }
}

/// The first of the addresses that answers; what the last one said where none does.
async fn connect(addresses: &[IpAddr], port: u16, deadline: Instant) -> Result<TcpStream, Failure> {
    let mut failure = Failure::TimedOut(Phase::Connect);
    let mut left = addresses.len().min(ADDRESSES_TRIED_MAX);
    for address in addresses.iter().take(left) {
        let address = SocketAddr::new(*address, port);
        failure = match timeout_at(patience(deadline, left), TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Without it the last piece of a request could wait for an acknowledgement; a call does not fail for it.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => Failure::of_connect(address, &error),
            Err(_) => Failure::TimedOut(Phase::Connect),
        };
        left -= 1;
    }
    Err(failure)
}

/// Until when an address may stay silent: a fair share of what is left, and all of it for the last one.
fn patience(deadline: Instant, addresses_left: usize) -> Instant {
    let now = Instant::now();
    match u32::try_from(addresses_left) {
        Ok(left) if left > 1 => now + (deadline.saturating_duration_since(now) / left).min(SILENCE_MAX),
        _ => deadline,
    }
}

fn server_name(host: &Host) -> Result<ServerName<'static>, Failure> {
    match host {
        Host::Address(address) => Ok(ServerName::from(*address)),
        Host::Name(name) => ServerName::try_from(name.to_string())
            .map_err(|_| Failure::Tls("no certificate can be for this name".into())),
    }
}

async fn attach<T>(room: Room, stream: T) -> Result<Lease, Failure>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut builder = http1::Builder::new();
    builder.max_buf_size(BUFFER_BYTES_MAX);
    let (sender, connection) =
        builder.handshake(TokioIo::new(stream)).await.map_err(|error| Failure::of_http(&error))?;
    Ok(room.fill(sender, connection))
}
