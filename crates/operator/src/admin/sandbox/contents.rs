//! What a sandbox contains, for its team to look at: companies, events that were made, and what the receiver got.

use domain::log_entry::LogEntry;
use domain::{ClientId, ErrorCode, Resource, TenantId};
use store::{AuditContext, Client, LogPage, LogQuery, PageQuery, ReceivedRequest, Sandbox, Status, Team};

use super::super::{AdminError, Result};
use super::{ACCOUNT_DIGITS_DEFAULT, RESET_EVENTS, SPARES, SandboxAdmin, parsed, spare};

/// A company of a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxCompany {
    /// The value of the header `context` that opens its records.
    pub correlation_id: String,
    pub name: String,
}

impl SandboxAdmin {
    /// The team's sandbox and a client that may enter it, with the audit context of an action for both. All are in use.
    pub async fn enterable(&self, team: &str, client: &str) -> Result<(Sandbox, Client, &AuditContext)> {
        let team = self.active_team(team).await?;
        let found = self.admin.store.find_client(&ClientId::new(client)).await?;
        let may_enter = |client: &Client| client.may_enter(Some(&team.id)) && client.kind.signs_users_in();
        let own = found.filter(may_enter);
        let client = own.ok_or_else(|| AdminError::NotFound(format!("client \"{client}\"")))?;
        if client.status != Status::Active {
            let why = format!("client \"{}\" is disabled; ask the operator", client.id);
            return Err(AdminError::Conflict { code: ErrorCode::ClientDisabled, why });
        }
        Ok((self.ready(&team).await?, client, self.context()))
    }

    /// Counts events of the day.
    pub(super) async fn take_events(&self, team: &Team, count: u64) -> Result<()> {
        let (day, events_max) = (self.admin.now().day(), self.settings.events_per_day_max);
        if self.admin.store.take_sandbox_events(&team.id, day, count, events_max).await? {
            return Ok(());
        }
        let why = format!(
            "the team may make {events_max} events on one day, and a reset counts as {RESET_EVENTS}; go on tomorrow"
        );
        Err(AdminError::Conflict { code: ErrorCode::TooManyEvents, why })
    }

    /// The first company, and the length of its account codes.
    pub(super) async fn company(&self, tenant: &TenantId) -> Result<(String, usize)> {
        let store = &self.admin.store;
        let first = store.company_ids(tenant, 1).await?.pop();
        let gone = || {
            let why = "the sandbox has no company any more; reset it".to_owned();
            AdminError::Conflict { code: ErrorCode::SandboxIncomplete, why }
        };
        let first = first.ok_or_else(gone)?;
        let body = store.find_record(tenant, None, Resource::companies(), &first).await?.ok_or_else(gone)?;
        let digits = parsed(&body.body)["accountLength"].as_u64().and_then(|digits| digits.try_into().ok());
        Ok((first.into(), digits.unwrap_or(ACCOUNT_DIGITS_DEFAULT)))
    }

    /// The first companies of the team's sandbox, without those that wait for events; none while it is not complete.
    pub async fn companies(&self, team: &str, rows_max: usize) -> Result<Vec<SandboxCompany>> {
        let team = self.team(team).await?;
        let sandbox = self.existing(&team).await?;
        if !sandbox.is_ready() {
            return Ok(Vec::new());
        }
        let resource = Resource::companies();
        let is_spare = |id: &str| (1..=SPARES).any(|number| spare(resource, number) == id);
        let rows = rows_max.saturating_add(SPARES);
        let query = PageQuery { tenant: sandbox.tenant, company: None, resource, offset: 0, rows_max: rows };
        let page = self.admin.store.page(&query).await?;
        let company = |body: &str| {
            let body = parsed(body);
            let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
            SandboxCompany { correlation_id: text("correlationId"), name: text("vatName") }
        };
        let Some(page) = page else { return Ok(Vec::new()) };
        let companies = page.bodies.iter().map(company).filter(|one| !is_spare(&one.correlation_id));
        Ok(companies.take(rows_max).collect())
    }

    /// The change with this sequence, and the one before it if both were made at once.
    pub async fn made_events(&self, team: &str, sequence: u64) -> Result<Vec<LogEntry>> {
        let team = self.team(team).await?;
        let tenant = self.existing(&team).await?.tenant;
        let query =
            LogQuery { tenant, events: None, company: None, after: sequence.saturating_sub(2), rows_max: 2 };
        let mut entries = match self.admin.store.read_log(&query).await? {
            LogPage::Entries(entries) => entries,
            LogPage::BelowFloor { .. } => Vec::new(),
        };
        entries.retain(|entry| entry.sequence <= sequence);
        let Some(process) = entries.iter().find(|entry| entry.sequence == sequence).map(|last| last.process)
        else {
            return Ok(Vec::new());
        };
        entries.retain(|entry| entry.process == process);
        Ok(entries)
    }

    /// What the built-in receiver got: newest first, only before the number `before`, at most `store::RECEIVED_MAX`.
    pub async fn received(
        &self,
        team: &str,
        before: Option<u64>,
        rows_max: usize,
    ) -> Result<Vec<ReceivedRequest>> {
        let team = self.team(team).await?;
        Ok(self.admin.store.received_requests(&team.id, before, rows_max).await?)
    }

    /// One request that the built-in receiver got.
    pub async fn received_request(&self, team: &str, number: u64) -> Result<ReceivedRequest> {
        let newest = self.received(team, Some(number.saturating_add(1)), 1).await?.pop();
        let found = newest.filter(|request| request.number == number);
        found.ok_or_else(|| AdminError::NotFound(format!("request {number} of the receiver")))
    }
}
