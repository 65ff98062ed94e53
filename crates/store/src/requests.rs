//! What teams ask the operator for: a client, a redirect address, a subscription. A request is pending until it is
//! approved, refused or withdrawn; an approval and its effect are one transaction.

mod stored_kind;

use async_trait::async_trait;
use domain::ids::SubscriptionId;
use domain::subscription::{Product, Products};
use domain::{AccountId, ClientId, ClientKind, Guid, RequestId, Secret, TeamId, Ticks};

use crate::audit::Act;
use crate::{
    AuditContext, CallbackIdToken, Client, Consent, FIRST_REVISION, ListPage, ListQuery, Pkce, Result,
    Status, Subscription, Team,
};

/// The largest number of pending requests of a team.
pub const PENDING_REQUESTS_MAX: usize = 20;
/// The decided requests that are kept for each team; older ones are deleted. The audit has them too.
pub const DECIDED_REQUESTS_MAX: usize = 200;
/// The largest number of redirect addresses of a client.
pub const REDIRECT_URIS_MAX: usize = 20;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestKind {
    Client {
        name: String,
        kind: ClientKind,
        redirect_uris: Vec<String>,
        products: Products,
        pkce: Pkce,
        /// The client is for sandbox tenants alone.
        is_sandbox: bool,
    },
    RedirectUri {
        client: ClientId,
        uri: String,
    },
    Subscription {
        name: String,
        product: Product,
        /// The subscription opens sandbox tenants alone.
        is_sandbox: bool,
    },
}

impl RequestKind {
    pub const NAMES: [&str; 3] = ["client", "redirect_uri", "subscription"];

    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Client { .. } => "client",
            Self::RedirectUri { .. } => "redirect_uri",
            Self::Subscription { .. } => "subscription",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestState {
    Pending,
    Approved,
    Refused,
    Withdrawn,
}

impl RequestState {
    pub const ALL: [Self; 4] = [Self::Pending, Self::Approved, Self::Refused, Self::Withdrawn];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Withdrawn => "withdrawn",
        }
    }

    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Pending => 0,
            Self::Approved => 1,
            Self::Refused => 2,
            Self::Withdrawn => 3,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        Self::ALL.into_iter().find(|state| state.code() == code).unwrap_or(Self::Withdrawn)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamRequest {
    pub id: RequestId,
    pub team: TeamId,
    pub kind: RequestKind,
    pub state: RequestState,
    /// What the team says to the operator.
    pub note: String,
    pub asked_by: AccountId,
    /// When it was asked.
    pub created_at: Ticks,
    /// The actor of the decision, as the audit names it: `operator`, `cli:maria`, `developer:<id>`.
    pub decided_by: Option<String>,
    pub decided_at: Option<Ticks>,
    /// Why it was refused.
    pub reason: String,
    /// The id of the client or the subscription that the approval added or changed.
    pub result: Option<String>,
    /// Incremented by every update.
    pub revision: u64,
}

/// Which requests a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    pub team: Option<TeamId>,
    pub state: Option<RequestState>,
}

/// What an approval needs besides the request: ids and secrets of what it adds.
#[derive(Clone, Debug)]
pub struct Approval {
    /// The id of the new client or subscription.
    pub id: Guid,
    /// The client's value of the `owapp` claim.
    pub guid: Guid,
    /// The client's secret.
    pub secret: Secret,
    /// The primary and the secondary key of the subscription.
    pub keys: [Secret; 2],
    /// Whether the new client needs the users' consent.
    pub consent: Consent,
    /// The service approves, not an operator: only what is for the sandbox.
    pub is_automatic: bool,
}

#[derive(Clone, Debug)]
pub enum RequestDecision {
    Approve(Approval),
    Refuse { reason: String },
    Withdraw,
}

/// The outcome of a new request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum AskOutcome {
    Asked,
    TeamNotFound,
    TeamDisabled,
    /// The team has no such client.
    ClientNotFound,
    /// The client has this redirect address.
    AlreadyRegistered,
    /// The team has as many pending requests as it may have.
    TooMany,
}

/// The outcome of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum DecisionOutcome {
    /// The request after the decision.
    Decided(Box<TeamRequest>),
    NotFound,
    /// Somebody has decided on the request already; nothing changed.
    NotPending(RequestState),
    /// The request has another revision than expected; nothing changed.
    RevisionConflict,
    /// The approval cannot be carried out; nothing changed.
    Blocked(&'static str),
}

/// What an approval does besides the state of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    None,
    AddClient(Box<Client>),
    AddSubscription(Box<Subscription>),
    /// The client's redirect addresses after the approval.
    SetRedirectUris(ClientId, Vec<String>),
}

/// The state after a decision; None: the request is not pending any more. A decided request never changes.
pub(crate) fn next_state(state: RequestState, decision: &RequestDecision) -> Option<RequestState> {
    match (state, decision) {
        (RequestState::Pending, RequestDecision::Approve(_)) => Some(RequestState::Approved),
        (RequestState::Pending, RequestDecision::Refuse { .. }) => Some(RequestState::Refused),
        (RequestState::Pending, RequestDecision::Withdraw) => Some(RequestState::Withdrawn),
        (RequestState::Approved | RequestState::Refused | RequestState::Withdrawn, _) => None,
    }
}

