//! What the overview says, for the API and the console.

use domain::Ticks;
use domain::figures::{FigureCounts, Outcome};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::gather::Gathered;
use super::{ServiceProblem, Span};

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference to the field")]
pub(super) fn iso<S: Serializer>(at: &Ticks, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.iso())
}

#[allow(clippy::ref_option, reason = "serde calls it with a reference to the field")]
pub(super) fn iso_or_null<S: Serializer>(at: &Option<Ticks>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.serialize_str(&at.iso()),
        None => serializer.serialize_none(),
    }
}

/// The problems and the state of the service.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// When everything but the traffic was read; every few seconds.
    #[serde(serialize_with = "iso")]
    #[schema(value_type = String, format = DateTime)]
    pub gathered_at: Ticks,
    /// The problems, most urgent first; empty if there are none.
    pub problems: Vec<ServiceProblem>,
    pub traffic: TrafficReport,
    pub webhooks: WebhookTotals,
    /// The webhooks that have been failing the longest, at most 10.
    pub failing_webhooks: Vec<FailingWebhook>,
    /// Requests of teams that wait for approval.
    #[schema(examples(2))]
    pub pending_requests: u64,
    pub store: StoreReport,
    /// In the order in which they started.
    pub nodes: Vec<NodeReport>,
    /// Certificates, keys, secrets and tokens that expire within 30 days, soonest first; at most 20.
    pub endings: Vec<Ending>,
    /// First steps of the installation that are not done.
    #[schema(examples(0))]
    pub open_setup_steps: u64,
}

impl Overview {
    pub(super) fn new(gathered: &Gathered, traffic: &TrafficReport) -> Self {
        Self {
            gathered_at: gathered.at,
            problems: gathered.problems.clone(),
            traffic: traffic.clone(),
            webhooks: gathered.webhooks,
            failing_webhooks: gathered.failing.clone(),
            pending_requests: gathered.pending_requests,
            store: gathered.store.clone(),
            nodes: gathered.nodes.clone(),
            endings: gathered.endings.clone(),
            open_setup_steps: gathered.open_setup_steps,
        }
    }
}

/// How things ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeCounts {
    /// Responses below 400, deliveries, sign-ins.
    #[schema(examples(1200))]
    pub succeeded: u64,
    /// Responses from 400 to 499 but 429, wrong passwords.
    #[schema(examples(12))]
    pub refused: u64,
    /// 429, and quotas that are used up.
    #[schema(examples(0))]
    pub limited: u64,
    /// Responses from 500 on, failed attempts to deliver.
    #[schema(examples(1))]
    pub failed: u64,
}

impl From<&FigureCounts> for OutcomeCounts {
    fn from(counts: &FigureCounts) -> Self {
        let [succeeded, refused, limited, failed] = Outcome::ALL.map(|outcome| counts.of(outcome));
        Self { succeeded, refused, limited, failed }
    }
}

impl OutcomeCounts {
    pub fn total(&self) -> u64 {
        self.succeeded.saturating_add(self.refused).saturating_add(self.limited).saturating_add(self.failed)
    }
}

/// The traffic of all nodes.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrafficReport {
    pub span: Span,
    /// The length of one point.
    #[schema(examples(60))]
    pub point_seconds: u64,
    /// Calls of the APIs, by area.
    pub areas: Vec<AreaTraffic>,
    /// Sign-ins with a password.
    pub sign_ins: SeriesTraffic,
    /// Attempts to deliver.
    pub deliveries: SeriesTraffic,
    /// Successful deliveries per second, over the last whole minute.
    #[schema(examples(12.5))]
    pub deliveries_per_second: f64,
    /// Calls per second, over the last whole minute.
    #[schema(examples(40.0))]
    pub calls_per_second: f64,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AreaTraffic {
    /// `accounting`, `core`, `import`, `payroll` or `invoicing`.
    #[schema(value_type = String, examples("accounting"))]
    pub area: &'static str,
    #[serde(flatten)]
    pub calls: SeriesTraffic,
}

