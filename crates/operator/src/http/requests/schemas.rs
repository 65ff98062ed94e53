//! The JSON bodies of requests.

use std::borrow::Cow;

use domain::{ClientId, Ticks};
use serde::{Deserialize, Serialize};
use store::{RequestKind, TeamRequest};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::error::AdminError;
use crate::http::client_kind::ClientKind;
use crate::http::clients::{Pkce, RedirectUris, redirect_texts};
use crate::http::paging::{PageCursor, PageSize};
use crate::http::product::{Product, ProductList, product_list, products_of};
use crate::http::schema_types::{ChosenId, Email, Name, Note, Reason, RedirectUri, Revision};
use crate::http::variants::{Variant, one_of};

/// What a team asked for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TeamRequest)]
pub(super) struct Request {
    #[schema(examples("3f8a5e0e-58c3-4d6e-9b1d-8f0f0f7b6c21"))]
    pub(super) id: String,
    #[schema(examples("panel"))]
    team: String,
    #[schema(inline)]
    asked: Asked,
    state: RequestState,
    /// What the team says to the operator.
    note: String,
    /// The id of the developer who asked.
    asked_by: String,
    #[schema(format = DateTime)]
    asked_at: String,
    /// Who decided, as the audit names actors; null while the request is pending.
    #[schema(required = true, examples("operator"))]
    decided_by: Option<String>,
    #[schema(required = true, format = DateTime)]
    decided_at: Option<String>,
    /// Why it was refused; empty otherwise.
    reason: String,
    /// The id of the client or the subscription that the approval added or changed. Replace its secret or its keys to learn
    /// them.
    #[schema(required = true)]
    result: Option<String>,
    /// Incremented by every update; send it with a decision to make sure that nothing changed in between.
    #[schema(minimum = 1, examples(1))]
    revision: u64,
}

/// What is asked for.
#[derive(Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Asked {
    Client {
        name: String,
        #[serde(rename = "clientKind")]
        client_kind: ClientKind,
        // The document's generator does not read `rename_all_fields`.
        #[serde(rename = "redirectUris")]
        redirect_uris: Vec<String>,
        products: Vec<Product>,
        pkce: Pkce,
        /// For sandbox tenants alone.
        sandbox: bool,
    },
    RedirectUri {
        client: String,
        uri: String,
    },
    Subscription {
        name: String,
        product: Product,
        /// For sandbox tenants alone.
        sandbox: bool,
    },
}

impl From<store::RequestKind> for Asked {
    fn from(kind: store::RequestKind) -> Self {
        match kind {
            store::RequestKind::Client { name, kind, redirect_uris, products, pkce, is_sandbox } => {
                Self::Client {
                    name,
                    client_kind: kind.into(),
                    redirect_uris,
                    products: product_list(products),
                    pkce: pkce.into(),
                    sandbox: is_sandbox,
                }
            }
            store::RequestKind::RedirectUri { client, uri } => {
                Self::RedirectUri { client: client.to_string(), uri }
            }
            store::RequestKind::Subscription { name, product, is_sandbox } => {
                Self::Subscription { name, product: product.into(), sandbox: is_sandbox }
            }
        }
    }
}

/// A decided request never changes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RequestState {
    Pending,
    Approved,
    Refused,
    Withdrawn,
}

impl From<store::RequestState> for RequestState {
    fn from(stored: store::RequestState) -> Self {
        match stored {
            store::RequestState::Pending => Self::Pending,
            store::RequestState::Approved => Self::Approved,
            store::RequestState::Refused => Self::Refused,
            store::RequestState::Withdrawn => Self::Withdrawn,
        }
    }
}

impl From<RequestState> for store::RequestState {
    fn from(state: RequestState) -> Self {
        match state {
            RequestState::Pending => Self::Pending,
            RequestState::Approved => Self::Approved,
            RequestState::Refused => Self::Refused,
            RequestState::Withdrawn => Self::Withdrawn,
        }
    }
}

impl From<TeamRequest> for Request {
    fn from(stored: TeamRequest) -> Self {
        Self {
            id: stored.id.to_string(),
            team: stored.team.to_string(),
            asked: stored.kind.into(),
            state: stored.state.into(),
            note: stored.note,
            asked_by: stored.asked_by.to_string(),
            asked_at: stored.created_at.iso(),
            decided_by: stored.decided_by,
            decided_at: stored.decided_at.map(Ticks::iso),
            reason: stored.reason,
            result: stored.result,
            revision: stored.revision,
        }
    }
}

/// Requests, oldest first.
#[derive(Serialize, ToSchema)]
pub(super) struct RequestPage {
    pub(super) requests: Vec<Request>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    pub(super) next: Option<String>,
}

