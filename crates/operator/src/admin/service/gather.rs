//! Gathers what the overview shows. Each look costs a bounded number of queries, whatever the store holds.

use std::collections::HashSet;
use std::time::Duration;

use domain::figures::{FigureCounts, FigurePoint, Resolution, Series};
use domain::signing_key::{KeyState, SigningKeyInfo};
use domain::{Area, Ticks, WebhookStatus};
use store::{
    CredentialKind, EndingCredential, ListedWebhook, RegisteredNode, Replica, SHARDS, StoreState, Tenant,
    Webhook, WebhookFailure, WebhookQuery, WebhookSearch, WebhookSearches,
};

use super::problems::{Facts, problems};
use super::report::{
    Ending, EndingKind, FailingWebhook, NodeReport, ReplicaReport, StoreReport, WebhookTotals,
};
use super::{NODE_SILENCE_MAX, Result, ServiceAdmin, ServiceProblem};

/// What expires within this time is listed.
const ENDING_WITHIN: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const ENDINGS_MAX: usize = 20;
const HOUR: Duration = Duration::from_secs(60 * 60);
/// Failing webhooks that are named.
const NAMED_MAX: usize = 10;
/// How many failing records are read to find their webhooks, and how many webhooks are looked up.
const FAILURES_MAX: usize = 1_000;
const LOOKUPS_MAX: usize = 50;
/// How many webhooks one query checks for failures (requests wait for it), and how many queries there are. An installation with more
/// webhooks, deleted ones included, or with more than `LOOKUPS_MAX` failing ones shows the nodes' own counts.
const LOOKS_MAX: usize = 1_000;
const PAGES_MAX: usize = 10;

/// What was gathered at a time.
#[derive(Clone, Debug)]
pub(super) struct Gathered {
    pub(super) at: Ticks,
    pub(super) problems: Vec<ServiceProblem>,
    pub(super) webhooks: WebhookTotals,
    pub(super) failing: Vec<FailingWebhook>,
    pub(super) pending_requests: u64,
    pub(super) store: StoreReport,
    /// The count of commits, to compare with the next one.
    commits: Option<u64>,
    pub(super) nodes: Vec<NodeReport>,
    pub(super) endings: Vec<Ending>,
    pub(super) open_setup_steps: u64,
}

impl ServiceAdmin {
    pub(super) async fn gather(&self, before: Option<&Gathered>) -> Result<Gathered> {
        let (store, now) = (&self.admin.store, self.admin.now());
        let live = self.live_nodes().await?;
        let mut webhooks = totals(&live);
        let failing = match self.all_failing(now).await? {
            // The same number as in the list of failing webhooks, which reads the store.
            Some(all) => {
                webhooks.failing = all.len() as u64;
                all.into_iter().take(NAMED_MAX).collect()
            }
            None => self.failing_webhooks(now).await?,
        };
        let nodes: Vec<NodeReport> = live.iter().map(node_report).collect();
        let state = store.store_state().await?;
        let commits = state.commits;
        let queued = store.health().await?.queued;
        let rate = before.and_then(|before| commit_rate(before, commits?, now));
        let store_report = store_report(state, rate, queued as u64);
        let credentials = store.ending_credentials(now, now + ENDING_WITHIN, ENDINGS_MAX).await?;
        let endings = endings(&credentials, &nodes, &self.ports.keys.list(), now);
        let facts = Facts {
            now,
            unheld_shards: unheld_shards(&nodes),
            failed_calls: self.failed_calls(now).await?,
            webhooks,
            nodes: &nodes,
            endings: &endings,
            replicas: store_report.replicas.as_deref().unwrap_or_default(),
        };
        let steps = self.setup_steps().await?;
        // A store of `aldaba dev` is never installed.
        let is_dev = store.dev_credentials().await?.is_some();
        let open_steps = steps.iter().filter(|step| !step.is_done && !is_dev).count();
        Ok(Gathered {
            at: now,
            problems: problems(&facts),
            webhooks,
            failing,
            pending_requests: self.admin.count_pending_requests().await? as u64,
            store: store_report,
            commits,
            nodes,
            endings,
            open_setup_steps: open_steps as u64,
        })
    }

