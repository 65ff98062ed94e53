//! One node on SQLite under load, while it is killed, loses its power, runs out of disk, memory or descriptors, has a wrong
//! clock, is backed up, or is joined by a second process.

mod backup;
mod clock;
mod disk;
mod kill;
mod limits;
mod power;
mod power_commands;
mod second;

use std::time::Duration;

use crate::http::Http;
use crate::load::{Load, LoadSettings, Target};
use crate::process::{Node, NodeSettings, PAUSE, free_port};
use crate::service::Service;
use crate::sign_in::Tokens;
use crate::trial::Trial;
use crate::{Fallible, Options, Part};

/// A webhook is silent for 8 s at most when its node crashes (docs/delivery.md), whatever else happens to the node.
const CRASH_MAX: Duration = Duration::from_secs(8);
/// A node that starts at once must be ready well within that time.
const READY_MAX: Duration = Duration::from_secs(5);

pub(crate) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    let (power, disk, others) = (cut_power(options), disk::run(options), on_one_store(options));
    // The short form measures no times that matter, and has to be short.
    let parts = if options.is_bounded {
        let (power, disk, others) = futures_util::future::try_join3(power, disk, others).await?;
        [others, power, disk]
    } else {
        [others.await?, power.await?, disk.await?]
    };
    Ok(parts.into_iter().flatten().collect())
}

async fn cut_power(options: &Options) -> Fallible<Vec<Part>> {
    if !options.has_part("power") {
        return Ok(Vec::new());
    }
    let mut node = OneNode::start(options, "").await?;
    Ok(vec![power::cut(&mut node, options).await?])
}

/// The parts that leave the store as they found it.
async fn on_one_store(options: &Options) -> Fallible<Vec<Part>> {
    let names = ["kill", "memory", "descriptors", "clock", "two-services", "backup"];
    let mut parts = Vec::new();
    if !names.iter().any(|part| options.has_part(part)) {
        return Ok(parts);
    }
    let mut node = OneNode::start(options, "").await?;
    for name in names.into_iter().filter(|name| options.has_part(name)) {
        parts.push(match name {
            "kill" => kill::kill(&mut node, options).await?,
            "memory" => limits::memory(&mut node, options).await?,
            "descriptors" => limits::descriptors(&mut node, options).await?,
            "clock" => clock::jumps(&mut node, options).await?,
            "two-services" => second::beside(&mut node, options).await?,
            _ => backup::under_load(&mut node, options).await?,
        });
    }
    Ok(parts)
}

/// The service with its one node.
struct OneNode {
    trial: Trial,
    node: Node,
    settings: NodeSettings,
}

impl OneNode {
    /// On a file of its own where the url is empty.
    async fn start(options: &Options, store_url: &str) -> Fallible<Self> {
        let mut service = Service::new(options, store_url)?;
        let mut settings = service.settings().set("server.drain_delay", "0s");
        settings.ports = (free_port()?, free_port()?);
        let node = service.start(&settings).await?;
        let webhooks = options.count(20, 5);
        let trial = Trial::new(service, vec![node.target()], webhooks, LoadSettings::default()).await?;
        Ok(Self { trial, node, settings })
    }

    /// Ends the node in order and starts it again.
    async fn restart(&mut self, settings: &NodeSettings) -> Fallible<()> {
        self.node.terminate().await?;
        self.node = start(&self.trial, settings).await?;
        Ok(())
    }
}

/// Starts the node and waits until it is ready.
async fn start(trial: &Trial, settings: &NodeSettings) -> Fallible<Node> {
    let mut node = spawn(trial, settings)?;
    node.wait_ready().await?;
    Ok(node)
}

fn spawn(trial: &Trial, settings: &NodeSettings) -> Fallible<Node> {
    Node::start(&trial.service.program, trial.service.folder(), 1, settings)
}

/// The records that lack an acknowledged change, while no change is under way.
async fn stored_too_old(load: &Load, target: &Target) -> Fallible<usize> {
    let wrong = load.stored_too_old(target, &load.ledger.acknowledged()).await?;
    if let Some(first) = wrong.first() {
        eprintln!("    {first}");
    }
    Ok(wrong.len())
}

/// How many webhooks are not active.
async fn inactive_webhooks(trial: &Trial) -> Fallible<usize> {
    let (service, url) = (&trial.service, &trial.targets[0].public_url);
    let tokens: Tokens = service.application.sign_in(&service.http, url, crate::service::EMAIL).await?;
    let all = service.call("GET", url, &tokens.access, "customers/webhooks", "").await?.json();
    let active = all.as_array().into_iter().flatten().filter(|one| one["isActive"] == true).count();
    Ok(trial.webhooks.saturating_sub(active))
}

/// Waits until the operator's metric has this value.
async fn wait_metric(target: &Target, name: &str, expected: &str, timeout: Duration) -> Fallible<()> {
    let (http, from) = (Http::new(Duration::from_secs(5))?, std::time::Instant::now());
    loop {
        let metrics = http.get(&format!("{}/metrics", target.operator_url), &[]).await?.text();
        let value = metrics.lines().find_map(|line| line.strip_prefix(name));
        if value.is_some_and(|value| value.trim() == expected) {
            return Ok(());
        }
        if from.elapsed() > timeout {
            return Err(format!("{name} is {value:?}, not {expected}").into());
        }
        tokio::time::sleep(PAUSE).await;
    }
}
