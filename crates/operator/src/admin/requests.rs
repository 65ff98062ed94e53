//! Requests of teams, as the operator decides on them.

use domain::{ErrorCode, Guid, RequestId};
use store::{
    Approval, AuditContext, Consent, DecisionOutcome, ListPage, ListQuery, RequestDecision, RequestFilter,
    RequestState, TeamRequest,
};

use super::{Admin, AdminError, Permission, Result};
use crate::error::revision_conflict;

/// The largest number of characters of a note or a reason.
pub(super) const TEXT_CHARS_MAX: usize = 1000;

/// More pending requests are not counted.
const PENDING_COUNTED_MAX: usize = 100;

impl Admin {
    /// How many requests wait for a decision, at most 100.
    pub async fn count_pending_requests(&self) -> Result<usize> {
        let filter = RequestFilter { state: Some(RequestState::Pending), ..RequestFilter::default() };
        let query = ListQuery { after: None, rows_max: PENDING_COUNTED_MAX };
        Ok(self.store.list_requests(&filter, &query).await?.rows.len())
    }

    /// Requests, oldest first.
    pub async fn requests(&self, filter: &RequestFilter, query: &ListQuery) -> Result<ListPage<TeamRequest>> {
        Ok(self.store.list_requests(filter, query).await?)
    }

    pub async fn request(&self, id: &str) -> Result<TeamRequest> {
        let request = self.store.find_request(&RequestId::new(id)).await?;
        request.ok_or_else(|| no_request(id))
    }

    /// Approves a request and carries it out. A new client needs the users' consent, unless the operator waives it. Nobody
    /// learns the secret that the approval makes: the team or the operator replaces it. The team can reveal the keys.
    pub async fn approve_request(
        &self,
        id: &str,
        waives_consent: bool,
        expected_revision: Option<u64>,
    ) -> Result<TeamRequest> {
        let context = self.require(Permission::Requests)?;
        let approval = self.approval(if waives_consent { Consent::None } else { Consent::Required });
        self.decide_request(id, &RequestDecision::Approve(approval), expected_revision, context).await
    }

    pub async fn refuse_request(
        &self,
        id: &str,
        reason: &str,
        expected_revision: Option<u64>,
    ) -> Result<TeamRequest> {
        let context = self.require(Permission::Requests)?;
        let reason = checked_text("a reason", reason)?;
        if reason.is_empty() {
            return Err(AdminError::Invalid("a refusal needs a reason, which the team sees".into()));
        }
        let decision = RequestDecision::Refuse { reason };
        self.decide_request(id, &decision, expected_revision, context).await
    }

    /// Withdraws a pending request, for the team.
    pub async fn withdraw_request(&self, id: &str) -> Result<TeamRequest> {
        let context = self.require(Permission::Requests)?;
        self.decide_request(id, &RequestDecision::Withdraw, None, context).await
    }

    /// New ids and secrets for what an approval adds.
    pub(super) fn approval(&self, consent: Consent) -> Approval {
        let guid = || -> Guid { self.random.guid() };
        Approval {
            id: guid(),
            guid: guid(),
            secret: self.secret(),
            keys: [self.key(), self.key()],
            consent,
            is_automatic: false,
        }
    }

    pub(super) async fn decide_request(
        &self,
        id: &str,
        decision: &RequestDecision,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<TeamRequest> {
        let outcome =
            self.store.decide_request(&RequestId::new(id), decision, expected_revision, context).await?;
        match outcome {
            DecisionOutcome::Decided(request) => Ok(*request),
            DecisionOutcome::NotFound => Err(no_request(id)),
            DecisionOutcome::RevisionConflict => Err(revision_conflict(&format!("request \"{id}\""))),
            DecisionOutcome::NotPending(state) => Err(AdminError::Conflict {
                code: ErrorCode::NotPending,
                why: format!("request \"{id}\" is {} already; nothing changed", state.as_str()),
            }),
            DecisionOutcome::Blocked(why) => {
                let why = format!("request \"{id}\" cannot be approved: {why}");
                Err(AdminError::Conflict { code: ErrorCode::CannotApprove, why })
            }
        }
    }
}

pub(super) fn no_request(id: &str) -> AdminError {
    AdminError::NotFound(format!("request \"{id}\""))
}

/// A note or a reason: bounded, with no control characters but line ends.
pub(super) fn checked_text(what: &str, text: &str) -> Result<String> {
    let text = text.trim().replace("\r\n", "\n");
    let is_wrong = |c: char| c.is_control() && c != '\n';
    if text.chars().count() > TEXT_CHARS_MAX || text.chars().any(is_wrong) {
        return Err(AdminError::Invalid(format!(
            "{what} has {TEXT_CHARS_MAX} characters at most, and no control characters"
        )));
    }
    Ok(text)
}
