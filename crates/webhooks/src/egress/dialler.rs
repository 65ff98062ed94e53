//! Opens connections: resolves the host, checks its addresses against the policy, and dials exactly the addresses that
//! it checked.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use domain::egress::EgressPolicy;
use domain::receiver_url::{Host, ReceiverUrl};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::error::EgressError;
use super::metered_stream::{Meter, MeteredStream};
use super::pool::{Lease, SocketPermit};
use super::request::{Phase, Progress};
use super::resolver::Resolver;

/// A name may have thousands of addresses; only the first ones are tried.
const ADDRESSES_TRIED_MAX: usize = 4;
/// How long an address may take to connect where another one can be tried after it.
const ADDRESS_TIMEOUT_MAX: Duration = Duration::from_secs(1);
/// Limits the head of a response, and how much of it is buffered.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// What the system takes from a receiver before it is read.
const RECEIVE_BUFFER_BYTES: u32 = 64 * 1024;

pub(super) struct Dialler {
    pub(super) policy: EgressPolicy,
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) tls: TlsConnector,
}

impl Dialler {
    /// All addresses of a host, without regard to the policy.
    pub(super) async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, EgressError> {
        let name = match host {
            Host::Address(address) => return Ok(vec![*address]),
            Host::Name(name) => name,
        };
        let unresolved = |why| EgressError::Unresolved { name: name.to_string(), why };
        let addresses = self.resolver.resolve(name).await.map_err(unresolved)?;
        if addresses.is_empty() {
            return Err(unresolved("the name has no address".into()));
        }
        Ok(addresses)
    }

    /// All addresses of a host, if the policy allows every one: a forbidden address among allowed ones is an attack.
    pub(super) async fn allowed_addresses(&self, host: &Host) -> Result<Vec<IpAddr>, EgressError> {
        let addresses = self.addresses(host).await?;
        let forbidden = addresses
            .iter()
            .find_map(|address| self.policy.refusal_reason(*address).map(|why| (*address, why)));
        match forbidden {
            Some((address, why)) => {
                tracing::warn!(%host, %address, why, "a receiver's address is refused by the egress policy");
                Err(EgressError::Refused { address, why })
            }
            None => Ok(addresses),
        }
    }

    /// Opens a connection for a socket that the pool has permitted.
    pub(super) async fn dial(
        &self,
        url: &ReceiverUrl,
        permit: SocketPermit,
        deadline: Instant,
        progress: &mut Progress,
    ) -> Result<Lease, EgressError> {
        progress.enter(Phase::Resolve);
        let addresses = self.allowed_addresses(url.host()).await?;
        progress.enter(Phase::Connect);
        let stream = MeteredStream::new(connect(&addresses, url.port(), deadline).await?);
        let meter = stream.meter();
        if !url.is_tls() {
            return attach(permit, meter, stream).await;
        }
        progress.enter(Phase::Tls);
        let name = server_name(url.host())?;
        let stream = self.tls.connect(name, stream).await.map_err(|error| EgressError::from_tls(&error))?;
        attach(permit, meter, stream).await
    }
}

/// Connects to the first address that accepts; returns the last error where none does.
async fn connect(addresses: &[IpAddr], port: u16, deadline: Instant) -> Result<TcpStream, EgressError> {
    let mut error = EgressError::TimedOut(Phase::Connect);
    let mut left = addresses.len().min(ADDRESSES_TRIED_MAX);
    for address in addresses.iter().take(left) {
        let address = SocketAddr::new(*address, port);
        error = match timeout_at(address_deadline(deadline, left), open(address)).await {
            Ok(Ok(stream)) => {
                // Without it the end of a request could wait for an acknowledgement. Failing to set it is no reason to fail.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(cause)) => EgressError::from_connect(address, &cause),
            Err(_) => EgressError::TimedOut(Phase::Connect),
        };
        left -= 1;
    }
    Err(error)
}

/// Connects with a small buffer: by default the system would take megabytes from a receiver that sends without end.
async fn open(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Before the connection, whose window it limits. Failing to set it is no reason to fail.
    let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES);
    socket.connect(address).await
}

/// Until when an address may take to connect: an equal share of the time left, and all of it for the last address.
fn address_deadline(deadline: Instant, addresses_left: usize) -> Instant {
    let now = Instant::now();
    match u32::try_from(addresses_left) {
        Ok(left) if left > 1 => {
            now + (deadline.saturating_duration_since(now) / left).min(ADDRESS_TIMEOUT_MAX)
        }
        _ => deadline,
    }
}

fn server_name(host: &Host) -> Result<ServerName<'static>, EgressError> {
    match host {
        Host::Address(address) => Ok(ServerName::from(*address)),
        Host::Name(name) => ServerName::try_from(name.to_string())
            .map_err(|_| EgressError::Tls("the host name cannot be in a certificate".into())),
    }
}

async fn attach<T>(permit: SocketPermit, meter: Meter, stream: T) -> Result<Lease, EgressError>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let handshake = connection_builder().handshake(TokioIo::new(stream)).await;
    let (sender, connection) = handshake.map_err(|error| EgressError::from_http(&error))?;
    Ok(permit.attach(sender, connection, meter))
}

/// The limits of what is read of a response.
pub(super) fn connection_builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(BUFFER_BYTES_MAX);
    builder
}
