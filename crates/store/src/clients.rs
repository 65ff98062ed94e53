//! OAuth clients. Client secrets arrive in plain text and are stored as keyed hashes.

use std::collections::BTreeSet;

use async_trait::async_trait;
use domain::subscription::Products;
use domain::{ClientId, ClientKind, Guid, Secret, TeamId, Ticks, redirect_uri};

use crate::{AuditContext, ListFilter, ListPage, ListQuery, Result, Status, UpdateOutcome};

/// Purpose of the keyed hash.
pub(crate) const CLIENT_SECRET: &str = "client secret";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pkce {
    Required,
    IfSent,
    Ignore,
}

impl Pkce {
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Ignore => 0,
            Self::IfSent => 1,
            Self::Required => 2,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        match code {
            0 => Self::Ignore,
            2 => Self::Required,
            _ => Self::IfSent,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    None,
    Required,
}

impl Consent {
    pub(crate) fn code(self) -> i64 {
        i64::from(self == Self::Required)
    }

    pub(crate) fn from_code(code: i64) -> Self {
        if code == 0 { Self::None } else { Self::Required }
    }
}

/// Whether the callback carries an id_token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallbackIdToken {
    /// With the scope `openid`, if the request has a nonce and no PKCE challenge: libraries that send a challenge
    /// implement the strict code flow and refuse an id_token in the callback.
    #[default]
    Auto,
    /// Whenever the request has the scope `openid`.
    Always,
    Never,
}

impl CallbackIdToken {
    pub const ALL: [Self; 3] = [Self::Auto, Self::Always, Self::Never];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }

    /// 0 and 1 are what older schemas stored for false and true.
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Never => 0,
            Self::Auto => 1,
            Self::Always => 2,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        match code {
            0 => Self::Never,
            2 => Self::Always,
            _ => Self::Auto,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    pub id: ClientId,
    /// The value of the `owapp` claim.
    pub guid: Guid,
    pub name: String,
    /// Never changes.
    pub kind: ClientKind,
    pub redirect_uris: Vec<String>,
    pub post_logout_uris: Vec<String>,
    /// Where the client is told that a session has ended (OpenID Connect Back-Channel Logout).
    pub backchannel_logout_uri: Option<String>,
    pub pkce: Pkce,
    pub consent: Consent,
    pub callback_id_token: CallbackIdToken,
    /// The products whose data the client may read; they decide its scopes.
    pub products: Products,
    /// The team that owns the client; None: the operator alone.
    pub team: Option<TeamId>,
    /// For sandbox tenants alone: it opens no real tenant.
    pub is_sandbox: bool,
    pub status: Status,
    pub created_at: Ticks,
    /// Incremented by every update.
    pub revision: u64,
}

impl Client {
    /// How the client uses PKCE: a public one always does.
    pub fn pkce_rule(&self) -> Pkce {
        if self.kind.is_public() { Pkce::Required } else { self.pkce }
    }

    /// The origins whose pages may call the token, userinfo and revocation endpoints: those of a browser application.
    pub fn origins(&self) -> BTreeSet<String> {
        let uris = if self.kind == ClientKind::Browser { self.redirect_uris.as_slice() } else { &[] };
        uris.iter().filter_map(|uri| redirect_uri::origin(uri)).collect()
    }

    /// Whether the client may be used with a tenant: any client of a team with the team's own sandbox, and one that is not
    /// for sandboxes alone with the operator's customers. `sandbox_of` is of the tenant.
    pub fn may_enter(&self, sandbox_of: Option<&TeamId>) -> bool {
        match sandbox_of {
            Some(team) => self.team.as_ref() == Some(team),
            None => !self.is_sandbox,
        }
    }
}

/// Changes to a client; `None` leaves a property as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientUpdate {
    pub name: Option<String>,
    pub redirect_uris: Option<Vec<String>>,
    pub post_logout_uris: Option<Vec<String>>,
    /// `Some(None)` removes it.
    pub backchannel_logout_uri: Option<Option<String>>,
    pub pkce: Option<Pkce>,
    pub consent: Option<Consent>,
    pub callback_id_token: Option<CallbackIdToken>,
    pub products: Option<Products>,
    /// `Some(None)` takes the client out of its team.
    pub team: Option<Option<TeamId>>,
    pub is_sandbox: Option<bool>,
    pub status: Option<Status>,
}

/// A new client secret; the previous one stays valid until `previous_valid_until`.
#[derive(Clone, Debug)]
pub struct ClientSecret {
    pub secret: Secret,
    pub previous_valid_until: Ticks,
}

/// Every mutation and its audit entry are one transaction.
#[async_trait]
pub trait Clients: Send + Sync + 'static {
    /// Adds a client with its secret. The secret of a public client is not stored: it has none.
    async fn add_client(&self, client: &Client, secret: &Secret, context: &AuditContext) -> Result<()>;
    async fn find_client(&self, id: &ClientId) -> Result<Option<Client>>;
    async fn list_clients(&self, filter: &ListFilter, query: &ListQuery) -> Result<ListPage<Client>>;
    /// Changes a client, if it has the expected revision (any by default).
    async fn update_client(
        &self,
        id: &ClientId,
        update: &ClientUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Client>>;
    async fn set_client_status(&self, id: &ClientId, status: Status, context: &AuditContext) -> Result<bool> {
        let update = ClientUpdate { status: Some(status), ..ClientUpdate::default() };
        Ok(self.update_client(id, &update, None, context).await?.is_updated())
    }
    /// Replaces the secret; false where there is no such client, or it is public.
    async fn set_client_secret(
        &self,
        id: &ClientId,
        secret: &ClientSecret,
        context: &AuditContext,
    ) -> Result<bool>;
    /// Whether the origin is one of an active browser application ([`Client::origins`]).
    async fn is_client_origin(&self, origin: &str) -> Result<bool>;
    /// Whether this is the client's secret, or the previous one while it is still valid.
    async fn client_secret_matches(&self, id: &ClientId, secret: &Secret, now: Ticks) -> Result<bool>;
    /// When the validity of the previous secret ends or ended, if there is one.
    async fn previous_client_secret_until(&self, id: &ClientId) -> Result<Option<Ticks>>;

    /// The plain-text credentials of a development store. A store that has them is not for production.
    async fn dev_credentials(&self) -> Result<Option<String>>;
    async fn save_dev_credentials(&self, json: &str) -> Result<()>;
}

/// The hash of a client's secret that is stored. That of a public client is empty, which no secret has.
pub(crate) fn secret_hash(client: &Client, hash: [u8; 32]) -> Vec<u8> {
    if client.kind.is_public() { Vec::new() } else { hash.to_vec() }
}

/// Lists of URLs are stored as JSON.
pub(crate) fn to_list(texts: &[String]) -> String {
    serde_json::to_string(texts).unwrap_or_else(|_| "[]".into())
}

pub(crate) fn from_list(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_default()
}
