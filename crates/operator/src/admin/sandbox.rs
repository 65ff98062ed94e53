//! The sandbox of a team: made on demand with sample data, taken back to its beginning, and changed for the sake of an
//! event. To who does not belong to the team, it does not exist.

mod contents;

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use domain::catalogue::Owner;
use domain::event::{EventKind, semantic_name};
use domain::{AccountId, ErrorCode, Realm, Resource, Secret, TeamId, TenantId};
use futures_util::stream;
use serde_json::Value;
use store::{
    Account, AuditContext, FIRST_REVISION, Membership, NewSandbox, ReceiverMode, ResetSandbox, Sandbox,
    SandboxOutcome, Status, Team, Tenant,
};

use super::{Admin, AdminError, DeveloperAdmin, Permission, Result};
use crate::ingest::{EventLines, Ingest, IngestRequest, IngestResponse, find_event};
use crate::ports::SampleData;

pub use contents::SandboxCompany;

/// How many records of each resource wait to be changed, disabled or deleted.
const SPARES: usize = 5;
/// Who changes the records of sandboxes, as events name them.
const USER: &str = "sandbox";
/// The language of sandbox users until they choose another one.
const LANG: &str = "es";
const ACCOUNT_DIGITS_DEFAULT: usize = 9;
/// A reset counts as so many events of the day: it hashes a password and loads the sample data.
const RESET_EVENTS: u64 = 20;

/// What sandboxes need besides the administration.
#[derive(Clone)]
pub struct SandboxSettings {
    /// Whether teams may have sandboxes.
    pub is_open: bool,
    /// How many events a team may make on one day (UTC).
    pub events_per_day_max: u64,
    pub sample: Arc<dyn SampleData>,
}

impl std::fmt::Debug for SandboxSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SandboxSettings")
    }
}

/// What was made to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeEvent {
    /// The names of the events, the wanted one last. Another one precedes it where the record had to be created or enabled
    /// first.
    pub events: Vec<String>,
    pub resource: Resource,
    pub kind: EventKind,
    pub company: Option<String>,
    pub correlation_id: String,
    /// The sequence of the wanted event.
    pub sequence: u64,
    /// The change that caused it, as the ingest API takes it.
    pub change: Value,
}

/// Who acts in sandboxes.
#[derive(Clone, Debug)]
enum SandboxActor {
    Developer(Box<DeveloperAdmin>),
    /// An operator whose role permits it.
    Operator(AuditContext),
}

/// The administration of sandboxes.
#[derive(Clone, Debug)]
pub struct SandboxAdmin {
    admin: Admin,
    actor: SandboxActor,
    settings: SandboxSettings,
}

impl Admin {
    /// The sandbox of a team, if it has one. Callers that show it leave out the password.
    pub async fn team_sandbox(&self, team: &TeamId) -> Result<Option<Sandbox>> {
        Ok(self.store.find_sandbox(team).await?)
    }
}

impl SandboxAdmin {
    /// A developer, in their teams.
    pub fn new(developer: &DeveloperAdmin, settings: &SandboxSettings) -> Self {
        let (admin, settings) = (developer.admin().clone(), settings.clone());
        Self { admin, actor: SandboxActor::Developer(Box::new(developer.clone())), settings }
    }

    /// An operator, in all teams.
    pub fn of_operator(admin: &Admin, settings: &SandboxSettings) -> Result<Self> {
        let context = admin.require(Permission::Keys)?.clone();
        let (admin, settings) = (admin.clone(), settings.clone());
        Ok(Self { admin, actor: SandboxActor::Operator(context), settings })
    }

    fn context(&self) -> &AuditContext {
        match &self.actor {
            SandboxActor::Developer(developer) => developer.context(),
            SandboxActor::Operator(context) => context,
        }
    }

