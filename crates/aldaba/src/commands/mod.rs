//! The commands that do one thing and end.

mod attempts;
pub(crate) mod audit;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod deliveries;
pub(crate) mod init;
pub(crate) mod key;
pub(crate) mod openapi;
mod remote;
pub(crate) mod signing_keys;
pub(crate) mod store;
pub(crate) mod tenant;
pub(crate) mod trigger;
pub(crate) mod user;
pub(crate) mod verify;
pub(crate) mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use ::store::{ListPage, ListQuery, Status};
use clap::CommandFactory as _;
use operator::admin::{Admin, WebhookAdmin};

use crate::cli::Cli;
use crate::config::{self, Config, DURATION, Sources, parse_duration};
use crate::exit::Failure;
use crate::output::print_line;
use crate::serve;
use crate::wiring::{self, BasePorts, NoEngine, Opened, SystemClock, SystemRandom};

/// Loads the configuration and opens its store.
pub(crate) async fn opened(sources: &Sources) -> Result<(Config, Opened), Failure> {
    let config = config::load(sources).map_err(Failure::Config)?;
    let opened = serve::open(&config).await?;
    Ok((config, opened))
}

/// The desk at which tenants, users, clients and keys are administered.
pub(crate) async fn admin(sources: &Sources) -> Result<Admin, Failure> {
    let (_, Opened { store, .. }) = opened(sources).await?;
    Ok(Admin { store, clock: Arc::new(SystemClock), random: Arc::new(SystemRandom) })
}

/// The administration of webhooks, over the store alone.
pub(crate) async fn webhook_admin(sources: &Sources) -> Result<WebhookAdmin, Failure> {
    let (config, Opened { store, .. }) = opened(sources).await?;
    let base = BasePorts::system();
    let history = wiring::history(&base, store.clone(), Arc::new(NoEngine), config.delivery.window);
    Ok(wiring::webhook_admin(&base, store, history))
}

pub(crate) fn completions(shell: clap_complete::Shell) {
    // Into memory first: the generator panics on a reader that has gone away.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "aldaba", &mut script);
    print_line(String::from_utf8_lossy(&script).trim_end());
}

fn overlap(text: &str) -> Result<Duration, Failure> {
    parse_duration(text).ok_or_else(|| {
        Failure::Usage(format!("--overlap takes a duration as in 24h or 0s: {DURATION}, not {text:?}"))
    })
}

/// Reads every page of a list.
async fn all_pages<T>(
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

fn status_name(standing: Status) -> String {
    standing.as_str().to_owned()
}
