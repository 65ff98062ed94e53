//! `/operator/v1/developers`: the accounts of the developer portal.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::Realm;
use serde::{Deserialize, Serialize};
use store::Account;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, NotFound, RevisionConflict};
use super::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use super::paging::{SearchParams, next_text};
use super::schema_types::{Name, Revision, Status};
use super::teams::TeamRole;
use super::users::Lang;
use super::{AppState, HandlerResult, Routes, SharedState};
use crate::admin::DeveloperChange as Change;

/// A developer of integrations.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Developer {
    #[schema(examples("0b5e0a51-6a5c-4d0e-9d0f-6f6f4c6f7a11"))]
    id: String,
    #[schema(examples("lucia@example.com"))]
    email: String,
    #[schema(examples("Lucía"))]
    given_name: String,
    #[schema(value_type = Lang)]
    lang: String,
    standing: Status,
    #[schema(format = DateTime)]
    created_at: String,
    /// Incremented by every update; send it with a change to make sure that nothing changed in between.
    #[schema(minimum = 1, examples(1))]
    revision: u64,
    /// The developer's teams. Not in lists.
    #[schema(required = false, nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    teams: Option<Vec<DeveloperTeam>>,
}

/// A team of a developer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeveloperTeam {
    #[schema(examples("panel"))]
    id: String,
    #[schema(examples("Panel"))]
    name: String,
    role: TeamRole,
}

impl From<Account> for Developer {
    fn from(stored: Account) -> Self {
        Self {
            id: stored.id.to_string(),
            email: stored.email,
            given_name: stored.given_name,
            lang: stored.lang,
            standing: stored.status.into(),
            created_at: stored.created_at.iso(),
            revision: stored.revision,
            teams: None,
        }
    }
}

/// Developers, oldest first unless they are searched.
#[derive(Serialize, ToSchema)]
struct DeveloperPage {
    developers: Vec<Developer>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    next: Option<String>,
}

/// Changes; a member that is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DeveloperChange {
    given_name: Option<Name>,
    lang: Option<Lang>,
    standing: Option<Status>,
    /// The revision that you read: with another one stored, nothing changes and the response is 409
    /// (`revision_conflict`). Without it, the change is applied to whatever is stored.
    revision: Option<Revision>,
}

pub(super) fn routes() -> Routes {
    vec![routes!(list), routes!(show, change)]
}

/// List developers
#[utoipa::path(
    get,
    path = "/operator/v1/developers",
    operation_id = "listDevelopers",
    tag = "Teams",
    params(SearchParams),
    responses((status = 200, description = "A page of developers", body = DeveloperPage), BadQuery)
)]
async fn list(State(state): SharedState, QueryParams(params): QueryParams<SearchParams>) -> HandlerResult {
    let (filter, query) = params.into_parts();
    let page = state.admin.accounts(Realm::Developers, &filter, &query).await?;
    let next = next_text(page.next.as_ref());
    let developers = page.rows.into_iter().map(Developer::from).collect();
    Ok(Json(DeveloperPage { developers, next }).into_response())
}

/// Show a developer
#[utoipa::path(
    get,
    path = "/operator/v1/developers/{developer}",
    operation_id = "getDeveloper",
    tag = "Teams",
    params(("developer" = String, Path, description = "The developer's id or e-mail address")),
    responses((status = 200, description = "The developer", body = Developer), NotFound)
)]
async fn show(State(state): SharedState, PathParams(name): PathParams<String>) -> HandlerResult {
    developer_response(&state, state.admin.find_developer(&name).await?).await
}

async fn developer_response(state: &AppState, account: Account) -> HandlerResult {
    let teams = state.admin.developer_teams(&account).await?;
    let team = |(team, role): (store::Team, store::TeamRole)| DeveloperTeam {
        id: team.id.to_string(),
        name: team.name,
        role: role.into(),
    };
    let teams = Some(teams.into_iter().map(team).collect());
    Ok(Json(Developer { teams, ..account.into() }).into_response())
}

/// Change a developer
///
/// A disabled developer cannot sign in to the portal. The clients and subscriptions of the developer's teams stay as they
/// are.
#[utoipa::path(
    patch,
    path = "/operator/v1/developers/{developer}",
    operation_id = "changeDeveloper",
    tag = "Teams",
    params(("developer" = String, Path, description = "The developer's id or e-mail address")),
    request_body = DeveloperChange,
    responses(
        (status = 200, description = "The changed developer", body = Developer),
        BadBody,
        NotFound,
        RevisionConflict
    )
)]
async fn change(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
    JsonBody(change): JsonBody<DeveloperChange>,
) -> HandlerResult {
    let developer = state.admin.find_developer(&name).await?;
    let revision = change.revision.map(|revision| revision.0);
    let change = Change {
        status: change.standing.map(Into::into),
        given_name: change.given_name.map(|name| name.0),
        lang: change.lang.map(|lang| lang.as_str().to_owned()),
    };
    let changed = state.admin.acting(authority).update_developer(&developer, change, revision).await?;
    developer_response(&state, changed).await
}
