//! The OAuth clients of a developer's team: their redirect addresses and secrets.

use std::time::Duration;

use domain::{RequestId, Ticks};
use store::{
    Client, ClientUpdate, ListFilter, ListPage, ListQuery, RequestFilter, RequestKind, RequestState,
    TeamRequest,
};

use super::{DeveloperAdmin, checked_overlap};
use crate::admin::{Result, RotatedSecret};

/// A client with what its team needs to know.
#[derive(Clone, Debug)]
pub struct TeamClient {
    pub client: Client,
    /// Registered ones first, then pending and refused ones.
    pub redirect_uris: Vec<RedirectUri>,
    /// Until then the previous secret is valid, too.
    pub previous_secret_until: Option<Ticks>,
}

/// A redirect address that the client has, or that its team has asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectUri {
    pub uri: String,
    pub state: RedirectUriState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectUriState {
    Registered,
    Pending { request: RequestId, asked_at: Ticks },
    Refused { request: RequestId, decided_at: Option<Ticks>, reason: String },
}

impl DeveloperAdmin {
    /// The clients of a team, oldest first.
    pub async fn clients(&self, team: &str, query: &ListQuery) -> Result<ListPage<Client>> {
        let member = self.require_member(team).await?;
        self.admin.clients(&ListFilter::of_team(&member.team), query).await
    }

    /// A client of one of the developer's teams.
    pub async fn client(&self, id: &str) -> Result<TeamClient> {
        let client = self.require_client(id).await?;
        let store = &self.admin.store;
        let mut requests = Vec::new();
        // A team has a bounded number of requests in each state.
        for state in [RequestState::Refused, RequestState::Pending] {
            let filter = RequestFilter { team: client.team.clone(), state: Some(state) };
            requests.extend(store.list_requests(&filter, &ListQuery::default()).await?.rows);
        }
        let previous_secret_until = self.admin.previous_secret_until(&client.id).await?;
        Ok(TeamClient { redirect_uris: redirect_uris(&client, requests), client, previous_secret_until })
    }

    pub async fn rename_client(&self, id: &str, name: &str) -> Result<Client> {
        self.require_changeable_client(id).await?;
        let update = ClientUpdate { name: Some(name.to_owned()), ..ClientUpdate::default() };
        self.admin.update_client_as(id, update, None, &self.context).await
    }

    /// Sets the address for back-channel logouts, or removes it.
    pub async fn set_backchannel_logout_uri(&self, id: &str, uri: Option<String>) -> Result<Client> {
        self.require_changeable_client(id).await?;
        let update = ClientUpdate { backchannel_logout_uri: Some(uri), ..ClientUpdate::default() };
        self.admin.update_client_as(id, update, None, &self.context).await
    }

    /// Replaces the secret, which is returned once; the old one stays valid for `overlap`, which is `OVERLAP_MAX` at most.
    pub async fn rotate_client_secret(&self, id: &str, overlap: Duration) -> Result<RotatedSecret> {
        self.require_changeable_client(id).await?;
        self.admin.rotate_client_secret_as(id, checked_overlap(overlap)?, &self.context).await
    }

    /// Removes a redirect address; at least one must remain.
    pub async fn remove_redirect_uri(&self, id: &str, uri: &str) -> Result<Client> {
        self.require_changeable_client(id).await?;
        self.admin.remove_redirect_uris_as(id, &[uri.to_owned()], &self.context).await
    }

    /// A client of one of the developer's teams; one of another team does not exist.
    pub(super) async fn require_client(&self, id: &str) -> Result<Client> {
        let client = self.admin.client(id).await?;
        self.require_member_of(client.team.as_ref(), || format!("client \"{id}\"")).await?;
        Ok(client)
    }

    async fn require_changeable_client(&self, id: &str) -> Result<()> {
        let client = self.require_client(id).await?;
        self.require_active(client.team.as_ref()).await
    }
}

/// The redirect addresses of a client: its own, and those of requests that are pending or, unless the address was asked for
/// again, refused. `requests` come oldest first, refused ones before pending ones.
fn redirect_uris(client: &Client, requests: Vec<TeamRequest>) -> Vec<RedirectUri> {
    let registered = client.redirect_uris.iter();
    let mut uris: Vec<RedirectUri> =
        registered.map(|uri| RedirectUri { uri: uri.clone(), state: RedirectUriState::Registered }).collect();
    let own = uris.len();
    for one in requests {
        let RequestKind::RedirectUri { client: named, uri } = one.kind else { continue };
        if named != client.id || client.redirect_uris.contains(&uri) {
            continue;
        }
        let state = match one.state {
            RequestState::Pending => RedirectUriState::Pending { request: one.id, asked_at: one.created_at },
            RequestState::Refused => {
                let reason = one.reason;
                RedirectUriState::Refused { request: one.id, decided_at: one.decided_at, reason }
            }
            RequestState::Approved | RequestState::Withdrawn => continue,
        };
        match uris.iter_mut().find(|known| known.uri == uri) {
            Some(known) => known.state = state,
            None => uris.push(RedirectUri { uri, state }),
        }
    }
    uris[own..].sort_by_key(|one| matches!(one.state, RedirectUriState::Refused { .. }));
    uris
}