/// The query parameters of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RequestParams {
    /// Only requests of this team.
    #[param(value_type = String, required = false, min_length = 1, max_length = 100, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    pub(super) team: Option<ChosenId>,
    /// Only requests in this state.
    #[param(required = false, inline)]
    pub(super) state: Option<RequestState>,
    /// The largest number of items on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    pub(super) page_size: Option<PageSize>,
    /// The `next` of the previous page; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})\\.[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
    )]
    pub(super) after: Option<PageCursor>,
}

/// What a developer asks for in the name of a team: exactly one of `client`, `redirectUri` and `subscription`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewRequest {
    /// The id of the team.
    pub(super) team: ChosenId,
    /// The e-mail address of the developer, who is a member of the team.
    pub(super) developer: Email,
    pub(super) client: Option<AskedClient>,
    pub(super) redirect_uri: Option<AskedRedirectUri>,
    pub(super) subscription: Option<AskedSubscription>,
    /// For the operator.
    pub(super) note: Option<Note>,
}

/// A new request for one kind of thing.
pub(super) struct NewRequestSchema;

const KINDS: [(&str, &str); 3] =
    [("client", "A client"), ("redirectUri", "A redirect address"), ("subscription", "A subscription")];

impl PartialSchema for NewRequestSchema {
    fn schema() -> RefOr<Schema> {
        let variant = |(kind, title): (&str, &str)| {
            let others = KINDS.iter().filter(|(other, _)| *other != kind);
            others.fold(Variant::of::<NewRequest>(title).with(kind), |variant, (other, _)| {
                variant.without(other)
            })
        };
        one_of("A new request for exactly one of client, redirectUri and subscription.", KINDS.map(variant))
    }
}

impl ToSchema for NewRequestSchema {
    fn name() -> Cow<'static, str> {
        NewRequest::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        NewRequest::schemas(schemas);
    }
}

/// A new client of the team. It needs the users' consent, unless the operator waives it.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AskedClient {
    name: Name,
    /// `web` by default.
    kind: Option<ClientKind>,
    /// At least one, unless the client is a resource server, which has none.
    #[schema(inline)]
    redirect_uris: Option<RedirectUris>,
    #[schema(inline)]
    products: ProductList,
    /// `if-sent` by default; public clients (`browser`, `native`) have `required` and nothing else.
    pkce: Option<Pkce>,
    /// For sandbox tenants alone. False by default.
    sandbox: Option<bool>,
}

/// A further redirect address of a client of the team.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AskedRedirectUri {
    /// The `client_id`.
    client: ChosenId,
    uri: RedirectUri,
}

/// A subscription of the team to a product.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AskedSubscription {
    name: Name,
    product: Product,
    /// For sandbox tenants alone. False by default.
    sandbox: Option<bool>,
}

impl From<AskedClient> for RequestKind {
    fn from(client: AskedClient) -> Self {
        let kind: domain::ClientKind = client.kind.unwrap_or_default().into();
        let default = if kind.is_public() { Pkce::Required } else { Pkce::IfSent };
        Self::Client {
            name: client.name.0,
            kind,
            redirect_uris: client.redirect_uris.map(redirect_texts).unwrap_or_default(),
            products: products_of(client.products),
            pkce: client.pkce.unwrap_or(default).into(),
            is_sandbox: client.sandbox.unwrap_or(false),
        }
    }
}

impl NewRequest {
    pub(super) fn kind(
        client: Option<AskedClient>,
        redirect_uri: Option<AskedRedirectUri>,
        subscription: Option<AskedSubscription>,
    ) -> Result<RequestKind, AdminError> {
        match (client, redirect_uri, subscription) {
            (Some(client), None, None) => Ok(client.into()),
            (None, Some(one), None) => {
                Ok(RequestKind::RedirectUri { client: ClientId::new(one.client.0), uri: one.uri.0 })
            }
            (None, None, Some(one)) => Ok(RequestKind::Subscription {
                name: one.name.0,
                product: one.product.into(),
                is_sandbox: one.sandbox.unwrap_or(false),
            }),
            _ => {
                let why = "a request has exactly one of client, redirectUri and subscription";
                Err(AdminError::Invalid(why.into()))
            }
        }
    }
}

/// How to approve a request.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ApproveRequest)]
pub(super) struct ApproveBody {
    /// A new client gets access without the users' consent. False by default.
    pub(super) waive_consent: Option<bool>,
    /// The revision that you read: with another one stored, nothing changes and the response is 409
    /// (`revision_conflict`).
    pub(super) revision: Option<Revision>,
}

/// Why a request is refused.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = RefuseRequest)]
pub(super) struct RefuseBody {
    pub(super) reason: Reason,
    /// The revision that you read: with another one stored, nothing changes and the response is 409
    /// (`revision_conflict`).
    pub(super) revision: Option<Revision>,
}