    /// The team, if the actor may act in it and sandboxes are open.
    async fn team(&self, team: &str) -> Result<Team> {
        let team = match &self.actor {
            SandboxActor::Developer(developer) => developer.team(team).await?,
            SandboxActor::Operator(_) => self.admin.team(team).await?,
        };
        if self.settings.is_open {
            return Ok(team);
        }
        let why = "the operator has switched sandboxes off (portal.sandbox)".into();
        Err(AdminError::Conflict { code: ErrorCode::SandboxClosed, why })
    }

    /// The same for changes: a disabled team changes nothing.
    async fn active_team(&self, team: &str) -> Result<Team> {
        let team = self.team(team).await?;
        if team.status == Status::Active {
            return Ok(team);
        }
        let why = format!("team \"{}\" is disabled; ask the operator", team.id);
        Err(AdminError::Conflict { code: ErrorCode::TeamDisabled, why })
    }

    /// The sandbox of a team, if it has one.
    pub async fn sandbox(&self, team: &str) -> Result<Option<Sandbox>> {
        let team = self.team(team).await?;
        Ok(self.admin.store.find_sandbox(&team.id).await?)
    }

    async fn existing(&self, team: &Team) -> Result<Sandbox> {
        let found = self.admin.store.find_sandbox(&team.id).await?;
        found.ok_or_else(|| AdminError::NotFound(format!("sandbox of team \"{}\"; make it first", team.id)))
    }

    async fn ready(&self, team: &Team) -> Result<Sandbox> {
        let sandbox = self.existing(team).await?;
        if sandbox.is_ready() {
            return Ok(sandbox);
        }
        let why = "the sandbox is disabled or not complete; make it again, or ask the operator".to_owned();
        Err(AdminError::Conflict { code: ErrorCode::SandboxNotReady, why })
    }

    /// The sandbox of a team with its data; it is made if there is none yet. What an interruption left unfinished is
    /// completed, and a tenant that the operator has erased is made again.
    pub async fn create_sandbox(&self, team: &str) -> Result<Sandbox> {
        let team = self.active_team(team).await?;
        let sandbox = match self.admin.store.find_sandbox(&team.id).await? {
            Some(sandbox) => sandbox,
            None => self.add(&team).await?,
        };
        match (sandbox.tenant_status, sandbox.loaded_at) {
            (None, _) => self.reset(&team).await,
            (Some(_), None) => self.load(sandbox).await,
            (Some(_), Some(_)) => Ok(sandbox),
        }
    }

    /// Takes the sandbox back to its beginning: another tenant with the sample data. Its webhooks and tokens go, with what
    /// the receiver got; keys, clients and the user stay, the user with a new password.
    pub async fn reset_sandbox(&self, team: &str) -> Result<Sandbox> {
        let team = self.active_team(team).await?;
        if self.existing(&team).await?.tenant_status == Some(Status::Disabled) {
            return Err(disabled());
        }
        self.reset(&team).await
    }

    /// Tells the built-in receiver how to answer.
    pub async fn set_receiver_mode(&self, team: &str, mode: ReceiverMode) -> Result<Sandbox> {
        let team = self.active_team(team).await?;
        self.existing(&team).await?;
        let changed = self.admin.store.set_receiver_mode(&team.id, mode, self.context()).await?;
        changed.ok_or_else(|| AdminError::NotFound(format!("sandbox of team \"{}\"", team.id)))
    }

    async fn add(&self, team: &Team) -> Result<Sandbox> {
        let random = &*self.admin.random;
        let name = random.guid().to_string();
        let domain = name.split('-').next().unwrap_or_default();
        let email = format!("user@sandbox-{domain}.example");
        let (password, password_hash) = self.new_password().await?;
        let account = Account {
            id: AccountId::from(random.guid()),
            realm: Realm::Users,
            email,
            given_name: "Sandbox".into(),
            family_name: String::new(),
            lang: LANG.into(),
            password_hash,
            status: Status::Active,
            role: None,
            created_at: self.admin.now(),
            updated_at: self.admin.now(),
            revision: FIRST_REVISION,
        };
        let tenant = self.new_tenant(team);
        let membership = self.new_membership(&account.id, &tenant.id);
        let new = NewSandbox { tenant, account, membership, password, receiver: random.guid() };
        made(self.admin.store.add_sandbox(&team.id, &new, self.context()).await?, &team.id)
    }

