//! Opens connections: tries each host of the URL for a short time, the one that answered last first, and sets the options by
//! which the kernel notices a dead peer.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deadpool_postgres::Connect;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Notification, SimpleQueryMessage};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::activity::{Connections, FailedSocket, OpenConnection, Socket, WatchedSocket};
use super::{chain, tls};
use crate::{Result, StoreError};

/// For one host: resolve, connect, TLS, sign in.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// The kernel gives up a connection whose data stay unacknowledged for this long.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(5);
/// The kernel probes an idle connection after this time, and gives it up after three probes without an answer.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
const KEEPALIVE_PROBES: u32 = 3;
/// What the driver reports where the URL says nothing.
const DRIVER_KEEPALIVE_IDLE: Duration = Duration::from_secs(2 * 60 * 60);

pub(super) type Opened = (Client, JoinHandle<()>);
type DriverResult<T> = std::result::Result<T, tokio_postgres::Error>;

/// Opens connections to the hosts of one URL; cheap to clone.
#[derive(Clone)]
pub(super) struct Connector {
    config: Config,
    hosts: Vec<HostAddress>,
    tls: Option<MakeRustlsConnect>,
    needs_writes: bool,
    /// The host that answered last.
    preferred: Arc<AtomicUsize>,
    connections: Arc<Connections>,
    /// A connection that owes an answer for this long is closed.
    deadline: Duration,
}

#[derive(Clone)]
struct HostAddress {
    /// For TLS.
    name: String,
    address: Host,
    port: u16,
}

impl Connector {
    pub(super) fn new(url: &str, connections: Arc<Connections>, deadline: Duration) -> Result<Self> {
        let invalid = |why: String| StoreError::Unavailable(format!("the store's URL is invalid: {why}"));
        let tls::Target { mut config, tls } = tls::parse(url)?;
        config.application_name("aldaba");
        let hosts = hosts_of(&config).map_err(invalid)?;
        // A standby is of no use: every node writes.
        let needs_writes =
            hosts.len() > 1 || config.get_target_session_attrs() == TargetSessionAttrs::ReadWrite;
        Ok(Self { config, hosts, tls, needs_writes, preferred: Arc::default(), connections, deadline })
    }

    /// The same hosts with another deadline.
    pub(super) fn with_deadline(&self, deadline: Duration) -> Self {
        Self { deadline, ..self.clone() }
    }

    pub(super) fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    /// How long it takes to find that no host answers.
    pub(super) fn timeout(&self) -> Duration {
        let hosts = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        self.host_timeout().saturating_mul(hosts) + Duration::from_secs(1)
    }

