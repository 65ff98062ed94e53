//! Issues a token on the store of a running dev server: the user authorizes the client in process.

use domain::TenantId;
use identity::{DirectAuthorization, DirectAuthorizationError, DirectRequest, Identity};
use operator::admin::{Admin, AdminError};
use store::{Account, Client, ListFilter, Status, TenantMembership};
use web::Metrics;

use super::super::credentials::CALLBACK_URI;
use super::super::running::DevRecord;
use super::Issued;
use crate::cli::Token;
use crate::commands::{all_pages, audit_context, authority};
use crate::config;
use crate::exit::Failure;
use crate::output::Output;
use crate::serve;
use crate::wiring::{self, BasePorts, OpenStore};

/// The store of the server, and its identity provider in this process.
struct DevStore {
    admin: Admin,
    identity: Identity,
    opened: OpenStore,
}

impl DevStore {
    async fn open(record: &DevRecord) -> Result<Self, Failure> {
        let base = BasePorts::system();
        let config = config::load(&record.sources()).map_err(Failure::Config)?;
        let opened = serve::open(&config, &base).await?;
        let admin = wiring::admin(&config, &base, opened.store.clone());
        let identity = wiring::identity(&config, &base, opened.clone(), &Metrics::new()).await?;
        Ok(Self { admin: Admin { authority: authority(), ..admin }, identity, opened })
    }

    /// The client with this id or name.
    async fn client(&self, wanted: &str) -> Result<Client, Failure> {
        match self.admin.client(wanted).await {
            Err(AdminError::NotFound(_)) => {}
            found => return Ok(found?),
        }
        let read = async |query| self.opened.store.list_clients(&ListFilter::default(), &query).await;
        let all: Vec<Client> = all_pages(read).await?;
        let mut named: Vec<Client> = all.iter().filter(|client| client.name == wanted).cloned().collect();
        match (named.pop(), named.len()) {
            (Some(client), 0) => Ok(client),
            (Some(_), _) => {
                Err(Failure::Refused(format!("several clients are called {wanted:?}; give the client id")))
            }
            (None, _) => {
                let known: Vec<String> = all
                    .iter()
                    .take(CLIENTS_NAMED_MAX)
                    .map(|client| format!("{} ({})", client.id, client.name))
                    .collect();
                Err(Failure::Refused(format!(
                    "this dev has no client {wanted:?}; it has {}. Variables of an earlier dev? Paste the new export lines",
                    known.join(", ")
                )))
            }
        }
    }

    async fn user(&self, wanted: &str, record: &DevRecord) -> Result<Account, Failure> {
        match self.admin.find_user(wanted).await {
            Err(AdminError::NotFound(_)) => {
                let known: Vec<&str> = record.ready.users.iter().map(|user| user.email.as_str()).collect();
                Err(unknown_user(wanted, &known))
            }
            found => Ok(found?),
        }
    }
}

/// How many clients a message names.
const CLIENTS_NAMED_MAX: usize = 10;

pub(super) fn unknown_user(wanted: &str, known: &[&str]) -> Failure {
    Failure::Refused(format!("unknown user {wanted:?}; the users of dev are {}", known.join(", ")))
}

pub(super) async fn issue(args: &Token, record: &DevRecord, output: Output) -> Result<Issued, Failure> {
    let dev = DevStore::open(record).await?;
    let issued = issue_on(&dev, args, record, output).await;
    dev.opened.store.close().await;
    issued
}

