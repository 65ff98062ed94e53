//! The sandbox of the team: its access and data, a token in one click, and its reset.

use domain::{ClientId, Ticks};
use identity::SandboxTokens;
use operator::admin::AdminError;
use pages::{PageContext, PageError, Params, Response};
use store::{Client, ListQuery, Sandbox, Status};

use crate::context::Context;
use crate::http::home::is_usable;
use crate::text::sandbox::refusal;
use crate::views::sandbox::{CompanyRow, SandboxAccess, SandboxPage, SandboxState};
use crate::views::sandbox_token::{Application, ShownToken};

/// The companies that the page lists.
const COMPANIES_MAX: usize = 8;
/// Longer lists of scopes are refused.
const SCOPE_CHARS_MAX: usize = 1000;

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    Ok(context.show(&page(context).await?))
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let (sandboxes, team) = (context.sandboxes(), context.team.id.as_str());
    let (changed, code) = match form.get("do") {
        Some("create") => (Box::pin(sandboxes.create_sandbox(team)).await, "sandbox_made"),
        Some("reset") => (Box::pin(sandboxes.reset_sandbox(team)).await, "sandbox_reset"),
        Some("reveal") => {
            let found = sandboxes.sandbox(team).await.map_err(|error| refused(context, error))?;
            let password = found.ok_or(PageError::NotFound)?.password.reveal().to_owned();
            return Ok(context.show(&SandboxPage { password: Some(password), ..page(context).await? }));
        }
        Some("token") => {
            let token = token(context, form).await?;
            return Ok(context.show(&SandboxPage { token: Some(token), ..page(context).await? }));
        }
        _ => return Err(PageError::no_action()),
    };
    let sandbox = changed.map_err(|error| refused(context, error))?;
    Ok(context.done(&context.team_path("sandbox"), code, &access(context, &sandbox)))
}

/// The sandbox of the team, and how it is doing.
pub(crate) async fn found(context: &Context) -> Result<(SandboxState, Option<Sandbox>), PageError> {
    if !context.portal.settings.sandbox.is_open {
        return Ok((SandboxState::Closed, None));
    }
    let found = context.sandboxes().sandbox(context.team.id.as_str()).await?;
    let state = match &found {
        None => SandboxState::None,
        Some(sandbox) => match (sandbox.tenant_status, sandbox.loaded_at) {
            (None, _) => SandboxState::Erased,
            (Some(Status::Active), None) => SandboxState::Incomplete,
            (Some(Status::Active), Some(_)) => SandboxState::Ready,
            (Some(_), _) => SandboxState::Disabled,
        },
    };
    Ok((state, found))
}

/// The active clients of the team that may enter its sandbox.
pub(crate) async fn applications(context: &Context) -> Result<Vec<Application>, PageError> {
    let clients = context.developer().clients(context.team.id.as_str(), &ListQuery::default()).await?;
    let may_enter = |client: &&Client| {
        let is_usable = client.status == Status::Active && client.kind.signs_users_in();
        is_usable && client.may_enter(Some(&context.team.id))
    };
    let shown = |client: &Client| Application { id: client.id.to_string(), name: client.name.clone() };
    Ok(clients.rows.iter().filter(may_enter).map(shown).collect())
}

async fn page(context: &Context) -> Result<SandboxPage, PageError> {
    let (state, sandbox) = found(context).await?;
    let mut page = SandboxPage {
        state,
        sandbox: sandbox.as_ref().map(|sandbox| access(context, sandbox)),
        companies: Vec::new(),
        has_more_companies: false,
        applications: Vec::new(),
        subscription: None,
        password: None,
        token: None,
    };
    if state != SandboxState::Ready {
        return Ok(page);
    }
    let team = context.team.id.as_str();
    let mut companies = context.sandboxes().companies(team, COMPANIES_MAX + 1).await?;
    page.has_more_companies = companies.len() > COMPANIES_MAX;
    companies.truncate(COMPANIES_MAX);
    page.companies = companies.into_iter().map(CompanyRow::new).collect();
    page.applications = applications(context).await?;
    let subscriptions = context.developer().subscriptions(team, &ListQuery::default()).await?.rows;
    page.subscription = subscriptions.iter().find(|one| is_usable(one)).map(|one| one.id.to_string());
    Ok(page)
}

fn access(context: &Context, sandbox: &Sandbox) -> SandboxAccess {
    SandboxAccess {
        tenant: sandbox.tenant.to_string(),
        email: sandbox.email.clone(),
        receiver_url: context.portal.ports.management.built_in_receiver_url(sandbox.receiver),
        receiver_mode: sandbox.receiver_mode.as_str(),
        since: sandbox.created_at.iso(),
        since_at: sandbox.created_at,
    }
}

/// A token of the sandbox's user for a client of the team.
async fn token(context: &Context, form: &Params) -> Result<ShownToken, PageError> {
    let scopes = form.get("scope").map(str::trim).filter(|scopes| !scopes.is_empty());
    if scopes.is_some_and(|scopes| scopes.chars().count() > SCOPE_CHARS_MAX) {
        return Err(PageError::Refused(format!("scopes have {SCOPE_CHARS_MAX} characters at most")));
    }
    let id = form.get("client").unwrap_or_default();
    let (sandboxes, team) = (context.sandboxes(), context.team.id.as_str());
    let entered = sandboxes.enterable(team, id).await;
    let (_, client, _) = entered.map_err(|error| refused(context, error))?;
    let tokens = authorize(context, &client.id, scopes).await?;
    let company = sandboxes.companies(team, 1).await?.pop().map(|company| company.correlation_id);
    Ok(shown_token(context, &client, &tokens, company.as_deref()))
}

/// The sandbox's user authorizes a client, as in a browser.
pub(crate) async fn authorize(
    context: &Context,
    client: &ClientId,
    scopes: Option<&str>,
) -> Result<SandboxTokens, PageError> {
    let visitor = &context.visitor;
    let identity = &context.portal.ports.identity;
    let (developer, team) = (&visitor.account.id, &context.team.id);
    Ok(Box::pin(identity.sandbox_token(developer, team, client, scopes, &visitor.audit)).await?)
}

fn shown_token(
    context: &Context,
    client: &Client,
    tokens: &SandboxTokens,
    company: Option<&str>,
) -> ShownToken {
    let claims = &tokens.access_claims;
    let scopes = claims["scope"].as_array().into_iter().flatten();
    let scopes: Vec<String> = scopes.filter_map(|scope| Some(scope.as_str()?.to_owned())).collect();
    let expires_at = Ticks::from_unix_seconds(claims["exp"].as_i64().unwrap_or_default());
    let access_token = tokens.access_token.reveal().to_owned();
    ShownToken {
        client: client.id.to_string(),
        application: client.name.clone(),
        curl: ShownToken::curl(&context.portal.settings.base_url, &scopes, company, &access_token),
        access_token,
        scopes,
        expires: expires_at.iso(),
        expires_at,
        claims: claims.clone(),
    }
}

/// A refusal in the developer's language.
pub(crate) fn refused(context: &Context, error: AdminError) -> PageError {
    match refusal(context.lang(), &error) {
        Some(why) => PageError::Refused(why.to_owned()),
        None => error.into(),
    }
}
