//! `aldaba request`: lists, shows, approves and refuses what teams ask for.

use domain::{ClientKind, TeamId, Ticks};
use serde::Serialize;
use serde_json::{Value, json};
use store::{RequestFilter, RequestKind, RequestState, TeamRequest};

use super::all_pages;
use crate::cli::{Request, RequestStateArg};
use crate::config::Sources;
use crate::exit::CommandResult;
use crate::output::Output;

#[derive(Serialize)]
struct RequestView {
    id: String,
    team: String,
    kind: &'static str,
    asked: Value,
    state: &'static str,
    note: String,
    asked_by: String,
    asked_at: String,
    decided_by: Option<String>,
    decided_at: Option<String>,
    reason: String,
    result: Option<String>,
}

impl From<TeamRequest> for RequestView {
    fn from(request: TeamRequest) -> Self {
        Self {
            id: request.id.to_string(),
            team: request.team.to_string(),
            kind: request.kind.as_str(),
            asked: asked(&request.kind),
            state: request.state.as_str(),
            note: request.note,
            asked_by: request.asked_by.to_string(),
            asked_at: request.created_at.iso(),
            decided_by: request.decided_by,
            decided_at: request.decided_at.map(Ticks::iso),
            reason: request.reason,
            result: request.result,
        }
    }
}

fn asked(kind: &RequestKind) -> Value {
    match kind {
        RequestKind::Client { name, kind, redirect_uris, products, is_sandbox, .. } => json!({
            "name": name, "client_kind": kind.as_str(), "redirect_uris": redirect_uris, "products": products.names(), "sandbox": is_sandbox
        }),
        RequestKind::RedirectUri { client, uri } => json!({"client": client, "uri": uri}),
        RequestKind::Subscription { name, product, is_sandbox } => {
            json!({"name": name, "product": product.as_str(), "sandbox": is_sandbox})
        }
    }
}

impl RequestView {
    /// What is asked for, in a few words.
    fn summary(&self) -> String {
        let text = |member: &str| self.asked[member].as_str().unwrap_or_default().to_owned();
        match self.kind {
            "redirect_uri" => format!("{} {}", text("client"), text("uri")),
            "subscription" => format!("{} ({})", text("name"), text("product")),
            _ => text("name"),
        }
    }

    fn text(&self) -> String {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
        let shown = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        let mut lines =
            vec![("request", self.id.clone()), ("team", self.team.clone()), ("kind", self.kind.to_owned())];
        let members = self.asked.as_object().into_iter().flatten();
        let members: Vec<(String, String)> = members
            .map(|(name, value)| {
                (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            })
            .collect();
        lines.extend(members.iter().map(|(name, value)| (name.as_str(), value.clone())));
        lines.extend([
            ("state", self.state.to_owned()),
            ("note", shown(&self.note)),
            ("asked_by", self.asked_by.clone()),
            ("asked_at", self.asked_at.clone()),
            ("decided_by", or_dash(&self.decided_by)),
            ("decided_at", or_dash(&self.decided_at)),
            ("reason", shown(&self.reason)),
            ("result", or_dash(&self.result)),
        ]);
        lines.iter().map(|(name, value)| format!("{name:<14} {value}")).collect::<Vec<_>>().join("\n")
    }
}

fn state_of(state: RequestStateArg) -> RequestState {
    match state {
        RequestStateArg::Pending => RequestState::Pending,
        RequestStateArg::Approved => RequestState::Approved,
        RequestStateArg::Refused => RequestState::Refused,
        RequestStateArg::Withdrawn => RequestState::Withdrawn,
    }
}

pub(crate) async fn run(command: Request, sources: &Sources, output: Output) -> CommandResult {
    let admin = super::admin(sources).await?;
    match command {
        Request::List { team, state } => {
            let filter = RequestFilter { team: team.map(TeamId::new), state: state.map(state_of) };
            let found = all_pages(async |query| admin.store.list_requests(&filter, &query).await).await?;
            let all: Vec<RequestView> = found.into_iter().map(RequestView::from).collect();
            output.list(&all, &["REQUEST", "TEAM", "KIND", "ASKED", "STATE", "AT"], |one| {
                vec![
                    one.id.clone(),
                    one.team.clone(),
                    one.kind.to_owned(),
                    one.summary(),
                    one.state.to_owned(),
                    one.asked_at.clone(),
                ]
            });
        }
        Request::Show { id } => {
            let request = RequestView::from(admin.request(&id).await?);
            output.result(&request, || request.text());
        }
        Request::Approve { id, waive_consent } => {
            let request = RequestView::from(admin.approve_request(&id, waive_consent, None).await?);
            let result = request.result.clone().unwrap_or_default();
            let kind = request.asked["client_kind"].as_str().and_then(ClientKind::parse);
            let is_public = kind.is_some_and(ClientKind::is_public);
            let what = match request.kind {
                "client" if is_public => format!("client {result}, which has no secret"),
                "client" => format!("client {result}; `aldaba client rotate {result}` makes a secret"),
                "subscription" => format!("subscription {result}; `aldaba key rotate {result}` makes a key"),
                _ => format!("client {result} has the redirect address"),
            };
            output.done(&request, &format!("request {id} is approved: {what}"));
        }
        Request::Refuse { id, reason } => {
            let request = RequestView::from(admin.refuse_request(&id, &reason, None).await?);
            output.done(&request, &format!("request {id} is refused"));
        }
    }
    admin.store.close().await;
    Ok(())
}