/// Decides on a new request, from the team, its number of pending requests, and the client that the request names.
pub(crate) fn decide_ask(
    request: &TeamRequest,
    team: Option<&Team>,
    pending: usize,
    client: Option<&Client>,
) -> AskOutcome {
    match team {
        None => return AskOutcome::TeamNotFound,
        Some(team) if team.status != Status::Active => return AskOutcome::TeamDisabled,
        Some(_) => {}
    }
    if let RequestKind::RedirectUri { uri, .. } = &request.kind {
        match client.filter(|client| client.team.as_ref() == Some(&request.team)) {
            None => return AskOutcome::ClientNotFound,
            Some(client) if client.redirect_uris.contains(uri) => return AskOutcome::AlreadyRegistered,
            Some(_) => {}
        }
    }
    if pending >= PENDING_REQUESTS_MAX { AskOutcome::TooMany } else { AskOutcome::Asked }
}

/// Decides on a request: the request afterwards and the effect, or why nothing changes. `client` is the one that the
/// request names.
pub(crate) fn decide_request(
    request: &TeamRequest,
    team: Option<&Team>,
    client: Option<&Client>,
    decision: &RequestDecision,
    expected_revision: Option<u64>,
    act: &Act,
) -> std::result::Result<(TeamRequest, Effect), DecisionOutcome> {
    let state = next_state(request.state, decision).ok_or(DecisionOutcome::NotPending(request.state))?;
    if expected_revision.is_some_and(|expected| expected != request.revision) {
        return Err(DecisionOutcome::RevisionConflict);
    }
    let (reason, effect) = match decision {
        RequestDecision::Approve(approval) => {
            let effect = effect(request, team, client, approval, act.at);
            (String::new(), effect.map_err(DecisionOutcome::Blocked)?)
        }
        RequestDecision::Refuse { reason } => (reason.clone(), Effect::None),
        RequestDecision::Withdraw => (String::new(), Effect::None),
    };
    let result = match &effect {
        Effect::None => None,
        Effect::AddClient(client) => Some(client.id.to_string()),
        Effect::AddSubscription(subscription) => Some(subscription.id.to_string()),
        Effect::SetRedirectUris(client, _) => Some(client.to_string()),
    };
    let after = TeamRequest {
        state,
        decided_by: Some(act.context.actor.to_string()),
        decided_at: Some(act.at),
        reason,
        result,
        revision: request.revision + 1,
        ..request.clone()
    };
    Ok((after, effect))
}

fn add_redirect_uri(
    client: &Client,
    uri: &str,
    approval: &Approval,
) -> std::result::Result<Effect, &'static str> {
    if approval.is_automatic && !(client.is_sandbox && client.consent == Consent::Required) {
        return Err("the client is not for the sandbox alone: an operator decides");
    }
    let mut uris = client.redirect_uris.clone();
    if uris.iter().any(|known| known == uri) {
        return Ok(Effect::None);
    }
    if uris.len() >= REDIRECT_URIS_MAX {
        return Err("the client has 20 redirect addresses; remove one first");
    }
    uris.push(uri.to_owned());
    Ok(Effect::SetRedirectUris(client.id.clone(), uris))
}

fn effect(
    request: &TeamRequest,
    team: Option<&Team>,
    client: Option<&Client>,
    approval: &Approval,
    now: Ticks,
) -> std::result::Result<Effect, &'static str> {
    if team.is_none_or(|team| team.status != Status::Active) {
        return Err("the team is disabled; enable it first");
    }
    let team = Some(request.team.clone());
    Ok(match &request.kind {
        RequestKind::Client { name, kind, redirect_uris, products, pkce, is_sandbox } => {
            Effect::AddClient(Box::new(Client {
                id: ClientId::from(approval.id),
                guid: approval.guid,
                name: name.clone(),
                redirect_uris: redirect_uris.clone(),
                post_logout_uris: Vec::new(),
                pkce: *pkce,
                consent: approval.consent,
                kind: *kind,
                backchannel_logout_uri: None,
                callback_id_token: CallbackIdToken::default(),
                products: *products,
                team,
                is_sandbox: *is_sandbox,
                status: Status::Active,
                created_at: now,
                revision: FIRST_REVISION,
            }))
        }
        RequestKind::Subscription { name, product, is_sandbox } => {
            Effect::AddSubscription(Box::new(Subscription {
                id: SubscriptionId::from(approval.id),
                name: name.clone(),
                products: [*product].into_iter().collect(),
                team,
                is_sandbox: *is_sandbox,
                status: Status::Active,
                created_at: now,
                daily_quota: None,
                cancelled_at: None,
                revision: FIRST_REVISION,
            }))
        }
        RequestKind::RedirectUri { uri, .. } => {
            let client = client.filter(|client| client.team == team);
            add_redirect_uri(client.ok_or("the client no longer belongs to the team")?, uri, approval)?
        }
    })
}

/// Every mutation, its effects and their audit entries are one transaction.
#[async_trait]
pub trait TeamRequests: Send + Sync + 'static {
    /// Stores a new request of a team.
    async fn add_request(&self, request: &TeamRequest, context: &AuditContext) -> Result<AskOutcome>;
    async fn find_request(&self, id: &RequestId) -> Result<Option<TeamRequest>>;
    async fn list_requests(&self, filter: &RequestFilter, query: &ListQuery)
    -> Result<ListPage<TeamRequest>>;
    /// Decides on a pending request, if it has the expected revision (any by default), and carries the decision out.
    async fn decide_request(
        &self,
        id: &RequestId,
        decision: &RequestDecision,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<DecisionOutcome>;
}
