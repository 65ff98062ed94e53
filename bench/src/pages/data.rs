//! The data behind the pages, written through the store's port while the service does not run: records and deliveries by the
//! thousand in one transaction, with times of the last six days.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use domain::change::Change;
use domain::event::{EventKind, semantic_name};
use domain::{AccountId, Guid, Random as _, Realm, Resource, TenantId, Ticks, WebhookId};
use store::postgres::PostgresStore;
use store::sqlite::SqliteStore;
use store::{
    AuditContext, BatchCounts, ChangeBatch, ChangeLine, LeaseRenewal, MasterKey, Ports, Store, Vault,
    WebhookCheckpoint, shard_of,
};
use testkit::{SeededRandom, TestClock};

use super::team::Team;
use super::{counts, history, people, sandbox, team};
use crate::Fallible;
use crate::database::Database;
use crate::program::PreparedStore;
use crate::rows::{account_line, company_line, customer_id, customer_line};

/// The data is this old; the retention of everything is longer.
const SPAN: Duration = Duration::from_secs(6 * 24 * 60 * 60);
/// Changes in one transaction.
const BATCH_LINES: u64 = 500;
const STORE_CONNECTIONS: usize = 4;
/// Nobody renews the leases; no other node is there to take them.
const LEASE: Duration = Duration::from_secs(60 * 60);
const CUSTOMER_SALT: u64 = 1;

/// How much data there is.
pub(super) struct Size {
    pub(super) is_small: bool,
    /// Of one tenant, and deliveries of one webhook.
    pub(super) records: u64,
    pub(super) webhooks: usize,
    /// Besides the one with the records.
    pub(super) tenants: usize,
    /// Audit entries of one client.
    pub(super) audit: u64,
}

impl Size {
    pub(super) fn of(only: Option<&str>) -> Fallible<Self> {
        match only {
            None => Ok(Self {
                is_small: false,
                records: 1_000_000,
                webhooks: 1_000,
                tenants: 400,
                audit: 100_000,
            }),
            Some("small") => {
                Ok(Self { is_small: true, records: 12_000, webhooks: 100, tenants: 10, audit: 1_000 })
            }
            Some(other) => Err(format!("`pages` has no part {other:?}, only \"small\"").into()),
        }
    }
}

/// What the pages need to know of the data.
pub(super) struct Dataset {
    /// Of the developer, and of the operator.
    pub(super) cookie: String,
    pub(super) operator_cookie: String,
    /// With the records.
    pub(super) tenant: String,
    pub(super) team: String,
    pub(super) team_name: String,
    pub(super) subscription: String,
    pub(super) client: String,
    pub(super) webhooks: usize,
    /// The webhook with the deliveries.
    pub(super) busy: WebhookId,
    pub(super) busy_url: String,
    /// A webhook that has been disabled, with as many failing records as there may be.
    pub(super) down: WebhookId,
    pub(super) event: String,
    /// The record of a delivery some thousand deliveries ago.
    pub(super) record: String,
    pub(super) record_sequence: u64,
    /// A delivery that failed once.
    pub(super) failed_sequence: u64,
    /// A delivery in the middle of the steady traffic, and one among the bulk changes, with their times.
    pub(super) steady: (Ticks, u64),
    pub(super) bulk: (Ticks, u64),
    pub(super) route: &'static str,
    /// The number of a request that the sandbox's receiver got.
    pub(super) received: u64,
}

impl Dataset {
    pub(super) fn team_path(&self, page: &str) -> String {
        format!("/portal/teams/{}/{page}", self.team)
    }
}

/// The store and what its writers share.
pub(super) struct Writer {
    pub(super) store: Arc<dyn Store>,
    /// Of the store: it goes from the start to the present as data is written.
    pub(super) clock: Arc<TestClock>,
    pub(super) random: SeededRandom,
    pub(super) by: AuditContext,
    pub(super) start: Ticks,
    pub(super) now: Ticks,
    fences: HashMap<u8, i64>,
}

pub(super) async fn write(store: &PreparedStore, database: &Database, size: &Size) -> Fallible<Dataset> {
    let writer = Writer::open(store.folder(), &store.sqlite_file(), database).await?;
    let tenant = TenantId::new(store.tenant());
    eprintln!("a team with {} webhooks", size.webhooks);
    let team = team::write(&writer, &tenant, size).await?;
    eprintln!("{} records", size.records);
    writer.records(&tenant, size.records).await?;
    eprintln!("{} deliveries", size.records);
    let history = history::write(&writer, &team, &tenant, size).await?;
    eprintln!("calls, figures, audit");
    counts::write(&writer, &team, size).await?;
    let received = sandbox::write(&writer, &team).await?;
    eprintln!("people, invitations, reads");
    let operator = people::write(&writer, &tenant, &team.clients[0], size).await?;
    let cookie = writer.sign_in(Realm::Developers, &team.developer).await?;
    let operator_cookie = writer.sign_in(Realm::Operators, &operator).await?;
    writer.close().await?;
    Ok(Dataset {
        cookie,
        operator_cookie,
        tenant: tenant.to_string(),
        team: team.id.to_string(),
        team_name: team.name.clone(),
        subscription: team.subscriptions[0].to_string(),
        client: team.clients[0].to_string(),
        webhooks: size.webhooks,
        busy: team.busy().id,
        busy_url: team.busy().url.clone(),
        down: team.down().id,
        event: semantic_name(Resource::customers(), EventKind::Created),
        record: history.record,
        record_sequence: history.record_sequence,
        failed_sequence: history.failed_sequence,
        steady: history.steady,
        bulk: history.bulk,
        route: counts::ROUTE,
        received,
    })
}