    /// The nodes that share the store; of a store that is not shared, this one.
    async fn live_nodes(&self) -> Result<Vec<RegisteredNode>> {
        if self.admin.store.is_shared() {
            return Ok(self.admin.store.live_nodes(NODE_SILENCE_MAX).await?);
        }
        let (id, details) = (self.ports.node.id(), self.ports.node.details());
        Ok(vec![RegisteredNode { id, seen_at: self.admin.now(), shards: SHARDS, details }])
    }

    /// The calls of the last hour that the service failed to answer, and all, by area.
    async fn failed_calls(&self, now: Ticks) -> Result<Vec<(Area, FigureCounts)>> {
        let series = Area::ALL.map(Series::AreaCalls);
        let found = self.admin.store.figures_of(&series, Resolution::Minute, now.minus(HOUR), now.next());
        let area = |(area, points): (Area, Vec<FigurePoint>)| {
            let mut counts = FigureCounts::default();
            for point in &points {
                counts.add(&point.counts);
            }
            (area, counts)
        };
        Ok(Area::ALL.into_iter().zip(found.await?).map(area).collect())
    }

    /// All active webhooks whose deliveries or handshake fail, those that have failed for longest first. None: they are too
    /// many to look at.
    async fn all_failing(&self, now: Ticks) -> Result<Option<Vec<FailingWebhook>>> {
        let store = &self.admin.store;
        let search = WebhookSearch {
            query: WebhookQuery { rows_max: LOOKUPS_MAX, ..WebhookQuery::default() },
            status: Some(WebhookStatus::Active),
            only_failing: true,
            looks_max: Some(LOOKS_MAX),
            ..WebhookSearch::default()
        };
        let Some(rows) = all_pages(&**store, search).await? else { return Ok(None) };
        let mut named = Vec::new();
        for row in rows {
            let tenant = store.find_tenant(&row.webhook.owner.tenant).await?;
            let Some(tenant) = tenant.filter(|tenant| tenant.sandbox_of.is_none()) else { continue };
            named.push(named_webhook(row.webhook, tenant, row.failing_since.unwrap_or(now)));
        }
        named.sort_by_key(|one| one.since);
        Ok(Some(named))
    }

    /// The webhooks whose deliveries have failed for longest.
    async fn failing_webhooks(&self, now: Ticks) -> Result<Vec<FailingWebhook>> {
        let store = &self.admin.store;
        let failures = store.failing_webhooks(WebhookFailure::default(), now, FAILURES_MAX).await?;
        let (mut seen, mut named) = (HashSet::new(), Vec::new());
        for failure in failures.into_iter().filter(|failure| seen.insert(failure.webhook)).take(LOOKUPS_MAX) {
            let Some(webhook) = store.find_webhook(failure.webhook).await? else { continue };
            if WebhookStatus::of(webhook.flags(), webhook.suspended_at.is_some()) != WebhookStatus::Active {
                continue;
            }
            let tenant = store.find_tenant(&webhook.owner.tenant).await?;
            let Some(tenant) = tenant.filter(|tenant| tenant.sandbox_of.is_none()) else { continue };
            named.push(named_webhook(webhook, tenant, failure.first_failed_at));
            if named.len() == NAMED_MAX {
                break;
            }
        }
        Ok(named)
    }
}

/// The webhooks of all pages; `None` if there are more than `PAGES_MAX` pages or `LOOKUPS_MAX` webhooks. Requests run between two pages.
async fn all_pages(
    store: &(impl WebhookSearches + ?Sized),
    mut search: WebhookSearch,
) -> Result<Option<Vec<ListedWebhook>>> {
    let mut rows = Vec::new();
    for _ in 0..PAGES_MAX {
        let page = store.search_webhooks(&search).await?;
        rows.extend(page.rows);
        if rows.len() > LOOKUPS_MAX {
            return Ok(None);
        }
        if page.next.is_none() {
            return Ok(Some(rows));
        }
        search.query.after = page.next;
        tokio::task::yield_now().await;
    }
    Ok(None)
}

