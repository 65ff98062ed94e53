//! The commands that do one thing and exit.

mod attempts;
pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod deliveries;
pub(crate) mod developer;
pub(crate) mod doctor;
mod ingest_client;
pub(crate) mod init;
pub(crate) mod invitation;
pub(crate) mod key;
pub(crate) mod openapi;
pub(crate) mod operator;
pub(crate) mod request;
pub(crate) mod signing_keys;
pub(crate) mod store;
pub(crate) mod team;
pub(crate) mod tenant;
pub(crate) mod token;
pub(crate) mod trigger;
pub(crate) mod user;
pub(crate) mod verify;
pub(crate) mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use ::operator::admin::{Admin, Authority, WebhookAdmin};
use ::store::{Actor, AuditContext, ListPage, ListQuery, Status};
use clap::CommandFactory as _;
use domain::OperatorRole;
use domain::TeamId;
use domain::subscription::{Product, Products};

use crate::cli::Cli;
use crate::clock_watch;
use crate::config::{self, Config, DURATION, Sources, parse_duration};
use crate::exit::Failure;
use crate::output::print_styled;
use crate::serve;
use crate::wiring::{self, BasePorts, NoEngine, OpenStore};

/// Loads the configuration and opens its store.
pub(crate) async fn open_store(sources: &Sources) -> Result<(Config, OpenStore), Failure> {
    open_with(sources, &BasePorts::system()).await
}

/// The same, and compares the clock with the store's, so that what is written has the right time.
async fn open_with(sources: &Sources, base: &BasePorts) -> Result<(Config, OpenStore), Failure> {
    let config = config::load(sources).map_err(Failure::Config)?;
    let opened = serve::open(&config, base).await?;
    clock_watch::compare_first(&*opened.store, &base.node_clock).await;
    Ok((config, opened))
}

/// Opens the configured store for administration.
pub(crate) async fn admin(sources: &Sources) -> Result<Admin, Failure> {
    let base = BasePorts::system();
    let (mut config, OpenStore { store, .. }) = open_with(sources, &base).await?;
    config.fill_urls(config.server.listen, config.operator.listen);
    Ok(Admin { authority: authority(), ..wiring::admin(&config, &base, store) })
}

/// The command line as the actor of the audit, with the name of the operating system's user if it is known.
pub(crate) fn audit_context() -> AuditContext {
    let name = ["LOGNAME", "USER"].into_iter().find_map(|variable| std::env::var(variable).ok());
    AuditContext { actor: Actor::Cli(name.filter(|name| !name.is_empty())), ..AuditContext::default() }
}

/// Who can read the store's keys may do everything.
pub(crate) fn authority() -> Authority {
    Authority::admin(audit_context())
}

/// The administration of webhooks, over the store alone.
pub(crate) async fn webhook_admin(sources: &Sources) -> Result<WebhookAdmin, Failure> {
    let base = BasePorts::system();
    let (config, OpenStore { store, .. }) = open_with(sources, &base).await?;
    let history = wiring::history(&base, store.clone(), Arc::new(NoEngine), config.delivery.window);
    Ok(wiring::webhook_admin(&base, store, history))
}

pub(crate) fn completions(shell: clap_complete::Shell) {
    // Generated into memory first, because the generator panics when it writes to a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "aldaba", &mut script);
    print_styled(String::from_utf8_lossy(&script).trim_end());
}

fn overlap(text: &str) -> Result<Duration, Failure> {
    parse_duration(text).ok_or_else(|| {
        Failure::Usage(format!("--overlap must be a duration: {DURATION}, or 0s; got {text:?}"))
    })
}

/// The role with this name; the command line accepts no other.
fn role_named(name: &str) -> Result<OperatorRole, Failure> {
    OperatorRole::from_name(name).ok_or_else(|| Failure::Usage(format!("there is no role {name:?}")))
}

/// The products with these names; none where no name is given.
fn products_named(names: &[String]) -> Option<Products> {
    let products = names.iter().filter_map(|name| Product::parse(name));
    (!names.is_empty()).then(|| products.collect())
}

/// Reads every page of a list.
pub(crate) async fn all_pages<T>(
    read: impl AsyncFn(ListQuery) -> ::store::Result<ListPage<T>>,
) -> Result<Vec<T>, Failure> {
    let (mut query, mut all) = (ListQuery::default(), Vec::new());
    loop {
        let page = read(query).await?;
        all.extend(page.rows);
        if page.next.is_none() {
            return Ok(all);
        }
        query = ListQuery { after: page.next, ..ListQuery::default() };
    }
}

/// The id of a team that exists.
async fn existing_team(admin: &Admin, id: Option<&str>) -> Result<Option<TeamId>, Failure> {
    match id {
        Some(id) => Ok(Some(admin.team(id).await?.id)),
        None => Ok(None),
    }
}

/// The team with this id; empty text for none.
fn team_or_none(id: &str) -> Option<TeamId> {
    (!id.is_empty()).then(|| TeamId::new(id))
}

fn team_phrase(id: &str) -> String {
    if id.is_empty() { "no team".to_owned() } else { format!("team {id}") }
}

fn status_name(status: Status) -> String {
    status.as_str().to_owned()
}

/// Removes the second factors of an account.
async fn reset_second_factors(
    admin: &Admin,
    realm: domain::Realm,
    email: &str,
    output: crate::output::Output,
) -> crate::exit::CommandResult {
    let removed = admin.reset_second_factors(realm, email).await?;
    let text = match removed {
        0 => format!("{email} has no second factor"),
        1 => format!("the second factor of {email} is removed; all sessions have ended"),
        count => format!("{count} second factors of {email} are removed; all sessions have ended"),
    };
    output.done(&serde_json::json!({"email": email, "removed": removed}), &text);
    Ok(())
}
