//! `/operator/v1/invitations`: people who are invited to make an account.

use std::borrow::Cow;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::{Realm, TenantId, Ticks};
use serde::{Deserialize, Serialize};
use store::{InvitationFilter, InvitationState};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::routes;

use super::document::{AlreadyExists, BadBody, BadQuery, InvitationEnded, NotFound};
use super::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use super::paging::{PageCursor, PageSize, next_text, page_query};
use super::role::Role;
use super::schema_types::{BoundedList, ChosenId, Email, Name, NameFilter};
use super::users::Lang;
use super::variants::{Variant, constant, empty_list, one_of};
use super::{HandlerResult, Routes, SharedState, created, no_store};
use crate::admin::{self, SentInvitation};

type TenantIds = BoundedList<ChosenId, 0, 100>;

/// An invitation to make an account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Invitation {
    #[schema(examples("0b5e0a51-6a5c-4d0e-9d0f-6f6f4c6f7a11"))]
    id: String,
    realm: RealmName,
    #[schema(examples("lucia@example.com"))]
    email: String,
    /// Empty if it is not known; the invited person sets it.
    #[schema(examples("Lucía"))]
    name: String,
    #[schema(value_type = Lang)]
    lang: String,
    /// The tenants that a user becomes a member of.
    tenants: Vec<String>,
    /// What an operator may do; null for other realms.
    #[schema(required = true)]
    role: Option<Role>,
    /// The team that a developer joins; null for none.
    #[schema(required = true)]
    team: Option<String>,
    team_owner: bool,
    /// Who invited: `operator`, `cli:maria`, `operator:<id>`.
    #[schema(examples("operator"))]
    invited_by: String,
    state: StateName,
    #[schema(format = DateTime)]
    created_at: String,
    /// The link works until then.
    #[schema(format = DateTime)]
    expires_at: String,
    /// The one-time link, where no mail server is configured: pass it on. It is not shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    link: Option<String>,
}

impl Invitation {
    fn new(stored: store::Invitation, now: Ticks) -> Self {
        let state = stored.state(now);
        Self {
            id: stored.id.to_string(),
            realm: stored.realm.into(),
            email: stored.email,
            name: stored.name,
            lang: stored.lang,
            tenants: stored.tenants.iter().map(ToString::to_string).collect(),
            role: stored.role.map(Into::into),
            team: Some(stored.team).filter(|team| !team.is_empty()),
            team_owner: stored.is_team_owner,
            invited_by: stored.invited_by.to_string(),
            state: state.into(),
            created_at: stored.created_at.iso(),
            expires_at: stored.expires_at.iso(),
            link: None,
        }
    }

    fn sent(sent: SentInvitation, now: Ticks) -> Self {
        let link = sent.link.map(|link| link.reveal().to_owned());
        Self { link, ..Self::new(sent.invitation, now) }
    }
}

/// Names of a closed set, with their conversions from and to the domain's type.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident for $type:ty { $($variant:ident),* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "lowercase")]
        enum $name {
            $($variant),*
        }

        impl From<$type> for $name {
            fn from(value: $type) -> Self {
                match value {
                    $(<$type>::$variant => Self::$variant),*
                }
            }
        }

        impl From<$name> for $type {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$variant => Self::$variant),*
                }
            }
        }
    };
}

names! {
    /// Who the account is for.
    RealmName for Realm { Users, Developers, Operators }
}
names! {
    /// `pending`: the link works. `expired`: send it again. `accepted`: the account exists.
    StateName for InvitationState { Pending, Expired, Accepted, Revoked }
}

/// Invitations, oldest first.
#[derive(Serialize, ToSchema)]
struct InvitationPage {
    invitations: Vec<Invitation>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    next: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InvitationListParams {
    /// Only invitations of this realm.
    #[param(inline, required = false)]
    realm: Option<RealmName>,
    /// Only invitations for addresses that begin with this text.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    q: Option<NameFilter>,
    /// Only invitations in this state.
    #[param(inline, required = false)]
    state: Option<StateName>,
    /// The largest number of items on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
    /// The `next` of the previous page; leave it out for the first page.
    #[param(value_type = String, required = false, pattern = "^(0|[1-9][0-9]{0,17})\\.[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    after: Option<PageCursor>,
}

/// A new invitation.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewInvitation {
    realm: RealmName,
    email: Email,
    /// The invited person can change it.
    name: Option<Name>,
    /// The language of the mail and of the account's pages; Spanish by default.
    lang: Option<Lang>,
    /// For users: the ids of the tenants that the user becomes a member of.
    #[schema(inline)]
    tenants: Option<TenantIds>,
    /// For operators; `admin` by default.
    role: Option<Role>,
    /// For developers: the id of the team that the developer joins.
    team: Option<ChosenId>,
    /// For developers: whether the developer becomes an owner of the team.
    team_owner: Option<bool>,
}

/// What each realm takes of a new invitation.
struct NewInvitationSchema;

