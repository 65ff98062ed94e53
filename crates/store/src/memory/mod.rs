//! A store in memory for the simulation and for tests: the same rules over ordered maps.

mod accounts;
mod audit;
mod authorizations;
mod calls;
mod changes;
mod clients;
mod deliveries;
mod directory;
mod directory_search;
mod figures;
mod grants;
mod history;
mod inventory;
mod invitations;
mod keys;
mod logouts;
mod mails;
mod maintenance;
mod nodes;
mod notices;
mod operator_tokens;
mod operators;
mod password_resets;
mod payroll;
mod reads;
mod records;
mod requests;
mod sandboxes;
mod search;
mod second_factors;
mod sessions;
mod sign_in_buckets;
mod subscriptions;
mod team_webhooks;
mod teams;
mod ticket_keys;
mod webhook_search;
mod webhooks;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use domain::figures::FigureCounts;
use domain::ids::SubscriptionId;
use domain::{AccountId, CallRecord, TeamId, TenantId, Ticks};
use parking_lot::Mutex;

use crate::archive::HEADS_ADVANCE;
use crate::audit::Act;
use crate::grants::RefreshRow;
use crate::plan::{CollectionCounters, CollectionKey, LogRow, StoredRecord};
use crate::{
    Account, AuditContext, AuditCursor, AuditEntry, Authorization, AuthorizationCode, Client, Grant,
    IngestProgress, InvalidationCounters, KeySlot, LogBounds, Membership, Operations, Ports, Result, Session,
    StoreError, Subscription, Team, TeamMember, TeamRequest, Tenant,
};

/// The data of a memory store; handles with the same contents share the data.
#[derive(Clone, Default)]
pub struct Contents(Arc<Mutex<State>>);

impl std::fmt::Debug for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Contents")
    }
}

#[derive(Clone, Debug)]
pub struct MemoryStore {
    contents: Contents,
    ports: Ports,
    closed: Arc<AtomicBool>,
    change_commits: Arc<AtomicU64>,
    invalidation: Arc<InvalidationCounters>,
    operations: Arc<Operations>,
}

/// (tenant, company, resource)
type CollectionId = (i64, i64, i16);

#[derive(Clone, Default)]
struct State {
    vault: Option<Vec<u8>>,
    dev: Option<String>,
    next_tenant_no: i64,
    tenants: BTreeMap<i64, Tenant>,
    heads: BTreeMap<i64, Head>,
    records: BTreeMap<(CollectionId, u64), (Box<str>, StoredRecord)>,
    ordinals: BTreeMap<(CollectionId, Box<str>), u64>,
    collections: BTreeMap<CollectionId, CollectionCounters>,
    log: BTreeMap<(i64, u64), LogRow>,
    processes: BTreeMap<(i64, String), (IngestProgress, Ticks)>,
    accounts: BTreeMap<Box<str>, Account>,
    memberships: Vec<Membership>,
    invitations: BTreeMap<Box<str>, crate::Invitation>,
    invitation_links: BTreeMap<[u8; 32], invitations::StoredLink>,
    password_resets: BTreeMap<[u8; 32], password_resets::StoredReset>,
    clients: BTreeMap<Box<str>, StoredClient>,
    subscriptions: BTreeMap<Box<str>, Subscription>,
    teams: BTreeMap<Box<str>, Team>,
    team_members: BTreeMap<(TeamId, AccountId), TeamMember>,
    requests: BTreeMap<Box<str>, TeamRequest>,
    sandboxes: BTreeMap<Box<str>, sandboxes::StoredSandbox>,
    received_requests: BTreeMap<(TeamId, u64), crate::ReceivedRequest>,
    keys: BTreeMap<[u8; 32], StoredKey>,
    /// (subscription, day, route) to (calls, failed calls)
    calls: BTreeMap<(Box<str>, i64, String), (u64, u64)>,
    call_log: BTreeMap<(SubscriptionId, u64), CallRecord>,
    last_call: u64,
    figures: BTreeMap<crate::figures::FigureKey, FigureCounts>,
    reads: crate::reads::ReadAdditions,
    /// When each was heard of, and what it said about itself.
    nodes: BTreeMap<[u8; 16], (Ticks, crate::NodeDetails)>,
    codes: BTreeMap<[u8; 32], StoredCode>,
    grants: BTreeMap<Box<str>, Grant>,
    authorizations: BTreeMap<authorizations::AuthorizationKey, Authorization>,
    refresh_tokens: BTreeMap<[u8; 32], RefreshRow>,
    signing_keys: BTreeMap<String, (crate::SigningKey, Vec<u8>)>,
    /// By the hash of the secret.
    operator_tokens: BTreeMap<[u8; 32], crate::NamedToken>,
    ticket_keys: BTreeMap<[u8; 16], (crate::TicketKey, Vec<u8>)>,
    sessions: BTreeMap<[u8; 32], Session>,
    /// The clients of each session, and when it expires.
    session_clients: BTreeMap<(domain::Guid, domain::ClientId), Ticks>,
    logouts: BTreeMap<[u8; 16], logouts::StoredLogout>,
    second_factors: BTreeMap<[u8; 16], crate::second_factors::FactorRow>,
    recovery_codes: BTreeMap<[u8; 32], AccountId>,
    used_challenges: BTreeMap<[u8; 32], Ticks>,
    sign_in_buckets: BTreeMap<[u8; 32], crate::sign_in_buckets::BucketRow>,
    audit: BTreeMap<AuditCursor, AuditEntry>,
    mails: BTreeMap<[u8; 16], mails::StoredMail>,
    notices: BTreeMap<crate::NoticeCursor, notices::StoredNotice>,
    notice_settings: BTreeMap<(TeamId, AccountId), notices::StoredNoticeSettings>,
    webhooks: webhooks::WebhookTable,
}