fn named_webhook(webhook: Webhook, tenant: Tenant, since: Ticks) -> FailingWebhook {
    FailingWebhook {
        id: webhook.id.to_string(),
        name: webhook.name,
        url: webhook.url,
        tenant: tenant.id.to_string(),
        tenant_name: tenant.name,
        client: webhook.owner.client.to_string(),
        since,
    }
}

fn totals(nodes: &[RegisteredNode]) -> WebhookTotals {
    let mut totals = WebhookTotals::default();
    for details in nodes.iter().map(|node| &node.details) {
        totals.held += details.webhooks;
        totals.failing += details.failing;
        totals.suspended += details.suspended;
        totals.disabled += details.disabled;
        totals.events_behind += details.events_behind;
        let oldest = [totals.oldest_undelivered_at, details.oldest_undelivered_at];
        totals.oldest_undelivered_at = oldest.into_iter().flatten().min();
    }
    totals
}

fn node_report(node: &RegisteredNode) -> NodeReport {
    let details = &node.details;
    NodeReport {
        id: node.id.to_string(),
        host: details.host.clone(),
        version: details.version.clone(),
        started_at: details.started_at,
        last_seen_at: node.seen_at,
        shards: node.shards,
        webhooks: details.webhooks,
        events_behind: details.events_behind,
        certificate_ends_at: details.certificate_ends_at,
        operator_certificate_ends_at: details.operator_certificate_ends_at,
    }
}

fn unheld_shards(nodes: &[NodeReport]) -> u16 {
    let held = nodes.iter().fold(0_u16, |held, node| held.saturating_add(node.shards));
    SHARDS.saturating_sub(held)
}

/// Commits per second since the last reading, to a tenth.
#[allow(clippy::cast_precision_loss, reason = "a rate for people to read")]
fn commit_rate(before: &Gathered, commits: u64, now: Ticks) -> Option<f64> {
    let seconds = now.since(before.at).as_secs_f64();
    let made = commits.checked_sub(before.commits?)?;
    (seconds > 0.0).then(|| (made as f64 / seconds * 10.0).round() / 10.0)
}

fn store_report(state: StoreState, commits_per_second: Option<f64>, queued: u64) -> StoreReport {
    let replica = |one: Replica| ReplicaReport {
        name: one.name,
        state: one.state,
        lag_bytes: one.lag_bytes,
        lag_millis: one.lag.map(|lag| u64::try_from(lag.as_millis()).unwrap_or(u64::MAX)),
    };
    StoreReport {
        kind: state.kind,
        version: state.version,
        size_bytes: state.size_bytes,
        wal_bytes: state.wal_bytes,
        commits_per_second,
        queued,
        replicas: state.replicas.map(|all| all.into_iter().map(replica).collect()),
    }
}

