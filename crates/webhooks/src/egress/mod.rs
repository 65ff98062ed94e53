//! The one HTTP client for requests to receivers: it checks every address against the egress policy, gives each request
//! one timeout, pools connections, and uses no redirects, proxies or cookies.

mod dialler;
mod error;
mod exchange;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod metered_stream;
mod pool;
mod request;
mod resolver;
mod tls_config;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::egress::EgressPolicy;
use domain::receiver_url::{Host, ReceiverUrl};
use http::header::{HOST, HeaderValue, USER_AGENT};
use http::uri::PathAndQuery;
use http::{HeaderMap, Uri};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;

pub use error::EgressError;
pub use exchange::RESPONSE_BYTES_MAX;
pub use request::{Exchange, MaySend, OutboundRequest, Phase, ReceiverResponse};
pub use resolver::{Resolver, SystemResolver};

use dialler::Dialler;
use exchange::{ExchangeError, PreparedRequest};
use pool::{Grant, Lease, Limits, Pool};
use request::Progress;

/// For lookups outside a request.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct EgressSettings {
    pub policy: EgressPolicy,
    /// Certificate authorities beside the platform's: PEM, or one certificate in DER; empty for none.
    pub authorities: Vec<u8>,
    /// For all receivers together.
    pub sockets_max: usize,
    pub idle_per_host_max: usize,
    pub idle_max: Duration,
    /// When a host has this many connections, a request waits for one of them to become free before it opens another…
    pub eager_per_host_max: usize,
    /// …for this long, and longer where others wait already.
    pub grow_after: Duration,
    pub user_agent: HeaderValue,
}

impl Default for EgressSettings {
    fn default() -> Self {
        Self {
            policy: EgressPolicy::default(),
            authorities: Vec::new(),
            sockets_max: 4096,
            // One application may have hundreds of webhooks at one host.
            idle_per_host_max: 256,
            idle_max: Duration::from_secs(60),
            // A listen backlog usually holds 128 connections; beyond that, connecting takes a second.
            eager_per_host_max: 64,
            grow_after: Duration::from_millis(10),
            user_agent: HeaderValue::from_static(concat!("Aldaba/", env!("CARGO_PKG_VERSION"))),
        }
    }
}

/// The client; cheap to clone.
#[derive(Clone)]
pub struct Egress(Arc<Inner>);

struct Inner {
    dialler: Dialler,
    pool: Pool,
    user_agent: HeaderValue,
}

impl std::fmt::Debug for Egress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Egress")
    }
}

impl Egress {
    /// Uses the system's resolver. The error says what is wrong with the authorities.
    pub fn new(settings: EgressSettings) -> Result<Self, String> {
        Self::with_resolver(settings, Arc::new(SystemResolver::new()))
    }

    pub fn with_resolver(settings: EgressSettings, resolver: Arc<dyn Resolver>) -> Result<Self, String> {
        let tls = TlsConnector::from(tls_config::client_config(&settings.authorities)?);
        Ok(Self(Arc::new(Inner {
            dialler: Dialler { policy: settings.policy, resolver, tls },
            pool: Pool::new(Limits {
                sockets_max: settings.sockets_max.max(1),
                idle_per_host_max: settings.idle_per_host_max,
                idle_max: settings.idle_max,
                eager_per_host_max: settings.eager_per_host_max,
                grow_after: settings.grow_after,
            }),
            user_agent: settings.user_agent,
        })))
    }

    /// Sends a request. It ends at its timeout, in whatever phase it is then.
    pub async fn send(&self, request: OutboundRequest) -> Exchange {
        self.send_if(request, &|| true).await
    }

    /// Sends a request if `may_send` still says so when a connection is open: the wait for a socket, name resolution,
    /// connecting and TLS come before. Otherwise the result is [`EgressError::NotAllowed`].
    pub async fn send_if(&self, request: OutboundRequest, may_send: &MaySend<'_>) -> Exchange {
        let start = Instant::now();
        let deadline = start + request.timeout;
        let mut progress = Progress::start(start);
        let result = timeout_at(deadline, self.0.send(request, may_send, deadline, &mut progress)).await;
        let result = result.unwrap_or_else(|_| Err(EgressError::TimedOut(progress.phase())));
        progress.end(result)
    }

    /// Whether the policy allows a receiver's addresses as they resolve now. A name that does not resolve (yet) is
    /// [`EgressError::Unresolved`], or [`EgressError::TimedOut`] where its name servers do not answer.
    pub async fn check(&self, url: &ReceiverUrl) -> Result<(), EgressError> {
        let allowed = timeout(LOOKUP_TIMEOUT, self.0.dialler.allowed_addresses(url.host())).await;
        allowed.unwrap_or(Err(EgressError::TimedOut(Phase::Resolve))).map(drop)
    }

    /// All addresses of a host, whether the policy allows them or not.
    pub async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, EgressError> {
        let addresses = timeout(LOOKUP_TIMEOUT, self.0.dialler.addresses(host)).await;
        addresses.unwrap_or(Err(EgressError::TimedOut(Phase::Resolve)))
    }
}

impl Inner {
    async fn send(
        &self,
        request: OutboundRequest,
        may_send: &MaySend<'_>,
        deadline: Instant,
        progress: &mut Progress,
    ) -> Result<ReceiverResponse, EgressError> {
        let url = request.url;
        let headers = self.complete_headers(request.headers, &url)?;
        let uri = request_target(&url, request.query.as_deref())?;
        let mut prepared =
            PreparedRequest { method: request.method, uri, headers, body: request.body, now: request.now };
        let lease = self.connection(&url, false, deadline, progress).await?;
        let reused = lease.reused;
        match prepared.send(lease, may_send, progress).await {
            Ok(response) => Ok(response),
            // The receiver closed the idle connection, which it may: the request is sent again over a new one, once.
            Err(ExchangeError::ConnectionGone(_)) if reused => {
                let lease = self.connection(&url, true, deadline, progress).await?;
                prepared.send(lease, may_send, progress).await.map_err(ExchangeError::into_error)
            }
            Err(error) => Err(error.into_error()),
        }
    }

    async fn connection(
        &self,
        url: &ReceiverUrl,
        must_be_new: bool,
        deadline: Instant,
        progress: &mut Progress,
    ) -> Result<Lease, EgressError> {
        progress.enter(Phase::Socket);
        match self.pool.take(url.origin(), must_be_new, deadline).await {
            Some(Grant::Connection(lease)) => Ok(lease),
            // Boxed: most requests find a connection, and their futures need no space for dialling.
            Some(Grant::Socket(permit)) => Box::pin(self.dialler.dial(url, permit, deadline, progress)).await,
            None => Err(EgressError::Internal("the service is stopping".into())),
        }
    }

    fn complete_headers(&self, mut headers: HeaderMap, url: &ReceiverUrl) -> Result<HeaderMap, EgressError> {
        let host = HeaderValue::from_str(url.authority())
            .map_err(|error| EgressError::Internal(error.to_string()))?;
        headers.insert(HOST, host);
        headers.insert(USER_AGENT, self.user_agent.clone());
        Ok(headers)
    }
}

fn request_target(url: &ReceiverUrl, query: Option<&str>) -> Result<Uri, EgressError> {
    let path = url.path_and_query();
    let joined = query.map(|query| {
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("{path}{separator}{query}")
    });
    let target = PathAndQuery::try_from(joined.as_deref().unwrap_or(path));
    target
        .map(Uri::from)
        .map_err(|error| EgressError::Internal(format!("the address is not a valid request target: {error}")))
}