    async fn reset(&self, team: &Team) -> Result<Sandbox> {
        let before = self.existing(team).await?;
        self.take_events(team, RESET_EVENTS).await?;
        let (password, password_hash) = self.new_password().await?;
        let tenant = self.new_tenant(team);
        let membership = self.new_membership(&before.user, &tenant.id);
        let reset = ResetSandbox { tenant, membership, password, password_hash };
        let outcome = self.admin.store.reset_sandbox(&team.id, &reset, self.context()).await?;
        self.load(made(outcome, &team.id)?).await
    }

    /// A password that the team can see, and its hash.
    async fn new_password(&self) -> Result<(Secret, String)> {
        let password = self.admin.secret();
        let hash = self.admin.password_hash(password.clone()).await?;
        Ok((password, hash))
    }

    fn new_tenant(&self, team: &Team) -> Tenant {
        let id = self.admin.random.guid().to_string();
        Tenant {
            name: format!("{} (sandbox)", team.name),
            short_code: id.split('-').next().unwrap_or_default().to_owned(),
            id: TenantId::new(id),
            status: Status::Active,
            created_at: self.admin.now(),
            revision: FIRST_REVISION,
            sandbox_of: Some(team.id.clone()),
        }
    }

    /// The user is the tenant's administrator too, so that everything can be tried.
    fn new_membership(&self, user: &AccountId, tenant: &TenantId) -> Membership {
        let new = Membership::new(&*self.admin.random, user, tenant, self.admin.now());
        Membership { is_admin: true, ..new }
    }

    /// Loads the sample data, and the records that wait for events. Loading again changes nothing.
    async fn load(&self, sandbox: Sandbox) -> Result<Sandbox> {
        let sample = self.settings.sample.lines();
        self.ingest(&sandbox.tenant, &sample).await?;
        let company = self.company(&sandbox.tenant).await?;
        let of = |resource| lines(resource, &company, String::new(), "");
        let mut spares = vec![of(Resource::accounts()).account().to_string()];
        for resource in Resource::all().filter(|resource| !resource.event_kinds().is_empty()) {
            for number in 1..=SPARES {
                let lines = EventLines { id: spare(resource, number), ..of(resource) };
                spares.push(lines.change(resource.first_event()).to_string());
            }
        }
        self.ingest(&sandbox.tenant, &spares).await?;
        let now = self.admin.now();
        self.admin.store.mark_sandbox_loaded(&sandbox.tenant, now).await?;
        Ok(Sandbox { loaded_at: Some(now), ..sandbox })
    }

    /// Writes changes through the path of all changes; every one must be accepted.
    async fn ingest(&self, tenant: &TenantId, lines: &[String]) -> Result<IngestResponse> {
        let ingest = Ingest::new(self.admin.store.clone(), self.admin.random.clone());
        let request =
            IngestRequest { tenant: tenant.clone(), idempotency_key: None, is_json: false, edit: None };
        let lines = lines.iter().map(|line| Ok::<_, Infallible>(Bytes::from(format!("{line}\n"))));
        let lines: Vec<std::result::Result<Bytes, Infallible>> = lines.collect();
        let done = Box::pin(ingest.run(&request, stream::iter(lines), |_| {})).await;
        let done = done.map_err(|error| match error {
            crate::ingest::IngestError::Store(error, _) => AdminError::Store(error),
            other => AdminError::Invalid(other.to_string()),
        })?;
        match done.counts.errors.first() {
            Some(error) => {
                let why = format!("change {} was refused: {}", error.line, error.fault.message);
                Err(AdminError::Conflict { code: ErrorCode::ChangeRefused, why })
            }
            None => Ok(done),
        }
    }

