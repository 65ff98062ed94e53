//! `aldaba dev token`: an access token for curl, through the real sign-in of the dev that runs, without a browser.

use std::net::IpAddr;
use std::path::Path;

use axum::http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::Value;

use super::credentials::{CALLBACK_URI, Client, PASSWORD, USERS, User};
use super::headless_browser::{HeadlessBrowser, SignInUser};
use super::ready_line::authorize_path;
use crate::cli::Token;
use crate::exit::{Failure, Outcome};
use crate::output::Output;

/// Under this name, in the folder of `--data`, a dev that runs leaves what it printed as JSON.
pub(super) const READY_FILE: &str = "dev.json";

/// As much of what dev printed as a sign-in needs.
#[derive(Debug, Deserialize)]
struct DevAccess {
    auth_url: String,
    client: Client,
    users: Vec<User>,
}

pub(crate) async fn run(args: &Token, output: Output) -> Outcome {
    let printed = match &args.data {
        Some(folder) => of_folder(folder)?,
        None => of_environment(args)?,
    };
    let origin = printed.auth_url.trim_end_matches('/');
    on_this_machine(origin)?;
    let person = person(args, &printed)?;
    let mut browser = HeadlessBrowser::new(origin)?;
    let Client { client_id, client_secret, .. } = &printed.client;
    let code = browser.sign_in(&authorize_path(client_id), CALLBACK_URI, &person).await?;
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
    let answer = browser.post("/auth/core/connect/token", &fields).await?;
    let told: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    match told["access_token"].as_str() {
        Some(token) if answer.status() == StatusCode::OK => {
            output.result(&told, || token.to_owned());
            Ok(())
        }
        _ => {
            let why = told["error_description"].as_str().unwrap_or("no reason was given");
            let remedy = "CLIENT and SECRET must be what aldaba dev printed";
            Err(Failure::Refused(format!("the code was not exchanged: {why} {remedy}")))
        }
    }
}

/// What a dev on this folder has left there.
fn of_folder(folder: &Path) -> Result<DevAccess, Failure> {
    let file = folder.join(READY_FILE);
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let remedy = "no aldaba dev runs on this folder; start one with aldaba dev --data";
        Failure::Refused(format!("{}: {error}; {remedy} {}", file.display(), folder.display()))
    })?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::Failed(format!("{}: {error}; end dev and start it again", file.display())))
}

/// What was exported from dev's page; its users and their password are the same everywhere.
fn of_environment(args: &Token) -> Result<DevAccess, Failure> {
    let given = |value: &Option<String>, name: &str| {
        value.clone().filter(|value| !value.is_empty()).ok_or_else(|| {
            let remedy = "paste the export lines that aldaba dev printed, or name its folder with --data DIR";
            Failure::Usage(format!("{name} is not set; {remedy}"))
        })
    };
    let client = Client {
        client_id: given(&args.client, "CLIENT")?,
        client_secret: given(&args.secret, "SECRET")?,
        redirect_uri: CALLBACK_URI.to_owned(),
    };
    let users = USERS.iter().map(|(email, ..)| User {
        email: (*email).to_owned(),
        password: PASSWORD.to_owned(),
        tenants: Vec::new(),
    });
    Ok(DevAccess { auth_url: given(&args.auth_url, "AUTH")?, client, users: users.collect() })
}

/// Development's credentials are sent nowhere else.
fn on_this_machine(origin: &str) -> Outcome {
    let address: Option<Uri> = origin.parse().ok();
    let host = address.as_ref().and_then(Uri::host).unwrap_or_default().trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if is_here {
        return Ok(());
    }
    let why = "is not on this machine, and aldaba dev always is: dev token is for dev alone";
    Err(Failure::Refused(format!("{origin:?} {why}")))
}

fn person<'a>(args: &'a Token, printed: &'a DevAccess) -> Result<SignInUser<'a>, Failure> {
    let wanted = args.user.as_deref();
    let found = printed.users.iter().find(|user| wanted.is_none_or(|wanted| user.email == wanted));
    let Some(user) = found else {
        let known: Vec<&str> = printed.users.iter().map(|user| user.email.as_str()).collect();
        let wanted = wanted.unwrap_or_default();
        return Err(Failure::Refused(format!("dev has no user {wanted:?}; it has {}", known.join(", "))));
    };
    let tenant = args.tenant.as_deref().filter(|tenant| !tenant.is_empty());
    Ok(SignInUser { email: &user.email, password: &user.password, tenant })
}
