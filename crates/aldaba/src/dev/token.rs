//! `aldaba dev token`: prints an access token of a dev server, for any of its clients and users.

mod direct;
mod pages;

use crate::cli::Token;
use crate::exit::{CommandResult, Failure};
use crate::output::Output;

use super::running::{DevRecord, DevSelector};
pub(crate) use direct::access_token;

/// What a sign-in gave.
enum Issued {
    Code(String),
    /// The JSON of the token response.
    Tokens(serde_json::Value),
}

/// Works on the store of the server where it is found. The variables that a server printed are enough for its own
/// clients: then the command signs in at its pages.
pub(crate) async fn run(args: &Token, running: &DevSelector, output: Output) -> CommandResult {
    let record = match (&args.data, &args.auth_url) {
        (Some(folder), _) => Some(DevRecord::of_folder(folder)?),
        // The exported variables may be those of an earlier server, or of one that is not the newest.
        (None, Some(url)) if running.wanted.is_none() && !url.is_empty() => {
            running.find_any(|record| record.ready.auth_url == url.trim_end_matches('/'))?
        }
        (None, _) => running.find_any(|_| true)?,
    };
    let issued = match &record {
        Some(record) => direct::issue(args, record, output).await?,
        None => pages::issue(args).await?,
    };
    match issued {
        Issued::Code(code) => output.result(&serde_json::json!({ "code": code }), || code.clone()),
        Issued::Tokens(tokens) => {
            let member = if args.refresh { "refresh_token" } else { "access_token" };
            let Some(token) = tokens[member].as_str() else {
                let remedy = "the scopes need offline_access";
                return Err(Failure::Refused(format!("the response has no {member}; {remedy}")));
            };
            output.result(&tokens, || token.to_owned());
        }
    }
    Ok(())
}