impl Writer {
    async fn open(folder: &Path, sqlite_file: &Path, database: &Database) -> Fallible<Self> {
        let master = std::fs::read_to_string(folder.join("master.key"))?;
        let vault = Arc::new(Vault::new(&MasterKey::parse(master.trim())?)?);
        let elapsed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let now = Ticks::from_unix_nanos(i128::try_from(elapsed.as_nanos())?);
        let start = now.minus(SPAN);
        let clock = Arc::new(TestClock::at(start));
        let ports = Ports { clock: clock.clone(), random: Arc::new(SeededRandom::new(1)), vault };
        let store: Arc<dyn Store> = if database.is_postgres() {
            Arc::new(PostgresStore::open(&database.url, STORE_CONNECTIONS, ports).await?)
        } else {
            Arc::new(SqliteStore::open(sqlite_file, ports)?)
        };
        let (random, by) = (SeededRandom::new(2), AuditContext::default());
        let leases = store.renew_shard_leases(&LeaseRenewal::new(node(), LEASE)).await?.held;
        let fences = leases.into_iter().map(|lease| (lease.shard, lease.fence)).collect();
        Ok(Self { store, clock, random, by, start, now, fences })
    }

    /// The time after a share of the span.
    pub(super) fn at(&self, part: u64, of: u64) -> Ticks {
        let nanos = SPAN.as_nanos() * u128::from(part) / u128::from(of.max(1));
        self.start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    pub(super) fn checkpoint(&self, webhook: WebhookId, revision: u64) -> WebhookCheckpoint {
        let fence = self.fences.get(&shard_of(webhook)).copied().unwrap_or_default();
        WebhookCheckpoint::new(webhook, fence, revision)
    }

    /// Writes checkpoints, all of which must be accepted.
    pub(super) async fn write_checkpoints(&self, checkpoints: Vec<WebhookCheckpoint>) -> Fallible<()> {
        let results = self.store.checkpoint(checkpoints).await?;
        match results.iter().find(|result| **result != store::CheckpointResult::Written) {
            Some(refused) => Err(format!("a checkpoint was not written: {refused:?}").into()),
            None => Ok(()),
        }
    }

    /// A company and new customers of it, over the whole span of time.
    async fn records(&self, tenant: &TenantId, count: u64) -> Fallible<()> {
        self.clock.set(self.start);
        self.apply(tenant, std::iter::once(company_line())).await?;
        for from in (0..count).step_by(usize::try_from(BATCH_LINES)?) {
            self.clock.set(self.at(from, count));
            let lines =
                (from..(from + BATCH_LINES).min(count)).map(|number| customer_line(CUSTOMER_SALT, number));
            self.apply(tenant, lines).await?;
        }
        Ok(())
    }

    /// A company with a few customers, for a tenant that has hardly begun.
    pub(super) async fn few_records(&self, tenant: &TenantId, count: u64) -> Fallible<()> {
        let customers = (0..count).map(|number| customer_line(CUSTOMER_SALT, number));
        self.apply(tenant, std::iter::once(company_line()).chain(customers)).await
    }

    /// One account of a tenant's company, changed again and again.
    pub(super) async fn changes_of_one_record(&self, tenant: &TenantId, count: u64) -> Fallible<()> {
        let line = |number: u64| account_line(1).replace("grupo 1\"", &format!("grupo {number}\""));
        self.apply(tenant, (0..count).map(line)).await
    }

    async fn apply(&self, tenant: &TenantId, lines: impl Iterator<Item = String>) -> Fallible<()> {
        let parse = |(number, line): (u64, String)| {
            let parsed = Change::parse(line.as_bytes(), || self.random.guid());
            parsed.map(|parsed| ChangeLine { number, change: parsed.change }).map_err(|fault| fault.message)
        };
        let lines = (1..).zip(lines).map(parse).collect::<Result<Vec<ChangeLine>, _>>()?;
        let batch = ChangeBatch {
            tenant: tenant.clone(),
            process: self.random.guid(),
            lines,
            counts: BatchCounts::default(),
            checkpoint: None,
            expires_at: None,
            edit: None,
        };
        let counts = self.store.apply_changes(batch).await?;
        if counts.rejected > 0 {
            return Err(format!("changes were rejected: {:?}", counts.errors.first()).into());
        }
        Ok(())
    }

    /// Begins a session and returns its cookie.
    async fn sign_in(&self, realm: Realm, account: &AccountId) -> Fallible<String> {
        let cookie = domain::Secret::new(self.random.token());
        let session = store::Session {
            id: self.random.guid(),
            realm,
            account: account.clone(),
            authenticated_at: self.now,
            methods: "pwd".into(),
            expires_at: self.now + SPAN,
            address: "127.0.0.1".into(),
            user_agent: "aldaba-bench".into(),
        };
        let kind = store::AuditKind::signed_in(realm);
        let entry = store::AuditEntry::new(kind, self.now, &self.by);
        self.store.begin_session(&cookie, &session, None, None, &entry).await?;
        Ok(format!("aldaba-{}-session={}", realm.person(), cookie.reveal()))
    }

    async fn close(self) -> Fallible<()> {
        self.clock.set(self.now);
        self.store.release_shards(node()).await?;
        self.store.close().await;
        Ok(())
    }
}

fn node() -> Guid {
    Guid::from_bytes([9; 16])
}

/// The sequence of a customer's first event: the company has the first one.
pub(super) fn sequence_of(number: u64) -> u64 {
    number + 2
}

/// The record of an event.
pub(super) fn record_of(sequence: u64) -> String {
    customer_id(CUSTOMER_SALT, sequence - 2).to_string()
}

impl Team {
    pub(super) fn busy(&self) -> &store::Webhook {
        &self.webhooks[team::BUSY].webhook
    }

    pub(super) fn down(&self) -> &store::Webhook {
        &self.webhooks[team::DOWN].webhook
    }
}