async fn issue_on(
    dev: &DevStore,
    args: &Token,
    record: &DevRecord,
    output: Output,
) -> Result<Issued, Failure> {
    let own = record.ready.client.client_id.as_str();
    let client = dev.client(args.client.as_deref().filter(|id| !id.is_empty()).unwrap_or(own)).await?;
    if client.status != Status::Active {
        return Err(Failure::Refused(format!("the client {} is disabled", client.id)));
    }
    let first_user = record.ready.users.first().map_or("", |user| user.email.as_str());
    let user = dev.user(args.user.as_deref().unwrap_or(first_user), record).await?;
    let memberships = dev.opened.store.active_memberships(&user.id).await?;
    let tenant = tenant(args, &user, &memberships, output)?;
    let authorization = DirectAuthorization { client: &client, user: &user.id, tenant: &tenant };
    let scope = args.scope();
    let request = DirectRequest { redirect_uri: redirect_uri(&client)?, scope: scope.as_deref() };
    let context = audit_context();
    let issued = if args.code {
        let code = dev.identity.direct_code(&authorization, &request, &context).await;
        code.map(|code| Issued::Code(code.reveal().to_owned()))
    } else {
        let tokens = Box::pin(dev.identity.direct_tokens(&authorization, &request, &context)).await;
        tokens.map(|tokens| Issued::Tokens(tokens.0))
    };
    issued.map_err(|error| failure(error, &user, &client))
}

/// An access token of the first user for the first client.
pub(crate) async fn access_token(record: &DevRecord) -> Result<String, Failure> {
    match issue(&Token::default(), record, Output { json: true }).await? {
        Issued::Tokens(tokens) => Ok(tokens["access_token"].as_str().unwrap_or_default().to_owned()),
        Issued::Code(_) => Err(Failure::Failed("no access token".to_owned())),
    }
}

/// The one that the walk-through uses, if the client has it.
fn redirect_uri(client: &Client) -> Result<&str, Failure> {
    let uris = &client.redirect_uris;
    let usual = uris.iter().find(|uri| *uri == CALLBACK_URI);
    usual.or_else(|| uris.first()).map(String::as_str).ok_or_else(|| {
        let id = &client.id;
        Failure::Refused(format!("the client {id} has no redirect URI, so that no user can sign in to it"))
    })
}

/// The tenant that was asked for; else the user's only one, or the exported one, or the first.
fn tenant(
    args: &Token,
    user: &Account,
    memberships: &[TenantMembership],
    output: Output,
) -> Result<TenantId, Failure> {
    let named = |one: &TenantMembership| format!("{} ({})", one.tenant.id, one.tenant.name);
    let find = |id: &str| memberships.iter().find(|one| one.tenant.id.as_str() == id);
    if let Some(wanted) = args.tenant.as_deref().filter(|tenant| !tenant.is_empty()) {
        return find(wanted).map(|one| one.tenant.id.clone()).ok_or_else(|| {
            let own: Vec<String> = memberships.iter().map(named).collect();
            Failure::Refused(format!(
                "{} is not a member of the tenant {wanted:?}; choose another with --tenant: {}",
                user.email,
                own.join(", ")
            ))
        });
    }
    if let Some(exported) = args.exported_tenant.as_deref().and_then(find) {
        return Ok(exported.tenant.id.clone());
    }
    let Some(first) = memberships.first() else {
        return Err(Failure::Refused(format!("{} has no active tenant", user.email)));
    };
    if memberships.len() > 1 {
        let others = "choose another with --tenant";
        output.print_message(&format!(
            "{} has several tenants; this token is for {}; {others}",
            user.email,
            named(first)
        ));
    }
    Ok(first.tenant.id.clone())
}

fn failure(error: DirectAuthorizationError, user: &Account, client: &Client) -> Failure {
    match error {
        DirectAuthorizationError::Refused { code, description } => {
            Failure::Refused(format!("{code}: {description}"))
        }
        DirectAuthorizationError::NotAMember => Failure::Refused(format!(
            "{} cannot authorize the client {} in this tenant; choose another with --tenant",
            user.email, client.id
        )),
        DirectAuthorizationError::NoRedirectUri => {
            Failure::Refused(format!("the client {} has no redirect URI", client.id))
        }
        DirectAuthorizationError::Store(error) => error.into(),
        DirectAuthorizationError::Internal => Failure::Failed("the token could not be issued".to_owned()),
    }
}