impl PartialSchema for NewInvitationSchema {
    fn schema() -> RefOr<Schema> {
        let variant =
            |title: &str, realm: &str| Variant::of::<NewInvitation>(title).where_is("realm", constant(realm));
        let of_no_team = |variant: Variant| variant.without("team").without("teamOwner");
        let for_no_tenant = |variant: Variant| variant.where_is("tenants", empty_list());
        one_of(
            "A new invitation: tenants are for users, a role is for operators, a team is for developers.",
            [
                of_no_team(variant("A user", "users").without("role")),
                of_no_team(for_no_tenant(variant("An operator", "operators"))),
                of_no_team(for_no_tenant(
                    variant("A developer without a team", "developers").without("role"),
                )),
                for_no_tenant(variant("A developer of a team", "developers").without("role").with("team")),
            ],
        )
    }
}

impl ToSchema for NewInvitationSchema {
    fn name() -> Cow<'static, str> {
        NewInvitation::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        NewInvitation::schemas(schemas);
    }
}

pub(super) fn routes() -> Routes {
    vec![routes!(list, add), routes!(show, revoke), routes!(resend)]
}

/// List invitations
#[utoipa::path(
    get,
    path = "/operator/v1/invitations",
    operation_id = "listInvitations",
    tag = "Invitations",
    params(InvitationListParams),
    responses((status = 200, description = "A page of invitations", body = InvitationPage), BadQuery)
)]
async fn list(
    State(state): SharedState,
    QueryParams(params): QueryParams<InvitationListParams>,
) -> HandlerResult {
    let (realm, invitation_state) = (params.realm.map(Into::into), params.state.map(Into::into));
    let email_prefix = params.q.map(|text| text.0.trim().to_lowercase()).filter(|text| !text.is_empty());
    let filter = InvitationFilter { realm, state: invitation_state, team: None, email_prefix };
    let page = state.admin.invitations(&filter, &page_query(params.page_size, params.after)).await?;
    let (next, now) = (next_text(page.next.as_ref()), state.admin.clock.now());
    let invitations = page.rows.into_iter().map(|one| Invitation::new(one, now)).collect();
    Ok(Json(InvitationPage { invitations, next }).into_response())
}

/// Invite somebody
///
/// The person gets a link by mail, which works once, for 72 hours, and makes their account. Where no mail server is
/// configured, the response contains the link: pass it on. A new invitation replaces an open one for the same address.
#[utoipa::path(
    post,
    path = "/operator/v1/invitations",
    operation_id = "addInvitation",
    tag = "Invitations",
    request_body = NewInvitationSchema,
    responses(
        (status = 201, description = "The new invitation", body = Invitation,
            headers(("Location" = String, description = "The invitation's path"))),
        BadBody,
        NotFound,
        AlreadyExists
    )
)]
async fn add(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(new): JsonBody<NewInvitation>,
) -> HandlerResult {
    let tenants = new.tenants.map(|list| list.0).unwrap_or_default();
    let invitation = admin::NewInvitation {
        realm: new.realm.into(),
        email: new.email.0,
        name: new.name.map(|name| name.0).unwrap_or_default(),
        lang: new.lang.unwrap_or_default().as_str().to_owned(),
        tenants: tenants.into_iter().map(|id| TenantId::new(id.0)).collect(),
        role: new.role.map(Into::into),
        team: new.team.map(|team| team.0).unwrap_or_default(),
        is_team_owner: new.team_owner.unwrap_or_default(),
    };
    let sent = state.admin.acting(authority).invite(invitation).await?;
    let invitation = Invitation::sent(sent, state.admin.clock.now());
    Ok(no_store(created(&["invitations", &invitation.id], &invitation)))
}

/// Show an invitation
#[utoipa::path(
    get,
    path = "/operator/v1/invitations/{invitation}",
    operation_id = "getInvitation",
    tag = "Invitations",
    params(("invitation" = String, Path, description = "The invitation's id")),
    responses((status = 200, description = "The invitation", body = Invitation), NotFound)
)]
async fn show(State(state): SharedState, PathParams(id): PathParams<String>) -> HandlerResult {
    let invitation = state.admin.invitation(&id).await?;
    Ok(Json(Invitation::new(invitation, state.admin.clock.now())).into_response())
}

/// Send an invitation again
///
/// The invitation gets a new link, which works for 72 hours; the old link is void.
#[utoipa::path(
    post,
    path = "/operator/v1/invitations/{invitation}/resend",
    operation_id = "resendInvitation",
    tag = "Invitations",
    params(("invitation" = String, Path, description = "The invitation's id")),
    responses((status = 200, description = "The invitation", body = Invitation), NotFound, InvitationEnded)
)]
async fn resend(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(id): PathParams<String>,
) -> HandlerResult {
    let sent = state.admin.acting(authority).resend_invitation(&id).await?;
    let invitation = Invitation::sent(sent, state.admin.clock.now());
    Ok(no_store(Json(invitation).into_response()))
}

/// Revoke an invitation
///
/// Its link is void at once. An account that was made with it stays.
#[utoipa::path(
    delete,
    path = "/operator/v1/invitations/{invitation}",
    operation_id = "revokeInvitation",
    tag = "Invitations",
    params(("invitation" = String, Path, description = "The invitation's id")),
    responses(
        (status = 200, description = "The revoked invitation", body = Invitation),
        NotFound,
        InvitationEnded
    )
)]
async fn revoke(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(id): PathParams<String>,
) -> HandlerResult {
    let invitation = state.admin.acting(authority).revoke_invitation(&id).await?;
    Ok(Json(Invitation::new(invitation, state.admin.clock.now())).into_response())
}
