//! The sign-in tester: a real authorization of the sandbox's user for one of the team's applications, step by step. The
//! sign-in under way is in a cookie, encrypted for the developer's session; the tokens are shown once.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::StatusCode;
use axum::http::header::{HOST, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use domain::Scope;
use identity::{SandboxPrompt, SandboxRun, SandboxSignInError};
use store::{Client, Status};

use super::applications::{client_scopes, own};
use crate::Portal;
use crate::context::Context;
use crate::text::sign_in::SignInText;
use crate::views::sign_in::{
    Failure, FailureStep, SandboxUser, ScopeChoice, SignInPage, Stage, stray_callback,
};
use pages::{Format, PageContext, PageError, Params, Response};

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    let client = own(context).await?.client;
    let run = kept_run(context, &client).await;
    Ok(context.show(&page(context, &client, run.as_ref()).await?))
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let client = own(context).await?.client;
    match form.get("do") {
        Some("begin") => begin(context, &client, form).await,
        Some("exchange") => exchange(context, &client).await,
        Some("stop") => {
            let page = page(context, &client, None).await?;
            Ok(with_cookie(back(context, &page), context.portal.site.realm.forget_sandbox_run()))
        }
        _ => Err(PageError::no_action()),
    }
}

/// Makes the sandbox, if the team has none yet, and the authorization request.
async fn begin(context: &Context, client: &Client, form: &Params) -> Result<Response, PageError> {
    let (portal, team) = (&context.portal, &context.team.id);
    context.sandboxes().create_sandbox(team.as_str()).await?;
    let scopes: Vec<&str> = form.all("scope").filter_map(Scope::from_name).map(Scope::name).collect();
    let prompt = form.get("prompt").and_then(SandboxPrompt::from_name).unwrap_or_default();
    let (developer, scopes) = (&context.visitor.account.id, scopes.join(" "));
    let identity = &portal.ports.identity;
    let sign_in = identity.begin_sandbox_sign_in(developer, team, &client.id, Some(&scopes), prompt).await?;
    let run = SandboxRun { sign_in, callback: None };
    let cookie = portal.site.realm.keep_sandbox_run(&mut context.parts.clone(), &run).await?;
    let too_long = || PageError::Refused("the request is too long for a cookie; choose fewer scopes".into());
    let cookie = cookie.ok_or_else(too_long)?;
    let page = page(context, client, Some(&run)).await?;
    Ok(with_cookie(back(context, &page), Some(cookie)))
}

/// Exchanges the code of the callback. Whatever comes of it, the sign-in is over.
async fn exchange(context: &Context, client: &Client) -> Result<Response, PageError> {
    let portal = &context.portal;
    let run = kept_run(context, client).await;
    let returned = run.as_ref().and_then(|run| Some((run, run.callback.as_deref()?)));
    let Some((run, callback)) = returned else {
        let page = page(context, client, run.as_ref()).await?;
        return Ok(context.show_with_status(StatusCode::CONFLICT, &SignInPage { is_ended: true, ..page }));
    };
    let mut page = page(context, client, Some(run)).await?;
    let (developer, audit) = (&context.visitor.account.id, &context.visitor.audit);
    let identity = &portal.ports.identity;
    match Box::pin(identity.finish_sandbox_sign_in(developer, &run.sign_in, callback, audit)).await {
        Ok(tokens) => page.show_tokens(tokens),
        Err(SandboxSignInError::Refused { code, description }) => {
            let is_callback = ["invalid_state", "invalid_iss"].contains(&code.as_str());
            let step = if is_callback { FailureStep::Callback } else { FailureStep::TokenRequest };
            page.fail(Failure { step, error: code, description });
        }
        Err(error) => return Err(error.into()),
    }
    Ok(with_cookie(context.show(&page), portal.site.realm.forget_sandbox_run()))
}

/// The page again, for a browser; what it shows, for a program.
fn back(context: &Context, page: &SignInPage) -> Response {
    match context.format {
        Format::Html => pages::see_other(context.path()),
        _ => context.show(page),
    }
}

fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// The sign-in that this session has begun for this application.
async fn kept_run(context: &Context, client: &Client) -> Option<SandboxRun> {
    if !context.portal.settings.sandbox.is_open {
        return None;
    }
    let run = context.portal.site.realm.kept_sandbox_run(&mut context.parts.clone()).await?;
    let is_own = run.sign_in.team == context.team.id.as_str() && run.sign_in.client == client.id.as_str();
    is_own.then_some(run)
}

async fn page(context: &Context, client: &Client, run: Option<&SandboxRun>) -> Result<SignInPage, PageError> {
    let settings = &context.portal.settings;
    let sandbox = match run {
        Some(_) => context.sandboxes().sandbox(context.team.id.as_str()).await?,
        None => None,
    };
    let open = client_scopes(client);
    let choices = Scope::ALL.map(|scope| ScopeChoice::new(scope.name(), open.contains(&scope.name())));
    let mut page = SignInPage {
        application: client.id.to_string(),
        name: client.name.clone(),
        is_active: client.status == Status::Active,
        is_open: settings.sandbox.is_open,
        other_address: other_address(context),
        stage: Stage::Form,
        issuer: settings.issuer.clone(),
        base_url: settings.base_url.clone(),
        scopes: choices.into(),
        user: sandbox.map(|one| SandboxUser { email: one.email, password: one.password.reveal().to_owned() }),
        ..SignInPage::default()
    };
    if let Some(run) = run {
        page.show_run(run, client);
    }
    Ok(page)
}

/// This page at the host that the sign-in comes back to, if the developer is at another one: the cookies are bound to it.
fn other_address(context: &Context) -> Option<String> {
    let url = context.portal.site.realm.url();
    let (scheme, rest) = url.split_once("://")?;
    let own = rest.split('/').next().unwrap_or_default();
    let parts = &context.parts;
    let header = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let here = parts.uri.authority().map(Authority::as_str).or(header)?;
    (!here.eq_ignore_ascii_case(own)).then(|| format!("{scheme}://{own}{}", context.path()))
}

/// The portal's redirect address. The answer goes into the cookie and out of the address bar.
pub(crate) async fn callback(State(portal): State<Arc<Portal>>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    match portal.take_callback(&mut parts).await {
        Ok(response) => response,
        Err(PageError::SignIn) => {
            // Without the code: a new session has no use for it.
            let path = parts.uri.path().to_owned();
            portal.site.realm.sign_in(&mut parts, &path).await
        }
        Err(error) => portal.anonymous_error(&mut parts, error).await,
    }
}

impl Portal {
    async fn take_callback(&self, parts: &mut Parts) -> Result<Response, PageError> {
        if !self.settings.sandbox.is_open {
            return Err(PageError::NotFound);
        }
        let visitor = self.site.realm.visitor(parts).await?.ok_or(PageError::SignIn)?;
        let query = parts.uri.query().unwrap_or_default().to_owned();
        let begun = self.site.realm.kept_sandbox_run(parts).await.filter(|run| run.owns_callback(&query));
        if let Some(run) = begun {
            let run = SandboxRun { callback: Some(query), ..run };
            if let Some(cookie) = self.site.realm.keep_sandbox_run(parts, &run).await? {
                let (base, sign_in) = (self.base_path(), &run.sign_in);
                let page = format!("{base}/teams/{}/applications/{}/sign-in", sign_in.team, sign_in.client);
                return Ok(with_cookie(pages::see_other(&page), Some(cookie)));
            }
        }
        let (lang, path) = (visitor.lang, parts.uri.path());
        let content = stray_callback(lang, &format!("{}/", self.base_path()));
        let title = SignInText::of(lang).title;
        let page = self.plain_page(lang, title, path, &content, &maud::html! {});
        Ok(pages::page(StatusCode::BAD_REQUEST, page))
    }
}
