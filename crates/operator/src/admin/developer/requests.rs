//! What a developer asks the operator for in the name of a team.

use domain::{ClientId, ClientKind, ErrorCode, RequestId};
use store::{
    Actor, Approval, AskOutcome, Client, Consent, FIRST_REVISION, ListPage, ListQuery, RequestDecision,
    RequestFilter, RequestKind, RequestState, TeamRequest,
};

use super::DeveloperAdmin;
use crate::admin::approval::{ApprovalMode, approval_mode};
use crate::admin::requests::checked_text;
use crate::admin::{AdminError, Result, check_redirects, checked_pkce, checked_products};
use crate::checks::{check_redirect, checked_name};

impl DeveloperAdmin {
    /// Asks for something in the name of the team. What is for the sandbox alone is approved at once where the configuration
    /// says so.
    pub async fn ask(&self, team: &str, kind: RequestKind, note: &str) -> Result<TeamRequest> {
        let member = self.require_member(team).await?;
        let request = TeamRequest {
            id: RequestId::from(self.admin.random.guid()),
            team: member.team,
            kind: self.checked_kind(kind).await?,
            state: RequestState::Pending,
            note: checked_text("a note", note)?,
            asked_by: self.developer.clone(),
            created_at: self.admin.now(),
            decided_by: None,
            decided_at: None,
            reason: String::new(),
            result: None,
            revision: FIRST_REVISION,
        };
        asked(&self.admin.store.add_request(&request, &self.context).await?, &request)?;
        let client = self.named_client(&request.kind).await?;
        match approval_mode(&request.kind, self.approval, client.as_ref()) {
            ApprovalMode::NeedsOperator => Ok(request),
            ApprovalMode::Automatic => {
                let approval = Approval { is_automatic: true, ..self.admin.approval(Consent::Required) };
                let approval = RequestDecision::Approve(approval);
                let by_service = self.context.by(Actor::Service);
                let (id, expected) = (request.id.as_str(), Some(request.revision));
                // What the service cannot approve now waits for an operator.
                let decided = self.admin.decide_request(id, &approval, expected, &by_service).await;
                Ok(decided.unwrap_or(request))
            }
        }
    }

    async fn named_client(&self, kind: &RequestKind) -> Result<Option<Client>> {
        let RequestKind::RedirectUri { client, .. } = kind else { return Ok(None) };
        Ok(self.admin.store.find_client(client).await?)
    }

    /// What is asked for follows the rules that the operator's own clients and subscriptions follow.
    async fn checked_kind(&self, asked: RequestKind) -> Result<RequestKind> {
        Ok(match asked {
            RequestKind::Client { name, kind, redirect_uris, products, pkce, is_sandbox } => {
                check_redirects(&redirect_uris, kind)?;
                let (name, products) = (checked_name(&name)?, checked_products(products)?);
                let pkce = checked_pkce(Some(pkce), kind)?;
                RequestKind::Client { name, kind, redirect_uris, products, pkce, is_sandbox }
            }
            RequestKind::RedirectUri { client, uri } => {
                let client = ClientId::new(client.as_str());
                // The store refuses a request for a client that is not the team's.
                let found = self.admin.store.find_client(&client).await?;
                check_redirect(&uri, found.map_or(ClientKind::Native, |found| found.kind))?;
                RequestKind::RedirectUri { client, uri }
            }
            RequestKind::Subscription { name, product, is_sandbox } => {
                RequestKind::Subscription { name: checked_name(&name)?, product, is_sandbox }
            }
        })
    }

    /// Withdraws a pending request of one of the developer's teams.
    pub async fn withdraw(&self, id: &str) -> Result<TeamRequest> {
        self.request(id).await?;
        self.admin.decide_request(id, &RequestDecision::Withdraw, None, &self.context).await
    }

    /// A request of one of the developer's teams.
    pub async fn request(&self, id: &str) -> Result<TeamRequest> {
        let request = self.admin.request(id).await?;
        self.require_member_of(Some(&request.team), || format!("request \"{id}\"")).await?;
        Ok(request)
    }

    /// The requests of a team, oldest first.
    pub async fn requests(
        &self,
        team: &str,
        state: Option<RequestState>,
        query: &ListQuery,
    ) -> Result<ListPage<TeamRequest>> {
        let member = self.require_member(team).await?;
        let filter = RequestFilter { team: Some(member.team), state };
        Ok(self.admin.store.list_requests(&filter, query).await?)
    }
}

fn asked(outcome: &AskOutcome, request: &TeamRequest) -> Result<()> {
    let team = &request.team;
    let conflict = |code, why: String| Err(AdminError::Conflict { code, why });
    match outcome {
        AskOutcome::Asked => Ok(()),
        AskOutcome::TeamNotFound => Err(AdminError::NotFound(format!("team \"{team}\""))),
        AskOutcome::TeamDisabled => {
            conflict(ErrorCode::TeamDisabled, format!("team \"{team}\" is disabled; ask the operator"))
        }
        AskOutcome::ClientNotFound => {
            let RequestKind::RedirectUri { client, .. } = &request.kind else {
                return Err(AdminError::NotFound("client".into()));
            };
            Err(AdminError::NotFound(format!("client \"{client}\" of team \"{team}\"")))
        }
        AskOutcome::AlreadyRegistered => {
            conflict(ErrorCode::Exists, "the client has this redirect address already".into())
        }
        AskOutcome::TooMany => conflict(
            ErrorCode::TooManyRequests,
            format!(
                "team \"{team}\" has {} pending requests; wait for a decision, or withdraw one",
                store::PENDING_REQUESTS_MAX
            ),
        ),
    }
}