    fn host_timeout(&self) -> Duration {
        self.config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT)
    }

    /// Connects to the first host that answers and takes writes. Notifications go to `notifications`.
    pub(super) async fn open(
        &self,
        notifications: Option<mpsc::UnboundedSender<Notification>>,
    ) -> DriverResult<Opened> {
        let preferred = self.preferred.load(Ordering::Relaxed);
        let mut failures = Vec::new();
        for turn in 0..self.hosts.len() {
            let number = (preferred + turn) % self.hosts.len();
            let host = &self.hosts[number];
            match timeout(self.host_timeout(), self.open_at(host, notifications.clone())).await {
                Ok(Ok(opened)) => {
                    if self.preferred.swap(number, Ordering::Relaxed) != number {
                        tracing::info!(host = %host.name, port = host.port, "PostgreSQL answers at another host");
                    }
                    return Ok(opened);
                }
                Ok(Err(error)) => failures.push((host, chain(&error), Some(error))),
                Err(_) => {
                    let why = format!("no answer within {} s", self.host_timeout().as_secs_f32());
                    failures.push((host, why, None));
                }
            }
        }
        let causes: Vec<String> =
            failures.iter().map(|(host, cause, _)| format!("{}:{}: {cause}", host.name, host.port)).collect();
        let cause = causes.join("; ");
        self.connections.failed(cause.clone());
        // The error of the only host as it is: its code tells more.
        match failures.pop().and_then(|(_, _, error)| error).filter(|_| self.hosts.len() == 1) {
            Some(error) => Err(error),
            None => Err(self.error(io::ErrorKind::TimedOut, cause).await),
        }
    }

    async fn open_at(
        &self,
        host: &HostAddress,
        notifications: Option<mpsc::UnboundedSender<Notification>>,
    ) -> DriverResult<Opened> {
        let socket = match self.socket(host).await {
            Ok(socket) => socket,
            Err(error) => return Err(self.error(error.kind(), error.to_string()).await),
        };
        let open = self.connections.register();
        let socket = WatchedSocket { socket, activity: open.activity.clone() };
        let opened = match self.tls.clone() {
            None => {
                let (client, connection) = self.config.connect_raw(socket, NoTls).await?;
                (client, self.spawn(connection, open, notifications))
            }
            Some(mut maker) => {
                let Ok(connector) = MakeTlsConnect::<WatchedSocket>::make_tls_connect(&mut maker, &host.name);
                let (client, connection) = self.config.connect_raw(socket, connector).await?;
                (client, self.spawn(connection, open, notifications))
            }
        };
        if self.needs_writes && is_read_only(&opened.0).await? {
            opened.1.abort();
            let why = "it is a standby that takes no writes".to_owned();
            return Err(self.error(io::ErrorKind::PermissionDenied, why).await);
        }
        Ok(opened)
    }

    async fn socket(&self, host: &HostAddress) -> io::Result<Box<dyn Socket>> {
        let name = match &host.address {
            Host::Unix(folder) => {
                let path = folder.join(format!(".s.PGSQL.{}", host.port));
                return Ok(Box::new(UnixStream::connect(path).await?));
            }
            Host::Tcp(name) => name,
        };
        let mut failure = io::Error::new(io::ErrorKind::NotFound, format!("{name} has no address"));
        for address in lookup_host((name.as_str(), host.port)).await? {
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    self.set_options(&stream)?;
                    return Ok(Box::new(stream));
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// What the URL says comes first.
    fn set_options(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let socket = SockRef::from(stream);
        #[cfg(target_os = "linux")]
        socket.set_tcp_user_timeout(Some(
            self.config.get_tcp_user_timeout().copied().unwrap_or(TCP_USER_TIMEOUT),
        ))?;
        if self.config.get_keepalives() {
            let idle = self.config.get_keepalives_idle();
            let idle = if idle == DRIVER_KEEPALIVE_IDLE { KEEPALIVE_IDLE } else { idle };
            let interval = self.config.get_keepalives_interval().unwrap_or(KEEPALIVE_INTERVAL);
            let probes = self.config.get_keepalives_retries().unwrap_or(KEEPALIVE_PROBES);
            let keepalive = TcpKeepalive::new().with_time(idle).with_interval(interval).with_retries(probes);
            socket.set_tcp_keepalive(&keepalive)?;
        }
        Ok(())
    }

    /// Runs the connection until it ends, owes an answer for too long, or must close.
    fn spawn<T>(
        &self,
        connection: Connection<WatchedSocket, T>,
        open: OpenConnection,
        notifications: Option<mpsc::UnboundedSender<Notification>>,
    ) -> JoinHandle<()>
    where
        T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        let (connections, deadline) = (self.connections.clone(), self.deadline);
        tokio::spawn(async move {
            let activity = open.activity.clone();
            let broken = tokio::select! {
                ended = receive(connection, notifications) => ended.err().map(|error| chain(&error)),
                () = activity.overdue(deadline) => {
                    Some(format!("a statement had no answer within {} s", deadline.as_secs_f32()))
                }
                () = activity.closed() => None,
            };
            drop(open);
            if let Some(cause) = broken {
                connections.broke(cause);
            }
        })
    }

    /// An error of the driver, which only the driver can make.
    async fn error(&self, kind: io::ErrorKind, why: String) -> tokio_postgres::Error {
        loop {
            let failed = FailedSocket(kind, why.clone());
            if let Err(error) = Config::new().user("aldaba").connect_raw(failed, NoTls).await {
                return error;
            }
        }
    }
}

impl Connect for Connector {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = DriverResult<(Client, JoinHandle<()>)>> + Send + '_>> {
        Box::pin(self.open(None))
    }
}

async fn receive<T>(
    mut connection: Connection<WatchedSocket, T>,
    notifications: Option<mpsc::UnboundedSender<Notification>>,
) -> DriverResult<()>
where
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        if let (AsyncMessage::Notification(notification), Some(receiver)) = (message?, &notifications) {
            let _ = receiver.send(notification);
        }
    }
    Ok(())
}

async fn is_read_only(client: &Client) -> DriverResult<bool> {
    let answer = client.simple_query("SHOW transaction_read_only").await?;
    Ok(answer.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
        _ => false,
    }))
}

fn hosts_of(config: &Config) -> std::result::Result<Vec<HostAddress>, String> {
    let (names, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = names.len().max(addresses.len());
    if count == 0 {
        return Err("it names no host".into());
    }
    if (!names.is_empty() && !addresses.is_empty() && names.len() != addresses.len())
        || (ports.len() > 1 && ports.len() != count)
    {
        return Err("it has a different number of hosts, addresses or ports".into());
    }
    let host = |number: usize| {
        let name = match names.get(number) {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(folder)) => folder.display().to_string(),
            None => addresses[number].to_string(),
        };
        let address = addresses.get(number).map(|address| Host::Tcp(address.to_string()));
        let address = address.or_else(|| names.get(number).cloned()).unwrap_or(Host::Tcp(name.clone()));
        let port = ports.get(number).or_else(|| ports.first()).copied().unwrap_or(5432);
        HostAddress { name, address, port }
    };
    Ok((0..count).map(host).collect())
}
