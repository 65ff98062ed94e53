//! The one client for everything that dials a receiver: judged addresses, one deadline, no redirects, no proxy,
//! no cookies, and connections that are kept.

mod call;
mod dial;
mod exchange;
mod failure;
mod pool;
mod resolve;
mod trust;

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

pub use call::{Answer, Call, Phase, Sent, Timing};
pub use exchange::ANSWER_BYTES_MAX;
pub use failure::Failure;
pub use resolve::{Resolve, SystemResolver};

use call::Progress;
use dial::Dialler;
use exchange::{Errand, Fault};
use pool::{Bounds, Grant, Lease, Pool};

/// For look-ups that no call is waiting for.
const LOOK_UP_MAX: Duration = Duration::from_secs(5);

/// What the egress is made from.
#[derive(Clone, Debug)]
pub struct EgressSettings {
    pub policy: EgressPolicy,
    /// Certificate authorities beside the platform's: PEM, or one certificate in DER; empty for none.
    pub authorities: Vec<u8>,
    /// All sockets together, whoever they lead to.
    pub sockets_max: usize,
    pub idle_per_host_max: usize,
    pub idle_max: Duration,
    /// To a host that has this many connections, a call waits for one of them to be free before it opens another…
    pub eager_per_host_max: usize,
    /// …for this long; the more calls wait there, the longer.
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
            // A usual queue of connections that nobody has accepted yet holds 128; past it, connecting takes a second.
            eager_per_host_max: 64,
            grow_after: Duration::from_millis(10),
            user_agent: HeaderValue::from_static(concat!("Aldaba/", env!("CARGO_PKG_VERSION"))),
        }
    }
}

/// The way out; cheap to clone.
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
    /// With the system's resolver; the error says what is wrong with the authorities.
    pub fn new(settings: EgressSettings) -> Result<Self, String> {
        Self::with_resolver(settings, Arc::new(SystemResolver::new()))
    }

    pub fn with_resolver(settings: EgressSettings, resolver: Arc<dyn Resolve>) -> Result<Self, String> {
        let tls = TlsConnector::from(trust::client_config(&settings.authorities)?);
        Ok(Self(Arc::new(Inner {
            dialler: Dialler { policy: settings.policy, resolver, tls },
            pool: Pool::new(Bounds {
                sockets_max: settings.sockets_max.max(1),
                idle_per_host_max: settings.idle_per_host_max,
                idle_max: settings.idle_max,
                eager_per_host_max: settings.eager_per_host_max,
                grow_after: settings.grow_after,
            }),
            user_agent: settings.user_agent,
        })))
    }

    /// Makes a call. It ends at its deadline, whatever it is busy with then.
    pub async fn send(&self, call: Call) -> Sent {
        let start = Instant::now();
        let deadline = start + call.deadline;
        let mut progress = Progress::start(start);
        let result = timeout_at(deadline, self.0.carry(call, deadline, &mut progress)).await;
        let result = result.unwrap_or_else(|_| Err(Failure::TimedOut(progress.phase())));
        Sent { result, timing: progress.end() }
    }

    /// Whether a receiver may be called, as far as can be said before calling it. A name that does not resolve
    /// (yet) is [`Failure::Unresolved`], or [`Failure::TimedOut`] where its servers stay silent.
    pub async fn check(&self, url: &ReceiverUrl) -> Result<(), Failure> {
        let judged = timeout(LOOK_UP_MAX, self.0.dialler.judged(url.host())).await;
        judged.unwrap_or(Err(Failure::TimedOut(Phase::Resolve))).map(drop)
    }

    /// All addresses of a host, whether they may be called or not.
    pub async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, Failure> {
        let addresses = timeout(LOOK_UP_MAX, self.0.dialler.addresses(host)).await;
        addresses.unwrap_or(Err(Failure::TimedOut(Phase::Resolve)))
    }
}

impl Inner {
    async fn carry(&self, call: Call, deadline: Instant, progress: &mut Progress) -> Result<Answer, Failure> {
        let url = call.url;
        let headers = self.complete(call.headers, &url)?;
        let uri = target(&url, call.query.as_deref())?;
        let mut errand = Errand { method: call.method, uri, headers, body: call.body, now: call.now };
        let lease = self.connection(&url, false, deadline, progress).await?;
        let reused = lease.reused;
        match errand.run(lease, progress).await {
            Ok(answer) => Ok(answer),
            // The receiver closed it while it was idle: no fault of anybody's, so it is asked again, once.
            Err(Fault::Gone(_)) if reused => {
                let lease = self.connection(&url, true, deadline, progress).await?;
                errand.run(lease, progress).await.map_err(Fault::into_failure)
            }
            Err(fault) => Err(fault.into_failure()),
        }
    }

    async fn connection(
        &self,
        url: &ReceiverUrl,
        fresh: bool,
        deadline: Instant,
        progress: &mut Progress,
    ) -> Result<Lease, Failure> {
        progress.enter(Phase::Socket);
        match self.pool.take(url.origin(), fresh, deadline).await {
            Some(Grant::Connection(lease)) => Ok(lease),
            // Boxed, for most calls find a connection and need not carry the place for making one.
            Some(Grant::Room(room)) => Box::pin(self.dialler.dial(url, room, deadline, progress)).await,
            None => Err(Failure::Ours("the service is ending".into())),
        }
    }

    fn complete(&self, mut headers: HeaderMap, url: &ReceiverUrl) -> Result<HeaderMap, Failure> {
        let host =
            HeaderValue::from_str(url.authority()).map_err(|error| Failure::Ours(error.to_string()))?;
        headers.insert(HOST, host);
        headers.insert(USER_AGENT, self.user_agent.clone());
        Ok(headers)
    }
}

fn target(url: &ReceiverUrl, query: Option<&str>) -> Result<Uri, Failure> {
    let path = url.path_and_query();
    let joined = query.map(|query| {
        let joint = if path.contains('?') { '&' } else { '?' };
        format!("{path}{joint}{query}")
    });
    let target = PathAndQuery::try_from(joined.as_deref().unwrap_or(path));
    target.map(Uri::from).map_err(|error| Failure::Ours(format!("the address cannot be asked for: {error}")))
}
