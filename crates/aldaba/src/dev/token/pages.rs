//! Signs in at the pages of a dev server that is known by its printed variables alone.

use std::net::IpAddr;

use axum::http::{StatusCode, Uri};
use serde_json::Value;

use super::super::credentials::{CALLBACK_URI, Client, PASSWORD, USERS};
use super::super::headless_browser::{HeadlessBrowser, SignInUser};
use super::super::ready_line::authorize_path;
use super::Issued;
use crate::cli::Token;
use crate::exit::{CommandResult, Failure};

/// The variables that a sign-in needs.
struct PrintedAccess {
    auth_url: String,
    client: Client,
}

pub(super) async fn issue(args: &Token) -> Result<Issued, Failure> {
    let access = printed_access(args)?;
    let origin = access.auth_url.trim_end_matches('/');
    require_loopback(origin)?;
    let user = sign_in_user(args)?;
    let mut browser = HeadlessBrowser::new(origin)?;
    let path = authorize_path(&access.client.client_id, args.scope().as_deref());
    let code = browser.sign_in(&path, CALLBACK_URI, &user).await?;
    if args.code {
        return Ok(Issued::Code(code));
    }
    let response = browser.exchange(&access.client, &code).await?;
    let tokens: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    if response.status() == StatusCode::OK && tokens["access_token"].is_string() {
        return Ok(Issued::Tokens(tokens));
    }
    let why = tokens["error_description"].as_str().unwrap_or("no reason given.");
    let remedy = "CLIENT and SECRET must be those that `aldaba dev` printed";
    Err(Failure::Refused(format!("the code exchange failed: {why} {remedy}")))
}

/// Reads the exported variables. The users and their password are the same in every dev server.
fn printed_access(args: &Token) -> Result<PrintedAccess, Failure> {
    let required = |value: &Option<String>, name: &str| {
        value.clone().filter(|value| !value.is_empty()).ok_or_else(|| {
            let remedy =
                "paste the export lines that `aldaba dev` printed, or give its folder with --data DIR";
            Failure::Usage(format!("{name} is not set; {remedy}; no running dev was found"))
        })
    };
    let client = Client {
        client_id: required(&args.client, "CLIENT")?,
        client_secret: required(&args.secret, "SECRET")?,
        redirect_uri: CALLBACK_URI.to_owned(),
    };
    Ok(PrintedAccess { auth_url: required(&args.auth_url, "AUTH")?, client })
}

/// Development credentials are sent only to this machine.
fn require_loopback(origin: &str) -> CommandResult {
    let address: Option<Uri> = origin.parse().ok();
    let host = address.as_ref().and_then(Uri::host).unwrap_or_default().trim_matches(['[', ']']);
    let is_loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if is_loopback {
        return Ok(());
    }
    let why = "is not a loopback address; `dev token` works only with `aldaba dev` on this machine";
    Err(Failure::Refused(format!("{origin:?} {why}")))
}

fn sign_in_user(args: &Token) -> Result<SignInUser<'_>, Failure> {
    let wanted = args.user.as_deref();
    let mut known = USERS.iter().map(|(email, ..)| *email);
    let Some(email) = known.find(|email| wanted.is_none_or(|wanted| wanted == *email)) else {
        let known: Vec<&str> = USERS.iter().map(|(email, ..)| *email).collect();
        return Err(super::direct::unknown_user(wanted.unwrap_or_default(), &known));
    };
    let tenant = args.tenant.as_deref().or(args.exported_tenant.as_deref());
    Ok(SignInUser { email, password: PASSWORD, tenant: tenant.filter(|tenant| !tenant.is_empty()) })
}