#[derive(Clone, Copy)]
struct Head {
    bounds: LogBounds,
    version: Ticks,
}

#[derive(Clone)]
struct StoredClient {
    client: Client,
    secret: Vec<u8>,
    old: Option<(Vec<u8>, Ticks)>,
}

#[derive(Clone)]
struct StoredKey {
    subscription: Box<str>,
    slot: KeySlot,
    valid_until: Option<Ticks>,
    last_used_at: Option<Ticks>,
    sealed: Option<Vec<u8>>,
}

#[derive(Clone)]
struct StoredCode {
    code: AuthorizationCode,
    used: bool,
    grant: Option<domain::GrantId>,
}

impl Contents {
    /// A copy of the current data, as a backup would hold it.
    #[must_use]
    pub fn backup(&self) -> Self {
        Self(Arc::new(Mutex::new(self.0.lock().clone())))
    }

    /// The data after a restore of this backup: sequences continue far above its heads.
    #[must_use]
    pub fn restored(&self) -> Self {
        let restored = self.backup();
        {
            let mut state = restored.0.lock();
            state.heads.values_mut().for_each(|head| head.bounds.head += HEADS_ADVANCE);
            // Backups contain no leases, sign-in buckets, used challenges, ticket keys, mails, logouts, links, log of calls and figures,
            // and nothing that receivers of sandboxes got.
            state.webhooks.leases.clear();
            state.sign_in_buckets.clear();
            state.used_challenges.clear();
            state.ticket_keys.clear();
            state.mails.clear();
            state.session_clients.clear();
            state.logouts.clear();
            state.invitation_links.clear();
            state.password_resets.clear();
            state.received_requests.clear();
            state.call_log.clear();
            state.figures.clear();
        }
        restored
    }
}

impl MemoryStore {
    pub fn new(ports: Ports) -> Result<Self> {
        Self::open(Contents::default(), ports)
    }

    /// Opens another handle on existing data, as after a restart.
    pub fn open(contents: Contents, ports: Ports) -> Result<Self> {
        {
            let mut state = contents.0.lock();
            if state.vault.is_none() {
                state.vault = Some(ports.vault.sealed_check(&*ports.random)?);
            }
            ports.vault.check(state.vault.as_deref().unwrap_or_default())?;
        }
        Ok(Self {
            contents,
            ports,
            closed: Arc::default(),
            change_commits: Arc::default(),
            invalidation: Arc::default(),
            operations: Arc::default(),
        })
    }

    pub fn contents(&self) -> Contents {
        self.contents.clone()
    }

    /// An audited action, now.
    fn act(&self, context: &AuditContext) -> Act {
        Act::new(self.ports.clock.now(), context)
    }

    fn state(&self) -> parking_lot::MutexGuard<'_, State> {
        self.contents.0.lock()
    }

    /// The state for a write; fails if the store is closed.
    fn state_mut(&self) -> Result<parking_lot::MutexGuard<'_, State>> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("the store is closed".into()));
        }
        Ok(self.state())
    }
}

impl State {
    fn tenant_no(&self, id: &TenantId) -> Option<i64> {
        self.tenants.iter().find(|(_, tenant)| tenant.id == *id).map(|(no, _)| *no)
    }

    /// The number of an existing company; 0 if no company is given.
    fn company_no(&self, tenant_no: i64, company: Option<&str>) -> Option<i64> {
        let Some(company) = company else { return Some(0) };
        let companies = collection_id(tenant_no, CollectionKey::companies());
        self.ordinals.get(&(companies, company.into())).map(|ordinal| crate::plan::signed(*ordinal))
    }
}

fn collection_id(tenant_no: i64, place: CollectionKey) -> CollectionId {
    (tenant_no, place.company_no, place.resource.code())
}