/// Counts and latencies over the span, and its points.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeriesTraffic {
    pub total: OutcomeCounts,
    /// The latency that half of them did not exceed, in microseconds; null where nothing was measured.
    #[schema(required = true, examples(900))]
    pub p50_micros: Option<u64>,
    #[schema(required = true, examples(4200))]
    pub p95_micros: Option<u64>,
    #[schema(required = true, examples(18000))]
    pub p99_micros: Option<u64>,
    /// All points of the span, oldest first; the last one is not over yet.
    pub points: Vec<TrafficPoint>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TrafficPoint {
    #[serde(serialize_with = "iso")]
    #[schema(value_type = String, format = DateTime)]
    pub start: Ticks,
    #[serde(flatten)]
    pub counts: OutcomeCounts,
}

/// Webhooks of all nodes; those of sandboxes do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookTotals {
    /// Webhooks that the nodes deliver to.
    #[schema(examples(42))]
    pub held: u64,
    #[schema(examples(1))]
    pub failing: u64,
    #[schema(examples(0))]
    pub suspended: u64,
    /// Disabled by the service.
    #[schema(examples(0))]
    pub disabled: u64,
    /// Events that wait for delivery, at most.
    #[schema(examples(17))]
    pub events_behind: u64,
    /// When the oldest of them happened; null: none waits.
    #[serde(serialize_with = "iso_or_null")]
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub oldest_undelivered_at: Option<Ticks>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailingWebhook {
    pub id: String,
    pub name: String,
    pub url: String,
    pub tenant: String,
    pub tenant_name: String,
    pub client: String,
    #[serde(serialize_with = "iso")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Ticks,
}

/// The state of the store; members that the database does not report are null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StoreState)]
pub struct StoreReport {
    /// `sqlite` or `postgresql`.
    #[schema(value_type = String, examples("postgresql"))]
    pub kind: &'static str,
    #[schema(required = true, examples("15.8"))]
    pub version: Option<String>,
    #[schema(required = true, examples(104_857_600))]
    pub size_bytes: Option<u64>,
    /// The size of a file's write-ahead log.
    #[schema(required = true)]
    pub wal_bytes: Option<u64>,
    /// Commits per second, over the last seconds.
    #[schema(required = true, examples(3.5))]
    pub commits_per_second: Option<f64>,
    /// Writes that wait in the queue of the node that answers.
    #[schema(examples(0))]
    pub queued: u64,
    /// The standbys that follow the database.
    #[schema(required = true)]
    pub replicas: Option<Vec<ReplicaReport>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Replica)]
pub struct ReplicaReport {
    pub name: String,
    #[schema(examples("streaming"))]
    pub state: String,
    #[schema(required = true)]
    pub lag_bytes: Option<u64>,
    #[schema(required = true)]
    pub lag_millis: Option<u64>,
}

/// A process that serves this store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServiceNode)]
pub struct NodeReport {
    pub id: String,
    #[schema(examples("node-1"))]
    pub host: String,
    #[schema(examples("0.1.0"))]
    pub version: String,
    #[serde(serialize_with = "iso")]
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Ticks,
    #[serde(serialize_with = "iso")]
    #[schema(value_type = String, format = DateTime)]
    pub last_seen_at: Ticks,
    /// Of the 256 groups of webhooks.
    #[schema(examples(128))]
    pub shards: u16,
    /// Webhooks that it delivers to.
    #[schema(examples(21))]
    pub webhooks: u64,
    #[schema(examples(0))]
    pub events_behind: u64,
    /// When the certificate of its public listener expires; null where it has none.
    #[serde(serialize_with = "iso_or_null")]
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub certificate_ends_at: Option<Ticks>,
    #[serde(serialize_with = "iso_or_null")]
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub operator_certificate_ends_at: Option<Ticks>,
}

/// Something that expires soon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ending {
    pub kind: EndingKind,
    /// Of the token, the client, the subscription, the signing key or the node.
    pub id: String,
    pub name: String,
    #[serde(serialize_with = "iso")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Ticks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum EndingKind {
    /// Of a node's public listener.
    Certificate,
    /// Of a node's operator listener.
    OperatorCertificate,
    OperatorToken,
    /// The replaced secret of a client.
    ClientSecret,
    /// A replaced key of a subscription.
    SubscriptionKey,
    /// A signing key that another one replaces.
    SigningKey,
}
