//! The scenarios, by name.

use crate::{Fallible, Options, Report};

/// The name of a scenario and what it does.
type Scenario = (&'static str, for<'a> fn(&'a Options) -> Running<'a>);
type Running<'a> = std::pin::Pin<Box<dyn Future<Output = Fallible<Vec<crate::Part>>> + 'a>>;

mod database;
mod failover;
mod load;
mod nodes;
mod one_node;
mod receivers;
mod smoke;

const SCENARIOS: &[Scenario] = &[
    ("database", |options| Box::pin(database::run(options))),
    ("failover", |options| Box::pin(failover::run(options))),
    ("load", |options| Box::pin(load::run(options))),
    ("nodes", |options| Box::pin(nodes::run(options))),
    ("one-node", |options| Box::pin(one_node::run(options))),
    ("receivers", |options| Box::pin(receivers::run(options))),
    // A part of `receivers`, which starts it in a network of its own.
    (receivers::OWN_NETWORK, |options| Box::pin(receivers::run_in_own_network(options))),
    ("smoke", |options| Box::pin(smoke::run(options))),
];

pub(crate) async fn run(name: &str, options: &Options) -> Fallible<Report> {
    let Some((_, scenario)) = SCENARIOS.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = SCENARIOS.iter().map(|(known, _)| *known).collect();
        return Err(format!("no scenario {name:?}; there are {}", names.join(", ")).into());
    };
    let parts = scenario(options).await?;
    if parts.is_empty() {
        let only = options.only.as_deref().unwrap_or_default();
        return Err(format!("nothing was tried: there is no part {only:?} in this form").into());
    }
    Ok(Report { scenario: name.to_owned(), parts })
}