/// Everything that ends soon, soonest first.
fn endings(
    credentials: &[EndingCredential],
    nodes: &[NodeReport],
    keys: &[SigningKeyInfo],
    now: Ticks,
) -> Vec<Ending> {
    let until = now + ENDING_WITHIN;
    let credential = |one: &EndingCredential| {
        let kind = match one.kind {
            CredentialKind::OperatorToken => EndingKind::OperatorToken,
            CredentialKind::ClientSecret => EndingKind::ClientSecret,
            CredentialKind::SubscriptionKey => EndingKind::SubscriptionKey,
        };
        Ending { kind, id: one.id.clone(), name: one.name.clone(), at: one.ends_at }
    };
    let certificate = |node: &NodeReport, kind, at: Option<Ticks>| {
        // What has ended is a problem until it is replaced.
        let at = at.filter(|at| *at <= until)?;
        Some(Ending { kind, id: node.id.clone(), name: node.host.clone(), at })
    };
    let certificates = nodes.iter().flat_map(|node| {
        let operator = (EndingKind::OperatorCertificate, node.operator_certificate_ends_at);
        let both = [(EndingKind::Certificate, node.certificate_ends_at), operator];
        both.into_iter().filter_map(move |(kind, at)| certificate(node, kind, at))
    });
    let keys = keys.iter().filter(|key| key.state != KeyState::Past);
    let keys = keys.filter_map(|key| {
        let at = key.ends_at.filter(|at| *at > now && *at <= until)?;
        Some(Ending { kind: EndingKind::SigningKey, id: key.kid.clone(), name: key.kid.clone(), at })
    });
    let mut all: Vec<Ending> = credentials.iter().map(credential).chain(certificates).chain(keys).collect();
    all.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
    all.truncate(ENDINGS_MAX);
    all
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use domain::Guid;
    use store::{ListedWebhooks, NodeDetails};

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn now() -> Ticks {
        Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap()
    }

    fn node(byte: u8, shards: u16, details: NodeDetails) -> RegisteredNode {
        RegisteredNode { id: Guid::from_bytes([byte; 16]), seen_at: now(), shards, details }
    }

    /// A search with this many pages, whose cursors count them.
    struct Pages(i64);

    #[async_trait]
    impl WebhookSearches for Pages {
        async fn search_webhooks(&self, search: &WebhookSearch) -> store::Result<ListedWebhooks> {
            assert_eq!(search.looks_max, Some(LOOKS_MAX));
            let page = search.query.after.map_or(1, |(Ticks(page), _)| page + 1);
            let next = (page < self.0).then(|| (Ticks(page), Guid::from_bytes([0; 16])));
            Ok(ListedWebhooks { rows: Vec::new(), next })
        }
    }

    #[tokio::test]
    async fn the_search_for_failing_webhooks_reads_a_bounded_number_of_pages() {
        let search = || WebhookSearch { looks_max: Some(LOOKS_MAX), ..WebhookSearch::default() };
        for (pages, is_complete) in [(1, true), (10, true), (11, false)] {
            assert_eq!(all_pages(&Pages(pages), search()).await.unwrap().is_some(), is_complete, "{pages}");
        }
    }

    #[test]
    fn nodes_add_up() {
        let details = |events_behind, oldest| NodeDetails {
            webhooks: 2,
            failing: 1,
            events_behind,
            oldest_undelivered_at: oldest,
            ..NodeDetails::default()
        };
        let nodes = [
            node(1, 100, details(3, None)),
            node(2, 100, details(4, Some(Ticks(9)))),
            node(3, 50, details(0, Some(Ticks(7)))),
        ];
        let totals = totals(&nodes);
        assert_eq!((totals.held, totals.failing, totals.events_behind), (6, 3, 7));
        assert_eq!(totals.oldest_undelivered_at, Some(Ticks(7)));
        let reports: Vec<NodeReport> = nodes.iter().map(node_report).collect();
        assert_eq!(unheld_shards(&reports), 6);
        assert_eq!(unheld_shards(&[]), SHARDS);
    }

    #[test]
    fn what_ends_soon_is_listed_soonest_first() {
        let mut details = NodeDetails { host: "one".into(), ..NodeDetails::default() };
        details.certificate_ends_at = Some(now() + 3 * DAY);
        details.operator_certificate_ends_at = Some(now() + 31 * DAY);
        let nodes = [node_report(&node(1, 256, details))];
        let token = |name: &str, ends_at| EndingCredential {
            kind: CredentialKind::OperatorToken,
            id: name.into(),
            name: name.into(),
            ends_at,
        };
        let key = |kid: &str, state, ends_at| SigningKeyInfo {
            kid: kid.into(),
            state,
            created_at: now(),
            signs_from: now(),
            signs_until: None,
            ends_at,
            retired_at: None,
        };
        let keys = [
            key("past", KeyState::Past, Some(now() + DAY)),
            key("replaced", KeyState::Verifying, Some(now() + DAY)),
            key("signing", KeyState::Signing, Some(now() + 89 * DAY)),
            key("endless", KeyState::Signing, None),
        ];
        let credentials = [token("load", now() + 2 * DAY)];
        let found = endings(&credentials, &nodes, &keys, now());
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["replaced", "load", "one"]);
    }
}