    /// Makes an event happen: changes a record of the sandbox as the operator's products do. `event` is any name of it,
    /// such as `Svc.ACC.Customers.CustomerCreated` or `customers.created`.
    pub async fn make_event(&self, team: &str, event: &str) -> Result<MadeEvent> {
        let team = self.active_team(team).await?;
        let Some((resource, kind)) = find_event(event) else {
            return Err(AdminError::NotFound(format!("event \"{event}\"; the event catalogue lists all")));
        };
        let sandbox = self.ready(&team).await?;
        self.take_events(&team, 1).await?;
        self.make(&sandbox.tenant, resource, kind).await
    }

    async fn make(&self, tenant: &TenantId, resource: Resource, kind: EventKind) -> Result<MadeEvent> {
        let company = self.company(tenant).await?;
        let generated = self.admin.random.guid().to_string();
        let suffix = generated.rsplit('-').next().unwrap_or_default().to_owned();
        let mut lines = lines(resource, &company, generated, &suffix);
        let mut changes = Vec::new();
        match (kind, self.spare(tenant, &lines, kind).await?) {
            (EventKind::ErrorOccurred, _) => {}
            (_, Some((id, is_enabled))) => {
                lines.id = id;
                if kind == EventKind::Disabled && !is_enabled {
                    changes.push((EventKind::Updated, lines.enable()));
                }
            }
            // Nothing waits: the record is created first.
            (_, None) if kind != resource.first_event() => {
                let first = resource.first_event();
                changes.push((first, lines.change(first)));
            }
            (_, None) => {}
        }
        let change = lines.change(kind);
        changes.push((kind, change.clone()));
        let texts: Vec<String> = changes.iter().map(|(_, change)| change.to_string()).collect();
        let done = self.ingest(tenant, &texts).await?;
        Ok(MadeEvent {
            events: changes.iter().map(|(kind, _)| semantic_name(resource, *kind)).collect(),
            resource,
            kind,
            company: lines.company,
            correlation_id: lines.id,
            sequence: done.counts.last_sequence,
            change,
        })
    }

    /// The record that waits for this event, and whether it is enabled. For a creation: one that was deleted.
    async fn spare(
        &self,
        tenant: &TenantId,
        lines: &EventLines,
        kind: EventKind,
    ) -> Result<Option<(String, bool)>> {
        let mut disabled = None;
        for number in 1..=SPARES {
            let id = spare(lines.resource, number);
            let store = &self.admin.store;
            let found = store.find_record(tenant, lines.company.as_deref(), lines.resource, &id).await?;
            let is_enabled = found.as_ref().is_some_and(|one| parsed(&one.body)["state"] != "Disabled");
            match (kind, found) {
                (EventKind::Created, None) => return Ok(Some((id, true))),
                (EventKind::Created, Some(_)) | (_, None) => {}
                (_, Some(_)) if is_enabled => return Ok(Some((id, true))),
                (_, Some(_)) => disabled = disabled.or(Some((id, false))),
            }
        }
        Ok(disabled)
    }
}

fn lines(
    resource: Resource,
    (company, account_digits): &(String, usize),
    id: String,
    suffix: &str,
) -> EventLines {
    EventLines {
        resource,
        company: (resource.owner() == Owner::Company).then(|| company.clone()),
        id,
        suffix: suffix.to_owned(),
        user: USER,
        account_digits: *account_digits,
    }
}

fn spare(resource: Resource, number: usize) -> String {
    format!("{USER}-{}-{number}", resource.as_str())
}

fn parsed(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_default()
}

fn made(outcome: SandboxOutcome, team: &TeamId) -> Result<Sandbox> {
    match outcome {
        SandboxOutcome::Done(sandbox) | SandboxOutcome::Exists(sandbox) => Ok(sandbox),
        SandboxOutcome::TeamNotFound => Err(AdminError::NotFound(format!("team \"{team}\""))),
        SandboxOutcome::NotFound => Err(AdminError::NotFound(format!("sandbox of team \"{team}\""))),
        SandboxOutcome::Disabled => Err(disabled()),
    }
}

fn disabled() -> AdminError {
    let why = "the operator has disabled the sandbox; its tenant must be enabled first".to_owned();
    AdminError::Conflict { code: ErrorCode::SandboxNotReady, why }
}
