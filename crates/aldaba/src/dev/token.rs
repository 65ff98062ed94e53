//! `aldaba dev token`: signs in to a running dev server without a browser and prints an access token.

use std::net::IpAddr;
use std::path::Path;

use axum::http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::Value;

use super::credentials::{CALLBACK_URI, Client, PASSWORD, USERS, User};
use super::headless_browser::{HeadlessBrowser, SignInUser};
use super::ready_line::authorize_path;
use crate::cli::Token;
use crate::exit::{CommandResult, Failure};
use crate::output::Output;

/// The file in the `--data` folder with the ready line of the running server.
pub(super) const READY_FILE: &str = "dev.json";

/// The members of the ready line that a sign-in needs.
#[derive(Debug, Deserialize)]
struct DevAccess {
    auth_url: String,
    client: Client,
    users: Vec<User>,
}

pub(crate) async fn run(args: &Token, output: Output) -> CommandResult {
    let access = match &args.data {
        Some(folder) => from_folder(folder)?,
        None => from_environment(args)?,
    };
    let origin = access.auth_url.trim_end_matches('/');
    require_loopback(origin)?;
    let user = sign_in_user(args, &access)?;
    let mut browser = HeadlessBrowser::new(origin)?;
    let Client { client_id, client_secret, .. } = &access.client;
    let code = browser.sign_in(&authorize_path(client_id), CALLBACK_URI, &user).await?;
    if args.code {
        output.result(&serde_json::json!({ "code": code }), || code.clone());
        return Ok(());
    }
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", CALLBACK_URI),
        ("client_id", client_id.as_str()),
        ("client_secret", client_secret.as_str()),
    ];
    let response = browser.post("/auth/core/connect/token", &fields).await?;
    let tokens: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    match tokens["access_token"].as_str() {
        Some(token) if response.status() == StatusCode::OK => {
            output.result(&tokens, || token.to_owned());
            Ok(())
        }
        _ => {
            let why = tokens["error_description"].as_str().unwrap_or("no reason given.");
            let remedy = "CLIENT and SECRET must be those that `aldaba dev` printed";
            Err(Failure::Refused(format!("the code exchange failed: {why} {remedy}")))
        }
    }
}

/// Reads the file that a dev server wrote to its folder.
fn from_folder(folder: &Path) -> Result<DevAccess, Failure> {
    let file = folder.join(READY_FILE);
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let remedy = "no dev server runs on this folder; start one with: aldaba dev --data";
        Failure::Refused(format!("{}: {error}; {remedy} {}", file.display(), folder.display()))
    })?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::Failed(format!("{}: {error}; restart the dev server", file.display())))
}

/// Reads the exported variables. The users and their password are the same in every dev server.
fn from_environment(args: &Token) -> Result<DevAccess, Failure> {
    let required = |value: &Option<String>, name: &str| {
        value.clone().filter(|value| !value.is_empty()).ok_or_else(|| {
            let remedy =
                "paste the export lines that `aldaba dev` printed, or give its folder with --data DIR";
            Failure::Usage(format!("{name} is not set; {remedy}"))
        })
    };
    let client = Client {
        client_id: required(&args.client, "CLIENT")?,
        client_secret: required(&args.secret, "SECRET")?,
        redirect_uri: CALLBACK_URI.to_owned(),
    };
    let users = USERS.iter().map(|(email, ..)| User {
        email: (*email).to_owned(),
        password: PASSWORD.to_owned(),
        tenants: Vec::new(),
    });
    Ok(DevAccess { auth_url: required(&args.auth_url, "AUTH")?, client, users: users.collect() })
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

fn sign_in_user<'a>(args: &'a Token, access: &'a DevAccess) -> Result<SignInUser<'a>, Failure> {
    let email = args.user.as_deref();
    let found = access.users.iter().find(|user| email.is_none_or(|email| user.email == email));
    let Some(user) = found else {
        let known: Vec<&str> = access.users.iter().map(|user| user.email.as_str()).collect();
        let email = email.unwrap_or_default();
        return Err(Failure::Refused(format!(
            "unknown user {email:?}; the users of dev are {}",
            known.join(", ")
        )));
    };
    let tenant = args.tenant.as_deref().filter(|tenant| !tenant.is_empty());
    Ok(SignInUser { email: &user.email, password: &user.password, tenant })
}
