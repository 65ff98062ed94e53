//! The service itself: its problems, its nodes, its signing keys, and the first steps of an installation. What needs more
//! than a few cheap reads is gathered in the background; readers get what was gathered last.

mod gather;
mod problems;
mod report;
mod setup;
mod signing_keys;
mod traffic;

use std::sync::Arc;
use std::time::Duration;

use domain::Ticks;
use tokio::sync::{Mutex, RwLock};

use super::{Admin, Authority, Result};
use crate::ports::{Installation, SigningKeyRing, ThisNode};

use gather::Gathered;
pub use problems::{ProblemKind, ServiceProblem};
pub use report::{
    AreaTraffic, Ending, EndingKind, FailingWebhook, NodeReport, OutcomeCounts, Overview, ReplicaReport,
    SeriesTraffic, StoreReport, TrafficPoint, TrafficReport, WebhookTotals,
};
pub use setup::{SetupStep, SetupStepKind};
pub use traffic::Span;

/// A node that sent no heartbeat for this long counts as gone.
const NODE_SILENCE_MAX: Duration = Duration::from_secs(10);
/// Traffic is read again after this time, however many read it.
const TRAFFIC_AGE_MAX: Duration = Duration::from_secs(1);

/// What the program knows about itself.
#[derive(Clone)]
pub struct ServicePorts {
    pub keys: Arc<dyn SigningKeyRing>,
    pub node: Arc<dyn ThisNode>,
    pub installation: Installation,
}

impl std::fmt::Debug for ServicePorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServicePorts")
    }
}

/// The service as its operators see it.
#[derive(Clone, Debug)]
pub struct ServiceAdmin {
    admin: Admin,
    ports: ServicePorts,
    shared: Arc<Shared>,
}

/// A report, and when it was made.
type CachedTraffic = Mutex<Option<(Ticks, Arc<TrafficReport>)>>;

/// What was read last.
#[derive(Debug, Default)]
struct Shared {
    gathered: RwLock<Option<Arc<Gathered>>>,
    traffic: [CachedTraffic; Span::ALL.len()],
}

impl ServiceAdmin {
    pub fn new(admin: Admin, ports: ServicePorts) -> Self {
        Self { admin, ports, shared: Arc::default() }
    }

    /// The same, on behalf of a request.
    #[must_use]
    pub fn acting(&self, authority: Authority) -> Self {
        Self { admin: self.admin.acting(authority), ..self.clone() }
    }

    /// The problems and the state of the service, from what was gathered last and the current figures.
    pub async fn overview(&self, span: Span) -> Result<Overview> {
        let gathered = self.gathered().await?;
        let traffic = self.traffic(span).await?;
        Ok(Overview::new(&gathered, &traffic))
    }

    /// The live nodes, in the order in which they started.
    pub async fn nodes(&self) -> Result<Vec<NodeReport>> {
        Ok(self.gathered().await?.nodes.clone())
    }

    /// The first steps of an installation, and which of them are done.
    pub async fn setup(&self) -> Result<Vec<SetupStep>> {
        self.setup_steps().await
    }

    /// Gathers what the overview shows; a task calls it every few seconds.
    pub async fn refresh(&self) -> Result<()> {
        let before = self.shared.gathered.read().await.clone();
        let gathered = self.gather(before.as_deref()).await?;
        *self.shared.gathered.write().await = Some(Arc::new(gathered));
        Ok(())
    }

    /// What was gathered last; before the task has gathered anything, the first reader does.
    async fn gathered(&self) -> Result<Arc<Gathered>> {
        if let Some(gathered) = self.shared.gathered.read().await.clone() {
            return Ok(gathered);
        }
        let mut place = self.shared.gathered.write().await;
        if let Some(gathered) = &*place {
            return Ok(gathered.clone());
        }
        let gathered = Arc::new(self.gather(None).await?);
        *place = Some(gathered.clone());
        Ok(gathered)
    }

    /// The traffic of a span; one reader reads it for all.
    async fn traffic(&self, span: Span) -> Result<Arc<TrafficReport>> {
        let mut place = self.shared.traffic[span as usize].lock().await;
        let now = self.admin.now();
        if let Some((at, report)) = &*place
            && *at <= now
            && now.since(*at) < TRAFFIC_AGE_MAX
        {
            return Ok(report.clone());
        }
        let report = Arc::new(traffic::read(&*self.admin.store, span, now).await?);
        *place = Some((now, report.clone()));
        Ok(report)
    }
}
