//! The requests of teams: the list, and one to decide on.

use operator::admin::Permission;
use pages::{PageContext, PageError, Params, Response};
use store::{RequestFilter, RequestKind, RequestState};

use super::form::{require, revision, text};
use super::lists::{read, team, team_names, team_ref};
use crate::actors;
use crate::applications::views::parts::TeamRef;
use crate::applications::views::request::RequestPage;
use crate::applications::views::requests::{RequestRow, RequestsPage};
use crate::context::Context;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    // What waits for a decision, unless another state is asked for.
    let state = match context.query.get("state") {
        None => Some(RequestState::Pending),
        Some(name) => RequestState::ALL.into_iter().find(|state| state.as_str() == name),
    };
    let (admin, filter) = (context.admin(), RequestFilter { team: team(context), state });
    let (rows, next) = read(context, |query| {
        let (admin, filter) = (admin.clone(), filter.clone());
        async move { admin.requests(&filter, &query).await }
    })
    .await?;
    let names = team_names(context, rows.iter().map(|one| &one.team)).await?;
    let requests = rows.iter().map(|one| RequestRow::new(one, team_ref(&one.team, &names))).collect();
    Ok(context.show(&RequestsPage { requests, next, state: state.map(RequestState::as_str) }))
}

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    let (admin, store) = (context.admin(), &context.console.ports.store);
    let request = admin.request(context.segment("request")).await?;
    let team = store.find_team(&request.team).await?;
    let asked_by = store.find_account(&request.asked_by).await?.map(|account| account.email);
    let client = match &request.kind {
        RequestKind::RedirectUri { client, .. } => store.find_client(client).await?,
        RequestKind::Client { .. } | RequestKind::Subscription { .. } => None,
    };
    let team = TeamRef { id: request.team.to_string(), name: team.map(|team| team.name) };
    let labels = actors::labels(context, request.decided_by.as_deref().into_iter()).await?;
    let decider = request.decided_by.as_deref().and_then(|by| labels.get(by).cloned());
    let mut page = RequestPage::new(&request, team, asked_by, client.as_ref());
    page.decider = decider;
    Ok(context.show(&page))
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    let (admin, id) = (context.admin(), context.segment("request"));
    let here = context.console_path(&format!("requests/{id}"));
    match form.get("do") {
        Some("approve") => {
            require(context, Permission::Requests)?;
            let waives_consent = form.get("consent") == Some("none");
            let request = admin.approve_request(id, waives_consent, revision(form)).await?;
            let values = serde_json::json!({ "state": request.state.as_str(), "result": request.result });
            Ok(context.done(&here, "request_approved", &values))
        }
        Some("refuse") => {
            let request = admin.refuse_request(id, &text(form, "reason"), revision(form)).await?;
            let values = serde_json::json!({ "state": request.state.as_str(), "reason": request.reason });
            Ok(context.done(&here, "request_refused", &values))
        }
        _ => Err(PageError::no_action()),
    }
}
